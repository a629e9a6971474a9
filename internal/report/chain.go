package report

import (
	"cmp"
	"fmt"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/metric"
)

// ReasoningDocument returns a chain of reasoning, with the ways to override it at its end.
func ReasoningDocument(c reasoning.Chain) document.Document {
	l := &layout{level: 2}
	l.chain(c)
	if len(c.Overrides) > 0 {
		l.Heading(2, "How to override")
	}
	for _, o := range c.Overrides {
		l.Item("%s:\n  %s", overrideText(o), o.Command+o.Config)
	}
	return l.Document
}

func overrideText(o reasoning.Override) string {
	if o.Config != "" {
		return o.When + ", in .supervise.yaml"
	}
	return o.When
}

// layout lays a chain out.
type layout struct {
	document.Document
	level int // of its headings
	// brief leaves out the tests and files, which other sections of the page have.
	brief bool
}

func (l *layout) heading(s string) { l.Heading(l.level, "%s", s) }

// under writes names below an item, in a format that starts with what they are.
func (l *layout) under(kind string, n reasoning.Names) {
	for _, name := range n.List {
		l.Below().Item("%s`%s`", kind, name)
	}
	if n.More > 0 {
		l.Below().Item("and %d more", n.More)
	}
}

// runs writes the runs of checks below an item.
func (l *layout) runs(list []reasoning.Check) {
	for _, c := range list {
		l.Below().Item("`%s`: status %d in %s%s", c.Command, c.ExitCode, FormatDuration(c.Duration), read(c))
	}
}

func (l *layout) chain(c reasoning.Chain) {
	l.goal(c.Goal)
	l.extraction(c.Extraction)
	l.reasoning(c.Reasoning)
	l.heading("4. Exception")
	for _, e := range c.Exceptions {
		l.Item("%s", e.Text)
		if e.Tests != nil {
			l.under("", *e.Tests)
		}
	}
	if len(c.Exceptions) == 0 {
		l.Item("nothing unusual")
	}
	l.synthesis(c.Synthesis)
}

func (l *layout) goal(g reasoning.Goal) {
	l.heading("1. Goal")
	l.Item("%s", compared(g))
	rules := Pluralize(g.Rules, "rule", "rules")
	if g.Mode == string(detector.ModeStandard) || g.Mode == string(detector.ModeAggressive) {
		rules += " and the patterns of integrity"
	}
	mode := fmt.Sprintf("%s, mode %s; lost tests may be explained by renames, moves and merges", rules, g.Mode)
	if g.Strict {
		mode = fmt.Sprintf("%s, mode %s, strict: no lost test is explained", rules, g.Mode)
	}
	l.Item("Judged by %s", mode)
	if g.Criterion != "" {
		l.Item("Done when: %s", g.Criterion)
	}
}

func compared(g reasoning.Goal) document.Text {
	if g.Current.Iteration == 0 {
		return document.Textf("The tree before any agent ran%s is measured; every iteration is compared with it", tree(g.Current))
	}
	text := document.Textf("Iteration %d%s", g.Current.Iteration, tree(g.Current))
	switch {
	case g.Previous == nil && g.Baseline == nil:
		return document.Textf("%s is compared with nothing: none was recorded before it", text)
	case g.Previous == nil:
		return document.Textf("%s is compared with the baseline%s", text, tree(*g.Baseline))
	}
	why := "which it started from"
	if g.Assumed {
		why = "the last one that was not to be rolled back"
	}
	text = document.Textf("%s is compared with %s%s, %s", text, iterationOr(g.Previous.Iteration), tree(*g.Previous), why)
	if g.Baseline != nil && g.Previous.Iteration != 0 {
		return document.Textf("%s, and, for slow erosion, with the baseline%s", text, tree(*g.Baseline))
	}
	return text
}

// tree names the tree of a side, if there is one.
func tree(s reasoning.Side) document.Text {
	if s.Snapshot == "" {
		return nil
	}
	return document.Textf(" (tree `%s`)", s.Snapshot)
}

func iterationOr(n int) string {
	if n == 0 {
		return "the baseline"
	}
	return fmt.Sprintf("iteration %d", n)
}

