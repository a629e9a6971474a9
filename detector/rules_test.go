package detector_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
	"supervise/test/docs"

	"github.com/google/go-cmp/cmp"
)

// ruleInput is, for one rule, an input that fires it and the nearest that does
// not. Those of the rules that compare two sets are in ruleCases.
type ruleInput struct {
	rule        string
	fires, near detector.Input
	// unmeasured takes away what the rule is based on; nil if it is based on nothing
	// that is measured.
	unmeasured func(*detector.Input)
}

func ruleInputs() []ruleInput {
	var out []ruleInput
	at := map[string]int{}
	for _, tt := range ruleCases {
		i, ok := at[tt.rule]
		if !ok {
			i = len(out)
			at[tt.rule] = i
			out = append(out, ruleInput{rule: tt.rule, unmeasured: withoutMeasurements})
		}
		in := step(tt.before, tt.now)
		if tt.severity == "" {
			out[i].near = in
		} else if out[i].fires.Current.Iteration == 0 {
			out[i].fires = in
		}
	}
	for i := range out {
		if out[i].rule == "suite_did_not_run" { // it is about what is not measured
			out[i].unmeasured = func(in *detector.Input) {
				in.Current.Set, in.Previous.Set, in.Baseline.Set, in.History = metric.Set{}, metric.Set{}, metric.Set{}, nil
			}
		}
	}
	lost := step(measured(3, 3, 80), measured(3, 3, 80))
	lost.GitLost = []string{"branch topic"}
	kept := lost
	kept.GitLost = nil
	deleted := kept
	deleted.WorkLost = []detector.LostWork{{Path: "notes.md", How: "deleted"}}
	acked := kept
	acked.AckFiles = []string{".supervise-ack.yaml"}
	stuck := step(measured(3, 3, 80), measured(3, 3, 80))
	stuck.Errors = []string{"no such file", "no such file", "no such file"}
	twice := stuck
	twice.Errors = stuck.Errors[:2]
	renamed := step(metric.Set{Tests: suite(passing("TestDivide")...)}, metric.Set{Tests: suite(metric.Test{ID: metric.ID{Suite: "calc/new", Name: "TestDivide"}, Status: metric.Passed})})
	stayed := renamed
	stayed.Current = stayed.Previous
	unseen := func(in *detector.Input) { in.Hidden = nil }
	sealed := func(status metric.Status) detector.Input {
		in := hiddenInput([]metric.Test{hiddenTest("T", status)})
		in.Hidden.Sealed = true
		return in
	}
	gave := goalCase{"", metric.Failed, metric.Passed, detector.Failed, true, false}.input()
	held := goalCase{"", metric.Failed, metric.Passed, detector.Passed, true, false}.input()
	testOnly := gave
	testOnly.TestOnly = []detector.TestOnly{{ID: metric.ID{Name: "T"}, Certain: true, Files: []string{"m.py"}}}
	rewritten := kept
	rewritten.CheckChanges = []detector.CheckChange{{Path: "a_test.go", Kind: "modified", Part: detector.TestPart}}
	untested, tested := kept, kept
	untested.ChangedLines = []detector.ChangedLines{{Path: "a.go", Lines: "2-4", Executed: "2"}}
	tested.ChangedLines = []detector.ChangedLines{{Path: "a.go", Lines: "2-4", Executed: "2-4"}, {Path: "a.sh", Unknown: "not in the report"}}
	relies := held
	relies.Reliances = []detector.Reliance{{On: detector.OnBuild, Files: []string{"CMakeLists.txt"}, Tests: []metric.ID{{Name: "T"}}}}
	for _, rule := range []string{detector.ChangeUnguarded, detector.TestsNoticeNothing, detector.GoalNoticesNothing} {
		found := held
		found.Unguarded = []detector.Unguarded{{Rule: rule, Files: []string{"a.go"}, Why: "why"}}
		known := held
		known.Unguarded = []detector.Unguarded{{Rule: rule, Files: []string{"a.go"}, Why: "why", AcceptedBefore: true}}
		out = append(out, ruleInput{rule, found, known, func(in *detector.Input) { in.Unguarded = nil }})
	}
	return append(out,
		ruleInput{detector.ChecksChangedTree, rewritten, kept, nil},
		ruleInput{detector.ReliesOn, relies, held, func(in *detector.Input) { in.Reliances = nil }},
		ruleInput{detector.PassesOnlyUnderTest, testOnly, held, func(in *detector.Input) { in.TestOnly = nil }},
		ruleInput{detector.TestsWeakened, gave, held, withoutMeasurements},
		ruleInput{detector.MutationScoreDropped, powerInput(lostPower(1), detector.Passed), powerInput(detector.MutationResult{Mutants: 9, KilledBefore: 2, KilledAfter: 2}, detector.Passed), withoutMeasurements},
		ruleInput{detector.RewriteNotDecided, powerInput(detector.MutationResult{Mutants: 9, KilledBefore: 2, KilledAfter: 2}, detector.Passed), powerInput(detector.MutationResult{Mutants: 10, KilledBefore: 2, KilledAfter: 2}, detector.Passed), withoutMeasurements},
		ruleInput{detector.TestRunnerChanged, runnerInput("jest", "node"), runnerInput("jest", "jest"), withoutMeasurements},
		ruleInput{detector.HiddenTestsFailing, hiddenInput([]metric.Test{hiddenTest("T", metric.Failed)}, "T"), hiddenInput([]metric.Test{hiddenTest("T", metric.Passed)}, "T"), unseen},
		ruleInput{detector.SealedFailed, sealed(metric.Failed), sealed(metric.Passed), unseen},
		ruleInput{detector.HiddenTestFailing, hiddenInput([]metric.Test{hiddenTest("T", metric.Failed)}), hiddenInput([]metric.Test{hiddenTest("T", metric.Passed)}), unseen},
		ruleInput{detector.ChangeUntested, untested, tested, func(in *detector.Input) { in.ChangedLines = nil }},
		ruleInput{"git_state_lost", lost, kept, nil},
		ruleInput{"user_work_lost", deleted, kept, nil},
		ruleInput{"acknowledgements_changed", acked, kept, nil},
		ruleInput{"stuck_loop_detected", stuck, twice, nil},
		ruleInput{"infinite_loop", series(12, 2), series(11, 2), withoutMeasurements},
		ruleInput{"metric_cycling", series(5, 2), series(3, 2), withoutMeasurements},
		ruleInput{"test_explained", renamed, stayed, withoutMeasurements},
	)
}

