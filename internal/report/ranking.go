package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/textstream"
)

// RankingDocument returns the table of candidates, the best first, with the values by which
// they are compared and the reason for each rank. Unknown values are dashes.
func RankingDocument(list []ledger.Rank) (d document.Document) {
	if len(list) == 0 {
		return nil
	}
	t := document.Table{Head: []string{"candidate", "done", "agree", "mutants", "score", "lines", "cost", "agent", ""}}
	for _, s := range list {
		agreement, mutants := formatOptional("%.0f %%", 100, s.Agreement), formatOptional("%.0f %%", 100, s.MutationScore)
		did, cost := Either(s.Eligible, "yes", "no"), notMeasuredText
		chosen := document.Span{Style: document.Good, Text: Either(s.Chosen, "← chosen", "")}
		switch {
		case s.CostUSD != nil:
			cost = fmt.Sprintf("$%.2f", *s.CostUSD)
		case s.Tokens != nil:
			cost = fmt.Sprintf("%d tokens", *s.Tokens)
		}
		t.Row(s.Candidate, did, agreement, mutants, fmt.Sprintf("%.1f", 100*s.Score), s.Lines, cost, textstream.Truncate(strings.Join(s.Agent, " "), 43), chosen)
	}

	d.Add(t)
	for _, s := range list {
		d.Item("candidate %d: %s", s.Candidate, s.Why)
		for _, text := range candidateRemarks(s) {
			d.Below().Item("%s", text)
		}
	}
	return d
}

// candidateRemarks returns remarks about the tests of a candidate, and about tests that it fails.
func candidateRemarks(s ledger.Rank) (out []string) {
	if s.OwnPassingBefore > 0 {
		out = append(out, fmt.Sprintf("%d of its %s pass on the baseline already", s.OwnPassingBefore, Pluralize(s.OwnTests, "new test", "new tests")))
	}
	if s.OwnDisputed > 0 {
		out = append(out, fmt.Sprintf("%d of its %s fail on most others", s.OwnDisputed, Pluralize(s.OwnTests, "new test", "new tests")))
	}
	for _, author := range slices.Sorted(maps.Keys(s.Failed)) {
		out = append(out, fmt.Sprintf("fails tests of candidate %d: %s", author, strings.Join(Truncate(s.Failed[author], 3), ", ")))
	}
	return out
}
