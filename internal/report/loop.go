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
	"supervise/selector"
)

// File names of the reports of a loop, in its folder reports/.
const (
	SelectionName  = "output-selection-report.md"
	CompletionName = "completion-report.md"
)

// Loop is the content of the reports of a loop.
type Loop struct {
	State        ledger.State
	Iterations   []ledger.Iteration // the baseline first
	Choice       selector.Selection
	Summary      selector.Summary
	Artifacts    []string // paths of the files that the selection changed
	Removed      []string // paths of those that it deleted
	Verification *ledger.Verification
	Mode         selector.Mode
	Threshold    float64 // in [0,1]
	Now          time.Time
	Skipped      []string // paths that are in no snapshot, with the reason
	Dropped      []string // names of snapshots that were dropped to save space
	Open         []ledger.OpenFinding
	Declared     []detector.Alert // findings that the user allowed in advance, which a person should read
	Head         string           // hash of the last entry of the log
}

// selectedIteration returns the selected iteration, one without results if its record is missing.
func (v Loop) selectedIteration() ledger.Iteration {
	return *cmp.Or(findIteration(v.Iterations, v.Choice.Iteration), &ledger.Iteration{Number: v.Choice.Iteration})
}

// finalIteration returns the last iteration.
func (v Loop) finalIteration() ledger.Iteration { return v.Iterations[len(v.Iterations)-1] }

// baselineIteration returns the baseline. Other orchestrators may omit it; then the result is the
// zero iteration.
func (v Loop) baselineIteration() ledger.Iteration {
	return *cmp.Or(findIteration(v.Iterations, 0), &ledger.Iteration{})
}

// iterationCount returns the number of iterations, without the baseline.
func (v Loop) iterationCount() int {
	count := len(v.Iterations)
	if v.Iterations[0].Number == 0 {
		count--
	}
	return count
}

// SelectionDocument returns the report about the selection: which iteration, and why.
func SelectionDocument(v Loop) document.Document {
	p := &page{}
	p.Heading(1, "Output Selection Report")
	p.Field("Loop ID", "%s", v.State.LoopID)
	p.Field("Total Iterations", "%d", v.iterationCount())
	p.Field("Selected Iteration", "%s", iterationText(v.Choice.Iteration))
	p.addSummary(v)
	p.addScores(v)
	p.addRationale(v)
	p.addOpenFindings(v.Open)
	for _, line := range v.baselineIteration().Uncommitted.Lines() {
		p.Field("Tests", "%s", line)
	}
	p.addDegradation(v)
	p.addTotals(v.Summary)
	p.Heading(2, "Quality Trajectory")
	p.Add(Trajectory(v.Iterations, v.Choice.Iteration))
	p.addArtifacts(v)
	p.addRecommendations(v)
	return p.Document
}

// iterationText returns the number of an iteration for a table.
func iterationText(n int) string {
	return fmt.Sprint(n) + Either(n == 0, " (the baseline)", "")
}

// addSummary compares the selected iteration with the final one.
func (p *page) addSummary(v Loop) {
	final := v.finalIteration()
	p.Heading(2, "Summary")
	t := document.Table{Head: []string{"Metric", "Value"}}
	t.Row("Selected Iteration", iterationText(v.Choice.Iteration))
	t.Row("Selected Quality", qualityText(v.selectedIteration()))
	t.Row("Final Iteration", iterationText(final.Number))
	t.Row("Final Quality", qualityText(final))
	t.Row("Degradation Detected", yesNo(v.Choice.Degradation != nil))
	if c := v.selectedIteration().ChangeCoverage; c != nil {
		t.Row("Selected Change", c)
	}
	t.Row("Selection Mode", fmt.Sprintf("%s, threshold %s", v.Mode, percentText(v.Threshold)))
	t.Row("Verified", yesNo(v.selectedIteration().Verified))
	p.Add(t)
}

// qualityText returns the score in percent.
func qualityText(it ledger.Iteration) string {
	return formatOptional("%.1f%%", 100, it.Quality())
}

// yesNo returns "Yes" or "No".
func yesNo(b bool) string { return Either(b, "Yes", "No") }

// addScores adds the table of all iterations.
func (p *page) addScores(v Loop) {
	p.Heading(2, "Quality Scores")
	t := document.Table{Head: []string{"Iteration", "Quality", "Delta", "Tests", "Coverage", "Change", "Errors", "Classification", "Tokens", "Cost", "Verified", "Status"}}
	var before *float64
	for _, it := range v.Iterations {
		_, tokens, cost := it.Cost()
		t.Row(it.Number, qualityText(it), scoreDeltaText(it, before), testsText(it.Set), valueText(&it.Set, metric.CoveragePct, "%"), it.ChangeCoverage.Cell(), valueText(&it.Set, metric.ErrorCount, ""),
			it.Assessment.Class, formatOptional("%d", 1, tokens), formatOptional("$%.4f", 1, cost), Either(it.Verified, "✓", "✗"), v.statusText(it))
		if it.Score.Measured && !it.Rejected {
			before = &it.Score.Value
		}
	}
	p.Add(t)
}

