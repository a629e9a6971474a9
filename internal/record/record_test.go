package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
)

var noon = time.Date(2026, 2, 2, 12, 0, 0, 0, time.UTC)

// place is an empty home and an empty tree.
func place(t testing.TB) record.Service {
	t.Helper()
	return record.Service{
		Home: t.TempDir(), Root: t.TempDir(), By: "ann", Now: func() time.Time { return noon },
		Settings: func() (record.Settings, any, error) {
			s := record.Defaults()
			s.Recovery = recovery.Options{MaxRetries: 1, StopOnStall: true}
			return s, s, nil
		},
	}
}

// message reads one message.
func message(t testing.TB, text string) record.Message {
	t.Helper()
	m, err := record.NewMessages(strings.NewReader(text)).Next()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

// record records what must be accepted.
func put(t testing.TB, p record.Service, text string) record.Result {
	t.Helper()
	rec, err := record.Record(context.Background(), p, message(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rec
}

// counts is an IterationComplete of numbers of tests and coverage.
func counts(n, tests, passed int, coverage float64) string {
	return fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration": %d, "testing": {"test_count": %d, "tests_passed": %d, "coverage_percentage": %v}}`, n, tests, passed, coverage)
}

func rules(it ledger.Iteration) []string {
	var out []string
	for _, a := range it.Assessment.Alerts {
		if a.Severity >= detector.Medium {
			out = append(out, a.Rule)
		}
	}
	slices.Sort(out)
	return out
}

// Known trajectories, by numbers alone.
func TestVerdictsOnKnownTrajectories(t *testing.T) {
	type row struct {
		tests, passed int
		coverage      float64
		class         detector.Class
		best          int
	}
	for _, tt := range []struct {
		name   string
		rows   []row // the baseline first
		rules  []string
		target int
	}{
		{
			"ten tests become nine",
			[]row{{8, 5, 65, detector.Baseline, -1}, {8, 6, 70, detector.Forward, 1}, {10, 8, 75, detector.Forward, 2}, {9, 7, 72, detector.Regression, 2}},
			[]string{"coverage_regression", "test_count_decreased", "working_tests_failing"},
			2,
		},
		{
			"the use case",
			[]row{{10, 5, 55, detector.Baseline, -1}, {10, 6, 60, detector.Forward, 1}, {10, 8, 75, detector.Forward, 2}, {10, 9, 82, detector.Forward, 3}, {10, 9, 81, detector.Plateau, 3}, {9, 7, 78, detector.Regression, 3}},
			[]string{"coverage_regression", "test_count_decreased", "working_tests_failing"},
			4,
		},
		{
			"150 tests become 148",
			[]row{{150, 148, 85, detector.Baseline, -1}, {148, 148, 84, detector.Regression, -1}},
			[]string{"test_count_decreased"},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := place(t)
			var rec record.Result
			for n, r := range tt.rows {
				rec = put(t, p, counts(n, r.tests, r.passed, r.coverage))
				if got := rec.Iteration.Assessment.Class; got != r.class {
					t.Errorf("iteration %d is %s, want %s", n, got, r.class)
				}
				best := -1
				if b := rec.View.State.Best; b != nil {
					best = b.Iteration
				}
				if best != r.best {
					t.Errorf("after iteration %d the best is %d, want %d", n, best, r.best)
				}
			}
			if got := rules(rec.Iteration); !slices.Equal(got, tt.rules) {
				t.Errorf("rules %v, want %v", got, tt.rules)
			}
			d := rec.View.Decide(record.Question{})
			if d.Action != detector.Rollback || d.Target == nil || *d.Target != tt.target || !rec.Iteration.Rejected {
				t.Errorf("decision %+v, want a rollback to %d", d, tt.target)
			}
		})
	}
}

func TestScoreIsWeighedFromDimensions(t *testing.T) {
	p := place(t)
	for n, tt := range []struct {
		v, c, k, r, e float64
		want          int
	}{
		{.70, .72, .72, .72, .75, 72},
		{.85, .85, .87, .83, .85, 85},
		{.90, .85, .85, .80, .80, 86},
	} {
		rec := put(t, p, fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration_number": %d, "verification_status": "passed",
			"dimensions": {"validation": %v, "completeness": %v, "correctness": %v, "readability": %v, "efficiency": %v}}`, n+1, tt.v, tt.c, tt.k, tt.r, tt.e))
		if got := int(math.Round(100 * rec.Iteration.Score.Value)); got != tt.want || !rec.Iteration.Verified {
			t.Errorf("iteration %d has %d points, verified %v, want %d", n+1, got, rec.Iteration.Verified, tt.want)
		}
	}
	dir, state := find(t, p)
	v, err := record.ReadView(dir, state)
	if err != nil {
		t.Fatal(err)
	}
	if _, c, err := v.Choose(record.SelectionRequest{}); err != nil || c.Iteration != 3 || len(c.Superseded) > 0 {
		t.Errorf("chose %+v, %v, want 3: scores without metrics are compared plainly", c, err)
	}
	if w, c, err := v.Choose(record.SelectionRequest{Weights: map[string]float64{"validation": 0, "correctness": 1}}); err != nil || c.Iteration != 2 || w.Iterations[1].Score.Value == v.Iterations[1].Score.Value {
		t.Errorf("chose %d, %v, want 2, whose correctness is the highest", c.Iteration, err)
	}
}

func find(t *testing.T, p record.Service) (string, ledger.State) {
	t.Helper()
	dir, state, err := ledger.FindLoop(p.Home, p.Root, "l")
	if err != nil {
		t.Fatal(err)
	}
	return dir, state
}

func TestMessagesBecomeSets(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[metric.Field]float64 // -1: not measured
		err        string
	}{
		{
			"tests from counts", `{"testing": {"test_count": 8, "tests_passed": 5, "tests_skipped": 1, "pass_rate": 62.5}}`,
			map[metric.Field]float64{metric.TestCount: 8, metric.TestsPassed: 5, metric.TestsFailed: 2, metric.TestsSkipped: 1, metric.CoveragePct: -1, metric.TestTime: -1},
			"",
		},
		{"the sum from its parts", `{"testing": {"tests_passed": 5, "tests_failed": 2}}`, map[metric.Field]float64{metric.TestCount: 7, metric.TestsFailed: 2}, ""},
		{
			"tests by name", `{"testing": {"tests": [{"suite": "a", "name": "x", "status": "passed"}, {"name": "y", "status": "not_run"}]}}`,
			map[metric.Field]float64{metric.TestCount: 2, metric.TestsFailed: 1},
			"",
		},
		{
			"coverage in lines", `{"testing": {"coverage_percentage": 65, "coverage_lines_covered": 292, "coverage_lines_total": 450}}`,
			map[metric.Field]float64{metric.CoverageHit: 292, metric.TestCount: -1},
			"",
		},
		{"coverage in per cent", `{"testing": {"coverage_percentage": 82.35}}`, map[metric.Field]float64{metric.CoveragePct: 82.35, metric.CoverageHit: -1, metric.CoverageTotal: -1}, ""},
		{
			"findings", `{"quality": {"lint_errors": 8, "lint_warnings": 4, "typescript_errors": 1, "build_status": "success"}}`,
			map[metric.Field]float64{metric.ErrorCount: 13, metric.LintErrors: 8, metric.LintWarnings: 4, metric.TypeErrors: 1, metric.BuildTime: -1},
			"",
		},
		{"a sum of errors alone", `{"quality": {"error_count": 12}}`, map[metric.Field]float64{metric.ErrorCount: 12, metric.LintErrors: 0}, ""},
		{"null is not measured", `{"quality": {"lint_errors": null, "build_status": "failure"}}`, map[metric.Field]float64{metric.ErrorCount: -1}, ""},
		{"code", `{"codebase": {"file_count": 3, "loc_total": 450, "complexity_score": 12.5}}`, map[metric.Field]float64{metric.FileCount: 3, metric.LOCTotal: 450, metric.Complexity: 12.5}, ""},
		{"wrapped", `{"metrics": {"testing": {"tests_passed": 1, "tests_failed": 0}}}`, map[metric.Field]float64{metric.TestCount: 1}, ""},

		{"too many", `{"testing": {"test_count": 5, "tests_passed": 5, "tests_failed": 1}}`, nil, "test_count is 5, but"},
		{"too few known", `{"testing": {"test_count": 5}}`, nil, "give test_count and tests_passed"},
		{"a rate alone", `{"testing": {"pass_rate": 80}}`, nil, "pass_rate alone"},
		{"a wrong rate", `{"testing": {"test_count": 10, "tests_passed": 5, "pass_rate": 80}}`, nil, "pass_rate is 80, but 5 of 10"},
		{"names against numbers", `{"testing": {"test_count": 2, "tests_passed": 2, "tests": [{"name": "y", "status": "failed"}]}}`, nil, "testing.tests has 1 tests"},
		{"half a test", `{"testing": {"test_count": 2.5, "tests_passed": 2}}`, nil, "an integer"},
		{"a negative number", `{"quality": {"lint_errors": -1}}`, nil, "an integer"},
		{"a huge number", `{"testing": {"tests_passed": 1e12, "tests_failed": 0}}`, nil, "an integer"},
		{"too much coverage", `{"testing": {"coverage_percentage": 170}}`, nil, "from 0 to 100"},
		{"coverage that disagrees", `{"testing": {"coverage_percentage": 50, "coverage_lines_covered": 9, "coverage_lines_total": 10}}`, nil, "lines are covered: 90.0"},
		{"a sum that disagrees", `{"quality": {"error_count": 5, "lint_errors": 1}}`, nil, "error_count is 5, but"},
		{"an unknown build", `{"quality": {"build_status": "green"}}`, nil, "give success, failure or unknown"},
		{"half of the code", `{"codebase": {"file_count": 3}}`, nil, "file_count and loc_total"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := message(t, tt.text).Set(nil)
			if tt.err != "" {
				if !errors.Is(err, record.ErrInvalidMessage) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for f, want := range tt.want {
				if got, ok := set.Value(f); ok != (want >= 0) || ok && math.Abs(got-want) > 1e-9 {
					t.Errorf("%s is %v, %v, want %v", f, got, ok, want)
				}
			}
		})
	}
}

// Where not everything counts as an error, a sum is compared with what does.
func TestErrorCountIsCheckedAgainstItsParts(t *testing.T) {
	for text, want := range map[string]float64{
		`{"quality": {"lint_errors": 1, "lint_warnings": 5}}`:                   1,
		`{"quality": {"lint_errors": 1, "lint_warnings": 5, "error_count": 1}}`: 1,
		`{"quality": {"error_count": 7}}`:                                       7,
		`{"quality": {"lint_errors": 1, "lint_warnings": 5, "error_count": 6}}`: -1, // refused
	} {
		set, err := message(t, text).Set([]metric.Field{metric.LintErrors})
		if got, ok := set.Value(metric.ErrorCount); want < 0 && err == nil || want >= 0 && (!ok || got != want) {
			t.Errorf("%s: error_count %v (%v), %v; want %v", text, got, ok, err, want)
		}
	}
}

func TestInvalidMessagesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[1]`:                  "a message is a JSON object",
		`{"tesing": {}}`:       `unknown field "tesing"`,
		`{"iteration": "one"}`: "cannot unmarshal",
		`{"metrics": 5}`:       "metrics",
		`{"iteration": 1, "iteration_metrics": {"iteration": 2}}`: "iteration is given twice",
	} {
		if _, err := record.NewMessages(strings.NewReader(text)).Next(); !errors.Is(err, record.ErrInvalidMessage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := record.NewMessages(strings.NewReader(`{"iteration": `)).Next(); err == nil || errors.Is(err, record.ErrInvalidMessage) || errors.Is(err, io.EOF) {
		t.Errorf("half a message: %v, want an error that ends the conversation", err)
	}
	p := place(t)
	put(t, p, counts(1, 5, 5, 80))
	for text, want := range map[string]error{
		counts(1, 5, 5, 80): record.ErrExists,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 2}`:                                                    record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l"}`:                                                                    record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": -1}`:                                                   record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 1, "iteration_number": 2}`:                             record.ErrInvalidMessage,
		`{"type": "BaselineRequest", "loop_id": "l", "iteration": 3}`:                                                      record.ErrInvalidMessage,
		`{"type": "BaselineRequest", "loop_id": "l"}`:                                                                      record.ErrInvalidMessage, // comes too late
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 3, "quality_score": 72}`:                               record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 3, "quality_score": 0.5, "replace": true}`:             record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 3, "quality_score": 0.5, "started_from": 2}`:           record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 3, "quality_score": 0.5, "verification_status": "ok"}`: record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "l", "iteration": 3, "quality_score": 0.5, "tokens_used": -1}`:           record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "../l", "iteration": 1, "quality_score": 0.5}`:                           record.ErrInvalidMessage,
		`{"type": "IterationComplete", "loop_id": "m", "iteration": 2, "quality_score": 0.5}`:                              ledger.ErrNoLoop,
	} {
		if _, err := record.Record(context.Background(), p, message(t, text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if dir, state := find(t, p); state.Iteration != 1 {
		t.Errorf("the loop in %s is at iteration %d, want 1", dir, state.Iteration)
	}
}

// The name of a loop whose first record was refused is free again.
func TestARefusedFirstRecordLeavesNothing(t *testing.T) {
	p := place(t)
	if _, err := record.Record(context.Background(), p, message(t, `{"type": "IterationComplete", "loop_id": "l", "iteration": 1, "artifacts": ["nowhere"], "quality_score": 0.5}`)); !errors.Is(err, record.ErrInvalidMessage) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(p.Home, "loops")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	put(t, p, counts(1, 5, 5, 80))
}

func TestLoopsOfSuperviseAreNotRecordedInto(t *testing.T) {
	p := place(t)
	l, err := ledger.Create(p.Home, ledger.State{LoopID: "l", Workspace: p.Root, StartedAt: noon})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := record.Record(context.Background(), p, message(t, counts(1, 5, 5, 80))); !errors.Is(err, record.ErrNotRecorded) {
		t.Errorf("error %v", err)
	}
}

// What was advised to be rolled back is not what the next one is compared with,
// unless it says so; after the last retry a human is asked.
func TestRollbackBecomesEscalationAfterTheLastRetry(t *testing.T) {
	p := place(t)
	put(t, p, counts(0, 10, 10, 80))
	first := put(t, p, counts(1, 8, 8, 80))
	if d := first.View.Decide(record.Question{}); d.Action != detector.Rollback || d.Retry != 1 || d.MaxRetries != 1 {
		t.Errorf("first %+v", d)
	}
	second := put(t, p, counts(2, 8, 8, 80))
	if d := second.View.Decide(record.Question{}); d.Action != detector.Escalate || *d.Target != 0 || !strings.Contains(d.Reason, "spent") {
		t.Errorf("second %+v, want an escalation", d)
	}
	kept := put(t, p, strings.Replace(counts(3, 8, 8, 80), `"iteration": 3`, `"iteration": 3, "started_from": 2`, 1))
	if got := rules(kept.Iteration); len(got) > 0 || kept.Iteration.Rejected {
		t.Errorf("an iteration that started from the rejected tree: %v, want nothing new", got)
	}
	if n := len(kept.View.State.Regressions); n != 2 || kept.View.State.RecoveryAttempts != 2 {
		t.Errorf("%d regressions, %d attempts", n, kept.View.State.RecoveryAttempts)
	}
}

// Where one side has numbers alone, the names of the other do not count.
func TestNamesAndNumbersAreCompared(t *testing.T) {
	named := func(n int, list ...string) string {
		tests := make([]map[string]string, 0, len(list))
		for _, name := range list {
			tests = append(tests, map[string]string{"name": name, "status": "passed"})
		}
		text, _ := json.Marshal(tests)
		return fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration": %d, "testing": {"tests": %s, "coverage_lines_covered": 8, "coverage_lines_total": 10}}`, n, text)
	}
	p := place(t)
	put(t, p, named(0, "a", "b"))
	if it := put(t, p, counts(1, 3, 3, 79)).Iteration; len(rules(it)) > 0 || it.Assessment.Class == detector.Regression {
		t.Errorf("three tests after two: %s, %v", it.Assessment.Class, rules(it))
	}
	if it := put(t, p, named(2, "a", "b", "c")).Iteration; len(rules(it)) > 0 {
		t.Errorf("three names after three tests: %v", rules(it))
	}
	if it := put(t, p, named(3, "a", "b", "d")).Iteration; len(rules(it)) > 0 {
		t.Errorf("as many tests by other names, with numbers in between: %v", rules(it))
	}
	p = place(t)
	put(t, p, named(0, "a", "b"))
	put(t, p, named(1, "a", "b"))
	if it := put(t, p, named(2, "a", "d")).Iteration; !slices.Equal(rules(it), []string{"tests_replaced", "working_tests_failing"}) && !slices.Contains(rules(it), "tests_replaced") {
		t.Errorf("b is gone: %v", rules(it))
	}
}

func TestReplaceJudgesWhatFollowsAgain(t *testing.T) {
	p := place(t)
	put(t, p, counts(0, 10, 10, 80))
	put(t, p, counts(1, 12, 12, 80))
	if it := put(t, p, counts(2, 11, 11, 80)).Iteration; !it.Rejected {
		t.Fatalf("%+v", it.Assessment)
	}
	rec := put(t, p, strings.Replace(counts(1, 11, 11, 80), `"iteration": 1`, `"iteration": 1, "replace": true, "reason": "miscounted"`, 1))
	if !slices.Equal(rec.Rejudged, []int{2}) {
		t.Errorf("rejudged %v, want 2", rec.Rejudged)
	}
	dir, state := find(t, p)
	v, err := record.ReadView(dir, state)
	if err != nil {
		t.Fatal(err)
	}
	if it, err := v.Iteration(2); err != nil || it.Rejected || len(v.Iterations) != 3 || len(state.Regressions) != 0 {
		t.Errorf("iteration 2 is %+v, %v; regressions %v", it.Assessment, err, state.Regressions)
	}
	events, problems, err := audit(dir)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	i := slices.IndexFunc(events, func(e ledger.Event) bool { return e.Name == string(event.IterationReplaced) })
	var data record.ReplacedData
	if i < 0 || json.Unmarshal(events[i].Data, &data) != nil || data.Reason != "miscounted" || data.By != "ann" || data.Before.Set.Tests.Counts().Count != 12 {
		t.Errorf("the log has %+v, want what stood there before", data)
	}
}

func TestDecisionStopsAtLimitsAndCriteria(t *testing.T) {
	p := place(t)
	var rec record.Result
	score := func(n int, v float64, more string) string {
		return fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration": %d, "quality_score": %v%s}`, n, v, more)
	}
	yes := true
	put(t, p, score(1, .60, ""))
	rec = put(t, p, score(2, .70, ""))
	for _, tt := range []struct {
		name string
		q    record.Question
		want detector.RecommendedAction
	}{
		{"nothing said", record.Question{}, detector.Continue},
		{"the criterion is met", record.Question{CriterionMet: &yes}, detector.Stop},
		{"below the limit", record.Question{MaxIterations: 3}, detector.Continue},
		{"at the limit", record.Question{MaxIterations: 2}, detector.Stop},
		{"still growing", record.Question{StopOnDiminishing: true}, detector.Continue},
	} {
		if d := rec.View.Decide(tt.q); d.Action != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, d, tt.want)
		}
	}
	put(t, p, score(3, .73, ""))
	rec = put(t, p, score(4, .77, ""))
	if d := rec.View.Decide(record.Question{StopOnDiminishing: true}); d.Action != detector.Stop || d.Diminishing == nil || d.Diminishing.Since != 3 {
		t.Errorf("diminishing returns: %+v", d)
	}
	rec = put(t, p, score(5, .60, ""))
	if d := rec.View.Decide(record.Question{CriterionMet: &yes, MaxIterations: 5}); d.Action != detector.Rollback || *d.Target != 4 {
		t.Errorf("a rollback comes before any end: %+v", d)
	}
	for n := 6; n < 9; n++ {
		rec = put(t, p, score(n, .77, `, "error": "cannot find module x"`))
	}
	if d := rec.View.Decide(record.Question{}); d.Action != detector.Escalate {
		t.Errorf("three times the same error: %+v, want an escalation", d)
	}
}

// Every record has a class and a recommendation, and never an ineligible best
// while there is an eligible iteration.
func TestEveryRecordHasAVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some hundred loops")
	}
	property := func(steps []struct{ Tests, Passed, Coverage, Score, Kind uint8 }) bool {
		p := place(t)
		for n, s := range steps[:min(len(steps), 8)] {
			tests := int(s.Tests % 12)
			text := counts(n, tests, min(int(s.Passed), tests), float64(s.Coverage%101))
			if n > 0 && s.Kind%3 == 0 {
				text = fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration": %d, "quality_score": %v}`, n, float64(s.Score)/255)
			}
			rec := put(t, p, text)
			a := rec.Iteration.Assessment
			if a.Class.String() == "unknown" || n > 0 && a.Recommendation.Action == "" || rec.View.Decide(record.Question{}).Reason == "" {
				return false
			}
			_, c, err := rec.View.Choose(record.SelectionRequest{})
			if err != nil {
				return false
			}
			chosen, err := rec.View.Iteration(c.Iteration)
			if err != nil || c.Iteration > 0 && (chosen.Rejected || chosen.Assessment.HasCritical()) {
				return false
			}
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 6}); err != nil {
		t.Error(err)
	}
}

