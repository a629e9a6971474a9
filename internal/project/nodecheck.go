package project

import (
	"slices"
	"strconv"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/regexp"
	"supervise/runner"
)

// testCheck returns the check of a framework with the arguments of the script, without those that
// change its report. If the script has patterns that the framework does not expand, a shell runs
// the command.
func (n node) testCheck(r nodeRunner, c call) Check {
	c.args = framework.WithoutOptions(c.args, r.Drop)
	check := r.check(n, c)
	check.Kind, check.Runner, check.Env = Test, r.Runner(), append(slices.Clone(c.env), check.Env...)
	if c.globs && r.program != "mocha" && r.program != "vitest" {
		check.Command = []string{"/bin/sh", "-c", unquotedGlobs(check.Command)}
	}
	return check
}

// unquotedGlobs joins words to a shell command, without quotes around patterns so that the shell
// expands them.
func unquotedGlobs(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !globWordPattern.MatchString(w) {
			out[i] = runner.ShellQuote(w)
		}
	}
	return strings.Join(out, " ")
}

// globWordPattern matches a word that a shell does not change except for its patterns:
// test/**/*.spec.js.
var globWordPattern = regexp.MustCompile(`^[\w@%+=:,./*?\[\]{}-]+$`)

// checkByRow returns the check of a framework that needs nothing but the options of its row.
func (n node) checkByRow(r nodeRunner, c call) Check {
	check := rowCheck(r.Framework, c.args...)
	check.Name, check.Files, check.Inventory = r.Runner(), reporterFiles[r.Name], n.listCommand(r, c)
	switch {
	case len(r.Coverage.Needs) > 0:
		check.Command = withWords([]string{r.program}, check.Command...)
		return n.withCoverageTool(check, c)
	case len(r.Coverage.Args) > 0:
		check.cover(r.Framework)
	}
	check.Command = n.execCommand(r.program, check.Command...)
	return check
}

// listCommand returns the command that lists tests, nil if the framework cannot. It unsets
// variables that would make the framework write its report.
func (n node) listCommand(r nodeRunner, c call) []string {
	if len(r.List.Args) == 0 {
		return nil
	}
	words := n.execCommand(r.program, withWords(c.args, r.List.Args...)...)
	for _, v := range r.Report.Env {
		name, _, _ := strings.Cut(v, "=")
		words = withWords([]string{"env", "-u", name}, words...)
	}
	return words
}

// vitestCheck returns the check of Vitest, with coverage if the package of a provider, such as
// @vitest/coverage-v8, is a dependency.
func (n node) vitestCheck(c call) Check {
	row := framework.Named("vitest")
	check := rowCheck(row, n.execCommand(row.Name, withWords([]string{"run"}, c.args...)...)...)
	if major, minor := n.packageVersion(row.Name); major >= 2 || major+minor == 0 { // it lists tests since 2
		check.Inventory = n.execCommand(row.Name, slices.Concat([]string{"list"}, c.args, row.List.Args)...)
	}
	if provider := n.firstDependencyAbove(row.Coverage.Needs...); provider != "" {
		at := len(check.Command) + 1 // after the option that switches coverage on
		check.cover(row)
		check.Command = slices.Insert(check.Command, at, "--coverage.provider="+strings.TrimPrefix(provider, "@vitest/coverage-"))
	}
	return check
}

// mochaCheck returns the check of Mocha.
func (n node) mochaCheck(c call) Check {
	row := framework.Named("mocha")
	base := withWords([]string{row.Name}, c.args...)
	if major, minor := n.packageVersion(row.Name); major > 0 && (major < 9 || major == 9 && minor < 2) {
		return n.oldMochaCheck(base, major, c)
	}
	check := rowCheck(row, base...)
	check.Inventory = n.execCommand(base[0], withWords(base[1:], row.List.Args...)...)
	return n.withCoverageTool(check, c)
}

