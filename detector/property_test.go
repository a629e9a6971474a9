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
	"supervise/source"
)

// world makes inputs at random, the same for the same seed.
type world struct{ *rand.Rand }

func (w world) one(n int) bool { return w.IntN(n) == 0 }

func (w world) status() metric.Status {
	return []metric.Status{metric.Passed, metric.Passed, metric.Passed, metric.Failed, metric.Errored, metric.Skipped, metric.NotRun}[w.IntN(7)]
}

// tests makes tests of three suites, parametrised ones among them.
func (w world) tests() *metric.Tests {
	var cases []metric.Test
	for range w.IntN(14) {
		name := []string{"TestA", "TestB", "TestB/x", "TestB/y", "test_c", "test_c[1-2]", "test_c[2-3]", "d › e", "TestF"}[w.IntN(9)]
		c := metric.Test{ID: metric.ID{Suite: []string{"calc", "calc/in", "t.py"}[w.IntN(3)], Name: name}, Status: w.status(), Flaky: w.one(8)}
		if w.one(3) {
			c.File, c.Message = c.Suite+"/a_test.go", "not supported on windows"
		}
		cases = append(cases, c)
	}
	t := metric.NewTests(cases)
	t.Duration = time.Duration(w.IntN(5000)) * time.Millisecond
	if w.one(6) {
		t.Broken = []metric.Suite{{Name: "calc", Why: "build failed"}}
	}
	return t
}

// set makes a measurement of which any part may be missing.
func (w world) set() metric.Set {
	var s metric.Set
	if !w.one(6) {
		s.Tests = w.tests()
	}
	if !w.one(4) {
		s.Coverage = &metric.Coverage{Unit: metric.Statements, Format: "go"}
		for i := range 3 {
			f := metric.FileCoverage{Path: fmt.Sprintf("calc/%d.go", i), Total: int64(w.IntN(50)), Covered: 0}
			f.Covered = int64(w.IntN(int(f.Total) + 1))
			s.Coverage.Files, s.Coverage.Covered, s.Coverage.Total = append(s.Coverage.Files, f), s.Coverage.Covered+f.Covered, s.Coverage.Total+f.Total
		}
	}
	if s.Tests != nil && len(s.Tests.Cases) == 2 { // without another random choice
		s.Tests.Forged = []metric.ID{{Suite: "calc", Name: "TestForged"}}
	}
	if s.Tests != nil {
		s.Tests.Runner = []string{"jest", "node"}[len(s.Tests.Cases)/8]
	}
	if !w.one(4) {
		s.Lint = lint(w.IntN(12))
	}
	if !w.one(4) {
		s.Build = build([]metric.BuildStatus{metric.BuildSuccess, metric.BuildFailure, metric.BuildUnknown}[w.IntN(3)])
	}
	if !w.one(4) {
		s.Code = code(1+w.IntN(5), w.IntN(300), 4*w.Float64())
	}
	if w.one(5) {
		s.Gaps = []metric.Gap{{Section: metric.SectionLint, State: metric.Absent, Why: "no report"}}
	}
	return s
}

func (w world) sources() []detector.TestSource {
	var out []detector.TestSource
	for range w.IntN(4) {
		out = append(out, detector.TestSource{
			Suite: []string{"", "calc"}[w.IntN(2)], File: []string{"calc/a_test.go", "t.py"}[w.IntN(2)],
			Def: source.TestDef{
				Name: []string{"TestA", "TestB", "test_c", "d e"}[w.IntN(4)], Skipped: w.one(5), SkipConditional: w.one(5),
				Assertions: []string{"got != want", "err != nil"}[:w.IntN(3)], Literals: []string{"1", "17", `"x"`}[:w.IntN(4)],
				Symbols: []string{"Add", "Divide"}[:w.IntN(3)], Tokens: map[string]int{"a": 1 + w.IntN(3), "b": 2},
			},
		})
	}
	return out
}

func (w world) observation(n int) detector.Observation {
	return detector.Observation{
		Iteration: n, Set: w.set(), Tree: fmt.Sprint("tree ", w.IntN(4)), Score: w.Float64(), Scored: !w.one(4),
		Class: detector.Class(2 + w.IntN(3)), Changed: !w.one(3), AgentExit: w.IntN(2),
	}
}

