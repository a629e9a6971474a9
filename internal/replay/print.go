package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"supervise/detector"
	"supervise/metric"
)

// maxTests is how many tests a line names.
const maxTests = 5

// Text writes the report for people.
func (r Report) Text(w io.Writer) error {
	p := printer{w: w}
	p.line("%s", r.head())
	for _, u := range r.Unmeasured {
		p.line("  not measured  %s %s: %s", u.Short(), u.Subject, u.Why)
	}
	p.line("%s", r.Proven)
	for _, v := range r.Commits {
		if v.Untried != "" {
			p.line("  not run as they were  %s %s: %s", v.Short(), v.Subject, v.Untried)
		}
	}
	p.line("")
	for _, v := range r.Commits {
		p.verdict(v)
	}
	p.line("%s\n", r.Moved.String())
	p.rates(r.Rules, nil)
	p.byText(r.TextRules)
	if r.WhatIf != nil {
		p.line("")
		p.whatIf(*r.WhatIf)
		p.rates(r.WhatIf.Rules, r.Rules)
		p.byText(r.WhatIf.TextRules)
	}
	return p.err
}

// byText writes the table of the commits that did not run, with the rules that fired.
func (p *printer) byText(list []Rate) {
	if len(list) > 0 {
		p.line("\njudged by text alone, %d commits:", list[0].Of)
		p.rates(slices.DeleteFunc(slices.Clone(list), func(r Rate) bool { return r.Fired == 0 && detector.Known(r.Rule) }), nil)
	}
}

// String says what was run for the verdicts.
func (n Proven) String() string {
	text := fmt.Sprintf("%d commits touch tests; tests of %d were run as they were, those of %d over mutants", n.Touching, n.Goals, n.Power)
	if n.Untried > 0 {
		text += fmt.Sprintf("; those of %d could not be run so", n.Untried)
	}
	if n.ByText > 0 {
		text += fmt.Sprintf("; %d commits were judged by text alone", n.ByText)
	}
	return text
}

func (r Report) head() string {
	text := fmt.Sprintf("%d commits, %d judged, each against the one before; %d measured now", r.Total, r.Judged, r.Measured)
	if n := len(r.Unmeasured); n > 0 {
		text += fmt.Sprintf("; %d could not be measured", n)
	}
	return text
}

// String describes what became of the tests that only moved.
func (m Moved) String() string {
	n := 0
	var kinds []string
	for by, count := range m.Tests {
		n += count
		kinds = append(kinds, fmt.Sprintf("%s %d", string(by), count))
	}
	slices.Sort(kinds)
	text := fmt.Sprintf("%d commits only moved, renamed or merged tests; %d of them CRITICAL", m.Commits, m.Critical)
	if n > 0 {
		text += fmt.Sprintf(". %d lost tests were explained: %s", n, strings.Join(kinds, ", "))
	}
	return text
}

// Markdown writes the rates as a table.
func (r Report) Markdown(w io.Writer) error {
	p := printer{w: w}
	p.line("%s. %s.\n", r.head(), r.Proven)
	p.table(r.Rules)
	if len(r.TextRules) > 0 {
		p.line("\nJudged by text alone:\n")
		p.table(r.TextRules)
	}
	p.line("\n%s.", r.Moved.String())
	return p.err
}

func (p *printer) table(list []Rate) {
	p.line("| rule | commits it fired on | of them CRITICAL | per 100 commits (95 %%) | false discovery rate at 1 %% | at 5 %% | at 20 %% |")
	p.line("|---|---|---|---|---|---|---|")
	var silent []string
	for _, rate := range list {
		if rate.Fired == 0 && detector.Known(rate.Rule) {
			silent = append(silent, quoted(rate.Rule))
			continue
		}
		p.line("| %s | %d | %d | %s | %s |", quoted(rate.Rule), rate.Fired, rate.Critical, rate.Per100, strings.Join(rate.discoveries(), " | "))
	}
	if len(silent) > 0 {
		p.line("\nNever fired, per 100 commits: %s: %s.", list[0].none(), strings.Join(silent, ", "))
	}
}

func quoted(rule string) string {
	if detector.Known(rule) {
		return "`" + rule + "`"
	}
	return rule
}

// String writes a rate and its interval.
func (i Interval) String() string { return fmt.Sprintf("%.1f (%.1f–%.1f)", i.Rate, i.Low, i.High) }

// none is the interval of a rule that did not fire.
func (r Rate) none() Interval { return wilson(0, r.Of) }

