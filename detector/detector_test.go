package detector_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/metric"
)

// id is a test of the package "calc".
func id(name string) metric.ID { return metric.ID{Suite: "calc", Name: name} }

func numbered(n int) metric.ID { return id(fmt.Sprintf("Test%04d", n)) }

// outcome is one test with its status.
func outcome(name string, s metric.Status) metric.Test { return metric.Test{ID: id(name), Status: s} }

func suite(cases ...metric.Test) *metric.Tests { return metric.NewTests(cases) }

// numberedTests makes the tests from first to before last; those below passing pass.
func numberedTests(first, last, passing int) *metric.Tests {
	var cases []metric.Test
	for n := first; n < last; n++ {
		status := metric.Failed
		if n < passing {
			status = metric.Passed
		}
		cases = append(cases, metric.Test{ID: numbered(n), Status: status})
	}
	return suite(cases...)
}

func percent(p float64) *metric.Coverage {
	return &metric.Coverage{Covered: int64(p*100 + .5), Total: 10000, Unit: metric.Statements, Format: "go"}
}

func lint(errors int) *metric.Lint {
	l := &metric.Lint{Tools: []string{"vet"}}
	for range errors {
		l.Findings = append(l.Findings, metric.Finding{Level: metric.Error})
	}
	return l
}

// measured is a set of count tests of which passed pass, and coverage.
func measured(count, passed int, coverage float64) metric.Set {
	return metric.Set{Tests: numberedTests(0, count, passed), Coverage: percent(coverage)}
}

// step is the input for the iteration after before.
func step(before, now metric.Set) detector.Input {
	prev := detector.Observation{Iteration: 1, Set: before, Class: detector.Forward}
	return detector.Input{
		Current: detector.Observation{Iteration: 2, Set: now, Changed: true}, Previous: prev,
		Baseline: detector.Observation{Set: before, Class: detector.Baseline},
		History:  []detector.Observation{{Set: before, Class: detector.Baseline}, prev},
	}
}

// fired lists the alerts as "SEVERITY rule", without those that only inform.
func fired(a detector.Assessment) []string {
	out := []string{}
	for _, alert := range a.Alerts {
		if alert.Severity > detector.Info {
			out = append(out, alert.Severity.String()+" "+alert.Rule)
		}
	}
	return out
}

func want(t *testing.T, a detector.Assessment, alerts ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, alerts...), fired(a)); diff != "" {
		t.Errorf("alerts (-want +got):\n%s", diff)
	}
}

func TestSeedTestDeletedAndCoverageLost(t *testing.T) {
	before := measured(10, 8, 75)
	now := metric.Set{Tests: numberedTests(1, 10, 8), Coverage: percent(72)} // Test0000 is gone
	in := step(before, now)
	in.Current.Iteration, in.Previous.Iteration = 3, 2
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a, "CRITICAL test_count_decreased", "CRITICAL working_tests_failing", "HIGH coverage_regression")
	if a.Class != detector.Regression {
		t.Errorf("class %v, want regression", a.Class)
	}
	if r := a.Recommendation; r.Action != detector.Rollback || r.Target != 2 || r.Confidence != .95 {
		t.Errorf("recommendation %+v, want rollback to 2 with confidence 0.95", r)
	}
	messages := []string{a.Alerts[0].Message(), a.Alerts[1].Message(), a.Alerts[2].Message()}
	if diff := cmp.Diff([]string{
		"Test count decreased from 10 to 9", "Previously passing tests are gone", "Coverage dropped 75%→72% (exceeds -2% threshold)",
	}, messages); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]metric.ID{numbered(0)}, a.Alerts[0].Tests); diff != "" {
		t.Errorf("evidence: %s", diff)
	}
	if a.FromPrevious[metric.TestCount] != -1 || a.FromPrevious[metric.CoveragePct] != -3 {
		t.Errorf("deltas %v", a.FromPrevious)
	}
}

func TestSeedTwoOf150TestsDeleted(t *testing.T) {
	before := measured(150, 148, 85)
	now := metric.Set{Tests: numberedTests(0, 148, 148), Coverage: percent(84)}
	a := detector.Assess(step(before, now), detector.DefaultOptions())
	want(t, a, "CRITICAL test_count_decreased")
	if got := a.Alerts[0].Message(); got != "Test count decreased from 150 to 148" {
		t.Error(got)
	}
}