// scoreDeltaText returns the change of the score since the last accepted iteration, in points.
func scoreDeltaText(it ledger.Iteration, before *float64) string {
	if before == nil || !it.Score.Measured {
		return "-"
	}
	return fmt.Sprintf("%+.1f points", 100*(it.Score.Value-*before))
}

// testsText returns how many tests pass of all, as in "3/4".
func testsText(s metric.Set) string {
	if s.Tests == nil {
		return notMeasuredText
	}
	n := s.Tests.Counts()
	return fmt.Sprintf("%d/%d", n.Passed, n.Count)
}

// statusText returns the last column of the table of iterations.
func (v Loop) statusText(it ledger.Iteration) string {
	outcome := Either(it.Rejected, "rejected", "")
	if it.Interrupted {
		outcome = "interrupted"
	}
	selected := Either(it.Number == v.Choice.Iteration, "✓ SELECTED", "")
	return joinTexts(" ", selected, outcome, Either(it.Number == v.finalIteration().Number, "(final)", ""))
}

// addRationale says why the iteration was selected, and how its tree was verified.
func (p *page) addRationale(v Loop) {
	p.Heading(2, "Selection Rationale")
	p.Field("Selected", "Iteration %s", iterationText(v.Choice.Iteration))
	p.Field("Reason", "%s", v.Choice.Reason)
	if o := v.Choice.Override; o != nil {
		p.Field("Override", "%s by %s on %s", o.Kind, cmp.Or(o.User, "an unknown user"), v.Now.UTC().Format(time.RFC3339))
	}
	for _, r := range v.Choice.Rationale {
		p.Item("%s", r)
	}
	p.Item("By %s", reasoning.SourceOfSelection)
	p.addVerification(v.Verification)
	if v.Verification != nil {
		p.addHiddenTests(v.Verification.Hidden)
		addProof(&p.Document, v.Verification.Proof)
	}
	p.addReview(v.State.Review)
	p.addGoals(v.Verification)
}

// addReview describes the second opinion on the selected tree.
func (p *page) addReview(r *ledger.SelectionReview) {
	if r == nil {
		return
	}
	p.Item("Reviewer `%s`: %s", r.Reviewer, r.Review)
	for _, a := range r.Alerts {
		p.Below().Item("%s %s (%s, %s): %s", a.Severity, a.Rule, a.Basis, a.ID(), a.Message())
	}
}

// addHiddenTests describes the results of the hidden tests.
func (p *page) addHiddenTests(h *ledger.Hidden) {
	if e := reasoning.HiddenOf(h); e != nil {
		kind := Either(e.Sealed, "Sealed", "Hidden")
		p.Item("%s tests: %s", kind, hiddenResultText(e))
		if e.Failing.Len() > 0 {
			p.Item("%s tests that do not pass: %s", kind, namesText(e.Failing))
		}
	}
}

// addGoals describes the results of the original tests on the selected code.
func (p *page) addGoals(v *ledger.Verification) {
	if v == nil || v.Goals == nil {
		return
	}
	h := reasoning.GoalsOf(v.Goals)
	if h.Refused != "" {
		p.Item("Goal tests: the original tests were not run: %s", h.Refused)
		return
	}
	p.Item("Goal tests: original tests, run on the selected code: %d passed", h.Passed)
	for _, g := range h.Outcomes {
		if g.Outcome != detector.Passed {
			p.Item("Goal tests on the selected code: %d %s: %s", g.Tests.Len(), g.Outcome.Short(), namesText(g.Tests))
		}
	}
	if len(v.Goals.Alerts) > 0 {
		p.addAlerts(v.Goals.Alerts)
	}
}

// addVerification says whether measuring the selected tree again gave the same results.
func (p *page) addVerification(v *ledger.Verification) {
	switch {
	case v == nil:
		p.Item("The selected tree was not measured again")
	case v.Confirmed:
		p.Item("The selected tree was restored and re-measured: same results")
	default:
		p.Item("The selected tree was restored and re-measured: DIFFERENT results: %s", strings.Join(v.Differences, "; "))
	}
}

