package detector

import (
	"fmt"
	"slices"

	"supervise/metric"
)

// The rules about tests that the agent does not see.
const (
	HiddenTestsFailing = "hidden_tests_failing"
	HiddenTestFailing  = TamperPrefix + "hidden_test_failing"
)

// Hidden are tests that the agent does not see, over the code as it is.
type Hidden struct {
	Tests *metric.Tests // nil: they could not be read
	// Passed are those that passed when they last ran over a tree that was accepted.
	Passed map[metric.ID]bool
}

// IsAboutHiddenTests reports whether the tests of the alert are such as the agent must not
// learn the names of.
func (a Alert) IsAboutHiddenTests() bool {
	return a.Rule == HiddenTestsFailing || a.Rule == HiddenTestFailing
}

// ended sorts the hidden tests that do not pass: those that passed before and fail,
// those that passed and did not run, and those that are not known to have passed.
func (h *Hidden) ended() (fail, missing, never []metric.ID) {
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
	if h.Tests != nil {
		for _, t := range h.Tests.Cases {
			if t.Failed() && !h.Passed[t.ID] {
				never = append(never, t.ID)
			}
		}
	}
	for _, list := range [][]metric.ID{fail, missing, never} {
		slices.SortFunc(list, metric.ID.Compare)
	}
	return fail, missing, never
}

// hiddenTestsFailing makes one finding of the tests that fail and one of those
// that did not run, which may as well not fit the new code.
func hiddenTestsFailing(j *judge, _ comparison, r row) []finding {
	if j.in.Hidden == nil {
		return nil
	}
	fail, missing, _ := j.in.Hidden.ended()
	hard := finding{tests: fail, values: Values{Why: fmt.Sprintf("Hidden tests that passed before fail now: %d", len(fail))}}
	soft := finding{tests: missing, values: Values{Why: fmt.Sprintf("Hidden tests that passed before did not run: %d", len(missing))}, severity: High, action: AlertAndFlag}
	var out []finding
	for _, f := range []finding{hard, soft} {
		if float64(len(f.tests)) > r.threshold() {
			out = append(out, f)
		}
	}
	return out
}

// hiddenTestFailing fires where an iteration looks like the end of the work, and
// is right for no more than the tests show. As long as a visible test fails, that
// hidden ones do is no news.
func hiddenTestFailing(j *judge, c comparison, r row) []finding {
	if j.in.Hidden == nil || c.tests == nil || len(c.tests.NewlyPassing) == 0 || c.now.Tests.Counts().Failed > 0 {
		return nil
	}
	_, _, never := j.in.Hidden.ended()
	if float64(len(never)) <= r.threshold() {
		return nil
	}
	return one(finding{tests: never})
}

// CountLost is how many tests that passed before do not pass.
func (h *Hidden) CountLost() int {
	fail, missing, _ := h.ended()
	return len(fail) + len(missing)
}
