// Package framework has one row for each test framework and linter: how it is recognized, how it is
// called, and what its options do. The rows are data, which the other packages read.
//
// The rows of test frameworks are in one file per language: golang.go, node.go, python.go and so
// on. Those of linters are in linter.go. [Framework] explains the fields of a row, and [Options]
// the notation in which a row writes options. At the start of the program, the rows of variants are
// completed, and all options and programs are indexed.
//
// [Named] returns the row of a framework, and [InvocationOf] reads a command. The files code.go,
// files.go and runtime.go have what the frameworks of a language share: expressions for the code of
// tests, and for the names of files.
//
// A row fills in each [Capability], or gives the reason why the framework does not support it; a
// test checks that, and writes the table in docs/projects.md.
package framework

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Framework is the row of one test framework. An empty field means that the framework does not have
// such a thing, or that it is not known.
type Framework struct {
	Name string // unique: "pytest"

	// Like is the name of the framework of which this one is a variant: phpunit for pest. Empty
	// fields of the row are filled from that one, whose name is also [Framework.Runner].
	Like string

	Language string // "python"

	// Programs are the commands that run tests: a program, and the words that must follow it, as
	// in "cargo nextest run". They are without words that start a program: npx, python -m.
	Programs []string

	Packages    []string // names of dependencies; a project that has one of them uses the framework
	ConfigFiles []string // patterns of its configuration files, relative to the project; "file#section" for a section or key

	Style    Style // how its options are written
	Options  Options
	Operands Operand // the meaning of its operands, which are the arguments that are not options

	// Drop are options of a project's own call that are removed, since they end a run early or
	// change the report. They are written as in [Options].
	Drop []string

	// Keep are options of a project's own call that select tests, written as in [Options].
	Keep []string

	// Report and Coverage are the reports of its tests and of the coverage, and the options that
	// request them.
	Report   Output
	Coverage Output

	Rerun    Rerun    // how it runs selected tests
	List     List     // how it lists its tests
	Affected Affected // how it runs the tests that a change affects

	Shadows      []string // names of its modules, which a file of the project could hide
	TestPackages []string // prefixes of installed packages that belong to it
	Mutants      Switch   // how mutants are switched while tests run
	Marks        []string // words with which code can find out that it is tested
	Conceal      Concealment
	Placeholders []Placeholder // cases of its reports that are not tests

	// Unsupported has the reasons why the framework does not support a capability, where those of its
	// language and the common ones are wrong; unsupportedReasons returns all.
	Unsupported map[Capability]string

	// index has Options by their names.
	index index
}

// Operand is the kind of operands that a framework takes to select tests.
type Operand uint8

// The kinds of operands. A framework takes operands of one kind.
const (
	Files    Operand = iota // files or folders
	Packages                // packages, "./..." for all
	Names                   // tests
	Modules                 // modules with dots
	Projects                // project files
)

// Capability is a part of a row, which is filled in or has a reason why not.
type Capability string

// The capabilities, with the fields of [Framework] that they are about if the name differs.
const (
	Call    Capability = "call"      // Programs
	Detect  Capability = "detection" // Packages, ConfigFiles
	Narrows Capability = "options"   // Options: all effects
	Reruns  Capability = "rerun"     // Rerun
	Lists   Capability = "list"      // List

	Reports    Capability = "report"
	Covers     Capability = "coverage"
	Affects    Capability = "affected tests"
	Shadowed   Capability = "shadowed names"
	Installs   Capability = "test packages"
	Switches   Capability = "mutants"
	Detectable Capability = "marks" // Marks
	Conceals   Capability = "concealed runs"
	StandsIn   Capability = "placeholders"
)

// capability describes, for the table in the documentation, what a row fills in for a [Capability].
type capability struct {
	name     Capability
	describe func(Framework) string // what the row has, as Markdown; "" if the row has nothing
}

// capabilities are the descriptions of all capabilities, in the order of the columns of the table.
var capabilities = []capability{
	{Call, func(f Framework) string { return inBackticks(f.Programs) }},
	{Detect, func(f Framework) string { return inBackticks(slices.Concat(f.Packages, f.ConfigFiles)) }},
	{Narrows, func(f Framework) string {
		if len(f.Options.missingEffects()) > 0 {
			return ""
		}
		return "yes"
	}},
	{Reports, func(f Framework) string { return f.Report.Format }},
	{Covers, func(f Framework) string { return f.Coverage.Format }},
	{Reruns, func(f Framework) string { return f.Rerun.Way.String() }},
	{Lists, func(f Framework) string {
		if f.List.Format == NoList {
			return ""
		}
		return "`" + strings.Join(f.List.Args, " ") + "`"
	}},
	{Affects, func(f Framework) string { return inBackticks(split(f.Affected.Since + " " + f.Affected.Files)) }},
	{Shadowed, func(f Framework) string { return inBackticks(f.Shadows) }},
	{Installs, func(f Framework) string { return inBackticks(f.TestPackages) }},
	{Switches, func(f Framework) string { return f.Mutants.String() }},
	{Detectable, func(f Framework) string { return inBackticks(f.Marks) }},
	{Conceals, func(f Framework) string { return f.Conceal.String() }},
	{StandsIn, describePlaceholders},
}

// inBackticks returns a list as Markdown: each element in backticks, separated by commas. It
// returns "" for an empty list.
func inBackticks(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "`" + strings.Join(list, "`, `") + "`"
}

// Runner is the name by which a check refers to the framework.
func (f *Framework) Runner() string {
	if f.Like != "" {
		return f.Like
	}
	return f.Name
}