// walk assesses a sequence of sets, the first being the baseline, as a loop
// does: a rolled back iteration is not accepted.
func walk(sets []metric.Set, scores []float64, o detector.Options) []detector.Assessment {
	var history []detector.Observation
	var best *detector.Observation
	var out []detector.Assessment
	for i, s := range sets {
		in := detector.Input{
			Current: detector.Observation{Iteration: i, Set: s, Changed: true, Tree: fmt.Sprint("tree", i)},
			History: history, Best: best,
		}
		if scores != nil {
			in.Current.Score, in.Current.Scored = scores[i], true
		}
		if i > 0 {
			in.Baseline, in.Previous = history[0], history[len(history)-1]
		}
		a := detector.Assess(in, o)
		out = append(out, a)
		if a.Recommendation.Action == detector.Rollback {
			continue
		}
		in.Current.Class, in.Current.Settled = a.Class, a.SettledLosses()
		history = append(history, in.Current)
		if current := in.Current; i > 0 && current.Scored && (best == nil || current.Score > best.Score) {
			best = &current
		}
	}
	return out
}

func classes(as []detector.Assessment) []detector.Class {
	var out []detector.Class
	for _, a := range as {
		out = append(out, a.Class)
	}
	return out
}

// The use case names the best iteration as the target, which is a setting: by
// default a rollback returns to the tree that the iteration started from.
func TestUseCaseSequence(t *testing.T) {
	sets := []metric.Set{
		measured(10, 5, 55), measured(10, 6, 60), measured(10, 8, 75), measured(10, 9, 82), measured(10, 9, 81), measured(9, 7, 78),
	}
	scores := []float64{.5, .6, .75, .85, .845, .7}
	for target, iteration := range map[detector.RollbackTarget]int{detector.ToBest: 3, detector.ToStart: 4} {
		got := walk(sets, scores, detector.Options{RollbackTo: target})
		if diff := cmp.Diff([]detector.Class{
			detector.Baseline, detector.Forward, detector.Forward, detector.Forward, detector.Plateau, detector.Regression,
		}, classes(got)); diff != "" {
			t.Error(diff)
		}
		if r := got[5].Recommendation; r.Action != detector.Rollback || r.Target != iteration {
			t.Errorf("%s: recommendation %+v, want rollback to %d", target, r, iteration)
		}
	}
}

func TestIdlingAtNinetyPercentIsAPlateau(t *testing.T) {
	a := detector.Assess(step(measured(10, 9, 80), measured(10, 9, 80)), detector.DefaultOptions())
	if a.Class != detector.Plateau {
		t.Errorf("class %v, want plateau", a.Class)
	}
}

func code(files, loc int, complexity float64) *metric.Code {
	return &metric.Code{Files: files, LOC: loc, Functions: 10, Complexity: complexity}
}

func took(t *metric.Tests, d time.Duration) *metric.Tests {
	out := *t
	out.Duration = d
	return &out
}

func build(s metric.BuildStatus) *metric.Build {
	return &metric.Build{Status: s, FirstError: "calc.go:3:1: undefined: x"}
}

func covered(total int64) *metric.Coverage {
	return &metric.Coverage{Covered: total / 2, Total: total, Unit: metric.Lines, Format: "lcov"}
}

