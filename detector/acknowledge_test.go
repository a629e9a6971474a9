package detector_test

import (
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/metric"

	"github.com/google/go-cmp/cmp"
)

// covering is an acknowledgement of all findings of a rule.
func covering(rule string) detector.Acknowledgement {
	return detector.Acknowledgement{ID: "a1", Rule: rule, Reason: "known"}
}

func assessAcknowledged(in detector.Input, list ...detector.Acknowledgement) detector.Assessment {
	return detector.Assess(in, detector.Options{Acknowledged: list})
}

func TestEveryRuleCanBeAcknowledged(t *testing.T) {
	for _, tt := range ruleCases {
		if tt.severity == "" {
			continue
		}
		in := step(tt.before, tt.now)
		plain, _ := alertOf(detector.Assess(in, detector.DefaultOptions()), tt.rule)
		for how, k := range map[string]detector.Acknowledgement{
			"by rule": covering(tt.rule), "by finding": {ID: "a1", Finding: plain.ID(), Reason: "known"},
		} {
			got, ok := alertOf(assessAcknowledged(in, k), tt.rule)
			if !ok || got.Severity != detector.Info || got.Action != detector.Note {
				t.Errorf("%s, acknowledged %s: %v %v %s, want it kept as a note", tt.rule, how, ok, got.Severity, got.Action)
				continue
			}
			if diff := cmp.Diff(&detector.Acknowledged{ID: "a1", Reason: "known", Severity: plain.Severity, Action: plain.Action}, got.Acknowledged); diff != "" {
				t.Errorf("%s: %s", tt.rule, diff)
			}
			if got.Message() != plain.Message() || got.ID() != plain.ID() {
				t.Errorf("%s: %q, ID %s, want them unchanged", tt.rule, got.Message(), got.ID())
			}
		}
	}
}

// deletion is an input in which Test0000 and Test0001 of calc are gone.
func deletion() detector.Input {
	now := metric.Set{Tests: numberedTests(2, 4, 4), Coverage: percent(80)}
	in := step(measured(4, 4, 80), now)
	in.Now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return in
}

func TestAcknowledgementCoversOnlyItsTests(t *testing.T) {
	in := deletion()
	for _, tt := range []struct {
		name string
		ack  detector.Acknowledgement
		left []string // tests of the alert that is left; nil when none is
	}{
		{name: "all tests", ack: detector.Acknowledgement{Tests: []string{"Test000?"}}},
		{name: "suite and name", ack: detector.Acknowledgement{Tests: []string{"calc: *"}}},
		{name: "several patterns", ack: detector.Acknowledgement{Tests: []string{"Test0000", "Test0001"}}},
		{name: "one test", ack: detector.Acknowledgement{Tests: []string{"Test0000"}}, left: []string{"Test0001"}},
		{name: "no such test", ack: detector.Acknowledgement{Tests: []string{"Test00"}}, left: []string{"Test0000", "Test0001"}},
		{name: "a star that was quoted", ack: detector.Acknowledgement{Tests: []string{`Test\*`}}, left: []string{"Test0000", "Test0001"}},
		{name: "its suite", ack: detector.Acknowledgement{Path: "calc"}},
		{name: "another folder", ack: detector.Acknowledgement{Path: "cal/**"}, left: []string{"Test0000", "Test0001"}},
		{name: "another rule", ack: detector.Acknowledgement{Rule: "flaky_test"}, left: []string{"Test0000", "Test0001"}},
		{name: "another finding", ack: detector.Acknowledgement{Finding: "00000000"}, left: []string{"Test0000", "Test0001"}},
		{name: "expired", ack: detector.Acknowledgement{Expires: in.Now}, left: []string{"Test0000", "Test0001"}},
		{name: "not yet expired", ack: detector.Acknowledgement{Expires: in.Now.Add(time.Second)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.ack.Rule == "" && tt.ack.Finding == "" {
				tt.ack.Rule = "test_count_decreased"
			}
			var left, accepted []string
			for _, a := range assessAcknowledged(in, tt.ack).Alerts {
				for _, id := range a.Tests {
					switch {
					case a.Rule != "test_count_decreased":
					case a.Acknowledged != nil:
						accepted = append(accepted, id.Name)
					default:
						left = append(left, id.Name)
					}
				}
			}
			if diff := cmp.Diff(tt.left, left); diff != "" || len(left)+len(accepted) != 2 {
				t.Errorf("left %v, accepted %v: %s", left, accepted, diff)
			}
		})
	}
}

func TestWhatIsAcknowledgedIsNotUndone(t *testing.T) {
	in := deletion()
	a := assessAcknowledged(in, covering("test_count_decreased"), covering("working_tests_failing"))
	if a.HasCritical() || a.Class == detector.Regression || a.Recommendation.Action != detector.Continue {
		t.Errorf("alerts %v, class %v, recommendation %+v, want nothing held against it", fired(a), a.Class, a.Recommendation)
	}
	a = assessAcknowledged(in, detector.Acknowledgement{Rule: "test_count_decreased", Tests: []string{"Test0000"}}, covering("working_tests_failing"))
	if want(t, a, "CRITICAL test_count_decreased"); a.Recommendation.Action != detector.Rollback {
		t.Errorf("recommendation %+v although a test of the alert was not acknowledged", a.Recommendation)
	}
}