func withoutMeasurements(in *detector.Input) {
	in.Current.Set = metric.Set{}
}

// series is the input of iteration n-1 of a loop whose coverage has the period.
func series(n, period int) detector.Input {
	var all []detector.Observation
	for i := range n {
		s := measured(4, 4, 80+.2*float64(i%period))
		if i < n-2*period {
			s = measured(4, 4, 70+float64(i))
		}
		all = append(all, detector.Observation{Iteration: i, Set: s, Tree: fmt.Sprint("tree ", i), Class: detector.Forward})
	}
	return detector.Input{Current: all[n-1], History: all[:n-1], Previous: all[n-2], Baseline: all[0]}
}

func of(rule string, o detector.RuleOptions) detector.Options {
	return detector.Options{Rules: map[string]detector.RuleOptions{rule: o}}
}

func TestEveryRule(t *testing.T) {
	for _, tt := range ruleInputs() {
		row, _ := detector.FindRule(tt.rule)
		get := func(in detector.Input, o detector.Options) (detector.Alert, bool) {
			return alertOf(detector.Assess(in, o), tt.rule)
		}
		t.Run(tt.rule, func(t *testing.T) {
			a, ok := get(tt.fires, detector.Options{})
			if !ok || a.Severity != row.Severity || a.Basis != row.Basis || a.Basis == "" || a.Action != row.Action || a.Type != row.Type || a.TriggeredAt != tt.fires.Current.Iteration {
				t.Fatalf("fires %v: %+v, want it as its row %+v has it", ok, a, row)
			}
			if a, ok := get(tt.near, detector.Options{}); ok {
				t.Errorf("just does not: %+v", a)
			}
			if tt.unmeasured != nil {
				in := tt.fires
				tt.unmeasured(&in)
				if a, ok := get(in, detector.Options{}); ok {
					t.Errorf("not measured: %+v", a)
				}
			}
			t.Run("overridden", func(t *testing.T) { overridden(t, row, tt.fires) })
			t.Run("modes", func(t *testing.T) { inModes(t, row, tt.fires) })
			k, ok := get(tt.fires, detector.Options{Acknowledged: []detector.Acknowledgement{covering(tt.rule)}})
			if !ok || k.Acknowledged == nil || k.Severity != detector.Info || k.Action != detector.Note || k.Message() != a.Message() {
				t.Errorf("acknowledged: %v %+v", ok, k)
			}
		})
	}
}

