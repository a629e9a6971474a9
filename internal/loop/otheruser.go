package loop

import (
	"cmp"
	"context"
	"fmt"

	"supervise/internal/protect"
)

// protect finds out whether what the settings want for protection can be given, and
// finds the user whom agent and checks are to run as.
func (s *session) protect(ctx context.Context) (err error) {
	p := s.opts.Protect
	if err := p.Confinable(ctx, s.opts.Root, s.opts.Home); err != nil {
		return err
	}
	if p.User != "" && s.opts.Watching() {
		return fmt.Errorf("%w: protect.user is for loops, and a watched session is your own: leave it out", protect.ErrUnavailable)
	}
	s.user, err = p.OtherUser(ctx, protect.Tree{
		Root: s.opts.Root, Dir: s.opts.WorkDir(), Own: s.state.BaselineSnapshot == "", // else root has restored files
		Private: map[string]string{"the state folder": s.ledger.Dir(), "the folder of the snapshots": s.ledger.SnapshotDir(), "the folder of the hidden tests": s.opts.Hidden.Dir},
	})
	if err == nil && s.user != nil {
		s.entry, err = protect.MakeEntry()
	}
	return err
}

// scratchDir is where private trees and reports are made.
func (s *session) scratchDir() string { return cmp.Or(s.entry, s.ledger.ScratchDir()) }

// giveTree has the tree belong to the agent's user again, where that is another one:
// what was restored, and what the checks left, belongs to root.
func (s *session) giveTree() error {
	if s.user == nil {
		return nil
	}
	return s.user.Give(s.opts.Root)
}
