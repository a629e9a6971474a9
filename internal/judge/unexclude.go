package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/internal/remeasure"
	"supervise/metric"
)

// revealExcluded measures the coverage without exclusions: comments and settings, added since the
// baseline, that take code out of the coverage. It reads the evidence and the coverage, and adds
// the coverage without exclusions. The lower one counts.
func revealExcluded(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	if v.Set.Coverage == nil || !c.mayExclude(v) || c.isUnbuiltChange(v) {
		return v, nil
	}

	c.progress("running the tests without what takes code out of the coverage")
	changes, err := c.changesSinceBaseline(ctx, v)
	if err != nil {
		return v, err
	}

	r := c.remeasurement(v, c.History.baselineIteration().Snapshot, changes)
	undone, err := r.Exclusions(ctx)
	if err != nil || undone.IsEmpty() {
		return v, err
	}
	if known := c.History.exclusionsOf(v.Tree); known != nil {
		again := *known.Excluded
		again.Reused = true
		v.Excluded = &again
		return v.withCoverage(known.Set.Coverage), nil
	}

	x, counted, err := c.coverageWithout(ctx, v, r, undone)
	if err != nil {
		return v, err
	}

	x.Why, x.Runs = c.Mask.String(x.Why), c.Mask.Checks(x.Runs)
	e := *v.Evidence
	e.Tampering = withCost(e.Tampering, x, counted)
	v.Evidence, v.Excluded = &e, x
	return v.withCoverage(counted), nil
}

// withCoverage returns the verdict with the coverage that counts.
func (v Verdict) withCoverage(coverage *metric.Coverage) Verdict {
	set := v.Set
	set.Coverage = coverage
	return v.withSet(unexcludeStage, set, cmp.Or(v.Excluded.Why, "the coverage without new exclusions counts where it is lower"))
}

// mayExclude reports whether the iteration, or one before it, added an exclusion.
func (c Case) mayExclude(v Verdict) bool {
	return slices.ContainsFunc(v.Evidence.Tampering, isExclusion) ||
		slices.ContainsFunc(c.History.Iterations, func(h ledger.Iteration) bool { return h.Excluded != nil })
}

// isExclusion reports whether a finding is an exclusion without an explanation.
func isExclusion(t detector.Tampering) bool {
	return t.ExplainedBy == "" && integrity.IsExclusionRule(t.Type)
}

// coverageWithout returns the record of the measurement without the exclusions, and the coverage
// that counts. It runs nothing if the excluded code is known from the tree before, or if the
// iteration is undone in any case.
func (c Case) coverageWithout(ctx context.Context, v Verdict, r remeasure.Remeasurement, undone remeasure.Exclusions) (*ledger.Excluded, *metric.Coverage, error) {
	x := undone.Record(r.Measured)
	if before := c.unchangedHidden(x.Files); before != nil {
		x.Hidden, x.Reused = before, true
		return x, remeasure.LowerCoverage(r.Measured, remeasure.AddHidden(r.Measured, before)), nil
	}
	if c.isUndone(v) {
		x.Why = "nothing was run, for the iteration is undone in any case"
		return x, remeasure.LowerCoverage(r.Measured, r.Before), nil
	}
	counted, err := r.Coverage(ctx, undone, x)
	return x, counted, err
}

// unchangedHidden returns the excluded code of the files in the tree that the iteration started
// from, nil if that is unknown or if one of the files changed.
func (c Case) unchangedHidden(files []string) []metric.FileCoverage {
	before := c.History.startIteration()
	if before.Excluded == nil || before.Excluded.Why != "" || before.Tree != c.Tree.StartTree || !slices.Equal(before.Excluded.Files, files) {
		return nil
	}
	for _, change := range c.Tree.Changes {
		if slices.Contains(files, change.Path) {
			return nil
		}
	}
	return before.Excluded.Hidden
}

// withCost returns the findings, with the effect of the exclusions on the coverage added to those
// about exclusions. counted is the coverage that counts.
func withCost(list []detector.Tampering, x *ledger.Excluded, counted *metric.Coverage) []detector.Tampering {
	text := "coverage counts as no better than before: " + x.Why
	if x.Why == "" {
		with, _ := x.Measured.Percent()
		without, _ := counted.Percent()
		text = fmt.Sprintf("coverage counts as %.1f %%, which it is without, not as %.1f %%", without, with)
		if without >= with {
			text = "coverage is no lower without"
		}
	}
	out := slices.Clone(list)
	for i := range out {
		if isExclusion(out[i]) {
			out[i].Evidence += " (" + text + ")"
		}
	}
	return out
}