// TestEveryRuleHasCases asks for an input of every rule that fires it and for one
// that does not.
func TestEveryRuleHasCases(t *testing.T) {
	inputs := ruleInputs()
	for _, name := range detector.RuleNames() {
		i := slices.IndexFunc(inputs, func(in ruleInput) bool { return in.rule == name })
		switch {
		case i < 0:
			t.Errorf("rule %s has no case: add one to ruleCases (two sets are compared) or to ruleInputs, in detector's tests", name)
		case inputs[i].fires.Current.Iteration == 0:
			t.Errorf("rule %s has no case that fires it: add one with a severity and a message to ruleCases", name)
		case inputs[i].near.Current.Iteration == 0:
			t.Errorf("rule %s has no case that does not fire it: add one without a severity to ruleCases", name)
		}
	}
}

// TestRulesAreDocumented compares the reference of the rules with their table.
func TestRulesAreDocumented(t *testing.T) {
	var b strings.Builder
	b.WriteString("| rule | type | severity | basis | fires when | message | action | configuration key and default |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range detector.Rules() {
		name, key := "`"+r.Name+"`", "rules."+r.Name
		if strings.Contains(r.Name, ":") {
			key = "rules.\"" + r.Name + "\""
		}
		key = "`" + key + "`"
		if r.Unit != "" {
			key = fmt.Sprintf("%s.threshold`: %v %s", strings.TrimSuffix(key, "`"), r.Threshold, r.Unit)
		}
		if r.Paths {
			key += "; also `paths`"
		}
		if r.Baseline {
			name += " B"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, r.Type, r.Severity, r.Basis, r.Condition, r.Message, r.Action, key)
	}
	docs.Block(t, "rules.md", "alert rules", "./detector", b.String())
}

// overridden sets every column of the rule, for both comparisons and for the one
// that the alert is raised against.
func overridden(t *testing.T, row detector.Rule, in detector.Input) {
	plain, _ := alertOf(detector.Assess(in, detector.Options{}), row.Name)
	for _, part := range []string{"both", detector.AgainstPrevious, detector.AgainstBaseline} {
		if part == detector.AgainstBaseline && !row.Baseline {
			continue
		}
		get := func(own detector.RuleOptions) (detector.Alert, bool) {
			o := of(row.Name, own)
			switch part {
			case detector.AgainstPrevious:
				o = of(row.Name, detector.RuleOptions{Previous: &own, Baseline: &detector.RuleOptions{Off: true}})
			case detector.AgainstBaseline:
				o = of(row.Name, detector.RuleOptions{Baseline: &own, Previous: &detector.RuleOptions{Off: true}})
			}
			if !row.Baseline && part != "both" {
				o = of(row.Name, detector.RuleOptions{Previous: &own})
			}
			if err := o.Validate(); err != nil {
				t.Fatal(err)
			}
			return alertOf(detector.Assess(in, o), row.Name)
		}
		if _, ok := get(detector.RuleOptions{}); !ok {
			if part == plain.Against {
				t.Errorf("%s: not raised", part)
			}
			continue // what is raised against the baseline alone has nothing to say against previous
		}
		if a, ok := get(detector.RuleOptions{Severity: detector.Low, Action: detector.AlertComplexity}); !ok || a.Severity != detector.Low || a.Action != detector.AlertComplexity {
			t.Errorf("%s: severity and action: %v %+v", part, ok, a)
		}
		if _, ok := get(detector.RuleOptions{Off: true}); ok {
			t.Errorf("%s: off, and it fires", part)
		}
		if _, ok := get(detector.RuleOptions{Action: detector.Off}); ok {
			t.Errorf("%s: action off, and it fires", part)
		}
		huge := 1e6
		if row.Unit == "" {
			continue
		}
		if a, ok := get(detector.RuleOptions{Threshold: &huge}); ok {
			t.Errorf("%s: below its threshold: %+v", part, a)
		}
	}
}

