package project

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"supervise/internal/framework"
	"supervise/internal/project/internal/projectfs"
)

// nodeRunner is a test framework for Node, as a project calls it.
type nodeRunner struct {
	*framework.Framework
	program string
	sub     string                     // the subcommand that runs tests; "" if there is none
	check   func(n node, c call) Check // returns the check for a call in a script
}

// nodeChecks are the checks of frameworks for Node that need more than their rows say.
var nodeChecks = map[string]func(n node, c call) Check{
	"vitest": node.vitestCheck, "mocha": node.mochaCheck, "uvu": node.uvuCheck, "node": node.nodeTestCheck, "tsx": node.nodeTestCheck, "tap": node.tapCheck, "bun": node.bunCheck, "deno": node.denoCheck,
}

// nodeRunners are the frameworks for Node, in the order in which they are looked for.
var nodeRunners = sync.OnceValue(func() []nodeRunner {
	var out []nodeRunner
	for i, f := range framework.All() {
		if f.Language != "node" || f.Report.Format == "" {
			continue
		}
		r := nodeRunner{Framework: &framework.All()[i], check: nodeChecks[f.Name]}
		r.program, r.sub, _ = strings.Cut(f.Programs[0], " ")
		if r.check == nil {
			r.check = func(n node, c call) Check { return n.checkByRow(r, c) }
		}
		out = append(out, r)
	}
	return out
})

// proposeTests proposes every framework that the test script runs. If the script names none, a
// configuration file or a dependency decides, but not in the root of a workspace: there
// a dependency may be for the members.
func (n node) proposeTests(p *proposal) {
	if n.proposeScripted(p) {
		return
	}
	if r, wrapper := n.wrappedRunner(); wrapper != "" {
		p.addTool(r.program, "package.json")
		p.note("the script test of package.json runs %s, which is not known: %s runs instead, and may find other tests; give --test-cmd (and --test-report) with what %[1]s runs", wrapper, r.program)
		n.addTests(p, r, r.call())
		return
	}
	script := n.scripts["test"]
	delegating := isDelegated(n.parts)
	hasScript := script != "" && !isPlaceholder(script)
	for _, r := range nodeRunners() {
		config := n.configFileOf(r)
		if config == "" || delegating || hasScript && config == packageJSON { // the script decides what runs
			continue
		}
		p.addTool(r.program, config)
		n.addTests(p, r, r.call())
		return
	}
	n.proposeUnknown(p, delegating)
}

// call returns a call of the framework without arguments, for projects without a script that
// runs it.
func (r nodeRunner) call() call {
	c := call{program: r.program}
	if r.sub != "" {
		c.args = []string{r.sub}
	}
	return c
}

// wrappedRunner returns the framework that a test script runs through a program of another
// dependency, and that program. It is the only framework on which the project or its workspace
// depends.
func (n node) wrappedRunner() (nodeRunner, string) {
	if isDelegated(n.parts) || len(n.workspaces) > 0 || watchPattern.MatchString(n.scripts["test"]) {
		return nodeRunner{}, ""
	}
	wrapper := ""
	for _, s := range n.parts {
		at := slices.IndexFunc(s.words, func(w string) bool { return !areWrappers([]string{w}) })
		if at >= 0 && n.providesProgram(s.words[at]) && !isChecker(s.words[at]) {
			wrapper = s.words[at]
			break
		}
	}
	found := slices.DeleteFunc(slices.Clone(nodeRunners()), func(r nodeRunner) bool { return n.firstDependencyAbove(r.Packages...) == "" })
	if wrapper == "" || len(found) != 1 {
		return nodeRunner{}, ""
	}
	return found[0], wrapper
}

// nodeCheckers are other programs of test scripts that run no tests.
var nodeCheckers = []string{
	"standard", "ts-standard", "semistandard", "neostandard", "xo", "prettier", "jshint", "jscs", "tslint", "oxlint", "dprint", "tsd", "dtslint",
	"type-coverage", "attw", "publint", "knip", "depcheck", "size-limit", "remark", "markdownlint", "markdownlint-cli2", "cspell", "ls-engines",
	"rimraf", "del", "shx", "cpy", "mkdirp",
}

// isChecker reports whether a program of a script only compiles or lints.
func isChecker(program string) bool {
	return slices.Contains(preparations, program) || slices.Contains(nodeCheckers, program) || slices.ContainsFunc(nodeLinters, func(l nodeLinter) bool { return l.name == program })
}

// providesProgram reports whether a dependency has the name of the program, in any scope.
func (n node) providesProgram(program string) bool {
	return slices.ContainsFunc(n.Upwards(), func(up projectfs.Folder) bool {
		m, _ := readManifest(up)
		return slices.ContainsFunc(slices.Collect(maps.Keys(m.deps)), func(name string) bool {
			return name == program || strings.HasPrefix(name, "@") && strings.HasSuffix(name, "/"+program)
		})
	})
}

// addTests adds the check of a framework, and notes what coverage needs.
func (n node) addTests(p *proposal, r nodeRunner, c call) {
	check := n.testCheck(r, c)
	p.add(check)
	if r.Name == "lab" && slices.ContainsFunc(c.args, func(w string) bool { return slices.Contains([]string{"-L", "--lint", "-Y", "--types"}, w) }) {
		p.note("lab also lints or checks types in the test script, which is not measured: configure eslint or tsc, or give --lint-cmd")
	}
	if needs := r.Coverage.Needs; len(needs) > 0 && !check.Coverage {
		p.note("no coverage: add %s to the devDependencies", needs[0])
	}
}