// withCoverageTool runs a check, whose command is the bare program, under the project's
// coverage tool: the one in the script, else a dependency.
func (n node) withCoverageTool(check Check, c call) Check {
	cover := ReportDir + "/.coverage"
	tool := n.firstDependencyAbove(istanbulTools...)
	if i := slices.IndexFunc(c.words, func(w string) bool { return slices.Contains(istanbulTools, w) }); i >= 0 {
		tool = c.words[i]
	}
	if tool == "" {
		if check.Command[0] != "node" {
			check.Command = n.execCommand(check.Command[0], check.Command[1:]...)
		}
		return check
	}
	options := withWords(n.coverageScope(tool, c), "--reporter=json", "--report-dir="+cover, framework.CoverageTools[tool].Temp+ReportDir+"/.temp", "--check-coverage=false")
	check.Command = n.execCommand(tool, withWords(options, check.Command...)...)
	check.Coverage, check.Reports = true, append(check.Reports, cover+"/coverage-final.json")
	return check
}

// nodeTestCheck returns the check of node --test. Its options come first, since Node passes the
// words after a file to the file. Node measures coverage itself from version 22 on, unless the
// project has another tool.
func (n node) nodeTestCheck(c call) Check {
	check := nodeCheck(c.program, "--test")
	check.Name = "node --test"
	if n.firstDependencyAbove(istanbulTools...) != "" || n.nodeMajor() < 22 {
		check.Command = append(check.Command, c.args...)
		return n.withCoverageTool(check, c)
	}
	check.cover(nodeOwn)
	check.Command = append(check.Command, c.args...)
	if c.program != nodeOwn.Name {
		check.Command = n.execCommand(check.Command[0], check.Command[1:]...)
	}
	return check
}

// tapCheck returns the check of node-tap. It turns off the limit of coverage, for which each major
// version has another option.
func (n node) tapCheck(c call) Check {
	version, minor := n.packageVersion("tap")
	if version == 0 && minor > 0 {
		return Check{Name: "tap", Command: n.execCommand("tap", withWords([]string{"--tap"}, c.args...)...)}
	}
	check := Check{Name: "tap", Command: n.execCommand("tap", withWords(c.args, "--reporter=tap")...)}
	switch {
	case version >= 18:
		check.Command = append(check.Command, "--allow-incomplete-coverage")
	case version >= 15:
		check.Command = append(check.Command, "--no-check-coverage")
	}
	return check
}

// firstNumberPattern matches the major version: 20 of ">=20.1" or "v20".
var firstNumberPattern = regexp.MustCompile(`\d+`)

// nodeMajor returns the lowest major version of Node that the project supports, 0 if unknown.
func (n node) nodeMajor() int {
	var engines map[string]string
	n.decode("engines", &engines)
	for _, text := range []string{n.Read(".nvmrc"), n.Read(".node-version"), engines["node"]} {
		if v, err := strconv.Atoi(firstNumberPattern.FindString(text)); err == nil && v < 1000 {
			return v
		}
	}
	return 0
}

// bunCheck returns the check of Bun. Bun lists tests by the report of a run that selects none,
// which it writes only to a file, so the command that lists them prints the file afterwards.
func (n node) bunCheck(c call) Check {
	row := framework.Named("bun")
	words := withWords([]string{row.Name}, c.args...)
	list := ReportDir + "/.list.xml"
	check := rowCheck(row, words...)
	check.Name = row.Programs[0]
	check.cover(row)
	check.Inventory = slices.Concat(
		[]string{"/bin/sh", "-c", `"$@" >/dev/null; status=$?; cat ` + runner.ShellQuote(list) + `; exit $status`, "sh"},
		words, row.List.Args, []string{"--reporter=junit", "--reporter-outfile=" + list})
	return check
}

// denoCheck returns the check of Deno. A second command writes the coverage, since Deno writes
// none after a failure.
func (n node) denoCheck(c call) Check {
	row := framework.Named("deno")
	words := withWords([]string{row.Name}, c.args...)
	data := strings.TrimPrefix(row.Coverage.Args[0], "--coverage=")
	script := `"$@"; status=$?; deno coverage --lcov --output=` + runner.ShellQuote(row.Coverage.Files[0]) + " " + runner.ShellQuote(data) + ` >/dev/null 2>&1; exit $status`
	check := rowCheck(row, slices.Concat([]string{"/bin/sh", "-c", script, "sh"}, words)...)
	check.cover(row)
	check.Name, check.Env, check.Inventory = row.Programs[0], []string{"NO_COLOR=1"}, withWords(words, row.List.Args...)
	return check
}