func inModes(t *testing.T, row detector.Rule, in detector.Input) {
	for mode, raised := range map[detector.Mode]bool{
		detector.ModeOff: false, detector.ModeMinimal: row.Severity == detector.Critical,
		detector.ModeStandard: true, detector.ModeAggressive: true,
	} {
		a := detector.Assess(in, detector.Options{Mode: mode})
		if _, ok := alertOf(a, row.Name); ok != raised {
			t.Errorf("%s: raised %v, want %v", mode, ok, raised)
		}
		if mode == detector.ModeOff && (len(a.Alerts) > 0 || a.Recommendation.Action == detector.Rollback) {
			t.Errorf("off: alerts %v, recommendation %+v", fired(a), a.Recommendation)
		}
	}
}

func TestWithoutRulesNothingIsUndone(t *testing.T) {
	in := step(metric.Set{Lint: lint(1)}, metric.Set{Lint: lint(2)})
	in.Best = &detector.Observation{Iteration: 1, Score: .8, Scored: true}
	in.Current.Score, in.Current.Scored = .3, true
	for mode, action := range map[detector.Mode]detector.RecommendedAction{detector.ModeStandard: detector.Rollback, detector.ModeOff: detector.Continue} {
		if r := detector.Assess(in, detector.Options{Mode: mode}).Recommendation; r.Action != action {
			t.Errorf("%s: %+v, want %s", mode, r, action)
		}
	}
}

// What a rule asks for is what follows, whichever rule it is.
func TestActionsHaveTheirEffect(t *testing.T) {
	in := step(metric.Set{Lint: lint(0)}, metric.Set{Lint: lint(9)})
	for _, tt := range []struct {
		own  detector.RuleOptions
		want detector.RecommendedAction
	}{
		{detector.RuleOptions{}, detector.Continue},
		{detector.RuleOptions{Action: detector.ForceTerminate}, detector.Stop},
		{detector.RuleOptions{Action: detector.AskHuman}, detector.Escalate},
		{detector.RuleOptions{Action: detector.AlertAndRollback, Severity: detector.Critical}, detector.Rollback},
		{detector.RuleOptions{Severity: detector.Critical}, detector.Continue},
	} {
		if r := detector.Assess(in, of("error_increase", tt.own)).Recommendation; r.Action != tt.want {
			t.Errorf("%+v: %+v, want %s", tt.own, r, tt.want)
		}
	}
	for rule, in := range map[string]detector.Input{"infinite_loop": series(12, 2), "metric_cycling": series(5, 2)} {
		if r := detector.Assess(in, of(rule, detector.RuleOptions{Action: detector.Note, Severity: detector.Low})).Recommendation; r.Action != detector.Continue {
			t.Errorf("%s made a note: %+v, want the loop to go on", rule, r)
		}
	}
}

// One test more than the tolerance fires, the tolerance itself does not.
func TestTolerances(t *testing.T) {
	skipped := func(n int) metric.Set {
		var cases []metric.Test
		for i := range 5 {
			s := metric.Passed
			if i < n {
				s = metric.Skipped
			}
			cases = append(cases, metric.Test{ID: numbered(i), Status: s})
		}
		return metric.Set{Tests: suite(cases...)}
	}
	flaky := func(n int) metric.Set {
		s := metric.Set{Tests: numberedTests(0, 5, 5)}
		for i := range n {
			s.Tests.Cases[i].Flaky = true
		}
		return s
	}
	for rule, change := range map[string]func(n int) detector.Input{
		"test_count_decreased":  func(n int) detector.Input { return step(measured(5, 0, 80), measured(5-n, 0, 80)) },
		"working_tests_failing": func(n int) detector.Input { return step(measured(5, 5, 80), measured(5, 5-n, 80)) },
		"tests_replaced": func(n int) detector.Input {
			return step(metric.Set{Tests: numberedTests(0, 5, 0)}, metric.Set{Tests: numberedTests(n, 5+n, 0)})
		},
		"tests_newly_skipped": func(n int) detector.Input { return step(skipped(0), skipped(n)) },
		"flaky_test":          func(n int) detector.Input { return step(flaky(0), flaky(n)) },
		"error_increase":      func(n int) detector.Input { return step(metric.Set{Lint: lint(0)}, metric.Set{Lint: lint(n)}) },
		"file_deletion": func(n int) detector.Input {
			return step(metric.Set{Code: code(9, 100, 2)}, metric.Set{Code: code(9-n, 100, 2)})
		},
		"suite_did_not_run": func(n int) detector.Input {
			in := step(measured(3, 3, 80), metric.Set{})
			in.SuiteUnread = n - 1
			return in
		},
		"user_work_lost": func(n int) detector.Input {
			in := step(measured(3, 3, 80), measured(3, 3, 80))
			in.WorkLost = []detector.LostWork{{Path: "a"}, {Path: "b"}, {Path: "c"}}[:n]
			return in
		},
		"git_state_lost": func(n int) detector.Input {
			in := step(measured(3, 3, 80), measured(3, 3, 80))
			in.GitLost = []string{"branch a", "branch b", "branch c"}[:n]
			return in
		},
	} {
		two := 2.0
		for n, fires := range map[int]bool{2: false, 3: true} {
			if a, ok := alertOf(detector.Assess(change(n), of(rule, detector.RuleOptions{Threshold: &two})), rule); ok != fires {
				t.Errorf("%s with a threshold of 2, %d: fired %v (%+v)", rule, n, ok, a)
			}
		}
	}
}