func (l *layout) extraction(e reasoning.Extraction) {
	l.heading("2. Extraction")
	if e.Agent != nil {
		l.Item("Agent: %s, status %d, after %s%s", strings.ReplaceAll(e.Agent.Cause, "_", " "), e.Agent.ExitCode, FormatDuration(e.Agent.Duration), leftovers(e.Agent.Leftovers))
		if text := AgentSummary(e.Agent); text != "" {
			l.Item("It reported: %s", text)
		}
	}
	if e.Reused {
		l.Item("Checks: not run, the same tree was measured before")
	}
	for _, c := range e.Checks {
		l.Item("%s: status %d in %s%s%s", c.Name, c.ExitCode, FormatDuration(c.Duration), read(c), leftovers(c.Leftovers))
		for _, problem := range c.Problems {
			l.Below().Item("%s", problem)
		}
	}
	l.again(e.Confirmation)
	l.goals(e.Goals)
	l.power(e.MutationCheck)
	l.disguise(e.Concealed)
	l.hidden(e.Hidden)
	l.silenced(e.Silenced)
	l.excluded(e.Excluded)
	l.metrics(e)
	for _, g := range e.Gaps {
		l.Item("Not measured: %s (%s): %s", g.Section, g.State, g.Why)
	}
	if e.Recorded {
		l.Item("Measured and reported by an orchestrator")
	}
	if !e.Recorded || e.Changed.Len() > 0 {
		l.Item("Changed files: %d", e.Changed.Len())
		l.under("", e.Changed)
	}
	if !e.Recorded {
		l.Item("supervise's own work: %s", FormatDuration(e.OwnTime))
	}
}

// again describes the isolated rerun of tests that passed before and failed.
func (l *layout) again(a *reasoning.Confirmation) {
	if a == nil {
		return
	}
	failed := Pluralize(a.Suspects.Len(), "test that passed before failed", "tests that passed before failed")
	if a.Refused != "" {
		l.Item("%s, not run again: %s", failed, a.Refused)
		return
	}
	l.Item("%s, run again: %d passed then, and are flaky", failed, a.Flaky.Len())
	l.runs(a.Runs)
}

// goals describes the results of the original tests on the new code.
func (l *layout) goals(h *reasoning.Goals) {
	if h == nil {
		return
	}
	if h.Refused != "" {
		l.Item("Goal tests: the original tests were not run: %s", h.Refused)
		return
	}
	took := "in " + FormatDuration(h.Took)
	if h.Reused {
		took = "in an earlier run"
	}
	l.Item("Goal tests: original tests, run on the new code %s: %d passed", took, h.Passed)
	for _, g := range h.Outcomes {
		if g.Outcome != detector.Passed {
			l.Item("Goal tests: %d %s", g.Tests.Len(), g.Outcome.Short())
			l.under("", g.Tests)
		}
	}
	l.runs(h.Runs)
}

// power describes the mutation check of changed tests.
func (l *layout) power(p *reasoning.MutationCheck) {
	if p == nil {
		return
	}
	if p.Refused != "" {
		l.Item("Mutation check: changed tests were not run on mutants: %s", p.Refused)
		return
	}
	took := "in " + FormatDuration(p.Took)
	if p.Reused {
		took = "in an earlier run"
	}
	for _, g := range p.Groups {
		l.Item("Mutation check of %s, %s: %s", strings.Join(g.Files, ", "), took, g.MutationResult)
		l.under("survives: ", g.SurvivorNames)
	}
}

// disguise describes the results of concealed test runs.
func (l *layout) disguise(d *reasoning.ConcealedRun) {
	if d == nil {
		return
	}
	if d.Refused != "" {
		l.Item("Code that may detect its tests: the tests were not run concealed: %s", d.Refused)
		return
	}
	l.Item("Code that may detect its tests: %s, run concealed in %s: %d failed", Pluralize(d.Tests, "test", "tests"), FormatDuration(d.Took), d.Failed.Len())
	l.under("", d.Files)
	l.under("", d.Failed)
}

// hidden describes the results of the tests that the agent does not see.
func (l *layout) hidden(h *reasoning.Hidden) {
	if h == nil {
		return
	}
	l.Item("Hidden tests: %s", hiddenText(h))
	l.under("does not pass: ", h.Failing)
	l.under("flaky: ", h.Flaky)
	l.runs(h.Runs)
}

// silenced describes what new comments hide from the linters.
func (l *layout) silenced(q *reasoning.Silenced) {
	switch {
	case q == nil:
	case q.Why != "":
		l.Item("New comments silence linters; what they hide is not known: %s", q.Why)
	default:
		l.Item("New comments silence linters and hide %s, which count as errors", Pluralize(q.Findings.Len(), "finding", "findings"))
		l.under("", q.Findings)
	}
}

