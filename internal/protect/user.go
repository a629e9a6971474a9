package protect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"supervise/runner"
)

// Tree is what another user is to work in, and what that user must not reach.
type Tree struct {
	Root string
	Dir  string // where the agent runs
	// Own is whether all of the tree has to belong to that user already; else it is
	// given away before the agent runs.
	Own bool
	// Private are folders that are kept from agents, by what they are; "" is none.
	Private map[string]string
}

// OtherUser finds the user whom agent and checks are to run as; nil is whoever runs
// this process. It refuses a user who has too little of the tree, or who reaches what
// is private.
func (s Settings) OtherUser(ctx context.Context, t Tree) (*runner.User, error) {
	if s.User == "" {
		return nil, nil //nolint:nilnil // no other user is wanted
	}
	u, err := runner.UserNamed(s.User)
	if err != nil {
		return nil, fmt.Errorf("%w: protect.user: %w", ErrUnavailable, err)
	}
	writes, err := u.WritesIn(ctx, t.Dir)
	if err != nil {
		return nil, err
	}
	if !writes {
		return nil, fmt.Errorf("%w: protect.user: %s cannot write in %s: let that user enter the folders above it, and give the tree away (chown -R %s %s)", ErrUnavailable, u.Name, t.Dir, u.Name, t.Root)
	}
	if t.Own {
		other, err := u.Foreign(t.Root)
		if err != nil {
			return nil, err
		}
		if other != "" {
			return nil, fmt.Errorf("%w: protect.user: %s does not belong to %s, as all of the tree has to: chown -R %s %s", ErrUnavailable, filepath.Join(t.Root, other), u.Name, u.Name, t.Root)
		}
	}
	return &u, t.outOfReach(ctx, u)
}

// outOfReach refuses a user who reaches what is private.
func (t Tree) outOfReach(ctx context.Context, u runner.User) error {
	for what, dir := range t.Private {
		if dir == "" {
			continue
		}
		reaches, err := u.Reaches(ctx, dir)
		if err != nil {
			return err
		}
		if reaches {
			return fmt.Errorf("%w: protect.user: %s can reach %s %s: chmod 700 that, or a folder above it", ErrUnavailable, u.Name, what, dir)
		}
	}
	return nil
}

// MakeEntry makes a folder for what the checks of another user need, which that user
// can enter but not list.
func MakeEntry() (string, error) {
	dir, err := os.MkdirTemp("", "supervise-checks-")
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // the names in there are not to be guessed
	}
	if err != nil {
		return dir, fmt.Errorf("make a folder for the checks: %w", err)
	}
	return dir, nil
}