// ruleCases holds, for every rule that compares two sets, a change that fires it
// and the nearest one that does not.
var ruleCases = []struct {
	rule, name  string
	before, now metric.Set
	severity    string // "" when the rule does not fire
	message     string
}{
	{
		rule: "test_count_decreased", name: "one gone", severity: "CRITICAL", message: "Test count decreased from 3 to 2",
		before: metric.Set{Tests: numberedTests(0, 3, 2)}, now: metric.Set{Tests: numberedTests(0, 2, 2)},
	},
	{rule: "test_count_decreased", name: "one more", before: metric.Set{Tests: numberedTests(0, 3, 3)}, now: metric.Set{Tests: numberedTests(0, 4, 4)}},
	{
		rule: "working_tests_failing", name: "one fails", severity: "CRITICAL", message: "Previously passing tests now failing",
		before: metric.Set{Tests: numberedTests(0, 3, 3)}, now: metric.Set{Tests: numberedTests(0, 3, 2)},
	},
	{rule: "working_tests_failing", name: "another failed before", before: metric.Set{Tests: numberedTests(0, 3, 2)}, now: metric.Set{Tests: numberedTests(0, 4, 2)}},
	{
		rule: "tests_replaced", name: "a failing test is swapped", severity: "CRITICAL", message: "Test calc: Test0000 disappeared",
		before: metric.Set{Tests: numberedTests(0, 3, 0)}, now: metric.Set{Tests: numberedTests(1, 4, 0)},
	},
	{rule: "tests_replaced", name: "added only", before: metric.Set{Tests: numberedTests(0, 3, 0)}, now: metric.Set{Tests: numberedTests(0, 4, 0)}},
	{
		rule: "tests_forged", name: "a test that only the output has", severity: "CRITICAL", message: "Test calc: B is only in the output: write it, or remove what prints it",
		before: metric.Set{Tests: suite(outcome("A", metric.Passed))},
		now:    metric.Set{Tests: &metric.Tests{Cases: suite(outcome("A", metric.Passed)).Cases, Forged: []metric.ID{outcome("B", metric.Passed).ID}}},
	},
	{rule: "tests_forged", name: "a new test", before: metric.Set{Tests: suite(outcome("A", metric.Passed))}, now: metric.Set{Tests: suite(outcome("A", metric.Passed), outcome("B", metric.Passed))}},
	{
		rule: "tests_newly_skipped", name: "a failing test is skipped", severity: "CRITICAL", message: "Test calc: B is now skipped",
		before: metric.Set{Tests: suite(outcome("A", metric.Passed), outcome("B", metric.Failed))},
		now:    metric.Set{Tests: suite(outcome("A", metric.Passed), outcome("B", metric.Skipped))},
	},
	{
		rule: "tests_newly_skipped", name: "was skipped before, and a new one is",
		before: metric.Set{Tests: suite(outcome("A", metric.Skipped))},
		now:    metric.Set{Tests: suite(outcome("A", metric.Skipped), outcome("B", metric.Skipped))},
	},
	{
		rule: "coverage_regression", name: "2.1 points", severity: "HIGH", message: "Coverage dropped 77.1%→75% (exceeds -2% threshold)",
		before: metric.Set{Coverage: percent(77.1)}, now: metric.Set{Coverage: percent(75)},
	},
	{rule: "coverage_regression", name: "exactly 2 points", before: metric.Set{Coverage: percent(77.9)}, now: metric.Set{Coverage: percent(75.9)}},
	{rule: "coverage_regression", name: "another unit", before: metric.Set{Coverage: percent(90)}, now: metric.Set{Coverage: covered(100)}},
	{
		rule: "error_increase", name: "six more", severity: "HIGH", message: "Error count increased by 6",
		before: metric.Set{Lint: lint(1)}, now: metric.Set{Lint: lint(7)},
	},
	{rule: "error_increase", name: "five more", before: metric.Set{Lint: lint(1)}, now: metric.Set{Lint: lint(6)}},
	{
		rule: "suite_did_not_run", name: "no report", severity: "HIGH", message: "Test results could not be read: the report is cut off",
		before: metric.Set{Tests: numberedTests(0, 3, 3)},
		now:    metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "the report is cut off"}}},
	},
	{rule: "suite_did_not_run", name: "a project without tests", before: metric.Set{Code: code(1, 1, 1)}, now: metric.Set{Code: code(1, 1, 1)}},
	{
		rule: "build_broken", name: "fails", severity: "HIGH", message: "Build is broken: calc.go:3:1: undefined: x",
		before: metric.Set{Build: build(metric.BuildSuccess)}, now: metric.Set{Build: build(metric.BuildFailure)},
	},
	{rule: "build_broken", name: "failed before", before: metric.Set{Build: build(metric.BuildFailure)}, now: metric.Set{Build: build(metric.BuildFailure)}},
	{rule: "build_broken", name: "unknown before", before: metric.Set{Build: build(metric.BuildUnknown)}, now: metric.Set{Build: build(metric.BuildFailure)}},
	{
		rule: "file_deletion", name: "one less", severity: "MEDIUM", message: "File count decreased (potential code deletion)",
		before: metric.Set{Code: code(3, 100, 2)}, now: metric.Set{Code: code(2, 100, 2)},
	},
	{rule: "file_deletion", name: "same", before: metric.Set{Code: code(3, 100, 2)}, now: metric.Set{Code: code(3, 50, 2)}},
	{
		rule: "complexity_explosion", name: "51 per cent", severity: "MEDIUM", message: "Complexity increased >50%",
		before: metric.Set{Code: code(1, 100, 2)}, now: metric.Set{Code: code(1, 100, 3.02)},
	},
	{rule: "complexity_explosion", name: "50 per cent", before: metric.Set{Code: code(1, 100, 2)}, now: metric.Set{Code: code(1, 100, 3)}},
	{
		rule: "coverage_denominator", name: "11 per cent", severity: "MEDIUM", message: "Coverage now ignores 11 lines",
		before: metric.Set{Coverage: covered(100), Code: code(1, 200, 2)}, now: metric.Set{Coverage: covered(89), Code: code(1, 200, 2)},
	},
	{
		rule: "coverage_denominator", name: "10 per cent",
		before: metric.Set{Coverage: covered(100), Code: code(1, 200, 2)}, now: metric.Set{Coverage: covered(90), Code: code(1, 200, 2)},
	},
	{
		rule: "coverage_denominator", name: "the code shrank too",
		before: metric.Set{Coverage: covered(100), Code: code(1, 200, 2)}, now: metric.Set{Coverage: covered(60), Code: code(1, 120, 2)},
	},
	{
		rule: "coverage_denominator", name: "a package did not build",
		before: metric.Set{Coverage: covered(100), Code: code(1, 200, 2), Tests: suite()},
		now:    metric.Set{Coverage: covered(60), Code: code(1, 200, 2), Tests: &metric.Tests{Broken: []metric.Suite{{Name: "a"}}}},
	},
	{
		rule: "coverage_denominator", name: "lines of code not measured",
		before: metric.Set{Coverage: covered(100)}, now: metric.Set{Coverage: covered(60)},
	},
	{
		rule: "flaky_test", name: "passed when rerun", severity: "MEDIUM", message: "calc: A is flaky",
		before: metric.Set{Tests: suite(outcome("A", metric.Passed))},
		now:    metric.Set{Tests: suite(metric.Test{ID: id("A"), Status: metric.Passed, Flaky: true})},
	},
	{
		rule: "flaky_test", name: "known to be flaky",
		before: metric.Set{Tests: suite(metric.Test{ID: id("A"), Status: metric.Passed, Flaky: true})},
		now:    metric.Set{Tests: suite(metric.Test{ID: id("A"), Status: metric.Passed, Flaky: true})},
	},
	{
		rule: "test_time_anomaly", name: "51 per cent", severity: "MEDIUM", message: "Tests took 4.9s, were 10s",
		before: metric.Set{Tests: took(numberedTests(0, 3, 3), 10*time.Second)}, now: metric.Set{Tests: took(numberedTests(0, 3, 3), 4900*time.Millisecond)},
	},
	{
		rule: "test_time_anomaly", name: "50 per cent",
		before: metric.Set{Tests: took(numberedTests(0, 3, 3), 10*time.Second)}, now: metric.Set{Tests: took(numberedTests(0, 3, 3), 5*time.Second)},
	},
	{
		rule: "test_time_anomaly", name: "less than a second before",
		before: metric.Set{Tests: took(numberedTests(0, 3, 3), 900*time.Millisecond)}, now: metric.Set{Tests: took(numberedTests(0, 3, 3), time.Millisecond)},
	},
	{
		rule: "test_time_anomaly", name: "others ran alongside them before",
		before: metric.Set{Tests: contended(took(numberedTests(0, 3, 3), 10*time.Second), 5*time.Second)}, now: metric.Set{Tests: took(numberedTests(0, 3, 3), 2600*time.Millisecond)},
	},
	{
		rule: "test_time_anomaly", name: "less than they can take alone", severity: "MEDIUM", message: "Tests took 2.4s, were 10s",
		before: metric.Set{Tests: contended(took(numberedTests(0, 3, 3), 10*time.Second), 5*time.Second)}, now: metric.Set{Tests: took(numberedTests(0, 3, 3), 2400*time.Millisecond)},
	},
	{
		rule: "test_time_anomaly", name: "other tests",
		before: metric.Set{Tests: took(numberedTests(0, 3, 3), 10*time.Second)}, now: metric.Set{Tests: took(numberedTests(0, 4, 4), time.Second)},
	},
}

