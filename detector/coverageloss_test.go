package detector_test

import (
	"testing"

	"supervise/detector"
	"supervise/metric"
)

func TestLostCoverageCounts(t *testing.T) {
	covered := func(hit, total int64) metric.Set {
		return metric.Set{
			Tests:    suite(passing("TestA")...),
			Coverage: &metric.Coverage{Covered: hit, Total: total, Unit: metric.Statements, Format: "go"},
		}
	}
	lost := func(undecided string, units float64) []detector.CoverageLoss {
		var list []detector.LostLines
		if units > 0 {
			list = []detector.LostLines{{Path: "m/a.go", Lines: "3-5,9", Units: units}}
		}
		return []detector.CoverageLoss{{Since: 0, Files: list, Undecided: undecided}, {Since: 1, Files: list, Undecided: undecided}}
	}
	const lines = "4 lines that tests executed are not executed now (-4 points, exceeds -2% threshold): m/a.go:3-5,9"
	for _, tt := range []struct {
		name    string
		now     metric.Set
		losses  []detector.CoverageLoss
		strict  bool
		plain   bool
		message string // "" for no finding
		level   detector.Severity
		setback bool
	}{
		{name: "only new code is not executed", now: covered(90, 130), losses: lost("", 0)},
		{name: "new code, compared strictly", now: covered(90, 130), losses: lost("", 0), strict: true, message: "Coverage dropped 90%→69.2% (exceeds -2% threshold)", level: detector.High, setback: true},
		{name: "new code, recorded", now: covered(90, 130), losses: lost("", 0), plain: true, message: "Coverage dropped 90%→69.2% (exceeds -2% threshold)", level: detector.High, setback: true},
		{name: "lines are lost, and others make up for them", now: covered(96, 106), losses: lost("", 4), message: lines, level: detector.High, setback: true},
		{name: "fewer lines than the threshold", now: covered(89, 100), losses: lost("", 1)},
		{name: "perhaps of failing tests", now: covered(86, 100), losses: lost("it has no runner", 4), message: lines + " (perhaps only by tests that failed: it has no runner)", level: detector.Medium},
		{name: "totals: only new code", now: covered(90, 130)},
		{name: "totals: a few statements", now: covered(86, 100)},
		{name: "totals: more", now: covered(85, 100), message: "Coverage dropped 90%→85% (exceeds -2% threshold)", level: detector.High, setback: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(covered(90, 100), tt.now)
			in.CoverageLosses, in.PlainCoverage = tt.losses, tt.plain
			got := detector.Assess(in, detector.Options{Strict: tt.strict})
			a, ok := alertOf(got, "coverage_regression")
			if ok != (tt.message != "") || ok && (a.Message() != tt.message || a.Severity != tt.level) {
				t.Errorf("got %v: %s %s", ok, a.Severity, a.Message())
			}
			if setback := got.Class == detector.Regression; setback != tt.setback {
				t.Errorf("the class is %s", got.Class)
			}
		})
	}
}