// New tests that pass do not hide one that passed and fails now.
func TestAFailingTestIsNotMasked(t *testing.T) {
	before := metric.Set{Tests: suite(passing("TestA", "TestB")...)}
	grown := func(b metric.Status, more ...string) metric.Set {
		return metric.Set{Tests: suite(append(passing(append([]string{"TestA"}, more...)...), outcome("TestB", b))...)}
	}
	one := 1.0
	for _, tt := range []struct {
		name  string
		now   metric.Set
		own   detector.RuleOptions
		want  []string
		class detector.Class
	}{
		{name: "fewer pass", now: grown(metric.Failed), want: []string{"CRITICAL working_tests_failing"}, class: detector.Regression},
		{name: "as many pass", now: grown(metric.Failed, "TestC"), want: []string{"HIGH working_tests_failing"}, class: detector.Regression},
		{name: "more pass", now: grown(metric.Errored, "TestC", "TestD"), want: []string{"HIGH working_tests_failing"}, class: detector.Regression},
		{name: "none fails", now: grown(metric.Passed, "TestC"), class: detector.Forward},
		{name: "within the tolerance", now: grown(metric.Failed, "TestC"), own: detector.RuleOptions{Threshold: &one}, class: detector.Regression}, // by the pass rate
		{name: "made milder", now: grown(metric.Failed, "TestC"), own: detector.RuleOptions{Severity: detector.Medium}, want: []string{"MEDIUM working_tests_failing"}, class: detector.Regression},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := detector.Assess(step(before, tt.now), of("working_tests_failing", tt.own))
			want(t, a, tt.want...)
			if a.Class != tt.class {
				t.Errorf("class %v, want %v", a.Class, tt.class)
			}
			alert, _ := alertOf(a, "working_tests_failing")
			if len(tt.want) > 0 && !slices.Equal(alert.Tests, []metric.ID{id("TestB")}) {
				t.Errorf("evidence %v", alert.Tests)
			}
			if undone := a.Recommendation.Action == detector.Rollback; undone != (alert.Severity == detector.Critical) {
				t.Errorf("recommendation %+v", a.Recommendation)
			}
		})
	}
}

// withFile names the file of a test as reports of many runners do.
func withFile(c metric.Test, file string) metric.Test {
	c.File = file
	return c
}

