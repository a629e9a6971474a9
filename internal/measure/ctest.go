package measure

import (
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/measure/internal/listing"
	"supervise/metric"
)

// nameLostSuites names the suites whose programs could not run.
func nameLostSuites(r *Run, known *metric.Tests) {
	if r.Check.Runner != ctestcases.Runner {
		return
	}
	r.Tests = ctestcases.ReplaceUnbuilt(r.Tests, known, r.Check.SuitePrefix())
}

// dropProgramTests removes from a list the ctest programs whose cases are counted instead.
func dropProgramTests(r *Run, list []listing.Test) []listing.Test {
	return slices.DeleteFunc(list, func(l listing.Test) bool { return r.Programs[l.Name] })
}

// ctestPrograms returns the ctest tests that run the selected tests: the tests themselves, or
// the programs whose cases they are.
func (s selection) ctestPrograms() []metric.Test {
	out := slices.Clone(s.tests)
	for i, t := range out {
		if t.Class != "" {
			out[i].Name = strings.TrimPrefix(t.Suite, s.check.SuitePrefix())
		}
	}
	return out
}
