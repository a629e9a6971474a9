package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/measure"
	"supervise/internal/originaltests"
	"supervise/internal/yamlfile"
)

// options are the hidden tests of a loop in root. timeout is that of the command.
func (h HiddenTests) options(root string, timeout time.Duration) (originaltests.HiddenOptions, error) {
	if h.Dir == "" {
		if len(h.Command) > 0 {
			return originaltests.HiddenOptions{}, yamlfile.InvalidValue("hidden_tests.command runs the tests in hidden_tests.dir: give the folder as well", "hidden_tests", "command")
		}
		return originaltests.HiddenOptions{}, nil
	}
	dir, err := HiddenFolder(h.Dir, root)
	if err != nil {
		return originaltests.HiddenOptions{}, err
	}
	out := originaltests.HiddenOptions{Dir: dir, AtEnd: h.When == atEnd, Timeout: h.Timeout}
	if len(h.Command) > 0 {
		out.Check = &measure.Check{Kind: measure.Test, Name: "hidden tests", Command: h.Command, Reports: h.Reports, Timeout: timeout}
	}
	return out, nil
}

// HiddenFolder returns a folder of hidden tests as an absolute path without links. One that
// the agent of a loop in root works in, or above, is refused: it would read them.
func HiddenFolder(name, root string) (string, error) {
	dir, err := resolved(name)
	if err != nil {
		return "", wrongDir("%v; name the folder of the hidden tests", err)
	}
	tree, err := resolved(root)
	if err != nil {
		return "", wrongDir("%v", err)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", wrongDir("%v; name the folder of the hidden tests", err)
	case !info.IsDir():
		return "", wrongDir("%s is a file; name the folder of the hidden tests", name)
	case within(dir, tree):
		return "", wrongDir("%s is in the working tree, where the agent can read it: move the tests out of %s", name, root)
	case within(tree, dir):
		return "", wrongDir("the working tree %s is in %s: name a folder that holds the hidden tests alone", root, name)
	}
	return dir, nil
}

func wrongDir(format string, args ...any) error {
	return yamlfile.InvalidValue("hidden_tests.dir: "+fmt.Sprintf(format, args...), "hidden_tests", "dir")
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