func TestFlakyTests(t *testing.T) {
	flaky := func(c metric.Test) metric.Test {
		c.Flaky = true
		return c
	}
	failed, passed := outcome("TestB", metric.Failed), outcome("TestB", metric.Passed)
	touches := func(in *detector.Input) { in.Before, in.After = nil, []detector.TestSource{{File: "calc/b_test.py"}} }
	learnt := func(known bool) func(*detector.Input) {
		return func(in *detector.Input) { in.KnownFlaky = map[metric.ID]bool{id("TestB"): known} }
	}
	for _, tt := range []struct {
		name          string
		baseline, now metric.Test
		confirmed     bool // the failure is no failure: it passed when run again
		change        func(*detector.Input)
		want          []string
	}{
		{name: "fails, and passes when run again", baseline: passed, now: failed, confirmed: true, want: []string{"MEDIUM flaky_test"}},
		{name: "and its file was changed", baseline: passed, now: failed, confirmed: true, change: touches, want: []string{"HIGH flaky_test"}},
		{name: "and another file was changed", baseline: passed, now: failed, confirmed: true, change: func(in *detector.Input) {
			in.After = []detector.TestSource{{File: "calc/c_test.py"}}
		}, want: []string{"MEDIUM flaky_test"}},
		{name: "fails for good", baseline: passed, now: failed, want: []string{"CRITICAL working_tests_failing"}},
		{name: "known to be flaky, and fails", baseline: flaky(passed), now: failed, want: []string{"MEDIUM flaky_test"}},
		{name: "known to be flaky, and fails after its file was changed", baseline: flaky(passed), now: failed, change: touches, want: []string{"CRITICAL working_tests_failing"}},
		{name: "known to be flaky, and is gone", baseline: flaky(passed), now: outcome("TestZ", metric.Failed), want: []string{"CRITICAL working_tests_failing", "CRITICAL tests_replaced"}},
		{name: "known to be flaky, and passes", baseline: flaky(passed), now: passed},
		{name: "known to be flaky, fails, and passes when run again", baseline: flaky(passed), now: failed, confirmed: true},
		{name: "known, passes when run again, and its file was changed", baseline: flaky(passed), now: failed, confirmed: true, change: touches, want: []string{"HIGH flaky_test"}},
		{name: "learnt to be flaky, and fails", baseline: passed, now: failed, change: learnt(true), want: []string{"MEDIUM flaky_test"}},
		{name: "learnt to be flaky, fails, and passes when run again", baseline: passed, now: failed, confirmed: true, change: learnt(true)},
		{name: "learnt to be flaky, passes when run again, and its file was changed", baseline: passed, now: failed, confirmed: true, change: func(in *detector.Input) {
			learnt(true)(in)
			touches(in)
		}, want: []string{"HIGH flaky_test"}},
		{name: "flaky at the baseline, and fails since its file was changed earlier", baseline: flaky(passed), now: failed, change: learnt(false), want: []string{"CRITICAL working_tests_failing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			was, is := withFile(tt.baseline, "calc/b_test.py"), withFile(tt.now, "calc/b_test.py")
			in := step(metric.Set{Tests: suite(outcome("TestA", metric.Passed), was)}, metric.Set{Tests: suite(outcome("TestA", metric.Passed), is)})
			if tt.confirmed {
				in.Flaky = []metric.ID{is.ID}
			}
			if tt.change != nil {
				tt.change(&in)
			}
			a := detector.Assess(in, detector.DefaultOptions())
			want(t, a, tt.want...)
			calm := len(tt.want) == 0 || tt.want[0] == "MEDIUM flaky_test"
			if calm == (a.Class == detector.Regression) {
				t.Errorf("class %v", a.Class)
			}
		})
	}
}

// files is the coverage of some files, in per cent of 100 statements each.
func files(hit map[string]int64) metric.Set {
	c := &metric.Coverage{Unit: metric.Statements, Format: "go"}
	for _, path := range []string{"m/internal/a.go", "m/internal/b.go", "m/cmd/c.go", "m/d.go"} {
		if n, ok := hit[path]; ok {
			c.Files = append(c.Files, metric.FileCoverage{Path: path, Covered: n, Total: 100})
			c.Covered, c.Total = c.Covered+n, c.Total+100
		}
	}
	return metric.Set{Coverage: c}
}

