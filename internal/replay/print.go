package replay

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/report"
	"supervise/metric"
)

// maxTests is the maximum number of tests that one line names.
const maxTests = 5

// reportPage is a report under construction. Its methods append parts of the report.
type reportPage struct{ document.Document }

// Text returns the complete report: what was measured, the verdict on each commit, and the rates.
func (r Report) Text() document.Document {
	p := &reportPage{}
	p.Paragraph("%s", r.headLine())
	for _, u := range r.Unmeasured {
		p.Item("not measured: %s %s: %s", u.Short(), u.Subject, u.Why)
	}

	p.Paragraph("%s", r.Proven)
	for _, v := range r.Commits {
		if v.Untried != "" {
			p.Item("original tests not run: %s %s: %s", v.Short(), v.Subject, v.Untried)
		}
	}

	for _, v := range r.Commits {
		p.addVerdict(v)
	}
	p.Heading(3, "How often the rules fired")
	p.Paragraph("%s", r.Moved)
	p.addRates(r.Rules, nil)
	p.addTextRates(r.TextRules)
	if r.WhatIf != nil {
		p.addWhatIf(*r.WhatIf)
		p.addRates(r.WhatIf.Rules, r.Rules)
		p.addTextRates(r.WhatIf.TextRules)
	}
	return p.Document
}

// Tables returns the rates without the verdicts.
func (r Report) Tables() document.Document {
	p := &reportPage{}
	p.Paragraph("%s. %s.", r.headLine(), r.Proven)
	p.addRates(r.Rules, nil)
	p.addTextRates(r.TextRules)
	p.Paragraph("%s.", r.Moved)
	return p.Document
}

// addTextRates adds the table of the commits that were judged by text alone. It has only the
// rules that fired.
func (p *reportPage) addTextRates(list []Rate) {
	if len(list) == 0 {
		return
	}
	p.Heading(3, "%s judged by text alone", countCommits(list[0].Commits))
	p.addRates(slices.DeleteFunc(slices.Clone(list), func(r Rate) bool { return r.Fired == 0 && detector.IsRule(r.Rule) }), nil)
}

// countCommits returns a number of commits in words, as in "2 commits".
func countCommits(n int) string { return report.Pluralize(n, "commit", "commits") }

// String describes what was run for the verdicts.
func (c ProofCounts) String() string {
	text := fmt.Sprintf("%s touched tests; the original tests ran for %d, a mutation check for %d", countCommits(c.Touching), c.OriginalTests, c.MutationChecked)
	if c.Untried > 0 {
		text += fmt.Sprintf("; neither could run for %d", c.Untried)
	}
	if c.TextOnly > 0 {
		text += fmt.Sprintf("; %s judged by text alone", countCommits(c.TextOnly))
	}
	return text
}

// headLine summarizes how many commits were judged and measured.
func (r Report) headLine() string {
	text := fmt.Sprintf("%s, %d judged, each against the one before; %d measured now", countCommits(r.Total), r.Judged, r.Measured)
	if n := len(r.Unmeasured); n > 0 {
		text += fmt.Sprintf("; %d could not be measured", n)
	}
	return text
}

// String describes the commits that only moved tests.
func (m MovedTests) String() string {
	n := 0
	var kinds []string
	for by, count := range m.Tests {
		n += count
		kinds = append(kinds, fmt.Sprintf("%s %d", string(by), count))
	}
	slices.Sort(kinds)
	text := fmt.Sprintf("%s only moved, renamed or merged tests; %d of them CRITICAL", countCommits(m.Commits), m.Critical)
	if n > 0 {
		text += fmt.Sprintf(". %d lost tests were explained: %s", n, strings.Join(kinds, ", "))
	}
	return text
}

// String returns the rate and its interval.
func (i Interval) String() string { return fmt.Sprintf("%.1f (%.1f–%.1f)", i.Rate, i.Low, i.High) }

// addRates adds the table of rates, and a line with the rules that never fired. If list has the
// rates by the settings of --what-if, before has those by the current settings; otherwise before
// is nil.
func (p *reportPage) addRates(list, before []Rate) {
	if len(list) == 0 || list[0].Commits == 0 {
		return
	}
	was := map[string]int{}
	for _, r := range before {
		was[r.Rule] = r.Fired
	}

	t := document.Table{Head: []string{"rule", "fired", "CRITICAL", "per 100 commits (95 %)"}}
	for i, share := range prevalences {
		name := "at %.0f %%"
		if i == 0 {
			name = "false discovery rate at %.0f %%"
		}
		t.Head = append(t.Head, fmt.Sprintf(name, 100*share))
	}

	var silent []string
	for _, r := range list {
		if r.Fired == 0 && detector.IsRule(r.Rule) && was[r.Rule] == 0 {
			silent = append(silent, r.Rule)
			continue
		}
		row := []any{document.Textf("%s", r.Rule), r.Fired, r.Critical, r.Per100}
		if detector.IsRule(r.Rule) {
			row[0] = document.Textf("`%s`", r.Rule)
		}
		if before != nil && was[r.Rule] != r.Fired {
			row[1] = fmt.Sprintf("%d → %d", was[r.Rule], r.Fired)
		}
		for _, d := range r.FDR {
			row = append(row, fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*d.Rate, 100*d.Low, 100*d.High))
		}
		t.Row(row...)
	}

	p.Add(t)
	if len(silent) > 0 {
		p.Paragraph("never fired, per 100 commits: %s: %s", wilsonInterval(0, list[0].Commits), document.Join(document.Verbatim, silent, ", "))
	}
}