// addDegradation describes how quality fell after the selected iteration. A loss is in percent of
// the selected quality, and an improvement in percent of the final quality.
func (p *page) addDegradation(v Loop) {
	selected, final := v.selectedIteration(), v.finalIteration()
	if !selected.Score.Measured || !final.Score.Measured || selected.Number == final.Number {
		return
	}
	s, f := selected.Score.Value, final.Score.Value
	p.Heading(2, "Degradation Analysis")
	p.Item("Selected quality %s, final quality %s: a difference of %+.1f points", percentText(s), percentText(f), 100*(s-f))
	if f > 0 {
		p.Item("Improvement over the final iteration: %+.1f%% of the final quality", 100*(s-f)/f)
	}
	if s > 0 {
		p.Item("Quality loss after the selection: %+.1f%% of the selected quality", 100*(f-s)/s)
	}
	if d := v.Choice.Degradation; d != nil {
		p.Item("Degradation started at iteration %d; iterations after the peak: %d", d.Started, d.AfterPeak)
		for _, t := range d.Triggers {
			p.Item("Flagged: %s", triggerTexts[t])
		}
	}
}

// triggerTexts say why a loss of quality is more than the usual variation.
var triggerTexts = map[selector.Trigger]string{
	selector.Drop:         "quality fell by more than 5 points at once",
	selector.TwoFalls:     "quality fell twice in a row",
	selector.MoreFailures: "more tests fail than before",
}

// addTotals adds what the loop consumed, and how quality developed.
func (p *page) addTotals(s selector.Summary) {
	p.Heading(2, "Totals")
	t := document.Table{Head: []string{"Metric", "Value"}}
	t.Row("Iterations", fmt.Sprintf("%d, %d rejected", s.Iterations, s.Rejected))
	if s.Average != nil {
		t.Row("Quality", fmt.Sprintf("average %s, best %s, worst %s", percentText(*s.Average), percentText(*s.Best), percentText(*s.Worst)))
	}
	t.Row("Trajectory", s.Trend)
	if s.Duration != nil {
		t.Row("Time", FormatDuration(*s.Duration))
	}
	if s.Tokens != nil {
		t.Row("Tokens", *s.Tokens)
	}
	if s.CostUSD != nil {
		t.Row("Cost", fmt.Sprintf("$%.4f", *s.CostUSD))
	}
	p.Add(t)
}

// addArtifacts lists the files that the selection changed or deleted.
func (p *page) addArtifacts(v Loop) {
	p.Heading(2, "Artifacts Applied")
	if len(v.Artifacts)+len(v.Removed) == 0 {
		p.Item("none: %s", v.whyNothingApplied())
	}
	for _, path := range v.Artifacts {
		p.Item("%s (from iteration %d)", path, v.Choice.Iteration)
	}
	for _, path := range v.Removed {
		p.Item("%s (deleted by iteration %d)", path, v.Choice.Iteration)
	}
}

// whyNothingApplied says why the selection changed no file.
func (v Loop) whyNothingApplied() string {
	switch it := v.selectedIteration(); {
	case it.Recorded != nil && it.Snapshot == "":
		return "the iteration was recorded without a snapshot and without artifacts"
	case v.State.BaselineSnapshot == "":
		return "there is no snapshot of the baseline to compare with"
	}
	return "the selected tree has the same files as the baseline"
}

// addRecommendations adds advice for the next loop.
func (p *page) addRecommendations(v Loop) {
	selected, final := v.selectedIteration(), v.finalIteration()
	var list []string
	if n := final.Number - selected.Number; v.Choice.Degradation != nil && n > 0 && selected.Number > 0 {
		list = append(list,
			fmt.Sprintf("Quality fell after iteration %d; the best came %d of %d iterations before the end", selected.Number, n, final.Number),
			fmt.Sprintf("For a task like this about %d iterations may be enough (--max-iterations %d)", selected.Number, selected.Number))
	}

	if d := v.Choice.DiminishingReturns; d != nil {
		list = append(list, fmt.Sprintf("Diminishing returns: from iteration %d to %d quality grew by less than %d points each time", d.Since, d.At, int(100*selector.SmallGain)))
	}
	if n := v.State.Rejections(); n > 0 {
		list = append(list, Pluralize(n, "rejected iteration", "rejected iterations")+": read the reports before the agent runs again")
	}
	if v.Choice.BaselineChosen && final.Number > 0 {
		list = append(list, "No iteration was acceptable: take a smaller task, or another prompt")
	}

	if !selected.Verified {
		why := Either(v.State.Kind == ledger.KindRecorded, "", ": tests still fail, or the criterion is not met")
		if short := selected.ChangeCoverage.Shortfall(); short != "" {
			why = ": " + short
		}
		list = append(list, "The selection is not verified"+why)
	}

	p.addList("Recommendations", "%s", list)
}

