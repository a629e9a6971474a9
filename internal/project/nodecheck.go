package project

import (
	"maps"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/runner"
)

// test is the check of a framework, called as in the script.
func (n node) test(r nodeRunner, c call) Check {
	drop := maps.Clone(r.drop)
	c.args = without(c.args, drop)
	check := r.check(n, c)
	check.Kind, check.Runner, check.Env = Test, r.name, append(slices.Clone(c.env), check.Env...)
	if c.globs && r.program != "mocha" && r.program != "vitest" {
		check.Command = []string{"/bin/sh", "-c", unquotedGlobs(check.Command)}
	}
	return check
}

// unquotedGlobs joins words for the shell, which expands the patterns.
func unquotedGlobs(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !globWord.MatchString(w) {
			out[i] = runner.ShellQuoted(w)
		}
	}
	return strings.Join(out, " ")
}

var globWord = regexp.MustCompile(`^[\w@%+=:,./*?\[\]{}-]+$`)

func (n node) jest(start []string, c call) Check {
	report, cover := ReportDir+"/jest.json", ReportDir+"/.coverage"
	return Check{
		Name: "jest",
		Command: with(with(start, c.args...), "--ci", "--watchAll=false", "--bail=0", "--json", "--outputFile="+report,
			"--coverage", "--coverageReporters=json", "--coverageDirectory="+cover, "--coverageThreshold={}"),
		Reports: []string{report, cover + "/coverage-final.json"}, Coverage: true,
		Inventory: with(with(start, c.args...), "--listTests"),
	}
}

// vitest measures coverage of a failed run only with an option. Its second reporter is for who watches.
func (n node) vitest(c call) Check {
	report, cover := ReportDir+"/vitest.json", ReportDir+"/.coverage"
	check := Check{
		Name:      "vitest",
		Command:   n.exec("vitest", with(with([]string{"run"}, c.args...), "--reporter=json", "--reporter=default", "--outputFile="+report, "--bail=0")...),
		Reports:   []string{report},
		Inventory: n.exec("vitest", with(with([]string{"list"}, c.args...), "--json")...),
	}
	if major, minor := n.version("vitest"); major < 2 && major+minor > 0 {
		check.Inventory = nil // it lists tests since 2
	}
	provider := n.dependsAbove("@vitest/coverage-v8", "@vitest/coverage-istanbul")
	if provider == "" {
		return check
	}
	check.Command = append(check.Command, "--coverage.enabled", "--coverage.provider="+strings.TrimPrefix(provider, "@vitest/coverage-"),
		"--coverage.reporter=json", "--coverage.reportsDirectory="+cover, "--coverage.reportOnFailure",
		"--coverage.thresholds.lines=0", "--coverage.thresholds.functions=0", "--coverage.thresholds.branches=0", "--coverage.thresholds.statements=0")
	check.Coverage, check.Reports = true, append(check.Reports, cover+"/coverage-final.json")
	return check
}

func (n node) mocha(c call) Check {
	report := ReportDir + "/mocha.json"
	base := with([]string{"mocha"}, c.args...)
	if major, minor := n.version("mocha"); major > 0 && (major < 9 || major == 9 && minor < 2) {
		return n.oldMocha(base, major, c)
	}
	check := Check{
		Name: "mocha", Reports: []string{report},
		Command:   with(base, "--reporter=json", "--reporter-option=output="+report, "--no-bail", "--no-color"),
		Inventory: n.exec(base[0], with(base[1:], "--dry-run", "--reporter=json", "--no-color")...),
	}
	return n.instrumented(check, c)
}

// instrumented runs a check, whose command is the bare program, under the project's
// coverage tool: the one in the script, else a dependency.
func (n node) instrumented(check Check, c call) Check {
	cover := ReportDir + "/.coverage"
	temp := map[string]string{"c8": "--temp-directory=", "nyc": "--temp-dir="}
	tool := n.dependsAbove("c8", "nyc")
	if i := slices.IndexFunc(c.words, func(w string) bool { return temp[w] != "" }); i >= 0 {
		tool = c.words[i]
	}
	if tool == "" {
		if check.Command[0] != "node" {
			check.Command = n.exec(check.Command[0], check.Command[1:]...)
		}
		return check
	}
	options := with(n.measured(tool, c), "--reporter=json", "--report-dir="+cover, temp[tool]+ReportDir+"/.temp", "--check-coverage=false")
	check.Command = n.exec(tool, with(options, check.Command...)...)
	check.Coverage, check.Reports = true, append(check.Reports, cover+"/coverage-final.json")
	return check
}