// excluded describes what the coverage is without new exclusions.
func (l *layout) excluded(x *reasoning.Excluded) {
	if x == nil {
		return
	}
	switch {
	case x.Why != "":
		l.Item("New settings or comments exclude code from the coverage. The coverage without them is unknown, so it counts as no better than before (%.1f %%, measured %.1f %%): %s", x.Counted, x.With, x.Why)
	case x.Counted < x.With:
		l.Item("New settings or comments exclude code from the coverage. It counts as %.1f %%, its value without them; measured %.1f %%%s", x.Counted, x.With, asBefore(x))
	default:
		l.Item("New settings or comments exclude code from the coverage, which is no lower without them%s", asBefore(x))
	}
	l.under("", x.Files)
	l.runs(x.Runs)
}

func asBefore(x *reasoning.Excluded) string {
	if x.Reused {
		return " (counted before)"
	}
	return ""
}

// HiddenTestsText says in one line how the hidden tests ended, "" if there are none.
func HiddenTestsText(h *ledger.Hidden) string {
	if h == nil {
		return ""
	}
	return hiddenText(reasoning.HiddenOf(h))
}

func hiddenText(h *reasoning.Hidden) string {
	text := "could not be read: " + h.Why
	switch {
	case h.Refused != "":
		return "not run: " + h.Refused
	case h.Later:
		return "run at the end of the loop"
	case h.Tests != nil:
		text = fmt.Sprintf("%d of %d pass", h.Tests.Passed, h.Tests.Count)
	}
	if h.Broken != "" {
		text += "; some could not be run: " + h.Broken
	}
	if h.Reused {
		text += " (as before: no code changed)"
	}
	return text
}

func read(c reasoning.Check) string {
	switch {
	case c.Why != "":
		return ": not measured: " + c.Why
	case len(c.Read) > 0:
		return ", read " + strings.Join(c.Read, ", ") + CachedText(c.Cached)
	}
	return CachedText(c.Cached)
}

// CachedText says how many tests were not run, as the continuation of a sentence.
func CachedText(n int) string {
	if n == 0 {
		return ""
	}
	return "; " + Pluralize(n, "test", "tests") + " cached from the last run"
}

// MissingSuitesText names what is missing from a coverage, as the continuation of a sentence.
func MissingSuitesText(c *metric.Coverage) string {
	if len(c.MissingSuites) == 0 {
		return ""
	}
	return " without " + strings.Join(Truncate(c.MissingSuites, 3), ", ") + ", which did not run"
}

// metrics are the sections that were measured.
func (l *layout) metrics(e reasoning.Extraction) {
	if t := e.Tests; t != nil {
		cached := ""
		if t.Cached > 0 {
			cached = fmt.Sprintf(", %d cached", t.Cached)
		}
		l.Item("Tests: %d, of which %d passed, %d failed (%d of them did not run), %d skipped, %d flaky%s", t.Count, t.Passed, t.Failed, t.NotRun, t.Skipped, t.Flaky, cached)
	}
	if c := e.Coverage; c != nil && c.Unit == metric.Percentage {
		l.Item("Coverage: %s %%, without details", FormatNumber(c.Percent))
	} else if c != nil {
		l.Item("Coverage: %d of %d %s (%s %%), in %s", c.Covered, c.Total, c.Unit, FormatNumber(c.Percent), Pluralize(c.Files, "file", "files"))
	}
	if f := e.Lint; f != nil {
		by := ""
		if len(f.Tools) > 0 {
			by = ", by " + strings.Join(f.Tools, ", ")
		}
		l.Item("Findings: %s, %s, %s%s", Pluralize(f.Errors, "error", "errors"), Pluralize(f.Warnings, "warning", "warnings"), Pluralize(f.TypeErrors, "type error", "type errors"), by)
	}
	if b := e.Build; b != nil {
		l.Item("Build: %s", strings.TrimSuffix(string(b.Status)+": "+b.FirstError, ": "))
	}
	if c := e.Code; c != nil {
		l.Item("Code: %s, %d lines, mean complexity %s over %s", Pluralize(c.Files, "file", "files"), c.LOC, FormatNumber(c.Complexity), Pluralize(c.Functions, "function", "functions"))
	}
}

