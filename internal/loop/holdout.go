package loop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// HoldOut says when tests that findings name are run as they were.
type HoldOut struct {
	Never   bool          `json:"never,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"` // of one hold-out run as a whole; 0: the limits of the checks
}

// holdOut runs the tests that the findings of an iteration name as they were when
// it began. It is nil where there is nothing to run, or to be decided by it.
func (s *session) holdOut(ctx context.Context, w *work, in detector.Input) (*ledger.HoldOut, error) {
	if s.opts.HoldOut.Never || len(in.Tampering) == 0 {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	t := s.trial(w.start.ID, w.it.Snapshot)
	t.Findings = detector.ToHoldOut(in, s.opts.Rules, detector.High)
	t.Before, t.Evidence = in.Previous.Set.Tests, *w.it.Evidence
	switch set := w.it.Set; {
	case len(t.Findings) == 0:
		return nil, nil //nolint:nilnil // there is none, as documented
	case s.undoneWithout(in, t.Findings):
		return t.Refused("the iteration is undone in any case"), nil
	case set.Build != nil && set.Build.Status == metric.BuildFailure:
		return t.Refused("the build is broken: " + set.Build.FirstError), nil
	case set.Tests == nil:
		return t.Refused("the tests could not be read"), nil
	}
	return s.try(ctx, t)
}

// undoneWithout reports whether an iteration is undone whatever the hold-out run
// says of the findings.
func (s *session) undoneWithout(in detector.Input, findings []detector.Tampering) bool {
	in.Tampering = slices.DeleteFunc(slices.Clone(in.Tampering), func(t detector.Tampering) bool { return slices.Contains(findings, t) })
	return detector.Assess(in, s.opts.Rules).Critical()
}

// workspace is where private copies of the tree are made.
func (s *session) workspace() holdout.Workspace {
	return holdout.Workspace{Store: s.store, Meter: s.meter, Plan: s.opts.Plan, Root: s.opts.Root, Scratch: s.scratchDir(), User: s.user}
}

func (s *session) trial(was, is snapshot.ID) holdout.Trial {
	return holdout.Trial{
		Workspace: s.workspace(), Was: was, Is: is, Flaky: s.flaky, Limit: s.opts.HoldOut.Timeout,
	}
}

// try runs a trial; no secret gets into its record. What the machine cannot do, for
// want of room perhaps, ends no loop: the findings stand as they are then.
func (s *session) try(ctx context.Context, t holdout.Trial) (*ledger.HoldOut, error) {
	out, err := t.Run(ctx)
	if err != nil && interrupted(ctx) {
		return nil, err
	}
	if err != nil {
		s.opts.Log.WithError(err).Warn("run tests as they were")
		return t.Refused(s.masker.String(err.Error())), nil
	}
	for i, r := range out.Results {
		out.Results[i].Why = s.masker.String(r.Why)
	}
	out.Runs = s.masker.Checks(out.Runs)
	return &out, nil
}

// holdOutSelected runs the tests that findings about accepted iterations named, as
// they were in the baseline, over the selected tree: what one iteration weakened a
// later one may have broken. It is nil where there are none.
func (s *session) holdOutSelected(ctx context.Context, n int) (*ledger.HoldOut, error) {
	if s.opts.HoldOut.Never || n == 0 {
		return nil, nil //nolint:nilnil // there is none, as documented
	}
	base, it := s.history[0], s.history[n]
	t := s.trial(base.Snapshot, it.Snapshot)
	changes, err := s.store.Changes(ctx, t.Was, t.Is)
	if err != nil {
		return nil, fmt.Errorf("compare the selection with the baseline: %w", err)
	}
	t.Evidence, err = evidence.Between(ctx, s.store, t.Was, t.Is, changes, s.opts.Integrity)
	if err != nil {
		return nil, fmt.Errorf("read what the selection changed: %w", err)
	}
	in := detector.Input{
		Current: it.Observation(), Previous: s.accepted[0], Baseline: s.accepted[0],
		Before: t.Evidence.Before, After: t.Evidence.After, Renamed: t.Evidence.Renamed, Tampering: t.Evidence.Tampering, Now: s.opts.Now(),
		TestFiles: t.Evidence.TestFiles, TestsAlone: t.Evidence.TestsAlone,
	}
	t.Findings, t.Before = detector.ToHoldOut(in, s.opts.Rules, detector.Medium), base.Set.Tests
	switch {
	case len(t.Findings) == 0 || t.Before == nil:
		return nil, nil //nolint:nilnil // there is none, as documented
	case it.Set.Build != nil && it.Set.Build.Status == metric.BuildFailure:
		return t.Refused("the build is broken: " + it.Set.Build.FirstError), nil
	}
	return s.try(ctx, t)
}

// heldOut adds what the hold-out run of an iteration said, and the hidden tests.
func (s *session) heldOut(in detector.Input, it ledger.Iteration) detector.Input {
	if it.HoldOut != nil {
		in.HeldOut = it.HoldOut.Results
	}
	if h := it.Hidden; h != nil && h.Refused == "" && !h.Reused && !h.Later {
		in.Hidden = &detector.Hidden{Tests: h.Tests, Passed: s.hiddenPassed}
	}
	return in
}

// broken lists the tests that fail as they were although they passed in the tree
// that they are of.
func broken(h *ledger.HoldOut, before *metric.Tests) []metric.ID {
	var out []metric.ID
	if h == nil {
		return nil
	}
	for _, r := range h.Results {
		if t, ok := before.Lookup(r.ID); r.Outcome == detector.Broke && ok && t.Status == metric.Passed && !slices.Contains(out, r.ID) {
			out = append(out, r.ID)
		}
	}
	return out
}