func TestCoverageOfParts(t *testing.T) {
	before := map[string]int64{"m/internal/a.go": 80, "m/internal/b.go": 80, "m/cmd/c.go": 60, "m/d.go": 50}
	with := func(path string, n int64) map[string]int64 {
		out := map[string]int64{path: n}
		for p, old := range before {
			if p != path {
				out[p] = old
			}
		}
		return out
	}
	limits := map[string]float64{"internal/**": 1, "cmd/**": 5}
	for _, tt := range []struct {
		name      string
		now       map[string]int64
		variation float64
		want      []string // messages
		files     []string
	}{
		{name: "more than its limit", now: with("m/internal/a.go", 75), want: []string{"Coverage of internal/** dropped 80%→77.5% (exceeds -1% threshold)"}, files: []string{"m/internal/a.go"}},
		{name: "its limit", now: with("m/internal/a.go", 78)},
		{name: "fewer statements than count", now: with("m/internal/a.go", 76)},
		{name: "less than its limit", now: with("m/cmd/c.go", 55)},
		{name: "the other part", now: with("m/cmd/c.go", 54), want: []string{"Coverage of cmd/** dropped 60%→54% (exceeds -5% threshold)"}, files: []string{"m/cmd/c.go"}},
		{name: "no part", now: with("m/d.go", 43)},
		{name: "within the variation", now: with("m/internal/a.go", 77), variation: 1.5},
		{name: "the whole as well", now: with("m/internal/b.go", 60), want: []string{
			"Coverage dropped 67.5%→62.5% (exceeds -2% threshold)", "Coverage of internal/** dropped 80%→70% (exceeds -1% threshold)",
		}, files: []string{"m/internal/b.go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(files(before), files(tt.now))
			in.Baseline.Set.Variation = metric.Delta{metric.CoveragePct: tt.variation}
			var got []string
			for _, a := range detector.Assess(in, of("coverage_regression", detector.RuleOptions{Paths: limits})).Alerts {
				got = append(got, a.Message())
				if diff := cmp.Diff(tt.files, a.Files); diff != "" {
					t.Errorf("files: %s", diff)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCoverageOfPartsNotMeasured(t *testing.T) {
	o := of("coverage_regression", detector.RuleOptions{Paths: map[string]float64{"internal/**": 1}})
	before := files(map[string]int64{"m/internal/a.go": 80, "m/d.go": 50})
	other := files(map[string]int64{"m/internal/a.go": 10, "m/d.go": 90})
	other.Coverage.Unit = metric.Lines
	for name, now := range map[string]metric.Set{
		"no file of the part": files(map[string]int64{"m/d.go": 65}), "no coverage": {}, "another unit": other, "no files": {Coverage: percent(80)},
	} {
		if a := detector.Assess(step(before, now), o); len(fired(a)) > 0 {
			t.Errorf("%s: %v", name, fired(a))
		}
	}
}

// A limit that matches no file is reported, so that a misspelt pattern is not
// mistaken for a guard.
func TestPathsThatMatchNothing(t *testing.T) {
	paths := detector.RuleOptions{Paths: map[string]float64{"internal/**": 1, "intern/**": 1, "lib/*.go": 1}}
	off := paths
	off.Off = true
	some := files(map[string]int64{"m/internal/a.go": 80, "m/d.go": 50})
	idle := func(pattern, why string) string {
		return "rules.coverage_regression.paths: " + pattern + " has no effect: " + why
	}
	none := "it fits none of the 2 files of the coverage report, such as m/internal/a.go"
	for _, tt := range []struct {
		name string
		o    detector.Options
		set  metric.Set
		want []string
	}{
		{"two of three", of("coverage_regression", paths), some, []string{idle("intern/**", none), idle("lib/*.go", none)}},
		{"no limits", detector.Options{}, some, nil},
		{"off", of("coverage_regression", off), some, nil},
		{"mode off", detector.Options{Mode: detector.ModeOff, Rules: of("coverage_regression", paths).Rules}, some, nil},
		{"no coverage", of("coverage_regression", detector.RuleOptions{Paths: map[string]float64{"a/**": 1}}), metric.Set{}, []string{idle("a/**", "coverage was not measured")}},
		{"no files", of("coverage_regression", detector.RuleOptions{Paths: map[string]float64{"a/**": 1}}), metric.Set{Coverage: percent(80)}, []string{idle("a/**", "the coverage report names no files")}},
	} {
		if diff := cmp.Diff(tt.want, tt.o.UnmatchedPaths(tt.set)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// The limits against the baseline are others than those of one step.
func TestLimitsByComparison(t *testing.T) {
	five := 5.0
	sets := []metric.Set{}
	for _, c := range []float64{80, 78.5, 77, 75.5, 74, 74} {
		sets = append(sets, measured(4, 4, c))
	}
	for i, a := range walk(sets, nil, of("coverage_regression", detector.RuleOptions{Baseline: &detector.RuleOptions{Threshold: &five, Severity: detector.Medium}})) {
		alert, ok := alertOf(a, "coverage_regression")
		if ok != (i == 4) {
			t.Errorf("iteration %d: fired %v", i, ok)
		}
		if ok && (alert.Severity != detector.Medium || alert.Message() != "Coverage dropped 80%→74% (exceeds -5% threshold) (since the baseline)") {
			t.Errorf("%v %s", alert.Severity, alert.Message())
		}
	}
}
