package detector_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
	"supervise/source"
)

// holdoutCase is a change to TestParse, and what was found of it.
type holdoutCase struct {
	pattern  string // of a HIGH finding
	before   metric.Status
	now      metric.Status    // zero: the tests could not be read
	outcome  detector.Outcome // "": nothing was run
	alone    bool             // no code changed but that of tests
	asksRoot bool             // the test asks for the user now
}

func (c holdoutCase) input() detector.Input {
	id := metric.ID{Suite: "example.com/shop", Name: "TestParse"}
	set := func(s metric.Status) metric.Set {
		if s == 0 {
			return metric.Set{}
		}
		return metric.Set{Tests: metric.NewTests([]metric.Test{{ID: id, Status: s}, {ID: metric.ID{Suite: "example.com/shop", Name: "TestOther"}, Status: metric.Passed}})}
	}
	def := func(words ...string) []detector.TestSource {
		d := detector.TestSource{File: "shop/parse_test.go", Def: source.TestDef{Name: "TestParse", Tokens: map[string]int{"Parse": 1}}}
		for _, w := range words {
			d.Def.Tokens[w] = 1
		}
		return []detector.TestSource{d}
	}
	first := detector.Observation{Set: set(c.before)}
	in := detector.Input{
		Current: detector.Observation{Iteration: 1, Set: set(c.now), Changed: true}, Previous: first, Baseline: first,
		History: []detector.Observation{first}, TestsAlone: c.alone, Before: def(), After: def(),
		Tampering: []detector.Tampering{{Pattern: c.pattern, Type: "assertion_weakened", Severity: detector.High, File: "shop/parse_test.go", Test: "TestParse"}},
	}
	if c.asksRoot {
		in.After = def("Geteuid")
	}
	if c.outcome != "" {
		in.HeldOut = []detector.HeldOut{{File: "shop/parse_test.go", Finding: "TestParse", ID: id, Outcome: c.outcome, Why: "got 3, want 4"}}
	}
	return in
}

func severityOf(in detector.Input, o detector.Options) detector.Severity {
	o.Mode = detector.ModeAggressive
	for _, a := range detector.Assess(in, o).Alerts {
		if strings.HasPrefix(a.Rule, detector.TamperPrefix) {
			return a.Severity
		}
	}
	return 0
}

