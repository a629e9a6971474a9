package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"supervise/internal/ledger"
	"supervise/runner"
)

// switchUser finds the user whom agent and checks are to run as, and refuses what would give
// that user too little, or the state of supervise.
func (s *session) switchUser(ctx context.Context) error {
	if s.opts.Protect.User == "" {
		return nil
	}
	if s.opts.watching() {
		return fmt.Errorf("%w: protect.user is for loops, and a watched session is your own: leave it out", ErrProtection)
	}
	u, err := runner.UserNamed(s.opts.Protect.User)
	if err != nil {
		return fmt.Errorf("%w: protect.user: %w", ErrProtection, err)
	}
	writes, err := u.WritesIn(ctx, s.opts.agentDir())
	if err != nil {
		return err
	}
	if !writes {
		return fmt.Errorf("%w: protect.user: %s cannot write in %s: let that user enter the folders above it, and give the tree away (chown -R %s %s)", ErrProtection, u.Name, s.opts.agentDir(), u.Name, s.opts.Root)
	}
	if s.state.BaselineSnapshot == "" { // else root has restored files, which are given away before the agent runs
		other, err := u.Foreign(s.opts.Root)
		if err != nil {
			return err
		}
		if other != "" {
			return fmt.Errorf("%w: protect.user: %s does not belong to %s, as all of the tree has to: chown -R %s %s", ErrProtection, filepath.Join(s.opts.Root, other), u.Name, u.Name, s.opts.Root)
		}
	}
	if err := s.outOfReach(ctx, u); err != nil {
		return err
	}
	s.user = &u
	return s.makeEntry()
}

// outOfReach refuses a user who reaches what is kept from agents.
func (s *session) outOfReach(ctx context.Context, u runner.User) error {
	for what, dir := range map[string]string{"the state folder": s.ledger.Dir(), "the folder of the snapshots": s.ledger.SnapshotDir(), "the folder of the hidden tests": s.opts.Hidden.Dir} {
		if dir == "" {
			continue
		}
		reaches, err := u.Reaches(ctx, dir)
		if err != nil {
			return err
		}
		if reaches {
			return fmt.Errorf("%w: protect.user: %s can reach %s %s: chmod 700 that, or a folder above it", ErrProtection, u.Name, what, dir)
		}
	}
	return nil
}

// makeEntry makes a folder for what the checks need, which the user can enter but
// not list.
func (s *session) makeEntry() (err error) {
	if s.entry, err = os.MkdirTemp("", "supervise-checks-"); err == nil {
		err = os.Chmod(s.entry, 0o711) //nolint:gosec // the names in there are not to be guessed
	}
	if err != nil {
		return fmt.Errorf("make a folder for the checks: %w", err)
	}
	return nil
}

// scratchDir is where private trees and reports are made.
func (s *session) scratchDir() string { return cmp.Or(s.entry, s.ledger.ScratchDir()) }

// handPrompt writes the prompt where the agent can read it, and returns the path.
func (s *session) handPrompt(dir, text string) (string, error) {
	path := filepath.Join(dir, promptName)
	if err := ledger.WriteFile(path, []byte(text)); err != nil || s.user == nil {
		return path, err
	}
	path, err := s.user.Hand(promptName, []byte(text))
	if err == nil {
		s.handed = filepath.Dir(path)
	}
	return path, err
}

// takePromptBack removes what handPrompt made.
func (s *session) takePromptBack() {
	if s.handed == "" {
		return
	}
	if err := os.RemoveAll(s.handed); err != nil {
		s.opts.Log.WithError(err).Warn("remove the prompt that was handed to the agent")
	}
	s.handed = ""
}

// giveTree has the tree belong to the agent's user again, where that is another one:
// what was restored, and what the checks left, belongs to root.
func (s *session) giveTree() error {
	if s.user == nil {
		return nil
	}
	return s.user.Give(s.opts.Root)
}

// errUnheard is why hooks of an agent of another user are not answered.
var errUnheard = errors.New("the agent runs as another user (protect.user), who cannot reach the supervisor")
