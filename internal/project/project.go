// Package project proposes how to build, test, cover and lint a checkout. It only reads files and
// never runs the project. [Detect] is its entry.
//
// Each language has a recognizer: a function from a read-only view of one folder to a proposal. Lock
// files decide the package manager; configuration files, scripts and dependencies decide the test
// framework, whose row in package framework has the options of the check. A linter is proposed only
// if the project configures it or depends on it. A checkout may have several projects; each is
// tested in its own folder.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
)

// ReportDir is a placeholder in commands, environments and report paths, see
// [framework.ReportDir].
const ReportDir = framework.ReportDir

// Kind is the purpose of a check.
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
	Name      string            // short, for progress lines: "pytest", or "web: jest" with several projects
	Dir       string            // slash path of the project's folder below the root, "" for the root: the command runs there, Reports are relative to it
	Command   []string          // argv
	Env       []string          // NAME=value added to the environment; may hold ReportDir
	Files     map[string]string // files written into the private folder before the command runs: name → text, which may contain ReportDir
	Reports   []string          // files or patterns that the command writes, "**" matches any folders; none: its output is the report
	Stderr    bool              // standard error is read together with the output
	Coverage  bool              // the reports hold coverage as well
	Runner    string            // the test framework, for running single tests again, or ""
	Inventory []string          // argv that lists the tests without running them; nil if there is none
	Implied   string            // SHA-256 of the package.json, in Dir, with which builds of the folder that succeed ran this check too; "" if none does
}

// Part is one project of a checkout.
type Part struct {
	Dir      string   // slash path below the root; "" is the root
	Language string   // "go", "node" …
	Tools    []string // the tools found, and the file that shows each: "jest (package.json)"
}

// Project is the result of [Detect].
type Project struct {
	Language string // of all parts: "go, node"
	Root     string
	Parts    []Part
	Checks   []Check
	Notes    []string // what is missing, and how to get it
	Blocked  error    // names a pipe, socket or device in the place of a file, for which tools may wait forever
}

// ErrUnknown is returned for a checkout without a known kind of project.
var ErrUnknown = errors.New("no project recognised")

// proposal is the result of a recognizer for one folder.
type proposal struct {
	language string // if it is more specific than the recognizer's
	checks   []Check
	tools    []string
	notes    []string
	untested string                // how to have its tests recognised, "" if they are
	covers   func(dir string) bool // whether the checks include the project in dir, a slash path below the folder; nil: none
	lintsAll bool                  // the linters cover every folder below
}

// The following methods add to a proposal. addTool adds a tool with the file that shows it.

func (p *proposal) add(checks ...Check) { p.checks = append(p.checks, checks...) }

func (p *proposal) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}
func (p *proposal) addTool(name, file string) { p.tools = append(p.tools, name+" ("+file+")") }
func (p *proposal) hasKind(kind Kind) bool {
	return slices.ContainsFunc(p.checks, func(c Check) bool { return c.Kind == kind })
}

// require notes a program that is not on PATH, with how to get it.
func (p *proposal) require(f projectfs.Folder, program, get string) {
	if !f.OnPath(program) {
		p.note("%s is not on PATH: %s", program, get)
	}
}

func coversEverything(string) bool { return true }

// rowCheck returns the check of the tests of a framework. The command is the words, followed by the
// options for the report in the framework's row.
func rowCheck(row *framework.Framework, words ...string) Check {
	return Check{
		Kind: Test, Name: row.Name, Runner: row.Runner(),
		Command: withWords(words, row.Report.Args...), Env: slices.Clone(row.Report.Env), Reports: slices.Clone(row.Report.Files),
	}
}

// cover adds the options for coverage in the framework's row to the check.
func (c *Check) cover(row *framework.Framework) {
	c.Command = append(c.Command, row.Coverage.Args...)
	c.Env = append(c.Env, row.Coverage.Env...)
	c.Reports = append(c.Reports, row.Coverage.Files...)
	c.Coverage = true
}

// withWords returns a command with words added; the base is not shared.
func withWords(base []string, words ...string) []string { return slices.Concat(base, words) }

// recognizer proposes checks for projects of one language.
type recognizer struct {
	language string
	markers  []string // files or patterns; any of them makes a folder a project
	propose  func(f projectfs.Folder) proposal
}

