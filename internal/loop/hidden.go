package loop

import (
	"cmp"
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/holdout"
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
	if _, err := holdout.ReadFiles(s.opts.Hidden.Dir); err != nil {
		return fmt.Errorf("hidden tests: %w", err)
	}
	return nil
}

// hiddenMeddled says whether the hidden tests are others than at the beginning.
func (s *session) hiddenMeddled() []detector.Tampering {
	if s.opts.Hidden.Dir == "" || len(s.history) == 0 || s.history[0].Hidden == nil {
		return nil
	}
	if files, err := holdout.ReadFiles(s.opts.Hidden.Dir); err == nil && files.Sum() == s.history[0].Hidden.Files {
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
		files, err := holdout.ReadFiles(s.opts.Hidden.Dir)
		return &ledger.Hidden{Later: true, Files: files.Sum()}, err
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
	run := holdout.Hidden{
		Workspace: s.workspace(), Folder: s.opts.Hidden.Dir, Check: s.opts.Hidden.Check, Limit: s.opts.HoldOut.Timeout, Passed: s.hiddenPassed,
	}
	out, err := run.Run(ctx, it.Snapshot, it.Set.Tests, known)
	if err != nil {
		return nil, err
	}
	out.Why, out.Runs = s.masker.String(out.Why), s.masker.Checks(out.Runs)
	out.Tests = s.masker.Set(metric.Set{Tests: out.Tests}).Tests
	return out, nil
}