// CompletionDocument returns the report about the end of a loop: why it ended, what it cost
// and what happened in it.
func CompletionDocument(v Loop) document.Document {
	p := &page{}
	p.Heading(1, "Loop Completion Report")
	p.Field("Loop ID", "%s", v.State.LoopID)
	p.Field("Status", "%s", v.State.Status)
	if v.State.StopReason != "" {
		p.Field("Stopped because", "%s (%s)", v.State.StopText, v.State.StopReason)
	}

	p.Field("Completion Criteria", "%s", v.State.Criterion)
	p.Field("Iterations", "%d, %d rejected", v.iterationCount(), v.State.Rejections())
	switch took := v.Summary.Duration; {
	case v.State.Kind != ledger.KindRecorded:
		p.Field("Total Time", "%s", FormatDuration(v.Now.Sub(v.State.StartedAt)))
	case took != nil:
		p.Field("Total Time", "%s, as reported", FormatDuration(*took))
	}

	if text := SpendingText(v.State.Spending); text != "" {
		p.Field("Spent by the Agent", "%s", text)
	}
	if v.Head != "" {
		p.Field("Head of the Log", "`%s`", v.Head)
	}

	p.Field("Selected Iteration", "%s: %s", iterationText(v.Choice.Iteration), v.Choice.Reason)
	p.addComparison(v)
	p.addTestComparison(v)
	p.addRegressions(v.State.Regressions)
	p.addDeclared(v.Declared)
	p.addBlocked(2, v.Iterations...)
	p.Heading(2, "Quality Trajectory")
	p.Add(Trajectory(v.Iterations, v.Choice.Iteration))
	p.addList("Not in the Snapshots", "`%s`", v.Skipped)
	p.addList("Snapshots Dropped to Save Space", "`%s`", v.Dropped)
	return p.Document
}

// addDeclared lists the changes of tests that the user allowed before the loop.
func (p *page) addDeclared(list []detector.Alert) {
	if len(list) == 0 {
		return
	}
	p.Heading(2, "To Be Read")
	p.Paragraph("The expectations of these tests changed, as `tests: change` allows. Nothing was rolled back for it; a person checks whether it is right.")
	for _, a := range list {
		p.Item("**%s** `%s` of iteration %d (finding `%s`): %s", a.Severity, a.Rule, a.TriggeredAt, a.ID(), a.Message())
		p.addVersions(a)
	}
}

// addList adds a section with a list, if there are items. The format is that of one item.
func (p *page) addList(title, format string, items []string) {
	if len(items) > 0 {
		p.Heading(2, "%s", title)
	}
	for _, item := range items {
		p.Item(format, item)
	}
}

// addComparison compares the metrics of the baseline and of the selected iteration.
func (p *page) addComparison(v Loop) {
	base, sel := v.baselineIteration().Set, v.selectedIteration().Set
	d := sel.Sub(base)
	p.Heading(2, "Baseline and Selection")
	t := document.Table{Head: []string{"Metric", "Baseline", "Selected", "Delta"}}
	for _, r := range metricRows {
		t.Row(r.name, valueText(&base, r.field, r.unit), valueText(&sel, r.field, r.unit), deltaText(d, r.field, r.unit))
	}
	p.Add(t)
}

// addTestComparison lists what happened to the tests between the baseline and the selection.
func (p *page) addTestComparison(v Loop) {
	base, selected := v.baselineIteration(), v.selectedIteration()
	if selected.Number == 0 || base.Set.Tests == nil || selected.Set.Tests == nil {
		return
	}
	var explained []detector.Loss
	for _, it := range v.Iterations {
		if it.Number <= selected.Number && !it.Rejected {
			explained = append(explained, it.Assessment.Changes.Explained...)
		}
	}
	p.Heading(3, "Tests, Baseline to Selection")
	if !p.addTestGroups(detector.CompareTests(base.Set.Tests, selected.Set.Tests, explained)) {
		p.Paragraph("The same tests, with the same outcomes.")
	}
}

// addRegressions lists the regressions in the loop and what was done about each.
func (p *page) addRegressions(list []ledger.Regression) {
	p.Heading(2, "Regression Events")
	if len(list) == 0 {
		p.Paragraph("none")
	}
	for _, r := range list {
		p.Item("[%s] Iteration %d - %s (%s): %s", r.ID, r.Iteration, r.Type, r.Severity, r.Message)
		if r.RejectedSnapshot == "" {
			p.Below().Item("Recovery: %s", r.Outcome)
		} else {
			p.Below().Item("Recovery: %s; the rejected tree is snapshot `%s`", r.Outcome, r.RejectedSnapshot)
		}
		for _, t := range r.Tests {
			p.Below().Item("test `%s`", t)
		}
	}
}
