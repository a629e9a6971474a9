package detector_test

import (
	"testing"

	"supervise/detector"
	"supervise/metric"
	"supervise/source"
)

func skipFinding() detector.Tampering {
	return detector.Tampering{
		Pattern: "TP-05", Type: "unconditional_skip", Severity: detector.Critical,
		File: "shop/parse_test.go", Line: 12, Test: "TestParse", Evidence: `t.Skip("flaky")`,
	}
}

func TestTampering(t *testing.T) {
	const rule = "tamper:unconditional_skip"
	parse := metric.ID{Suite: "example.com/shop", Name: "TestParse"}
	for _, tc := range []struct {
		name   string
		change func(*detector.Input, *detector.Options, *detector.Tampering)
		want   detector.Severity // zero: no alert
		action detector.Action
	}{
		{"critical is rolled back", nil, detector.Critical, detector.AlertAndRollback},
		{"high is flagged", func(_ *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.Severity = detector.High
		}, detector.High, detector.AlertAndFlag},
		{"medium is silent", func(_ *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.Severity = detector.Medium
		}, 0, ""},
		{"medium is raised in aggressive mode", func(_ *detector.Input, o *detector.Options, f *detector.Tampering) {
			f.Severity, o.Mode = detector.Medium, detector.ModeAggressive
		}, detector.Medium, detector.AlertAndReview},
		{"minimal mode has metric rules alone", func(_ *detector.Input, o *detector.Options, _ *detector.Tampering) {
			o.Mode = detector.ModeMinimal
		}, 0, ""},
		{"explained", func(_ *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.ExplainedBy = "moved to other_test.go"
		}, 0, ""},
		{"of a test that the loop added", func(in *detector.Input, o *detector.Options, _ *detector.Tampering) {
			in.AddedByLoop, o.Mode = map[metric.ID]bool{parse: true}, detector.ModeAggressive
		}, detector.Low, detector.AlertAndReview},
		{"of a test that the loop added, which is left without an assertion", func(in *detector.Input, _ *detector.Options, f *detector.Tampering) {
			in.AddedByLoop, f.Pattern = map[metric.ID]bool{parse: true}, "TP-10"
		}, detector.High, detector.AlertAndFlag},
		{"turned off", func(_ *detector.Input, o *detector.Options, _ *detector.Tampering) {
			o.Rules = map[string]detector.RuleOptions{rule: {Off: true}}
		}, 0, ""},
		{"made milder", func(_ *detector.Input, o *detector.Options, _ *detector.Tampering) {
			o.Rules = map[string]detector.RuleOptions{rule: {Severity: detector.High, Action: detector.AskHuman}}
		}, detector.High, detector.AskHuman},
		{"acknowledged", func(_ *detector.Input, o *detector.Options, _ *detector.Tampering) {
			o.Acknowledged = []detector.Acknowledgement{{ID: "a", Rule: rule, Path: "shop/**"}}
		}, detector.Info, detector.Note},
		{"the baseline has no finding", func(in *detector.Input, _ *detector.Options, _ *detector.Tampering) {
			in.Current.Iteration = 0
		}, 0, ""},
		{"a lost test that was measured", func(_ *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.Pattern = "TP-01"
		}, 0, ""},
		{"a lost test of a file that no check ran", func(in *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.Pattern, f.File, f.Test, f.Severity = "TP-02", "e2e/slow_test.go", "TestSlow", detector.High
			in.Before = []detector.TestSource{{File: "e2e/slow_test.go", Suite: "example.com/shop/e2e", Def: source.TestDef{Name: "TestSlow"}}}
		}, detector.High, detector.AlertAndFlag},
		{"a lost test of a file that a check ran", func(in *detector.Input, _ *detector.Options, f *detector.Tampering) {
			f.Pattern, f.Severity = "TP-02", detector.High
			in.Before = []detector.TestSource{{File: f.File, Suite: "example.com/shop", Def: source.TestDef{Name: "TestParse"}}}
		}, 0, ""},
		{"raised already by the test's name", func(in *detector.Input, _ *detector.Options, _ *detector.Tampering) {
			in.Current.Set = metric.Set{Tests: metric.NewTests([]metric.Test{{ID: parse, Status: metric.Skipped}})}
		}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := metric.Set{Tests: metric.NewTests([]metric.Test{{ID: parse, Status: metric.Passed}})}
			first := detector.Observation{Set: set}
			in := detector.Input{
				Current: detector.Observation{Iteration: 1, Set: set, Changed: true}, Previous: first, Baseline: first,
				History: []detector.Observation{first},
			}
			f, o := skipFinding(), detector.Options{}
			if tc.change != nil {
				tc.change(&in, &o, &f)
			}
			in.Tampering = []detector.Tampering{f}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			var got detector.Alert
			for _, a := range detector.Assess(in, o).Alerts {
				if a.Rule == "tamper:"+f.Type {
					got = a
				}
			}
			if got.Severity != tc.want || got.Action != tc.action {
				t.Errorf("got %v with %q, want %v with %q", got.Severity, got.Action, tc.want, tc.action)
			}
		})
	}
}

