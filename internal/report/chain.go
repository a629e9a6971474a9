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

// ReasoningDocument returns a chain of reasoning, which explains a verdict in five numbered
// sections, and the ways to override it at the end.
func ReasoningDocument(c reasoning.Chain) document.Document {
	l := &chainLayout{level: 2}
	l.addChain(c)
	if c.Proof != nil {
		l.Heading(2, "Verification of the selected tree")
		addProof(&l.Document, c.Proof)
	}
	if len(c.Overrides) > 0 {
		l.Heading(2, "How to override")
	}
	for _, o := range c.Overrides {
		l.Item("%s:\n  %s", overrideText(o), o.Command+o.Config)
	}
	return l.Document
}

// overrideText says when an override applies, and whether it belongs into the configuration.
func overrideText(o reasoning.Override) string {
	return o.When + Either(o.Config != "", ", in .supervise.yaml", "")
}

// chainLayout builds the document of a chain of reasoning. Its methods append sections and items.
type chainLayout struct {
	document.Document
	level int // of the headings of the sections
	// isBrief leaves out the tests and files, which other sections of the page have.
	isBrief bool
}

// addHeading starts a section.
func (l *chainLayout) addHeading(s string) { l.Heading(l.level, "%s", s) }

// addNames adds names below an item, each after its kind.
func (l *chainLayout) addNames(kind string, n reasoning.Names) {
	for _, name := range n.List {
		l.Below().Item("%s`%s`", kind, name)
	}
	if n.More > 0 {
		l.Below().Item("and %d more", n.More)
	}
}

// addRuns adds the runs of checks below an item.
func (l *chainLayout) addRuns(list []ledger.CheckRun) {
	for _, c := range list {
		l.Below().Item("`%s`: status %d in %s%s", c.Command, c.ExitCode, FormatDuration(c.Duration), readText(c))
	}
}

// addChain adds the five sections: goal, extraction, reasoning, exception and synthesis.
func (l *chainLayout) addChain(c reasoning.Chain) {
	l.addGoal(c.Goal)
	l.addExtraction(c.Extraction)
	l.addReasoning(c.Reasoning)
	l.addHeading("4. Exception")
	for _, e := range c.Exceptions {
		l.Item("%s", e.Text)
		if e.Tests != nil {
			l.addNames("", *e.Tests)
		}
	}
	if len(c.Exceptions) == 0 {
		l.Item("nothing unusual")
	}
	l.addSynthesis(c.Synthesis)
}

// addGoal says what is compared, by which rules, and when the task is done.
func (l *chainLayout) addGoal(g reasoning.Goal) {
	l.addHeading("1. Goal")
	l.Item("%s", comparisonText(g))
	rules := Pluralize(g.Rules, "rule", "rules")
	if g.Mode == string(detector.ModeStandard) || g.Mode == string(detector.ModeAggressive) {
		rules += " and the patterns of integrity"
	}
	lost := Either(g.Strict, ", strict: no lost test is explained", "; lost tests may be explained by renames, moves and merges")
	l.Item("Judged by %s, mode %s%s", rules, g.Mode, lost)
	if g.Criterion != "" {
		l.Item("Done when: %s", g.Criterion)
	}
}

// comparisonText says what the iteration is compared with.
func comparisonText(g reasoning.Goal) document.Text {
	if g.Current.Iteration == 0 {
		return document.Textf("The tree before any agent ran%s is measured; every iteration is compared with it", snapshotText(g.Current))
	}
	text := document.Textf("Iteration %d%s", g.Current.Iteration, snapshotText(g.Current))
	switch {
	case g.Previous == nil && g.Baseline == nil:
		return document.Textf("%s is compared with nothing: none was recorded before it", text)
	case g.Previous == nil:
		return document.Textf("%s is compared with the baseline%s", text, snapshotText(*g.Baseline))
	}
	why := Either(g.Assumed, "the last one that was not to be rolled back", "which it started from")
	text = document.Textf("%s is compared with %s%s, %s", text, IterationName(g.Previous.Iteration), snapshotText(*g.Previous), why)
	if g.Baseline != nil && g.Previous.Iteration != 0 {
		return document.Textf("%s, and, for slow erosion, with the baseline%s", text, snapshotText(*g.Baseline))
	}
	return text
}

