// Package environment watches what decides the results of checks outside the working tree: the
// programs that the checks start, the packages that are installed for them, git's hooks, and the
// files that git ignores by assume-unchanged or skip-worktree.
//
// [Watch.Look] returns a [State]; [State.ChangesSince] compares it with an earlier one. A change
// that may have a good reason, such as a newer version, has a lower severity than one that is
// almost never honest.
package environment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/git"
	"supervise/internal/projectfile"
	"supervise/metric"
)

// Watch says where to look.
type Watch struct {
	Root     string   // the working tree, absolute
	Programs []string // that the checks start: names on PATH, or paths, absolute or relative to Root
	Env      []string // of the checks
	Sums     Sums     // of files seen before; nil to read each file again
	// Sites are the folders of packages by interpreter, as known before the agent ran. If it
	// is nil, no interpreter is asked.
	Sites map[string][]string
}

// State is what was seen.
type State struct {
	Programs map[string]Program        `json:"programs,omitempty"`     // by the name it is started by
	Hidden   []string                  `json:"hidden_paths,omitempty"` // paths that git ignores although it tracks them, sorted
	Hooks    map[string]string         `json:"hooks,omitempty"`        // git's hooks: path to SHA-256
	HookPath string                    `json:"hooks_path,omitempty"`
	packages map[string]*packageFolder // what is installed, by folder; not kept
}

// Program is a file that is started.
type Program struct {
	Path string `json:"path"`   // "" if there is none
	Sum  string `json:"sha256"` // of the file, through links
}

// Change is a difference to an earlier look.
type Change struct {
	Pattern  string // its tamper pattern, as listed in docs/integrity.md: "TP-30"
	Type     string
	Severity metric.Severity
	File     string
	Text     string
}

// Look returns the current state. A tree without git has no hooks and no hidden files.
func (w Watch) Look(ctx context.Context) (State, error) {
	s := State{Programs: map[string]Program{}}
	for _, name := range w.Programs {
		p, err := w.findProgram(name)
		if err != nil {
			return s, err
		}
		s.Programs[name] = p
	}

	s.packages = w.readPackages(ctx)
	var err error
	if s.HookPath, err = git.HooksDir(ctx, w.Root, w.Env); err != nil {
		return s, ctx.Err() // no repository, or none that git can read: the snapshots say so
	}
	if s.Hooks, err = w.readHooks(s.HookPath); err != nil {
		return s, err
	}

	list, err := git.Command{Dir: w.Root, Args: []string{"ls-files", "-v", "-z"}, Env: w.Env}.Output(ctx)
	if err != nil {
		return s, ctx.Err()
	}

	for entry := range strings.SplitSeq(string(list), "\x00") {
		if len(entry) > 2 && (entry[0] == 'S' || entry[0] >= 'a' && entry[0] <= 'z') {
			s.Hidden = append(s.Hidden, entry[2:])
		}
	}

	slices.Sort(s.Hidden)
	return s, nil
}

// programPath returns the file that a name starts, which is a path or a name on PATH. It is "" if
// there is none.
func (w Watch) programPath(name string) string {
	switch {
	case !strings.ContainsRune(name, '/'):
		return lookPath(name, w.Env, w.Root)
	case !filepath.IsAbs(name):
		return filepath.Join(w.Root, name)
	}
	return name
}

// findProgram finds the program that a name starts, with its sum.
func (w Watch) findProgram(name string) (Program, error) {
	path := w.programPath(name)
	if path == "" {
		return Program{}, nil
	}
	sum, err := w.Sums.sumOf(path)
	_, refused := errors.AsType[*projectfile.Refusal](err)
	switch {
	case err == nil:
		return Program{path, sum}, nil
	case errors.Is(err, fs.ErrNotExist):
		return Program{}, nil
	case refused || errors.Is(err, fs.ErrPermission):
		return Program{Path: path}, nil // it can be started and not read, or is no program
	}
	return Program{}, fmt.Errorf("look at the program %s: %w", name, err)
}

// lookPath finds a program on the PATH of an environment; "" if there is none.
func lookPath(name string, env []string, root string) string {
	for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// getenv returns a variable of an environment, in which the last entry counts; "" if there is none.
func getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// hashFile returns the SHA-256 of a file in hexadecimal.
func hashFile(path string) (string, error) {
	f, err := projectfile.OpenAnywhere(path, projectfile.Any)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readHooks returns the hooks that git would run.
func (w Watch) readHooks(dir string) (map[string]string, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(w.Root, dir)
	}
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look at git's hooks: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || strings.HasSuffix(path, ".sample") {
			continue
		}
		if out[path], err = hashFile(path); err != nil {
			return nil, fmt.Errorf("look at git's hooks: %w", err)
		}
	}
	return out, nil
}

// ChangesSince returns the differences to an earlier state, in a fixed order. Files below root
// are part of the project.
func (s State) ChangesSince(before State, root string) []Change {
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(before.Programs)) {
		if c, ok := programChange(name, before.Programs[name], s.Programs[name], root); ok {
			out = append(out, c)
		}
	}

	out = append(out, packageChanges(before.packages, s.packages)...)
	for _, path := range s.Hidden {
		if !slices.Contains(before.Hidden, path) {
			out = append(out, Change{"TP-30", "hidden_from_git", metric.Critical, path, "git ignores its changes (assume-unchanged or skip-worktree)"})
		}
	}

	if s.HookPath == "" {
		return out // git runs none; the snapshots show that its folder is gone
	}
	if s.HookPath != before.HookPath && before.HookPath != "" {
		return append(out, Change{"TP-30", "git_hooks_changed", metric.High, s.HookPath, "git runs hooks from here, was " + before.HookPath})
	}

	for _, path := range slices.Sorted(maps.Keys(s.Hooks)) {
		if s.Hooks[path] != before.Hooks[path] {
			out = append(out, Change{"TP-30", "git_hooks_changed", metric.High, path, "a hook that git runs is new or was changed"})
		}
	}

	return out
}

// programChange describes the change of a program that is started by name.
func programChange(name string, before, now Program, root string) (Change, bool) {
	switch {
	case before.Path == "" || now == before:
		return Change{}, false
	case now.Path == "":
		return Change{"TP-31", "runner_replaced", metric.High, before.Path, name + " is gone"}, true
	case now.Path != before.Path:
		return Change{"TP-31", "runner_replaced", metric.Critical, now.Path, name + " now starts another program, was " + before.Path}, true
	case isWithin(root, now.Path):
		return Change{"TP-31", "runner_updated", metric.Medium, now.Path, name + " is another program now"}, true
	}
	return Change{"TP-31", "runner_replaced", metric.High, now.Path, name + " was overwritten"}, true
}

// isWithin reports whether a path is in the folder root.
func isWithin(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
