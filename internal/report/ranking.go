package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
)

// RankingDocument is the table of candidates, the best first: by what each is compared, and why
// it has its place. What is not known is a dash.
func RankingDocument(list []ledger.Rank) (d document.Document) {
	if len(list) == 0 {
		return nil
	}
	t := document.Table{Head: []string{"candidate", "done", "agree", "mutants", "score", "lines", "cost", "agent", ""}}
	for _, s := range list {
		did, chosen, cost := "no", document.Span{}, notMeasured
		if s.Eligible {
			did = "yes"
		}
		if s.Chosen {
			chosen = document.Span{Style: document.Good, Text: "← chosen"}
		}
		switch {
		case s.CostUSD != nil:
			cost = fmt.Sprintf("$%.2f", *s.CostUSD)
		case s.Tokens != nil:
			cost = fmt.Sprintf("%d tokens", *s.Tokens)
		}
		t.Row(s.Candidate, did, part(s.Agreement), part(s.MutationScore), fmt.Sprintf("%.1f", 100*s.Score), s.Lines, cost, agentName(s.Agent), chosen)
	}
	d.Add(t)
	for _, s := range list {
		for i, text := range append([]string{s.Why}, remarks(s)...) {
			if i == 0 {
				d.Item("candidate %d: %s", s.Candidate, text)
			} else {
				d.Below().Item("%s", text)
			}
		}
	}
	return d
}

// remarks are what a person has to know of a candidate besides its place.
func remarks(s ledger.Rank) (out []string) {
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

func part(v *float64) string {
	if v == nil {
		return notMeasured
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}

func agentName(command []string) string {
	const most = 40
	text := strings.Join(command, " ")
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
