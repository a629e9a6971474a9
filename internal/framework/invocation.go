package framework

import (
	"slices"
	"strings"
	"sync"
)

// Purpose is what a command does for the project.
type Purpose uint8

// The purposes of a command.
const (
	Unknown Purpose = iota
	RunsTests
	RunsLint // linters, types, formatting, coverage that must be reached
)

// Invocation is a command that tests or lints.
type Invocation struct {
	Name      string // the program and what it is to do: "cargo nextest run"
	Purpose   Purpose
	Framework *Framework // nil for a linter, and for a script or target of the project
	Args      []string   // the words that follow

	// index has the options of the program by their names.
	index index
}

// InvocationOf reads a command that tests or lints. It is false for another command. The first word
// is the name of a program, without folder and extension. The words are compared with the calls of
// frameworks first, then with those of linters and of task runners.
func InvocationOf(words []string) (Invocation, bool) {
	if len(words) == 0 {
		return Invocation{}, false
	}
	for _, call := range callsByProgram()[words[0]] {
		if args, ok := call.index.argsAfter(words[1:], call.words); ok {
			return Invocation{call.name, call.purpose, call.framework, args, call.index}, true
		}
	}
	return findTask(words)
}

// programCall is a command by which a row calls its program.
type programCall struct {
	name      string   // the complete command: "cargo nextest run"
	words     []string // the words after the program: "nextest", "run"
	purpose   Purpose
	framework *Framework // nil for a linter
	index     index      // the options of the program
}

// callsByProgram has the calls of frameworks and linters by their programs: those of cargo under
// "cargo". Calls with more words come first, so that "cargo nextest run" is tried before "cargo test".
var callsByProgram = sync.OnceValue(indexCalls)

func indexCalls() map[string][]programCall {
	out := map[string][]programCall{}
	add := func(commands []string, call programCall) {
		for _, command := range commands {
			words := strings.Fields(command)
			call.name, call.words = command, words[1:]
			out[words[0]] = append(out[words[0]], call)
		}
	}
	for i, f := range frameworks() {
		add(f.Programs, programCall{purpose: RunsTests, framework: &frameworks()[i], index: f.index})
	}
	for _, l := range linters {
		add(l.Programs, programCall{purpose: RunsLint, index: l.index})
	}
	for _, calls := range out {
		slices.SortStableFunc(calls, func(a, b programCall) int { return len(b.words) - len(a.words) })
	}
	return out
}

// Uses finds the options with an effect among the arguments: those of the program, and
// [commonOptions].
func (c Invocation) Uses() []Use {
	out := c.index.findUses(c.Args)
	for _, u := range common.findUses(c.Args) {
		if len(c.index.options(u.Name)) == 0 {
			out = append(out, u)
		}
	}
	return out
}

// Operands are the arguments up to "--" that are neither options nor their values.
func (c Invocation) Operands() []string {
	var out []string
	for _, a := range splitArguments(c.Args, c.index.takesValue) {
		if a.name == "--" {
			break
		}
		if !strings.HasPrefix(a.name, "-") {
			out = append(out, a.words...)
		}
	}
	return out
}

// task is a program that runs scripts, targets or tasks of the project, such as npm or make.
type task struct {
	program string
	// tests and lint are the names of tasks, separated by blanks. "run_test" is the words "run
	// test", and "*" is any task.
	tests, lint string
	bare        bool    // it tests if the call names no task
	like        string  // the name of the framework whose options it passes on; "" for none
	options     Options // those of the task runner, and those that it usually passes on

	index index
}

// tasks are the task runners, by their programs.
var tasks = sync.OnceValue(func() map[string]*task { return indexTasks(taskRows) })

