package detector_test

import (
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
	"supervise/source"
)

// goalCase is a change to TestParse, what was found of it, and how it ended as it was.
type goalCase struct {
	pattern  string // of a HIGH finding; "": none
	before   metric.Status
	now      metric.Status    // zero: the tests could not be read
	outcome  detector.Outcome // "": nothing was run
	alone    bool             // no code changed but that of tests
	asksRoot bool             // the test asks for the user now
}

func (c goalCase) input() detector.Input {
	id := metric.ID{Suite: "example.com/shop", Name: "TestParse"}
	set := func(s metric.Status) metric.Set {
		if s == 0 {
			return metric.Set{}
		}
		return metric.Set{Tests: metric.NewTests([]metric.Test{{ID: id, Status: s}, {ID: metric.ID{Suite: "example.com/shop", Name: "TestOther"}, Status: metric.Passed}})}
	}
	defs := []detector.TestSource{{File: "shop/parse_test.go", Def: source.TestDef{Name: "TestParse", Tokens: map[string]int{"Parse": 1}}}}
	first := detector.Observation{Set: set(c.before)}
	in := detector.Input{
		Current: detector.Observation{Iteration: 1, Set: set(c.now), Changed: true}, Previous: first, Baseline: first,
		History: []detector.Observation{first}, ProductUnchanged: c.alone, Evidence: detector.Evidence{Before: defs, After: defs},
	}
	if c.pattern != "" {
		in.Tampering = []detector.Tampering{{Pattern: c.pattern, Type: "assertion_weakened", Severity: detector.High, File: "shop/parse_test.go", Test: "TestParse"}}
	}
	if c.outcome != "" {
		in.Goals = []detector.Goal{{ID: id, File: "shop/parse_test.go", Outcome: c.outcome, FailedBefore: c.before == metric.Failed, Why: "got 3, want 4", MachineDependent: c.asksRoot}}
	}
	return in
}

// severityOf is the severity of the alert of a rule, or of one about the texts.
func severityOf(in detector.Input, rule string, mayRemove ...string) detector.Severity {
	for _, a := range detector.Assess(in, detector.Options{Mode: detector.ModeAggressive, AllowRemove: mayRemove}).Alerts {
		if strings.HasPrefix(a.Rule, rule) {
			return a.Severity
		}
	}
	return 0
}

// A test that broke as it was was weakened, unless it fails still.
func TestTestsGaveWay(t *testing.T) {
	const failed, passed, skipped = metric.Failed, metric.Passed, metric.Skipped
	for _, tt := range []struct {
		name string
		c    goalCase
		want detector.Severity
	}{
		{"what failed before", goalCase{"", failed, passed, detector.Failed, false, false}, detector.Critical},
		{"what failed before, skipped now", goalCase{"", failed, skipped, detector.Failed, false, false}, detector.Critical},
		{"no code changed", goalCase{"", passed, passed, detector.Failed, true, false}, detector.Critical},
		{"a behaviour changed", goalCase{"", passed, passed, detector.Failed, false, false}, detector.High},
		{"it did not even help", goalCase{"", failed, failed, detector.Failed, true, false}, 0},
		{"it failed for the machine's sake", goalCase{"", failed, passed, detector.Failed, true, true}, detector.High},
		{"a behaviour changed, on this machine", goalCase{"", passed, passed, detector.Failed, false, true}, detector.Medium},
		{"it passes", goalCase{"", failed, passed, detector.Passed, true, false}, 0},
		{"it does not build", goalCase{"", failed, passed, detector.Unbuilt, false, false}, 0},
		{"it could not be run", goalCase{"", failed, passed, detector.NotRun, false, false}, 0},
		{"nothing could be read", goalCase{"", failed, 0, detector.Failed, false, false}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.c.input()
			if got := severityOf(in, detector.TestsWeakened); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
			if len(in.Goals) > 0 {
				in.Goals[0].AcceptedBefore = true
			}
			if got := severityOf(in, detector.TestsWeakened); got != 0 {
				t.Errorf("found before: %v, want nothing", got)
			}
		})
	}
}