// Document returns the report about a recorded loop, as people read it.
func (r LoopReport) Document() document.Document {
	p := &reportPage{}
	switch {
	case !r.MatchesRecord():
		p.Paragraph("%d of %d verdicts differ from the record", len(r.Differences), r.Judged)
	case r.Judged == 1:
		p.Paragraph("1 verdict matches the record")
	default:
		p.Paragraph("%d verdicts match the record", r.Judged)
	}
	p.addDifferences("differs", r.Differences)
	for _, b := range r.Best {
		p.Paragraph("the best so far was %d and is %d", b.Recorded, b.Replayed)
	}
	if s := r.Selection; s != nil {
		p.Paragraph("iteration %d was selected, and %d is", s.Recorded, s.Replayed)
	}
	if r.WhatIf != nil {
		p.addWhatIf(*r.WhatIf)
	}
	return p.Document
}

// addVerdict adds the alerts of a commit, unless all are informational or about new code, as in most
// commits.
func (p *reportPage) addVerdict(v Verdict) {
	counts := func(a detector.Alert) bool { return a.Severity > detector.Info && !a.IsAboutNew() }
	if !slices.ContainsFunc(v.Alerts, counts) && !v.RolledBack {
		return
	}
	after := ""
	if v.RolledBack {
		after = ", would be rolled back"
	}
	if v.TextOnly != "" {
		after += ", by text alone: " + v.TextOnly
	}

	p.Heading(4, "%s %s (%s%s)", v.Name(), v.Subject, v.Class, after)
	if v.RolledBack && v.worstSeverity() < detector.Critical {
		p.Item("%s", v.Recommendation.Reason)
	}

	for _, a := range v.Alerts {
		if a.Severity > detector.Info {
			style := document.Warn
			if a.BlocksMerge() {
				style = document.Bad
			}
			p.Labelled(document.Span{Style: style, Text: a.Severity.String()}, "%s", alertText(a))
		}
	}
}

// alertText returns an alert as a line of the report.
func alertText(a detector.Alert) document.Text {
	return document.Textf("`%s` (%s): %s%s", a.Rule, a.Basis, a.Message(), testNames(a.Tests))
}

// testNames returns the names of the first tests in brackets, as in " [a, b]", "" for none.
func testNames(ids []metric.ID) string {
	if len(ids) == 0 {
		return ""
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return " [" + strings.Join(report.Truncate(names, maxTests), ", ") + "]"
}

// addWhatIf adds the verdicts that the settings of --what-if change.
func (p *reportPage) addWhatIf(w WhatIf) {
	p.Heading(3, "With the settings that are tried, %s", report.Pluralize(len(w.Changes), "verdict changes", "verdicts change"))
	p.addDifferences("changes", w.Changes)
	if s := w.Selection; s != nil {
		p.Paragraph("iteration %d is selected, and %d would be", s.Recorded, s.Replayed)
	}
}

// addDifferences adds each pair of verdicts, with the alerts that only one of them has. what is
// the verb of the headings.
func (p *reportPage) addDifferences(what string, list []Difference) {
	for _, d := range list {
		p.Heading(4, "%s %s: %s → %s", d.Replayed.Name(), what, d.Recorded.summary(), d.Replayed.summary())
		for _, a := range alertsNotIn(d.Recorded.Alerts, d.Replayed.Alerts) {
			p.Labelled(document.Span{Text: "no more"}, "%s %s", a.Severity, alertText(a))
		}
		for _, a := range alertsNotIn(d.Replayed.Alerts, d.Recorded.Alerts) {
			p.Labelled(document.Span{Text: "new"}, "%s %s", a.Severity, alertText(a))
		}
	}
}

// alertsNotIn returns the alerts of list that are not in excluded.
func alertsNotIn(list, excluded []detector.Alert) []detector.Alert {
	return slices.DeleteFunc(slices.Clone(list), func(a detector.Alert) bool {
		return slices.ContainsFunc(excluded, func(b detector.Alert) bool { return sameAlert(a, b) })
	})
}

// summary returns the class and the recommendation with its confidence, as in
// "regression, rollback 0.95, rolled back".
func (v Verdict) summary() string {
	text := fmt.Sprintf("%s, %s %.2f", v.Class, v.Recommendation.Action, v.Recommendation.Confidence)
	if v.RolledBack {
		text += ", rolled back"
	}
	return text
}
