package recovery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/approval"
	"supervise/internal/recovery"
	"supervise/metric"
)

var (
	paused = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	now    = paused.Add(time.Minute)
)

func alert(kind string, s detector.Severity) detector.Alert {
	rule := map[string]string{"test_deletion": "test_count_decreased", "functionality_loss": "working_tests_failing"}[kind]
	if rule == "" {
		rule = kind
	}
	return detector.Alert{Rule: rule, Type: kind, Severity: s}
}

// rejected is an iteration that the rules undo.
func rejected(kinds ...string) recovery.Case {
	c := recovery.Case{Paused: paused, Now: now, Start: 2, Assessment: detector.Assessment{
		Class: detector.Regression, Recommendation: detector.Recommendation{Action: detector.Rollback, Target: 2, Reason: "r"},
	}}
	for _, kind := range kinds {
		c.Assessment.Alerts = append(c.Assessment.Alerts, alert(kind, detector.Critical))
	}
	return c
}

func plain(action detector.RecommendedAction, class detector.Class) recovery.Case {
	return recovery.Case{Paused: paused, Now: now, Start: 2, Assessment: detector.Assessment{Class: class, Recommendation: detector.Recommendation{Action: action, Reason: "r"}}}
}

// circling is an iteration in which a rule about cycles fired.
func circling(action detector.RecommendedAction, rule string) recovery.Case {
	c := plain(action, detector.Regression)
	c.Assessment.Recommendation.Rule, c.Assessment.Cycle = rule, &detector.Cycle{Period: 2}
	return c
}

// undone is an iteration that was undone for one finding, about a file, after one that
// was undone for others.
func undone(rule, file string, before ...detector.Alert) recovery.Case {
	c := rejected()
	c.Assessment.Alerts = []detector.Alert{finding(rule, file)}
	c.Refused, c.Evidence.Refused = before, []string{file}
	return c
}

func finding(rule, file string) detector.Alert {
	return detector.Alert{Rule: rule, Type: rule, Severity: detector.Critical, Action: detector.AlertAndRollback, Files: []string{file}}
}

func suspicious() recovery.Case {
	c := plain(detector.Continue, detector.Forward)
	c.Assessment.Alerts = []detector.Alert{{Rule: detector.TamperPrefix + "assertion_removed", Type: "assertion_removed", Severity: detector.High}}
	return c
}