func (w world) input() detector.Input {
	n := 1 + w.IntN(14)
	var all []detector.Observation
	for i := range n + 1 {
		all = append(all, w.observation(i))
	}
	if w.one(6) { // fixed, as far as one sees
		all[n-1].Set.Tests, all[n].Set.Tests = suite(hiddenTest("TestA", metric.Failed)), suite(hiddenTest("TestA", metric.Passed))
	}
	in := detector.Input{
		Current: all[n], Previous: all[n-1], Baseline: all[0], History: all[:n], Evidence: detector.Evidence{Before: w.sources(), After: w.sources(), GoneSymbols: []string{"Divide"}[:w.IntN(2)], GitLost: []string{"tag v1"}[:w.one01(8)], AckFiles: []string{".supervise-ack.yaml"}[:w.one01(8)]},
		Errors: slices.Repeat([]string{"no such file"}, w.IntN(4)), SuiteUnread: w.IntN(2), Best: &all[w.IntN(n)],
	}
	if w.one(2) {
		a, b := hiddenTest("TestHidden", metric.Status(1+w.IntN(5))), hiddenTest("TestSecret", metric.Status(1+w.IntN(5)))
		in.Hidden = &detector.Hidden{Tests: suite(a, b), Sealed: len(in.Errors) == 3, Passed: map[metric.ID]bool{a.ID: w.one(2)}}
	}
	if old := in.Previous.Set.Tests; old != nil && w.one(3) { // replaced, and not decided
		for _, c := range old.Cases {
			in.Goals = append(in.Goals, detector.Goal{ID: c.ID, Outcome: detector.Passed})
			in.Mutations = append(in.Mutations, detector.MutationResult{Tests: []metric.ID{c.ID}, Mutants: 5, KilledBefore: 2, KilledAfter: 2})
		}
	}
	if in.Current.Set.Tests != nil {
		for _, c := range in.Current.Set.Tests.Cases {
			if w.one(10) {
				in.Goals = append(in.Goals, detector.Goal{ID: c.ID, Outcome: []detector.Outcome{detector.Passed, detector.Failed, detector.Unbuilt, detector.NotRun}[w.IntN(4)], FailedBefore: w.one(2), MachineDependent: w.one(3)})
			}
			if w.one(30) {
				in.TestOnly = append(in.TestOnly, detector.TestOnly{ID: c.ID, Certain: w.one(2), Files: []string{"m.go"}})
			}
			if w.one(30) {
				rule := []string{detector.ChangeUnguarded, detector.TestsNoticeNothing, detector.GoalNoticesNothing}[w.IntN(3)]
				in.Unguarded = append(in.Unguarded, detector.Unguarded{Rule: rule, Files: []string{"m.go"}, Tests: []metric.ID{c.ID}, Why: "why"})
			}
			if w.one(30) {
				in.Reliances = append(in.Reliances, detector.Reliance{On: []detector.RelianceKind{detector.OnManifest, detector.OnBuild, detector.OnIgnored}[w.IntN(3)], Files: []string{"build.mk"}, Tests: []metric.ID{c.ID}, Recent: w.one(2)})
			}
			if w.one(10) {
				n := w.IntN(3)
				in.Mutations = append(in.Mutations, detector.MutationResult{Files: []string{"shop_test.go"}, Tests: []metric.ID{c.ID}, Mutants: 5, KilledBefore: n, KilledAfter: w.IntN(n + 1), OnOldCode: w.one(3), AcceptedBefore: w.one(3)})
			}
			if w.one(10) {
				in.Flaky = append(in.Flaky, c.ID)
			}
		}
	}
	in.CheckChanges = []detector.CheckChange{{Path: "shop_test.go", Kind: "modified", Part: detector.TestPart, AtBase: w.one(2)}}[:w.one01(8)]
	in.WorkLost = []detector.LostWork{{Path: "notes.md", How: "deleted"}}[:w.one01(8)]
	in.ChangedLines = []detector.ChangedLines{{Path: "calc/0.go", Lines: "3-9", Executed: "3-5"}}[:w.one01(2)]
	in.Baseline.Set.Variation = metric.Delta{metric.CoveragePct: 2 * w.Float64(), metric.ErrorCount: float64(w.IntN(3))}
	return in
}