// contended returns tests with the time that parallel checks may have cost.
func contended(t *metric.Tests, lost time.Duration) *metric.Tests {
	t.Contention = lost
	return t
}

func alertOf(a detector.Assessment, rule string) (detector.Alert, bool) {
	i := slices.IndexFunc(a.Alerts, func(x detector.Alert) bool { return x.Rule == rule })
	if i < 0 {
		return detector.Alert{}, false
	}
	return a.Alerts[i], true
}

func TestRules(t *testing.T) {
	for _, tt := range ruleCases {
		t.Run(tt.rule+"/"+tt.name, func(t *testing.T) {
			got, ok := alertOf(detector.Assess(step(tt.before, tt.now), detector.DefaultOptions()), tt.rule)
			if ok != (tt.severity != "") || ok && got.Severity.String() != tt.severity {
				t.Fatalf("fired %v as %v, want %q", ok, got.Severity, tt.severity)
			}
			if ok && (got.Message() != tt.message || got.TriggeredAt != 2 || got.Against != detector.AgainstPrevious) {
				t.Errorf("message %q, triggered at %d against %s, want %q", got.Message(), got.TriggeredAt, got.Against, tt.message)
			}
		})
	}
}

// Absent values never fire a rule, on either side.
func TestUnmeasuredValuesFireNoRule(t *testing.T) {
	for _, tt := range ruleCases {
		if tt.severity == "" || tt.rule == "suite_did_not_run" || tt.rule == "flaky_test" {
			continue
		}
		if _, ok := alertOf(detector.Assess(step(tt.before, metric.Set{}), detector.DefaultOptions()), tt.rule); ok {
			t.Errorf("%s fires although nothing is measured now", tt.rule)
		}
		if _, ok := alertOf(detector.Assess(step(metric.Set{}, tt.now), detector.DefaultOptions()), tt.rule); ok {
			t.Errorf("%s fires although nothing was measured before", tt.rule)
		}
	}
}

