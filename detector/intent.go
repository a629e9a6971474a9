package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector/internal/glob"
	"supervise/metric"
	"supervise/source"
)

// Intent is what the user declares that an agent may do to the tests.
type Intent string

// The intents. An empty one is TestsFree.
const (
	TestsFree   Intent = "free"   // anything; the other rules judge it
	TestsAppend Intent = "append" // add tests; those that exist stay as they are
	TestsFrozen Intent = "frozen" // nothing: no test file may be added, changed or removed
	// TestsChange says that expectations may change, for the task is to change them: an
	// original test that was weakened is listed for a person, and not rolled back.
	TestsChange Intent = "change"
)

// Valid reports whether i is one of the intents, or empty.
func (i Intent) Valid() bool {
	return i == "" || slices.Contains([]Intent{TestsFree, TestsAppend, TestsChange, TestsFrozen}, i)
}

// checkIntent reports the first declaration that makes no sense.
func (o Options) checkIntent() *FieldError {
	if !o.Tests.Valid() {
		return wrong(fmt.Sprintf("it is %s; give free, append, change or frozen", o.Tests), "tests")
	}
	for _, p := range o.AllowRemove {
		if strings.Trim(p, "/.* ") == "" {
			return wrong(fmt.Sprintf("the pattern %q covers everything or nothing; name the tests or files that may be removed", p), "allow_remove")
		}
	}
	return nil
}

// removable are the patterns of tests and files whose removal is no finding.
type removable struct{ names, paths []*glob.Glob }

func newRemovable(patterns []string) removable {
	var r removable
	for _, p := range patterns {
		r.names, r.paths = append(r.names, glob.Name(p)), append(r.paths, glob.Path(p))
	}
	return r
}

// test reports whether a test may be removed: by its name, by its name with suite and
// class, or by one of its files.
func (r removable) test(id metric.ID, files ...string) bool {
	named := slices.ContainsFunc(r.names, func(g *glob.Glob) bool { return g.Match(id.Name) || g.Match(id.String()) })
	return named || slices.ContainsFunc(files, r.file)
}

func (r removable) file(name string) bool {
	return name != "" && slices.ContainsFunc(r.paths, func(g *glob.Glob) bool { return g.Match(name) })
}

// undeclared are the findings where the user declared that tests may not be
// changed, and they were.
func (j *judge) undeclared() []Tampering {
	switch j.opts.Tests {
	case TestsAppend:
		return j.existingTouched()
	case TestsFrozen:
		return j.testFilesTouched()
	case TestsFree, TestsChange:
	}
	return nil
}

// testFilesTouched lists the test files that were changed.
func (j *judge) testFilesTouched() []Tampering {
	var out []Tampering
	for _, f := range j.in.TestFiles {
		if !slices.Contains(j.in.Removed, f) || !j.removable.file(f) {
			out = append(out, Tampering{
				Pattern: "intent", Type: "test_file_changed", Severity: Critical, File: f,
				Evidence: "by tests: frozen no test file may be added, changed or removed",
			})
		}
	}
	return out
}

// existingTouched lists the tests that the loop did not add and that no longer exist
// unchanged anywhere. The code around them is not compared.
func (j *judge) existingTouched() []Tampering {
	kept := map[string][]TestSource{}
	for _, t := range j.in.After {
		kept[t.Def.Name] = append(kept[t.Def.Name], t)
	}
	var out []Tampering
	for _, was := range j.in.Before {
		same := func(is TestSource) bool { return is.Def.Class == was.Def.Class && sameDef(was, is) }
		gone := len(kept[was.Def.Name]) == 0
		switch {
		case was.Def.Kind == source.Subtest, slices.ContainsFunc(kept[was.Def.Name], same):
		case gone && j.removable.test(metric.ID{Suite: was.File, Name: was.Def.Name}, was.File):
		default:
			out = append(out, Tampering{
				Pattern: "intent", Type: "existing_test_changed", Severity: Critical, File: was.File, Line: was.Def.Line, Test: was.Def.Name,
				Evidence: "by tests: append a test that exists may not be changed or lost",
			})
		}
	}
	return out
}