// snapshotText names the snapshot of a side of the comparison, as in " (tree `s12`)". It returns
// nil if there is none.
func snapshotText(s reasoning.Side) document.Text {
	if s.Snapshot == "" {
		return nil
	}
	return document.Textf(" (tree `%s`)", s.Snapshot)
}

// addExtraction says what was run and measured.
func (l *chainLayout) addExtraction(e reasoning.Extraction) {
	l.addHeading("2. Extraction")
	if e.Agent != nil {
		l.Item("Agent: %s, status %d, after %s%s", replaceUnderscores(e.Agent.Cause), e.Agent.ExitCode, FormatDuration(e.Agent.Duration), leftoversText(e.Agent.Leftovers))
		if text := AgentSummary(e.Agent); text != "" {
			l.Item("It reported: %s", text)
		}
	}

	if e.Reused {
		l.Item("Checks: not run, the same tree was measured before")
	}
	for _, c := range e.Checks {
		l.Item("%s: status %d in %s%s%s", c.Name, c.ExitCode, FormatDuration(c.Duration), readText(c), leftoversText(c.Leftovers))
		for _, problem := range c.Problems {
			l.Below().Item("%s", problem)
		}
	}

	l.addReruns(e.Confirmation)
	l.addGoals(e.Goals)
	l.addCleanCopy(e.CleanCopy)
	l.addMutationCheck(e.MutationCheck)
	l.addConcealedRuns(e.Concealed)
	l.addHiddenTests(e.Hidden)
	l.addSilencedFindings(e.Silenced)
	l.addCoverageExclusions(e.Excluded)
	l.addMetrics(e)
	for _, g := range e.Gaps {
		l.Item("Not measured: %s (%s): %s", g.Section, g.State, g.Why)
	}

	if e.Recorded {
		l.Item("Measured and reported by an orchestrator")
	}
	if !e.Recorded || e.Changed.Len() > 0 {
		l.Item("Changed files: %d", e.Changed.Len())
		l.addNames("", e.Changed)
	}

	if !e.Recorded {
		l.Item("supervise's own work: %s", FormatDuration(e.OwnTime))
	}
}

// addReruns describes the rerun of tests that failed now and passed before.
func (l *chainLayout) addReruns(a *reasoning.Confirmation) {
	if a == nil {
		return
	}
	failed := Pluralize(a.Suspects.Len(), "test that passed before failed", "tests that passed before failed")
	if a.Refused != "" {
		l.Item("%s, not run again: %s", failed, a.Refused)
		return
	}
	l.Item("%s, run again: %d passed then, and are flaky", failed, a.Flaky.Len())
	l.addRuns(a.Runs)
}

// addGoals describes the results of the original tests on the new code.
func (l *chainLayout) addGoals(h *reasoning.Goals) {
	switch {
	case h == nil:
		return
	case h.Refused != "":
		l.Item("Goal tests: the original tests were not run: %s", h.Refused)
		return
	}
	l.Item("Goal tests: original tests, run on the new code %s: %d passed", runTimeText(h.Took, h.Reused), h.Passed)
	for _, g := range h.Outcomes {
		if g.Outcome != detector.Passed {
			l.Item("Goal tests: %d %s", g.Tests.Len(), g.Outcome.Short())
			l.addNames("", g.Tests)
		}
	}
	l.addRuns(h.Runs)
}

// runTimeText says how long tests ran, or that their results are from an earlier run.
func runTimeText(took time.Duration, reused bool) string {
	return Either(reused, "in an earlier run", "in "+FormatDuration(took))
}

// addMutationCheck describes the mutation check of changed tests.
func (l *chainLayout) addMutationCheck(p *reasoning.MutationCheck) {
	switch {
	case p == nil:
		return
	case p.Refused != "":
		l.Item("Mutation check: changed tests were not run on mutants: %s", p.Refused)
		return
	}
	for _, g := range p.Groups {
		l.Item("Mutation check of %s, %s: %s", strings.Join(g.Files, ", "), runTimeText(p.Took, p.Reused), g.MutationResult)
		l.addNames("survives: ", g.SurvivorNames)
	}
}