func TestRulesCanBeOverridden(t *testing.T) {
	huge := 1e6
	for _, tt := range ruleCases {
		if tt.severity == "" {
			continue
		}
		assess := func(o detector.RuleOptions) (detector.Alert, bool) {
			return alertOf(detector.Assess(step(tt.before, tt.now), detector.Options{Rules: map[string]detector.RuleOptions{tt.rule: o}}), tt.rule)
		}
		if a, ok := assess(detector.RuleOptions{Severity: detector.Low, Action: "page_someone"}); !ok || a.Severity != detector.Low || a.Action != "page_someone" {
			t.Errorf("%s overridden: %v %+v", tt.rule, ok, a)
		}
		if _, ok := assess(detector.RuleOptions{Off: true}); ok {
			t.Errorf("%s fires although it is off", tt.rule)
		}
		if _, ok := assess(detector.RuleOptions{Action: detector.Off}); ok {
			t.Errorf("%s fires although its action is off", tt.rule)
		}
		if r, _ := detector.FindRule(tt.rule); r.Threshold > 0 {
			if _, ok := assess(detector.RuleOptions{Threshold: &huge}); ok {
				t.Errorf("%s fires below its threshold", tt.rule)
			}
		}
	}
}

func TestGitStateLost(t *testing.T) {
	many := []string{"branch a", "branch b", "branch c", "branch d", "tag e", "tag f", "tag g"}
	for _, tt := range []struct {
		name     string
		lost     []string
		rule     detector.RuleOptions
		baseline bool   // the baseline itself is judged
		severity string // "" when the rule does not fire
		message  string
		action   detector.Action
	}{
		{name: "nothing lost"},
		{name: "empty list", lost: []string{}},
		{
			name: "one", lost: []string{"branch topic"}, severity: "CRITICAL", action: detector.AlertAndRollback,
			message: "Git state is lost: branch topic (since the baseline)",
		},
		{
			name: "five", lost: many[:5], severity: "CRITICAL", action: detector.AlertAndRollback,
			message: "Git state is lost: branch a, branch b, branch c, branch d, tag e (since the baseline)",
		},
		{
			name: "seven", lost: many, severity: "CRITICAL", action: detector.AlertAndRollback,
			message: "Git state is lost: branch a, branch b, branch c, branch d, tag e and 2 more (since the baseline)",
		},
		{name: "off", lost: many, rule: detector.RuleOptions{Off: true}},
		{name: "action off", lost: many, rule: detector.RuleOptions{Action: detector.Off}},
		{
			name: "overridden", lost: many[:1], rule: detector.RuleOptions{Severity: detector.Low, Action: "page_someone"},
			severity: "LOW", action: "page_someone", message: "Git state is lost: branch a (since the baseline)",
		},
		{name: "the baseline is not judged", lost: many, baseline: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(measured(3, 3, 80), measured(3, 3, 80))
			in.GitLost = tt.lost
			if tt.baseline {
				in.Current.Iteration = 0
			}
			a := detector.Assess(in, detector.Options{Rules: map[string]detector.RuleOptions{"git_state_lost": tt.rule}})
			alert, ok := alertOf(a, "git_state_lost")
			if ok != (tt.severity != "") {
				t.Fatalf("fired %v, want severity %q", ok, tt.severity)
			}
			if !ok {
				return
			}
			if alert.Severity.String() != tt.severity || alert.Action != tt.action || alert.Message() != tt.message {
				t.Errorf("%v %s %q, want %s %s %q", alert.Severity, alert.Action, alert.Message(), tt.severity, tt.action, tt.message)
			}
			if alert.Type != "work_loss" || alert.Against != detector.AgainstBaseline || alert.Values.N != len(tt.lost) {
				t.Errorf("type %s, against %s, n %d", alert.Type, alert.Against, alert.Values.N)
			}
			if undo := tt.action == detector.AlertAndRollback; undo != (a.Recommendation.Action == detector.Rollback) {
				t.Errorf("recommendation %+v", a.Recommendation)
			}
		})
	}
}

