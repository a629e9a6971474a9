package loop

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/environment"
	"supervise/internal/ledger"
)

// environmentWatch detects changes of what the checks depend on outside the tree, such as programs
// and packages. It also detects changes of the records of the loop.
type environmentWatch struct {
	watch  environment.Watch
	ledger *ledger.Ledger
	known  environment.State // the state after the last accepted iteration
}

// observe returns the current state of the environment.
func (s *environmentWatch) observe(ctx context.Context) (environment.State, error) {
	state, err := s.watch.Look(ctx)
	if err != nil {
		return state, fmt.Errorf("inspect the environment outside the tree: %w", err)
	}
	return state, nil
}

// accept stores a state as the one that later states are compared with.
func (s *environmentWatch) accept(now environment.State) error {
	s.known = now
	return s.ledger.SaveEnvironment(now)
}

// loadKnown loads the state that an earlier process accepted. If the tree was moved, possibly to
// a machine with other programs, it accepts the current state instead.
func (s *environmentWatch) loadKnown(ctx context.Context, treeMoved bool) error {
	known, err := s.ledger.ReadEnvironment(&s.known)
	if err != nil {
		return err
	}
	now, err := s.observe(ctx)
	switch {
	case err != nil:
		return err
	case known && !treeMoved:
		s.known = s.known.WithPackages(now)
		return nil
	}
	return s.accept(now)
}

// changes lists the changes of the environment since the last accepted state, and the records of
// the loop that were changed. It restores those records.
func (s *environmentWatch) changes(now environment.State) ([]detector.Tampering, error) {
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
