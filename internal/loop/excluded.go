package loop

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/metric"
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
	undone, err := r.unexcluded(ctx)
	if err != nil || undone.none() {
		return err
	}
	if s.countedBefore(w) {
		return nil
	}
	x, counted, err := s.countWithout(ctx, w, r, undone, in)
	if err != nil {
		return fmt.Errorf("coverage without new exclusions: %w", err)
	}
	x.Why = s.masker.String(x.Why)
	MaskRuns(s.masker, x.Runs)
	w.it.Excluded, w.it.Set.Coverage = x, counted
	Price(w.it.Evidence.Tampering, x, counted)
	return nil
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
func (s *session) countWithout(ctx context.Context, w *work, r Recount, undone unexclusion, in detector.Input) (*ledger.Excluded, *metric.Coverage, error) {
	measured := w.it.Set.Coverage
	x := undone.of(measured)
	if before := s.stillHidden(w, x.Files); before != nil {
		x.Hidden, x.Reused = before, true
		return x, lowerOf(measured, withHidden(measured, before)), nil
	}
	if detector.Assess(s.heldOut(in, w.it), s.opts.Rules).Critical() {
		x.Why = "nothing was run, for the iteration is undone in any case"
		return x, lowerOf(measured, s.previous.Set.Coverage), nil
	}
	counted, err := r.coverage(ctx, undone, x, measured, s.previous.Set.Coverage)
	return x, counted, err
}

// lowerOf returns the coverage of which less is covered: a, unless b may be compared
// with it and is lower.
func lowerOf(a, b *metric.Coverage) *metric.Coverage {
	of, ok1 := a.Percent()
	than, ok2 := b.Percent()
	if ok1 && ok2 && a.Comparable(b) && than < of {
		return b
	}
	return a
}

// hiddenCode returns what of each of the files is left out, nil where that is not all
// there is: settings leave out other files.
func hiddenCode(with, without *metric.Coverage, files []string) []metric.FileCoverage {
	var out []metric.FileCoverage
	total := with.Total
	for _, path := range files {
		is, there := fileOf(without, path)
		if !there {
			return nil
		}
		was, _ := fileOf(with, path)
		out = append(out, metric.FileCoverage{Path: path, Covered: is.Covered - was.Covered, Total: is.Total - was.Total})
		total += is.Total - was.Total
	}
	if total != without.Total {
		return nil
	}
	return out
}

func fileOf(c *metric.Coverage, path string) (metric.FileCoverage, bool) {
	for _, f := range c.Files {
		if f.Path == path {
			return f, true
		}
	}
	return metric.FileCoverage{}, false
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

// withHidden adds to the coverage what is left out of it.
func withHidden(c *metric.Coverage, hidden []metric.FileCoverage) *metric.Coverage {
	out := *c
	out.Files = slices.Clone(c.Files)
	for _, h := range hidden {
		out.Covered, out.Total = out.Covered+h.Covered, out.Total+h.Total
		for i := range out.Files {
			if f := &out.Files[i]; f.Path == h.Path {
				f.Covered, f.Total = f.Covered+h.Covered, f.Total+h.Total
			}
		}
	}
	return &out
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
