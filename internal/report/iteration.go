package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/metric"
)

// Iteration is the content of the report of one iteration.
type Iteration struct {
	Iteration ledger.Iteration
	Previous  *ledger.Iteration // the iteration from whose tree it started; nil for the baseline
	Baseline  ledger.Iteration
	Best      *ledger.BestIteration
	Kept      string // the folder of the snapshots

	Criterion string           // when the task is done
	Rules     detector.Options // rules that it was judged by
}

// metricRows lists the rows of the tables of metrics: the title, the metric, and its unit. The four
// main metrics come first.
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

// page is a report under construction. Its methods append sections.
type page struct{ document.Document }

// IterationDocument returns the report of one iteration.
func IterationDocument(v Iteration) document.Document {
	p := &page{}
	p.addHead(v)
	p.addMetrics(v)
	p.addScoreBreakdown(v.Iteration)
	p.addAlerts(v.Iteration.Assessment.Alerts)
	p.addOpenFindings(v.Iteration.Open)
	p.addBlocked(3, v.Iteration)
	p.addTests(v.Iteration.Assessment.Changes)
	p.addBest(v)
	p.addRecommendation(v)
	p.Heading(3, "Chain of Reasoning")
	c := reasoning.NewChain(reasoning.Input{
		Iteration: v.Iteration, Previous: v.Previous, Baseline: v.Baseline, Criterion: v.Criterion, Rules: v.Rules,
	})
	chain := chainLayout{level: 4, isBrief: true}
	chain.addChain(c)
	p.Add(chain.Document...)
	p.addOverrides(c.Overrides)
	return p.Document
}

// addHead adds the title and the outcome.
func (p *page) addHead(v Iteration) {
	n := v.Iteration.Number
	p.Heading(2, "%s", Either(n == 0, "Baseline Report", fmt.Sprintf("Iteration %d Progress Report", n)))
	p.Field("Timestamp", "%s", v.Iteration.EndedAt.UTC().Format(time.RFC3339))
	p.Field("Classification", "%s", v.Iteration.Assessment.Class)
	p.Field("Quality Score", "%s", scoreText(v.Iteration))
	if c := v.Iteration.ChangeCoverage; c != nil {
		p.Field("Change", "%s", c)
	}
	if m := v.Iteration.ChangeMutants; m != nil {
		p.Field("Mutants of the change", "%s", m)
		for _, s := range m.Survivors {
			p.Field("No test notices", "`%s`", s)
		}
	}
	for _, line := range v.Iteration.Uncommitted.Lines() {
		p.Field("Tests", "%s", line)
	}
	if outcome := rejectionText(v.Iteration); outcome != nil {
		p.Field("Outcome", "%s", outcome)
	}
}

// rejectionText says in one line what was done with an iteration that was not accepted. It returns
// nil if it was accepted.
func rejectionText(it ledger.Iteration) document.Text {
	d := it.Decision
	switch {
	case it.Interrupted:
		return document.Textf("interrupted before it could be judged; the agent's work is kept as snapshot `s%s`: `supervise rollback %s %d`", it.Snapshot, it.LoopID, it.Number)
	case !it.Rejected:
		return nil
	case it.Recorded != nil && d != nil && it.Snapshot == "":
		return document.Textf("%s: %s; next: %s", adviceText(d), d.Reason, nextText(d))
	case it.Recorded != nil && d != nil:
		return document.Textf("%s: %s; next: %s; its tree is kept as snapshot `s%s`", adviceText(d), d.Reason, nextText(d), it.Snapshot)
	case d == nil:
		return document.Textf("rejected; its changes were rolled back and are kept as snapshot `s%s`", it.Snapshot)
	}
	return document.Textf("rejected: %s; the tree was restored to %s, next: %s; its changes were rolled back and are kept as snapshot `s%s`", d.Reason, IterationName(d.Target), nextText(d), it.Snapshot)
}

// scoreText formats the score in [0,1], with four decimals.
func scoreText(it ledger.Iteration) string {
	return formatOptional("%.4f", 1, it.Quality())
}