// Runners are the names by which a check can refer to a framework, sorted. They are those of the
// frameworks that supervise measures.
func Runners() []string {
	var out []string
	for _, f := range frameworks() {
		if f.Like == "" && len(f.Programs) > 0 && f.unsupportedReasons()[Reruns] != notMeasured {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

// All returns the rows, in the order of the languages. Callers must not change them.
func All() []Framework { return frameworks() }

// Named returns the row with the name, nil if there is none.
func Named(name string) *Framework {
	if i, ok := frameworksByName()[name]; ok {
		return &frameworks()[i]
	}
	return nil
}

// argsAfter finds the wanted words at the start of a list of words, in order. It returns the words
// that follow them, preceded by the options that were between them: for "--verbose run --all" and
// the wanted word run it returns "--verbose --all". It is false if something else than an option is
// between the wanted words.
func (x index) argsAfter(words, wanted []string) ([]string, bool) {
	if len(wanted) == 0 {
		return words, true
	}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == wanted[0]:
			args, ok := x.argsAfter(words[i+1:], wanted[1:])
			return append(slices.Clone(words[:i]), args...), ok
		case !isSkippable(w):
			return nil, false
		case x.takesValue(w):
			i++
		}
	}
	return nil, false
}

// isSkippable reports whether a word may be between a program and its subcommand. Such words are
// options, +nightly of cargo, :module: of gradle, and tasks that clean up before the tests.
func isSkippable(word string) bool {
	return strings.IndexAny(word, "-+:") == 0 || strings.Contains(word, "clean")
}

var (
	// rows are all rows as they are written, and frameworks the same ones completed. They are
	// completed at the first use, because most commands need none. frameworksByName has the index of a
	// row by the name of the framework.
	rows             = slices.Concat(golang, node, python, rust, jvm, ruby, php, dotnet, native, others)
	frameworks       = sync.OnceValue(func() []Framework { return completeRows(slices.Clone(rows)) })
	frameworksByName = sync.OnceValue(func() map[string]int { return indexByName(rows) })
)

// completeRows fills in the empty fields of variants, and the option index of each row. It changes
// and returns rows.
func completeRows(rows []Framework) []Framework {
	all := indexByName(rows)
	for i, f := range rows {
		if f.Like != "" {
			rows[i] = f.inheritFrom(rows[all[f.Like]])
		}
		rows[i].index = rows[i].Options.index(rows[i].Style)
	}
	return rows
}

// unsupportedReasons returns the reason for each capability that the row does not have. The reason
// of the row itself has precedence over that of its language, and that over the common one.
func (f Framework) unsupportedReasons() map[Capability]string {
	out := map[Capability]string{}
	for _, c := range capabilities {
		own := f.Unsupported[c.name]
		general := cmp.Or(languageReasons[f.Language][c.name], commonReasons[c.name])
		isMeasured := f.Report.Format != ""

		switch {
		case own != "":
			out[c.name] = own
		case c.describe(f) != "":
		case !isMeasured:
			out[c.name] = notMeasured
		case general != "":
			out[c.name] = general
		}
	}
	return out
}

// languageReasons are reasons for the frameworks of a language, for which [commonReasons] are wrong.
var languageReasons = map[string]map[Capability]string{
	"go":    {Shadowed: "imports name a module", Installs: "part of Go, or in go.sum"},
	"node":  {Shadowed: "packages are found in node_modules", Installs: "part of the program"},
	"rust":  {Installs: "Cargo.lock has sums"},
	"ruby":  {Shadowed: searched},
	"perl":  {Shadowed: searched},
	"php":   {Shadowed: "classes are found by Composer"},
	"shell": {Shadowed: "has no modules"},

	"python": {Installs: "part of Python"},
}

// commonReasons are reasons for all frameworks whose row and language have no other ones.
var commonReasons = map[Capability]string{
	Shadowed: "is compiled with its dependencies",
	Installs: "installed packages of the language are not watched",
	Conceals: notBuilt,
	StandsIn: "such a case has no name, or that of its file or suite",
}

// searched is the reason why files cannot hide the modules of a framework whose language searches
// folders in an order that options set.
const searched = "folders are searched in an order that options set"

// inheritFrom returns the row of a variant with its empty fields filled in from base. How it reports,
// runs and lists tests, and what code can see of a test run, are always those of base.
func (f Framework) inheritFrom(base Framework) Framework {
	out := base
	out.Name, out.Like, out.Programs = f.Name, f.Like, f.Programs
	out.Packages, out.TestPackages = f.Packages, f.TestPackages
	out.Options, out.Operands = f.Options.mergedWith(base.Options), cmp.Or(f.Operands, base.Operands)
	if f.ConfigFiles != nil {
		out.ConfigFiles = f.ConfigFiles
	}
	if f.Drop != nil {
		out.Drop = f.Drop
	}
	out.Unsupported = f.Unsupported
	out.Unsupported = out.ownReasons(base)
	return out
}

// ownReasons returns the reasons of a variant and of its base for the capabilities that the variant
// does not have.
func (f Framework) ownReasons(base Framework) map[Capability]string {
	out := map[Capability]string{}
	for _, c := range capabilities {
		if why := cmp.Or(f.Unsupported[c.name], base.Unsupported[c.name]); why != "" && c.describe(f) == "" {
			out[c.name] = why
		}
	}
	return out
}

// indexByName returns the index of each row by its name.
func indexByName(rows []Framework) map[string]int {
	out := map[string]int{}
	for i, f := range rows {
		out[f.Name] = i
	}
	return out
}

// split splits words at blanks.
func split(words string) []string { return strings.Fields(words) }