// taskRows are the rows of the task runners.
var taskRows = []task{
	{program: "npm", tests: "test t tst run_test", lint: "run_check", options: Options{
		Focus: "-t= --testNamePattern= --testPathPattern= --testPathPatterns= --onlyChanged -o --changedSince= --findRelatedTests= --changed[=] --lastCommit --match= --runTestsByPath --onlyFailures " +
			"-g= --grep= -f --fgrep= --only-changed[=] --spec= --only= --last-failed --filter= --scope= -F=",
		Exclude:   "--testPathIgnorePatterns= --modulePathIgnorePatterns= --exclude= --ignore= -i --invert --grep-invert=",
		StopEarly: "--bail[=] --fail-fast --max-failures=",
		Update:    "-u",
		HideCode:  "--no-cov --exclude-files= --omit= --coverage=false --coveragePathIgnorePatterns= --ignore-filename-regex=",
	}},
	{program: "bun", tests: "run_test", like: "bun"},
	{program: "deno", tests: "task", like: "deno"},
	{program: "make", tests: "test tests check unittest ci spec", lint: "lint vet typecheck coverage fmt-check", options: Options{RunNone: "-n -m --just-print"}},
	{program: "ninja", tests: "test check", options: Options{RunNone: "-n"}},
	{program: "task", tests: "test check", lint: "lint", bare: true},
	{program: "rake", tests: "default", bare: true, like: "rspec"},
	{program: "grunt", tests: "test karma mocha", lint: "lint eslint jshint", bare: true},
	{program: "gulp", tests: "test", lint: "lint", bare: true},
	{program: "nx", tests: "test run-many affected", lint: "lint", options: Options{Focus: "--projects=", Exclude: "--exclude= --ignore="}},
	{program: "turbo", tests: "test run_test", lint: "lint run_lint", options: Options{Focus: "--filter= --scope= -F=", Exclude: "--exclude= --ignore="}},
	{program: "lerna", tests: "run_test", options: Options{Focus: "--filter= --scope= -F=", Exclude: "--exclude= --ignore="}},
	{program: "ng", tests: "test e2e", lint: "lint", options: Options{Focus: "--include=", Exclude: "--exclude="}},
	{program: "next", lint: "lint"},
	{program: "hatch", tests: "test run_test run_cov", lint: "fmt", like: "pytest"},
	{program: "tox", bare: true, tests: "*"},
	{program: "nox", bare: true, tests: "*"},
	{program: "setup.py", tests: "test pytest"},
	{program: "coverage", tests: "run", lint: "report", options: Options{HideCode: "--omit="}},
	{program: "composer", tests: "test tests run_test run-script_test phpunit check", lint: "lint cs psalm", like: "phpunit"},
	{program: "sbt", bare: true, like: "sbt"},
	{program: "mvn", lint: "checkstyle:check spotbugs:check pmd:check", like: "maven"},
	{program: "gradle", lint: "lint detekt ktlintCheck checkstyleMain spotlessCheck", like: "gradle"},
	{program: "dotnet", lint: "format build"},
	{program: "mix", lint: "credo dialyzer format compile"},
	{program: "pre-commit", lint: "run"},
	{program: "tst", bare: true, tests: "*"},
	{program: "c8", bare: true, tests: "*", options: Options{HideCode: "--exclude="}},
	{program: "nyc", bare: true, tests: "*", options: Options{HideCode: "--exclude="}},
}

// indexTasks returns the rows by their programs, with their options indexed. The options of the
// framework that a row is like are added.
func indexTasks(rows []task) map[string]*task {
	out := map[string]*task{}
	for _, t := range rows {
		o := t.options
		if t.like != "" {
			o = o.mergedWith(Named(t.like).Options)
		}
		t.index = o.index(CamelOK)
		out[t.program] = &t
	}
	return out
}

// findTask reads the call of a task runner: the words "npm run test" or "make lint". It is false if
// the first word is no task runner, or if the task neither tests nor lints.
func findTask(words []string) (Invocation, bool) {
	if tasks()[words[0]] == nil {
		return Invocation{}, false
	}
	t, args := tasks()[words[0]], words[1:]
	if t.bare && (len(args) == 0 || t.tests == "*") {
		return Invocation{t.program, RunsTests, nil, args, t.index}, true
	}

	for _, set := range []struct {
		names   string
		purpose Purpose
	}{{t.tests, RunsTests}, {t.lint, RunsLint}} {
		for _, name := range split(set.names) {
			want := strings.Split(name, "_")
			if args, ok := t.index.argsAfter(args, want); ok {
				return Invocation{strings.Join(slices.Concat(words[:1], want), " "), set.purpose, nil, args, t.index}, true
			}
		}
	}
	return Invocation{}, false
}

// PackageScript returns the call of a script of package.json that tests or lints.
func PackageScript(name string, p Purpose, args []string) Invocation {
	c := Invocation{Name: "npm run " + name, Purpose: p, Args: args, index: tasks()["npm"].index}
	if p == RunsLint {
		c.index = lintScript
	}
	return c
}

// lintScript has the options of most linters.
var lintScript = Options{Allow: commonAllow}.index(Plain)

// KnowsProgram reports whether a program can test or lint.
func KnowsProgram(program string) bool {
	return len(callsByProgram()[program]) > 0 || tasks()[program] != nil
}
