package loop

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

// Recount counts again, in a private copy of a tree, without what came with a change
// and keeps findings from the linters or code out of the coverage.
type Recount struct {
	Store *snapshot.Store
	Meter *measure.Meter
	Plan  measure.Plan // that of the meter
	Root  string       // the working tree, whose dependency folders are linked to and that is not written to
	Dir   string       // a private folder, in which the copy is made and removed
	User  *runner.User // that of the meter, who must be able to enter Dir

	Was, Is snapshot.ID // the trees before and after the change
	Changes []snapshot.Change
	Rules   integrity.Options
	Wobble  float64 // how much coverage varies by itself, in points
}

// recount is one of what came in an iteration since a snapshot.
func (s *session) recount(was snapshot.ID, w *work) Recount {
	return Recount{
		Store: s.store, Meter: s.meter, Plan: s.opts.Plan, Root: s.opts.Root, Dir: s.scratchDir(), User: s.user,
		Was: was, Is: w.it.Snapshot, Changes: w.changes, Rules: s.opts.Integrity, Wobble: s.state.CoverageWobble,
	}
}

// Lint counts what the linters find without the comments that came and silence them;
// their words are crossed out. Where they find anything, they run once more over the
// tree as it is, in the same place: what they find there as well is not due to the
// comments. It is nil where none came. The error is ctx's, or a fault of the machine.
func (r Recount) Lint(ctx context.Context) (*ledger.Silenced, error) {
	files, err := r.files(ctx)
	if err != nil {
		return nil, err
	}
	texts := integrity.Unsilenced(files)
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	out := &ledger.Silenced{Files: slices.Sorted(maps.Keys(texts))}
	err = r.inCopy(ctx, texts, func(c copied) error {
		without, err := r.lintIn(ctx, c, out)
		if err != nil || without == nil || len(without.Findings) == 0 {
			return err
		}
		if err := c.asIs(ctx); err != nil {
			return err
		}
		with, err := r.lintIn(ctx, c, out)
		if err == nil && out.Why == "" {
			out.Findings = appeared(without, with)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lint without new comments that silence: %w", err)
	}
	return out, nil
}

func (r Recount) lintIn(ctx context.Context, c copied, out *ledger.Silenced) (*metric.Lint, error) {
	found, err := r.Meter.LintElsewhere(ctx, c.project())
	out.Runs = append(out.Runs, Runs(found.Runs)...)
	out.Why = found.Why
	return found.Lint, err
}

// Coverage counts the coverage without what came and takes code out of it: comments,
// and settings of the tools. It returns what counts from then on, which is the lower
// of the two, and no more than before where it is not known. Nil and measured are
// returned where no such thing came. The error is ctx's, or a fault of the machine.
func (r Recount) Coverage(ctx context.Context, measured, before *metric.Coverage) (*ledger.Excluded, *metric.Coverage, error) {
	undone, err := r.unexcluded(ctx)
	if err != nil || undone.none() {
		return nil, measured, err
	}
	x := undone.of(measured)
	counted, err := r.coverage(ctx, undone, x, measured, before)
	if err != nil {
		return nil, measured, fmt.Errorf("coverage without new exclusions: %w", err)
	}
	return x, counted, nil
}

// coverage fills in x and returns the coverage that counts.
func (r Recount) coverage(ctx context.Context, undone unexclusion, x *ledger.Excluded, measured, before *metric.Coverage) (*metric.Coverage, error) {
	if len(undone.Kept) > 0 {
		x.Why = "it cannot be undone in " + undone.Kept[0]
		return lowerOf(measured, before), nil
	}
	without, err := r.coverWithout(ctx, undone.Texts, x, measured)
	switch {
	case err != nil:
		return nil, err
	case x.Why != "":
		return lowerOf(measured, before), nil
	}
	x.Hidden = hiddenCode(measured, without, x.Files)
	return lowerOf(measured, without), nil
}

// coverWithout runs the tests in a copy without the exclusions. Where they cover less
// there they run once more with them, in the same place: if that gives other numbers
// than the working tree did, it is due to the place.
func (r Recount) coverWithout(ctx context.Context, texts map[string][]byte, x *ledger.Excluded, measured *metric.Coverage) (without *metric.Coverage, err error) {
	return without, r.inCopy(ctx, texts, func(c copied) error {
		without, err = r.coverIn(ctx, c, x)
		if err != nil || x.Why != "" || lowerOf(measured, without) == measured {
			return err
		}
		if err := c.asIs(ctx); err != nil {
			return err
		}
		with, err := r.coverIn(ctx, c, x)
		if err != nil || x.Why != "" {
			return err
		}
		here, _ := measured.Percent()
		there, ok := with.Percent()
		if !ok || math.Abs(here-there) > max(.5, r.Wobble) {
			x.Why = fmt.Sprintf("away from the working tree the coverage is another one as it is: %.1f %%, not %.1f %%", there, here)
		}
		return nil
	})
}

// coverIn runs the tests in the copy.
func (r Recount) coverIn(ctx context.Context, c copied, x *ledger.Excluded) (*metric.Coverage, error) {
	out, err := r.Meter.CoverageElsewhere(ctx, c.project())
	x.Runs = append(x.Runs, Runs(out.Runs)...)
	x.Why = out.Why
	if err == nil && x.Why == "" && !out.Coverage.Comparable(&x.Measured) {
		x.Why = fmt.Sprintf("the report there is another one: %s, not %s", out.Coverage.Format, x.Measured.Format)
	}
	return out.Coverage, err
}

// unexclusion is what there is to undo.
type unexclusion struct{ integrity.Unexclusion }

func (r Recount) unexcluded(ctx context.Context) (unexclusion, error) {
	files, err := r.files(ctx)
	if err != nil {
		return unexclusion{}, err
	}
	return unexclusion{integrity.Unexcluded(files, r.Rules)}, nil
}

func (u unexclusion) none() bool { return len(u.Texts)+len(u.Kept) == 0 }

// of is what is known before anything was counted.
func (u unexclusion) of(measured *metric.Coverage) *ledger.Excluded {
	files := slices.AppendSeq(slices.Clone(u.Kept), maps.Keys(u.Texts))
	slices.Sort(files)
	x := &ledger.Excluded{Files: slices.Compact(files), Measured: *measured}
	x.Measured.Files = nil
	return x
}

// files are those that differ between the two trees, with their texts, as the
// rules about integrity look at them.
func (r Recount) files(ctx context.Context) ([]integrity.File, error) {
	var files audited
	texts := moved{}
	for _, c := range r.Changes {
		before, after, err := versions(c, func(path string, after bool) ([]byte, error) {
			if after {
				return r.Store.ReadFile(ctx, r.Is, path)
			}
			return r.Store.ReadFile(ctx, r.Was, path)
		})
		if err != nil {
			return nil, fmt.Errorf("read changed file: %w", err)
		}
		files.add(c, before, after)
		texts.add(c, before, after)
	}
	return files.joined(texts.renames()), nil
}
