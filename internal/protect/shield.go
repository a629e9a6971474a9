package protect

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/runner"
)

// The values of Settings.State.
const (
	StateKept = "auto" // out of the agent's reach, as far as the system can
	StateOpen = "off"
)

// Shield is what keeps an agent from changing supervise's state. Its zero value is
// nothing.
type Shield struct {
	ReadOnly []string // folders in which the agent can change nothing
	Writable []string // all that the agent can write, nil where that is not restricted
	Sandbox  *runner.Sandbox
}

// Shield returns what keeps the agent from supervise's own files, and from more where the
// settings want that: else a mount namespace, else Landlock. why says, for people, what
// of this lacks or costs something; "" where nothing does.
func (s Settings) Shield(ctx context.Context, at Site) (sh Shield, why string, err error) {
	switch {
	case s.Sandbox:
		return s.sandbox(ctx, at)
	case s.Landlock:
		return Shield{Writable: s.WritableIn(ctx, at.Root)}, "", nil
	case s.State == StateOpen, s.User != "":
		return Shield{}, "", nil
	}
	sh, why = ofState(ctx, at.Root, at.State)
	return sh, why, nil
}

// ofState keeps the agent of a tree from the state, which is in home.
func ofState(ctx context.Context, root, home string) (sh Shield, why string) {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	none := runner.Sealable(ctx, home)
	if none == nil {
		return Shield{ReadOnly: []string{home}}, ""
	}
	if err := runner.Confinable(); err != nil {
		return Shield{}, "the agent can change supervise's state, since the system has neither what that needs (" + none.Error() + ") nor Landlock (" +
			err.Error() + "); --protect off leaves out this line"
	}
	if holds(root, home) {
		return Shield{}, "the agent can change supervise's state, which is in the working tree (" + none.Error() + "); give another --state-dir"
	}
	return Shield{Writable: around(home, root, os.TempDir(), "/dev")},
		"Landlock keeps the agent from supervise's state, since the system gives no mount namespace: it can make no new files right in " +
			strings.Join(above(home), ", ") + "; --protect off gives that up"
}

// around lists what is beside the ways to a folder, and further folders, unless that one
// is in them.
func around(home string, further ...string) []string {
	return append(Besides(home), slices.DeleteFunc(further, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err != nil || holds(real, home)
	})...)
}

// holds reports whether a path is a folder, or beneath it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// above lists the folders above one, but for the root, the highest first.
func above(dir string) []string {
	var out []string
	for dir = filepath.Dir(dir); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		out = append([]string{dir}, out...)
	}
	return out
}

// Besides lists what a program may write that is to be kept from some folders: every
// file and folder next to the ways that lead to them. Landlock knows only what is
// allowed. Links are left out: what they lead to is allowed, or not, at its own place.
// New files right in the folders above are refused as well.
func Besides(kept ...string) []string {
	var real []string
	for _, dir := range kept {
		if path, err := filepath.EvalSymlinks(dir); err == nil {
			real = append(real, path)
		}
	}
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // what cannot be listed cannot be named either, and stays as it is
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.Type()&os.ModeSymlink != 0, slices.Contains(real, path):
			case slices.ContainsFunc(real, func(k string) bool { return strings.HasPrefix(k, path+string(filepath.Separator)) }):
				walk(path)
			default:
				out = append(out, path)
			}
		}
	}
	walk(string(filepath.Separator))
	return out
}