func TestALoweredCriticalIsNotUndone(t *testing.T) {
	in := step(measured(3, 3, 80), measured(3, 2, 80))
	a := detector.Assess(in, detector.Options{Rules: map[string]detector.RuleOptions{"working_tests_failing": {Severity: detector.High}}})
	if a.Recommendation.Action != detector.Continue || a.HasCritical() {
		t.Errorf("recommendation %+v, critical %v", a.Recommendation, a.HasCritical())
	}
}

func TestOptionsAreValidated(t *testing.T) {
	below := -1.0
	for name, o := range map[string]detector.RuleOptions{"no_such_rule": {}, "error_increase": {Threshold: &below}} {
		err := (detector.Options{Rules: map[string]detector.RuleOptions{name: o}}).Validate()
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name the rule", name, err)
		}
	}
	if err := detector.DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}

func TestUnreadTestsAreCriticalTheSecondTime(t *testing.T) {
	in := step(measured(3, 3, 80), metric.Set{Coverage: percent(80)})
	in.SuiteUnread = 1
	want(t, detector.Assess(in, detector.DefaultOptions()), "CRITICAL suite_did_not_run")
}

// A check that is broken for one iteration hides nothing from the next.
func TestLossIsSeenAfterAnUnreadSuite(t *testing.T) {
	baseline, grown, unread := measured(10, 10, 80), measured(15, 15, 80), metric.Set{Coverage: percent(80)}
	in := detector.Input{
		Current:  detector.Observation{Iteration: 3, Set: measured(12, 12, 80)},
		Previous: detector.Observation{Iteration: 2, Set: unread}, Baseline: detector.Observation{Set: baseline},
		History: []detector.Observation{{Set: baseline}, {Iteration: 1, Set: grown}, {Iteration: 2, Set: unread}},
	}
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a, "CRITICAL test_count_decreased", "CRITICAL working_tests_failing")
}

func TestBaselineErosionOverFiveSmallSteps(t *testing.T) {
	var sets []metric.Set
	for _, c := range []float64{80, 79.5, 79, 78.5, 78, 77.5, 77.5, 77.4, 75.4} {
		sets = append(sets, measured(4, 4, c))
	}
	got := walk(sets, nil, detector.DefaultOptions())
	for i, a := range got {
		alert, ok := alertOf(a, "coverage_regression")
		if ok != (i == 5 || i == 8) { // 6 makes nothing worse, 7 hardly anything
			t.Errorf("iteration %d: fired %v", i, ok)
		}
		if i == 5 && (alert.Against != detector.AgainstBaseline || alert.Message() != "Coverage dropped 80%→77.5% (exceeds -2% threshold) (since the baseline)") {
			t.Errorf("against %s: %s", alert.Against, alert.Message())
		}
	}
}

