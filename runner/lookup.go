//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/runner/internal/proc"
)

// resolvedCommand has the parts of a command that depend on the state of this process.
type resolvedCommand struct {
	path string   // of the program, absolute
	dir  string   // absolute
	env  []string // complete; each name occurs once
}

// resolveCommand finds the program, the working directory and the environment of a command. An
// error about a missing one is marked as unstartable.
func resolveCommand(c Command) (resolvedCommand, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return resolvedCommand{}, fmt.Errorf("find working directory: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return resolvedCommand{}, unstartableError{fmt.Errorf("start %s: use working directory: %w", c.Args[0], err)}
	} else if !info.IsDir() {
		return resolvedCommand{}, unstartableError{fmt.Errorf("start %s: working directory %s is not a directory", c.Args[0], dir)}
	}
	r := resolvedCommand{dir: dir, env: c.Env}
	if r.env == nil {
		r.env = os.Environ()
		if c.Dir != "" {
			r.env = append(r.env, "PWD="+dir)
		}
	}
	r.env = lastValues(r.env)
	if r.path, err = lookPath(c.Args[0], dir, r.env); err != nil {
		return r, unstartableError{err}
	}
	return r, nil
}

// lastValues returns an environment in which each name occurs once, with its last value.
// Otherwise most programs would see the first value, and shells the last one. Entries
// without a name are kept.
func lastValues(env []string) []string {
	seen := make(map[string]bool, len(env))
	out := make([]string, 0, len(env))
	for _, kv := range slices.Backward(env) {
		name, _, ok := strings.Cut(kv, "=")
		if ok && seen[name] {
			continue
		}
		seen[name] = seen[name] || ok
		out = append(out, kv)
	}
	slices.Reverse(out)
	return out
}

// lookPath finds a program by the PATH of the child. It skips relative entries of PATH, as
// os/exec does, so that a name never starts a program in the working directory.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, checkExecutable(path)
	}
	var denied error
	for _, entry := range filepath.SplitList(proc.LastValue(env, "PATH")) {
		if !filepath.IsAbs(entry) {
			continue
		}
		path := filepath.Join(entry, name)
		err := checkExecutable(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, ErrNotFound) && denied == nil {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("start %s: %w: install it, or give its full path", name, ErrNotFound)
}

// checkExecutable returns an error if the file at path cannot be executed.
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("start %s: %w", path, ErrNotFound)
	case err != nil:
		return fmt.Errorf("start %s: %w", path, err)
	case info.IsDir():
		return fmt.Errorf("start %s: is a directory: %w", path, fs.ErrPermission)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("start %s: not executable: %w: allow it with chmod +x", path, fs.ErrPermission)
	}
	return nil
}
