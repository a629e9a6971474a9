package measure

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/framework"
	"supervise/internal/measure/internal/gotests"
	"supervise/internal/measure/internal/listing"
	"supervise/internal/projectfile"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// undefinedFinders maps the language of a runner to a function that returns the tests that no
// source file defines. In other languages, tests get their names at run time.
var undefinedFinders = map[string]func(m *measurement, c Check, tests []metric.Test) []metric.Test{
	"go":     findUndefinedGo,
	"python": findUndefinedPython,
}

// undefinedFinderFor returns the function for a runner, nil if there is none.
func undefinedFinderFor(runner string) func(*measurement, Check, []metric.Test) []metric.Test {
	f := framework.Named(runner)
	if f == nil || f.List.Format == framework.NoList {
		return nil
	}
	return undefinedFinders[f.Language]
}

// removeForged removes the new tests that passed although no source file defines them and the
// framework does not list them: the tests printed their names. At the baseline all tests are new.
func (m *measurement) removeForged(ctx context.Context, run *Run, known *metric.Tests) error {
	undefined := undefinedFinderFor(run.Check.Runner)
	if undefined == nil || run.State != metric.Measured || run.Tests == nil || run.DirMissing {
		return nil
	}

	var fresh []metric.Test
	metric.Pair(known, run.Tests, func(was, is *metric.Test) {
		if was == nil && is.Status == metric.Passed {
			fresh = append(fresh, *is)
		}
	})

	if len(fresh) == 0 {
		return nil
	}

	suspects := undefined(m, run.Check, fresh)
	if len(suspects) > 0 && run.Check.Runner != "go" { // Go lists nothing but what it defines
		var err error
		if suspects, err = m.dropListed(ctx, run, suspects); err != nil {
			return err
		}
	}

	if len(suspects) == 0 {
		return nil
	}

	out := *run.Tests
	out.Cases = slices.DeleteFunc(slices.Clone(out.Cases), func(t metric.Test) bool {
		return slices.ContainsFunc(suspects, func(s metric.Test) bool { return s.ID == t.ID })
	})

	for _, s := range suspects {
		out.Forged = append(out.Forged, s.ID)
	}

	run.Tests = &out
	run.Problems = append(run.Problems, fmt.Sprintf("%d tests reported as passed are not counted, since no source file defines them and no runner lists them, the first: %s", len(suspects), suspects[0].ID))
	return nil
}

// dropListed returns the tests that the framework does not list, and none if it cannot list
// its tests.
func (m *measurement) dropListed(ctx context.Context, run *Run, tests []metric.Test) ([]metric.Test, error) {
	if len(run.Check.Inventory) == 0 {
		return nil, nil
	}
	list, err := m.runListCommand(ctx, run.Check)
	if err != nil || len(list) == 0 {
		return nil, context.Cause(ctx)
	}
	listed := map[listing.Test]bool{}
	for _, l := range list {
		listed[listing.NormalizedName("", withoutParameters(l.Name))] = true
	}
	return slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool {
		name := withoutParameters(t.Name)
		return listed[listing.NormalizedName("", name)] || listed[listing.NormalizedName("", listing.LastWord(t.Class)+" "+name)] || listed[listing.NormalizedName("", t.Class+" "+name)]
	}), nil
}

// withoutParameters removes the parameters and the subtest name from the name of a test.
func withoutParameters(name string) string {
	name, _, _ = strings.Cut(name, "[")
	name, _, _ = strings.Cut(name, " (")
	return strings.TrimSpace(name)
}

// pythonFunctionRE captures the name of a function: test_add of "async def test_add(client):".
var pythonFunctionRE = regexp.MustCompile(`(?m)\bdef\s+(\w+)`)

// maxSources limits how many files are searched for definitions.
const maxSources = 5000

// findUndefinedGo returns the tests that no test file of their package defines.
func findUndefinedGo(m *measurement, c Check, tests []metric.Test) []metric.Test {
	return gotests.FindUndefined(m.plan.Root, c.Dir, tests)
}

// findUndefinedPython returns the tests whose functions no file below the folder of the check
// defines.
func findUndefinedPython(m *measurement, c Check, tests []metric.Test) []metric.Test {
	missing := map[string]bool{}
	function := func(t metric.Test) string {
		name := withoutParameters(t.Name)
		return name[strings.LastIndexAny(name, ".:/ ")+1:]
	}

	for _, t := range tests {
		missing[function(t)] = true
	}

	files := 0
	base := m.plan.Dir(c)
	_ = filepath.WalkDir(base, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil, d.IsDir() && source.IsVendored(d.Name()+"/x"):
			return fs.SkipDir
		case filepath.Ext(name) != ".py" || !d.Type().IsRegular():
			return nil
		}
		if files++; files > maxSources {
			clear(missing)
		}
		if len(missing) == 0 {
			return fs.SkipAll
		}
		if text, err := projectfile.Read(name, projectfile.Source); err == nil {
			for _, found := range pythonFunctionRE.FindAllSubmatch(text, -1) {
				delete(missing, string(found[1]))
			}
		}
		return nil
	})

	return slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return !missing[function(t)] })
}
