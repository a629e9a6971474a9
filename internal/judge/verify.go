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

// Verify compares the metrics of iteration n with those of a second measurement. It also runs what
// runs only for the selected tree: the tests from before the loop, and hidden tests that run at
// the end.
func (j Judge) Verify(ctx context.Context, h *History, n int, again metric.Set) (ledger.Verification, error) {
	it := h.Iterations[n]
	out := ledger.Verification{Differences: h.differences(it.Set, again)}
	out.Confirmed = len(out.Differences) == 0
	var err error
	if out.Goals, err = j.goalsOfSelected(ctx, h, n); err != nil {
		return out, err
	}
	out.Hidden, err = j.hiddenOfSelected(ctx, it, h)
	return out, err
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

// verifiedFields are the metrics that have to be the same. Times and sizes prove nothing about a
// tree.
var verifiedFields = []metric.Field{metric.TestCount, metric.TestsFailed, metric.TestsSkipped, metric.CoveragePct, metric.ErrorCount}

// differences lists the metrics that differ. Known flaky tests, coverage within its slack and
// errors within their variation are no differences.
func (h *History) differences(old, now metric.Set) []string {
	out := []string{}
	if old.Build != nil && now.Build != nil && old.Build.Status != now.Build.Status {
		out = append(out, fmt.Sprintf("the build was a %s and is a %s", old.Build.Status, now.Build.Status))
	}
	for _, f := range verifiedFields {
		a, ok1 := old.Value(f)
		b, ok2 := now.Value(f)
		switch {
		case ok1 != ok2:
			out = append(out, fmt.Sprintf("%s was measured once only", f))
		case f == metric.CoveragePct && ok1 && b >= a-h.coverageSlack(old):
		case f == metric.TestsFailed && h.onlyFlakyDiffer(old.Tests, now.Tests):
		case ok1 && math.Abs(a-b) > h.variation(f)+1e-9:
			out = append(out, fmt.Sprintf("%s was %s and is %s", f, formatNumber(a), formatNumber(b)))
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

// onlyFlakyDiffer reports whether every test with another outcome is known as flaky.
func (h *History) onlyFlakyDiffer(old, now *metric.Tests) bool {
	if old == nil || now == nil {
		return false
	}
	return !slices.ContainsFunc(now.Cases, func(t metric.Test) bool {
		before, ok := old.Lookup(t.ID)
		return (!ok || before.Failed() != t.Failed()) && !h.Flaky[t.ID]
	})
}

// goalsOfSelected runs the original tests of the baseline on the selected tree, since a later
// iteration may have broken what an earlier one weakened. It is nil if nothing about tests
// changed.
func (j Judge) goalsOfSelected(ctx context.Context, h *History, n int) (*ledger.Goals, error) {
	base, it := h.baselineIteration(), h.Iterations[n]
	if j.GoalTests.Never || n == 0 || base.Set.Tests == nil {
		return nil, nil //nolint:nilnil // there is none, as documented
	}

	s, err := j.compareTrees(ctx, base.Snapshot, it.Snapshot)
	if err != nil || !s.evidence.TouchesTests() {
		return nil, err
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
		g.Results[i].AcceptedBefore = h.weakened[n][r.ID]
	}

	e := s.evidence
	current := it.Observation()
	current.Set = it.JudgedSet()
	in := detector.Input{
		Current: current, Previous: h.Baseline, Baseline: h.Baseline, Now: j.Now(),
		Evidence: detector.Evidence{Before: e.Before, After: e.After, Renamed: e.Renamed, TestFiles: e.TestFiles}, Goals: g.Results, ProductUnchanged: g.ProductSame, KnownFlaky: h.learnedFlaky,
		Granted: h.Granted(),
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
	if base.Hidden == nil || !base.Hidden.Deferred || it.Number == 0 {
		return it.Hidden, nil
	}
	if len(j.FindHiddenChange(h)) > 0 {
		return &ledger.Hidden{NotRunReason: "they are not as they were when the loop began"}, nil
	}
	before, err := j.runHidden(ctx, base, nil, h.hiddenPassed)
	if err != nil {
		return nil, err
	}
	h.learnHidden(ledger.Iteration{Tree: base.Tree, Hidden: before})
	return j.runHidden(ctx, it, before.Tests, h.hiddenPassed)
}