func TestSelectIsWrittenDown(t *testing.T) {
	p := place(t)
	put(t, p, counts(0, 10, 10, 80))
	put(t, p, counts(1, 12, 12, 85))
	put(t, p, counts(2, 12, 12, 80))
	w := record.SelectionRequest{Override: &selector.Override{Kind: selector.UseSpecific, Iteration: 2, Reason: "smaller", User: "ann"}}
	sel, err := record.Select(context.Background(), p.Home, "l", w, "ann", noon)
	if err != nil || sel.Choice.Iteration != 2 {
		t.Fatalf("%+v, %v", sel.Choice, err)
	}
	text, err := os.ReadFile(sel.Path)
	if err != nil || !strings.Contains(string(text), "**Override**: use_specific by ann") {
		t.Errorf("report %v\n%s", err, text)
	}
	_, state := find(t, p)
	if state.Selected == nil || state.Selected.Iteration != 2 || state.Status != ledger.Completed {
		t.Errorf("state %+v", state)
	}
	if rec := put(t, p, counts(3, 13, 13, 85)); rec.View.State.Status != ledger.Running || rec.View.State.Selected != nil {
		t.Errorf("after another record the loop is %s", rec.View.State.Status)
	}
	held, _, err := ledger.OpenWithoutTree(p.Home, "l", func(ledger.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := record.Select(context.Background(), p.Home, "l", w, "ann", noon); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("while somebody writes: %v, want ErrLocked", err)
	}
}

// audit returns the events of the log of the loop in dir, and the problems of its chain.
func audit(dir string) (events []ledger.Event, problems []string, err error) {
	problems, err = ledger.ReadLog(dir, func(e ledger.Event) { events = append(events, e) })
	return events, problems, err
}