// one01 is 1 one time in n, else 0.
func (w world) one01(n int) int {
	if w.one(n) {
		return 1
	}
	return 0
}

// forInputs shows inputs at random.
func forInputs(t *testing.T, check func(t *testing.T, w world, in detector.Input)) {
	t.Helper()
	for seed := range uint64(500) {
		w := world{rand.New(rand.NewPCG(seed, 5))}
		in := w.input()
		check(t, w, in)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestEveryAssessmentIsWhole(t *testing.T) {
	seen := map[string]int{}
	forInputs(t, func(t *testing.T, _ world, in detector.Input) {
		a := detector.Assess(in, detector.DefaultOptions())
		if a.Class < detector.Forward || a.Class > detector.Stalled {
			t.Errorf("class %v", a.Class)
		}
		r := a.Recommendation
		if r.Action == "" || r.Reason == "" || r.Confidence <= 0 || r.Confidence > 1 {
			t.Errorf("recommendation %+v", r)
		}
		if a.HasCritical() && a.Class != detector.Regression {
			t.Errorf("class %v with %v", a.Class, fired(a))
		}
		for i, alert := range a.Alerts {
			seen[alert.Rule]++
			if !detector.IsRule(alert.Rule) || alert.Severity == 0 || alert.Action == "" || strings.ContainsAny(alert.Message(), "{}") || i > 0 && alert.Severity > a.Alerts[i-1].Severity {
				t.Errorf("alert %d: %+v: %s", i, alert, alert.Message())
			}
			if !slices.IsSortedFunc(alert.Tests, metric.ID.Compare) || len(slices.Compact(slices.Clone(alert.Tests))) != len(alert.Tests) {
				t.Errorf("%s: evidence %v is not sorted, or names a test twice", alert.Rule, alert.Tests)
			}
		}
	})
	for _, name := range detector.RuleNames() {
		if seen[name] == 0 && name != "infinite_loop" && name != "metric_cycling" { // these have properties of their own
			t.Errorf("rule %s never fired: widen the generated inputs of world in detector/property_test.go", name)
		}
	}
}

// The same input gives the same verdict, in whatever order the tests stand, and
// is not changed by being looked at.
func TestAssessmentIsAFunctionOfItsInput(t *testing.T) {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	forInputs(t, func(t *testing.T, w world, in detector.Input) {
		before := text([]any{in.Current, in.Previous, in.Baseline, in.History, in.Before, in.After, in.Flaky})
		first := detector.Assess(in, detector.DefaultOptions())
		if after := text([]any{in.Current, in.Previous, in.Baseline, in.History, in.Before, in.After, in.Flaky}); after != before {
			t.Errorf("the input was changed:\n%s\n%s", before, after)
		}
		shuffle := func(o *detector.Observation) {
			if o.Set.Tests == nil {
				return
			}
			tests := *o.Set.Tests
			tests.Cases = slices.Clone(tests.Cases)
			w.Shuffle(len(tests.Cases), func(i, j int) { tests.Cases[i], tests.Cases[j] = tests.Cases[j], tests.Cases[i] })
			o.Set.Tests = &tests
		}
		shuffle(&in.Current)
		shuffle(&in.Previous)
		shuffle(&in.Baseline)
		w.Shuffle(len(in.Flaky), func(i, j int) { in.Flaky[i], in.Flaky[j] = in.Flaky[j], in.Flaky[i] })
		if diff := cmp.Diff(first, detector.Assess(in, detector.DefaultOptions())); diff != "" {
			t.Errorf("in another order:\n%s", diff)
		}
	})
}

// Untested new code makes no fix worse: it changes neither class nor recommendation.
func TestUntestedLinesDecideNothing(t *testing.T) {
	forInputs(t, func(t *testing.T, _ world, in detector.Input) {
		in.ChangedLines = []detector.ChangedLines{{Path: "calc/0.go", Lines: "3-9", Executed: "3-5"}}
		with := detector.Assess(in, detector.DefaultOptions())
		i := slices.IndexFunc(with.Alerts, func(a detector.Alert) bool { return a.Rule == detector.ChangeUntested })
		if i < 0 || with.Alerts[i].Message() != "No test executes 4 of 7 changed lines: calc/0.go:6-9" {
			t.Fatalf("alerts %v", with.Alerts)
		}
		with.Alerts = slices.Delete(with.Alerts, i, i+1)
		in.ChangedLines = nil
		if diff := cmp.Diff(detector.Assess(in, detector.DefaultOptions()), with); diff != "" {
			t.Errorf("(-without +with):\n%s", diff)
		}
	})
}

func TestNoRuleFiresOnEqualSets(t *testing.T) {
	forInputs(t, func(t *testing.T, w world, _ detector.Input) {
		s := w.set()
		if s.Tests == nil {
			s.Tests = w.tests() // a suite that cannot be read stays an alert
		}
		in := step(s, s)
		if in.Before = w.sources(); s.Tests.Counts().Flaky > 0 { // what else changed in the file of a flaky test may matter
			in.Before = nil
		}
		in.After = in.Before
		a := detector.Assess(in, detector.DefaultOptions())
		if len(a.Alerts) > 0 || a.Class != detector.Plateau {
			t.Errorf("class %v, alerts %v", a.Class, fired(a))
		}
		for _, baseline := range []metric.Set{w.set(), w.set()} { // what was before the iteration is not its doing
			in.Baseline.Set, in.History[0].Set = baseline, baseline
			if a := detector.Assess(in, detector.DefaultOptions()); len(a.Alerts) > 0 {
				t.Errorf("against another baseline: %v", fired(a))
			}
		}
	})
}

// Whatever happens, an acknowledgement of every rule takes the weight off every
// alert and loses none.
func TestAcknowledgedAlertsStayWithoutEffect(t *testing.T) {
	o := detector.DefaultOptions()
	for _, name := range detector.RuleNames() {
		o.Acknowledged = append(o.Acknowledged, covering(name))
	}
	forInputs(t, func(t *testing.T, _ world, in detector.Input) {
		plain, a := detector.Assess(in, detector.DefaultOptions()), detector.Assess(in, o)
		for _, alert := range plain.Alerts {
			if !slices.ContainsFunc(a.Alerts, func(x detector.Alert) bool { return x.ID() == alert.ID() && x.Message() == alert.Message() }) && alert.Rule != "metric_cycling" {
				t.Errorf("lost: %+v", alert)
			}
		}
		if len(a.Alerts) > 0 && a.Alerts[0].Severity > detector.Info {
			t.Errorf("alert %+v although all is acknowledged", a.Alerts[0])
		}
	})
}

func TestCycleProperties(t *testing.T) {
	for seed := range uint64(300) {
		w := world{rand.New(rand.NewPCG(seed, 9))}
		n := 2 + w.IntN(30)
		improving, constant := make([]float64, n), make([]float64, n)
		level := 20.0
		for i := range n {
			level += .1 + w.Float64()
			improving[i], constant[i] = level, 50
		}
		if c := path(improving, nil).Cycle; c != nil {
			t.Fatalf("seed %d: cycle %+v in a series that improves strictly", seed, c)
		}
		if c := path(constant, nil).Cycle; c != nil {
			t.Fatalf("seed %d: cycle %+v in a constant series", seed, c)
		}
		variation, swinging := 3*w.Float64(), slices.Clone(constant)
		for i := range swinging {
			swinging[i] += variation * float64(w.IntN(2)+i%2) / 2
		}
		if c := varying(swinging, nil, variation).Cycle; c != nil {
			t.Fatalf("seed %d: cycle %+v in %v, which wobbles by %v", seed, c, swinging, variation)
		}
		if c := varying(improving, nil, variation).Cycle; c != nil {
			t.Fatalf("seed %d: cycle %+v in a series that improves strictly, with a variation of %v", seed, c, variation)
		}
		// A period is planted behind a start of any kind.
		p := 2 + w.IntN(4)
		series := improving[:w.IntN(n)]
		block := make([]float64, p)
		for i := range block {
			block[i] = 80 + float64(i) + w.Float64()/2
		}
		for range 2 * p {
			series = append(series, block[len(series)%p])
		}
		if c := path(series, nil).Cycle; c == nil || c.Period != p || c.Endless != (len(series)-1 > 10) {
			t.Fatalf("seed %d: cycle %+v, want the planted period %d, in iteration %d", seed, c, p, len(series)-1)
		}
	}
}
