package report

import (
	"fmt"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/metric"
)

// Iteration is what the report of one iteration shows.
type Iteration struct {
	Iteration ledger.Iteration
	Previous  *ledger.Iteration // whose tree it started from; nil for the baseline
	Baseline  ledger.Iteration
	Best      *ledger.BestIteration
	Kept      string // the folder of the snapshots

	Criterion string           // when the task is done
	Rules     detector.Options // that it was judged by
}

func (v Iteration) chain() reasoning.Chain {
	return reasoning.NewChain(reasoning.Input{Iteration: v.Iteration, Previous: v.Previous, Baseline: v.Baseline, Criterion: v.Criterion, Rules: v.Rules})
}

// metricRows are the rows of the table of metrics, the four of the specification first.
var metricRows = []struct {
	name  string
	field metric.Field
	unit  string
}{
	{"Test Count", metric.TestCount, ""},
	{"Pass Rate", metric.PassRate, "%"},
	{"Coverage", metric.CoveragePct, "%"},
	{"Errors", metric.ErrorCount, ""},
	{"Tests Passed", metric.TestsPassed, ""},
	{"Tests Failed", metric.TestsFailed, ""},
	{"Tests Skipped", metric.TestsSkipped, ""},
	{"Lint Errors", metric.LintErrors, ""},
	{"Lint Warnings", metric.LintWarnings, ""},
	{"Type Errors", metric.TypeErrors, ""},
	{"Files", metric.FileCount, ""},
	{"Lines of Code", metric.LOCTotal, ""},
	{"Complexity", metric.Complexity, ""},
}

// page is a report under construction.
type page struct{ document.Document }

// IterationDocument returns the report of one iteration.
func IterationDocument(v Iteration) document.Document {
	p := &page{}
	p.head(v)
	p.metrics(v)
	p.breakdown(v.Iteration)
	p.alerts(v.Iteration.Assessment.Alerts)
	p.open(v.Iteration.Open)
	p.blocked(3, v.Iteration)
	p.tests(v.Iteration.Assessment.Changes)
	p.best(v)
	p.recommendation(v)
	p.Heading(3, "Chain of Reasoning")
	c := v.chain()
	chain := layout{level: 4, brief: true}
	chain.chain(c)
	p.Add(chain.Document...)
	p.overrides(c.Overrides)
	return p.Document
}

func (p *page) head(v Iteration) {
	if v.Iteration.Number == 0 {
		p.Heading(2, "Baseline Report")
	} else {
		p.Heading(2, "Iteration %d Progress Report", v.Iteration.Number)
	}
	p.Field("Timestamp", "%s", v.Iteration.EndedAt.UTC().Format(time.RFC3339))
	p.Field("Classification", "%s", v.Iteration.Assessment.Class)
	p.Field("Quality Score", "%s", score(v.Iteration))
	if outcome := outcome(v.Iteration); outcome != nil {
		p.Field("Outcome", "%s", outcome)
	}
}

// outcome says in one line what was done with an iteration that was not accepted.
func outcome(it ledger.Iteration) document.Text {
	d := it.Decision
	switch {
	case it.Interrupted:
		return document.Textf("interrupted before it could be judged; the agent's work is kept as snapshot `s%s`: `supervise rollback %s %d`", it.Snapshot, it.LoopID, it.Number)
	case !it.Rejected:
		return nil
	case it.Recorded != nil && d != nil && it.Snapshot == "":
		return document.Textf("%s: %s; next: %s", advised(d), d.Reason, next(d))
	case it.Recorded != nil && d != nil:
		return document.Textf("%s: %s; next: %s; its tree is kept as snapshot `s%s`", advised(d), d.Reason, next(d), it.Snapshot)
	case d == nil:
		return document.Textf("rejected; its changes were rolled back and are kept as snapshot `s%s`", it.Snapshot)
	}
	return document.Textf("rejected: %s; the tree was restored to %s, next: %s; its changes were rolled back and are kept as snapshot `s%s`", d.Reason, iterationOr(d.Target), next(d), it.Snapshot)
}

