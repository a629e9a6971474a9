package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"supervise/internal/measure"
	"supervise/internal/originaltests"
	"supervise/internal/yamlfile"
)

// options returns the hidden tests of a loop in root. timeout is the time limit of the command.
func (h HiddenTests) options(root string, timeout time.Duration) (originaltests.HiddenOptions, error) {
	if h.Dir == "" {
		if len(h.Command) > 0 {
			return originaltests.HiddenOptions{}, yamlfile.InvalidValue("hidden_tests.command runs the tests in hidden_tests.dir: give the folder as well", "hidden_tests", "command")
		}
		return originaltests.HiddenOptions{Seal: h.Seal, Timeout: h.Timeout}, nil
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

// SealFlag is the value of --seal: a share of the failing tests, or a folder of hidden tests.
type SealFlag struct{ *HiddenTests }

// Set sets the share, or the folder.
func (f SealFlag) Set(text string) error {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		f.Dir, f.Seal = text, 0
		return nil //nolint:nilerr // it is a folder
	}
	if share < 0 || share >= 1 {
		return errors.New("the share of the failing tests must be less than 1, like 0.3")
	}
	f.Seal, f.Dir = share, ""
	return nil
}

// String returns the share or the folder, "" for neither.
func (f SealFlag) String() string {
	switch {
	case f.HiddenTests == nil:
		return ""
	case f.Seal == 0:
		return f.Dir
	}
	return strconv.FormatFloat(f.Seal, 'g', -1, 64)
}

// Type names the type of the value in help texts.
func (f SealFlag) Type() string { return "share" }

// HiddenFolder returns the absolute path of a folder of hidden tests, without symbolic links. A
// folder inside or above root is an error, because the agent could read the tests.
func HiddenFolder(name, root string) (string, error) {
	dir, err := resolvePath(name)
	if err != nil {
		return "", invalidDir("%v; name the folder of the hidden tests", err)
	}
	tree, err := resolvePath(root)
	if err != nil {
		return "", invalidDir("%v", err)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", invalidDir("%v; name the folder of the hidden tests", err)
	case !info.IsDir():
		return "", invalidDir("%s is a file; name the folder of the hidden tests", name)
	case isWithin(dir, tree):
		return "", invalidDir("%s is in the working tree, where the agent can read it: move the tests out of %s", name, root)
	case isWithin(tree, dir):
		return "", invalidDir("the working tree %s is in %s: name a folder that holds the hidden tests alone", root, name)
	}
	return dir, nil
}

// invalidDir returns an error about hidden_tests.dir.
func invalidDir(format string, args ...any) error {
	return yamlfile.InvalidValue("hidden_tests.dir: "+fmt.Sprintf(format, args...), "hidden_tests", "dir")
}

// resolvePath returns the absolute path without symbolic links.
func resolvePath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// isWithin reports whether path is dir or inside it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