func (l *layout) reasoning(r reasoning.Reasoning) {
	l.heading("3. Reasoning")
	for _, f := range r.Fired {
		l.fired(f)
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
	if l.brief {
		return
	}
	for _, g := range r.Tests {
		l.Item("%s: %s", g.What, Pluralize(g.Tests.Len(), "test", "tests"))
		l.under("", g.Tests)
	}
	for _, e := range r.Explained {
		l.Item("Gone, but no deletion, because %s: %s", e.Why, Pluralize(e.Tests.Len(), "test", "tests"))
		l.under("", e.Tests)
	}
}

func (l *layout) fired(f reasoning.Fired) {
	l.Item("`%s` (%s, %s, finding `%s`) fired against the %s: %s", f.Rule, severityText(f), f.Basis, f.ID, f.Against, f.Message)
	if text := valuesText(f.Values); text != "" {
		l.Below().Item("%s", text)
	}
	if !l.brief {
		l.under("test ", f.Tests)
		l.under("file ", f.Files)
	}
}

func severityText(f reasoning.Fired) string {
	if k := f.Acknowledged; k != nil {
		return fmt.Sprintf("%s, acknowledged as %s, else %s", f.Severity, cmp.Or(k.ID, "known"), k.Severity)
	}
	return f.Severity.String()
}

// valuesText lists the values of an alert: before, now, change, threshold.
func valuesText(v detector.Values) string {
	var out []string
	for _, n := range []struct {
		name  string
		value *float64
		sign  bool
	}{{"before", v.Prev, false}, {"now", v.Curr, false}, {"change", v.Delta, true}, {"threshold", v.Threshold, false}, {"baseline", v.Baseline, false}} {
		switch {
		case n.value == nil:
		case n.sign && *n.value > 0:
			out = append(out, n.name+" +"+FormatNumber(*n.value))
		default:
			out = append(out, n.name+" "+FormatNumber(*n.value))
		}
	}
	return strings.Join(out, ", ")
}

func nearText(n reasoning.NearMiss) string {
	unit := ""
	if n.Percent {
		unit = " %"
	}
	text := fmt.Sprintf("%s went from %s to %s", n.Field, FormatNumber(n.Prev), FormatNumber(n.Now))
	if n.Against == detector.AgainstBaseline {
		text += " since the baseline"
	}
	if n.Threshold <= 0 {
		return text + ", and what is lost is accounted for"
	}
	if n.Moved > n.Threshold {
		return fmt.Sprintf("%s, more than the allowed %s%s, but caused by an earlier iteration, reported before, or explained", text, FormatNumber(n.Threshold), unit)
	}
	return fmt.Sprintf("%s, which is %s%s of the %s%s that it may", text, FormatNumber(n.Moved), unit, FormatNumber(n.Threshold), unit)
}

func (l *layout) synthesis(s reasoning.Synthesis) {
	l.heading("5. Synthesis")
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
	l.advice(s.Recommendation)
	l.done(s)
}

func (l *layout) advice(r detector.Recommendation) {
	if r.Action == "" {
		return
	}
	target := ""
	if r.Action == detector.Rollback {
		target = " to " + iterationOr(r.Target)
	}
	l.Item("Recommendation: %s%s: %s", r.Action, target, r.Reason)
	var parts []string
	for _, p := range r.Parts {
		parts = append(parts, fmt.Sprintf("%+.2f %s", p.Points, p.Why))
	}
	from := strings.Join(parts, ", ")
	l.Item("Confidence: %.2f, from: %s", r.Confidence, cmp.Or(from, "not recorded by the version that ran the loop"))
}

// advised is the advice to an orchestrator about an iteration to roll back.
func advised(d *ledger.Decision) string {
	return "advised to restore the tree of " + iterationOr(d.Target)
}

// done says what the loop did.
func (l *layout) done(s reasoning.Synthesis) {
	d := s.Decision
	if d == nil {
		return
	}
	did := document.Textf("accepted")
	switch {
	case s.Rejected && s.AdviceOnly:
		did = document.Textf("%s", advised(d))
	case s.Rejected:
		did = document.Textf("rejected: the tree was restored to %s (`%s`), the rejected tree is kept as `%s`", iterationOr(d.Target), d.Restore.Name(), s.Kept)
	}
	l.Item("Done: %s; next: %s", did, next(d))
	if d.Diagnosis != "" {
		l.Item("Diagnosis: %s", d.Diagnosis)
	}
	if d.Criterion != nil {
		l.Item("The criterion is met: %s", strings.ToLower(yes(*d.Criterion)))
	}
}

func next(d *ledger.Decision) string {
	if d.Retry > 0 {
		return fmt.Sprintf("retry %d", d.Retry)
	}
	return d.Move
}
