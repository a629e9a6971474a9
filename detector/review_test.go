package detector

import (
	"testing"
	"time"
)

func TestReviewsAddFindingsAndNothingMore(t *testing.T) {
	said := []ReviewFinding{
		{Kind: Concern, File: "a_test.go", Line: 3, Reason: "the test asserts nothing"},
		{Kind: Gaming, File: "b_test.go", Reason: "it was emptied", TestsNotRun: true},
	}
	in := Input{Current: Observation{Iteration: 1}, ReviewFindings: said, Now: time.Now()}
	got := Assess(in, DefaultOptions())
	if len(got.Alerts) != 2 {
		t.Fatalf("%d alerts, want 2: %+v", len(got.Alerts), got.Alerts)
	}
	for i, want := range []struct {
		rule, message string
		severity      Severity
		action        Action
	}{
		{"review:gaming", "The reviewer says of b_test.go: it was emptied", High, AlertAndFlag},
		{"review:concern", "The reviewer says of a_test.go:3: the test asserts nothing", Medium, AlertAndReview},
	} {
		a := got.Alerts[i]
		if a.Rule != want.rule || a.Message() != want.message || a.Severity != want.severity || a.Action != want.action || a.Basis != Text {
			t.Errorf("alert %d is %s %s %s (%s) %q, want %+v", i, a.Rule, a.Severity, a.Action, a.Basis, a.Message(), want)
		}
	}
	without := in
	without.ReviewFindings = nil
	if plain := Assess(without, DefaultOptions()); plain.Class != got.Class || plain.Recommendation.Action != got.Recommendation.Action {
		t.Errorf("the reviewer changed class %s and recommendation %s to %s and %s", plain.Class, plain.Recommendation.Action, got.Class, got.Recommendation.Action)
	}
}

// A reviewer is never the reason of a rollback, whatever the configuration says.
func TestReviewsAreNeverCritical(t *testing.T) {
	o := DefaultOptions()
	o.Rules = map[string]RuleOptions{"review:gaming": {Severity: Critical, Action: AlertAndRollback}}
	in := Input{Current: Observation{Iteration: 1}, ReviewFindings: []ReviewFinding{{Kind: Gaming, File: "a", Reason: "b", TestsNotRun: true}}}
	a := ReviewAlerts(in, o)
	if len(a) != 1 || a[0].Severity != High || a[0].Action != AlertAndFlag {
		t.Errorf("got %+v, want one HIGH alert that flags", a)
	}
	o.Rules = map[string]RuleOptions{"review:gaming": {Off: true}}
	if a := ReviewAlerts(in, o); len(a) != 0 {
		t.Errorf("the rule is off, and there is %+v", a)
	}
	id := ReviewAlerts(in, DefaultOptions())[0].ID()
	o = DefaultOptions()
	o.Acknowledged = []Acknowledgement{{ID: "x", Finding: id}}
	if a := ReviewAlerts(in, o); len(a) != 1 || a[0].Acknowledged == nil {
		t.Errorf("got %+v, want it acknowledged", a)
	}
}