// addCleanCopy describes what ran in a clean copy of the base.
func (l *chainLayout) addCleanCopy(c *reasoning.CleanCopy) {
	switch {
	case c == nil:
	case c.Refused != "":
		l.Item("Clean copy of the base: nothing was run: %s", c.Refused)
	default:
		var what []string
		if c.Tests > 0 {
			what = append(what, Pluralize(c.Tests, "test that failed at the base", "tests that failed at the base"))
		}
		if c.Criterion != "" {
			what = append(what, "the criterion")
		}
		l.Item("Clean copy of the base with the product code of the change: %s, run in %s", strings.Join(what, " and "), FormatDuration(c.Took))
		l.addNames("relies on: ", c.ReliesOn)
	}
}

// addConcealedRuns describes the results of concealed test runs.
func (l *chainLayout) addConcealedRuns(d *reasoning.ConcealedRun) {
	switch {
	case d == nil:
	case d.Refused != "":
		l.Item("Code that may detect its tests: the tests were not run concealed: %s", d.Refused)
	default:
		tests := Pluralize(d.Tests, "test", "tests")
		l.Item("Code that may detect its tests: %s, run concealed in %s: %d failed", tests, FormatDuration(d.Took), d.Failed.Len())
		l.addNames("", d.Files)
		l.addNames("", d.Failed)
	}
}

// addHiddenTests describes the results of the hidden tests.
func (l *chainLayout) addHiddenTests(h *reasoning.Hidden) {
	if h == nil {
		return
	}
	l.Item("%s tests: %s", Either(h.Sealed, "Sealed", "Hidden"), hiddenResultText(h))
	l.addNames("does not pass: ", h.Failing)
	l.addNames("flaky: ", h.Flaky)
	l.addRuns(h.Runs)
}

// addSilencedFindings describes what new comments hide from the linters.
func (l *chainLayout) addSilencedFindings(q *reasoning.Silenced) {
	switch {
	case q == nil:
	case q.Why != "":
		l.Item("New comments silence linters; what they hide is not known: %s", q.Why)
	default:
		l.Item("New comments silence linters and hide %s, which count as errors", Pluralize(q.Findings.Len(), "finding", "findings"))
		l.addNames("", q.Findings)
	}
}

// addCoverageExclusions describes the coverage without new exclusions.
func (l *chainLayout) addCoverageExclusions(x *reasoning.Excluded) {
	if x == nil {
		return
	}
	reused := Either(x.Reused, " (counted before)", "")
	switch {
	case x.Why != "":
		l.Item("New settings or comments exclude code from the coverage. The coverage without them is unknown, so it counts as no better than before (%.1f %%, measured %.1f %%): %s", x.Counted, x.With, x.Why)
	case x.Counted < x.With:
		l.Item("New settings or comments exclude code from the coverage. It counts as %.1f %%, its value without them; measured %.1f %%%s", x.Counted, x.With, reused)
	default:
		l.Item("New settings or comments exclude code from the coverage, which is no lower without them%s", reused)
	}
	l.addNames("", x.Files)
	l.addRuns(x.Runs)
}

// HiddenTestsText describes the results of the hidden tests in one line, "" if there are none.
func HiddenTestsText(h *ledger.Hidden) string {
	if h == nil {
		return ""
	}
	return hiddenResultText(reasoning.HiddenOf(h))
}

// hiddenResultText says how the hidden tests ended, or why they did not run.
func hiddenResultText(h *reasoning.Hidden) string {
	text := "could not be read: " + h.Why
	switch {
	case h.Refused != "":
		return "not run: " + h.Refused
	case h.Later:
		return "run at the end of the loop"
	case h.Tests != nil:
		text = fmt.Sprintf("%d of %d pass", h.Tests.Passed, h.Tests.Count)
	}
	text += Either(h.Broken != "", "; some could not be run: "+h.Broken, "")
	if h.Reused {
		text += " (as before: no code changed)"
	}
	return text
}

// readText says what was read of a check, as the continuation of a sentence.
func readText(check ledger.CheckRun) string {
	switch {
	case check.Why != "":
		return ": not measured: " + check.Why
	case len(check.Read) > 0:
		return ", read " + strings.Join(check.Read, ", ") + CachedText(check.Cached)
	}
	return CachedText(check.Cached)
}

// CachedText says how many results are from the cache of the test runner, as the continuation of a
// sentence. It returns "" for none.
func CachedText(n int) string {
	return Either(n == 0, "", "; "+Pluralize(n, "test", "tests")+" cached from the last run")
}