// addMetrics adds the table that compares the metrics with the previous iteration and the baseline.
func (p *page) addMetrics(v Iteration) {
	var previous *metric.Set
	if v.Previous != nil {
		previous = &v.Previous.Set
	}
	p.Heading(3, "Metrics")
	t := document.Table{Head: []string{"Metric", "Current", "Previous", "Delta", "Baseline", "Delta from Baseline"}}
	a := v.Iteration.Assessment
	for _, r := range metricRows {
		t.Row(r.name, valueText(&v.Iteration.Set, r.field, r.unit), valueText(previous, r.field, r.unit), deltaText(a.FromPrevious, r.field, r.unit),
			valueText(&v.Baseline.Set, r.field, r.unit), deltaText(a.FromBaseline, r.field, r.unit))
	}
	previousBuild := notMeasuredText
	if previous != nil {
		previousBuild = buildText(previous.Build)
	}
	t.Row("Build", buildText(v.Iteration.Set.Build), previousBuild, "", buildText(v.Baseline.Set.Build), "")
	p.Add(t)
	for _, g := range v.Iteration.Set.Gaps {
		p.Paragraph("**Not measured**: %s (%s): %s", g.Section, g.State, g.Why)
	}
}

// addScoreBreakdown adds the table of the dimensions that make up the score.
func (p *page) addScoreBreakdown(it ledger.Iteration) {
	p.Heading(3, "Quality Score Breakdown")
	t := document.Table{Head: []string{"Dimension", "Score", "Weight", "Contribution"}}
	var weights float64
	for _, d := range it.Score.Dimensions {
		name := strings.ToUpper(d.Name[:1]) + d.Name[1:]
		if !d.Measured {
			t.Row(name, notMeasuredText, fmt.Sprintf("%.2f", d.Weight), notMeasuredText)
			continue
		}
		weights += d.Weight
		t.Row(name, fmt.Sprintf("%.2f", d.Score), fmt.Sprintf("%.2f", d.Weight), fmt.Sprintf("%.4f", d.Contribution))
	}
	total := document.Span{Style: document.Strong, Text: scoreText(it)}
	t.Row(document.Span{Style: document.Strong, Text: "Total"}, total, fmt.Sprintf("%.2f", weights), total)
	p.Add(t)
}

// addAlerts lists the alerts with their tests, files, and changed texts.
func (p *page) addAlerts(alerts []detector.Alert) {
	p.Heading(3, "Alerts")
	if len(alerts) == 0 {
		p.Paragraph("No alerts")
		return
	}
	for _, a := range alerts {
		p.Item("**%s** `%s` (%s, %s, against the %s, finding `%s`): %s. Action: %s%s. Source: %s", a.Severity, a.Rule, a.Type, a.Basis, a.Against, a.ID(), a.Message(), a.Action, acknowledgementText(a), reasoning.Source(a.Rule))
		p.addNames("test", TestNames(a.Tests))
		p.addNames("file", a.Files)
		p.addVersions(a)
	}
}

// addVersions adds the texts of weakened tests, before and now, below the last item.
func (p *page) addVersions(a detector.Alert) {
	if lines := VersionLines(a.Versions); len(lines) > 0 {
		p.Below().Add(document.Code(lines))
	}
}

// VersionLines returns the texts of tests before and now, one below the other.
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

// VersionLine returns the first lines that differ in a test before and now, as in
// "TestTwice, twice_test.go:5: want 5 → want 6".
func VersionLine(v detector.Versions) string {
	differing := func(x, other *detector.Excerpt) string {
		if x == nil {
			return "missing"
		}
		for line := range strings.Lines(x.Text) {
			if other == nil || !strings.Contains(other.Text, line) {
				return strings.TrimSpace(line)
			}
		}
		return "…"
	}
	at := cmp.Or(v.After, v.Before)
	return fmt.Sprintf("%s, %s:%d: %s → %s", v.Test, at.File, at.Line, differing(v.Before, v.After), differing(v.After, v.Before))
}

