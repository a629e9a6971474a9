package project

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// nodeRunner is a test framework for Node.
type nodeRunner struct {
	name     string
	program  string
	sub      string   // the subcommand that tests
	packages []string // any of which the project depends on
	configs  []string
	drop     map[string]int // options of the script that do not belong into a single, whole, uncoloured run
	check    func(n node, c call) Check
}

var nodeRunners = []nodeRunner{
	{
		"jest", "jest", "", []string{"jest"}, []string{"jest.config.*"},
		jestDrop, func(n node, c call) Check { return n.jest(n.exec("jest"), c) },
	},
	{
		"jest", "react-scripts", "test", []string{"react-scripts"}, nil,
		jestDrop, func(n node, c call) Check { return n.jest(n.exec("react-scripts"), c) },
	},
	{"vitest", "vitest", "", []string{"vitest"}, []string{"vitest.config.*", "vitest.workspace.*"}, vitestDrop, node.vitest},
	{"mocha", "mocha", "", []string{"mocha"}, []string{".mocharc.*"}, mochaDrop, node.mocha},
	{"playwright", "playwright", "test", []string{"@playwright/test"}, []string{"playwright.config.*"}, map[string]int{"--reporter": 1, "--ui": 0, "--headed": 0, "--debug": 0, "-x": 0, "--max-failures": 1, "-u": 0, "--update-snapshots": 0, "--only-changed": 0, "--last-failed": 0}, node.playwright},
	{"node", "node", "--test", nil, nil, nodeDrop, node.nodeTest},
	{"node", "tsx", "--test", nil, nil, nodeDrop, node.nodeTest},
	{"", "ava", "", []string{"ava"}, []string{"ava.config.*"}, map[string]int{"--tap": 0, "-t": 0, "--watch": 0, "-w": 0, "--verbose": 0, "-v": 0, "--fail-fast": 0, "-u": 0}, func(n node, c call) Check {
		return Check{Name: "ava", Command: n.exec("ava", with(c.args, "--tap")...)}
	}},
	{"", "tape", "", []string{"tape"}, nil, nil, func(n node, c call) Check {
		return Check{Name: "tape", Command: n.exec("tape", c.args...)}
	}},
	{"", "bun", "test", nil, nil, map[string]int{"--watch": 0, "--coverage": 0, "--bail": 0, "--reporter": 1, "--reporter-outfile": 1, "-u": 0, "--update-snapshots": 0}, node.bunTest},
}

var (
	jestDrop = map[string]int{
		"--watch": 0, "--watchAll": 0, "--coverage": 0, "--collectCoverage": 0, "--coverageDirectory": 1, "--coverageReporters": 1,
		"--json": 0, "--outputFile": 1, "--bail": 0, "-b": 0, "--ci": 0, "--colors": 0, "--color": 0, "-o": 0, "--onlyChanged": 0,
		"--changedSince": 1, "--lastCommit": 0, "-f": 0, "--onlyFailures": 0, "-u": 0, "--updateSnapshot": 0, "--notify": 0, "-t": 1,
	}
	vitestDrop = map[string]int{
		"run": 0, "watch": 0, "dev": 0, "--watch": 0, "-w": 0, "--run": 0, "--ui": 0, "--open": 0, "--coverage": 0, "--coverage.enabled": 0,
		"--reporter": 1, "--outputFile": 1, "-u": 0, "--update": 0, "--bail": 1, "--changed": 0, "--silent": 0, "--color": 0,
	}
	mochaDrop = map[string]int{
		"--watch": 0, "-w": 0, "--reporter": 1, "-R": 1, "--reporter-option": 1, "--reporter-options": 1, "-O": 1,
		"--bail": 0, "-b": 0, "--colors": 0, "--color": 0, "-c": 0, "-C": 0,
	}
	nodeDrop = map[string]int{
		"--test": 0, "--watch": 0, "--test-reporter": 1, "--test-reporter-destination": 1, "--experimental-test-coverage": 0,
		"--test-update-snapshots": 0,
	}
)

