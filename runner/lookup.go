//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

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
	if slices.ContainsFunc(c.Env, func(kv string) bool { return strings.Contains(kv, "\x00") }) {
		return resolvedCommand{}, fmt.Errorf("start %s: a variable has a zero byte: %w", c.Args[0], syscall.EINVAL)
	}
	// Each name must occur once: of several values most programs would see the first, and shells the last one.
	r := resolvedCommand{dir: dir, env: (&exec.Cmd{Env: c.Env, Dir: c.Dir}).Environ()}
	if r.path, err = lookPath(c.Args[0], dir, r.env); err != nil {
		return r, unstartableError{err}
	}
	return r, nil
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