func TestNextStep(t *testing.T) {
	three := recovery.Options{MaxRetries: 3, StopOnStall: true}
	for _, tt := range []struct {
		name   string
		before recovery.State
		c      recovery.Case
		o      recovery.Options
		move   recovery.Move
		reject bool
		ask    approval.Kind
		after  recovery.State
	}{
		{"forward", recovery.State{}, plain(detector.Continue, detector.Forward), three, recovery.Continue, false, "", recovery.State{}},
		{"an accepted iteration ends the incident", recovery.State{Retries: 2, Attempts: 5}, plain(detector.Continue, detector.Forward), three, recovery.Continue, false, "", recovery.State{Attempts: 5}},
		{"a deleted test is for a human at once", recovery.State{}, rejected("test_deletion"), three, recovery.Retry, true, approval.Regression, recovery.State{Retries: 1, Attempts: 1}},
		{"so is a game with the checks", recovery.State{}, rejected("test_skipping"), three, recovery.Retry, true, approval.Regression, recovery.State{Retries: 1, Attempts: 1}},
		{"and what has no clear cause", recovery.State{}, rejected(), three, recovery.Retry, true, approval.Regression, recovery.State{Retries: 1, Attempts: 1}},
		{"a broken test is not", recovery.State{}, rejected("functionality_loss"), three, recovery.Retry, true, "", recovery.State{Retries: 1, Attempts: 1}},
		{"last retry", recovery.State{Retries: 2, Attempts: 2}, rejected("functionality_loss"), three, recovery.Retry, true, "", recovery.State{Retries: 3, Attempts: 3}},
		{"retries spent", recovery.State{Retries: 3, Attempts: 3}, rejected("functionality_loss"), three, recovery.Escalate, true, approval.Regression, recovery.State{Retries: 4, Attempts: 4}},
		{"no retries at all", recovery.State{}, rejected("functionality_loss"), recovery.Options{}, recovery.Escalate, true, approval.Regression, recovery.State{Retries: 1, Attempts: 1}},
		{"a suspicion is reported and undoes nothing", recovery.State{}, suspicious(), three, recovery.Continue, false, approval.Suspicion, recovery.State{}},
		{"the same finding again is for a human, even one who is to be asked late", recovery.State{Retries: 1, Attempts: 1}, undone("a", "f", finding("a", "f")), recovery.Options{MaxRetries: 3, AskLate: true}, recovery.Retry, true, approval.Regression, recovery.State{Retries: 2, Attempts: 2, RepeatedFindings: 1}},
		{"a third time ends the incident", recovery.State{Retries: 2, Attempts: 2, RepeatedFindings: 1}, undone("a", "f", finding("a", "f")), recovery.Options{MaxRetries: 9}, recovery.Escalate, true, approval.Regression, recovery.State{Retries: 10, Attempts: 3, RepeatedFindings: 2}},
		{"another finding between them", recovery.State{Retries: 2, Attempts: 2, RepeatedFindings: 1}, undone("b", "f", finding("a", "f")), three, recovery.Retry, true, approval.Regression, recovery.State{Retries: 3, Attempts: 3}},
		{"an accepted iteration between them", recovery.State{Retries: 2, Attempts: 2, RepeatedFindings: 1}, plain(detector.Continue, detector.Forward), three, recovery.Continue, false, "", recovery.State{Attempts: 2}},
		{"stall", recovery.State{}, plain(detector.Stop, detector.Stalled), three, recovery.Stop, false, "", recovery.State{}},
		{"stall, with the option to continue", recovery.State{}, plain(detector.Stop, detector.Stalled), recovery.Options{}, recovery.Continue, false, "", recovery.State{}},
		{"stall, with the option to ask", recovery.State{}, plain(detector.Stop, detector.Stalled), recovery.Options{AskOnStall: true}, recovery.Stop, false, approval.Standstill, recovery.State{}},
		{"an early cycle", recovery.State{}, circling(detector.Escalate, detector.MetricCycling), three, recovery.Continue, false, "", recovery.State{}},
		{"an early cycle, with the option to stop", recovery.State{}, circling(detector.Escalate, detector.MetricCycling), recovery.Options{StopOnStall: true, StopOnCycle: true}, recovery.Stop, false, "", recovery.State{}},
		{"an early cycle, with the option to ask", recovery.State{}, circling(detector.Escalate, detector.MetricCycling), recovery.Options{AskOnStall: true}, recovery.Stop, false, approval.Standstill, recovery.State{}},
		{"a late cycle", recovery.State{}, circling(detector.Stop, detector.InfiniteLoop), three, recovery.Stop, false, "", recovery.State{}},
		{"a late cycle, with the option to ask", recovery.State{}, circling(detector.Stop, detector.InfiniteLoop), recovery.Options{AskOnStall: true}, recovery.Stop, false, approval.Standstill, recovery.State{}},
		{"a late cycle, with the option to continue", recovery.State{}, circling(detector.Stop, detector.InfiniteLoop), recovery.Options{}, recovery.Continue, false, "", recovery.State{}},
		{"infinite loop by a rule of the user", recovery.State{}, plain(detector.Stop, detector.Regression), recovery.Options{}, recovery.Stop, false, "", recovery.State{}},
		{"stuck", recovery.State{}, plain(detector.Escalate, detector.Plateau), recovery.Options{}, recovery.Escalate, false, approval.Standstill, recovery.State{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			step, after := recovery.Next(tt.before, tt.c, tt.o)
			if step.Move != tt.move || step.Reject != tt.reject || step.Ask != tt.ask || after != tt.after {
				t.Errorf("Next = %s, reject %v, ask %q, %+v, want %s, %v, %q, %+v", step.Move, step.Reject, step.Ask, after, tt.move, tt.reject, tt.ask, tt.after)
			}
			if step.Reason == "" || step.Ask != "" && step.Why == "" {
				t.Errorf("the step has no reason: %+v", step)
			}
		})
	}
}

