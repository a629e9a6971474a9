package source

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/source/internal/tests"
)

// scanTests returns the tests of a Go test file by name, after its package
// clause and imports.
func scanTests(t *testing.T, path, src string) map[string]TestDef {
	t.Helper()
	file, err := Scan(path, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	defs := map[string]TestDef{}
	for _, def := range file.Tests {
		defs[def.Name] = def
	}
	return defs
}

func names(t *testing.T, path, src string) []string {
	t.Helper()
	file, err := Scan(path, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[TestKind]string{Test: "test", Subtest: "subtest", Benchmark: "benchmark", Fuzz: "fuzz", Example: "example"}
	var list []string
	for _, def := range file.Tests {
		list = append(list, kinds[def.Kind]+" "+def.Name)
	}
	return list
}

const runnerSource = `package a

import "testing"

func TestX(t *testing.T)        {}
func Test(t *testing.T)         {}
func Test_under(t *testing.T)   {}
func TestÄ(t *testing.T)        {}
func Testlower(t *testing.T)    {}
func TestNone()                 {}
func TestTwo(t, u *testing.T)   {}
func TestResult(t *testing.T) error { return nil }
func TestGeneric[T any](t *testing.T) {}
func TestValue(t testing.T)     {}
func TestOther(t *testing.B)    {}
func TestMain(m *testing.M)     {}
func (s S) TestMethod()         {}
func helper(t *testing.T)       {}

// func TestCommented(t *testing.T) {}
/*
func TestBlock(t *testing.T) {}
*/
var s = "func TestString(t *testing.T) {}"

func BenchmarkX(b *testing.B) { b.Run("sub", func(b *testing.B) {}) }
func FuzzX(f *testing.F)      {}

func ExampleRuns() {
	// Output: 1
}
func ExampleUnordered() {
	// a comment

	// Unordered output:
	// 1
}
func ExampleCompiles() {
	// Output is 1
}
func ExampleSuperseded() {
	// Output: 1

	// more
}
func Example_x(a int) {
	// Output: 1
}
`

func TestRunnerSemantics(t *testing.T) {
	want := []string{
		"test TestX", "test Test", "test Test_under", "test TestÄ",
		"benchmark BenchmarkX", "benchmark BenchmarkX/sub", "fuzz FuzzX",
		"example ExampleRuns", "example ExampleUnordered",
	}
	if diff := cmp.Diff(want, names(t, "a_test.go", runnerSource)); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	if got := names(t, "a.go", runnerSource); got != nil {
		t.Errorf("tests outside a test file: %v", got)
	}
}

// The output of an example is what it asserts, although it is a comment.
func TestOutputOfExamples(t *testing.T) {
	const src = "package a\n\nfunc ExampleF() {\n\tF() // calls\n\n\t// Output: one two\n}\n"
	two := scanTests(t, "a_test.go", src)["ExampleF"]
	three := scanTests(t, "a_test.go", strings.Replace(src, "two", "three", 1))["ExampleF"]
	if two.Tokens["two"] != 1 || three.Tokens["two"] != 0 || three.Tokens["three"] != 1 || two.Tokens["calls"] != 0 {
		t.Errorf("%v, %v", two.Tokens, three.Tokens)
	}
}

func TestSubtests(t *testing.T) {
	src := `package a

import "testing"

func TestX(t *testing.T) {
	t.Run("a b", func(t *testing.T) {
		t.Run("deep/er", func(u *testing.T) { u.Run("x", nested) })
	})
	t.Run("a b", func(t *testing.T) {})
	t.Run("", func(t *testing.T) {})
	t.Run("tab\t\x00", check)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Run("inner", func(t *testing.T) {})
		})
	}
	cmd.Run("no", "test")
	// t.Run("commented", func(t *testing.T) {})
}

func TestTable(t *testing.T) {
	for name, want := range map[string]int{"one": 1, "two": 2} {
		t.Run(name, func(t *testing.T) {
			if got := f(name); got != want {
				t.Errorf("f(%q) = %d", name, got)
			}
		})
	}
}
`
	// The names are those that go test -v prints, except that the rows of the
	// tables are missing.
	want := []string{
		"test TestX", "subtest TestX/a_b", "subtest TestX/a_b/deep/er", "subtest TestX/a_b/deep/er/x",
		"subtest TestX/a_b#01", "subtest TestX/#00", `subtest TestX/tab_\x00`, "subtest TestX/inner", "test TestTable",
	}
	if diff := cmp.Diff(want, names(t, "a_test.go", src)); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	defs := scanTests(t, "a_test.go", src)
	table := defs["TestTable"]
	if diff := cmp.Diff([]string{`"one"`, "1", `"two"`, "2", `"f(%q) = %d"`}, table.Literals); diff != "" {
		t.Errorf("literals of the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"got := f(name); got != want => t.Error"}, table.Assertions); diff != "" {
		t.Errorf("assertions of the table (-want +got):\n%s", diff)
	}
	if sub := defs["TestX/a_b"]; sub.Line != 6 || sub.End != 8 {
		t.Errorf("TestX/a_b in lines %d to %d, want 6 to 8", sub.Line, sub.End)
	}
}

func TestDeepSubtestsAreCut(t *testing.T) {
	const depth = 500
	src := "package a\nimport \"testing\"\nfunc TestX(t *testing.T) {\n" +
		strings.Repeat(`t.Run("s", func(t *testing.T) {`, depth) + strings.Repeat("})", depth) + "\n}\n"
	if got := names(t, "a_test.go", src); len(got) != 1+tests.MaxDepth {
		t.Errorf("%d tests, want %d", len(got), 1+tests.MaxDepth)
	}
}

func TestSuites(t *testing.T) {
	src := `package a

import (
	"testing"

	"github.com/stretchr/testify/suite"
)

type A struct{ suite.Suite }
type B struct{ suite.Suite }

func TestRunsA(t *testing.T) { suite.Run(t, new(A)) }

func (s *A) TestOne() {
	s.Equal(1, f())
	s.Require().NoError(err)
	s.prepare()
	s.Run("sub", func() { s.True(ok); s.T().Skip() })
}
func (s *B) TestTwo() { s.T().Skip("later") }
func (s *A) SetupTest() {}
`
	want := []string{"test TestRunsA", "test TestRunsA/TestOne", "subtest TestRunsA/TestOne/sub", "test B/TestTwo"}
	if diff := cmp.Diff(want, names(t, "a_test.go", src)); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	defs := scanTests(t, "a_test.go", src)
	if diff := cmp.Diff([]string{"s.Equal(1, f())", "s.Require().NoError(err)", "s.True(ok)"}, defs["TestRunsA/TestOne"].Assertions); diff != "" {
		t.Errorf("assertions (-want +got):\n%s", diff)
	}
	if defs["TestRunsA/TestOne"].Skipped || !defs["TestRunsA/TestOne/sub"].Skipped || !defs["B/TestTwo"].Skipped {
		t.Errorf("skipped: one %v, sub %v, two %v; want false, true, true",
			defs["TestRunsA/TestOne"].Skipped, defs["TestRunsA/TestOne/sub"].Skipped, defs["B/TestTwo"].Skipped)
	}
	if got := names(t, "a_test.go", strings.ReplaceAll(src, "testify/suite", "other/suit")); !slices.Equal(got, want[:1]) {
		t.Errorf("methods are tests without testify: %v", got)
	}
}

func TestSkips(t *testing.T) {
	tests := []struct {
		name, body  string
		skipped     bool
		conditional bool
		conditions  []string
	}{
		{name: "none", body: `f()`},
		{name: "first", body: `t.Skip("flaky")`, skipped: true},
		{name: "formatted", body: `f(); t.Skipf("%d", 1)`, skipped: true},
		{name: "now", body: `{ t.SkipNow() }`, skipped: true},
		{name: "commented", body: `// t.Skip()`},
		{name: "in a string", body: `f("t.Skip()")`},
		{name: "other receiver", body: `x.Skip()`},
		{name: "constant", body: `if 1 == 1 { t.Skip() }`, skipped: true},
		{name: "constant or", body: `if runtime.GOOS == "windows" || true { t.Skip() }`, skipped: true},
		{name: "else of constant", body: `if !true { f() } else { t.Skip() }`, skipped: true},
		{name: "dead", body: `if false { t.Skip() }`},
		{name: "system", body: `if runtime.GOOS == "windows" { t.Skip() }`, conditional: true, conditions: []string{`runtime.GOOS == "windows"`}},
		{name: "else if", body: `if x { f() } else if testing.Short() { t.Skip() }`, conditional: true, conditions: []string{`!(x) && testing.Short()`}},
		{name: "switch", body: `switch runtime.GOOS { case "js", "wasip1": t.Skip() }`, conditional: true, conditions: []string{`runtime.GOOS == "js", "wasip1"`}},
		{name: "tool", body: `if _, err := exec.LookPath("git"); err != nil { t.Skip() }`, conditional: true, conditions: []string{`_, err := exec.LookPath("git"); err != nil`}},
		{name: "tool before", body: "_, err := exec.LookPath(\"git\")\nif err != nil { t.Skip() }", conditional: true, conditions: []string{`err != nil`}},
		{name: "other error before", body: "_, err := f()\nif err != nil { t.Skip() }", conditions: []string{`err != nil`}},
		{name: "environment", body: `if os.Getenv("CI") != "" { t.Skip() }`, conditions: []string{`os.Getenv("CI") != ""`}},
		{name: "turned round", body: "if runtime.GOOS == \"linux\" { f(); return }\nt.Skip()", conditional: true, conditions: []string{`!(runtime.GOOS == "linux")`}},
		{name: "after a return that never comes", body: "if false { return }\nt.Skip()", skipped: true},
		{name: "loop", body: `for range tools { t.Skip() }`, conditions: []string{`for range tools`}},
		{name: "subtest", body: `t.Run("a", func(t *testing.T) { t.Skip() })`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := scanTests(t, "a_test.go", "package a\nimport \"testing\"\nfunc TestX(t *testing.T) {\n"+tt.body+"\n}\n")["TestX"]
			if def.Skipped != tt.skipped || def.SkipConditional != tt.conditional {
				t.Errorf("skipped %v, conditional %v; want %v, %v", def.Skipped, def.SkipConditional, tt.skipped, tt.conditional)
			}
			if diff := cmp.Diff(tt.conditions, def.SkipConditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBuildConstraints(t *testing.T) {
	tests := []struct {
		path, constraint     string
		skipped, conditional bool
	}{
		{"a_test.go", "", false, false},
		{"a_test.go", "//go:build linux", false, true},
		{"a_test.go", "//go:build ignore", true, false},
		{"a_test.go", "//go:build ignore && linux", true, false},
		{"a_test.go", "//go:build ignore || linux", false, true},
		{"a_test.go", "//go:build !ignore", false, true},
		{"a_windows_test.go", "", false, true},
		{"windows_test.go", "", false, false},
	}
	for _, tt := range tests {
		def := scanTests(t, tt.path, tt.constraint+"\n\npackage a\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n")["TestX"]
		if def.Skipped != tt.skipped || def.SkipConditional != tt.conditional {
			t.Errorf("%s %q: skipped %v, conditional %v; want %v, %v", tt.path, tt.constraint, def.Skipped, def.SkipConditional, tt.skipped, tt.conditional)
		}
	}
}

const assertionSource = `package loop_test

import (
	"testing"
	"github.com/google/go-cmp/cmp"
	"example.org/go-loop/v2"
	"github.com/stretchr/testify/assert"
	is2 "github.com/matryer/is"
)

type row struct{ name string }

func helper(t *testing.T) {}

func TestX(t *testing.T) {
	l, err := loop.Open("x", 7) // t.Error("not this")
	if err != nil {
		t.Fatal(err)
	}
	helper(t)
	if diff := cmp.Diff(want,
		l.Close()); diff != "" {
		t.Errorf("diff: %s", diff)
	} else if len(diff) == 0 {
		t.Fail()
	}
	switch {
	case l.N > 1 && ok:
		t.Error("n")
	}
	assert.Equal(t, row{name: global}, err)
	a := assert.New(t)
	is := is2.New(t)
	is.Equal(1, 2)
	checkFile(t, "y")
	expected.Use(a)
	mustache(x)
	t.Run("sub", func(tt *testing.T) { tt.FailNow() })
	t.Log("nothing")
}
`

func TestAssertionsAndSymbols(t *testing.T) {
	def := scanTests(t, "loop_test.go", assertionSource)["TestX"]
	wantAssertions := []string{
		`err != nil => t.Fatal`,
		`diff := cmp.Diff(want, l.Close()); diff != "" => t.Error`,
		`len(diff) == 0 => t.Fail`,
		`case l.N > 1 && ok => t.Error`,
		`assert.Equal(t, row{name: global}, err)`,
		`is.Equal(1, 2)`,
		`checkFile(t, "y")`,
		`tt.FailNow()`,
	}
	if diff := cmp.Diff(wantAssertions, def.Assertions); diff != "" {
		t.Errorf("assertions (-want +got):\n%s", diff)
	}
	wantSymbols := []string{
		"Close", "Equal", "N", "Use",
		"assert.Equal", "assert.New", "checkFile", "cmp.Diff", "expected", "global", "is2.New", "loop.Open", "mustache", "ok", "want", "x",
	}
	if diff := cmp.Diff(wantSymbols, def.Symbols); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
}

const similarSource = `package a

import "testing"

func TestParse(t *testing.T) {
	// A comment of no account.
	got, err := Parse("a=1,b=2")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["a"] != 1 {
		t.Errorf("Parse = %v, want two pairs", got)
	}
}

func TestParsePairs(t *testing.T) {
	pairs, err := Parse("a=1,b=2")
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 2 || pairs["a"] != 1 || pairs["b"] != 2 {
		t.Errorf("Parse = %v", pairs)
	}
}

func TestClose(t *testing.T) {
	f := open(t)
	f.Close()
	if _, ok := <-f.Done(); ok {
		t.Error("the file is still open")
	}
}

func TestTrivial(t *testing.T) {
	if 1+1 != 2 {
		t.Error("arithmetic")
	}
}

func TestEmpty(t *testing.T) {}
`

func TestSimilarity(t *testing.T) {
	defs := scanTests(t, "a_test.go", similarSource)
	tests := []struct {
		a, b     string
		min, max float64
	}{
		{"TestParse", "TestParse", 1, 1},
		{"TestParse", "TestParsePairs", 0.5, 0.9},
		{"TestParse", "TestClose", 0, 0.3},
		{"TestParse", "TestTrivial", 0, 0.3},
		{"TestParse", "TestEmpty", 0, 0},
		{"TestEmpty", "TestEmpty", 0, 0},
	}
	for _, tt := range tests {
		got, back := Similarity(defs[tt.a], defs[tt.b]), Similarity(defs[tt.b], defs[tt.a])
		if got < tt.min || got > tt.max || got != back {
			t.Errorf("Similarity(%s, %s) = %.3f and %.3f, want within [%.1f, %.1f]", tt.a, tt.b, got, back, tt.min, tt.max)
		}
	}
	exact := Similarity(
		TestDef{Tokens: map[string]int{"a": 2, "b": 1}},
		TestDef{Tokens: map[string]int{"a": 1, "c": 1}},
	)
	if exact != 0.25 { // one in common of {a, a, b, c}
		t.Errorf("Similarity = %v, want 0.25", exact)
	}
}
