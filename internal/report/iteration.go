package report

import (
	"fmt"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/metric"
)

// Iteration is what the report of one iteration shows.
type Iteration struct {
	It       ledger.Iteration
	Previous *ledger.Iteration // whose tree it started from; nil for the baseline
	Baseline ledger.Iteration
	Best     *ledger.BestIteration
	Kept     string // where the snapshots are

	Criterion string           // when the task is done
	Rules     detector.Options // that it was judged by
}

func (v Iteration) chain() reasoning.Chain {
	return reasoning.Of(reasoning.Input{It: v.It, Previous: v.Previous, Baseline: v.Baseline, Criterion: v.Criterion, Rules: v.Rules})
}

// rows of the metrics table: the four of the specification first.
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

// page collects Markdown.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(&p.Builder, format+"\n", args...)
}

// OfIteration returns the report of one iteration.
func OfIteration(v Iteration) []byte {
	p := &page{}
	p.head(v)
	p.metrics(v)
	p.breakdown(v.It)
	p.alerts(v.It.Assessment.Alerts)
	p.open(v.It.Open)
	p.said("### The Agent Could Not Go On", v.It)
	p.tests(v.It.Assessment.Changes)
	p.best(v)
	p.recommendation(v)
	c := v.chain()
	p.reasoning(c)
	p.overrides(c.Overrides)
	return []byte(p.String())
}

func (p *page) head(v Iteration) {
	title := fmt.Sprintf("Iteration %d Progress Report", v.It.Number)
	if v.It.Number == 0 {
		title = "Baseline Report"
	}
	p.line("## %s\n", title)
	p.line("**Timestamp**: %s", v.It.EndedAt.UTC().Format(time.RFC3339))
	p.line("**Classification**: %s", v.It.Assessment.Class)
	p.line("**Quality Score**: %s", score(v.It))
	if outcome := outcome(v.It); outcome != "" {
		p.line("**Outcome**: %s", outcome)
	}
	p.line("")
}

// outcome says in one line what was done with an iteration that was not accepted.
func outcome(it ledger.Iteration) string {
	switch {
	case it.Interrupted:
		return fmt.Sprintf("interrupted before it could be judged; the agent's work is kept as snapshot `s%s`: `supervise rollback %s %d`", it.Snapshot, it.LoopID, it.Number)
	case !it.Rejected:
		return ""
	}
	if it.Recorded != nil && it.Decision != nil {
		text := fmt.Sprintf("%s: %s; next: %s", advised(it.Decision), it.Decision.Reason, next(it.Decision))
		if it.Snapshot != "" {
			text += fmt.Sprintf("; its tree is kept as snapshot `s%s`", it.Snapshot)
		}
		return text
	}
	text := "rejected"
	if it.Decision != nil {
		text += ": " + it.Decision.Reason
		text += fmt.Sprintf("; the tree was restored to %s, next: %s", iterationOr(it.Decision.Target), next(it.Decision))
	}
	return text + fmt.Sprintf("; its changes were undone and are kept as snapshot `s%s`", it.Snapshot)
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
	p.line("### Metrics\n")
	p.line("| Metric | Current | Previous | Delta | Baseline | Delta from Baseline |")
	p.line("|--------|---------|----------|-------|----------|---------------------|")
	a := v.It.Assessment
	for _, r := range metricRows {
		p.line("| %s | %s | %s | %s | %s | %s |", r.name, value(&v.It.Set, r.field, r.unit), value(previous, r.field, r.unit),
			delta(a.FromPrevious, r.field, r.unit), value(&v.Baseline.Set, r.field, r.unit), delta(a.FromBaseline, r.field, r.unit))
	}
	p.line("| Build | %s | %s | | %s | |", build(v.It.Set.Build), buildOf(previous), build(v.Baseline.Set.Build))
	for _, g := range v.It.Set.Gaps {
		p.line("\n**Not measured**: %s (%s): %s", g.Section, g.State, g.Why)
	}
	p.line("")
}

