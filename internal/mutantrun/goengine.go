package mutantrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/internal/measure"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/runner"
)

// goEngine runs tests on mutants that are compiled into one test binary for each package.
type goEngine struct {
	*Runner
	tests    []metric.Test
	command  goCommand
	dir      string // the folder of the engine: selector, binaries, what the tests reach
	files    map[string]*goSwitch
	mutants  map[int]*goSwitch // by number
	unbuilt  map[int]bool      // mutants that do not build
	packages []goPackage
	reached  map[goRoot]map[int]bool // by top-level test: the functions that it enters; nil: unknown
	written  bool                    // the copy has the switches
	plan     measure.Plan            // for the copy
}

// goPackage is a package with chosen tests.
type goPackage struct {
	path, dir string
	roots     []string // its top-level tests
}

// goRoot is a top-level test.
type goRoot struct{ pkg, name string }

// goCommand is what a go test command says about builds and runs.
type goCommand struct{ build, run []string }

// goTestFlags are the options of go test that the test binary gets. false: the engine sets it,
// or it does not matter for the results.
var goTestFlags = map[string]bool{
	"parallel": true, "short": true, "shuffle": true, "skip": true, "timeout": true, "cpu": true, "failfast": true, "fullpath": true,
	"v": false, "json": false, "run": false, "count": false, "vet": false, "cover": false, "coverprofile": false, "covermode": false, "coverpkg": false,
	"benchmem": false, "benchtime": false, "p": false,
}

// goUnsupported are the options that a run of the binary cannot reproduce.
var goUnsupported = map[string]bool{
	"exec": true, "c": true, "o": true, "n": true, "x": true, "C": true, "i": true, "args": true, "bench": true, "fuzz": true, "fuzztime": true, "list": true,
	"blockprofile": true, "cpuprofile": true, "memprofile": true, "mutexprofile": true, "trace": true, "outputdir": true, "overlay": true, "artifacts": true,
}

// goSwitches are the options without a value.
var goSwitches = map[string]bool{
	"short": true, "failfast": true, "fullpath": true, "v": true, "json": true, "cover": true, "benchmem": true, "race": true, "msan": true, "asan": true,
	"a": true, "linkshared": true, "modcacherw": true, "trimpath": true, "work": true,
}

// parseGoCommand reads a go test command. It is false if the command is another one, or has an
// option that cannot be reproduced.
func parseGoCommand(words []string) (goCommand, bool) {
	c := goCommand{}
	if len(words) == 3 && words[1] == "-c" && plainRE.MatchString(words[2]) {
		words = strings.Fields(words[2])
	}
	if len(words) < 2 || words[0] != "go" || words[1] != "test" {
		return c, false
	}
	for i := 2; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			continue // a package
		}
		name, _, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimLeft(words[i], "-"), "test."), "=")
		option := words[i : i+1]
		if !hasValue && !goSwitches[name] && i+1 < len(words) {
			option = words[i : i+2]
			i++
		}
		toBinary, isTestFlag := goTestFlags[name]
		switch {
		case goUnsupported[name]:
			return c, false
		case toBinary:
			c.run = append(append(c.run, "-test."+strings.TrimPrefix(strings.TrimLeft(option[0], "-"), "test.")), option[1:]...)
		case !isTestFlag:
			c.build = append(c.build, option...)
		}
	}
	return c, true
}

// plainRE matches a shell line of words that mean themselves.
var plainRE = regexp.MustCompile(`^[\w./:=,@%+ -]+$`)

// goScript is how the scripts of the engine start: GO… of go test.
const goScript = `#!/bin/sh
PATH="$(go env GOROOT)/bin:$PATH"
export PATH
`

// loadGo prepares Go mutants, if that is possible.
func (r *Runner) loadGo(ctx context.Context, mutants []Mutant) error {
	e := &goEngine{
		Runner: r, tests: r.passing, dir: r.scratch(),
		files: map[string]*goSwitch{}, mutants: map[int]*goSwitch{}, unbuilt: map[int]bool{}, reached: map[goRoot]map[int]bool{},
		plan: r.tree.CheckPlan(ctx, r.meter),
	}
	if runtime.GOOS == "windows" || len(r.passing) == 0 || !e.addMutants(mutants) || !e.findCommand() {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(e.dir, "reached"), 0o700); err != nil {
		return err
	}
	for _, step := range []func(context.Context) (bool, error){e.dropUnbuilt, e.build, e.findReached, e.isSound} {
		if ok, err := step(ctx); !ok || err != nil {
			return errors.Join(err, e.restore())
		}
	}
	r.engine = e
	return nil
}

