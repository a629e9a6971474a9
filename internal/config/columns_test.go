package config_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/config"
	"supervise/metric"
	"supervise/selector"
)

// tests makes passing tests of these names, and failing ones of those that begin
// with "!" and skipped ones of those that begin with "-".
func tests(names ...string) *metric.Tests {
	var cases []metric.Test
	for _, n := range names {
		c := metric.Test{ID: metric.ID{Suite: "calc", Name: strings.TrimLeft(n, "!-~")}, Status: metric.Passed}
		switch n[0] {
		case '!':
			c.Status = metric.Failed
		case '-':
			c.Status = metric.Skipped
		case '~':
			c.Flaky = true
		}
		cases = append(cases, c)
	}
	return metric.NewTests(cases)
}

func from(before, now metric.Set) detector.Input {
	base := detector.Observation{Set: before, Class: detector.Baseline}
	prev := detector.Observation{Iteration: 1, Set: before, Class: detector.Forward}
	return detector.Input{
		Current:  detector.Observation{Iteration: 2, Set: now, Changed: true},
		Previous: prev, Baseline: base, History: []detector.Observation{base, prev},
	}
}

func lines(covered, total int64) *metric.Coverage {
	return &metric.Coverage{
		Covered: covered, Total: total, Unit: metric.Lines, Format: "lcov",
		Files: []metric.FileCoverage{{Path: "lib/a.go", Covered: covered, Total: total}},
	}
}

func findings(n int) metric.Set {
	return metric.Set{Lint: &metric.Lint{Findings: slices.Repeat([]metric.Finding{{Level: metric.Error}}, n)}}
}

func codeOf(files int, complexity float64) *metric.Code {
	return &metric.Code{Files: files, LOC: 100, Functions: 10, Complexity: complexity}
}

func circling(n int) detector.Input {
	var all []detector.Observation
	for i := range n {
		all = append(all, detector.Observation{Iteration: i, Set: metric.Set{Coverage: lines(80+int64(i%2), 100)}, Class: detector.Plateau})
	}
	return detector.Input{Current: all[n-1], History: all[:n-1], Previous: all[n-2], Baseline: all[0]}
}

