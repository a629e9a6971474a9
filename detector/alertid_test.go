package detector_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

func TestAlertID(t *testing.T) {
	one, two := metric.ID{Suite: "m", Name: "TestA"}, metric.ID{Suite: "m", Name: "TestB"}
	base := detector.Alert{Rule: "test_count_decreased", Tests: []metric.ID{one, two}, TriggeredAt: 3, Against: detector.AgainstPrevious}
	other := base
	for _, c := range []struct {
		name string
		edit func(*detector.Alert)
		same bool
	}{
		{"another iteration", func(a *detector.Alert) { a.TriggeredAt = 9 }, true},
		{"against the baseline", func(a *detector.Alert) { a.Against = detector.AgainstBaseline }, true},
		{"another order", func(a *detector.Alert) { a.Tests = []metric.ID{two, one} }, true},
		{"other numbers", func(a *detector.Alert) { a.Values.Prev = new(float64) }, true},
		{"another severity", func(a *detector.Alert) { a.Severity = detector.Info }, true},
		{"one test less", func(a *detector.Alert) { a.Tests = []metric.ID{one} }, false},
		{"its file", func(a *detector.Alert) { a.Files = []string{"m_test.go"} }, true},
		{"another rule", func(a *detector.Alert) { a.Rule = "tests_replaced" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			other = base
			c.edit(&other)
			if same := base.ID() == other.ID(); same != c.same {
				t.Errorf("%s and %s: same is %t, want %t", base.ID(), other.ID(), same, c.same)
			}
		})
	}
}

func TestAlertIDWithoutEvidence(t *testing.T) {
	from, to, more := 0.0, 6.0, 12.0
	errors := func(curr *float64) detector.Alert {
		return detector.Alert{Rule: "error_increase", Values: detector.Values{Prev: &from, Curr: curr}}
	}
	if errors(&to).ID() == errors(&more).ID() {
		t.Error("six and twelve errors are one finding")
	}
	part := detector.Alert{Rule: "coverage_regression", Files: []string{"a.go"}, Values: detector.Values{Path: "**"}}
	full := part
	full.Values.Path = ""
	if part.ID() == full.ID() {
		t.Error("the coverage of all files and that of a part are one finding")
	}
	broken := func(why string) detector.Alert {
		return detector.Alert{Rule: "build_broken", Values: detector.Values{Why: why}}
	}
	if broken("m.go:5: undefined: x").ID() != broken("m.go:7: undefined: x").ID() {
		t.Error("the same error on another line is another finding")
	}
	if broken("undefined: x").ID() == broken("undefined: y").ID() {
		t.Error("different errors are one finding")
	}
}

func TestAlertJSONHasID(t *testing.T) {
	a := detector.Alert{Rule: "build_broken", Severity: detector.High, Values: detector.Values{Why: "no"}}
	b, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(b), `"id":"`+a.ID()+`"`) {
		t.Fatalf("%v in %s", err, b)
	}
	var back detector.Alert
	if err := json.Unmarshal(b, &back); err != nil || back.ID() != a.ID() {
		t.Errorf("read back %s, %v; want %s", back.ID(), err, a.ID())
	}
}

func TestConfidencePartsAddUp(t *testing.T) {
	passing := func(names ...string) *metric.Tests {
		var cases []metric.Test
		for _, n := range names {
			cases = append(cases, metric.Test{ID: metric.ID{Suite: "m", Name: n}, Status: metric.Passed})
		}
		return metric.NewTests(cases)
	}
	was := detector.Observation{Set: metric.Set{Tests: passing("TestA", "TestB")}}
	gap := []metric.Gap{{Section: metric.SectionCoverage, State: metric.Absent, Why: "no report"}}
	for name, set := range map[string]metric.Set{
		"nothing changed":  {Tests: passing("TestA", "TestB")},
		"a test is gone":   {Tests: passing("TestA")},
		"partial and gone": {Tests: passing("TestA"), Gaps: gap},
		"nothing read":     {Gaps: gap},
	} {
		t.Run(name, func(t *testing.T) {
			r := detector.Assess(detector.Input{
				Current: detector.Observation{Iteration: 1, Set: set}, Previous: was, Baseline: was, History: []detector.Observation{was},
			}, detector.Options{}).Recommendation
			sum := 0.0
			for _, p := range r.Parts {
				sum += p.Points
			}
			if len(r.Parts) == 0 || math.Abs(sum-r.Confidence) > 1e-9 {
				t.Errorf("parts %v sum to %v, confidence is %v", r.Parts, sum, r.Confidence)
			}
		})
	}
}
