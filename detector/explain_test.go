package detector_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/detector/internal/loss"
	"supervise/metric"
	"supervise/source"
)

// defs are the test definitions of a Go test file of the package "calc".
func defs(t *testing.T, tests ...string) []detector.TestSource {
	t.Helper()
	const file = "calc_test.go"
	src := "package calc\n\nimport \"testing\"\n\n" + strings.Join(tests, "\n\n") + "\n"
	scanned, err := source.Scan(file, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var out []detector.TestSource
	for _, d := range scanned.Tests {
		out = append(out, detector.TestSource{Suite: "calc", File: file, Def: d})
	}
	return out
}

// adds is a test of Add.
func adds(name string, a, b, sum int) string {
	return fmt.Sprintf(`func %s(t *testing.T) {
	if got := Add(%d, %d); got != %d {
		t.Errorf("Add(%d, %d) = %%d", got)
	}
}`, name, a, b, sum, a, b)
}

const divides = `func TestDivide(t *testing.T) {
	quotient, err := Divide(8, 2)
	if err != nil {
		t.Fatal(err)
	}
	if quotient != 4 {
		t.Errorf("Divide(8, 2) = %d, want 4", quotient)
	}
}`

const table = `func TestAdd(t *testing.T) {
	for _, tt := range []struct{ a, b, sum int }{{2, 3, 5}, {-4, 4, 0}, {7, 8, 15}} {
		if got := Add(tt.a, tt.b); got != tt.sum {
			t.Errorf("Add(%d, %d) = %d, want %d", tt.a, tt.b, got, tt.sum)
		}
	}
}`

const trivial = `func TestSum(t *testing.T) {
	if 1+1 != 2 {
		t.Error("arithmetic is broken")
	}
}`

const empty = `func TestQuotient(t *testing.T) { Divide(8, 2) }`

// validates is a test of conditions, without any literal.
func validates(name string, conditions ...string) string {
	var b strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&b, "\tif !%s {\n\t\tt.Fail()\n\t}\n", c)
	}
	return fmt.Sprintf("func %s(t *testing.T) {\n%s}", name, b.String())
}

// nilOf is a test of what Decode makes of nil, in a map of the type.
func nilOf(name, kind string) string {
	return fmt.Sprintf(`func %s(t *testing.T) {
	input := %s{"a": nil, "b": nil}
	var result Map
	if err := Decode(input, &result); err != nil {
		t.Fatalf("should not error: %%s", err)
	}
	if result.A != "" {
		t.Fatalf("A should be the default: %%s", result.A)
	}
	if result.B != nil {
		t.Fatalf("B should be nil: %%s", result.B)
	}
}`, name, kind)
}

const nils = `func TestNil(t *testing.T) {
	for _, tt := range []struct{ name string; in any; want Map }{
		{"strings", map[string]any{"a": nil, "b": nil}, Map{}},
		{"any", map[any]any{"a": nil, "b": nil}, Map{}},
		{"partial", map[string]any{"b": nil}, Map{A: "foo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Map{A: "foo"}
			if err := NewDecoder(&got).Decode(tt.in); err != nil {
				t.Fatalf("decode: %v", err)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("%q: expected %#v, got %#v", tt.name, tt.want, got)
			}
		})
	}
}`

func renamed(def, from, to string) string { return strings.Replace(def, from, to, 1) }

type losing struct {
	name          string
	before, after []string // definitions in calc_test.go
	was, is       []metric.Test
	change        func(*detector.Input)
	alerts        []string
	explained     map[string]detector.Explanation
}

func passing(names ...string) []metric.Test {
	var out []metric.Test
	for _, n := range names {
		out = append(out, outcome(n, metric.Passed))
	}
	return out
}