func (p *page) breakdown(it ledger.Iteration) {
	p.line("### Quality Score Breakdown\n")
	p.line("| Dimension | Score | Weight | Contribution |")
	p.line("|-----------|-------|--------|--------------|")
	var weights float64
	for _, d := range it.Score.Dimensions {
		if !d.Measured {
			p.line("| %s | %s | %.2f | %s |", title(d.Name), notMeasured, d.Weight, notMeasured)
			continue
		}
		weights += d.Weight
		p.line("| %s | %.2f | %.2f | %.4f |", title(d.Name), d.Score, d.Weight, d.Contribution)
	}
	p.line("| **Total** | **%s** | %.2f | **%s** |\n", score(it), weights, score(it))
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (p *page) alerts(alerts []detector.Alert) {
	p.line("### Alerts\n")
	if len(alerts) == 0 {
		p.line("No alerts\n")
		return
	}
	for _, a := range alerts {
		p.line("- **%s** `%s` (%s, %s, against the %s, finding `%s`): %s. Action: %s%s. Source: %s", a.Severity, a.Rule, a.Type, a.RestsOn, a.Against, a.ID(), a.Message(), a.Action, accepted(a), reasoning.Source(a.Rule))
		names := make([]string, len(a.Tests))
		for i, id := range a.Tests {
			names[i] = id.String()
		}
		p.under("test", names)
		p.under("file", a.Files)
		for _, line := range Sides(a.Versions) {
			p.line("  %s", line)
		}
	}
	p.line("")
}

// Sides are the lines that show tests before and now, one version below the other.
func Sides(list []detector.Versions) []string {
	var out []string
	side := func(when string, x *detector.Excerpt) {
		if x == nil {
			out = append(out, when+": not there")
			return
		}
		out = append(out, fmt.Sprintf("%s, %s:%d:", when, x.File, x.Line))
		for line := range strings.Lines(x.Text) {
			out = append(out, "    "+strings.TrimRight(line, "\r\n"))
		}
	}
	for _, v := range list {
		out = append(out, v.Test)
		side("  before", v.Was)
		side("  now", v.Is)
	}
	return out
}

// open lists the findings that a person has to look at before the tree is good.
func (p *page) open(list []ledger.OpenFinding) {
	if len(list) == 0 {
		return
	}
	p.line("### Open findings about integrity\n")
	p.line("They undo nothing. Until they are gone or acknowledged, the tree is not verified and no criterion is met.\n")
	for _, o := range list {
		p.line("- %s", o)
	}
	p.line("")
}

// said lists what the agents of iterations said that they cannot do.
func (p *page) said(title string, its ...ledger.Iteration) {
	for _, it := range its {
		for _, line := range it.Blocking().Lines() {
			if title != "" {
				p.line("%s\n", title)
				title = ""
			}
			p.line("- %s", strings.ToUpper(line[:1])+line[1:])
		}
	}
	if title == "" {
		p.line("")
	}
}

// accepted names the acknowledgement of a finding, "" without one.
func accepted(a detector.Alert) string {
	if a.Acknowledged == nil {
		return ""
	}
	return fmt.Sprintf(" (acknowledged as %s: %s; else %s)", a.Acknowledged.ID, a.Acknowledged.Reason, a.Acknowledged.Severity)
}

// under lists names below a line, as many as one can read.
func (p *page) under(kind string, list []string) {
	n := reasoning.NamesOf(list)
	for _, name := range n.List {
		p.line("  - %s `%s`", kind, name)
	}
	if n.More > 0 {
		p.line("  - and %s more, see metrics.json", Count(n.More, kind, kind+"s"))
	}
}

func (p *page) tests(c detector.TestChanges) {
	if len(reasoning.Groups(c))+len(reasoning.Losses(c)) == 0 {
		return
	}
	p.line("### Tests\n")
	p.testGroups(c)
	p.line("")
}

// testGroups lists what happened to which tests, and reports whether anything did.
func (p *page) testGroups(c detector.TestChanges) bool {
	groups, losses := reasoning.Groups(c), reasoning.Losses(c)
	for _, g := range groups {
		p.line("- %s: %s", g.What, names(g.Tests))
	}
	for _, l := range losses {
		p.line("- Gone, but explained: %s (%s)", names(l.Tests), l.By)
	}
	return len(groups)+len(losses) > 0
}

func names(n reasoning.Names) string {
	out := make([]string, 0, len(n.List)+1)
	for _, name := range n.List {
		out = append(out, "`"+name+"`")
	}
	if n.More > 0 {
		out = append(out, fmt.Sprintf("and %d more", n.More))
	}
	return strings.Join(out, ", ")
}

func (p *page) best(v Iteration) {
	p.line("### Best Iteration Tracker\n")
	if v.Best == nil {
		p.line("- **Current Best**: none yet")
	} else {
		p.line("- **Current Best**: Iteration %d (quality: %.4f)", v.Best.Iteration, v.Best.QualityScore)
	}
	p.line("- **This Iteration**: Iteration %d (quality: %s)", v.It.Number, score(v.It))
	preserved := "no"
	switch {
	case v.Best == nil:
	case v.Best.Snapshot != "":
		preserved = "yes"
	default:
		preserved = "its numbers, and the artifacts that were given; it was recorded without a snapshot"
	}
	p.line("- **Best Preserved**: %s\n", preserved)
}

func (p *page) recommendation(v Iteration) {
	r := v.It.Assessment.Recommendation
	if v.It.Number == 0 {
		return
	}
	p.line("### Recommendation\n")
	p.line("**Action**: %s", r.Action)
	if r.Action == detector.Rollback {
		p.line("**Target**: iteration %d", r.Target)
	}
	p.line("**Reason**: %s", r.Reason)
	p.line("**Confidence**: %.2f\n", r.Confidence)
}

// reasoning writes the chain of reasoning in its five steps.
func (p *page) reasoning(c reasoning.Chain) {
	p.line("### Chain of Reasoning\n")
	l := markdown()
	l.chain(c)
	p.WriteString(l.String())
}

// overrides ends the report: how to decide otherwise.
func (p *page) overrides(list []reasoning.Override) {
	if len(list) == 0 {
		return
	}
	p.line("\n### How to Override\n")
	for _, o := range list {
		p.line("- %s: `%s`", overrideText(o), o.Command+o.Config)
	}
}

func leftovers(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("; it left %s running, now ended: %s", Count(len(list), "process", "processes"), strings.Join(list, ", "))
}
