package loop

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/environment"
)

// lookAround sees what stands around the tree now.
func (s *session) lookAround(ctx context.Context) (environment.State, error) {
	if s.sums == nil {
		s.sums = environment.Sums{}
	}
	env, _ := s.opts.Protect.ForChecks(s.opts.Env)
	w := environment.Watch{Root: s.opts.Root, Programs: s.opts.Plan.Programs(), Env: env, Sums: s.sums}
	state, err := w.Look(ctx)
	if err != nil {
		return state, fmt.Errorf("look at what stands around the tree: %w", err)
	}
	return state, nil
}

// settleAround keeps what stands around the tree as what later looks are
// compared with.
func (s *session) settleAround(now environment.State) error {
	s.around = now
	return s.ledger.SaveAround(now)
}

// recallAround brings back what an earlier process has seen. A loop of an older
// version begins anew.
func (s *session) recallAround(ctx context.Context) error {
	if known, err := s.ledger.ReadAround(&s.around); known || err != nil {
		return err
	}
	now, err := s.lookAround(ctx)
	if err != nil {
		return err
	}
	return s.settleAround(now)
}

// tampered lists what changed around the tree, in the records of the loop and in the
// hidden tests.
func (s *session) tampered(now environment.State) ([]detector.Tampering, error) {
	var out []detector.Tampering
	for _, c := range now.Since(s.around, s.opts.Root) {
		out = append(out, detector.Tampering{Pattern: c.Pattern, Type: c.Type, Severity: c.Severity, File: c.File, Evidence: c.Text})
	}
	changed, err := s.ledger.Check()
	for _, name := range changed {
		out = append(out, detector.Tampering{
			Pattern: "TP-30", Type: "supervisor_state_changed", Severity: detector.Critical, File: name,
			Evidence: "a file of supervise's own in " + s.ledger.Dir(),
		})
	}
	return append(out, s.judging().HiddenChanged(s.past)...), err
}