// lab lints and checks types only where it is told to: what fails then is no test.
func (n node) lab(c call) Check {
	report, cover := ReportDir+"/lab.xml", ReportDir+"/lcov.info"
	return Check{
		Name:    "lab",
		Command: n.exec("lab", with(c.args, "-r", "console", "-o", "stdout", "-r", "junit", "-o", report, "--coverage", "-r", "lcov", "-o", cover)...),
		Reports: []string{report, cover}, Coverage: true,
	}
}

func (n node) playwright(c call) Check {
	report := ReportDir + "/playwright.json"
	return Check{
		Name:      "playwright",
		Command:   n.exec("playwright", with(c.args, "--reporter=json", "--output="+ReportDir+"/.artifacts", "--max-failures=0")...),
		Env:       []string{"PLAYWRIGHT_JSON_OUTPUT_NAME=" + report},
		Reports:   []string{report},
		Inventory: with([]string{"env", "-u", "PLAYWRIGHT_JSON_OUTPUT_NAME"}, n.exec("playwright", with(c.args, "--list", "--reporter=json")...)...),
	}
}

// nodeTest puts its options first: what follows a file belongs to the file.
func (n node) nodeTest(c call) Check {
	cover := ReportDir + "/lcov.info"
	check := reportedByNode(Check{Name: "node --test", Command: with([]string{c.program, "--test"}, nodeReporting...)})
	if n.dependsAbove("c8", "nyc") != "" || n.nodeMajor() < 22 {
		check.Command = append(check.Command, c.args...)
		return n.instrumented(check, c)
	}
	options := []string{"--experimental-test-coverage", "--test-reporter=lcov", "--test-reporter-destination=" + cover}
	check.Command = slices.Concat(check.Command, options, c.args)
	check.Reports, check.Coverage = append(check.Reports, cover), true
	if c.program != "node" {
		check.Command = n.exec(check.Command[0], check.Command[1:]...)
	}
	return check
}

// tap fails by default where the tests do not reach all lines; each version has its own
// word against it. Before 1 it has another one for its format.
func (n node) tap(c call) Check {
	version, minor := n.version("tap")
	if version == 0 && minor > 0 {
		return Check{Name: "tap", Command: n.exec("tap", with([]string{"--tap"}, c.args...)...)}
	}
	check := Check{Name: "tap", Command: n.exec("tap", with(c.args, "--reporter=tap")...)}
	switch {
	case version >= 18:
		check.Command = append(check.Command, "--allow-incomplete-coverage")
	case version >= 15:
		check.Command = append(check.Command, "--no-check-coverage")
	}
	return check
}

var major = regexp.MustCompile(`\d+`)

// nodeMajor is the lowest major version of Node that the project supports, 0 if
// unknown.
func (n node) nodeMajor() int {
	var engines map[string]string
	n.field("engines", &engines)
	for _, text := range []string{n.read(".nvmrc"), n.read(".node-version"), engines["node"]} {
		if m := major.FindString(text); m != "" && len(m) < 4 {
			v := 0
			for _, d := range m {
				v = v*10 + int(d-'0')
			}
			return v
		}
	}
	return 0
}

func (n node) bunTest(c call) Check {
	report, cover := ReportDir+"/bun.xml", ReportDir+"/.coverage"
	return Check{
		Name: "bun test", Coverage: true,
		Command: with(with([]string{"bun"}, c.args...), "--reporter=junit", "--reporter-outfile="+report,
			"--coverage", "--coverage-reporter=lcov", "--coverage-dir="+cover),
		Reports: []string{report, cover + "/lcov.info"},
	}
}