func (r Rate) discoveries() []string {
	out := make([]string, len(r.FDR))
	for i, d := range r.FDR {
		out[i] = fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*d.Rate, 100*d.Low, 100*d.High)
	}
	return out
}

// Text writes the report for people.
func (r LoopReport) Text(w io.Writer) error {
	p := printer{w: w}
	if r.Exact() {
		p.line("%d verdicts are as they were recorded", r.Judged)
	} else {
		p.line("%d of %d verdicts are not as they were recorded", len(r.Differences), r.Judged)
	}
	p.differences("differs", r.Differences)
	for _, b := range r.Best {
		p.line("the best so far was %d and is %d", b.Was, b.Is)
	}
	if s := r.Selection; s != nil {
		p.line("iteration %d was selected, and %d is", s.Was, s.Is)
	}
	if r.WhatIf != nil {
		p.whatIf(*r.WhatIf)
	}
	return p.err
}

// printer keeps the first error of many lines.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// verdict writes what fired on a commit, if it weighs anything.
func (p *printer) verdict(v Verdict) {
	if v.worst() <= detector.Info && !v.Undone {
		return
	}
	after := ""
	if v.Undone {
		after = ", would be undone"
	}
	if v.ByText != "" {
		after += ", by text alone: " + v.ByText
	}
	p.line("%s %s (%s%s)", v.Name(), v.Subject, v.Class, after)
	if v.Undone && v.worst() < detector.Critical {
		p.line("  %s", v.Recommendation.Reason)
	}
	for _, a := range v.Alerts {
		if a.Severity > detector.Info {
			p.alert("", a)
		}
	}
}

func (p *printer) alert(what string, a detector.Alert) {
	p.line("  %s%-8s %s (%s): %s%s", what, a.Severity, a.Rule, a.RestsOn, a.Message(), tests(a.Tests))
}

func tests(ids []metric.ID) string {
	if len(ids) == 0 {
		return ""
	}
	names := make([]string, 0, maxTests)
	for _, id := range ids[:min(maxTests, len(ids))] {
		names = append(names, id.String())
	}
	text := " [" + strings.Join(names, ", ")
	if more := len(ids) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "]"
}

// rates writes the table; before is that of the settings of now, where others are
// tried.
func (p *printer) rates(list, before []Rate) {
	if p.err != nil || len(list) == 0 || list[0].Of == 0 {
		return
	}
	was := map[string]int{}
	for _, r := range before {
		was[r.Rule] = r.Fired
	}
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "rule\tfired\tCRITICAL\tper 100 (95 %)\tfalse discovery rate at 1 %\tat 5 %\tat 20 %")
	var silent []string
	for _, r := range list {
		if r.Fired == 0 && detector.Known(r.Rule) && was[r.Rule] == 0 {
			silent = append(silent, r.Rule)
			continue
		}
		fired := fmt.Sprint(r.Fired)
		if before != nil && was[r.Rule] != r.Fired {
			fired = fmt.Sprintf("%d → %d", was[r.Rule], r.Fired)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", r.Rule, fired, r.Critical, r.Per100, strings.Join(r.discoveries(), "\t"))
	}
	p.err = t.Flush()
	if len(silent) > 0 {
		p.line("never fired, per 100: %s: %s", list[0].none(), strings.Join(silent, ", "))
	}
}

func (p *printer) whatIf(w WhatIf) {
	p.line("with the settings that are tried, %d verdicts change", len(w.Changes))
	p.differences("changes", w.Changes)
	if s := w.Select; s != nil {
		p.line("iteration %d is selected, and %d would be", s.Was, s.Is)
	}
}

func (p *printer) differences(what string, list []Difference) {
	for _, d := range list {
		p.line("%s %s: %s → %s", d.Is.Name(), what, d.Was.summary(), d.Is.summary())
		for _, a := range without(d.Was.Alerts, d.Is.Alerts) {
			p.alert("no more  ", a)
		}
		for _, a := range without(d.Is.Alerts, d.Was.Alerts) {
			p.alert("new      ", a)
		}
	}
}

// without returns the alerts of list that are not in other.
func without(list, other []detector.Alert) []detector.Alert {
	return slices.DeleteFunc(slices.Clone(list), func(a detector.Alert) bool {
		return slices.ContainsFunc(other, func(b detector.Alert) bool { return sameAlert(a, b) })
	})
}

func (v Verdict) summary() string {
	text := fmt.Sprintf("%s, %s %.2f", v.Class, v.Recommendation.Action, v.Recommendation.Confidence)
	if v.Undone {
		text += ", undone"
	}
	return text
}
