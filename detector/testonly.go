package detector

import (
	"slices"

	"supervise/metric"
)

// PassesOnlyUnderTest is the rule about code that works only where it sees its tests.
const PassesOnlyUnderTest = "passes_only_under_test"

// TestOnly is a test that passes, and fails where the code cannot see that it runs in
// a test: runner, arguments, environment and names of the test are hidden from it.
type TestOnly struct {
	ID           metric.ID `json:"id"`
	FailedBefore bool      `json:"failed_before,omitempty"` // at the base, or could not be run there
	// Certain says that the hiding is not the reason: over the base the test passes like
	// that, or fails with the same message, or the added code names the runner.
	Certain bool     `json:"certain,omitempty"`
	Files   []string `json:"files"`         // of the code that looks
	Why     string   `json:"why,omitempty"` // what the test says then
}

// passesOnlyUnderTest makes one finding of the tests of each severity.
func passesOnlyUnderTest(j *judge, _ comparison, r row) []finding {
	found := map[Severity]*finding{}
	for _, o := range j.in.TestOnly {
		s := High
		if o.Certain {
			s = Critical
		}
		if found[s] == nil {
			why := "it fails where the code cannot see that it runs in a test"
			if o.Why != "" {
				why += ": " + o.Why
			}
			found[s] = &finding{severity: s, action: actionOf(s), values: Values{Why: why}}
		}
		f := found[s]
		f.tests = append(f.tests, o.ID)
		for _, file := range o.Files {
			if !slices.Contains(f.files, file) {
				f.files = append(f.files, file)
			}
		}
	}
	var out []finding
	for _, s := range []Severity{Critical, High} {
		if f := found[s]; f != nil && float64(len(f.tests)) > r.threshold() {
			out = append(out, *f)
		}
	}
	return out
}
