package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector/internal/definition"
	"supervise/detector/internal/glob"
	"supervise/metric"
	"supervise/source"
)

// Intent declares which changes to tests the user allows.
type Intent string

// The intents. An empty one is TestsFree.
const (
	TestsFree   Intent = "free"   // anything; the other rules judge it
	TestsAppend Intent = "append" // add tests; existing tests must not change
	TestsFrozen Intent = "frozen" // nothing: no test file may be added, changed or removed
	// TestsChange says that expectations may change because the task requires it: a
	// weakened original test is listed for a person, and not rolled back.
	TestsChange Intent = "change"
)

// Valid reports whether i is one of the intents, or empty.
func (i Intent) Valid() bool {
	return i == "" || slices.Contains([]Intent{TestsFree, TestsAppend, TestsChange, TestsFrozen}, i)
}

// validateIntent returns the first invalid declaration.
func (o Options) validateIntent() *FieldError {
	if !o.Tests.Valid() {
		return newFieldError(fmt.Sprintf("it is %s; give free, append, change or frozen", o.Tests), "tests")
	}
	for _, p := range o.AllowRemove {
		if isTooBroad(p) {
			return newFieldError(fmt.Sprintf("the pattern %q covers everything or nothing; name the tests or files that may be removed", p), "allow_remove")
		}
	}
	for _, p := range o.MayChange {
		if isTooBroad(p) {
			return newFieldError(fmt.Sprintf("the pattern %q covers everything or nothing; name tests or files, or give change without a pattern", p), "tests")
		}
	}
	return nil
}

// isTooBroad reports whether a pattern matches every test, or none.
func isTooBroad(pattern string) bool { return strings.Trim(pattern, "/.* ") == "" }

// testPatterns are patterns of tests and files that the user declared.
type testPatterns struct{ names, paths []*glob.Glob }

func newTestPatterns(patterns []string) testPatterns {
	var r testPatterns
	for _, p := range patterns {
		r.names, r.paths = append(r.names, glob.CompileName(p)), append(r.paths, glob.CompilePath(p))
	}
	return r
}

// matchesTest reports whether a pattern matches a test, by its name, its name with suite and
// class, or one of its files.
func (r testPatterns) matchesTest(id metric.ID, files ...string) bool {
	named := slices.ContainsFunc(r.names, func(g *glob.Glob) bool { return g.Match(id.Name) || g.Match(id.String()) })
	return named || slices.ContainsFunc(files, r.matchesFile)
}

func (r testPatterns) matchesFile(name string) bool {
	return name != "" && slices.ContainsFunc(r.paths, func(g *glob.Glob) bool { return g.Match(name) })
}

// undeclaredChanges returns a finding for each change to tests that the user's declaration
// forbids.
func (j *judge) undeclaredChanges() []Tampering {
	switch j.opts.Tests {
	case TestsAppend:
		return j.changedExistingTests()
	case TestsFrozen:
		return j.changedTestFiles()
	case TestsFree, TestsChange:
	}
	return nil
}

// changedTestFiles returns a finding for each changed test file.
func (j *judge) changedTestFiles() []Tampering {
	var out []Tampering
	for _, f := range j.in.TestFiles {
		isRemoved := slices.Contains(j.in.Removed, f)
		if isRemoved && !j.removable.matchesFile(f) || !isRemoved && !j.changeable.matchesFile(f) {
			out = append(out, Tampering{
				Pattern: "intent", Type: "test_file_changed", Severity: Critical, File: f,
				Evidence: "by tests: frozen no test file may be added, changed or removed",
			})
		}
	}
	return out
}

// changedExistingTests returns a finding for each existing test that changed files no
// longer contain unchanged. The code around the tests is not compared.
func (j *judge) changedExistingTests() []Tampering {
	var out []Tampering
	for _, old := range j.changedDefinitions() {
		isGone := !slices.ContainsFunc(j.in.After, func(t TestSource) bool { return t.Def.Name == old.Def.Name })
		id := metric.ID{Suite: old.File, Name: old.Def.Name}
		if isGone && !j.removable.matchesTest(id, old.File) || !isGone && !j.changeable.matchesTest(id, old.File) {
			out = append(out, Tampering{
				Pattern: "intent", Type: "existing_test_changed", Severity: Critical, File: old.File, Line: old.Def.Line, Test: old.Def.Name,
				Evidence: "by tests: append a test that exists may not be changed or lost",
			})
		}
	}
	return out
}

// changedDefinitions returns the existing tests that changed files no longer contain unchanged.
func (j *judge) changedDefinitions() []TestSource {
	byName := map[string][]TestSource{}
	for _, t := range j.in.After {
		byName[t.Def.Name] = append(byName[t.Def.Name], t)
	}
	return slices.DeleteFunc(slices.Clone(j.in.Before), func(old TestSource) bool {
		return old.Def.Kind == source.Subtest || slices.ContainsFunc(byName[old.Def.Name], func(current TestSource) bool {
			return current.Def.Class == old.Def.Class && definition.SameTokens(old, current)
		})
	})
}