// firing holds an input for every rule that fires it.
func firing() map[string]detector.Input {
	same := metric.Set{Tests: tests("A", "B")}
	lost, acked, stuck := from(same, same), from(same, same), from(same, same)
	lost.GitLost, acked.AckFiles, stuck.Errors = []string{"branch topic"}, []string{".supervise-ack.yaml"}, slices.Repeat([]string{"no such file"}, 3)
	deleted := from(same, same)
	deleted.WorkLost = []detector.LostWork{{Path: "notes.md", How: "deleted"}}
	slow, quick := tests("A"), tests("A")
	slow.Duration, quick.Duration = 10*time.Second, time.Second
	moved := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "new", Name: "A"}, Status: metric.Passed}, tests("B").Cases[0]})
	unseen, coded := from(same, same), from(metric.Set{Tests: tests("A", "!B")}, same)
	unseen.Hidden = &detector.Hidden{Tests: tests("!H"), Passed: map[metric.ID]bool{tests("H").Cases[0].ID: true}}
	coded.Hidden = &detector.Hidden{Tests: tests("!H")}
	sealed := coded
	sealed.Hidden = &detector.Hidden{Tests: tests("!H"), Sealed: true}
	forged := *tests("A", "B")
	forged.Forged = []metric.ID{tests("C").Cases[0].ID}
	gave := from(metric.Set{Tests: tests("A", "!B")}, same)
	gave.Goals = []detector.Goal{{ID: tests("B").Cases[0].ID, Outcome: detector.Failed, FailedBefore: true}}
	looks := from(same, same)
	untested := from(same, same)
	untested.ChangedLines = []detector.ChangedLines{{Path: "lib/a.go", Lines: "2-4", Executed: "2"}}
	looks.TestOnly = []detector.TestOnly{{ID: tests("A").Cases[0].ID, Certain: true, Files: []string{"a.go"}}}
	relies := from(same, same)
	relies.Reliances = []detector.Reliance{{On: detector.OnScript, Files: []string{"accept.sh"}, Criterion: "sh accept.sh"}}
	unguarded := from(same, same)
	for _, rule := range []string{detector.ChangeUnguarded, detector.TestsNoticeNothing, detector.GoalNoticesNothing} {
		unguarded.Unguarded = append(unguarded.Unguarded, detector.Unguarded{Rule: rule, Files: []string{"a.go"}, Why: "why"})
	}
	weak := from(same, same)
	weak.Mutations = []detector.MutationResult{{Files: []string{"a_test.go"}, Mutants: 9, KilledBefore: 8, KilledAfter: 4}}
	open := from(same, metric.Set{Tests: tests("A")})
	open.Mutations = []detector.MutationResult{{Files: []string{"b_test.go"}, Tests: []metric.ID{tests("B").Cases[0].ID}, Mutants: 9, KilledBefore: 8, KilledAfter: 8}}
	open.Goals = []detector.Goal{{ID: tests("B").Cases[0].ID, Outcome: detector.Passed}}
	moves := from(metric.Set{Tests: tests("A")}, metric.Set{Tests: tests("A")})
	moves.Previous.Set.Tests.Runner, moves.Current.Set.Tests.Runner = "jest", "node"
	rewritten := from(same, same)
	rewritten.CheckChanges = []detector.CheckChange{{Path: "a_test.go", Kind: "modified", Part: detector.TestPart}}
	return map[string]detector.Input{
		detector.ChecksChangedTree:    rewritten,
		detector.TestRunnerChanged:    moves,
		detector.TestsWeakened:        gave,
		detector.MutationScoreDropped: weak,
		detector.RewriteNotDecided:    open,
		detector.PassesOnlyUnderTest:  looks,
		detector.ReliesOn:             relies,
		detector.ChangeUnguarded:      unguarded,
		detector.TestsNoticeNothing:   unguarded,
		detector.GoalNoticesNothing:   unguarded,
		detector.ChangeUntested:       untested,
		detector.HiddenTestsFailing:   unseen,
		detector.HiddenTestFailing:    coded,
		detector.SealedFailed:         sealed,
		"test_count_decreased":        from(same, metric.Set{Tests: tests("A")}),
		"working_tests_failing":       from(same, metric.Set{Tests: tests("A", "!B")}),
		"tests_replaced":              from(metric.Set{Tests: tests("A", "!B")}, metric.Set{Tests: tests("A", "!C")}),
		"tests_newly_skipped":         from(metric.Set{Tests: tests("A", "!B")}, metric.Set{Tests: tests("A", "-B")}),
		"tests_forged":                from(same, metric.Set{Tests: &forged}),
		"git_state_lost":              lost,
		"user_work_lost":              deleted,
		"acknowledgements_changed":    acked,
		"coverage_regression":         from(metric.Set{Coverage: lines(80, 100)}, metric.Set{Coverage: lines(70, 100)}),
		"error_increase":              from(findings(0), findings(6)),
		"suite_did_not_run":           from(same, metric.Set{}),
		"build_broken":                from(metric.Set{Build: &metric.Build{Status: metric.BuildSuccess}}, metric.Set{Build: &metric.Build{Status: metric.BuildFailure}}),
		"file_deletion":               from(metric.Set{Code: codeOf(3, 2)}, metric.Set{Code: codeOf(2, 2)}),
		"complexity_explosion":        from(metric.Set{Code: codeOf(3, 2)}, metric.Set{Code: codeOf(3, 4)}),
		"coverage_denominator":        from(metric.Set{Coverage: lines(80, 100), Code: codeOf(3, 2)}, metric.Set{Coverage: lines(40, 50), Code: codeOf(3, 2)}),
		"flaky_test":                  from(same, metric.Set{Tests: tests("A", "~B")}),
		"test_time_anomaly":           from(metric.Set{Tests: slow}, metric.Set{Tests: quick}),
		"infinite_loop":               circling(14),
		"metric_cycling":              circling(6),
		"stuck_loop_detected":         stuck,
		"test_explained":              from(same, metric.Set{Tests: moved}),
	}
}

// judged assesses by the rules of a file and returns the alert of a rule.
func judged(t *testing.T, in detector.Input, rule, file string) (detector.Alert, bool) {
	t.Helper()
	s, err := load(t, file)
	if err != nil {
		t.Fatalf("%s\n%v", file, err)
	}
	o, err := s.LoopOptions("/tree")
	if err != nil {
		t.Fatalf("%s\n%v", file, err)
	}
	for _, a := range detector.Assess(in, o.Rules).Alerts {
		if a.Rule == rule {
			return a, true
		}
	}
	return detector.Alert{}, false
}

