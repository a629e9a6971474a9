package detectedplan

import (
	"path"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/measure"
	"supervise/internal/project"
	"supervise/internal/shell"
	"supervise/runner"
)

// AddReport returns a check that a person gave, with the options for a report if it is a single call
// of a test framework that supervise knows, and names no runner and no report: "pytest -q" writes
// JUnit XML then. It returns other checks unchanged.
func AddReport(c measure.Check) measure.Check {
	if c.Kind != measure.Test || c.Runner != "" || len(c.Reports)+len(c.Inventory) > 0 {
		return c
	}
	words, line, ok := wordsOf(c.Command)
	if !ok {
		return c
	}
	call, at, ok := findCall(words)
	if !ok || requestsOutput(call) {
		return c
	}
	f := call.Framework
	add := f.Report.Args
	if f.Report.Format != "" && f.Operands == framework.Modules && f.Like == "" { // it prints the names if it is verbose
		add, c.Stderr = []string{"-v"}, true
	}
	if len(add) == 0 || len(f.Report.Needs) > 0 {
		return c
	}
	if line == "" {
		c.Command = slices.Insert(slices.Clone(c.Command), at, add...)
	} else {
		end := words[at-1].End
		for _, a := range add {
			line, end = line[:end]+" "+runner.ShellQuote(a)+line[end:], end+1+len(runner.ShellQuote(a))
		}
		c.Command = []string{c.Command[0], c.Command[1], line}
	}
	c.Runner, c.Reports, c.Files = f.Runner(), slices.Clone(f.Report.Files), project.ReporterFiles(f.Runner())
	c.Env = slices.Concat(c.Env, f.Report.Env)
	return c
}

// wordsOf returns the words of a command, and its line if a shell runs it. It is false for a line
// with more than a simple command.
func wordsOf(argv []string) (words []shell.Word, line string, ok bool) {
	if len(argv) == 3 && argv[1] == "-c" && path.Base(argv[0]) == "sh" {
		words, ok = shell.SimpleWords(argv[2])
		return words, argv[2], ok && !slices.ContainsFunc(words, func(w shell.Word) bool { return w.Redirect })
	}
	for _, a := range argv {
		words = append(words, shell.Word{Text: a})
	}
	return words, "", true
}

// starters are the words before a program that only start it, and pass on what follows.
var starters = strings.Fields("env time nice npx pnpx bunx yarn pnpm exec dlx run uv poetry pdm hatch rye pipenv bundle php python python3 -m")

// findCall returns the call of a framework, and the index of the word before which its options belong:
// after "test" in "go test". It is false if another program may read the words.
func findCall(words []shell.Word) (call framework.Invocation, at int, ok bool) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	for i, text := range texts {
		name := strings.TrimSuffix(path.Base(text), "w") // mvnw, gradlew
		for _, program := range []string{path.Base(text), name} {
			call, ok = framework.InvocationOf(slices.Concat([]string{program}, texts[i+1:]))
			if ok && call.Purpose == framework.RunsTests && call.Framework != nil {
				if program == "ruby" { // its own options precede the file, those of the tests follow it
					return call, len(texts), true
				}
				return call, len(texts) - len(call.Args), true
			}
		}
		if !shell.IsAssignment(text) && !slices.Contains(starters, path.Base(text)) {
			break
		}
	}
	return call, 0, false
}

// requestsOutput reports whether a call asks for a report or an output by itself, or passes words on
// to another program.
func requestsOutput(call framework.Invocation) bool {
	names := []string{"--", "-args"}
	for i, a := range call.Framework.Report.Args {
		if name, _, _ := strings.Cut(a, "="); i == 0 || strings.Contains(a, framework.ReportDir) {
			names = append(names, name)
		}
	}
	return slices.ContainsFunc(call.Args, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(names, name)
	})
}
