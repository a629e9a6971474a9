package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"supervise/metric"

	"github.com/google/go-cmp/cmp"
)

// outcomes makes one test per status, named t0, t1, ….
func outcomes(statuses ...metric.Status) *metric.Tests {
	var cases []metric.Test
	for i, s := range statuses {
		cases = append(cases, metric.Test{ID: metric.ID{Suite: "pkg", Name: fmt.Sprintf("t%d", i)}, Status: s})
	}
	return metric.NewTests(cases)
}

func repeat(n int, s metric.Status) []metric.Status {
	out := make([]metric.Status, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestPassRate(t *testing.T) {
	for _, tt := range []struct {
		name            string
		passed, failed  int
		skipped, notRun int
		want            float64
	}{
		{"seed 5 of 8", 5, 3, 0, 0, 62.5},
		{"seed 7 of 9", 7, 2, 0, 0, 77.8},
		{"a skip never raises it", 5, 0, 5, 0, 50},
		{"a suite that did not run counts as failed", 3, 0, 0, 1, 75},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := append(repeat(tt.passed, metric.Passed), repeat(tt.failed, metric.Failed)...)
			all = append(all, repeat(tt.skipped, metric.Skipped)...)
			all = append(all, repeat(tt.notRun, metric.NotRun)...)
			got, ok := metric.Set{Tests: outcomes(all...)}.Value(metric.PassRate)
			if !ok || math.Round(got*10)/10 != tt.want {
				t.Errorf("pass rate = %v, %v, want %v", got, ok, tt.want)
			}
		})
	}
}

func TestPassRateOfNoTestsIsNotMeasured(t *testing.T) {
	if got, ok := (metric.Set{Tests: metric.NewTests(nil)}).Value(metric.PassRate); ok {
		t.Errorf("pass rate of no tests = %v, want not measured", got)
	}
}

func TestErrorCountSeed(t *testing.T) {
	l := &metric.Lint{}
	for range 8 {
		l.Findings = append(l.Findings, metric.Finding{Level: metric.Error})
	}
	for range 4 {
		l.Findings = append(l.Findings, metric.Finding{Level: metric.Warning})
	}
	l.Findings = append(l.Findings, metric.Finding{Level: metric.Note})
	if got, _ := (metric.Set{Lint: l}).Value(metric.ErrorCount); got != 12 {
		t.Errorf("error_count = %v, want 8 + 4 + 0 = 12", got)
	}
}

func TestDuplicates(t *testing.T) {
	id := metric.ID{Suite: "s", Name: "n"}
	one := func(s metric.Status) metric.Test { return metric.Test{ID: id, Status: s} }
	rerun := func(s metric.Status) metric.Test { return metric.Test{ID: id, Status: s, Rerun: true} }
	for _, tt := range []struct {
		name  string
		cases []metric.Test
		want  metric.Status
		flaky bool
	}{
		{"worst wins", []metric.Test{one(metric.Passed), one(metric.Failed)}, metric.Failed, false},
		{"worst wins, other order", []metric.Test{one(metric.Failed), one(metric.Passed)}, metric.Failed, false},
		{"error beats failure", []metric.Test{one(metric.Errored), one(metric.Failed)}, metric.Errored, false},
		{"passed in a rerun", []metric.Test{one(metric.Failed), rerun(metric.Passed)}, metric.Passed, true},
		{"failed in a rerun", []metric.Test{one(metric.Failed), rerun(metric.Failed)}, metric.Failed, false},
		{"skipped in a rerun is no recovery", []metric.Test{one(metric.Failed), rerun(metric.Skipped)}, metric.Failed, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := metric.NewTests(tt.cases)
			if len(got.Cases) != 1 || got.Cases[0].Status != tt.want || got.Cases[0].Flaky != tt.flaky {
				t.Errorf("got %+v, want one case %v, flaky %v", got.Cases, tt.want, tt.flaky)
			}
		})
	}
}

func TestCarryOver(t *testing.T) {
	known := metric.NewTests([]metric.Test{
		{ID: metric.ID{Suite: "a", Name: "x"}, Status: metric.Passed},
		{ID: metric.ID{Suite: "a", Name: "y"}, Status: metric.Passed},
		{ID: metric.ID{Suite: "b", Name: "z"}, Status: metric.Passed},
	})
	now := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "a", Name: "x"}, Status: metric.Passed}})
	now.Broken = []metric.Suite{{Name: "a", Why: "panic"}}
	got := now.WithNotRun(known).Counts()
	if want := (metric.Counts{Count: 2, Passed: 1, Failed: 1}); got != want {
		t.Errorf("CarryOver counts %+v, want %+v: y of the broken suite is carried, z of the suite that is gone is not", got, want)
	}
}

