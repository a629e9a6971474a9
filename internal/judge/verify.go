package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
)

// Verify compares the metrics of iteration n with those of a second measurement, which was made in a
// clean copy if clean is not nil and has no differences. It also runs what runs only for the selected
// tree: the tests from before the loop, and hidden tests that run at the end.
func (j Judge) Verify(ctx context.Context, h *History, n int, again Measured, clean *ledger.CleanCopy) (ledger.Verification, error) {
	it := h.Iterations[n]
	out := ledger.Verification{Differences: h.differences(it.Set, again.Set), CleanCopy: clean}
	if clean != nil {
		for _, x := range clean.Reliances {
			if x.Recent {
				out.Differences = append(out.Differences, passOnly(x))
			}
		}
	}
	for _, c := range h.compareCheckChanges(again.CheckChanges) {
		known := slices.ContainsFunc(it.CheckChanges, func(k detector.CheckChange) bool { return k.Path == c.Path })
		if !known && c.Severity() > detector.Medium {
			out.Differences = append(out.Differences, "the checks changed "+c.String())
		}
	}
	out.Confirmed = len(out.Differences) == 0
	s, err := j.changeOfSelected(ctx, h, it)
	if err == nil {
		out.Goals, err = j.goalsOfSelected(ctx, h, it, s)
	}
	if err == nil {
		out.Hidden, err = j.hiddenOfSelected(ctx, it, h)
	}
	out.Proof = j.proofOf(h, it, again.Set, out, s)
	if n := max(len(it.CheckChanges), len(again.CheckChanges)); n > 0 {
		out.Proof.Trusted = append([]string{fmt.Sprintf("files that the checks change (%d)", n)}, out.Proof.Trusted...)
	}
	return out, err
}

// passOnly says that tests pass only with something, as in "TestA and 2 more tests pass only with b".
func passOnly(x detector.Reliance) string {
	switch n := len(x.Tests); n {
	case 0:
		return fmt.Sprintf("the checks pass only with %s", x)
	case 1:
		return fmt.Sprintf("%s passes only with %s", x.Tests[0], x)
	default:
		return fmt.Sprintf("%s and %d more pass only with %s", x.Tests[0], n-1, x)
	}
}

// changeOfSelected returns the change since the baseline, empty if there is none, or no test.
func (j Judge) changeOfSelected(ctx context.Context, h *History, it ledger.Iteration) (baseChange, error) {
	base := h.baselineIteration()
	if it.Number == 0 || base.Set.Tests == nil {
		return baseChange{}, nil
	}
	return j.compareTrees(ctx, base.Snapshot, it.Snapshot)
}

// FindFlaky returns the tests that had two outcomes on one tree. It runs tests that passed and fail
// now again; those that failed and pass now are flaky without another run.
func (j Judge) FindFlaky(ctx context.Context, old, now metric.Set) ([]metric.ID, error) {
	c, err := j.Meter.Confirm(ctx, old, now)
	for _, t := range measure.NewFailures(now.Tests, old.Tests) {
		c.Flaky = append(c.Flaky, t.ID)
	}
	return c.Flaky, err
}

// verifiedFields are the metrics that have to be the same; of tests, the result of each. Times and
// sizes prove nothing about a tree.
var verifiedFields = []metric.Field{metric.CoveragePct, metric.ErrorCount}

// differences lists the tests and metrics that differ. Known flaky tests, coverage within its slack
// and anything within its variation are no differences.
func (h *History) differences(old, now metric.Set) []string {
	out := []string{}
	if old.Build != nil && now.Build != nil && old.Build.Status != now.Build.Status {
		out = append(out, fmt.Sprintf("the build was a %s and is a %s", old.Build.Status, now.Build.Status))
	}
	if (old.Tests == nil) != (now.Tests == nil) {
		out = append(out, "tests were measured once only")
	} else if old.Tests != nil {
		out = append(out, h.testDifferences(old.Tests, now.Tests)...)
	}
	for _, f := range verifiedFields {
		a, ok1 := old.Value(f)
		b, ok2 := now.Value(f)
		switch {
		case ok1 != ok2:
			out = append(out, fmt.Sprintf("%s was measured once only", f))
		case f == metric.CoveragePct && ok1 && b >= a-h.coverageSlack(old):
		case ok1 && math.Abs(a-b) > h.variation(f)+1e-9:
			out = append(out, fmt.Sprintf("%s was %s and is %s", f, formatNumber(a), formatNumber(b)))
		}
	}
	return out
}

// maxDifferences is the number of tests that a difference names.
const maxDifferences = 5

// The results of a test that are compared.
const absent, skipped, passed, failed = "is absent", "is skipped", "passes", "fails"

// pastTexts are the results in the first measurement.
var pastTexts = map[string]string{absent: "was absent", skipped: "was skipped", passed: "passed", failed: "failed"}

// resultOf returns the result of a test.
func resultOf(t metric.Test, exists bool) string {
	switch {
	case !exists:
		return absent
	case t.Status == metric.Skipped:
		return skipped
	case t.Failed():
		return failed
	}
	return passed
}

