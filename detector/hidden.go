package detector

import (
	"fmt"
	"slices"
	"strings"

	"supervise/metric"
)

// The rules about tests that the agent does not see.
const (
	HiddenTestsFailing = "hidden_tests_failing"
	HiddenTestFailing  = TamperPrefix + "hidden_test_failing"
	SealedFailed       = "sealed_failed"
)

// Hidden are the results of the tests that the agent does not see.
type Hidden struct {
	Tests  *metric.Tests // nil: they could not be read
	Sealed bool          // they were taken out of the tree
	// Passed says which tests passed on the latest accepted tree.
	Passed map[metric.ID]bool
}

// IsAboutHiddenTests reports whether the agent must not learn the names of the tests.
func (a Alert) IsAboutHiddenTests() bool {
	return a.Rule == HiddenTestsFailing || a.Rule == HiddenTestFailing || a.Rule == SealedFailed
}

// failures returns the hidden tests that do not pass, sorted: those that passed before and
// fail, those that passed and did not run, and those that are not known to have passed.
func (h *Hidden) failures() (fail, missing, never []metric.ID) {
	for id := range h.Passed {
		t, ran := h.Tests.Lookup(id)
		switch {
		case !h.Passed[id], ran && !t.Failed():
		case ran && t.Status != metric.NotRun:
			fail = append(fail, id)
		default:
			missing = append(missing, id)
		}
	}
	never = h.Tests.Select(func(t metric.Test) bool { return t.Failed() && !h.Passed[t.ID] })
	for _, list := range [][]metric.ID{fail, missing, never} {
		slices.SortFunc(list, metric.ID.Compare)
	}
	return fail, missing, never
}

// hiddenTestsFailing makes one finding of the tests that fail, and a milder one of those
// that did not run, which may just not match the new code.
func hiddenTestsFailing(j *judge, _ comparison, r appliedRule) []finding {
	if j.in.Hidden == nil {
		return nil
	}
	fail, missing, _ := j.in.Hidden.failures()
	hard := finding{tests: fail, values: Values{Why: fmt.Sprintf("Hidden tests that passed before fail now: %d", len(fail))}}
	soft := finding{tests: missing, values: Values{Why: fmt.Sprintf("Hidden tests that passed before did not run: %d", len(missing))}, severity: High, action: AlertAndFlag}
	return r.aboveThreshold(hard, soft)
}

// hiddenTestFailing fires if the work looks complete, since all visible tests pass, but
// hidden tests fail. As long as a visible test fails, failing hidden tests are expected.
func hiddenTestFailing(j *judge, c comparison, r appliedRule) []finding {
	if j.in.Hidden == nil || j.in.Hidden.Sealed || c.tests == nil || len(c.tests.NewlyPassing) == 0 || c.now.Tests.Counts().Failed > 0 {
		return nil
	}
	_, _, never := j.in.Hidden.failures()
	return r.aboveThreshold(finding{tests: never})
}

// sealedFailed fires if sealed tests fail or do not run, and all visible ones pass.
func sealedFailed(j *judge, c comparison, r appliedRule) []finding {
	h := j.in.Hidden
	if h == nil || !h.Sealed || h.Tests == nil || c.now.Tests == nil || c.now.Tests.Counts().Failed > 0 {
		return nil
	}
	var f finding
	for _, t := range h.Tests.Cases {
		if t.Failed() {
			f.tests = append(f.tests, t.ID)
			if !slices.Contains(f.files, t.File) {
				f.files = append(f.files, t.File)
			}
		}
	}
	f.values.Why = strings.Join(f.files, ", ")
	return r.aboveThreshold(f)
}

// CountLost returns how many tests that passed before do not pass now.
func (h *Hidden) CountLost() int {
	fail, missing, _ := h.failures()
	return len(fail) + len(missing)
}