// What the user declared is listed, and neither undone nor a regression; what a test no
// longer says at all is not covered.
func TestDeclaredChange(t *testing.T) {
	const failed, passed, skipped = metric.Failed, metric.Passed, metric.Skipped
	for _, tt := range []struct {
		name     string
		c        goalCase
		want     detector.Severity
		declared bool
	}{
		{"what failed before", goalCase{"", failed, passed, detector.Failed, false, false}, detector.High, true},
		{"no code changed", goalCase{"", passed, passed, detector.Failed, true, false}, detector.High, true},
		{"a behaviour changed", goalCase{"", passed, passed, detector.Failed, false, false}, detector.High, true},
		{"on this machine", goalCase{"", passed, passed, detector.Failed, false, true}, detector.Medium, true},
		{"skipped now", goalCase{"", failed, skipped, detector.Failed, false, false}, detector.Critical, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := detector.DefaultOptions()
			o.Tests = detector.TestsChange
			a := detector.Assess(tt.c.input(), o)
			got, ok := alertOf(a, detector.TestsWeakened)
			if !ok || got.Severity != tt.want || got.Declared != tt.declared || got.CountsAtLeast(detector.Medium) == tt.declared {
				t.Fatalf("%+v, want %v, declared %v", got, tt.want, tt.declared)
			}
			if end := "(declared by tests: change)"; tt.declared != strings.HasSuffix(got.Message(), end) {
				t.Errorf("the message is %q", got.Message())
			}
			if tt.declared && (a.Class == detector.Regression || a.Recommendation.Action != detector.Continue) {
				t.Errorf("class %s, %s", a.Class, a.Recommendation.Action)
			}
		})
	}
}

// A pattern declares the tests that it matches, by name, as a part of a test, or by all files that
// may hold their expectations.
func TestMayChange(t *testing.T) {
	for pattern, want := range map[string]bool{
		"TestParse": true, "Test*": true, "example.com/shop: TestParse": true, "shop/*_test.go": true, "shop/**": true,
		"TestOther": false, "TestPars": false, "*_test.go": true, "shop/parse.go": false, "shop/testdata/*.golden": false,
	} {
		in := goalCase{"", metric.Failed, metric.Passed, detector.Failed, false, false}.input()
		got, _ := alertOf(detector.Assess(in, detector.Options{MayChange: []string{pattern}}), detector.TestsWeakened)
		if got.Declared != want || got.CountsAtLeast(detector.Critical) == want {
			t.Errorf("%s: %+v, want declared %v", pattern, got, want)
		}
		if in.Goals[0].DependsOn = []string{"shop/testdata/x.golden"}; pattern == "shop/testdata/*.golden" {
			if got, _ := alertOf(detector.Assess(in, detector.Options{MayChange: []string{pattern}}), detector.TestsWeakened); !got.Declared {
				t.Errorf("%s: the golden file of the test: %+v", pattern, got)
			}
			in.Goals[0].DependsOn = append(in.Goals[0].DependsOn, "shop/helper_test.go")
			if got, _ := alertOf(detector.Assess(in, detector.Options{MayChange: []string{pattern}}), detector.TestsWeakened); got.Declared {
				t.Errorf("%s: a helper changed as well: %+v", pattern, got)
			}
		}
	}
}

// The texts say the same of a declared change, and something else of an empty test.
func TestDeclaredChangeInTheTexts(t *testing.T) {
	for pattern, want := range map[string]bool{"TP-11": false, "TP-13": false, "TP-16": false, "TP-10": true, "TP-12": true, "TP-05": true} {
		in := goalCase{"", metric.Failed, metric.Passed, detector.Failed, false, false}.input()
		in.Tampering = []detector.Tampering{{Pattern: pattern, Type: "expectation_of_" + pattern, Severity: detector.Critical, File: "shop/parse_test.go", Test: "TestParse"}}
		o := detector.DefaultOptions()
		o.Tests = detector.TestsChange
		if _, got := alertOf(detector.Assess(in, o), "tamper:expectation_of_"+pattern); got != want {
			t.Errorf("%s: raised %v, want %v", pattern, got, want)
		}
	}
}

// A suite that could not be built, and can be now only with changed tests, may have been fixed or
// weakened: a person decides.
func TestSuiteGaveWay(t *testing.T) {
	in := goalCase{"", metric.Failed, metric.Passed, detector.Failed, false, false}.input()
	in.Goals[0].ID.Name = ""
	if got := severityOf(in, detector.TestsWeakened); got != detector.High {
		t.Errorf("%v, want HIGH", got)
	}
	in.Current.Set.Tests.Broken = []metric.Suite{{Name: "example.com/shop"}}
	if got := severityOf(in, detector.TestsWeakened); got != 0 {
		t.Errorf("it is still broken: %v", got)
	}
}

