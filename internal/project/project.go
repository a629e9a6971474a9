// Package project looks at a checkout and proposes how it is built, tested,
// covered and linted. It reads files only; it never runs the project.
package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ReportDir stands, in commands and report paths, for the private folder that
// each run of a check gets for its reports.
const ReportDir = "{{report_dir}}"

// Kind says what a check is for.
type Kind string

// The kinds of checks.
const (
	Build Kind = "build"
	Test  Kind = "test"
	Lint  Kind = "lint"
)

// Check is one command of a project.
type Check struct {
	Kind     Kind
	Name     string   // short, for progress lines
	Command  []string // argv
	Reports  []string // files that the command writes; none: its output is read
	Coverage bool     // the reports hold coverage as well
	Runner   string   // the test framework, for running single tests again: "go" or ""
}

// Project is what was recognised in a folder.
type Project struct {
	Language string
	Root     string
	Checks   []Check
	Notes    []string // what is missing, and how to get it
}

// ErrUnknown is returned for a folder in which no known kind of project stands.
var ErrUnknown = errors.New("no project recognised")

type recogniser struct {
	language string
	marker   string // the file whose presence in the root decides
	propose  func(root string, look func(string) (string, error)) ([]Check, []string)
}

var recognisers = []recogniser{
	{"go", "go.mod", proposeGo},
}

// Detect recognises the project in root. look finds a program by name, as
// [os/exec.LookPath] does. The error wraps [ErrUnknown] when nothing is known.
func Detect(root string, look func(string) (string, error)) (Project, error) {
	for _, r := range recognisers {
		if !exists(root, r.marker) {
			continue
		}
		p := Project{Language: r.language, Root: root}
		p.Checks, p.Notes = r.propose(root, look)
		return p, nil
	}
	return Project{}, fmt.Errorf("%w in %s: found no go.mod; give --test-cmd (and --test-report), or write a .supervise.yaml", ErrUnknown, root)
}

// Is reports whether a known kind of project stands in dir.
func Is(dir string) bool {
	return slices.ContainsFunc(recognisers, func(r recogniser) bool { return exists(dir, r.marker) })
}

func exists(root, name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}
