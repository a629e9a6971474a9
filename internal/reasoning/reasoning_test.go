package reasoning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/metric"
	"supervise/selector"
)

// set makes a measurement of tests by name and coverage in per cent.
func set(coverage float64, tests ...string) metric.Set {
	var cases []metric.Test
	for _, name := range tests {
		cases = append(cases, metric.Test{ID: metric.ID{Suite: "m", Name: name}, Status: metric.Passed})
	}
	outcome := metric.NewTests(cases)
	outcome.Duration = time.Second
	return metric.Set{
		Tests: outcome, Lint: &metric.Lint{}, Build: &metric.Build{Status: metric.BuildSuccess},
		Coverage: &metric.Coverage{Covered: int64(10 * coverage), Total: 1000, Unit: metric.Statements, Format: "go"},
		Code:     &metric.Code{Files: 3, LOC: 120, Functions: 10, Complexity: 2},
	}
}

// judged records an iteration that went from one measurement to another.
func judged(was, is metric.Set, rules detector.Options, edit ...func(*detector.Input)) reasoning.Input {
	base := ledger.Iteration{LoopID: "loop", Set: was, Snapshot: "1", Score: selector.Grade(was, was, selector.DefaultWeights())}
	it := ledger.Iteration{LoopID: "loop", Number: 1, Set: is, Start: "1", Snapshot: "2", Score: selector.Grade(is, was, selector.DefaultWeights())}
	obs := func(it ledger.Iteration) detector.Observation {
		return detector.Observation{Iteration: it.Number, Set: it.Set, Score: it.Score.Value, Scored: it.Score.Measured}
	}
	in := detector.Input{Current: obs(it), Previous: obs(base), Baseline: obs(base), History: []detector.Observation{obs(base)}}
	for _, e := range edit {
		e(&in)
	}
	it.Assessment = detector.Assess(in, rules)
	it.Rejected = it.Assessment.Recommendation.Action == detector.Rollback
	base.Assessment.Class = detector.Baseline
	return reasoning.Input{Iteration: it, Previous: &base, Baseline: base, Rules: rules}
}

func ptr(v float64) *float64 { return &v }

