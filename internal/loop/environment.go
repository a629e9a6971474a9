package loop

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/environment"
	"supervise/internal/ledger"
)

// surroundings are what the checks depend on and the tree does not hold, and the
// records of the loop.
type surroundings struct {
	watch  environment.Watch
	ledger *ledger.Ledger
	known  environment.State // when the last iteration was accepted
}

// look sees what they are now.
func (s *surroundings) look(ctx context.Context) (environment.State, error) {
	state, err := s.watch.Look(ctx)
	if err != nil {
		return state, fmt.Errorf("look at what stands around the tree: %w", err)
	}
	return state, nil
}

// accept keeps a state as what later looks are compared with.
func (s *surroundings) accept(now environment.State) error {
	s.known = now
	return s.ledger.SaveEnvironment(now)
}

// recall brings back what an earlier process has seen. Elsewhere other programs are
// installed, so what is there when the loop comes there is what counts.
func (s *surroundings) recall(ctx context.Context, elsewhere bool) error {
	known, err := s.ledger.ReadEnvironment(&s.known)
	if err != nil {
		return err
	}
	now, err := s.look(ctx)
	switch {
	case err != nil:
		return err
	case known && !elsewhere:
		s.known = s.known.WithPackages(now)
		return nil
	}
	return s.accept(now)
}

// changed lists what changed around the tree and in the records of the loop.
func (s *surroundings) changed(now environment.State) ([]detector.Tampering, error) {
	var out []detector.Tampering
	for _, c := range now.ChangesSince(s.known, s.watch.Root) {
		out = append(out, detector.Tampering{Pattern: c.Pattern, Type: c.Type, Severity: c.Severity, File: c.File, Evidence: c.Text, Basis: detector.Measured})
	}
	files, err := s.ledger.RepairChanged()
	for _, name := range files {
		out = append(out, detector.Tampering{
			Pattern: "TP-30", Type: "supervisor_state_changed", Severity: detector.Critical, File: name,
			Evidence: "a file of supervise's own in " + s.ledger.Dir(),
		})
	}
	return out, err
}