func score(it ledger.Iteration) string {
	if !it.Score.Measured {
		return notMeasured
	}
	return fmt.Sprintf("%.4f", it.Score.Value)
}

func (p *page) metrics(v Iteration) {
	var previous *metric.Set
	if v.Previous != nil {
		previous = &v.Previous.Set
	}
	p.Heading(3, "Metrics")
	t := document.Table{Head: []string{"Metric", "Current", "Previous", "Delta", "Baseline", "Delta from Baseline"}}
	a := v.Iteration.Assessment
	for _, r := range metricRows {
		t.Row(r.name, value(&v.Iteration.Set, r.field, r.unit), value(previous, r.field, r.unit), delta(a.FromPrevious, r.field, r.unit),
			value(&v.Baseline.Set, r.field, r.unit), delta(a.FromBaseline, r.field, r.unit))
	}
	t.Row("Build", build(v.Iteration.Set.Build), buildOf(previous), "", build(v.Baseline.Set.Build), "")
	p.Add(t)
	for _, g := range v.Iteration.Set.Gaps {
		p.Paragraph("**Not measured**: %s (%s): %s", g.Section, g.State, g.Why)
	}
}

func (p *page) breakdown(it ledger.Iteration) {
	p.Heading(3, "Quality Score Breakdown")
	t := document.Table{Head: []string{"Dimension", "Score", "Weight", "Contribution"}}
	var weights float64
	for _, d := range it.Score.Dimensions {
		name := strings.ToUpper(d.Name[:1]) + d.Name[1:]
		if !d.Measured {
			t.Row(name, notMeasured, fmt.Sprintf("%.2f", d.Weight), notMeasured)
			continue
		}
		weights += d.Weight
		t.Row(name, fmt.Sprintf("%.2f", d.Score), fmt.Sprintf("%.2f", d.Weight), fmt.Sprintf("%.4f", d.Contribution))
	}
	total := document.Span{Style: document.Strong, Text: score(it)}
	t.Row(document.Span{Style: document.Strong, Text: "Total"}, total, fmt.Sprintf("%.2f", weights), total)
	p.Add(t)
}

func (p *page) alerts(alerts []detector.Alert) {
	p.Heading(3, "Alerts")
	if len(alerts) == 0 {
		p.Paragraph("No alerts")
		return
	}
	for _, a := range alerts {
		p.Item("**%s** `%s` (%s, %s, against the %s, finding `%s`): %s. Action: %s%s. Source: %s", a.Severity, a.Rule, a.Type, a.Basis, a.Against, a.ID(), a.Message(), a.Action, accepted(a), reasoning.Source(a.Rule))
		names := make([]string, len(a.Tests))
		for i, id := range a.Tests {
			names[i] = id.String()
		}
		p.below("test", names)
		p.below("file", a.Files)
		p.versions(a)
	}
}

// versions shows tests before and now, below an item.
func (p *page) versions(a detector.Alert) {
	if lines := VersionLines(a.Versions); len(lines) > 0 {
		p.Below().Add(document.Code(lines))
	}
}

// VersionLines are the lines that show tests before and now, one version below the other.
func VersionLines(list []detector.Versions) []string {
	var out []string
	side := func(when string, x *detector.Excerpt) {
		if x == nil {
			out = append(out, when+": missing")
			return
		}
		out = append(out, fmt.Sprintf("%s, %s:%d:", when, x.File, x.Line))
		for line := range strings.Lines(x.Text) {
			out = append(out, "    "+strings.TrimRight(line, "\r\n"))
		}
	}
	for _, v := range list {
		out = append(out, v.Test)
		side("  before", v.Before)
		side("  now", v.After)
	}
	return out
}

// open lists the findings that a person has to look at before the tree is good.
func (p *page) open(list []ledger.OpenFinding) {
	if len(list) == 0 {
		return
	}
	p.Heading(3, "Open findings about integrity")
	p.Paragraph("They undo nothing. Until they are gone or acknowledged, the tree is not verified and no criterion is met.")
	for _, o := range list {
		p.Item("%s", o)
	}
}