func TestReasoning(t *testing.T) {
	three := set(80, "A", "B", "C")
	for _, c := range []struct {
		name string
		in   reasoning.Input
		want []string // "fired RULE", "near RULE MOVED/THRESHOLD", "blind RULE"
	}{
		{"nothing changed", judged(three, three, detector.Options{}), nil},
		{
			"a test is gone", judged(three, set(80, "A", "B"), detector.Options{}),
			[]string{"fired test_count_decreased", "fired working_tests_failing"},
		},
		{"coverage near", judged(three, set(78.5, "A", "B", "C"), detector.Options{}), []string{"near coverage_regression 1.5/2"}},
		{"coverage over", judged(three, set(77.5, "A", "B", "C"), detector.Options{}), []string{"fired coverage_regression"}},
		{
			"coverage within the user's threshold",
			judged(three, set(77.5, "A", "B", "C"), detector.Options{Rules: map[string]detector.RuleOptions{"coverage_regression": {Threshold: ptr(5)}}}),
			[]string{"near coverage_regression 2.5/5"},
		},
		{
			"coverage off",
			judged(three, set(77.5, "A", "B", "C"), detector.Options{Rules: map[string]detector.RuleOptions{"coverage_regression": {Off: true}}}), nil,
		},
		{
			"complexity in per cent", judged(three, with(three, func(s *metric.Set) { s.Code.Complexity = 2.5 }), detector.Options{}),
			[]string{"near complexity_explosion 25/50"},
		},
		{
			"no coverage", judged(three, with(three, func(s *metric.Set) { s.Coverage = nil }), detector.Options{}),
			[]string{"blind coverage_denominator", "blind coverage_regression"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := described(reasoning.NewChain(c.in).Reasoning); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func with(s metric.Set, edit func(*metric.Set)) metric.Set {
	code := *s.Code
	s.Code = &code
	edit(&s)
	return s
}

func described(r reasoning.Reasoning) []string {
	var out []string
	for _, f := range r.Fired {
		out = append(out, "fired "+f.Rule)
	}
	for _, n := range r.Near {
		out = append(out, fmt.Sprintf("near %s %.4g/%.4g", n.Rule, n.Moved, n.Threshold))
	}
	for _, n := range r.NotJudged {
		out = append(out, "blind "+n.Rule)
	}
	slices.Sort(out)
	return out
}

// TestNearAgreesWithTheDetector holds the table of watched numbers against the
// rules: whatever the numbers, a rule either fires or stays within its threshold.
func TestNearAgreesWithTheDetector(t *testing.T) {
	was := set(80, "A", "B", "C")
	for step := range 60 {
		is := with(set(80-float64(step)/10, "A", "B", "C"), func(s *metric.Set) {
			s.Code.Complexity += float64(step) / 20
			for range step / 5 {
				s.Lint.Findings = append(s.Lint.Findings, metric.Finding{Level: metric.Error})
			}
			s.Coverage.Total -= int64(4 * step)
			s.Coverage.Covered -= int64(3 * step)
		})
		for _, n := range reasoning.NewChain(judged(was, is, detector.Options{})).Reasoning.Near {
			if n.Moved > n.Threshold+1e-9 {
				t.Errorf("step %d: %s moved by %v of %v and did not fire", step, n.Rule, n.Moved, n.Threshold)
			}
		}
	}
}

func TestExceptions(t *testing.T) {
	three := set(80, "A", "B", "C")
	gap := with(three, func(s *metric.Set) {
		s.Coverage, s.Gaps = nil, []metric.Gap{{Section: metric.SectionCoverage, State: metric.Absent, Why: "no report"}}
	})
	broken := set(80, "A", "B")
	broken.Tests.Broken = []metric.Suite{{Name: "m", Why: "does not build"}}
	broken.Tests = broken.Tests.WithNotRun(three.Tests)
	ack := detector.Options{Acknowledged: []detector.Acknowledgement{{ID: "1", Rule: "coverage_regression", Reason: "moved to the other module"}}}
	varying := judged(with(three, func(s *metric.Set) { s.Variation = metric.Delta{metric.CoveragePct: 1} }), set(79.5, "A", "B", "C"), detector.Options{})
	flaky := judged(three, three, detector.Options{})
	flaky.Iteration.Set.Tests = flaky.Iteration.Set.Tests.WithTest(metric.Test{ID: metric.ID{Suite: "m", Name: "A"}, Status: metric.Passed, Flaky: true})
	strict := judged(three, three, detector.Options{Strict: true, Rules: map[string]detector.RuleOptions{"file_deletion": {Off: true}}})
	for _, c := range []struct {
		name  string
		in    reasoning.Input
		kinds []string
		says  string
	}{
		{"nothing", judged(three, three, detector.Options{}), nil, ""},
		{"a test is gone", judged(three, set(80, "A", "B"), detector.Options{}), []string{"regression", "regression"}, "CRITICAL test_deletion: Test count decreased from 3 to 2"},
		{"partial", judged(three, gap, detector.Options{}), []string{"partial"}, "no report"},
		{"carried over", judged(three, broken, detector.Options{}), []string{"regression", "suite_broken", "not_run"}, "does not build"},
		{"acknowledged", judged(three, set(70, "A", "B", "C"), ack), []string{"acknowledged"}, "HIGH coverage_regression"},
		{"variation", varying, []string{"variation"}, "coverage_percentage moved by -0.5, within its variation of 1"},
		{"flaky", flaky, []string{"flaky"}, "m: A"},
		{"overridden", strict, []string{"strict", "overridden"}, "file_deletion is set to off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var kinds []string
			text := ""
			for _, e := range reasoning.NewChain(c.in).Exceptions {
				kinds = append(kinds, e.Kind)
				text += e.Text + "\n"
				if e.Tests != nil {
					text += strings.Join(e.Tests.List, "\n")
				}
			}
			if !slices.Equal(kinds, c.kinds) || !strings.Contains(text, c.says) {
				t.Errorf("got %v %q, want %v and %q", kinds, text, c.kinds, c.says)
			}
		})
	}
}

// TestClassHasItsReasons holds the reasons against the classes of the detector.
func TestClassHasItsReasons(t *testing.T) {
	three := set(80, "A", "B", "C")
	for _, c := range []struct {
		name  string
		is    metric.Set
		class detector.Class
		says  string
	}{
		{"gone", set(80, "A", "B"), detector.Regression, "CRITICAL test_count_decreased"},
		{"coverage", set(77, "A", "B", "C"), detector.Regression, "coverage_percentage changed by -3, the limit is -2"},
		{"one more error", with(three, func(s *metric.Set) {
			s.Lint = &metric.Lint{Findings: []metric.Finding{{Level: metric.Error}}}
		}), detector.Regression, "error_count changed by +1, the limit is 0"},
		{"more tests", set(82, "A", "B", "C", "D"), detector.Forward, "test_count 4 (+1)"},
		{"the same", three, detector.Plateau, "quality score"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reasoning.NewChain(judged(three, c.is, detector.Options{})).Synthesis
			if text := strings.Join(s.Reasons, "; "); s.Class != c.class || !strings.Contains(text, c.says) {
				t.Errorf("%s because %q, want %s and %q", s.Class, text, c.class, c.says)
			}
		})
	}
}

func TestNamesAreCapped(t *testing.T) {
	var tests []string
	for i := range 100 {
		tests = append(tests, fmt.Sprintf("T%03d", i))
	}
	c := reasoning.NewChain(judged(set(80, tests...), set(80, tests[:10]...), detector.Options{}))
	n := c.Reasoning.Fired[0].Tests
	if len(n.List) != reasoning.MaxNames || n.Len() != 90 {
		t.Errorf("%d names and %d more, want %d of 90", len(n.List), n.More, reasoning.MaxNames)
	}
}

func TestOverrides(t *testing.T) {
	three := set(80, "A", "B", "C")
	in := judged(three, set(70.5, "A", "B"), detector.Options{})
	var all []string
	for _, o := range reasoning.NewChain(in).Overrides {
		all = append(all, o.Command+o.Config)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"supervise diff loop 1", "supervise rollback loop 1", "supervise select loop --use 1", "supervise ack " + in.Iteration.Assessment.Alerts[0].ID(),
		"rules: {test_count_decreased: {severity: medium}}", "rules: {coverage_regression: {threshold: 10}}",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if got := reasoning.NewChain(recordedIteration(in)).Overrides; got[0].Command != "supervise select loop --use 1 --reason \"…\"" {
		t.Errorf("an iteration without a tree is overridden by %+v", got[0])
	}
	accepted := judged(three, three, detector.Options{})
	if got := reasoning.NewChain(accepted).Overrides[1].Command; got != "supervise rollback loop s1" {
		t.Errorf("an accepted iteration is undone by %q", got)
	}
}

// recordedIteration is the iteration of a loop that another orchestrator ran.
func recordedIteration(in reasoning.Input) reasoning.Input {
	in.Iteration.Snapshot, in.Iteration.Start, in.Baseline, in.Previous = "", "", ledger.Iteration{}, nil
	return in
}

func TestPrevious(t *testing.T) {
	its := []ledger.Iteration{
		{Number: 0},
		{Number: 1},
		{Number: 2},
		{Number: 3, Rejected: true, Decision: &ledger.Decision{Target: 1}},
		{Number: 4, Rejected: true},
		{Number: 5},
	}
	for n, want := range []int{-1, 0, 1, 2, 1, 1, 5} {
		if got := reasoning.PreviousIteration(its, n); got != want {
			t.Errorf("iteration %d started from %d, want %d", n, got, want)
		}
	}
}