// tests proposes every framework that the test script runs. Where the script
// tells none, a configuration file or a dependency does, except in the root of a
// workspace: there a dependency may be the members' own.
func (n node) tests(p *proposal) {
	if n.scripted(p) {
		return
	}
	script := n.scripts["test"]
	delegating := delegated(n.parts)
	for _, r := range nodeRunners {
		config := n.has(r.configs...)
		if config == "" && n.keyed(r) {
			config = "package.json"
		}
		if pkg := n.depends(r.packages...); config == "" && pkg != "" && len(n.workspaces) == 0 {
			config = "package.json"
		}
		if config == "" || delegating || (config == "package.json" && script != "" && !placeholder(script)) {
			continue
		}
		c := call{program: r.program}
		if r.sub != "" {
			c.args = []string{r.sub}
		}
		p.tool(r.program, config)
		p.add(n.test(r, c))
		return
	}
	switch {
	case delegating && len(n.workspaces) > 0: // each member is a project of its own
	case script != "" && !placeholder(script):
		p.tool("test script", "package.json")
		p.add(Check{Kind: Test, Name: n.manager.name + " test", Command: n.script("test"), Stderr: true})
	case n.dir == "" && len(n.workspaces) == 0 && len(n.deps) > 0:
		p.note("no test framework recognised in package.json: add jest, vitest, mocha or a script test")
	}
}

func placeholder(script string) bool { return strings.Contains(script, "no test specified") }

// keyed reports whether package.json configures the framework.
func (n node) keyed(r nodeRunner) bool {
	_, ok := n.keys[r.program]
	return ok && slices.Contains([]string{"jest", "mocha", "ava"}, r.program)
}

// testScripts are looked at in this order; the first that runs a framework counts.
var testScripts = []string{"test", "test:ci", "test:unit", "tests", "unit"}

// scripted proposes what the test script runs, in its order.
func (n node) scripted(p *proposal) bool {
	for _, name := range testScripts {
		parts := n.flatten(name, 0)
		var before []segment
		for i, s := range parts {
			r, c, ok := runnerOf(s)
			if ok && !s.plain {
				if i == len(parts)-1 && n.appended(name, r, c, p) {
					return true
				}
				ok = false
			}
			if !ok {
				before = append(before, s)
				continue
			}
			n.prepare(before, p)
			before = nil
			p.tool(r.program, "script "+name+" in package.json")
			p.add(n.test(r, c))
		}
		if p.has(Test) {
			return true
		}
	}
	return false
}

// appended proposes the script itself, with the framework's options after it:
// for a script that only a shell understands, and that ends with a framework
// which takes options anywhere.
func (n node) appended(script string, r nodeRunner, c call, p *proposal) bool {
	if !slices.Contains([]string{"jest", "vitest", "playwright"}, r.name) {
		return false
	}
	c.args, c.env = nil, nil
	check := r.check(n, c)
	check.Kind, check.Runner = Test, r.name
	options := slices.DeleteFunc(slices.Clone(check.Command), func(w string) bool { return !strings.HasPrefix(w, "--") || w == "--no-install" || w == "--silent" })
	check.Command = n.script(script)
	if n.manager.run[0] == "npm" {
		check.Command = append(check.Command, "--")
	}
	check.Command, check.Inventory = append(check.Command, options...), nil
	p.tool(r.program, "script "+script+" in package.json")
	p.add(check)
	return true
}

func runnerOf(s segment) (nodeRunner, call, bool) {
	for _, r := range nodeRunners {
		if calls := find([]segment{s}, r.program, r.sub); len(calls) > 0 {
			return r, calls[0], true
		}
	}
	return nodeRunner{}, call{}, false
}