// MissingSuitesText names the suites that are missing from a coverage, as the continuation of a
// sentence. It returns "" if none is.
func MissingSuitesText(c *metric.Coverage) string {
	names := strings.Join(Truncate(c.MissingSuites, 3), ", ")
	return Either(names == "", "", " without "+names+", which did not run")
}

// addMetrics adds the sections that were measured.
func (l *chainLayout) addMetrics(e reasoning.Extraction) {
	if t := e.Tests; t != nil {
		cached := Either(t.Cached > 0, fmt.Sprintf(", %d cached", t.Cached), "")
		l.Item("Tests: %d, of which %d passed, %d failed (%d of them did not run), %d skipped, %d flaky%s", t.Count, t.Passed, t.Failed, t.NotRun, t.Skipped, t.Flaky, cached)
	}

	if c := e.Coverage; c != nil && c.Unit == metric.Percentage {
		l.Item("Coverage: %s %%, without details", FormatNumber(c.Percent))
	} else if c != nil {
		l.Item("Coverage: %d of %d %s (%s %%), in %s", c.Covered, c.Total, c.Unit, FormatNumber(c.Percent), Pluralize(c.Files, "file", "files"))
	}

	if f := e.Lint; f != nil {
		by := Either(len(f.Tools) > 0, ", by "+strings.Join(f.Tools, ", "), "")
		l.Item("Findings: %s, %s, %s%s", Pluralize(f.Errors, "error", "errors"), Pluralize(f.Warnings, "warning", "warnings"), Pluralize(f.TypeErrors, "type error", "type errors"), by)
	}

	if b := e.Build; b != nil {
		l.Item("Build: %s", strings.TrimSuffix(string(b.Status)+": "+b.FirstError, ": "))
	}
	if c := e.Code; c != nil {
		l.Item("Code: %s, %d lines, mean complexity %s over %s", Pluralize(c.Files, "file", "files"), c.LOC, FormatNumber(c.Complexity), Pluralize(c.Functions, "function", "functions"))
	}
}

// addReasoning lists the rules that fired, nearly fired, or could not be judged. Unless the page is
// brief, it lists the tests that changed as well.
func (l *chainLayout) addReasoning(r reasoning.Reasoning) {
	l.addHeading("3. Reasoning")
	for _, f := range r.Fired {
		l.addFired(f)
	}

	if len(r.Fired) == 0 {
		l.Item("No rule fired")
	}
	for _, n := range r.Near {
		l.Item("`%s` did not fire: %s", n.Rule, nearText(n))
	}

	if len(r.NotJudged) > 0 {
		var list document.Text
		for i, n := range r.NotJudged {
			if i > 0 {
				list = append(list, document.Span{Text: ", "})
			}
			list = append(list, document.Textf("`%s` (needs %s)", n.Rule, n.Field)...)
		}
		l.Item("Not judged, metric missing: %s", list)
	}

	if l.isBrief {
		return
	}
	for _, g := range r.Tests {
		l.Item("%s: %s", g.What, Pluralize(g.Tests.Len(), "test", "tests"))
		l.addNames("", g.Tests)
	}

	for _, e := range r.Explained {
		l.Item("Gone, but no deletion, because %s: %s", e.Why, Pluralize(e.Tests.Len(), "test", "tests"))
		l.addNames("", e.Tests)
	}
}

// addFired describes a rule that fired, with its values, tests and files.
func (l *chainLayout) addFired(f reasoning.Fired) {
	l.Item("`%s` (%s, %s, finding `%s`) fired against the %s: %s", f.Rule, severityText(f), f.Basis, f.ID, f.Against, f.Message)
	if text := valuesText(f.Values); text != "" {
		l.Below().Item("%s", text)
	}
	if !l.isBrief {
		l.addNames("test ", f.Tests)
		l.addNames("file ", f.Files)
	}
}

// severityText returns the severity of a finding, and the one that it would have if it were not
// acknowledged.
func severityText(f reasoning.Fired) string {
	if k := f.Acknowledged; k != nil {
		return fmt.Sprintf("%s, acknowledged as %s, else %s", f.Severity, cmp.Or(k.ID, "known"), k.Severity)
	}
	return f.Severity.String()
}