// addOpenFindings lists the findings that a person has to check before the tree is accepted.
func (p *page) addOpenFindings(list []ledger.OpenFinding) {
	if len(list) == 0 {
		return
	}
	p.Heading(3, "Open findings about integrity")
	p.Paragraph("They undo nothing. Until they are gone or acknowledged, the tree is not verified and no criterion is met.")
	for _, o := range list {
		p.Item("%s", o)
	}
}

// addBlocked lists what the agents reported that they cannot do.
func (p *page) addBlocked(level int, its ...ledger.Iteration) {
	var lines []string
	for _, it := range its {
		lines = append(lines, it.BlockedIteration().Lines()...)
	}
	if len(lines) > 0 {
		p.Heading(level, "The Agent Could Not Continue")
	}
	for _, line := range lines {
		p.Item("%s", strings.ToUpper(line[:1])+line[1:])
	}
}

// acknowledgementText describes the acknowledgement of a finding, "" if there is none.
func acknowledgementText(a detector.Alert) string {
	if a.Acknowledged == nil {
		return ""
	}
	return fmt.Sprintf(" (acknowledged as %s: %s; else %s)", a.Acknowledged.ID, a.Acknowledged.Reason, a.Acknowledged.Severity)
}

// addNames lists names below the last item, up to a readable number. kind is a noun, as in "test".
func (p *page) addNames(kind string, list []string) {
	n := reasoning.NamesOf(list)
	for _, name := range n.List {
		p.Below().Item("%s `%s`", kind, name)
	}
	if n.More > 0 {
		p.Below().Item("and %s more, see metrics.json", Pluralize(n.More, kind, kind+"s"))
	}
}

// addTests adds a section about the tests that changed, if any did.
func (p *page) addTests(c detector.TestChanges) {
	if len(reasoning.ChangeGroups(c))+len(reasoning.ExplainedLosses(c)) > 0 {
		p.Heading(3, "Tests")
		p.addTestGroups(c)
	}
}

// addTestGroups lists the tests by what happened to them, and reports whether there are any.
func (p *page) addTestGroups(c detector.TestChanges) bool {
	groups, losses := reasoning.ChangeGroups(c), reasoning.ExplainedLosses(c)
	for _, g := range groups {
		p.Item("%s: %s", g.What, namesText(g.Tests))
	}
	for _, l := range losses {
		p.Item("Gone, but explained: %s (%s)", namesText(l.Tests), l.By)
	}
	return len(groups)+len(losses) > 0
}

// namesText joins names in one line, with the number of those that are left out.
func namesText(n reasoning.Names) document.Text {
	text := document.Join(document.Verbatim, n.List, ", ")
	if n.More > 0 {
		return document.Textf("%s, and %d more", text, n.More)
	}
	return text
}

// addBest compares the iteration with the best one so far.
func (p *page) addBest(v Iteration) {
	p.Heading(3, "Best Iteration Tracker")
	best, preserved := "none yet", "no"
	if v.Best != nil {
		best = fmt.Sprintf("Iteration %d (quality: %.4f)", v.Best.Iteration, v.Best.QualityScore)
		preserved = Either(v.Best.Snapshot != "", "yes",
			"its metrics, and the artifacts that were given; it was recorded without a snapshot")
	}
	p.Item("**Current Best**: %s", best)
	p.Item("**This Iteration**: Iteration %d (quality: %s)", v.Iteration.Number, scoreText(v.Iteration))
	p.Item("**Best Preserved**: %s", preserved)
}

// addRecommendation adds the recommendation of the detector. The baseline has none.
func (p *page) addRecommendation(v Iteration) {
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

// addOverrides lists how to override the decision.
func (p *page) addOverrides(list []reasoning.Override) {
	if len(list) == 0 {
		return
	}
	p.Heading(3, "How to Override")
	for _, o := range list {
		p.Item("%s: `%s`", overrideText(o), o.Command+o.Config)
	}
}

// leftoversText names processes that were left running, as the continuation of a sentence.
func leftoversText(list []string) string {
	count := Pluralize(len(list), "process", "processes")
	return Either(len(list) > 0, "; it left "+count+" running, now killed: "+strings.Join(list, ", "), "")
}