// addMutants adds the mutants that a switch can hold. It is false if there are none.
func (e *goEngine) addMutants(mutants []Mutant) bool {
	for i, m := range mutants {
		if path.Ext(m.File) != ".go" {
			continue
		}
		s := e.files[m.File]
		if s == nil {
			var ok bool
			if s, ok = newGoSwitch(len(e.files), e.selector(), m); !ok {
				continue
			}
			e.files[m.File] = s
		}
		if s.add(i+1, m) {
			e.mutants[i+1] = s
		}
	}
	maps.DeleteFunc(e.files, func(_ string, s *goSwitch) bool { return len(s.mutants) == 0 })
	return len(e.mutants) > 0
}

func (e *goEngine) selector() string { return filepath.Join(e.dir, "selected") }

// findCommand finds the command of the only check that has tests. It is false if there are
// several, or if it cannot be reproduced.
func (e *goEngine) findCommand() bool {
	c, ok := e.onlyCheck()
	if !ok || c.Runner != "go" {
		return false
	}
	if e.command, ok = parseGoCommand(c.Command); !ok {
		return false
	}
	own, ok := parseGoCommand(append([]string{"go", "test"}, strings.Fields(e.meter.Getenv("GOFLAGS"))...))
	e.command.run = append(own.run, e.command.run...)
	byPackage := map[string]int{}
	for _, t := range e.tests {
		i, known := byPackage[t.Suite]
		if !known {
			i = len(e.packages)
			byPackage[t.Suite] = i
			e.packages = append(e.packages, goPackage{path: t.Suite})
		}
		root, _, _ := strings.Cut(t.Name, "/")
		ok = ok && wordRE.MatchString(root) && plainRE.MatchString(t.Suite)
		if !slices.Contains(e.packages[i].roots, root) {
			e.packages[i].roots = append(e.packages[i].roots, root)
		}
	}
	return ok
}

