// Package remeasure measures a change again, in a private copy, without comments and settings that
// the change added and that suppress findings of linters ([Remeasurement.Lint]) or take code out of
// the coverage ([Remeasurement.Coverage]).
package remeasure

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Remeasurement measures one change again, in a private copy of its tree.
type Remeasurement struct {
	treecopy.Workspace

	Base, Current snapshot.ID // the trees before and after the change
	Changes       []snapshot.Change
	Rules         integrity.Options
	Variation     float64 // how much coverage varies between runs on one tree, in points

	Measured *metric.Coverage // the coverage reported for Current
	Before   *metric.Coverage // the coverage that counts for the tree before
}

// Lint returns what the linters find only without the suppression comments that the change added.
// If they find anything, they run again on the unchanged copy, since what they find there too is
// not hidden by the comments. The result is nil if no such comments were added. The error is that
// of ctx, or a fault of the machine.
func (r Remeasurement) Lint(ctx context.Context) (*ledger.Silenced, error) {
	files, err := r.changedFiles(ctx)
	if err != nil {
		return nil, err
	}

	texts := integrity.RemoveSuppressions(files)
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // there is none, as documented
	}

	out := &ledger.Silenced{Files: slices.Sorted(maps.Keys(texts))}
	err = r.inCopy(ctx, texts, func(c editedCopy) error {
		without, err := r.lintIn(ctx, c, out)
		if err != nil || without == nil || len(without.Findings) == 0 {
			return err
		}
		if err := c.restore(ctx); err != nil {
			return err
		}
		with, err := r.lintIn(ctx, c, out)
		if err == nil && out.Why == "" {
			out.Findings = newFindings(without, with)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lint without new comments that silence: %w", err)
	}
	return out, nil
}

// lintIn runs the linters in the copy, and records the runs in out.
func (r Remeasurement) lintIn(ctx context.Context, c editedCopy, out *ledger.Silenced) (*metric.Lint, error) {
	found, err := r.Meter.LintInTree(ctx, c.CheckPlan(ctx, r.Meter))
	out.Runs = append(out.Runs, treecopy.CheckRuns(found.Runs)...)
	out.Why = found.Why
	return found.Lint, err
}

// newFindings returns the findings of without that with does not have. Removing a comment does not
// change the numbers of lines.
func newFindings(without, with *metric.Lint) []metric.Finding {
	type place struct {
		tool, rule, file string
		level            metric.Level
		line             int
	}
	placeOf := func(f metric.Finding) place { return place{f.Tool, f.Rule, f.File, f.Level, f.Line} }
	count := map[place]int{}
	if with != nil {
		for _, f := range with.Findings {
			count[placeOf(f)]++
		}
	}
	var out []metric.Finding
	for _, f := range without.Findings {
		if count[placeOf(f)]--; count[placeOf(f)] < 0 {
			out = append(out, f)
		}
	}
	return out
}

// Coverage measures the coverage without the exclusions and fills in their record x. It returns the
// coverage that counts: the lower of the two or, if the coverage without them is unknown, no more
// than before. The error is that of ctx, or a fault of the machine.
func (r Remeasurement) Coverage(ctx context.Context, undone Exclusions, x *ledger.Excluded) (*metric.Coverage, error) {
	if len(undone.Remaining) > 0 {
		x.Why = "it cannot be undone in " + undone.Remaining[0]
		return LowerCoverage(r.Measured, r.Before), nil
	}
	without, err := r.coverageWithout(ctx, undone.Texts, x)
	switch {
	case err != nil:
		return nil, fmt.Errorf("coverage without new exclusions: %w", err)
	case x.Why != "":
		return LowerCoverage(r.Measured, r.Before), nil
	}
	x.Hidden = excludedCode(r.Measured, without, x.Files)
	return LowerCoverage(r.Measured, without), nil
}

// coverageWithout runs the tests in a copy without the exclusions. If they cover less there, they
// run again with the exclusions in the same copy. If that coverage differs from that of the working
// tree, the copy is the reason, and x.Why says so.
func (r Remeasurement) coverageWithout(ctx context.Context, texts map[string][]byte, x *ledger.Excluded) (without *metric.Coverage, err error) {
	err = r.inCopy(ctx, texts, func(c editedCopy) error {
		without, err = r.coverageIn(ctx, c, x)
		if err != nil || x.Why != "" || LowerCoverage(r.Measured, without) == r.Measured {
			return err
		}
		if err := c.restore(ctx); err != nil {
			return err
		}
		with, err := r.coverageIn(ctx, c, x)
		if err != nil || x.Why != "" {
			return err
		}
		inTree, _ := r.Measured.Percent()
		inCopy, ok := with.Percent()
		if !ok || math.Abs(inTree-inCopy) > max(.5, r.Variation) {
			x.Why = fmt.Sprintf("away from the working tree the coverage is another one as it is: %.1f %%, not %.1f %%", inCopy, inTree)
		}
		return nil
	})
	return without, err
}

// coverageIn runs the tests in the copy, and records the runs, or why there is no coverage, in x.
func (r Remeasurement) coverageIn(ctx context.Context, c editedCopy, x *ledger.Excluded) (*metric.Coverage, error) {
	out, err := r.Meter.CoverageInTree(ctx, c.CheckPlan(ctx, r.Meter))
	x.Runs = append(x.Runs, treecopy.CheckRuns(out.Runs)...)
	x.Why = out.Why
	if err == nil && x.Why == "" && !out.Coverage.Comparable(&x.Measured) {
		x.Why = fmt.Sprintf("the report there is another one: %s, not %s", out.Coverage.Format, x.Measured.Format)
	}
	return out.Coverage, err
}

// Exclusions are comments and settings that a change added and that take code out of
// the coverage.
type Exclusions struct{ integrity.ExclusionRemoval }

// Exclusions returns the exclusions in the change.
func (r Remeasurement) Exclusions(ctx context.Context) (Exclusions, error) {
	files, err := r.changedFiles(ctx)
	if err != nil {
		return Exclusions{}, err
	}
	return Exclusions{integrity.RemoveCoverageExclusions(files, r.Rules)}, nil
}

// IsEmpty reports whether there are none.
func (u Exclusions) IsEmpty() bool { return len(u.Texts)+len(u.Remaining) == 0 }

// Record returns the record of the exclusions before anything was measured without them.
func (u Exclusions) Record(measured *metric.Coverage) *ledger.Excluded {
	files := slices.AppendSeq(slices.Clone(u.Remaining), maps.Keys(u.Texts))
	slices.Sort(files)
	x := &ledger.Excluded{Files: slices.Compact(files), Measured: *measured}
	x.Measured.Files = nil
	return x
}

// changedFiles returns the changed files with their texts.
func (r Remeasurement) changedFiles(ctx context.Context) ([]integrity.File, error) {
	return evidence.ReadChangedFiles(r.Changes, evidence.NewSnapshotReader(ctx, r.Store, r.Base, r.Current))
}
