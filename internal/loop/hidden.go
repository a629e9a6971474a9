package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
)

// Hidden are tests that the agent does not see: a folder outside the working tree,
// whose files are laid over a copy of the tree, and run there.
type Hidden struct {
	Dir   string         `json:"dir,omitempty"`    // absolute; "": there are none
	Check *measure.Check `json:"check,omitempty"`  // nil: the checks of the plan
	AtEnd bool           `json:"at_end,omitempty"` // over the selected tree alone, not after each iteration
}

// hiddenChanged is the type of the finding that the hidden tests were changed.
const hiddenChanged = "hidden_tests_changed"

// hiddenReady refuses what would show the tests to the agent, or run none.
func (s *session) hiddenReady() error {
	if s.opts.Hidden.Dir == "" {
		return nil
	}
	if _, inside := ledger.Inside(s.opts.Home, s.opts.Root); inside {
		return fmt.Errorf("hidden tests: the state folder %s is in the working tree, where the agent would see what it says of them: give another --state-dir", s.opts.Home)
	}
	if _, err := readHidden(s.opts.Hidden.Dir); err != nil {
		return fmt.Errorf("hidden tests: %w", err)
	}
	return nil
}

// hiddenMeddled says whether the hidden tests are others than at the beginning.
func (s *session) hiddenMeddled() []detector.Tampering {
	if s.opts.Hidden.Dir == "" || len(s.history) == 0 || s.history[0].Hidden == nil {
		return nil
	}
	if files, err := readHidden(s.opts.Hidden.Dir); err == nil && files.sum() == s.history[0].Hidden.Files {
		return nil
	}
	return []detector.Tampering{{
		Pattern: "TP-30", Type: hiddenChanged, Severity: detector.Critical, Evidence: "they are not as they were when the loop began",
	}}
}

// hiddenBaseline runs the hidden tests over the tree before the loop, nil where
// there are none.
func (s *session) hiddenBaseline(ctx context.Context, it ledger.Iteration) (*ledger.Hidden, error) {
	if s.opts.Hidden.Dir == "" {
		return nil, nil //nolint:nilnil // there are none, as documented
	}
	if s.opts.Hidden.AtEnd {
		files, err := readHidden(s.opts.Hidden.Dir)
		return &ledger.Hidden{Later: true, Files: files.sum()}, err
	}
	return s.runHidden(ctx, it, nil)
}

// hiddenTests runs the hidden tests over what an iteration left, if that has other
// code than the tree that it started from. It is nil where there are none, or not
// by now.
func (s *session) hiddenTests(ctx context.Context, w *work, in detector.Input) (*ledger.Hidden, error) {
	if s.opts.Hidden.Dir == "" || s.opts.Hidden.AtEnd {
		return nil, nil //nolint:nilnil // there are none, as documented
	}
	before := s.history[s.previous.Iteration].Hidden
	known := s.hiddenRuns[w.it.Tree]
	if known == nil && before != nil && before.Tests != nil && in.TestsAlone {
		known = before
	}
	switch set := w.it.Set; {
	case known != nil:
		again := *known
		again.Reused = true
		return &again, nil
	case detector.Assess(s.heldOut(in, w.it), s.opts.Rules).Critical():
		return &ledger.Hidden{Refused: "the iteration is undone in any case"}, nil
	case set.Build != nil && set.Build.Status == metric.BuildFailure:
		return &ledger.Hidden{Refused: "the build is broken: " + set.Build.FirstError}, nil
	}
	var tests *metric.Tests
	if before != nil {
		tests = before.Tests
	}
	return s.runHidden(ctx, w.it, tests)
}

// learnHidden remembers how the hidden tests ended over a tree that is accepted.
func (s *session) learnHidden(it ledger.Iteration) {
	if it.Hidden == nil || it.Hidden.Tests == nil {
		return
	}
	s.hiddenRuns[it.Tree] = it.Hidden
	for _, t := range it.Hidden.Tests.Cases {
		if t.Status != metric.NotRun {
			s.hiddenPassed[t.ID] = t.Status == metric.Passed
		}
	}
}

// hiddenSelected is what the hidden tests say of the selected tree.
func (s *session) hiddenSelected(ctx context.Context, it ledger.Iteration) (*ledger.Hidden, error) {
	base := s.history[0]
	if base.Hidden == nil || !base.Hidden.Later || it.Number == 0 {
		return it.Hidden, nil
	}
	if len(s.hiddenMeddled()) > 0 {
		return &ledger.Hidden{Refused: "they are not as they were when the loop began"}, nil
	}
	before, err := s.runHidden(ctx, base, nil)
	if err != nil {
		return nil, err
	}
	s.learnHidden(ledger.Iteration{Tree: base.Tree, Hidden: before})
	return s.runHidden(ctx, it, before.Tests)
}

