package detector

import (
	"slices"

	"supervise/metric"
)

// PassesOnlyUnderTest is the rule about code that works only when it is under test.
const PassesOnlyUnderTest = "passes_only_under_test"

// TestOnly is a test that passes, but fails when the test run is concealed from the code:
// runner, arguments, environment and names of the test.
type TestOnly struct {
	ID           metric.ID `json:"id"`
	FailedBefore bool      `json:"failed_before,omitempty"` // at the base, or could not be run there
	// Certain says that concealing is not the reason for the failure: on the base the
	// concealed test passes or fails with the same message, or the added code names the
	// runner.
	Certain bool     `json:"certain,omitempty"`
	Files   []string `json:"files"`         // with code that may detect the test run
	Why     string   `json:"why,omitempty"` // message of the concealed test
}

// passesOnlyUnderTest makes one finding of the tests of each severity.
func passesOnlyUnderTest(j *judge, _ comparison, r appliedRule) []finding {
	certain := finding{severity: Critical, action: actionOf(Critical)}
	possible := finding{severity: High, action: actionOf(High)}
	for _, o := range j.in.TestOnly {
		f := &possible
		if o.Certain {
			f = &certain
		}
		if len(f.tests) == 0 {
			f.values.Why = "it fails where the code cannot see that it runs in a test"
			if o.Why != "" {
				f.values.Why += ": " + o.Why
			}
		}
		f.tests = append(f.tests, o.ID)
		for _, file := range o.Files {
			if !slices.Contains(f.files, file) {
				f.files = append(f.files, file)
			}
		}
	}
	return r.aboveThreshold(certain, possible)
}