// testDifferences lists the tests with another result, unless there are no more of their kind than
// vary between runs on one tree.
func (h *History) testDifferences(old, now *metric.Tests) []string {
	found := map[metric.Field][]string{}
	add := func(id metric.ID, was, is string) {
		f := metric.TestsFailed
		switch {
		case was == is || h.Flaky[id]:
			return
		case was == absent || is == absent:
			f = metric.TestCount
		case was == skipped || is == skipped:
			f = metric.TestsSkipped
		}
		found[f] = append(found[f], fmt.Sprintf("%s %s and now %s", id, pastTexts[was], is))
	}
	for _, t := range old.Cases {
		current, exists := now.Lookup(t.ID)
		add(t.ID, resultOf(t, true), resultOf(current, exists))
	}
	for _, t := range now.Cases {
		if _, known := old.Lookup(t.ID); !known {
			add(t.ID, absent, resultOf(t, true))
		}
	}

	var out []string
	for _, f := range []metric.Field{metric.TestsFailed, metric.TestsSkipped, metric.TestCount} {
		list := found[f]
		if float64(len(list)) <= h.variation(f) {
			continue
		}
		out = append(out, list[:min(len(list), maxDifferences)]...)
		if more := len(list) - maxDifferences; more > 0 {
			out = append(out, fmt.Sprintf("%d more tests differ", more))
		}
	}
	return out
}

// formatNumber writes a number with at most two decimals.
func formatNumber(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// coverageSlack returns by how many points coverage may be lower in another run on one tree, since
// many tests take random paths: half a point, the variation of the baseline, or two lines, which
// are more in a small project. The highest of these counts.
func (h *History) coverageSlack(old metric.Set) float64 {
	slack := max(.5, h.variation(metric.CoveragePct))
	if c := old.Coverage; c != nil && c.Total > 0 {
		slack = max(slack, 100*2/float64(c.Total))
	}
	return slack
}

// goalsOfSelected runs the original tests of the baseline on the selected tree, since a later
// iteration may have broken what an earlier one weakened. It is nil if nothing about tests
// changed.
func (j Judge) goalsOfSelected(ctx context.Context, h *History, it ledger.Iteration, s baseChange) (*ledger.Goals, error) {
	base := h.baselineIteration()
	if j.GoalTests.Never || !s.evidence.TouchesTests() {
		return nil, nil //nolint:nilnil // there is none, as documented
	}

	c := Case{Judge: j, History: h}
	t := c.originalTrial(base.Snapshot, base.Set.Tests, it, s)
	switch {
	case !t.IsNeeded():
		return nil, nil //nolint:nilnil // there is none, as documented
	case isBuildBroken(it.Set):
		return t.RefusedRecord("the build is broken: " + it.Set.Build.FirstError), nil
	}
	g, err := c.runOriginals(ctx, t)
	if err != nil || g == nil {
		return g, err
	}

	for i, r := range g.Results {
		g.Results[i].AcceptedBefore = h.weakened[it.Number][r.ID]
	}

	e := s.evidence
	current := it.Observation()
	current.Set = it.JudgedSet()
	in := detector.Input{
		Current: current, Previous: h.Baseline, Baseline: h.Baseline, Now: j.Now(),
		Evidence: detector.Evidence{Before: e.Before, After: e.After, Renamed: e.Renamed, TestFiles: e.TestFiles}, Goals: g.Results, ProductUnchanged: g.ProductSame, KnownFlaky: h.learnedFlaky,
		Granted: h.Granted(), Acknowledged: h.Acknowledged(),
	}

	for _, a := range detector.Assess(in, j.Rules).Alerts {
		if a.Rule == detector.TestsWeakened && a.Severity >= detector.High && a.Acknowledged == nil {
			g.Alerts = append(g.Alerts, a)
		}
	}

	return g, nil
}

// hiddenOfSelected returns the results of the hidden tests on the selected tree. It runs them if
// they run only at the end.
func (j Judge) hiddenOfSelected(ctx context.Context, it ledger.Iteration, h *History) (*ledger.Hidden, error) {
	base := h.baselineIteration()
	isLate := base.Hidden != nil && (base.Hidden.Deferred || base.Hidden.Sealed && it.Hidden != nil && it.Hidden.Tests == nil && !isBuildBroken(it.Set))
	if !isLate || it.Number == 0 {
		return it.Hidden, nil
	}
	if len(j.FindHiddenChange(h)) > 0 {
		return &ledger.Hidden{NotRunReason: "they are not as they were when the loop began"}, nil
	}
	before := base.Hidden
	if before.Deferred {
		var err error
		if before, err = j.runHidden(ctx, base, nil, h.hiddenPassed); err != nil {
			return nil, err
		}
		h.learnHidden(ledger.Iteration{Tree: base.Tree, Hidden: before})
	}
	return j.runHidden(ctx, it, before.Tests, h.hiddenPassed)
}