func TestCarryOverOfNothing(t *testing.T) {
	known := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "a", Name: "x"}, Status: metric.Passed}, {ID: metric.ID{Suite: "b", Name: "y"}, Status: metric.Passed}})
	now := &metric.Tests{Broken: []metric.Suite{{Name: "a", Why: "it cannot be loaded"}}}
	if got, want := now.WithNotRun(known).Counts(), (metric.Counts{Count: 2, Failed: 2}); got != want {
		t.Errorf("CarryOver counts %+v, want %+v: one broken suite kept all of them from running", got, want)
	}
}

func TestErrorCountOfSomeFields(t *testing.T) {
	l := &metric.Lint{Findings: []metric.Finding{
		{Level: metric.Error}, {Level: metric.Warning}, {Level: metric.Warning}, {Level: metric.Error, Type: true}, {Level: metric.Note},
	}}
	for _, tt := range []struct {
		fields []metric.Field
		want   float64
	}{
		{nil, 4},
		{[]metric.Field{metric.LintErrors}, 1},
		{[]metric.Field{metric.LintWarnings}, 2},
		{[]metric.Field{metric.TypeErrors, metric.LintErrors}, 2},
		{metric.ErrorFields(), 4},
	} {
		s := metric.Set{Lint: l.WithErrorFields(tt.fields).Merge(&metric.Lint{})}
		if got, ok := s.Value(metric.ErrorCount); !ok || got != tt.want {
			t.Errorf("%v: error_count %v (%v), want %v", tt.fields, got, ok, tt.want)
		}
	}
	if _, ok := (metric.Set{Lint: (*metric.Lint)(nil).WithErrorFields(metric.ErrorFields())}).Value(metric.ErrorCount); ok {
		t.Error("findings that were not measured have a count")
	}
}

func TestSignature(t *testing.T) {
	s := metric.Set{
		Tests:    outcomes(metric.Passed, metric.Passed, metric.Failed),
		Coverage: &metric.Coverage{Covered: 852, Total: 1000, Unit: metric.Lines},
	}
	want := metric.Signature{TestCount: 3, PassRate: 6667, Coverage: 852, Errors: metric.NotMeasured}
	if got := s.Signature(); got != want {
		t.Errorf("Signature() = %+v, want %+v", got, want)
	}
	if (metric.Set{}).Signature() == (metric.Set{Tests: outcomes()}).Signature() {
		t.Error("no measurement and no tests have the same signature")
	}
}

func TestSubComparesOneUnitOnly(t *testing.T) {
	lines := metric.Set{Coverage: &metric.Coverage{Covered: 1, Total: 2, Unit: metric.Lines}}
	statements := metric.Set{Coverage: &metric.Coverage{Covered: 2, Total: 2, Unit: metric.Statements}}
	if d := statements.Sub(lines); len(d) != 0 {
		t.Errorf("statements were compared with lines: %v", d)
	}
	if d := lines.Sub(lines); d[metric.CoveragePct] != 0 || len(d) != 3 {
		t.Errorf("Sub of itself = %v, want three zeroes", d)
	}
}

func TestRecordOmitsWhatWasNotMeasured(t *testing.T) {
	s := metric.Set{
		Tests: outcomes(metric.Passed),
		Gaps:  []metric.Gap{{Section: metric.SectionLint, State: metric.Absent, Why: "no linter"}},
	}
	b, err := json.Marshal(s.Record())
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got["quality"]; ok {
		t.Error("a quality section was written although nothing of it was measured")
	}
	testing := got["testing"].(map[string]any)
	if testing["coverage_percentage"] != nil || testing["test_count"] != 1.0 {
		t.Errorf("testing = %v, want test_count 1 and coverage null", testing)
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for _, s := range []metric.Status{metric.Passed, metric.Skipped, metric.NotRun, metric.Failed, metric.Errored} {
		var back metric.Status
		text, _ := s.MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("status %v came back as %v, %v", s, back, err)
		}
	}
	var s metric.Status
	if err := s.UnmarshalText([]byte("fine")); err == nil {
		t.Error("an unknown status was read")
	}
}

func TestFingerprintIgnoresLineNumbers(t *testing.T) {
	a := metric.Finding{Rule: "r", File: "f.go", Line: 1, Text: "x  := 1"}
	b := metric.Finding{Rule: "r", File: "f.go", Line: 9, Text: " x := 1"}
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("a finding that only moved has a new fingerprint")
	}
	b.File = "g.go"
	if a.Fingerprint() == b.Fingerprint() {
		t.Error("findings in two files have one fingerprint")
	}
}

func TestParent(t *testing.T) {
	for name, want := range map[string]string{"TestA/b": "TestA", "TestA/b/c": "TestA/b", "test_x[1-2]": "test_x", "test_x[a/b]": "test_x", "plain": ""} {
		got, _ := metric.ID{Name: name}.Parent()
		if diff := cmp.Diff(want, got.Name); diff != "" {
			t.Errorf("Parent of %s: %s", name, diff)
		}
	}
}
