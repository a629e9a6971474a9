package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/holdout"
	"supervise/internal/measure"
	"supervise/internal/yamlfile"
)

// hidden are the hidden tests of a loop in root. A folder that the agent works in,
// or above, is refused: it would read them. timeout is that of the command.
func (h HoldOut) hidden(root string, timeout time.Duration) (holdout.HiddenOptions, error) {
	if h.Dir == "" {
		if len(h.Command) > 0 {
			return holdout.HiddenOptions{}, yamlfile.Invalid("holdout.command runs the tests in holdout.dir: give the folder as well", "holdout", "command")
		}
		return holdout.HiddenOptions{}, nil
	}
	dir, err := resolved(h.Dir)
	if err != nil {
		return holdout.HiddenOptions{}, wrongDir("%v; name the folder of the hidden tests", err)
	}
	tree, err := resolved(root)
	if err != nil {
		return holdout.HiddenOptions{}, wrongDir("%v", err)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return holdout.HiddenOptions{}, wrongDir("%v; name the folder of the hidden tests", err)
	case !info.IsDir():
		return holdout.HiddenOptions{}, wrongDir("%s is a file; name the folder of the hidden tests", h.Dir)
	case within(dir, tree):
		return holdout.HiddenOptions{}, wrongDir("%s is in the working tree, where the agent can read it: move the tests out of %s", h.Dir, root)
	case within(tree, dir):
		return holdout.HiddenOptions{}, wrongDir("the working tree %s is in %s: name a folder that holds the hidden tests alone", root, h.Dir)
	}
	out := holdout.HiddenOptions{Dir: dir, AtEnd: h.When == atEnd}
	if len(h.Command) > 0 {
		out.Check = &measure.Check{Kind: measure.Test, Name: "hidden tests", Command: h.Command, Reports: h.Reports, Timeout: timeout}
	}
	return out, nil
}

func wrongDir(format string, args ...any) error {
	return yamlfile.Invalid("holdout.dir: "+fmt.Sprintf(format, args...), "holdout", "dir")
}

// resolved is an absolute path without links.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// within reports whether path is dir, or in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