// preparations are programs that a test script needs to have run before the
// tests: compilers and bundlers. Linters and cleaners are not.
var preparations = []string{"tsc", "babel", "swc", "esbuild", "rollup", "webpack", "vite", "tsup", "tsdown", "ncc", "parcel", "unbuild", "prisma", "tspc"}

// prepare proposes what the test script runs before the framework, as builds.
func (n node) prepare(before []segment, p *proposal) {
	builds := n.flatten("build", 0)
	for _, s := range before {
		if slices.ContainsFunc(builds, s.same) {
			if !p.has(Build) {
				n.runBuild(p)
			}
			continue
		}
		i := slices.IndexFunc(preparations, func(program string) bool { return len(find([]segment{s}, program, "")) > 0 })
		if i < 0 || !s.plain || slices.Contains(s.words, "--noEmit") {
			continue
		}
		c := find([]segment{s}, preparations[i], "")[0]
		p.add(Check{Kind: Build, Name: c.program, Command: n.exec(c.program, c.args...), Env: c.env, Stderr: true})
	}
}

func (s segment) same(other segment) bool { return slices.Equal(s.words, other.words) }

// test is the check of a framework, called as the script calls it.
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
			out[i] = quoted([]string{w})
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

// vitest measures no coverage of a failed run unless it is told to.
func (n node) vitest(c call) Check {
	report, cover := ReportDir+"/vitest.json", ReportDir+"/.coverage"
	check := Check{
		Name:      "vitest",
		Command:   n.exec("vitest", with(with([]string{"run"}, c.args...), "--reporter=json", "--outputFile="+report, "--bail=0")...),
		Reports:   []string{report},
		Inventory: n.exec("vitest", with(with([]string{"list"}, c.args...), "--json")...),
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
	check := Check{
		Name: "mocha", Reports: []string{report},
		Command:   with(base, "--reporter=json", "--reporter-option=output="+report, "--no-bail", "--no-color"),
		Inventory: n.exec(base[0], with(base[1:], "--dry-run", "--reporter=json", "--no-color")...),
	}
	return n.instrumented(check, c)
}

// instrumented runs a check, whose command is the bare program, under the
// project's tool for coverage: the one in the script, else a dependency.
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
	check.Command = n.exec(tool, with([]string{"--reporter=json", "--report-dir=" + cover, temp[tool] + ReportDir + "/.temp", "--check-coverage=false"}, check.Command...)...)
	check.Coverage, check.Reports = true, append(check.Reports, cover+"/coverage-final.json")
	return check
}

func (n node) playwright(c call) Check {
	report := ReportDir + "/playwright.json"
	return Check{
		Name:      "playwright",
		Command:   n.exec("playwright", with(c.args, "--reporter=json", "--output="+ReportDir+"/.artifacts", "--max-failures=0")...),
		Env:       []string{"PLAYWRIGHT_JSON_OUTPUT_NAME=" + report},
		Reports:   []string{report},
		Inventory: n.exec("playwright", with(c.args, "--list", "--reporter=json")...),
	}
}

// nodeTest puts its options first: what follows a file is the file's.
func (n node) nodeTest(c call) Check {
	report, cover := ReportDir+"/node.xml", ReportDir+"/lcov.info"
	words := []string{c.program, "--test", "--test-reporter=junit", "--test-reporter-destination=" + report}
	if n.dependsAbove("c8", "nyc") == "" && n.nodeMajor() >= 22 {
		words = append(words, "--experimental-test-coverage", "--test-reporter=lcov", "--test-reporter-destination="+cover)
		check := Check{Name: "node --test", Command: with(words, c.args...), Reports: []string{report, cover}, Coverage: true}
		if c.program != "node" {
			check.Command = n.exec(check.Command[0], check.Command[1:]...)
		}
		return check
	}
	return n.instrumented(Check{Name: "node --test", Command: with(words, c.args...), Reports: []string{report}}, c)
}

var major = regexp.MustCompile(`\d+`)

// nodeMajor is the lowest major version of Node that the project says it runs
// on, 0 where it says none.
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