func TestAcknowledgedCycleDoesNotEndTheLoop(t *testing.T) {
	in := cycling()
	if a := detector.Assess(in, detector.DefaultOptions()); a.Recommendation.Action != detector.Stop {
		t.Fatalf("recommendation %+v, want the input to be an infinite loop", a.Recommendation)
	}
	if a := assessAcknowledged(in, covering("infinite_loop")); a.Recommendation.Action != detector.Continue {
		t.Errorf("recommendation %+v", a.Recommendation)
	}
}

// cycling is the input of an iteration that is, after many, back at the tree of two
// before for the third time.
func cycling() detector.Input {
	var all []detector.Observation
	for i := range 13 {
		all = append(all, detector.Observation{Iteration: i, Set: measured(4, 4, float64(80+i%2)), Tree: string("ab"[i%2]), Class: detector.Forward})
	}
	return detector.Input{Current: all[12], History: all[:12], Previous: all[11], Baseline: all[0]}
}

func TestAcknowledgementsOfFiles(t *testing.T) {
	in := step(metric.Set{Code: code(3, 100, 2)}, metric.Set{Code: code(1, 100, 2)})
	in.Removed = []string{"calc/old.go", "calc/sub/older.go"}
	for path, accepted := range map[string]bool{
		"calc/**": true, "calc": true, "**/old*.go": true, "calc/*.go": false, "calc/old.go": false, "": true, "./calc/": true,
	} {
		a, _ := alertOf(assessAcknowledged(in, detector.Acknowledgement{Rule: "file_deletion", Path: path}), "file_deletion")
		if (a.Acknowledged != nil) != accepted {
			t.Errorf("path %q: acknowledged %v, want %v", path, a.Acknowledged != nil, accepted)
		}
	}
}

func TestAcknowledgementsAreValidated(t *testing.T) {
	for _, k := range []detector.Acknowledgement{{ID: "x7"}, {ID: "x7", Rule: "no_such_rule"}} {
		if err := (detector.Options{Acknowledged: []detector.Acknowledgement{k}}).Validate(); err == nil || !strings.Contains(err.Error(), "x7") {
			t.Errorf("%+v: error %v does not name it", k, err)
		}
	}
	if err := (detector.Options{Acknowledged: []detector.Acknowledgement{covering("flaky_test"), {Finding: "x"}}}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestAcknowledgementsBoundTheChange(t *testing.T) {
	limit := 10.0
	for _, tt := range []struct {
		coverage float64
		accepted bool
	}{{75, true}, {70, true}, {69, false}, {20, false}} {
		in := step(measured(4, 4, 80), measured(4, 4, tt.coverage))
		a, ok := alertOf(assessAcknowledged(in, detector.Acknowledgement{Rule: "coverage_regression", UpTo: &limit}), "coverage_regression")
		if !ok || (a.Acknowledged != nil) != tt.accepted {
			t.Errorf("80 to %v: acknowledged %v, want %v", tt.coverage, a.Acknowledged != nil, tt.accepted)
		}
	}
}

// TestAcknowledgementCoversTheSameTest: one finding about a test is accepted with the other, if it
// is at most as severe, but no other test is, nor by a word about the rule.
func TestAcknowledgementCoversTheSameTest(t *testing.T) {
	plain := assessAcknowledged(deletion())
	want(t, plain, "CRITICAL test_count_decreased", "CRITICAL working_tests_failing")
	alert, _ := alertOf(plain, "test_count_decreased")
	for _, tt := range []struct {
		name string
		ack  detector.Acknowledgement
		left string // the tests of working_tests_failing that still count
	}{
		{"the finding", detector.Acknowledgement{ID: "a", Finding: alert.ID()}, ""},
		{"its tests", detector.Acknowledgement{ID: "a", Rule: alert.Rule, Tests: []string{"Test000?"}}, ""},
		{"one test", detector.Acknowledgement{ID: "a", Rule: alert.Rule, Tests: []string{"Test0000"}}, "Test0001"},
		{"the rule", covering(alert.Rule), "Test0000 Test0001"},
		{"the rule in a folder", detector.Acknowledgement{ID: "a", Rule: alert.Rule, Path: "calc"}, "Test0000 Test0001"},
	} {
		var left []string
		for _, a := range assessAcknowledged(deletion(), tt.ack).Alerts {
			for _, id := range a.Tests {
				if a.Rule == "working_tests_failing" && a.Acknowledged == nil {
					left = append(left, id.Name)
				}
			}
		}
		if got := strings.Join(left, " "); got != tt.left {
			t.Errorf("%s: %q is left, want %q", tt.name, got, tt.left)
		}
	}
	severe := detector.Options{
		Rules:        map[string]detector.RuleOptions{alert.Rule: {Severity: detector.High}},
		Acknowledged: []detector.Acknowledgement{{ID: "a", Finding: alert.ID()}},
	}
	want(t, detector.Assess(deletion(), severe), "CRITICAL working_tests_failing")
}