// What a test does as it was decides about findings in the texts.
func TestFindingsAfterGoals(t *testing.T) {
	const crit, high, medium = detector.Critical, detector.High, detector.Medium
	const failed, passed = metric.Failed, metric.Passed
	const silent = detector.Severity(0)
	for _, tt := range []struct {
		name string
		c    goalCase
		want detector.Severity
	}{
		{"nothing was run", goalCase{"TP-13", passed, passed, "", false, false}, high},
		{"it passes", goalCase{"TP-13", passed, passed, detector.Passed, false, false}, medium},
		{"it fails: the other rule says so", goalCase{"TP-11", failed, passed, detector.Failed, true, false}, silent},
		{"it fails, and its new version does", goalCase{"TP-11", failed, failed, detector.Failed, true, false}, high},
		{"a pattern that does not hang on it", goalCase{"TP-05", passed, passed, detector.Passed, true, false}, high},
		{"it does not build", goalCase{"TP-11", passed, passed, detector.Unbuilt, false, false}, high},
		{"it could not be run", goalCase{"TP-11", failed, passed, detector.NotRun, true, false}, high},
		{"failing and deleted, nothing could be read", goalCase{"TP-01", failed, 0, "", false, false}, crit},
		{"passing and deleted, nothing could be read", goalCase{"TP-01", passed, 0, "", false, false}, high},
		{"deleted: the rules about tests by name know", goalCase{"TP-01", failed, passed, detector.Failed, true, false}, silent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := severityOf(tt.c.input(), detector.TamperPrefix); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
	emptied := goalCase{"TP-10", passed, passed, detector.Passed, true, false}.input()
	emptied.Tampering[0].Severity = crit
	if got := severityOf(emptied, detector.TamperPrefix); got != high {
		t.Errorf("emptied, and it passes as it was: %v, want %v", got, high)
	}
	if a := detector.Assess(emptied, detector.Options{}); a.Recommendation.Action == detector.Rollback {
		t.Errorf("undone by a text that the run contradicts: %+v", a.Recommendation)
	}
}

func TestAlertNamesTheOutcome(t *testing.T) {
	in := goalCase{"", metric.Failed, metric.Passed, detector.Failed, true, false}.input()
	in.Goals[0].Before, in.Goals[0].After = &detector.Excerpt{Text: "a == 4"}, &detector.Excerpt{Text: "a"}
	a := detector.Assess(in, detector.Options{})
	const want = "example.com/shop: TestParse was weakened: the original test fails on the new code: got 3, want 4 (if intended: --tests change=PATTERN, or supervise ack)"
	if len(a.Alerts) != 1 || a.Alerts[0].Message() != want || a.Alerts[0].Basis != detector.Executed {
		t.Fatalf("%+v, want %q", a.Alerts, want)
	}
	if v := a.Alerts[0].Versions; len(v) != 1 || v[0].Before.Text != "a == 4" || v[0].After.Text != "a" {
		t.Errorf("versions %+v", v)
	}
	if a.Recommendation.Action != detector.Rollback {
		t.Errorf("recommended is %v", a.Recommendation)
	}
}

// One test that proves nothing, or is unknown, leaves the finding as it is.
func TestSeveralTestsOfAFinding(t *testing.T) {
	for _, tt := range []struct {
		outcomes []detector.Outcome
		want     detector.Severity
	}{
		{[]detector.Outcome{detector.Passed, detector.Passed}, detector.Medium},
		{[]detector.Outcome{detector.Passed}, detector.High},
		{[]detector.Outcome{detector.Passed, detector.NotRun}, detector.High},
		{[]detector.Outcome{detector.Unbuilt, detector.Passed}, detector.High},
	} {
		in := goalCase{"TP-11", metric.Passed, metric.Passed, detector.Passed, true, false}.input()
		id := in.Goals[0].ID
		both := metric.NewTests([]metric.Test{{ID: id, Status: metric.Passed}, {ID: metric.ID{Suite: id.Suite, Name: "TestParse/x"}, Status: metric.Passed}})
		in.Previous.Set.Tests, in.Baseline.Set.Tests, in.Current.Set.Tests, in.Goals = both, both, both, nil
		for i, o := range tt.outcomes {
			in.Goals = append(in.Goals, detector.Goal{ID: both.Cases[i].ID, Outcome: o})
		}
		if got := severityOf(in, detector.TamperPrefix); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.outcomes, got, tt.want)
		}
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
			for _, c := range tt.finding.AffectedTests(tt.before, tt.defs, tt.renamed) {
				got = append(got, c.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}