// TestTamperingOfOneKindIsOneAlert: it names the first, and lists all.
func TestTamperingOfOneKindIsOneAlert(t *testing.T) {
	second := skipFinding()
	second.Test, second.Line = "TestFormat", 30
	a := detector.Assess(detector.Input{
		Current: detector.Observation{Iteration: 1}, Evidence: detector.Evidence{Tampering: []detector.Tampering{skipFinding(), second}},
	}, detector.Options{})
	if len(a.Alerts) != 1 {
		t.Fatalf("alerts: %+v", a.Alerts)
	}
	const want = `Unconditional skip of TestParse in shop/parse_test.go:12: t.Skip("flaky") (and 1 more)`
	if got := a.Alerts[0]; got.Message() != want || len(got.Tests) != 2 || len(got.Files) != 1 {
		t.Errorf("got %q about %v in %v, want %q", got.Message(), got.Tests, got.Files, want)
	}
	if a.Recommendation.Action != detector.Rollback {
		t.Errorf("recommended is %v", a.Recommendation.Action)
	}
}

// A skip with a stated reason is as severe as any other where the test ran.
func TestTamperingOfTestsThatRan(t *testing.T) {
	parse := metric.ID{Suite: "example.com/shop", Name: "TestParse"}
	with := func(s ...metric.Status) metric.Set {
		if len(s) == 0 {
			return metric.Set{}
		}
		return metric.Set{Tests: metric.NewTests([]metric.Test{{ID: parse, Status: s[0]}})}
	}
	other := metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "example.com/shop", Name: "TestOther"}, Status: metric.Passed}})}
	for _, tc := range []struct {
		name        string
		before, now metric.Set
		want        detector.Severity
	}{
		{"it ran, and its suite was not read", with(metric.Passed), with(), detector.Critical},
		{"it failed, and its suite was not read", with(metric.Failed), with(), detector.Critical},
		{"it runs all the same", with(metric.Passed), with(metric.Passed), detector.High},
		{"it was skipped before", with(metric.Skipped), with(metric.Skipped), detector.High},
		{"its suite did not run before", with(metric.NotRun), with(), detector.High},
		{"nothing was measured before", with(), with(), detector.High},
		{"another test ran", other, other, detector.High},
	} {
		t.Run(tc.name, func(t *testing.T) {
			first := detector.Observation{Set: tc.before}
			f := skipFinding()
			f.Severity, f.IfRan = detector.High, detector.Critical
			in := detector.Input{
				Current: detector.Observation{Iteration: 1, Set: tc.now, Changed: true}, Previous: first, Baseline: first,
				History: []detector.Observation{first}, Evidence: detector.Evidence{Tampering: []detector.Tampering{f}, Before: []detector.TestSource{{File: f.File, Def: source.TestDef{Name: f.Test}}}},
			}
			if got := severityOf(in, detector.TamperPrefix); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	// Where its skip was measured, the rule about tests by name says so first.
	first := detector.Observation{Set: with(metric.Passed)}
	f := skipFinding()
	f.Severity, f.IfRan = detector.High, detector.Critical
	in := detector.Input{
		Current: detector.Observation{Iteration: 1, Set: with(metric.Skipped), Changed: true}, Previous: first, Baseline: first,
		History: []detector.Observation{first}, Evidence: detector.Evidence{Tampering: []detector.Tampering{f}},
	}
	if !detector.Assess(in, detector.Options{}).HasCritical() {
		t.Error("a test that ran is skipped, and it is not CRITICAL")
	}
}
