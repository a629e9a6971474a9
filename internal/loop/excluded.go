package loop

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/internal/recount"
	"supervise/metric"
	"supervise/snapshot"
)

// unexcluded counts the coverage of an iteration again without what came since the
// baseline and takes code out of it: comments, and settings of the tools. The lower
// number counts from then on. Nothing is done where no such thing came.
func (s *session) unexcluded(ctx context.Context, w *work, in detector.Input) error {
	if w.it.Set.Coverage == nil || !s.mayExclude(w.it) {
		return nil
	}
	changes, err := s.store.Changes(ctx, s.state.BaselineSnapshot, w.it.Snapshot)
	if err != nil {
		return fmt.Errorf("compare iteration %d with the baseline: %w", w.it.Number, err)
	}
	r := s.recount(s.state.BaselineSnapshot, w)
	r.Changes = changes
	undone, err := r.Exclusions(ctx)
	if err != nil || undone.None() {
		return err
	}
	if s.countedBefore(w) {
		return nil
	}
	x, counted, err := s.countWithout(ctx, w, r, undone, in)
	if err != nil {
		return err
	}
	x.Why, x.Runs = s.masker.String(x.Why), s.masker.Checks(x.Runs)
	w.it.Excluded, w.it.Set.Coverage = x, counted
	Price(w.it.Evidence.Tampering, x, counted)
	return nil
}

// recount measures again what came in an iteration since a snapshot.
func (s *session) recount(was snapshot.ID, w *work) recount.Recount {
	return recount.Recount{
		Workspace: s.workspace(), Was: was, Is: w.it.Snapshot, Changes: w.changes, Rules: s.opts.Integrity, Wobble: s.state.CoverageWobble,
	}
}

// mayExclude reports whether an iteration, or one before it, brought what takes code
// out of the coverage.
func (s *session) mayExclude(it ledger.Iteration) bool {
	return Excludes(*it.Evidence) ||
		slices.ContainsFunc(s.history, func(h ledger.Iteration) bool { return h.Excluded != nil })
}

// Excludes reports whether something came that takes code out of the coverage.
func Excludes(e ledger.Evidence) bool { return slices.ContainsFunc(e.Tampering, isExclusion) }

func isExclusion(t detector.Tampering) bool {
	return t.ExplainedBy == "" && integrity.ExcludesCode(t.Type)
}

// countedBefore takes what was counted of the very same tree, if it was.
func (s *session) countedBefore(w *work) bool {
	for _, h := range s.history {
		if h.Tree == w.it.Tree && h.Excluded != nil {
			again := *h.Excluded
			again.Reused = true
			w.it.Excluded, w.it.Set.Coverage = &again, h.Set.Coverage
			return true
		}
	}
	return false
}

// countWithout returns what is known of the coverage without the exclusions, and the
// coverage that counts.
func (s *session) countWithout(ctx context.Context, w *work, r recount.Recount, undone recount.Exclusions, in detector.Input) (*ledger.Excluded, *metric.Coverage, error) {
	measured := w.it.Set.Coverage
	x := undone.Record(measured)
	if before := s.stillHidden(w, x.Files); before != nil {
		x.Hidden, x.Reused = before, true
		return x, recount.Lower(measured, recount.WithHidden(measured, before)), nil
	}
	if detector.Assess(s.heldOut(in, w.it), s.opts.Rules).Critical() {
		x.Why = "nothing was run, for the iteration is undone in any case"
		return x, recount.Lower(measured, s.previous.Set.Coverage), nil
	}
	r.Measured, r.Before = measured, s.previous.Set.Coverage
	counted, err := r.Coverage(ctx, undone, x)
	return x, counted, err
}

// stillHidden returns what was left out of the files in the tree that the iteration
// started from, nil where that is not known or one of them changed.
func (s *session) stillHidden(w *work, files []string) []metric.FileCoverage {
	before := s.history[s.previous.Iteration]
	if before.Excluded == nil || before.Excluded.Why != "" || before.Tree != w.start.Tree || !slices.Equal(before.Excluded.Files, files) {
		return nil
	}
	for _, c := range w.changes {
		if slices.Contains(files, c.Path) {
			return nil
		}
	}
	return before.Excluded.Hidden
}

// Price has the findings of exclusions say what they cost; counted is the coverage
// that counts.
func Price(list []detector.Tampering, x *ledger.Excluded, counted *metric.Coverage) {
	text := "coverage counts as no better than before: " + x.Why
	if x.Why == "" {
		with, _ := x.Measured.Percent()
		without, _ := counted.Percent()
		text = fmt.Sprintf("coverage counts as %.1f %%, which it is without, not as %.1f %%", without, with)
		if without >= with {
			text = "coverage is no lower without"
		}
	}
	for i := range list {
		if isExclusion(list[i]) {
			list[i].Evidence += " (" + text + ")"
		}
	}
}