// Which findings are the same, and with which prompt the next attempt starts.
func TestSameFinding(t *testing.T) {
	test := func(rule, name string) detector.Alert {
		return detector.Alert{Rule: rule, Type: rule, Severity: detector.Critical, Action: detector.AlertAndRollback, Tests: []metric.ID{{Name: name}}}
	}
	failing := func(kind string) detector.Alert {
		a := test("r", "T")
		a.Type = kind
		return a
	}
	accepted := finding("a", "f")
	accepted.Acknowledged = &detector.Acknowledged{}
	high := finding("a", "f")
	high.Severity = detector.High
	for _, tt := range []struct {
		name    string
		was, is []detector.Alert
		same    bool
	}{
		{"rule and file", []detector.Alert{finding("a", "f")}, []detector.Alert{finding("a", "f")}, true},
		{"one of several", []detector.Alert{finding("b", "f"), finding("a", "f")}, []detector.Alert{finding("c", "f"), finding("a", "f")}, true},
		{"rule and test", []detector.Alert{test("a", "T")}, []detector.Alert{test("a", "T")}, true},
		{"another file", []detector.Alert{finding("a", "f")}, []detector.Alert{finding("a", "g")}, false},
		{"another test", []detector.Alert{test("a", "T")}, []detector.Alert{test("a", "U")}, false},
		{"another rule", []detector.Alert{finding("a", "f")}, []detector.Alert{finding("b", "f")}, false},
		{"tests that fail", []detector.Alert{failing("functionality_loss")}, []detector.Alert{failing("functionality_loss")}, false},
		{"accepted by a person", []detector.Alert{finding("a", "f")}, []detector.Alert{accepted}, false},
		{"not CRITICAL before", []detector.Alert{high}, []detector.Alert{finding("a", "f")}, false},
		{"the first attempt", nil, []detector.Alert{finding("a", "f")}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := undone("a", "tests/test_x.py", tt.was...)
			c.Assessment.Alerts = tt.is
			step, after := recovery.Next(recovery.State{Retries: 1, Attempts: 1}, c, recovery.Options{MaxRetries: 3})
			if same := after.RepeatedFindings == 1; same != tt.same || same != (step.Strategy == recovery.LeaveAlone) || same != strings.Contains(step.Advice, "Leave tests/test_x.py exactly as it is now") {
				t.Errorf("same finding %v, strategy %s, advice %q, want %v", same, step.Strategy, step.Advice, tt.same)
			}
		})
	}
}

func phases(step recovery.Step) string {
	var out []string
	for _, p := range step.Phases {
		if p.At.IsZero() || p.Text == "" {
			return "a phase without time or text: " + string(p.Phase)
		}
		out = append(out, string(p.Phase))
	}
	return strings.Join(out, " ")
}

