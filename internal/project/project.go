// Package project looks at a checkout and proposes how it is built, tested,
// covered and linted. It reads files only; it never runs the project.
//
// Every language has a recogniser: a function of a read-only view of one folder.
// Lock files choose the package manager, configuration files, scripts and
// dependencies choose the test framework, and a linter is proposed only where
// the project configures it or depends on it. A checkout may hold several
// projects; each is tested in its own folder.
package project

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ReportDir stands, in commands, environments and report paths, for the private
// folder that each run of a check gets for its reports. It lies outside the tree.
// What is no report there, folders above all, has a name that begins with a dot.
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
	Kind      Kind
	Name      string            // short, for progress lines: "pytest", or "web: jest" where there are several projects
	Dir       string            // slash path of the project's folder below the root, "" for the root: the command runs there, Reports are relative to it
	Command   []string          // argv
	Env       []string          // NAME=value added to the environment; may hold ReportDir
	Files     map[string]string // files that are written into the private folder before the command runs: name -> text, which may hold ReportDir
	Reports   []string          // files or patterns that the command writes, "**" stands for any folders; none: its output is read
	Stderr    bool              // standard error belongs to the output that is read
	Coverage  bool              // the reports hold coverage as well
	Runner    string            // the test framework, for running single tests again, or ""
	Inventory []string          // argv that lists the tests without running them; nil where there is none
}

// Part is one project of a checkout.
type Part struct {
	Dir      string   // slash path below the root; "" is the root
	Language string   // "go", "node" …
	Tools    []string // what was recognised, and by which file: "jest (package.json)"
}

// Project is what was recognised in a checkout.
type Project struct {
	Language string // of all parts: "go, node"
	Root     string
	Parts    []Part
	Checks   []Check
	Notes    []string // what is missing, and how to get it
}

// ErrUnknown is returned for a checkout in which no known kind of project stands.
var ErrUnknown = errors.New("no project recognised")

// proposal is what a recogniser makes of one folder.
type proposal struct {
	language string // where it is a finer one than the recogniser's
	checks   []Check
	tools    []string
	notes    []string
	covers   func(dir string) bool // whether the checks take in the project in dir, a slash path below the folder; nil: none
	lintsAll bool                  // the linters take in every folder below
}

func (p *proposal) add(checks ...Check) { p.checks = append(p.checks, checks...) }
func (p *proposal) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}
func (p *proposal) tool(name, file string) { p.tools = append(p.tools, name+" ("+file+")") }
func (p *proposal) has(kind Kind) bool {
	return slices.ContainsFunc(p.checks, func(c Check) bool { return c.Kind == kind })
}
func everything(string) bool { return true }

type recogniser struct {
	language string
	markers  []string // files or patterns, any of which in a folder makes a project of it
	propose  func(f folder) proposal
}

// The order is that of the languages in [Project].
var recognisers = []recogniser{
	{"go", []string{"go.mod", "go.work"}, proposeGo},
	{"node", []string{"package.json"}, proposeNode},
	{"python", pythonMarkers, proposePython},
	{"rust", []string{"Cargo.toml"}, proposeRust},
	{"java", []string{"pom.xml"}, proposeMaven},
	{"gradle", gradleFiles, proposeGradle},
	{"ruby", rubyMarkers, proposeRuby},
	{"php", phpMarkers, proposePHP},
	{"dotnet", dotnetMarkers, proposeDotnet},
	{"c++", []string{"CMakeLists.txt"}, proposeCMake},
	{"meson", []string{"meson.build"}, proposeMeson},
	{"elixir", []string{"mix.exs"}, proposeElixir},
}

// makefile is asked where nothing else is known.
var makefile = recogniser{"make", makeFiles, proposeMake}

// Detect recognises the projects in the checkout root, down to three folders
// below it. look finds a program by name, as [os/exec.LookPath] does. The error
// wraps [ErrUnknown] when nothing is known.
func Detect(root string, look func(string) (string, error)) (Project, error) {
	w := walk{}
	w.visit(folder{root: root, look: look}, nil)
	if len(w.found) == 0 {
		return Project{}, fmt.Errorf("%w in %s: found no %s; give --test-cmd (and --test-report), or write a .supervise.yaml", ErrUnknown, root, strings.Join(markers(), ", "))
	}
	return w.project(root), nil
}

func markers() []string {
	var out []string
	for _, r := range recognisers {
		out = append(out, r.markers[0])
	}
	return append(out, "Makefile with a target test")
}

// Is reports whether a known kind of project stands in dir itself.
func Is(dir string) bool {
	f := folder{root: dir}
	if slices.ContainsFunc(recognisers, func(r recogniser) bool { return f.has(r.markers...) != "" }) {
		return true
	}
	return f.has(makefile.markers...) != "" && len(proposeMake(f).checks) > 0
}

// part is a project that was found, and who found it.
type part struct {
	proposal
	dir  string
	from string // the recogniser's language
}

// takesIn reports whether the checks of p run what stands in dir.
func (p part) takesIn(dir string) bool {
	return p.covers != nil && p.covers(strings.TrimPrefix(strings.TrimPrefix(dir, p.dir), "/"))
}

// project joins the parts.
func (w walk) project(root string) Project {
	out := Project{Root: root}
	var languages []string
	known := func(p part) bool { return len(p.checks) > 0 }
	if slices.ContainsFunc(w.found, known) {
		w.found = slices.DeleteFunc(w.found, func(p part) bool { return !known(p) })
	}
	for _, p := range w.found {
		out.Parts = append(out.Parts, Part{Dir: p.dir, Language: p.language, Tools: p.tools})
		languages = append(languages, p.language)
		for _, c := range p.checks {
			c.Dir = p.dir
			if len(w.found) > 1 && p.dir != "" {
				c.Name = p.dir + ": " + c.Name
			}
			out.Checks = append(out.Checks, c)
		}
		for _, n := range p.notes {
			if p.dir != "" {
				n = p.dir + ": " + n
			}
			out.Notes = append(out.Notes, n)
		}
	}
	out.Language = strings.Join(unique(languages), ", ")
	if !slices.ContainsFunc(out.Checks, func(c Check) bool { return c.Kind == Test }) {
		out.Notes = append(out.Notes, "no tests recognised: give --test-cmd (and --test-report), or write them into .supervise.yaml")
	}
	return out
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// join is the slash path of name in dir.
func join(dir, name string) string { return strings.TrimPrefix(path.Join(dir, name), "./") }