// Every column of every rule can be set in the file, for both comparisons and for
// one, and takes effect.
func TestEveryColumnOfEveryRule(t *testing.T) {
	inputs := firing()
	for _, rule := range detector.Rules() {
		in, ok := inputs[rule.Name]
		if !ok {
			t.Errorf("rule %s has no input that fires it: add one to firing in internal/config/columns_test.go", rule.Name)
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			plain, ok := judged(t, in, rule.Name, "")
			if !ok || plain.Severity != rule.Severity {
				t.Fatalf("fires %v: %+v", ok, plain)
			}
			places := map[string]string{"": "%s", plain.Against: plain.Against + ": {%s}"}
			if rule.Baseline { // the other comparison is silent
				places[plain.Against] += ", baseline: {off: true}"
				places[detector.AgainstBaseline] = "previous: {off: true}, baseline: {%s}"
			}
			for place, form := range places {
				with := func(columns string) (detector.Alert, bool) {
					return judged(t, in, rule.Name, fmt.Sprintf("rules:\n  %s: {"+form+"}\n", rule.Name, columns))
				}
				if a, ok := with("severity: low"); !ok || a.Severity != detector.Low {
					t.Errorf("%s severity: %v %+v", place, ok, a)
				}
				if a, ok := with("severity: critical, action: immediate_alert_and_rollback"); !ok || a.Severity != detector.Critical || a.Action != detector.AlertAndRollback {
					t.Errorf("%s severity and action: %v %+v", place, ok, a)
				}
				if a, ok := with("action: alert_and_review"); !ok || a.Action != detector.AlertAndReview {
					t.Errorf("%s action: %v %+v", place, ok, a)
				}
				for _, off := range []string{"off: true", "action: off"} {
					if a, ok := with(off); ok {
						t.Errorf("%s %s: %+v", place, off, a)
					}
				}
				if rule.Unit == "" {
					continue
				}
				if a, ok := with("threshold: 1000000"); ok {
					t.Errorf("%s threshold: %+v", place, a)
				}
			}
			if rule.Paths {
				if _, ok := judged(t, in, rule.Name, "rules:\n  "+rule.Name+": {threshold: 50, paths: {lib/**: 9}}\n"); !ok {
					t.Error("paths: not raised")
				}
				if a, ok := judged(t, in, rule.Name, "rules:\n  "+rule.Name+": {threshold: 50, paths: {lib/**: 11}}\n"); ok {
					t.Errorf("paths: %+v", a)
				}
			}
		})
	}
}

// A column that a rule has not is refused with a hint at what it has.
func TestColumnsThatARuleHasNot(t *testing.T) {
	for _, rule := range detector.Rules() {
		for column, has := range map[string]bool{
			"threshold: 3": rule.Unit != "", "paths: {a/**: 1}": rule.Paths, "baseline: {off: true}": rule.Baseline,
		} {
			_, err := load(t, fmt.Sprintf("rules:\n  %s: {%s}\n", rule.Name, column))
			if (err == nil) != has || err != nil && (!strings.Contains(err.Error(), rule.Name) || !strings.Contains(err.Error(), "[2:")) {
				t.Errorf("%s: {%s}: %v, want it to be taken: %v", rule.Name, column, err, has)
			}
		}
	}
}

// The numbers of the rules about the way of a loop are in separate sections.
func TestNumbersOfTheLoopRules(t *testing.T) {
	inputs := firing()
	for _, tt := range []struct {
		rule, file string
		fires      bool
	}{
		{"stuck_loop_detected", "stuck: {errors: 3}", true},
		{"stuck_loop_detected", "stuck: {errors: 4}", false},
		{"infinite_loop", "cycle: {after: 12}", true},
		{"infinite_loop", "cycle: {after: 13}", false},
		{"metric_cycling", "cycle: {after: 4}", false}, // it is infinite_loop then
		{"error_increase", "error_count: [lint_errors]", true},
		{"error_increase", "error_count: [lint_warnings, type_errors]", false},
	} {
		in := inputs[tt.rule]
		for _, set := range []*metric.Set{&in.Current.Set, &in.Previous.Set, &in.Baseline.Set} {
			s, err := load(t, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			o, err := s.LoopOptions("/tree")
			if err != nil {
				t.Fatal(err)
			}
			set.Lint = set.Lint.WithErrorFields(o.Plan.ErrorFields)
		}
		if a, ok := judged(t, in, tt.rule, tt.file); ok != tt.fires {
			t.Errorf("%s: %s fires %v: %+v", tt.file, tt.rule, ok, a)
		}
	}
}

func TestErrorCountOfTheFile(t *testing.T) {
	for file, want := range map[string]string{
		"":                           "[]", // all, as in plans of older versions
		"error_count: [lint_errors]": "[lint_errors]",
		"error_count: [type_errors, lint_errors]":                "[lint_errors type_errors]",
		"error_count: [type_errors, lint_warnings, lint_errors]": "[]",
		"error_count: []":                         "must name one or more of",
		"error_count: [lint_errors, lint_errors]": "each once",
		"error_count: [warnings]":                 "lint_warnings",
	} {
		s, err := load(t, file)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", file, err, want)
			}
			continue
		}
		o, err := s.LoopOptions("/tree")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.Plan.ErrorFields); got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

// TestSelectionModesCanBeSet compares the words that selection.mode takes with the
// modes that there are.
func TestSelectionModesCanBeSet(t *testing.T) {
	field, _ := reflect.TypeFor[config.Selection]().FieldByName("Mode")
	if got, want := field.Tag.Get("range"), strings.Join(selector.ModeNames(), "|"); got != want {
		t.Errorf("selection.mode takes %s, and the modes are %s: correct the range tag in internal/config/settings.go", got, want)
	}
}