// The paths of an incident, each from its first rejection to its end.
func TestPathsOfAnIncident(t *testing.T) {
	o := recovery.Options{MaxRetries: 2}
	broken, good := rejected("functionality_loss"), plain(detector.Continue, detector.Forward)
	for _, tt := range []struct {
		name   string
		cases  []recovery.Case
		answer *approval.Answer // to the last question
		moves  string
		phases string // of the last iteration
		after  recovery.State
	}{
		{"resolved at the second attempt", []recovery.Case{broken, good}, nil, "retry continue", "", recovery.State{Attempts: 1}},
		{"exhausted", []recovery.Case{broken, broken, broken}, nil, "retry retry escalate", "pause diagnose adapt escalate", recovery.State{Retries: 3, Attempts: 3}},
		{
			"escalated at once, and rejected",
			[]recovery.Case{rejected("test_deletion")},
			&approval.Answer{Choice: approval.Reject, Channel: approval.ByTerminal, At: now},
			"retry", "pause diagnose adapt retry escalate retry",
			recovery.State{Retries: 1, Attempts: 1},
		},
		{
			"escalated at once, and approved",
			[]recovery.Case{rejected("test_deletion")},
			&approval.Answer{Choice: approval.Approve, Reason: "the feature is gone", Channel: approval.ByCommand, At: now},
			"continue", "pause diagnose adapt retry escalate",
			recovery.State{Attempts: 1},
		},
		{
			"escalated at once, and aborted",
			[]recovery.Case{rejected("test_deletion")},
			&approval.Answer{Choice: approval.Abort, Channel: approval.ByPolicy, At: now},
			"abort", "pause diagnose adapt retry escalate",
			recovery.State{Retries: 1, Attempts: 1},
		},
		{
			"exhausted, and a person goes on",
			[]recovery.Case{broken, broken, broken},
			&approval.Answer{Choice: approval.Reject, Channel: approval.ByTerminal, At: now},
			"retry retry retry", "pause diagnose adapt escalate escalate retry",
			recovery.State{Retries: 1, Attempts: 3},
		},
		{
			"exhausted, and nobody answers",
			[]recovery.Case{broken, broken, broken},
			&approval.Answer{Choice: approval.Reject, Channel: approval.ByTimeout, At: now},
			"retry retry escalate", "pause diagnose adapt escalate escalate",
			recovery.State{Retries: 3, Attempts: 3},
		},
		{
			"the same finding three times",
			[]recovery.Case{undone("a", "f"), undone("a", "f", finding("a", "f")), undone("a", "f", finding("a", "f"))},
			nil,
			"retry retry escalate", "pause diagnose adapt escalate",
			recovery.State{Retries: 3, Attempts: 3, RepeatedFindings: 2},
		},
		{
			"the same finding twice, and a person rejects it",
			[]recovery.Case{undone("a", "f"), undone("a", "f", finding("a", "f"))},
			&approval.Answer{Choice: approval.Reject, Reason: "keep it", Channel: approval.ByTerminal, At: now},
			"retry retry", "pause diagnose adapt retry escalate retry",
			recovery.State{Retries: 2, Attempts: 2},
		},
		{
			"the same finding twice, and a person approves it",
			[]recovery.Case{undone("a", "f"), undone("a", "f", finding("a", "f"))},
			&approval.Answer{Choice: approval.Approve, Reason: "fine", Channel: approval.ByTerminal, At: now},
			"retry continue", "pause diagnose adapt retry escalate",
			recovery.State{Attempts: 2},
		},
		{
			"the same finding twice, then honest work",
			[]recovery.Case{undone("a", "f"), undone("a", "f", finding("a", "f")), good},
			nil,
			"retry retry continue", "",
			recovery.State{Attempts: 2},
		},
		{
			"suspicious, and nobody answers",
			[]recovery.Case{suspicious()},
			&approval.Answer{Choice: approval.Reject, Channel: approval.ByTimeout, At: now},
			"retry", "escalate retry",
			recovery.State{Retries: 1, Attempts: 1},
		},
		{
			"suspicious, and approved",
			[]recovery.Case{suspicious()},
			&approval.Answer{Choice: approval.Approve, Reason: "fine", Channel: approval.ByTerminal, At: now},
			"continue", "escalate",
			recovery.State{},
		},
		{
			"stuck, and a person reverts",
			[]recovery.Case{plain(detector.Escalate, detector.Plateau)},
			&approval.Answer{Choice: approval.Reject, Channel: approval.ByTerminal, At: now},
			"retry", "pause escalate escalate retry",
			recovery.State{Retries: 1, Attempts: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s recovery.State
			var step recovery.Step
			var moves []string
			for i, c := range tt.cases {
				step, s = recovery.Next(s, c, o)
				if i == len(tt.cases)-1 && tt.answer != nil {
					if step.Ask == "" {
						t.Fatal("nobody is asked")
					}
					step, s = recovery.ApplyAnswer(step, s, *tt.answer, o)
				}
				moves = append(moves, string(step.Move))
				if step.Reject && step.Target != 2 {
					t.Errorf("the tree of iteration %d comes back, want that of 2", step.Target)
				}
			}
			if got := strings.Join(moves, " "); got != tt.moves || s != tt.after || phases(step) != tt.phases {
				t.Errorf("moves %s, phases %q, state %+v, want %s, %q, %+v", got, phases(step), s, tt.moves, tt.phases, tt.after)
			}
			if step.Move == recovery.Retry && step.Advice == "" {
				t.Error("the next attempt is told nothing")
			}
		})
	}
}

// Whatever the question, a policy or a limit of time does not keep what the rules
// undo, and only a person's approval keeps it.
func TestOnlyAPersonApproves(t *testing.T) {
	for _, c := range []recovery.Case{rejected("test_deletion"), rejected("functionality_loss"), rejected()} {
		for _, how := range []approval.Channel{approval.ByPolicy, approval.ByTimeout, approval.ByCommand, approval.ByTerminal} {
			for _, choice := range []approval.Choice{approval.Reject, approval.Abort} {
				step, s := recovery.Next(recovery.State{Retries: 3}, c, recovery.Options{MaxRetries: 3})
				if step, _ = recovery.ApplyAnswer(step, s, approval.Answer{Choice: choice, Channel: how, At: now}, recovery.Options{MaxRetries: 3}); !step.Reject {
					t.Errorf("%s by %s keeps the tree", choice, how)
				}
			}
		}
	}
}

func TestPromptNamesTheReasonOfARejection(t *testing.T) {
	step, s := recovery.Next(recovery.State{}, suspicious(), recovery.Options{MaxRetries: 1})
	step, _ = recovery.ApplyAnswer(step, s, approval.Answer{Choice: approval.Reject, Channel: approval.ByCommand, Reason: "keep the assertion", At: now}, recovery.Options{MaxRetries: 1})
	if !strings.Contains(step.Advice, "A person rejected it: keep the assertion.") || !strings.Contains(step.Reason, "keep the assertion") {
		t.Errorf("advice %q, reason %q", step.Advice, step.Reason)
	}
}

