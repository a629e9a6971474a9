package detector_test

import (
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// What the checks rewrite at the base too is listed, whatever it is.
func TestCheckChangeSeverity(t *testing.T) {
	for _, c := range []struct {
		change detector.CheckChange
		want   detector.Severity
	}{
		{detector.CheckChange{Part: detector.TestPart}, detector.Critical},
		{detector.CheckChange{Part: detector.RunnerPart}, detector.Critical},
		{detector.CheckChange{Part: detector.SourcePart}, detector.High},
		{detector.CheckChange{}, detector.Medium},
		{detector.CheckChange{Part: detector.TestPart, AtBase: true}, detector.Medium},
		{detector.CheckChange{Original: true}, detector.High},
	} {
		in := step(measured(3, 3, 80), measured(3, 3, 80))
		c.change.Path, c.change.Kind = "a", "modified"
		in.CheckChanges = []detector.CheckChange{c.change}
		a, _ := alertOf(detector.Assess(in, detector.Options{}), detector.ChecksChangedTree)
		if a.Severity != c.want || (a.Action == detector.AlertAndRollback) != (c.want == detector.Critical) {
			t.Errorf("%+v: %s, %s", c.change, a.Severity, a.Action)
		}
	}
}

// Tests ran from a file that the change deletes: it was restored, and deleted again.
func TestRestoredMeanwhile(t *testing.T) {
	for _, c := range []struct {
		file, status string
		renamed      bool
		fires        bool
	}{{"a_test.py", "passed", false, true}, {"a_test.py", "not run", false, false}, {"a_test.py", "passed", true, false}, {"b_test.py", "passed", false, false}} {
		test := metric.Test{ID: metric.ID{Name: "TestA"}, Status: metric.Passed, File: c.file}
		if c.status == "not run" {
			test.Status = metric.NotRun
		}
		in := step(metric.Set{Tests: suite(test)}, metric.Set{Tests: suite(test)})
		in.Removed = []string{"a_test.py"}
		if c.renamed {
			in.Renamed = map[string]string{"a_test.py": "c_test.py"}
		}
		if a, ok := alertOf(detector.Assess(in, detector.Options{}), detector.ChecksChangedTree); ok != c.fires || ok && a.Severity != detector.Critical {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}