// TestSeverityAfterHoldOut is the policy.
func TestSeverityAfterHoldOut(t *testing.T) {
	const (
		passed, failed             = metric.Passed, metric.Failed
		medium, high, crit, silent = detector.Medium, detector.High, detector.Critical, detector.Severity(0)
	)
	for _, tt := range []struct {
		name string
		c    holdoutCase
		want detector.Severity
	}{
		{"nothing was run", holdoutCase{"TP-11", passed, passed, "", false, false}, high},
		{"it passes", holdoutCase{"TP-11", passed, passed, detector.Held, false, false}, medium},
		{"it passes, and no code changed", holdoutCase{"TP-13", failed, passed, detector.Held, true, false}, medium},
		{"it fails, the code changed", holdoutCase{"TP-13", passed, passed, detector.Broke, false, false}, high},
		{"it fails, no code changed", holdoutCase{"TP-11", failed, passed, detector.Broke, true, false}, crit},
		{"assertions removed", holdoutCase{"TP-10", failed, passed, detector.Broke, true, false}, crit},
		{"rows removed", holdoutCase{"TP-09", passed, passed, detector.Broke, true, false}, crit},
		{"a pattern that proves too little", holdoutCase{"TP-14", failed, passed, detector.Broke, true, false}, high},
		{"a pattern that does not hang on it", holdoutCase{"TP-12", failed, passed, detector.Held, true, false}, high},
		{"it did not even help", holdoutCase{"TP-11", failed, failed, detector.Broke, true, false}, high},
		{"it fails for the machine's sake", holdoutCase{"TP-11", failed, passed, detector.Broke, true, true}, high},
		{"it does not build", holdoutCase{"TP-11", passed, passed, detector.Unbuilt, false, false}, high},
		{"it could not be run", holdoutCase{"TP-11", failed, passed, detector.NotHeld, true, false}, high},
		{"failing and weakened alone", holdoutCase{"TP-11", failed, passed, "", false, false}, high},
		{"failing and deleted, nothing could be read", holdoutCase{"TP-01", failed, 0, "", false, false}, crit},
		{"passing and deleted, nothing could be read", holdoutCase{"TP-01", passed, 0, "", false, false}, high},
		{"deleted: the rules about tests by name know", holdoutCase{"TP-01", failed, passed, detector.Broke, true, false}, silent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := severityOf(tt.c.input(), detector.Options{}); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
	emptied := holdoutCase{"TP-10", metric.Passed, metric.Passed, detector.Held, true, false}.input()
	emptied.Tampering[0].Severity = crit
	if got := severityOf(emptied, detector.Options{}); got != high {
		t.Errorf("emptied, and it passes as it was: %v, want %v", got, high)
	}
}

func TestAlertNamesTheHoldOutResult(t *testing.T) {
	in := holdoutCase{"TP-11", metric.Failed, metric.Passed, detector.Broke, true, false}.input()
	a := detector.Assess(in, detector.Options{})
	const want = "Assertion weakened of TestParse in shop/parse_test.go; as it was, it fails over the new code: got 3, want 4"
	if len(a.Alerts) != 1 || a.Alerts[0].Message() != want {
		t.Fatalf("%+v, want %q", a.Alerts, want)
	}
	if a.Recommendation.Action != detector.Rollback {
		t.Errorf("recommended is %v", a.Recommendation)
	}
}

// One that broke outweighs those that hold, and what proves nothing does too.
func TestSeveralTestsOfAFinding(t *testing.T) {
	for _, tt := range []struct {
		outcomes []detector.Outcome
		want     detector.Severity
	}{
		{[]detector.Outcome{detector.Held, detector.Held}, detector.Medium},
		{[]detector.Outcome{detector.Held, detector.Broke}, detector.Critical},
		{[]detector.Outcome{detector.Held, detector.NotHeld}, detector.High},
		{[]detector.Outcome{detector.Unbuilt, detector.Held}, detector.High},
	} {
		in := holdoutCase{"TP-11", metric.Failed, metric.Passed, detector.Held, true, false}.input()
		first := in.HeldOut[0]
		in.HeldOut = nil
		for _, o := range tt.outcomes {
			first.Outcome = o
			in.HeldOut = append(in.HeldOut, first)
		}
		if got := severityOf(in, detector.Options{}); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.outcomes, got, tt.want)
		}
	}
}

func TestToHoldOut(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*detector.Input, *detector.Options)
		want   int
	}{
		{"a weakened test", func(*detector.Input, *detector.Options) {}, 1},
		{"explained", func(in *detector.Input, _ *detector.Options) { in.Tampering[0].ExplainedBy = "moved" }, 0},
		{"mild", func(in *detector.Input, _ *detector.Options) { in.Tampering[0].Severity = detector.Medium }, 0},
		{"a skip is wrong whatever the code does", func(in *detector.Input, _ *detector.Options) { in.Tampering[0].Pattern = "TP-05" }, 0},
		{"turned off", func(_ *detector.Input, o *detector.Options) {
			o.Rules = map[string]detector.RuleOptions{"tamper:assertion_weakened": {Off: true}}
		}, 0},
		{"of a command", func(in *detector.Input, _ *detector.Options) {
			in.Tampering[0].Test, in.Tampering[0].File = "", "package.json"
		}, 0},
		{"of a whole test file", func(in *detector.Input, _ *detector.Options) {
			in.Tampering[0].Test, in.TestFiles = "", []string{"shop/parse_test.go"}
		}, 1},
		{"no rules", func(_ *detector.Input, o *detector.Options) { o.Mode = detector.ModeOff }, 0},
		{"of a test that the loop added", func(in *detector.Input, _ *detector.Options) {
			in.AddedByLoop = map[metric.ID]bool{{Suite: "example.com/shop", Name: "TestParse"}: true}
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, o := holdoutCase{"TP-11", metric.Passed, metric.Passed, "", false, false}.input(), detector.Options{}
			tt.change(&in, &o)
			if got := detector.ToHoldOut(in, o, detector.High); len(got) != tt.want {
				t.Errorf("%+v, want %d", got, tt.want)
			}
		})
	}
}