// valuesText returns the known values of an alert, as in "before 3, now 1, change -2, threshold 0".
func valuesText(v detector.Values) string {
	var out []string
	for _, n := range []struct {
		name  string
		value *float64
		sign  bool
	}{{"before", v.Prev, false}, {"now", v.Curr, false}, {"change", v.Delta, true}, {"threshold", v.Threshold, false}, {"baseline", v.Baseline, false}} {
		if n.value != nil {
			out = append(out, n.name+" "+Either(n.sign && *n.value > 0, "+", "")+FormatNumber(*n.value))
		}
	}
	return strings.Join(out, ", ")
}

// nearText says how far a metric went toward the threshold of a rule that did not fire.
func nearText(n reasoning.NearMiss) string {
	unit := Either(n.Percent, " %", "")
	text := fmt.Sprintf("%s went from %s to %s", n.Field, FormatNumber(n.Prev), FormatNumber(n.Now))
	text += Either(n.Against == detector.AgainstBaseline, " since the baseline", "")
	if n.Threshold <= 0 {
		return text + ", and what is lost is accounted for"
	}
	if n.Moved > n.Threshold {
		return fmt.Sprintf("%s, more than the allowed %s%s, but caused by an earlier iteration, reported before, or explained", text, FormatNumber(n.Threshold), unit)
	}
	return fmt.Sprintf("%s, which is %s%s of the %s%s that it may", text, FormatNumber(n.Moved), unit, FormatNumber(n.Threshold), unit)
}

// addSynthesis gives the class, the score, the recommendation and the decision.
func (l *chainLayout) addSynthesis(s reasoning.Synthesis) {
	l.addHeading("5. Synthesis")
	l.Item("Classification: %s, because %s", s.Class, strings.Join(s.Reasons, "; "))
	if s.Score != nil {
		text := fmt.Sprintf("Quality score: %.4f", *s.Score)
		if s.PreviousScore != nil {
			text += fmt.Sprintf(" (%+.4f from %.4f)", *s.Score-*s.PreviousScore, *s.PreviousScore)
		}
		if s.Best != nil {
			text += fmt.Sprintf("; best so far: iteration %d with %.4f", s.Best.Iteration, s.Best.QualityScore)
		}
		l.Item("%s", text)
	}
	l.addRecommendation(s.Recommendation)
	l.addDecision(s)
}

// addRecommendation describes the recommendation and where its confidence comes from.
func (l *chainLayout) addRecommendation(r detector.Recommendation) {
	if r.Action == "" {
		return
	}
	target := Either(r.Action == detector.Rollback, " to "+IterationName(r.Target), "")
	l.Item("Recommendation: %s%s: %s", r.Action, target, r.Reason)
	var parts []string
	for _, p := range r.Parts {
		parts = append(parts, fmt.Sprintf("%+.2f %s", p.Points, p.Why))
	}
	l.Item("Confidence: %.2f, from: %s", r.Confidence, cmp.Or(strings.Join(parts, ", "), "not recorded by the version that ran the loop"))
}

// adviceText returns the advice to an orchestrator about an iteration to roll back.
func adviceText(d *ledger.Decision) string {
	return "advised to restore the tree of " + IterationName(d.Target)
}

// addDecision describes what the loop did after the verdict.
func (l *chainLayout) addDecision(s reasoning.Synthesis) {
	d := s.Decision
	if d == nil {
		return
	}
	did := document.Textf("accepted")
	switch {
	case s.Rejected && s.AdviceOnly:
		did = document.Textf("%s", adviceText(d))
	case s.Rejected:
		did = document.Textf("rejected: the tree was restored to %s (`%s`), the rejected tree is kept as `%s`", IterationName(d.Target), d.Restore.Name(), s.Kept)
	}
	l.Item("Done: %s; next: %s", did, nextText(d))
	if d.Diagnosis != "" {
		l.Item("Diagnosis: %s", d.Diagnosis)
	}
	if d.Criterion != nil {
		l.Item("The criterion is met: %s", strings.ToLower(yesNo(*d.Criterion)))
	}
}

// nextText names what follows a decision, as in "retry 2".
func nextText(d *ledger.Decision) string {
	return Either(d.Retry > 0, fmt.Sprintf("retry %d", d.Retry), d.Move)
}
