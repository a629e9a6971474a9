package protect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"supervise/runner"
)

// Tree is where another user works, and what that user must not access.
type Tree struct {
	Root string
	Dir  string // where the agent runs
	// MustOwn is whether the entire tree must already belong to that user; otherwise its owner
	// is changed before the agent runs.
	MustOwn bool
	// Private are the folders to keep from agents, by description; "" is none.
	Private map[string]string
}

// FindUser finds the user that agent and checks run as; nil is the user of this process. It
// refuses a user that cannot write to the tree, or that can access private folders.
func (s Settings) FindUser(ctx context.Context, t Tree) (*runner.User, error) {
	if s.User == "" {
		return nil, nil //nolint:nilnil // no other user
	}
	u, err := runner.LookupUser(s.User)
	if err != nil {
		return nil, fmt.Errorf("%w: protect.user: %w", ErrUnavailable, err)
	}
	writes, err := u.CanWriteIn(ctx, t.Dir)
	if err != nil {
		return nil, err
	}
	if !writes {
		return nil, fmt.Errorf("%w: protect.user: %s cannot write in %s: let that user enter the folders above it, and give the tree away (chown -R %s %s)", ErrUnavailable, u.Name, t.Dir, u.Name, t.Root)
	}
	if t.MustOwn {
		other, err := u.FindForeignFile(t.Root)
		if err != nil {
			return nil, err
		}
		if other != "" {
			return nil, fmt.Errorf("%w: protect.user: %s does not belong to %s, as the entire tree must: chown -R %s %s", ErrUnavailable, filepath.Join(t.Root, other), u.Name, u.Name, t.Root)
		}
	}
	return &u, t.checkPrivate(ctx, u)
}

// checkPrivate refuses a user that can access private folders.
func (t Tree) checkPrivate(ctx context.Context, u runner.User) error {
	for what, dir := range t.Private {
		if dir == "" {
			continue
		}
		reaches, err := u.CanAccess(ctx, dir)
		if err != nil {
			return err
		}
		if reaches {
			return fmt.Errorf("%w: protect.user: %s can access %s %s: chmod 700 it, or a folder above it", ErrUnavailable, u.Name, what, dir)
		}
	}
	return nil
}

// MakeCheckDir makes a folder for files that the checks of another user need. That user can enter it,
// but not list it.
func MakeCheckDir() (string, error) {
	dir, err := os.MkdirTemp("", "supervise-checks-")
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // its names cannot be guessed
	}
	if err != nil {
		return dir, fmt.Errorf("make a folder for the checks: %w", err)
	}
	return dir, nil
}
