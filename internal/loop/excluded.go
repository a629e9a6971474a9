package loop

import (
	"context"
	"fmt"
	"math"
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
	files, err := s.changedFiles(ctx, s.state.BaselineSnapshot, w.it.Snapshot, changes)
	if err != nil {
		return err
	}
	undone := integrity.Unexcluded(files, s.opts.Integrity)
	if len(undone.Texts)+len(undone.Kept) == 0 {
		return nil
	}
	if s.countedBefore(w) {
		return nil
	}
	x, counted, err := s.countWithout(ctx, w, undone, in)
	if err != nil {
		return fmt.Errorf("coverage without new exclusions: %w", err)
	}
	x.Why = s.masker.String(x.Why)
	for i, r := range x.Runs {
		x.Runs[i].Output, x.Runs[i].Why = s.masker.String(r.Output), s.masker.String(r.Why)
	}
	w.it.Excluded, w.it.Set.Coverage = x, counted
	priced(w.it.Evidence.Tampering, x, counted)
	return nil
}

// mayExclude reports whether an iteration, or one before it, brought what takes code
// out of the coverage.
func (s *session) mayExclude(it ledger.Iteration) bool {
	return slices.ContainsFunc(it.Evidence.Tampering, isExclusion) ||
		slices.ContainsFunc(s.history, func(h ledger.Iteration) bool { return h.Excluded != nil })
}

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
func (s *session) countWithout(ctx context.Context, w *work, undone integrity.Unexclusion, in detector.Input) (*ledger.Excluded, *metric.Coverage, error) {
	measured := w.it.Set.Coverage
	x := &ledger.Excluded{Files: excludingFiles(undone), Measured: *measured}
	x.Measured.Files = nil
	if before := s.stillHidden(w, x.Files); before != nil {
		x.Hidden, x.Reused = before, true
		return x, lowerOf(measured, withHidden(measured, before)), nil
	}
	var without *metric.Coverage
	var err error
	switch {
	case detector.Assess(s.heldOut(in, w.it), s.opts.Rules).Critical():
		x.Why = "nothing was run, for the iteration is undone in any case"
	case len(undone.Kept) > 0:
		x.Why = "it cannot be undone in " + undone.Kept[0]
	default:
		without, err = s.coverWithout(ctx, w, undone.Texts, x)
	}
	if err != nil {
		return nil, nil, err
	}
	if x.Why != "" {
		return x, lowerOf(measured, s.previous.Set.Coverage), nil
	}
	x.Hidden = hiddenCode(measured, without, x.Files)
	return x, lowerOf(measured, without), nil
}

func excludingFiles(undone integrity.Unexclusion) []string {
	out := slices.Clone(undone.Kept)
	for path := range undone.Texts {
		out = append(out, path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// coverWithout runs the tests in a copy without the exclusions. Where they cover less
// there they run once more with them, in the same place: if that gives other numbers
// than the working tree did, it is due to the place.
func (s *session) coverWithout(ctx context.Context, w *work, texts map[string][]byte, x *ledger.Excluded) (without *metric.Coverage, err error) {
	measured := w.it.Set.Coverage
	return without, s.inCopy(ctx, w.it.Snapshot, texts, func(c copied) error {
		without, err = s.coverIn(ctx, c, x)
		if err != nil || x.Why != "" || lowerOf(measured, without) == measured {
			return err
		}
		if err := c.asIs(ctx); err != nil {
			return err
		}
		with, err := s.coverIn(ctx, c, x)
		if err != nil || x.Why != "" {
			return err
		}
		here, _ := measured.Percent()
		there, ok := with.Percent()
		if !ok || math.Abs(here-there) > max(.5, s.state.CoverageWobble) {
			x.Why = fmt.Sprintf("away from the working tree the coverage is another one as it is: %.1f %%, not %.1f %%", there, here)
		}
		return nil
	})
}

// coverIn runs the tests in the copy.
func (s *session) coverIn(ctx context.Context, c copied, x *ledger.Excluded) (*metric.Coverage, error) {
	out, err := s.meter.CoverageElsewhere(ctx, c.project())
	x.Runs = append(x.Runs, Runs(out.Runs)...)
	x.Why = out.Why
	if err == nil && x.Why == "" && !out.Coverage.Comparable(&x.Measured) {
		x.Why = fmt.Sprintf("the report there is another one: %s, not %s", out.Coverage.Format, x.Measured.Format)
	}
	return out.Coverage, err
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

// priced has the findings say what the exclusions cost.
func priced(list []detector.Tampering, x *ledger.Excluded, counted *metric.Coverage) {
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
