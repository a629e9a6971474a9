package report

import (
	"fmt"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// Iteration is what the report of one iteration shows.
type Iteration struct {
	It       ledger.Iteration
	Previous *ledger.Iteration // whose tree it started from; nil for the baseline
	Baseline ledger.Iteration
	Best     *ledger.BestIteration
	Kept     string // where the snapshots are
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
	p.tests(v.It.Assessment.Changes)
	p.best(v)
	p.recommendation(v)
	p.evidence(v.It)
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
	if v.It.Interrupted {
		p.line("**Outcome**: interrupted before it could be judged; what the agent had done is kept as snapshot `s%s`: `supervise rollback %s %d`", v.It.Snapshot, v.It.LoopID, v.It.Number)
	} else if v.It.Rejected {
		p.line("**Outcome**: rejected; its changes were undone and are kept as snapshot `s%s`", v.It.Snapshot)
	}
	p.line("")
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
		p.line("- **%s** `%s` (%s, against the %s): %s. Action: %s", a.Severity, a.Rule, a.Type, a.Against, a.Message(), a.Action)
		for _, id := range a.Tests {
			p.line("  - test `%s`", id)
		}
		for _, f := range a.Files {
			p.line("  - file `%s`", f)
		}
	}
	p.line("")
}

func (p *page) tests(c detector.TestChanges) {
	groups := []struct {
		name string
		ids  []metric.ID
	}{
		{"New", c.New},
		{"Gone", c.Gone},
		{"Newly failing", c.NewlyFailing},
		{"Newly passing", c.NewlyPassing},
		{"Newly skipped", c.NewlySkipped},
		{"Flaky", c.Flaky},
		{"Did not run", c.NotRun},
	}
	written := false
	for _, g := range groups {
		if len(g.ids) == 0 {
			continue
		}
		if !written {
			p.line("### Tests\n")
			written = true
		}
		p.line("- %s: %s", g.name, names(g.ids))
	}
	for _, l := range c.Explained {
		p.line("- Gone, but explained: `%s` (%s)", l.ID, l.By)
	}
	if written || len(c.Explained) > 0 {
		p.line("")
	}
}

// maxNames bounds how many tests a line names.
const maxNames = 25

func names(ids []metric.ID) string {
	out := make([]string, 0, min(len(ids), maxNames))
	for i, id := range ids {
		if i == maxNames {
			out = append(out, fmt.Sprintf("and %d more", len(ids)-maxNames))
			break
		}
		out = append(out, "`"+id.String()+"`")
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
	if v.Best != nil {
		preserved = "yes"
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
	if v.It.Rejected {
		p.line("If this was right after all: `supervise rollback %s %d` puts the rejected tree back. A rule is changed or turned off under `rules:` in `.supervise.yaml`.\n", v.It.LoopID, v.It.Number)
	}
}

func (p *page) evidence(it ledger.Iteration) {
	p.line("### Evidence\n")
	if it.Agent != nil {
		p.line("- Agent: %s, status %d, after %s%s", strings.ReplaceAll(it.Agent.Cause, "_", " "), it.Agent.ExitCode, Duration(it.Agent.Duration), leftovers(it.Agent.Leftovers))
	}
	if it.Reused {
		p.line("- Checks: not run, the same tree had been measured before")
	}
	for _, c := range it.Checks {
		p.line("- %s: status %d in %s%s%s", c.Name, c.ExitCode, Duration(c.Duration), read(c), leftovers(c.Leftovers))
		for _, problem := range c.Problems {
			p.line("  - %s", problem)
		}
	}
	p.line("- Changed files: %d", len(it.Changed))
	for i, c := range it.Changed {
		if i == maxNames {
			p.line("  - and %d more, see changes.patch", len(it.Changed)-maxNames)
			break
		}
		p.line("  - %s `%s`", c.Kind, c.Path)
	}
	p.line("- supervise's own work: %s", Duration(it.OwnTime))
}

func read(c ledger.CheckRun) string {
	switch {
	case c.Why != "":
		return ": not measured: " + c.Why
	case len(c.Read) > 0:
		return ", read " + strings.Join(c.Read, ", ")
	}
	return ""
}

// Ending says how an agent ended that did not end well or left something
// behind, "" otherwise.
func Ending(a *ledger.AgentRun) string {
	switch {
	case a == nil:
		return ""
	case a.Signal != "":
		return strings.ReplaceAll(a.Cause, "_", " ") + ", ended by " + a.Signal + leftovers(a.Leftovers)
	case a.Cause != "exited" || a.ExitCode != 0 || len(a.Leftovers) > 0:
		return fmt.Sprintf("%s, status %d%s", strings.ReplaceAll(a.Cause, "_", " "), a.ExitCode, leftovers(a.Leftovers))
	}
	return ""
}

func leftovers(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf("; it left %s behind, ended now: %s", Count(len(list), "process", "processes"), strings.Join(list, ", "))
}