// hiddenStop corrects the reason to end where hidden tests of the selection fail:
// whatever the visible ones say, the work is not done.
func (s *session) hiddenStop(stop event.Stop, h *ledger.Hidden) event.Stop {
	if h.Green() {
		return stop
	}
	why := cmp.Or(h.Refused, h.Why)
	if h.Tests != nil {
		why = fmt.Sprintf("%d of %d fail or did not run", h.Failing(), h.Tests.Counts().Count)
		if len(h.Tests.Broken) > 0 && h.Failing() == 0 {
			why = h.Tests.Broken[0].Why
		}
		in := detector.Hidden{Tests: h.Tests, Passed: s.hiddenPassed}
		if lost := in.Lost(); s.opts.Hidden.AtEnd && lost > 0 {
			why += fmt.Sprintf(", %d of them passed before the loop", lost)
		}
	}
	return event.Stop{Reason: event.HiddenFail, Text: "the hidden tests do not pass over the selected tree: " + why + " (" + stop.Text + ")"}
}

// runHidden runs the hidden tests over the tree of an iteration. known are those
// of the tree that it started from.
func (s *session) runHidden(ctx context.Context, it ledger.Iteration, known *metric.Tests) (*ledger.Hidden, error) {
	out, err := s.inHiddenTree(ctx, it, known)
	if err != nil {
		return nil, fmt.Errorf("run the hidden tests: %w", err)
	}
	out.Why = s.masker.String(out.Why)
	MaskRuns(s.masker, out.Runs)
	out.Tests = s.maskedSet(metric.Set{Tests: out.Tests}).Tests
	return out, nil
}

// inHiddenTree makes a tree of the snapshot, lays the hidden tests over it, runs
// them and removes it. Those that passed before and fail are run once more: by
// chance is no failure.
func (s *session) inHiddenTree(ctx context.Context, it ledger.Iteration, known *metric.Tests) (out *ledger.Hidden, err error) {
	files, err := readHidden(s.opts.Hidden.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.scratchDir(), 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.scratchDir(), "tree-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ledger.RemoveTree(dir)) }()
	tree := trialTree{dir: dir, root: s.opts.Root, store: s.store, plan: s.opts.Plan, user: s.user}
	if err := tree.lay(ctx, it.Snapshot); err != nil {
		return nil, err
	}
	if err := files.lay(tree.project()); err != nil {
		return nil, err
	}
	out = &ledger.Hidden{Files: files.sum()}
	run := func() (*metric.Tests, error) {
		whole, err := s.meter.Whole(ctx, tree.project(), s.opts.Hidden.Check, s.opts.HoldOut.Timeout)
		out.Runs = append(out.Runs, Runs(whole.Runs)...)
		out.Why = strings.ReplaceAll(whole.Why, dir+"/", "")
		return s.onlyHidden(whole.Tests.CarryOver(known), files, it.Set.Tests), err
	}
	if out.Tests, err = run(); err != nil || !s.lostHidden(out.Tests) {
		return out, err
	}
	first, why := out.Tests, out.Why
	again, err := run()
	out.Tests, out.Flaky = forgiven(first, again)
	out.Why = why
	return out, err
}

// lostHidden reports whether a test fails that passed before.
func (s *session) lostHidden(t *metric.Tests) bool {
	return t != nil && slices.ContainsFunc(t.Cases, func(c metric.Test) bool { return c.Failed() && s.hiddenPassed[c.ID] })
}

// forgiven returns the tests with those passed that failed first and passed when
// they were run again.
func forgiven(first, again *metric.Tests) (out *metric.Tests, flaky []metric.ID) {
	out = first
	for _, c := range first.Cases {
		if t, ran := again.Lookup(c.ID); c.Failed() && ran && t.Status == metric.Passed {
			t.Flaky = true
			out, flaky = out.With(t), append(flaky, c.ID)
		}
	}
	return out, flaky
}

// onlyHidden returns the hidden ones of tests that ran together with those of the
// tree: those that are not among these, and those that a hidden file defines.
func (s *session) onlyHidden(all *metric.Tests, files hiddenFiles, visible *metric.Tests) *metric.Tests {
	if all == nil || s.opts.Hidden.Check != nil {
		return all
	}
	own := map[metric.ID]bool{}
	defs := files.definitions()
	for _, d := range defs {
		for _, c := range (detector.Tampering{File: d.File, Test: d.Def.Name}).Cases(all, defs, nil) {
			own[c.ID] = true
		}
	}
	out := *all
	out.Cases = slices.DeleteFunc(slices.Clone(all.Cases), func(c metric.Test) bool {
		_, seen := visible.Lookup(c.ID)
		return seen && !own[c.ID]
	})
	out.Broken, out.Failure = slices.Clone(all.Broken), ""
	if visible != nil {
		out.Broken = slices.DeleteFunc(out.Broken, func(b metric.Suite) bool {
			return slices.ContainsFunc(visible.Broken, func(v metric.Suite) bool { return v.Name == b.Name })
		})
	}
	return &out
}