// blocked lists what the agents of iterations said that they cannot do.
func (p *page) blocked(level int, its ...ledger.Iteration) {
	var lines []string
	for _, it := range its {
		lines = append(lines, it.BlockedIteration().Lines()...)
	}
	if len(lines) > 0 {
		p.Heading(level, "The Agent Could Not Go On")
	}
	for _, line := range lines {
		p.Item("%s", strings.ToUpper(line[:1])+line[1:])
	}
}

// accepted names the acknowledgement of a finding, "" without one.
func accepted(a detector.Alert) string {
	if a.Acknowledged == nil {
		return ""
	}
	return fmt.Sprintf(" (acknowledged as %s: %s; else %s)", a.Acknowledged.ID, a.Acknowledged.Reason, a.Acknowledged.Severity)
}

// below lists names below an item, as many as one can read.
func (p *page) below(kind string, list []string) {
	n := reasoning.NamesOf(list)
	for _, name := range n.List {
		p.Below().Item("%s `%s`", kind, name)
	}
	if n.More > 0 {
		p.Below().Item("and %s more, see metrics.json", Pluralize(n.More, kind, kind+"s"))
	}
}

func (p *page) tests(c detector.TestChanges) {
	if len(reasoning.ChangeGroups(c))+len(reasoning.ExplainedLosses(c)) > 0 {
		p.Heading(3, "Tests")
		p.testGroups(c)
	}
}

// testGroups lists what happened to which tests, and reports whether anything did.
func (p *page) testGroups(c detector.TestChanges) bool {
	groups, losses := reasoning.ChangeGroups(c), reasoning.ExplainedLosses(c)
	for _, g := range groups {
		p.Item("%s: %s", g.What, names(g.Tests))
	}
	for _, l := range losses {
		p.Item("Gone, but explained: %s (%s)", names(l.Tests), l.By)
	}
	return len(groups)+len(losses) > 0
}

func names(n reasoning.Names) document.Text {
	text := document.Join(document.Verbatim, n.List, ", ")
	if n.More > 0 {
		return document.Textf("%s, and %d more", text, n.More)
	}
	return text
}

func (p *page) best(v Iteration) {
	p.Heading(3, "Best Iteration Tracker")
	if v.Best == nil {
		p.Item("**Current Best**: none yet")
	} else {
		p.Item("**Current Best**: Iteration %d (quality: %.4f)", v.Best.Iteration, v.Best.QualityScore)
	}
	p.Item("**This Iteration**: Iteration %d (quality: %s)", v.Iteration.Number, score(v.Iteration))
	preserved := "no"
	switch {
	case v.Best == nil:
	case v.Best.Snapshot != "":
		preserved = "yes"
	default:
		preserved = "its metrics, and the artifacts that were given; it was recorded without a snapshot"
	}
	p.Item("**Best Preserved**: %s", preserved)
}

func (p *page) recommendation(v Iteration) {
	r := v.Iteration.Assessment.Recommendation
	if v.Iteration.Number == 0 {
		return
	}
	p.Heading(3, "Recommendation")
	p.Field("Action", "%s", r.Action)
	if r.Action == detector.Rollback {
		p.Field("Target", "iteration %d", r.Target)
	}
	p.Field("Reason", "%s", r.Reason)
	p.Field("Confidence", "%.2f", r.Confidence)
}

// overrides ends the report: how to decide otherwise.
func (p *page) overrides(list []reasoning.Override) {
	if len(list) == 0 {
		return
	}
	p.Heading(3, "How to Override")
	for _, o := range list {
		p.Item("%s: `%s`", overrideText(o), o.Command+o.Config)
	}
}

func leftovers(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("; it left %s running, now killed: %s", Pluralize(len(list), "process", "processes"), strings.Join(list, ", "))
}
