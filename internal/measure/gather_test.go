package measure

import (
	"slices"
	"testing"

	"supervise/metric"
)

// Coverage of two projects is one sum. It compares only with a sum of the same parts,
// and a file that two checks report counts once.
func TestCoverageOfSeveralChecks(t *testing.T) {
	first := metric.Coverage{Covered: 1, Total: 2, Unit: metric.Statements, Format: "go", Files: []metric.FileCoverage{{Path: "a.go", Covered: 1, Total: 2}}}
	for _, tt := range []struct {
		name   string
		second metric.Coverage
		want   metric.Coverage
	}{
		{
			"alike",
			metric.Coverage{Covered: 3, Total: 4, Unit: metric.Statements, Format: "go", Files: []metric.FileCoverage{{Path: "b.go", Covered: 3, Total: 4}}},
			metric.Coverage{Covered: 4, Total: 6, Unit: metric.Statements, Format: "go"},
		},
		{
			"the same file",
			metric.Coverage{Covered: 2, Total: 2, Unit: metric.Statements, Format: "go", Files: []metric.FileCoverage{{Path: "a.go", Covered: 2, Total: 2}}},
			metric.Coverage{Covered: 2, Total: 2, Unit: metric.Statements, Format: "go"},
		},
		{
			"another unit",
			metric.Coverage{Covered: 9, Total: 9, Unit: metric.Lines, Format: "lcov", Files: []metric.FileCoverage{{Path: "a.js", Covered: 9, Total: 9}}},
			metric.Coverage{Covered: 10, Total: 11, Unit: metric.Mixed, Format: "go+lcov"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tests := metric.NewTests([]metric.Test{{}})
			runs := []Run{
				{Check: Check{Kind: Test}, State: metric.Measured, Tests: tests, Coverage: &first},
				{Check: Check{Kind: Test}, State: metric.Measured, Tests: tests, Coverage: &tt.second},
			}
			set, _ := New(Plan{}, Options{}).newMeasurement().gatherSections(runs, nil)
			got := set.Coverage
			if got == nil || got.Covered != tt.want.Covered || got.Total != tt.want.Total || !got.Comparable(&tt.want) {
				t.Errorf("coverage %+v, want %+v", got, tt.want)
			}
		})
	}
}

// What two checks run counts once, and the second of them says so.
func TestTestsOfSeveralChecks(t *testing.T) {
	test := func(name string, s metric.Status) metric.Test {
		return metric.Test{ID: metric.ID{Suite: "TAP", Name: name}, Status: s}
	}
	of := func(tests ...metric.Test) Run {
		return Run{Check: Check{Kind: Test}, State: metric.Measured, Tests: metric.NewTests(tests)}
	}
	runs := []Run{
		of(test("a", metric.Passed), test("b", metric.Passed)),
		of(test("c", metric.Passed)),
		of(test("b", metric.Failed), test("c", metric.Passed), test("d", metric.Passed)),
	}
	set, _ := New(Plan{}, Options{}).newMeasurement().gatherSections(runs, nil)
	if got := set.Tests.Counts(); got.Count != 4 || got.Failed != 1 {
		t.Errorf("%+v, want 4 with 1 failed", got)
	}
	want := "2 of its 3 tests ran in another check too; each counts once, with the worse result, the first: TAP: b"
	if got := [][]string{runs[0].Problems, runs[1].Problems, runs[2].Problems}; len(got[0])+len(got[1]) > 0 || !slices.Equal(got[2], []string{want}) {
		t.Errorf("problems %q, want %q for the last", got, want)
	}
}

func TestErrorsThatCount(t *testing.T) {
	found := &metric.Lint{Findings: []metric.Finding{{Level: metric.Error}, {Level: metric.Warning}}}
	for _, tt := range []struct {
		fields []metric.Field
		want   float64
	}{{nil, 2}, {[]metric.Field{metric.LintErrors}, 1}} {
		m := New(Plan{ErrorFields: tt.fields}, Options{}).newMeasurement()
		runs := []Run{{Check: Check{Kind: Lint, Dir: "a"}, State: metric.Measured, Lint: found}, {Check: Check{Kind: Lint, Dir: "b"}, State: metric.Measured, Lint: &metric.Lint{}}}
		set, _ := m.gatherSections(runs, nil)
		parts := m.gatherParts(runs)
		if got, ok := set.Value(metric.ErrorCount); !ok || got != tt.want {
			t.Errorf("%v: error_count %v, want %v", tt.fields, got, tt.want)
		}
		if got, ok := parts[0].Set.Value(metric.ErrorCount); !ok || got != tt.want {
			t.Errorf("%v: error_count %v of a project, want %v", tt.fields, got, tt.want)
		}
	}
}