// wordRE matches the name of a function.
var wordRE = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_]*$`)

// run runs a script of the engine in place of the tests' command.
func (e *goEngine) run(ctx context.Context, script string, tests []metric.Test, limit time.Duration) (measure.TreeResults, error) {
	if err := e.writeScratch(map[string][]byte{"run": []byte(goScript + script)}); err != nil {
		return measure.TreeResults{}, err
	}
	adapt := func(c measure.Check) (measure.Check, bool) {
		c.PlannedID, c.Command, c.Reports, c.Stderr = c.ID(), []string{"/bin/sh", filepath.Join(e.dir, "run")}, nil, false
		return c, true
	}
	return e.meter.RunInTree(ctx, measure.TreeRun{Plan: e.plan, Tests: tests, Full: len(tests) > measure.MaxSelected, NoRetry: true, Limit: e.limit(limit), Adapt: adapt})
}

// output returns what a script wrote into a file of the engine.
func (e *goEngine) output(name string) string {
	text, err := projectfile.Read(filepath.Join(e.dir, name), projectfile.Source)
	if err != nil {
		return "" // the script did not get there
	}
	return string(text)
}

func (e *goEngine) path(name string) string { return runner.ShellQuote(filepath.Join(e.dir, name)) }

// write writes the switches into the copy; with named, as [goSwitch.text] says.
func (e *goEngine) write(named bool) error {
	e.written = true
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if err := e.writeFile(e.files[name].origin, e.files[name].text(named)); err != nil {
			return err
		}
	}
	return e.choose("0")
}

// restore restores the files of the copy.
func (e *goEngine) restore() error {
	if !e.written {
		return nil
	}
	e.written = false
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if err := e.writeFile(e.files[name].origin, e.files[name].src); err != nil {
			return err
		}
	}
	return nil
}

// choose selects a mutant for the processes that start from now on.
func (e *goEngine) choose(what string) error { return os.WriteFile(e.selector(), []byte(what), 0o600) }

// mutantFileRE matches the names of [mutantFile] in the messages of the compiler.
var mutantFileRE = regexp.MustCompile(`(?m)^\S*supervise_mutant_(\d+)\.go:`)

// maxBuilds limits how often the mutants are compiled without those that do not build.
const maxBuilds = 5

// dropUnbuilt compiles the packages with mutants until all mutants that are left build. It is
// false if they do not.
func (e *goEngine) dropUnbuilt(ctx context.Context) (bool, error) {
	dirs := map[string]bool{}
	for name := range e.files {
		dirs[filepath.Join(e.tree.Path, filepath.FromSlash(path.Dir(name)))] = true
	}
	words := slices.Concat([]string{"go", "list", "-export", "-f={{.ImportPath}}", "-gcflags=-e"}, e.command.build, slices.Sorted(maps.Keys(dirs)))
	script := fmt.Sprintf("rm -f %[2]s; %[1]s >%[2]s 2>&1 && echo done >%[3]s\n", runner.ShellQuote(words...), e.path("errors"), e.path("built"))
	for range maxBuilds {
		if err := e.write(true); err != nil {
			return false, err
		}
		if _, err := e.run(ctx, script, e.tests, 0); err != nil || e.output("built") != "" {
			return err == nil, err
		}
		dropped := false
		for _, m := range mutantFileRE.FindAllStringSubmatch(e.output("errors"), -1) {
			number, err := strconv.Atoi(m[1])
			s := e.mutants[number]
			if err != nil || s == nil {
				continue
			}
			e.unbuilt[number], dropped = s.inline[number], true
			delete(s.mutants, number)
			delete(e.mutants, number)
		}
		if !dropped || len(e.mutants) == 0 {
			return false, nil
		}
	}
	return false, nil
}

// build builds the test binaries.
func (e *goEngine) build(ctx context.Context) (bool, error) {
	if err := e.write(false); err != nil {
		return false, err
	}
	var paths []string
	for _, p := range e.packages {
		paths = append(paths, p.path)
	}
	words := append(append([]string{"go", "list", "-f={{.ImportPath}} {{.Dir}}"}, e.command.build...), paths...)
	var script strings.Builder
	fmt.Fprintf(&script, "%s >%s || exit 1\n", runner.ShellQuote(words...), e.path("dirs"))
	fmt.Fprintf(&script, "go tool -n test2json >%s || exit 1\n", e.path("test2json"))
	for i, p := range e.packages {
		words := append(append([]string{"go", "test", "-c", "-vet=off", "-o=" + e.binary(i)}, e.command.build...), p.path)
		fmt.Fprintf(&script, "%s || exit 1\n", runner.ShellQuote(words...))
	}
	fmt.Fprintf(&script, "echo done >%s\n", e.path("linked"))
	if _, err := e.run(ctx, script.String(), e.tests, 0); err != nil || e.output("linked") == "" {
		return false, err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(e.output("dirs")) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[name] = dir
	}
	for i, p := range e.packages {
		if e.packages[i].dir = dirs[p.path]; dirs[p.path] == "" {
			return false, nil
		}
	}
	return true, nil
}

func (e *goEngine) binary(i int) string { return filepath.Join(e.dir, strconv.Itoa(i)+".test") }

// testWords are the words that run tests of a package by its binary.
func (e *goEngine) testWords(i int, roots ...string) string {
	timeout := "-test.timeout=10m0s" // of go test
	words := append([]string{e.binary(i), "-test.paniconexit0", timeout, "-test.run=^(" + strings.Join(roots, "|") + ")$"}, e.command.run...)
	return runner.ShellQuote(words...)
}

// findReached runs every test in a separate process, and records the functions that it enters.
func (e *goEngine) findReached(ctx context.Context) (bool, error) {
	var script strings.Builder
	var roots []goRoot
	for i, p := range e.packages {
		fmt.Fprintf(&script, "cd %s || exit 1\n", runner.ShellQuote(p.dir))
		for _, root := range p.roots {
			name := e.path("reached/" + strconv.Itoa(len(roots)))
			fmt.Fprintf(&script, "printf %%s %s >%s; %s >/dev/null 2>&1 && echo passed >>%s\n",
				runner.ShellQuote("-1 "+filepath.Join(e.dir, "reached", strconv.Itoa(len(roots)))), runner.ShellQuote(e.selector()), e.testWords(i, root), name)
			roots = append(roots, goRoot{p.path, root})
		}
	}
	if _, err := e.run(ctx, script.String(), e.tests, e.reachLimit(len(e.mutants))); err != nil {
		return false, err
	}
	for i, root := range roots {
		functions, passed := strings.CutSuffix(e.output("reached/"+strconv.Itoa(i)), "passed\n")
		if !passed {
			continue
		}
		e.reached[root] = map[int]bool{}
		for line := range strings.Lines(functions) {
			n, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				return false, nil // a test wrote there
			}
			e.reached[root][n] = true
		}
	}
	return true, nil
}

// isSound reports whether the tests pass with the switches. If all passed on their own, they do.
func (e *goEngine) isSound(ctx context.Context) (bool, error) {
	missing := slices.ContainsFunc(e.packages, func(p goPackage) bool {
		return slices.ContainsFunc(p.roots, func(root string) bool { return e.reached[goRoot{p.path, root}] == nil })
	})
	if !missing {
		return true, nil
	}
	ends, err := e.runTests(ctx, 0, e.tests, 0)
	for _, t := range e.tests {
		if ends.ByTest[t.ID].Test.Status != metric.Passed {
			return false, err
		}
	}
	return err == nil, err
}

func (e *goEngine) isUnbuilt(number int) bool { return e.unbuilt[number] }

func (e *goEngine) isTogether(number int) bool { return e.mutants[number] != nil }

func (e *goEngine) runMutant(ctx context.Context, number int, tests []metric.Test) (Result, bool, error) {
	if definite, failed := e.unbuilt[number]; failed {
		return Result{Unbuilt: true}, definite, nil
	}
	if e.mutants[number] == nil {
		return Result{}, false, nil
	}
	if !e.written {
		if err := e.write(false); err != nil {
			return Result{}, false, err
		}
	}
	tests = e.reaching(number, tests)
	if len(tests) == 0 {
		return Result{Killers: map[metric.ID]bool{}}, true, nil
	}
	took := time.Duration(0)
	for _, t := range tests {
		took += e.durations[t.ID]
	}
	result, err := e.runTimed(&took, switchedSlack, func(mutated bool, limit time.Duration) (measure.TreeResults, error) {
		selected := number
		if !mutated {
			selected = 0
		}
		return e.runTests(ctx, selected, tests, limit)
	})
	result.Ran = tests
	return result, true, err
}

// reaching returns the tests that may enter the function of a mutant. A test that fails alone
// needs others of its package.
func (e *goEngine) reaching(number int, tests []metric.Test) (out []metric.Test) {
	s := e.mutants[number]
	function := s.functionNumber(s.functionOf(s.mutants[number]))
	for _, p := range e.packages {
		all := slices.ContainsFunc(p.roots, func(root string) bool { return e.reached[goRoot{p.path, root}] == nil })
		for _, t := range tests {
			root, _, _ := strings.Cut(t.Name, "/")
			if t.Suite == p.path && (all || e.reached[goRoot{p.path, root}][function]) {
				out = append(out, t)
			}
		}
	}
	return out
}

// runTests runs tests on a mutant, or with 0 on none.
func (e *goEngine) runTests(ctx context.Context, number int, tests []metric.Test, limit time.Duration) (measure.TreeResults, error) {
	if err := e.choose(strconv.Itoa(number)); err != nil {
		return measure.TreeResults{}, err
	}
	var script strings.Builder
	fmt.Fprintf(&script, "status=0\n")
	for i, p := range e.packages {
		var roots []string
		for _, t := range tests {
			root, _, _ := strings.Cut(t.Name, "/")
			if t.Suite == p.path && !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
		}
		if len(roots) == 0 {
			continue
		}
		words, next := e.testWords(i, roots...)+" -test.v=test2json", "status=1"
		if e.FirstKiller {
			words, next = words+" -test.failfast", "exit 1"
		}
		fmt.Fprintf(&script, "cd %s || exit 1\n\"$(cat %s)\" -t -p %s %s || %s\n", runner.ShellQuote(p.dir), e.path("test2json"), runner.ShellQuote(p.path), words, next)
	}
	script.WriteString("exit $status\n")
	return e.run(ctx, script.String(), tests, limit)
}