func TestOneEventGivesOneAlertPerRule(t *testing.T) {
	a := detector.Assess(step(measured(10, 10, 80), measured(8, 8, 70)), detector.DefaultOptions())
	want(t, a, "CRITICAL test_count_decreased", "CRITICAL working_tests_failing", "HIGH coverage_regression")
	c, _ := alertOf(a, "coverage_regression")
	if c.Against != detector.AgainstPrevious || c.Values.Baseline == nil || *c.Values.Baseline != 80 {
		t.Errorf("alert %+v, want it against previous with the baseline alongside", c)
	}
}

func TestCoverageVariationIsNoDrop(t *testing.T) {
	in := step(measured(4, 4, 80), measured(4, 4, 77))
	in.Baseline.Set.Variation = metric.Delta{metric.CoveragePct: 3.5}
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a)
	if a.Class == detector.Regression {
		t.Error("a drop within the variation is a regression")
	}
}

// A linter whose findings differ on one tree regresses nothing by as many, also where the
// score follows them, and makes no progress and no cycle.
func TestErrorsWithinTheVariationAreNone(t *testing.T) {
	varies := metric.Delta{metric.ErrorCount: 8, metric.LintErrors: 8, metric.QualityScore: .1}
	found := func(n int) metric.Set {
		return metric.Set{Tests: numberedTests(0, 4, 4), Lint: lint(n), Variation: varies}
	}
	for _, tt := range []struct {
		before, now int
		alerts      []string
		class       detector.Class
	}{
		{2, 10, nil, detector.Plateau},
		{10, 2, nil, detector.Plateau},
		{2, 11, []string{"HIGH error_increase"}, detector.Regression},
		{11, 2, nil, detector.Forward},
	} {
		in := step(found(tt.before), found(tt.now))
		in.Previous.Score, in.Previous.Scored, in.Current.Score, in.Current.Scored = .9, true, .9-.01*float64(tt.now-tt.before), true
		a := detector.Assess(in, detector.DefaultOptions())
		want(t, a, tt.alerts...)
		if a.Class != tt.class {
			t.Errorf("%d, then %d: class %v, want %v", tt.before, tt.now, a.Class, tt.class)
		}
	}
	var all []detector.Observation
	for i := range 10 {
		all = append(all, detector.Observation{Iteration: i, Set: found(2 + 8*(i%2))})
	}
	in := detector.Input{Current: all[9], History: all[:9], Previous: all[8], Baseline: all[0]}
	if c := detector.Assess(in, detector.DefaultOptions()).Cycle; c != nil {
		t.Errorf("cycle %+v, although nothing but what wobbles moves", c)
	}
}

func TestConfirmedFlakyFailureIsNoRegression(t *testing.T) {
	in := step(measured(4, 4, 80), measured(4, 3, 80))
	in.Flaky = []metric.ID{numbered(3)}
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a, "MEDIUM flaky_test")
	if diff := cmp.Diff([]metric.ID{numbered(3)}, a.Changes.Flaky); diff != "" || a.Class == detector.Regression {
		t.Errorf("class %v, flaky: %s", a.Class, diff)
	}
}

func TestEqualSetsFireNothing(t *testing.T) {
	for _, tt := range ruleCases {
		for _, s := range []metric.Set{tt.before, tt.now} {
			if len(s.Gaps) > 0 {
				continue // a suite that cannot be read stays an alert
			}
			want(t, detector.Assess(step(s, s), detector.DefaultOptions()))
		}
	}
}

