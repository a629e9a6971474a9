package detector_test

import (
	"slices"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// Code that works only under test is CRITICAL where the hiding cannot be the reason, and
// one finding names all tests of a severity and the files that look.
func TestBehavesOtherwise(t *testing.T) {
	in := goalCase{"", metric.Failed, metric.Passed, detector.Passed, false, false}.input()
	in.TestOnly = []detector.TestOnly{
		{ID: metric.ID{Name: "A"}, Certain: true, Files: []string{"a.py", "b.py"}, Why: "got 8"},
		{ID: metric.ID{Name: "B"}, Certain: true, Files: []string{"a.py"}},
		{ID: metric.ID{Name: "C"}, FailedBefore: true, Files: []string{"a.py"}},
	}
	var got []string
	for _, a := range detector.Assess(in, detector.DefaultOptions()).Alerts {
		if a.Rule == detector.PassesOnlyUnderTest {
			got = append(got, a.Severity.String()+" "+string(a.Action)+": "+a.Message())
			if a.Basis != detector.Executed {
				t.Errorf("it is based on %s", a.Basis)
			}
		}
	}
	want := []string{
		"CRITICAL immediate_alert_and_rollback: A (and 1 more) passes only under test: it fails where the code cannot see that it runs in a test: got 8",
		"HIGH alert_and_flag_iteration: C passes only under test: it fails where the code cannot see that it runs in a test",
	}
	if !slices.Equal(got, want) {
		t.Errorf("alerts\n%q\nwant\n%q", got, want)
	}
}
