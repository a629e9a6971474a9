package project

import (
	"maps"
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
	drop     map[string]int // options of the script that do not fit a single, complete, uncoloured run
	check    func(n node, c call) Check
}

var nodeRunners = []nodeRunner{
	{
		"jest", "jest", "",
		[]string{"jest"},
		[]string{"jest.config.*"},
		jestDrop, func(n node, c call) Check { return n.jest(n.exec("jest"), c) },
	},
	{
		"jest", "react-scripts", "test",
		[]string{"react-scripts"},
		nil,
		jestDrop, func(n node, c call) Check { return n.jest(n.exec("react-scripts"), c) },
	},
	{"vitest", "vitest", "", []string{"vitest"}, []string{"vitest.config.*", "vitest.workspace.*"}, vitestDrop, node.vitest},
	{"mocha", "mocha", "", []string{"mocha"}, []string{".mocharc.*"}, mochaDrop, node.mocha},
	{"lab", "lab", "", []string{"@hapi/lab", "lab"}, []string{".labrc.js"}, labDrop, node.lab},
	{"playwright", "playwright", "test", []string{"@playwright/test"}, []string{"playwright.config.*"}, map[string]int{"--reporter": 1, "--ui": 0, "--headed": 0, "--debug": 0, "-x": 0, "--max-failures": 1, "-u": 0, "--update-snapshots": 0, "--only-changed": 0, "--last-failed": 0}, node.playwright},
	{"jasmine", "jasmine", "", []string{"jasmine"}, []string{"spec/support/jasmine.*"}, map[string]int{"--reporter": 1, "--fail-fast": 0, "--no-color": 0, "--color": 0, "--verbose": 0}, node.jasmine},
	{"", "uvu", "", []string{"uvu"}, nil, map[string]int{"-b": 0, "--bail": 0, "-c": 0, "--color": 0}, node.uvu},
	{"", "borp", "", []string{"borp"}, []string{".borp.yaml", ".borp.yml"}, borpDrop, node.borp},
	{"node", "node", "--test", nil, nil, nodeDrop, node.nodeTest},
	{"node", "tsx", "--test", nil, nil, nodeDrop, node.nodeTest},
	{"", "ava", "", []string{"ava"}, []string{"ava.config.*"}, map[string]int{"--tap": 0, "-t": 0, "--watch": 0, "-w": 0, "--verbose": 0, "-v": 0, "--fail-fast": 0, "-u": 0}, func(n node, c call) Check {
		return n.instrumented(Check{Name: "ava", Command: with([]string{"ava"}, with(c.args, "--tap")...)}, c)
	}},
	{"", "tap", "", []string{"tap"}, []string{".taprc"}, map[string]int{
		"--reporter": 1, "-R": 1, "--bail": 0, "-b": 0, "--watch": 0, "-w": 0, "--snapshot": 0, "--check-coverage": 0, "--color": 0, "-c": 0, "--100": 0,
	}, node.tap},
	{"", "tape", "", []string{"tape"}, nil, nil, func(n node, c call) Check {
		return n.instrumented(Check{Name: "tape", Command: with([]string{"tape"}, c.args...)}, c)
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
	labDrop = map[string]int{
		"--reporter": 1, "-r": 1, "--output": 1, "-o": 1, "--coverage": 0, "-c": 0, "--threshold": 1, "-t": 1, "--bail": 0,
		"--lint": 0, "-L": 0, "--lint-fix": 0, "--lint-errors-threshold": 1, "--lint-warnings-threshold": 1, "--types": 0, "-Y": 0, "--types-test": 1,
		"--colors": 0, "-C": 0, "--verbose": 0, "-v": 0, "--dry": 0, "-d": 0, "--shuffle": 0, "--inspect": 0,
	}
	borpDrop = map[string]int{
		"--reporter": 1, "-r": 1, "--watch": 0, "-w": 0, "--coverage": 0, "-C": 0, "--check-coverage": 0, "--coverage-html": 0,
		"--lines": 1, "--branches": 1, "--functions": 1, "--statements": 1,
	}
	nodeDrop = map[string]int{
		"--test": 0, "--watch": 0, "--test-reporter": 1, "--test-reporter-destination": 1, "--experimental-test-coverage": 0,
		"--test-update-snapshots": 0,
	}
)

// tests proposes every framework that the test script runs. If the script names none, a
// configuration file or a dependency decides, but not in the root of a workspace: there
// a dependency may be for the members.
func (n node) tests(p *proposal) {
	if n.scripted(p) {
		return
	}
	if r, wrapper := n.wrapped(); wrapper != "" {
		p.tool(r.program, "package.json")
		p.note("the script test of package.json runs %s, which is not known: %s runs instead, and may find other tests; give --test-cmd (and --test-report) with what %[1]s runs", wrapper, r.program)
		n.propose(p, r, r.call())
		return
	}
	script := n.scripts["test"]
	delegating := delegated(n.parts)
	settled := delegating || script != "" && !placeholder(script) // the script in package.json decides what runs
	for _, r := range nodeRunners {
		config := n.configured(r)
		if config == "" || delegating || settled && config == "package.json" {
			continue
		}
		p.tool(r.program, config)
		n.propose(p, r, r.call())
		return
	}
	n.unrecognised(p, delegating)
}

// call is the framework as it is without a script.
func (r nodeRunner) call() call {
	c := call{program: r.program}
	if r.sub != "" {
		c.args = []string{r.sub}
	}
	return c
}

// wrapped returns the framework that a test script runs through a program of another
// dependency, and that program: the only framework that the project, or its workspace,
// depends on.
func (n node) wrapped() (nodeRunner, string) {
	if delegated(n.parts) || len(n.workspaces) > 0 || watches.MatchString(n.scripts["test"]) {
		return nodeRunner{}, ""
	}
	wrapper := ""
	for _, s := range n.parts {
		at := slices.IndexFunc(s.words, func(w string) bool { return !wraps([]string{w}) })
		if at >= 0 && n.provided(s.words[at]) && !checksOnly(s.words[at]) {
			wrapper = s.words[at]
			break
		}
	}
	found := slices.DeleteFunc(slices.Clone(nodeRunners), func(r nodeRunner) bool { return n.dependsAbove(r.packages...) == "" })
	if wrapper == "" || len(found) != 1 {
		return nodeRunner{}, ""
	}
	return found[0], wrapper
}

// nodeCheckers are other programs in test scripts that run no tests.
var nodeCheckers = []string{
	"standard", "ts-standard", "semistandard", "neostandard", "xo", "prettier", "jshint", "jscs", "tslint", "oxlint", "dprint", "tsd", "dtslint",
	"type-coverage", "attw", "publint", "knip", "depcheck", "size-limit", "remark", "markdownlint", "markdownlint-cli2", "cspell", "ls-engines",
	"rimraf", "del", "shx", "cpy", "mkdirp",
}

// checksOnly reports whether a program of a script compiles or lints, so that it tests nothing.
func checksOnly(program string) bool {
	return slices.Contains(preparations, program) || slices.Contains(nodeCheckers, program) || slices.ContainsFunc(nodeLinters, func(l nodeLinter) bool { return l.name == program })
}

// provided reports whether a dependency has the name of the program, in any scope.
func (n node) provided(program string) bool {
	return slices.ContainsFunc(n.upwards(), func(up folder) bool {
		m, err := readManifest(up)
		return err == nil && slices.ContainsFunc(slices.Collect(maps.Keys(m.deps)), func(name string) bool {
			return name == program || strings.HasPrefix(name, "@") && strings.HasSuffix(name, "/"+program)
		})
	})
}

// coverageOf are the dependencies that these frameworks need to measure coverage.
var coverageOf = map[string]string{"vitest": "@vitest/coverage-v8", "mocha": "c8"}

// propose adds the tests of a framework, and notes what coverage needs.
func (n node) propose(p *proposal, r nodeRunner, c call) {
	check := n.test(r, c)
	p.add(check)
	if r.name == "lab" && slices.ContainsFunc(c.args, func(w string) bool { return slices.Contains([]string{"-L", "--lint", "-Y", "--types"}, w) }) {
		p.note("lab also lints or checks types in the test script, which is not measured: configure eslint or tsc, or give --lint-cmd")
	}
	if need := coverageOf[r.program]; need != "" && !check.Coverage {
		p.note("no coverage: add %s to the devDependencies", need)
	}
}

// unrecognised proposes the test script if no framework is known.
func (n node) unrecognised(p *proposal, delegating bool) {
	script := n.scripts["test"]
	switch {
	case delegating && len(n.workspaces) > 0: // each member is its own project
	case endless.MatchString(script) && !ends.MatchString(script) || watches.MatchString(script):
		p.note("the script test of package.json waits for changes and does not end: give --test-cmd with a command that runs the tests once")
	case script != "" && !placeholder(script):
		p.tool("test script", "package.json")
		p.add(Check{Kind: Test, Name: n.manager.name + " test", Command: n.script("test"), Stderr: true})
	case n.dir == "" && len(n.workspaces) == 0 && len(n.deps) > 0:
		p.note("no test framework recognised in package.json: add jest, vitest, mocha or a script test")
	}
}

// configured returns the file that shows that the framework is used.
func (n node) configured(r nodeRunner) string {
	if config := n.has(r.configs...); config != "" {
		return config
	}
	if n.keyed(r) || n.depends(r.packages...) != "" && len(n.workspaces) == 0 {
		return "package.json"
	}
	return ""
}

func placeholder(script string) bool { return strings.Contains(script, "no test specified") }

// keyed reports whether package.json configures the framework.
func (n node) keyed(r nodeRunner) bool {
	_, ok := n.keys[r.program]
	return ok && slices.Contains([]string{"jest", "mocha", "ava"}, r.program)
}

// testScripts are tried in this order; the first that runs a framework counts.
var testScripts = []string{"test", "test:ci", "test:unit", "tests", "unit"}

// scripted proposes what the test script runs, in its order.
func (n node) scripted(p *proposal) bool {
	for _, name := range testScripts {
		parts := n.flatten(name)
		var before []segment
		var besides []string
		for i, s := range parts {
			r, c, ok := n.runnerOf(s)
			if ok && !s.plain {
				if i == len(parts)-1 && n.appended(name, r, c, p) {
					return true
				}
				ok = false
			}
			if !ok {
				before, besides = append(before, s), append(besides, n.unmeasured(s)...)
				continue
			}
			n.prepare(before, p)
			before = nil
			p.tool(r.program, "script "+name+" in package.json")
			n.propose(p, r, c)
		}
		if p.has(Test) {
			if len(besides) > 0 {
				p.note("the script %s of package.json also runs %s: tests in it are not measured; give --test-cmd (and --test-report) for all", name, strings.Join(unique(besides), ", "))
			}
			return true
		}
	}
	return false
}

// appended proposes the script itself, with the framework's options after it. This is
// for a script that only a shell understands, and that ends with a framework that takes
// options anywhere.
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

func (n node) runnerOf(s segment) (nodeRunner, call, bool) {
	for _, r := range nodeRunners {
		if calls := find([]segment{s}, r.program, r.sub); len(calls) > 0 {
			return r, calls[0], true
		}
	}
	return n.nodeFile(s)
}

// preparations are programs that tests need to have run before: compilers and bundlers,
// not linters and cleaners.
var preparations = []string{"tsc", "tshy", "babel", "swc", "esbuild", "rollup", "webpack", "vite", "tsup", "tsdown", "ncc", "parcel", "unbuild", "prisma", "tspc"}

// prepare proposes what the test script runs before the framework, as builds.
func (n node) prepare(before []segment, p *proposal) {
	builds := n.flatten("build")
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
