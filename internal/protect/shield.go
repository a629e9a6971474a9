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
	StateProtected   = "auto" // kept from the agent, as far as the system can
	StateUnprotected = "off"
)

// Shield keeps an agent from changing supervise's state. The zero value protects nothing.
type Shield struct {
	ReadOnly []string        // folders in which the agent can change nothing
	Writable []string        // the only paths that the agent can write, nil for no limit
	Sandbox  *runner.Sandbox // nil for none
}

// Shield returns what protects supervise's files from the agent, and more if the settings ask
// for it. Without a sandbox it is a mount namespace, or Landlock if the system has none. why
// is a note for the user about what is missing or restricted, "" for nothing.
func (s Settings) Shield(ctx context.Context, at Site) (sh Shield, why string, err error) {
	switch {
	case s.Sandbox:
		return s.newSandbox(ctx, at)
	case s.Landlock:
		return Shield{Writable: s.WritablePaths(ctx, at.Root)}, "", nil
	case s.State == StateUnprotected, s.User != "":
		return Shield{}, "", nil
	}
	sh, why = shieldState(ctx, at.Root, at.State)
	return sh, why, nil
}

// shieldState returns what protects the state in the folder home from the agent of a tree, and
// a note as in Shield.
func shieldState(ctx context.Context, root, home string) (sh Shield, why string) {
	home = realPath(home)
	none := runner.CheckReadOnly(ctx, home)
	if none == nil {
		return Shield{ReadOnly: []string{home}}, ""
	}
	if err := runner.CheckLandlock(); err != nil {
		return Shield{}, "the agent can change supervise's state, since the system has neither mount namespaces (" + none.Error() + ") nor Landlock (" +
			err.Error() + "); --protect off hides this line"
	}
	if contains(root, home) {
		return Shield{}, "the agent can change supervise's state, which is in the working tree (" + none.Error() + "); give another --state-dir"
	}
	return Shield{Writable: writableNeighbors(home, root, os.TempDir(), "/dev")},
		"Landlock keeps the agent from supervise's state, since the system has no mount namespaces: the agent cannot create files directly in " +
			strings.Join(parentsOf(home), ", ") + "; --protect off removes that restriction"
}

// writableNeighbors lists what the agent may write so that home stays protected: everything
// next to the path of home, and the folders in further that do not contain it.
func writableNeighbors(home string, further ...string) []string {
	return append(PathsOutside(home), slices.DeleteFunc(further, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err != nil || contains(real, home)
	})...)
}

// contains reports whether a path is dir or below it.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// parentsOf lists the parents of a folder, the highest first, without the root.
func parentsOf(dir string) []string {
	var out []string
	for dir = filepath.Dir(dir); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		out = append([]string{dir}, out...)
	}
	return out
}

// PathsOutside lists what a program may write if it must not write to some folders: every file
// and folder next to their paths. It needs such a list because Landlock only knows what is
// allowed. Links are omitted; their targets are allowed, or not, by their own paths. New files
// directly in the parents are refused as well.
func PathsOutside(kept ...string) []string {
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
			return // what cannot be listed stays forbidden
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
