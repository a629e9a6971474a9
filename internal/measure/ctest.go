package measure

import (
	"slices"
	"strings"

	"supervise/internal/ctestcases"
	"supervise/internal/measure/internal/listing"
	"supervise/metric"
)

// nameLostSuites names the suites whose programs could not run, see [ctestcases.Lost].
func nameLostSuites(r *Run, known *metric.Tests) {
	if r.Check.Runner != ctestcases.Runner {
		return
	}
	r.Tests = ctestcases.ReplaceUnbuilt(r.Tests, known, r.Check.SuitePrefix())
}

// withoutPrograms drops from a list the programs whose cases are counted instead.
func withoutPrograms(r *Run, list []listing.Test) []listing.Test {
	return slices.DeleteFunc(list, func(l listing.Test) bool { return r.Programs[l.Name] })
}

// programs are the tests of ctest that run the tests: themselves, or the programs that they
// are cases of.
func (s selection) programs() []metric.Test {
	out := slices.Clone(s.tests)
	for i, t := range out {
		if t.Class != "" {
			out[i].Name = strings.TrimPrefix(t.Suite, s.check.SuitePrefix())
		}
	}
	return out
}