// TestCasesOfAFindingAreFound finds the tests that a finding names among those that were measured.
func TestCasesOfAFindingAreFound(t *testing.T) {
	suite := func(cases ...metric.Test) *metric.Tests { return metric.NewTests(cases) }
	test := func(suite, class, name, file string) metric.Test {
		return metric.Test{ID: metric.ID{Suite: suite, Class: class, Name: name}, File: file, Status: metric.Passed}
	}
	def := func(file, class, name string) detector.TestSource {
		return detector.TestSource{File: file, Def: source.TestDef{Name: name, Class: class}}
	}
	for _, tt := range []struct {
		name    string
		finding detector.Tampering
		before  *metric.Tests
		defs    []detector.TestSource
		renamed map[string]string
		want    []string
	}{
		{
			"go, with its cases",
			detector.Tampering{File: "shop/a_test.go", Test: "TestA"},
			suite(test("m/shop", "", "TestA", ""), test("m/shop", "", "TestA/x", ""), test("m/shop", "", "TestB", ""), test("m/other", "", "TestA", "")),
			[]detector.TestSource{def("shop/a_test.go", "", "TestA"), def("shop/a_test.go", "", "TestB")},
			nil,
			[]string{"TestA", "TestA/x"},
		},
		{
			"pytest",
			detector.Tampering{File: "tests/test_a.py", Test: "test_row"},
			suite(test("pytest", "tests.test_a", "test_row[1-2]", ""), test("pytest", "tests.test_a", "test_row[3-4]", ""), test("pytest", "tests.test_b", "test_row[1-2]", "")),
			[]detector.TestSource{def("tests/test_a.py", "", "test_row")},
			nil,
			[]string{"test_row[1-2]", "test_row[3-4]"},
		},
		{
			"all of a file that was renamed",
			detector.Tampering{File: "new_test.go"},
			suite(test("m", "", "TestA", ""), test("m", "", "TestB", "")),
			[]detector.TestSource{def("old_test.go", "", "TestA")},
			map[string]string{"old_test.go": "new_test.go"},
			[]string{"TestA"},
		},
		{
			"jest, titles in groups",
			detector.Tampering{File: "web/calc.test.js", Test: "calc adds"},
			suite(test("web/calc.test.js", "calc", "adds", "web/calc.test.js"), test("web/calc.test.js", "calc", "subtracts", "web/calc.test.js")),
			[]detector.TestSource{def("web/calc.test.js", "calc", "calc adds")},
			nil,
			[]string{"adds"},
		},
		{
			"snapshots of jest",
			detector.Tampering{File: "web/__snapshots__/calc.test.js.snap"},
			suite(test("web/calc.test.js", "calc", "adds", "web/calc.test.js"), test("web/other.test.js", "calc", "adds", "web/other.test.js")),
			nil, nil,
			[]string{"adds"},
		},
		{
			"expected output in Go",
			detector.Tampering{File: "shop/testdata/out/a.golden"},
			suite(test("m/shop", "", "TestGolden", ""), test("m/other", "", "TestGolden", "")), nil, nil,
			[]string{"TestGolden"},
		},
		{"expected output that names nobody", detector.Tampering{File: "data/a.golden"}, suite(test("m/data", "", "TestA", "")), nil, nil, nil},
		{"not measured", detector.Tampering{File: "a_test.go", Test: "TestA"}, nil, []detector.TestSource{def("a_test.go", "", "TestA")}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range tt.finding.Cases(tt.before, tt.defs, tt.renamed) {
				got = append(got, c.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
