package recovery_test

import (
	"testing"

	"supervise/detector"
	"supervise/internal/recovery"
)

func rejected(kind string) detector.Assessment {
	return detector.Assessment{
		Class:          detector.Regression,
		Alerts:         []detector.Alert{{Rule: "test_count_decreased", Type: kind, Severity: detector.Critical}},
		Recommendation: detector.Recommendation{Action: detector.Rollback, Target: 2, Reason: "r"},
	}
}

func plain(action detector.Recommend, class detector.Class) detector.Assessment {
	return detector.Assessment{Class: class, Recommendation: detector.Recommendation{Action: action, Reason: "r"}}
}

func TestNext(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before recovery.State
		a      detector.Assessment
		o      recovery.Options
		move   recovery.Move
		reject bool
		after  recovery.State
	}{
		{"forward", recovery.State{}, plain(detector.Continue, detector.Forward), recovery.Options{MaxRetries: 3}, recovery.Continue, false, recovery.State{}},
		{"an accepted iteration ends the incident", recovery.State{Retries: 2, Attempts: 5}, plain(detector.Continue, detector.Forward), recovery.Options{MaxRetries: 3}, recovery.Continue, false, recovery.State{Attempts: 5}},
		{"first rejection", recovery.State{}, rejected("test_deletion"), recovery.Options{MaxRetries: 3}, recovery.Retry, true, recovery.State{Retries: 1, Attempts: 1}},
		{"last retry", recovery.State{Retries: 2, Attempts: 2}, rejected("test_deletion"), recovery.Options{MaxRetries: 3}, recovery.Retry, true, recovery.State{Retries: 3, Attempts: 3}},
		{"retries spent", recovery.State{Retries: 3, Attempts: 3}, rejected("test_deletion"), recovery.Options{MaxRetries: 3}, recovery.Escalate, true, recovery.State{Retries: 4, Attempts: 4}},
		{"no retries at all", recovery.State{}, rejected("test_deletion"), recovery.Options{}, recovery.Escalate, true, recovery.State{Retries: 1, Attempts: 1}},
		{"stall", recovery.State{}, plain(detector.Stop, detector.Stalled), recovery.Options{StopOnStall: true}, recovery.Stop, false, recovery.State{}},
		{"stall, told to go on", recovery.State{}, plain(detector.Stop, detector.Stalled), recovery.Options{}, recovery.Continue, false, recovery.State{}},
		{"infinite loop", recovery.State{}, plain(detector.Stop, detector.Regression), recovery.Options{}, recovery.Stop, false, recovery.State{}},
		{"stuck", recovery.State{}, plain(detector.Escalate, detector.Plateau), recovery.Options{}, recovery.Escalate, false, recovery.State{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			step, after := recovery.Next(tt.before, tt.a, tt.o)
			if step.Move != tt.move || step.Reject != tt.reject || after != tt.after {
				t.Errorf("Next = %s, reject %v, %+v, want %s, %v, %+v", step.Move, step.Reject, after, tt.move, tt.reject, tt.after)
			}
			if step.Reason == "" {
				t.Error("the step has no reason")
			}
		})
	}
}

func TestDiagnosis(t *testing.T) {
	for kind, want := range map[string]recovery.Cause{
		"test_deletion": recovery.RewardHacking, "test_skipping": recovery.RewardHacking,
		"functionality_loss": recovery.TaskComplexity, "something_else": recovery.Unknown,
	} {
		step, _ := recovery.Next(recovery.State{}, rejected(kind), recovery.Options{MaxRetries: 1})
		d := step.Diagnosis
		if d == nil || d.Cause != want || len(d.Evidence) == 0 || step.Advice == "" || d.Confidence <= 0 || d.Confidence > 1 {
			t.Errorf("%s: diagnosis %+v with advice %q, want %s", kind, d, step.Advice, want)
		}
	}
}