func TestDiagnosis(t *testing.T) {
	with := func(c recovery.Case, e recovery.Evidence) recovery.Case {
		c.Evidence = e
		return c
	}
	tampered := rejected()
	tampered.Assessment.Alerts = []detector.Alert{{Rule: detector.TamperPrefix + "exit_code_forced", Type: "exit_code_forced", Severity: detector.Critical}}
	explained := rejected()
	explained.Assessment.Changes = detector.TestChanges{Gone: make([]metric.ID, 1), Explained: make([]detector.Loss, 1)}
	found := map[recovery.Cause]bool{}
	for _, tt := range []struct {
		name       string
		c          recovery.Case
		cause      recovery.Cause
		confidence float64
		strategy   recovery.Strategy
	}{
		{"deleted", rejected("test_deletion"), recovery.RewardHacking, .85, recovery.Block},
		{"deleted, and had failed", with(rejected("test_deletion"), recovery.Evidence{FailedBefore: []string{"a"}}), recovery.RewardHacking, .95, recovery.Block},
		{"skipped", rejected("test_skipping"), recovery.RewardHacking, .85, recovery.Block},
		{"a check disarmed", tampered, recovery.RewardHacking, .90, recovery.Block},
		{"deleted in a huge change", with(rejected("test_deletion"), recovery.Evidence{Lines: 5000, Files: 80}), recovery.RewardHacking, .85, recovery.Block},
		{"broken in a huge change", with(rejected("functionality_loss"), recovery.Evidence{Lines: 1000, Files: 3}), recovery.CognitiveLoad, .75, recovery.Decompose},
		{"many files", with(rejected(), recovery.Evidence{Lines: 20, Files: 30}), recovery.CognitiveLoad, .75, recovery.Decompose},
		{"large alone", with(rejected(), recovery.Evidence{Lines: 400}), recovery.CognitiveLoad, .60, recovery.Decompose},
		{"broken", rejected("functionality_loss"), recovery.TaskComplexity, .60, recovery.Simplify},
		{"the same tests again", with(rejected("functionality_loss"), recovery.Evidence{SameFailing: []string{"a", "b", "c", "d"}}), recovery.TaskComplexity, .80, recovery.Simplify},
		{"back and forth", with(rejected("functionality_loss"), recovery.Evidence{Flipping: []string{"a"}}), recovery.Ambiguity, .65, recovery.Clarify},
		{"a question", with(rejected("functionality_loss"), recovery.Evidence{LastOutput: "Which of the two did you mean?"}), recovery.Ambiguity, .70, recovery.Clarify},
		{"a missing command", with(rejected("suite_did_not_run"), recovery.Evidence{NotMeasured: []string{"sh: pytest: command not found"}}), recovery.Environment, .80, recovery.FixEnvironment},
		{"a rate limit", with(rejected("functionality_loss"), recovery.Evidence{AgentFailed: true, LastOutput: "429 Too Many Requests"}), recovery.Environment, .80, recovery.FixEnvironment},
		{"talk of rate limits", with(rejected("functionality_loss"), recovery.Evidence{LastOutput: "I added a rate limit."}), recovery.TaskComplexity, .60, recovery.Simplify},
		{"a full disk", with(rejected(), recovery.Evidence{AgentFailed: true, LastOutput: "write: no space left on device"}), recovery.Environment, .80, recovery.FixEnvironment},
		{"explained", explained, recovery.GenuineFix, .70, recovery.Allow},
		{"nothing known", rejected("something_else"), recovery.Unknown, .40, recovery.Simplify},
	} {
		found[tt.cause] = true
		t.Run(tt.name, func(t *testing.T) {
			step, _ := recovery.Next(recovery.State{}, tt.c, recovery.Options{MaxRetries: 1})
			d := step.Diagnosis
			if d == nil || d.Cause != tt.cause || d.Confidence != tt.confidence || step.Strategy != tt.strategy || len(d.Evidence) == 0 || step.Advice == "" {
				t.Errorf("diagnosis %+v, strategy %s, want %s at %.2f, %s", d, step.Strategy, tt.cause, tt.confidence, tt.strategy)
			}
			if allowed := tt.strategy == recovery.Allow; step.Reject == allowed || allowed && slices.ContainsFunc(step.Phases, func(p recovery.Phase) bool { return p.Phase == recovery.PhaseRetry }) {
				t.Errorf("rejected %v with %s", step.Reject, step.Strategy)
			}
		})
	}
	for _, cause := range recovery.Causes() {
		if !found[cause] {
			t.Errorf("cause %s has no case: add one to the table of TestDiagnosis", cause)
		}
	}
}