func TestAssessmentIsIndependentOfTestOrder(t *testing.T) {
	before, now := numberedTests(0, 40, 30), numberedTests(3, 41, 25)
	want := detector.Assess(step(metric.Set{Tests: before}, metric.Set{Tests: now}), detector.DefaultOptions())
	shuffled := func(t *metric.Tests, r *rand.Rand) *metric.Tests {
		out := *t
		out.Cases = slices.Clone(t.Cases)
		r.Shuffle(len(out.Cases), func(i, j int) { out.Cases[i], out.Cases[j] = out.Cases[j], out.Cases[i] })
		return &out
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		got := detector.Assess(step(metric.Set{Tests: shuffled(before, r)}, metric.Set{Tests: shuffled(now, r)}), detector.DefaultOptions())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestBaselineIsNotCompared(t *testing.T) {
	in := detector.Input{Current: detector.Observation{Set: measured(3, 1, 10)}, Previous: detector.Observation{Set: measured(9, 9, 90)}}
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a)
	if a.Class != detector.Baseline || a.Recommendation.Action != detector.Continue {
		t.Errorf("class %v, recommendation %v", a.Class, a.Recommendation)
	}
}

func TestAlertIsWrittenWithItsMessage(t *testing.T) {
	a := detector.Assess(step(measured(3, 2, 80), measured(2, 2, 80)), detector.DefaultOptions())
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"message":"Test count decreased from 3 to 2"`) || !strings.Contains(string(text), `"severity":"CRITICAL"`) {
		t.Errorf("%s", text)
	}
	var back detector.Assessment
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, back); diff != "" {
		t.Errorf("read back: %s", diff)
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for _, s := range []detector.Severity{detector.Info, detector.Low, detector.Medium, detector.High, detector.Critical} {
		var back detector.Severity
		text, _ := s.MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%v came back as %v, %v", s, back, err)
		}
	}
	for _, c := range []detector.Class{detector.Baseline, detector.Forward, detector.Plateau, detector.Regression, detector.Stalled} {
		var back detector.Class
		text, _ := c.MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != c {
			t.Errorf("%v came back as %v, %v", c, back, err)
		}
	}
	var s detector.Severity
	if s.UnmarshalText([]byte("DIRE")) == nil || s.UnmarshalText(nil) == nil {
		t.Error("an unknown severity was read")
	}
}

// Orchestrators may give scores alone.
func TestScoresAloneAreClassified(t *testing.T) {
	at := func(n int, score float64, class detector.Class) detector.Observation {
		return detector.Observation{Iteration: n, Score: score, Scored: true, Class: class}
	}
	best := at(2, .85, detector.Forward)
	for _, tt := range []struct {
		score  float64
		class  detector.Class
		action detector.RecommendedAction
	}{
		{.88, detector.Forward, detector.Continue},
		{.84, detector.Plateau, detector.Continue},
		{.80, detector.Regression, detector.Continue},
		{.70, detector.Regression, detector.Rollback},
	} {
		history := []detector.Observation{at(1, .72, detector.Forward), best}
		got := detector.Assess(detector.Input{Current: at(3, tt.score, 0), Previous: best, History: history, Best: &best}, detector.Options{})
		if got.Class != tt.class || got.Recommendation.Action != tt.action {
			t.Errorf("%v after .85 is %s, %s, want %s, %s", tt.score, got.Class, got.Recommendation.Action, tt.class, tt.action)
		}
	}
	flat := []detector.Observation{at(1, .72, detector.Forward), at(2, .721, detector.Plateau), at(3, .722, detector.Plateau)}
	got := detector.Assess(detector.Input{Current: at(4, .72, 0), Previous: flat[2], History: flat}, detector.Options{})
	if got.Class != detector.Stalled || got.Recommendation.Action != detector.Stop {
		t.Errorf("flat scores are %s, %s, want stalled, stop", got.Class, got.Recommendation.Action)
	}
}

// Tests that are gone fail nowhere: the message must not say so.
func TestPassingTestsThatAreGoneDoNotFail(t *testing.T) {
	before := metric.Set{Tests: numberedTests(0, 6, 6)}
	for want, now := range map[string]*metric.Tests{
		"Previously passing tests now failing":                  numberedTests(0, 6, 5),
		"Previously passing tests are gone":                     numberedTests(2, 6, 6),
		"Previously passing tests now failing (1), or gone (2)": numberedTests(2, 6, 5),
	} {
		a := detector.Assess(step(before, metric.Set{Tests: now}), detector.DefaultOptions())
		if alert, _ := alertOf(a, "working_tests_failing"); alert.Message() != want {
			t.Errorf("got %q, want %q", alert.Message(), want)
		}
	}
}