// proposeUnknown proposes the test script if no framework is known.
func (n node) proposeUnknown(p *proposal, delegating bool) {
	script := n.scripts["test"]
	switch {
	case delegating && len(n.workspaces) > 0: // each member is its own project
	case endlessPattern.MatchString(script) && !endsPattern.MatchString(script) || watchPattern.MatchString(script):
		p.note("the script test of package.json waits for changes and does not end: give --test-cmd with a command that runs the tests once")
	case script != "" && !isPlaceholder(script):
		p.addTool("test script", "package.json")
		p.add(Check{Kind: Test, Name: n.manager.name + " test", Command: n.scriptCommand("test"), Stderr: true})
	case n.Dir == "" && len(n.workspaces) == 0 && len(n.deps) > 0:
		p.note("no test framework recognised in package.json: add jest, vitest, mocha or a script test")
	}
}

// configFileOf returns the file that shows that the project uses the framework, "" if none does.
func (n node) configFileOf(r nodeRunner) string {
	if file := firstConfig(n.Folder, r.ConfigFiles); file != "" {
		return file
	}
	if n.firstDependency(r.Packages...) != "" && len(n.workspaces) == 0 {
		return packageJSON
	}
	return ""
}

// isPlaceholder reports whether a script is the one that npm init writes.
func isPlaceholder(script string) bool { return strings.Contains(script, "no test specified") }

// testScripts are tried in this order; the first that runs a framework counts.
var testScripts = []string{"test", "test:ci", "test:unit", "tests", "unit"}

// proposeScripted proposes what the first test script with a framework runs, and reports whether
// there is one.
func (n node) proposeScripted(p *proposal) bool {
	return slices.ContainsFunc(testScripts, func(name string) bool { return n.proposeScript(name, p) })
}

// proposeScript proposes what a script runs, in its order, and reports whether it has tests.
func (n node) proposeScript(name string, p *proposal) bool {
	parts := n.flatten(name)
	var before []segment
	var unmeasured []string
	for i, s := range parts {
		r, c, ok := n.runnerOf(s)
		switch {
		case ok && s.plain:
			n.addPreparations(before, p)
			before = nil
			p.addTool(r.program, "script "+name+" in "+n.file)
			n.addTests(p, r, c)
		case ok && i == len(parts)-1 && n.addAppended(name, r, c, p):
			return true
		default:
			before, unmeasured = append(before, s), append(unmeasured, n.unmeasuredTests(s)...)
		}
	}

	if !p.hasKind(Test) {
		return false
	}
	if len(unmeasured) > 0 {
		p.note("the script %s of %s also runs %s: tests in it are not measured; give --test-cmd (and --test-report) for all", name, n.file, strings.Join(projectfs.Unique(unmeasured), ", "))
	}
	return true
}

// optionsAnywhere are the frameworks that take options after any word.
var optionsAnywhere = []string{"jest", "vitest", "playwright"}

// addAppended proposes the script itself, with the framework's options after it. It is for a script
// that needs a shell, and that ends with a framework that takes options anywhere.
func (n node) addAppended(script string, r nodeRunner, c call, p *proposal) bool {
	if !slices.Contains(optionsAnywhere, r.Runner()) {
		return false
	}
	c.args, c.env = nil, nil
	check := r.check(n, c)
	check.Kind, check.Runner = Test, r.Runner()
	options := slices.DeleteFunc(slices.Clone(check.Command), func(w string) bool { return !strings.HasPrefix(w, "--") || w == "--no-install" || w == "--silent" })
	check.Command = n.scriptCommand(script)
	if n.manager.run[0] == "npm" {
		check.Command = append(check.Command, "--")
	}
	check.Command, check.Inventory = append(check.Command, options...), nil
	p.addTool(r.program, "script "+script+" in package.json")
	p.add(check)
	return true
}

// runnerOf returns the framework that a command runs, and its call.
func (n node) runnerOf(s segment) (nodeRunner, call, bool) {
	for _, r := range nodeRunners() {
		if c, ok := s.callOf(r.program, r.sub); ok {
			return r, c, true
		}
	}
	return n.runnerOfFile(s)
}

// preparations are compilers and bundlers, which must run before the tests.
var preparations = []string{"tsc", "tshy", "babel", "swc", "esbuild", "rollup", "webpack", "vite", "tsup", "tsdown", "ncc", "parcel", "unbuild", "prisma", "tspc"}

// addPreparations proposes as builds what the test script runs before the framework.
func (n node) addPreparations(before []segment, p *proposal) {
	builds := n.flatten("build")
	for _, s := range before {
		if slices.ContainsFunc(builds, s.runsSame) {
			if !p.hasKind(Build) {
				n.addBuild(p)
			}
			continue
		}
		c, ok := s.preparation()
		if ok && s.plain && !slices.Contains(s.words, "--noEmit") {
			p.add(Check{Kind: Build, Name: c.program, Command: n.execCommand(c.program, c.args...), Env: c.env, Stderr: true})
		}
	}
}

// preparation returns the call of a compiler or bundler in the command.
func (s segment) preparation() (call, bool) {
	for _, program := range preparations {
		if c, ok := s.callOf(program, ""); ok {
			return c, true
		}
	}
	return call{}, false
}

// runsSame reports whether two commands have the same words.
func (s segment) runsSame(other segment) bool { return slices.Equal(s.words, other.words) }