// recognizers are tried on each folder, in the order of the languages in [Project].
var recognizers = []recognizer{
	{"go", goTests.ConfigFiles, proposeGo},
	{"node", []string{packageJSON}, proposeNode},
	{"deno", denoMarkers, proposeDeno},
	{"python", pythonMarkers, proposePython},
	{"rust", cargoTests.ConfigFiles, proposeRust},
	{"java", maven.ConfigFiles, proposeMaven},
	{"gradle", gradle.ConfigFiles, proposeGradle},
	{"ruby", rubyMarkers, proposeRuby},
	{"php", phpMarkers, proposePHP},
	{"dotnet", dotnetMarkers, proposeDotnet},
	{"c++", []string{"CMakeLists.txt"}, proposeCMake},
	{"c++", meson.ConfigFiles, proposeMeson},
	{"elixir", mix.ConfigFiles, proposeElixir},
}

// makefile is used if nothing else is found.
var makefile = recognizer{"make", makeFiles, proposeMake}

// Detect recognizes the projects in the checkout root and in folders down to three levels below it.
// look finds a program by name, as [os/exec.LookPath] does. The error wraps [ErrUnknown] if there is
// no known project; then the result has only notes.
func Detect(root string, look func(string) (string, error)) (Project, error) {
	top, err := projectfs.Open(root, look)
	if err != nil {
		return Project{}, err
	}
	defer top.Close()
	var w walk
	w.visit(top, nil)
	missing := ""
	if len(w.found) == 0 {
		missing = w.findStrayTests(top)
	}
	if len(w.found) == 0 {
		missing = cmp.Or(top.TakeMistakes(), missing, describeUntested(top), "found no "+strings.Join(firstMarkers(), ", "))
		err := fmt.Errorf("%w in %s: %s; or give --test-cmd (and --test-report), or write a .supervise.yaml", ErrUnknown, root, missing)
		return Project{Notes: top.Notes(), Blocked: top.Blocked()}, err
	}
	p := w.joinParts(root)
	p.Notes, p.Blocked = slices.Concat(p.Notes, top.MissingSubmodules(), top.Notes()), top.Blocked()
	return p, nil
}

// describeUntested describes a project without anything to run. It is "" if there is none.
func describeUntested(f projectfs.Folder) string {
	for _, r := range recognizers {
		if f.IsReadable(r.markers...) {
			return "found " + f.First(r.markers...) + ", but no build, tests or linter to run"
		}
	}
	return ""
}

// firstMarkers returns the main file of each kind of project, for messages.
func firstMarkers() []string {
	var out []string
	for _, r := range recognizers {
		out = append(out, r.markers[0])
	}
	return append(out, "Makefile with a target test")
}

// IsProject reports whether dir itself has a known kind of project.
func IsProject(dir string) bool {
	f, err := projectfs.Open(dir, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.ContainsFunc(recognizers, func(r recognizer) bool { return f.First(r.markers...) != "" }) ||
		f.First(makefile.markers...) != "" && len(proposeMake(f).checks) > 0
}

// part is a project that was found.
type part struct {
	proposal
	dir  string
	from string // the language of its recognizer
}

// includes reports whether the checks of p include dir.
func (p part) includes(dir string) bool {
	return p.covers != nil && p.covers(strings.TrimPrefix(strings.TrimPrefix(dir, p.dir), "/"))
}

// inFolder returns a text about the part, after its folder unless that is the root.
func (p part) inFolder(text string) string { return strings.TrimPrefix(p.dir+": "+text, ": ") }

// joinParts returns the project with all parts that were found.
func (w walk) joinParts(root string) Project {
	out := Project{Root: root}
	var languages []string
	hasNoChecks := func(p part) bool { return len(p.checks) == 0 }
	if usable := slices.DeleteFunc(slices.Clone(w.found), hasNoChecks); len(usable) > 0 {
		w.found = usable
	}

	for _, p := range w.found {
		out.Parts = append(out.Parts, Part{Dir: p.dir, Language: p.language, Tools: p.tools})
		languages = append(languages, p.language)
		for _, c := range p.checks {
			c.Dir = p.dir
			if len(w.found) > 1 {
				c.Name = p.inFolder(c.Name)
			}
			out.Checks = append(out.Checks, c)
		}
		if p.untested != "" && !w.hasMakefile() {
			p.note("no tests recognised: %s", p.untested)
		}
		for _, n := range p.notes {
			out.Notes = append(out.Notes, p.inFolder(n))
		}
	}

	out.Language = strings.Join(projectfs.Unique(languages), ", ")
	if !slices.ContainsFunc(out.Checks, func(c Check) bool { return c.Kind == Test }) {
		out.Notes = append(out.Notes, "no tests recognised: give --test-cmd (and --test-report), or write them into .supervise.yaml")
	}
	return out
}

// hasMakefile reports whether a Makefile runs the tests.
func (w walk) hasMakefile() bool {
	return slices.ContainsFunc(w.found, func(p part) bool { return p.from == makefile.language })
}
