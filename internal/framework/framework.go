// Package framework has one row for each test framework and linter: how it is recognized, how it is
// called, and what its options do. The rows are data, which the other packages read.
//
// [Named] returns the row of a framework, and [InvocationOf] reads a command. A row fills in each
// [Capability], or gives the reason why the framework does not support it; a test checks that, and
// writes the table in docs/projects.md.
package framework

import (
	"cmp"
	"slices"
	"strings"
)

// Framework is one test framework.
type Framework struct {
	Name string // unique: "pytest"

	// Like is the name of the framework of which this one is a variant: phpunit for pest. Empty
	// fields of the row are filled from that one, whose name is also [Framework.Runner].
	Like string

	Language string // "python"

	// Programs are the commands that run tests: a program, and the words that must follow it, as
	// in "cargo nextest run". They are without words that start a program: npx, python -m.
	Programs []string

	Packages    []string // dependencies by which a project shows that it uses it
	ConfigFiles []string // patterns of its configuration files, relative to the project; "file#section" for a section or key

	Style    Style // how its options are written
	Options  Options
	Operands Operand // the meaning of its operands

	// Drop are options of a project's own call that are removed, since they end a run early or
	// change the report. They are written as in [Options].
	Drop []string

	// Keep are options of a project's own call that select tests, written as in [Options].
	Keep []string

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

	// Unsupported has the reason for each capability that the framework does not support.
	Unsupported map[Capability]string

	index index
}

// Operand is the kind of operands that a framework takes to select tests.
type Operand uint8

// The kinds of operands.
const (
	Files    Operand = iota // files or folders
	Packages                // packages, "./..." for all
	Names                   // tests
	Modules                 // modules with dots
	Projects                // project files
)

// Capability is a part of a row, which is filled in or has a reason why not.
type Capability string

// The capabilities.
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
)

// capability is a capability with a description of what a row fills in: "" for nothing.
type capability struct {
	name     Capability
	describe func(Framework) string
}

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
}

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
	for _, f := range frameworks {
		if f.Like == "" && len(f.Programs) > 0 && f.Unsupported[Reruns] != notMeasured {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

// All returns the rows, in the order of the languages. Callers must not change them.
func All() []Framework { return frameworks }

// Named returns the row with the name, nil if there is none.
func Named(name string) *Framework {
	if i, ok := frameworksByName[name]; ok {
		return &frameworks[i]
	}
	return nil
}

// argsAfter returns the words that follow the wanted ones, with the options between those.
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

// isSkippable reports whether a word may be between a program and its subcommand: options,
// +nightly of cargo, :module: of gradle, a clean before the tests.
func isSkippable(word string) bool {
	return strings.IndexAny(word, "-+:") == 0 || strings.Contains(word, "clean")
}

var (
	frameworks          = completeRows(slices.Concat(golang, node, python, rust, jvm, ruby, php, dotnet, native, others))
	frameworksByName    = indexByName(frameworks)
	frameworksByProgram = indexByProgram(frameworks, func(f Framework) []string { return f.Programs })
)

// completeRows fills in the empty fields of variants, and the reasons and indexes of all rows.
func completeRows(rows []Framework) []Framework {
	all := indexByName(rows)
	for i, f := range rows {
		if f.Like != "" {
			rows[i] = f.inheritFrom(rows[all[f.Like]])
		}
		rows[i].Unsupported = rows[i].unsupportedReasons()
		rows[i].index = rows[i].Options.index(rows[i].Style)
	}
	return rows
}

// unsupportedReasons are the reasons of the row and of its language.
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
}

const searched = "folders are searched in an order that options set"

func (f Framework) inheritFrom(base Framework) Framework {
	f.Language, f.Style = base.Language, base.Style
	f.Options, f.Operands = f.Options.mergedWith(base.Options), cmp.Or(f.Operands, base.Operands)
	if f.ConfigFiles == nil {
		f.ConfigFiles = base.ConfigFiles
	}
	if f.Rerun.Way == noWay {
		f.Rerun = base.Rerun
	}
	if f.List.Format == NoList {
		f.List = base.List
	}
	if f.Drop == nil {
		f.Drop = base.Drop
	}
	f.Report, f.Coverage, f.Affected, f.Mutants, f.Marks, f.Shadows, f.Conceal = base.Report, base.Coverage, base.Affected, base.Mutants, base.Marks, base.Shadows, base.Conceal
	f.Unsupported = f.ownReasons(base)
	return f
}

// ownReasons are the reasons of a variant: its own, and those for what it takes from another.
func (f Framework) ownReasons(base Framework) map[Capability]string {
	out := map[Capability]string{}
	for _, c := range capabilities {
		if why := cmp.Or(f.Unsupported[c.name], base.Unsupported[c.name]); why != "" && c.describe(f) == "" {
			out[c.name] = why
		}
	}
	return out
}

func indexByName(rows []Framework) map[string]int {
	out := map[string]int{}
	for i, f := range rows {
		out[f.Name] = i
	}
	return out
}

// callRow is one command that starts the program of a row.
type callRow struct {
	name  string   // "cargo nextest run"
	words []string // after the program
	row   int
}

type calls map[string][]callRow

// matching are the calls of the program in words, those with more words first.
func (c calls) matching(words []string) []callRow {
	if len(words) == 0 {
		return nil
	}
	return c[words[0]]
}

func indexByProgram[T any](rows []T, of func(T) []string) calls {
	out := calls{}
	for i, row := range rows {
		for _, call := range of(row) {
			words := strings.Fields(call)
			out[words[0]] = append(out[words[0]], callRow{call, words[1:], i})
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b callRow) int { return len(b.words) - len(a.words) })
	}
	return out
}

// split splits words at blanks.
func split(words string) []string { return strings.Fields(words) }