var losses = []losing{
	{
		name: "renamed", before: []string{divides}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: passing("TestDivide"), is: passing("TestQuotient"), explained: map[string]detector.Explanation{"TestDivide": loss.SimilarBody},
	},
	{
		name: "a failing test is renamed", before: []string{divides}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: []metric.Test{outcome("TestDivide", metric.Failed)}, is: []metric.Test{outcome("TestQuotient", metric.Failed)},
		explained: map[string]detector.Explanation{"TestDivide": loss.SimilarBody},
	},
	{
		name:   "renamed, and another one deleted",
		before: []string{divides, adds("TestAdd", 2, 3, 5)}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: passing("TestDivide", "TestAdd"), is: passing("TestQuotient"),
		alerts:    []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
		explained: map[string]detector.Explanation{"TestDivide": loss.SimilarBody},
	},
	{
		name: "renamed and fails now", before: []string{divides}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: passing("TestDivide"), is: []metric.Test{outcome("TestQuotient", metric.Failed)},
		alerts: []string{"CRITICAL working_tests_failing"}, explained: map[string]detector.Explanation{"TestDivide": loss.SimilarBody},
	},
	{
		name: "renamed and skipped now", before: []string{divides}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: passing("TestDivide"), is: []metric.Test{outcome("TestQuotient", metric.Skipped)},
		alerts: []string{"CRITICAL tests_newly_skipped"}, explained: map[string]detector.Explanation{"TestDivide": loss.SimilarBody},
	},
	{
		name: "swapped for a trivial one", before: []string{divides}, after: []string{trivial},
		was: []metric.Test{outcome("TestDivide", metric.Failed)}, is: passing("TestSum"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name: "swapped for one without assertions", before: []string{divides}, after: []string{empty},
		was: []metric.Test{outcome("TestDivide", metric.Failed)}, is: passing("TestQuotient"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name: "moved elsewhere without its assertions", before: []string{divides}, after: []string{renamed(empty, "TestQuotient", "TestDivide")},
		was: []metric.Test{outcome("TestDivide", metric.Failed)}, is: []metric.Test{{ID: metric.ID{Suite: "calc/new", Name: "TestDivide"}, Status: metric.Passed}},
		change: func(in *detector.Input) { in.After[0].Suite = "calc/new" }, alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name:   "its assertion went into another test",
		before: []string{validates("TestEmpty", `Valid(input())`), validates("TestForm", `Sane(input())`)},
		after:  []string{validates("TestForm", `Sane(input())`, `Valid(input())`)},
		was:    passing("TestEmpty", "TestForm"), is: passing("TestForm"), explained: map[string]detector.Explanation{"TestEmpty": loss.Absorbed},
	},
	{
		name: "deleted alongside new honest tests of something else", before: []string{divides, adds("TestAdd", 2, 3, 5)},
		after: []string{adds("TestAdd", 2, 3, 5), adds("TestAddMore", 4, 4, 8), adds("TestAddMost", 8, 2, 10)},
		was:   append(passing("TestAdd"), outcome("TestDivide", metric.Failed)), is: passing("TestAdd", "TestAddMore", "TestAddMost"),
		alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name:   "three merged into one",
		before: []string{adds("TestAddSmall", 2, 3, 5), adds("TestAddNegative", -4, 4, 0), adds("TestAddLarge", 7, 8, 15)}, after: []string{table},
		was: passing("TestAddSmall", "TestAddNegative", "TestAddLarge"), is: passing("TestAdd"),
		explained: map[string]detector.Explanation{"TestAddSmall": loss.Absorbed, "TestAddNegative": loss.Absorbed, "TestAddLarge": loss.Absorbed},
	},
	{
		name:   "merged into the table of a near copy",
		before: []string{nilOf("TestNil", "map[string]any"), nilOf("TestNilOfAny", "map[any]any")}, after: []string{nils},
		was: passing("TestNil", "TestNilOfAny"), is: passing("TestNil", "TestNil/any", "TestNil/partial", "TestNil/strings"),
		explained: map[string]detector.Explanation{"TestNilOfAny": loss.BecameCase},
	},
	{
		name:   "more near copies than new cases",
		before: []string{nilOf("TestNil", "map[string]any"), nilOf("TestNilA", "map[any]any"), nilOf("TestNilB", "map[any]string")}, after: []string{nils},
		was: passing("TestNil", "TestNilA", "TestNilB"), is: passing("TestNil", "TestNil/any"),
		alerts:    []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
		explained: map[string]detector.Explanation{"TestNilA": loss.BecameCase},
	},
	{
		name:   "a failing near copy exchanged for a case",
		before: []string{nilOf("TestNil", "map[string]any"), nilOf("TestNilOfAny", "map[any]any")}, after: []string{nils},
		was: append(passing("TestNil"), outcome("TestNilOfAny", metric.Failed)), is: passing("TestNil", "TestNil/any"),
		alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name:   "a near copy exchanged for a case that fails",
		before: []string{nilOf("TestNil", "map[string]any"), nilOf("TestNilOfAny", "map[any]any")}, after: []string{nils},
		was: passing("TestNil", "TestNilOfAny"), is: append(passing("TestNil"), outcome("TestNil/any", metric.Failed)),
		alerts: []string{"CRITICAL working_tests_failing"}, explained: map[string]detector.Explanation{"TestNilOfAny": loss.BecameCase},
	},
	{
		name:   "a near copy exchanged for a case that asserts nothing",
		before: []string{nilOf("TestNil", "map[string]any"), nilOf("TestNilOfAny", "map[any]any")},
		after:  []string{"func TestNil(t *testing.T) {\n\tt.Run(\"any\", func(*testing.T) { Decode(nil, nil) })\n}"},
		was:    passing("TestNil", "TestNilOfAny"), is: passing("TestNil", "TestNil/any"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name:   "a test of something else exchanged for a case",
		before: []string{nilOf("TestNil", "map[string]any"), divides}, after: []string{nils},
		was: passing("TestNil", "TestDivide"), is: passing("TestNil", "TestNil/any"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name: "moved to another package", before: []string{divides}, was: passing("TestDivide"),
		is:        []metric.Test{{ID: metric.ID{Suite: "calc/division", Name: "TestDivide"}, Status: metric.Passed}},
		explained: map[string]detector.Explanation{"TestDivide": loss.SameName},
	},
	{
		name: "its file moved",
		was:  []metric.Test{{ID: metric.ID{Suite: "calc", Name: "TestDivide"}, Status: metric.Passed, File: "old/a_test.go"}},
		is:   []metric.Test{{ID: metric.ID{Suite: "calc/new", Name: "TestDivide"}, Status: metric.Passed, File: "new/a_test.go"}},
		change: func(in *detector.Input) {
			in.Renamed = map[string]string{"old/a_test.go": "new/a_test.go"}
		},
		explained: map[string]detector.Explanation{"TestDivide": loss.FileRenamed},
	},
	{
		name: "the product function is gone", before: []string{divides, adds("TestAdd", 2, 3, 5)}, after: []string{adds("TestAdd", 2, 3, 5)},
		was: passing("TestDivide", "TestAdd"), is: passing("TestAdd"),
		change:    func(in *detector.Input) { in.GoneSymbols = []string{"Divide"} },
		explained: map[string]detector.Explanation{"TestDivide": loss.SubjectGone},
	},
	{
		name: "the product function is gone with its failing test", before: []string{divides, adds("TestAdd", 2, 3, 5)}, after: []string{adds("TestAdd", 2, 3, 5)},
		was: append(passing("TestAdd"), outcome("TestDivide", metric.Failed)), is: passing("TestAdd"),
		change: func(in *detector.Input) { in.GoneSymbols = []string{"Divide"} },
		alerts: []string{"CRITICAL test_count_decreased"},
	},
	{
		name: "added by this loop", was: passing("TestAdd", "TestDraft"), is: passing("TestAdd"),
		change: func(in *detector.Input) {
			in.AddedByLoop = map[metric.ID]bool{id("TestDraft"): true}
			in.Baseline.Set.Tests = suite(passing("TestAdd")...)
		},
		explained: map[string]detector.Explanation{"TestDraft": loss.AddedByLoop},
	},
	{
		name: "a table test and its cases renamed", before: []string{table}, after: []string{renamed(table, "TestAdd", "TestAddition")},
		was: passing("TestAdd", "TestAdd/a", "TestAdd/b"), is: passing("TestAddition", "TestAddition/a", "TestAddition/b"),
		explained: map[string]detector.Explanation{
			"TestAdd": loss.SimilarBody, "TestAdd/a": loss.CaseOfParent, "TestAdd/b": loss.CaseOfParent,
		},
	},
	{
		name: "a row renamed", was: passing("TestAdd", "TestAdd/a", "TestAdd/b"), is: passing("TestAdd", "TestAdd/a", "TestAdd/c"),
		explained: map[string]detector.Explanation{"TestAdd/b": loss.CaseOfParent},
	},
	{
		name: "a failing row exchanged", was: append(passing("TestAdd/a"), outcome("TestAdd", metric.Failed), outcome("TestAdd/b", metric.Failed)),
		is: passing("TestAdd", "TestAdd/a", "TestAdd/c"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name: "a row removed", was: passing("TestAdd", "TestAdd/a", "TestAdd/b"), is: passing("TestAdd", "TestAdd/a"),
		alerts: []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
	},
	{
		name: "a table of one row written out", before: []string{table}, after: []string{adds("TestAdd", 2, 3, 5)},
		was: passing("TestAdd", "TestAdd/a"), is: passing("TestAdd"), explained: map[string]detector.Explanation{"TestAdd/a": loss.CaseOfParent},
	},
	{
		name: "a table of one row written out, without an assertion", before: []string{table}, after: []string{"func TestAdd(t *testing.T) { Add(2, 3) }"},
		was: passing("TestAdd", "TestAdd/a"), is: passing("TestAdd"),
		alerts: []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
	},
	{
		name: "a table of one row that failed written out", before: []string{table}, after: []string{adds("TestAdd", 2, 3, 5)},
		was: []metric.Test{outcome("TestAdd", metric.Failed), outcome("TestAdd/a", metric.Failed)}, is: passing("TestAdd"),
		alerts: []string{"CRITICAL test_count_decreased"},
	},
	{
		name: "a table of two rows written out as one", before: []string{table}, after: []string{adds("TestAdd", 2, 3, 5)},
		was: passing("TestAdd", "TestAdd/a", "TestAdd/b"), is: passing("TestAdd"),
		alerts: []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
	},
	{
		name: "rows behind a failure of their test", was: passing("TestAdd", "TestAdd/a", "TestAdd/b"), is: []metric.Test{outcome("TestAdd", metric.Failed)},
		alerts: []string{"CRITICAL working_tests_failing"},
	},
	{
		name: "strict", before: []string{divides}, after: []string{renamed(divides, "TestDivide", "TestQuotient")},
		was: passing("TestDivide"), is: passing("TestQuotient"), alerts: []string{"CRITICAL tests_replaced"},
	},
	{
		name: "strict, merged", before: []string{adds("TestAddSmall", 2, 3, 5), adds("TestAddLarge", 7, 8, 15)}, after: []string{table},
		was: passing("TestAddSmall", "TestAddLarge"), is: passing("TestAdd"),
		alerts: []string{"CRITICAL test_count_decreased", "CRITICAL working_tests_failing"},
	},
}

func (l losing) input(t *testing.T) detector.Input {
	in := step(metric.Set{Tests: suite(l.was...)}, metric.Set{Tests: suite(l.is...)})
	in.Before, in.After = defs(t, l.before...), defs(t, l.after...)
	if l.change != nil {
		l.change(&in)
	}
	return in
}

func TestLostTests(t *testing.T) {
	for _, tt := range losses {
		t.Run(tt.name, func(t *testing.T) {
			a := detector.Assess(tt.input(t), detector.Options{Strict: strings.HasPrefix(tt.name, "strict")})
			want(t, a, tt.alerts...)
			got := map[string]detector.Explanation{}
			for _, l := range a.Changes.Explained {
				got[l.ID.Name] = l.Explanation
			}
			if tt.explained == nil {
				tt.explained = map[string]detector.Explanation{}
			}
			if diff := cmp.Diff(tt.explained, got); diff != "" {
				t.Errorf("explained (-want +got):\n%s", diff)
			}
			if _, raised := alertOf(a, "test_explained"); raised != (len(got) > 0) {
				t.Errorf("test_explained raised: %v, with %d explained losses", raised, len(got))
			}
			if len(tt.alerts) == 0 && a.Class == detector.Regression {
				t.Error("an explained loss is a regression")
			}
		})
	}
}

// An explained loss was accepted; it must not count against later iterations, which
// know nothing of the rename any more.
func TestExplainedLossIsForgotten(t *testing.T) {
	merged := losses[slices.IndexFunc(losses, func(l losing) bool { return l.name == "three merged into one" })]
	baseline, after := metric.Set{Tests: suite(merged.was...)}, metric.Set{Tests: suite(merged.is...)}
	in := step(after, after)
	in.Baseline.Set, in.History[0].Set = baseline, baseline
	want(t, detector.Assess(in, detector.DefaultOptions()))
}

// A row that vanished while its test failed is missed once the test runs again.
func TestRowsGoneBehindAFailureAreMissedLater(t *testing.T) {
	baseline := metric.Set{Tests: suite(passing("TestAdd", "TestAdd/a", "TestAdd/b")...)}
	in := step(metric.Set{Tests: suite(outcome("TestAdd", metric.Failed))}, metric.Set{Tests: suite(passing("TestAdd", "TestAdd/a")...)})
	in.Baseline.Set = baseline
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a, "CRITICAL test_count_decreased")
	if a.Alerts[0].Against != detector.AgainstBaseline {
		t.Errorf("against %s", a.Alerts[0].Against)
	}
}

func TestSuiteThatDidNotBuildIsNotDeleted(t *testing.T) {
	was := suite(metric.Test{ID: metric.ID{Suite: "a", Name: "T"}, Status: metric.Passed}, metric.Test{ID: metric.ID{Suite: "b", Name: "T"}, Status: metric.Passed})
	is := suite(metric.Test{ID: metric.ID{Suite: "a", Name: "T"}, Status: metric.Passed})
	is.Broken = []metric.Suite{{Name: "b", Why: "build failed"}}
	before := metric.Set{Tests: was, Build: build(metric.BuildSuccess)}
	for name, now := range map[string]*metric.Tests{"carried over": is.WithNotRun(was), "as read": is} {
		a := detector.Assess(step(before, metric.Set{Tests: now, Build: build(metric.BuildFailure)}), detector.DefaultOptions())
		want(t, a, "CRITICAL working_tests_failing", "HIGH build_broken")
		if len(a.Changes.Gone) > 0 || len(a.Changes.NotRun) != 1 {
			t.Errorf("%s: gone %v, not run %v", name, a.Changes.Gone, a.Changes.NotRun)
		}
	}
}

func TestSkips(t *testing.T) {
	body := func(skip string) []string {
		return []string{"import \"runtime\"\n\nfunc TestDivide(t *testing.T) {\n" + skip + "\n\tif Divide(8, 2) != 4 {\n\t\tt.Error(\"wrong\")\n\t}\n}"}
	}
	for _, tt := range []struct {
		name, before, after, message, alert string
	}{
		{"unconditional", "", `t.Skip("flaky")`, "flaky", "CRITICAL"},
		{"unconditional, with a pretext", "", `t.Skip("not supported on linux")`, "not supported on linux", "CRITICAL"},
		{"on a platform", "", `if runtime.GOOS == "linux" { t.Skip("windows only") }`, "windows only", "MEDIUM"},
		{"on the environment, with a pretext", "", `if broken { t.Skip("requires docker") }`, "requires docker", "CRITICAL"},
		{"by a condition that was there", `if missing() { t.Skip("git not installed") }`, `if missing() { t.Skip("git not installed") }`, "git not installed", "MEDIUM"},
		{"by a condition that was there, not of the machine", `if missing() { t.Skip("todo") }`, `if missing() { t.Skip("todo") }`, "todo", "CRITICAL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := step(metric.Set{Tests: suite(passing("TestDivide")...)},
				metric.Set{Tests: suite(metric.Test{ID: id("TestDivide"), Status: metric.Skipped, Message: tt.message})})
			in.Before, in.After = defs(t, body(tt.before)...), defs(t, body(tt.after)...)
			want(t, detector.Assess(in, detector.DefaultOptions()), tt.alert+" tests_newly_skipped")
		})
	}
}

func TestSkipInAFileThatDidNotChange(t *testing.T) {
	for message, alert := range map[string]string{
		"unsupported on windows": "MEDIUM", "exec: \"git\": executable file not found in $PATH": "MEDIUM",
		"flaky": "CRITICAL", "": "CRITICAL", "rooted in history": "CRITICAL",
	} {
		in := step(metric.Set{Tests: suite(outcome("A", metric.Failed))}, metric.Set{Tests: suite(metric.Test{ID: id("A"), Status: metric.Skipped, Message: message})})
		t.Run(message, func(t *testing.T) {
			want(t, detector.Assess(in, detector.DefaultOptions()), alert+" tests_newly_skipped")
		})
	}
}

// An override may make the milder kind of skip milder still, but not more severe.
func TestOverrideOfAConditionalSkip(t *testing.T) {
	in := step(metric.Set{Tests: suite(outcome("A", metric.Failed))},
		metric.Set{Tests: suite(metric.Test{ID: id("A"), Status: metric.Skipped, Message: "windows only"})})
	for severity, alert := range map[detector.Severity]string{detector.High: "MEDIUM", detector.Low: "LOW"} {
		o := detector.Options{Rules: map[string]detector.RuleOptions{"tests_newly_skipped": {Severity: severity}}}
		want(t, detector.Assess(in, o), alert+" tests_newly_skipped")
	}
}

// The cases of a test that is skipped as a whole are not deleted.
func TestCasesOfASkippedTest(t *testing.T) {
	in := step(metric.Set{Tests: suite(passing("TestAdd", "TestAdd/a", "TestAdd/b")...)},
		metric.Set{Tests: suite(metric.Test{ID: id("TestAdd"), Status: metric.Skipped, Message: "windows only"})})
	want(t, detector.Assess(in, detector.DefaultOptions()), "MEDIUM tests_newly_skipped")
}

func TestChangesOfEveryTest(t *testing.T) {
	before := suite(
		outcome("Broke", metric.Passed), outcome("Fixed", metric.Failed), outcome("Gone", metric.Passed),
		outcome("Muted", metric.Passed), outcome("Same", metric.Passed), outcome("Stuck", metric.Passed),
	)
	now := suite(
		outcome("Broke", metric.Errored), outcome("Fixed", metric.Passed), outcome("Fresh", metric.Passed),
		outcome("Muted", metric.Skipped), outcome("Same", metric.Passed), outcome("Stuck", metric.NotRun),
	)
	got := detector.Assess(step(metric.Set{Tests: before}, metric.Set{Tests: now}), detector.DefaultOptions()).Changes
	want := detector.TestChanges{
		New: []metric.ID{id("Fresh")}, Gone: []metric.ID{id("Gone")}, NewlyFailing: []metric.ID{id("Broke")},
		NewlyPassing: []metric.ID{id("Fixed")}, NewlySkipped: []metric.ID{id("Muted")}, NotRun: []metric.ID{id("Stuck")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Definitions are matched to tests by folder where no suite is named: those of
// the root package by what all import paths have in common.
func TestDefinitionsAreFoundByFolder(t *testing.T) {
	test := func(suite, name string) metric.Test {
		return metric.Test{ID: metric.ID{Suite: suite, Name: name}, Status: metric.Passed}
	}
	for file, pkg := range map[string]string{"calc_test.go": "example.org/m", "sub/calc_test.go": "example.org/m/sub"} {
		others := []metric.Test{test("example.org/m", "TestRoot"), test("example.org/m/sub", "TestSub")}
		in := step(
			metric.Set{Tests: suite(append(others, test(pkg, "TestDivide"))...)},
			metric.Set{Tests: suite(append(others, test(pkg, "TestQuotient"))...)},
		)
		in.Before, in.After = defs(t, divides), defs(t, renamed(divides, "TestDivide", "TestQuotient"))
		in.Before[0].Suite, in.Before[0].File, in.After[0].Suite, in.After[0].File = "", file, "", file
		a := detector.Assess(in, detector.DefaultOptions())
		want(t, a)
		if len(a.Changes.Explained) != 1 {
			t.Errorf("%s: explained %v", file, a.Changes.Explained)
		}
	}
}

// The skip rule uses the baseline where the iteration before has no result of the
// test.
func TestSkipAfterAnIterationInWhichTheTestDidNotRun(t *testing.T) {
	in := step(metric.Set{Tests: suite(outcome("A", metric.NotRun))}, metric.Set{Tests: suite(outcome("A", metric.Skipped))})
	in.Baseline.Set = metric.Set{Tests: suite(outcome("A", metric.Failed))}
	a := detector.Assess(in, detector.DefaultOptions())
	want(t, a, "CRITICAL tests_newly_skipped")
	if got := a.Alerts[0].Message(); got != "Test calc: A is now skipped (since the baseline)" {
		t.Error(got)
	}
}
