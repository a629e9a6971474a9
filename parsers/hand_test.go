package parsers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
)

// events writes go test -json events, one from each "action package test" line;
// further words are the output or the failed build.
func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		f := strings.SplitN(l, " ", 4)
		for len(f) < 4 {
			f = append(f, "")
		}
		fmt.Fprintf(&b, `{"Action":%q,"Package":%q,"Test":%q,"Output":%q}`+"\n", f[0], f[1], strings.Trim(f[2], "-"), f[3])
	}
	return b.String()
}

func statuses(t *metric.Tests) map[string]string {
	out := map[string]string{}
	for _, c := range t.Cases {
		out[c.ID.String()] = c.Status.String()
	}
	for _, s := range t.Broken {
		out["broken "+s.Name] = s.Why
	}
	return out
}

func TestGoTestEvents(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{
			"a run without an end failed", events("start p", "run p A", "run p B", "pass p B", "pass p"),
			map[string]string{"p: A": "failed", "p: B": "passed"},
		},
		{
			"a package without an end", events("start p", "run p A", "pass p A"),
			map[string]string{"p: A": "passed", "broken p": "did not finish: go test was stopped, or its output was cut off"},
		},
		{
			"failure without a failing test", events("start p", "run p A", "pass p A", "output p - PASS\n", "output p - exit status 1\n", "fail p"),
			map[string]string{"p: A": "passed", "broken p": "failed without a failing test: exit status 1"},
		},
		{
			"failure of a test", events("start p", "run p A", "output p A --- FAIL: A\n", "fail p A", "output p - FAIL\n", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"failure without any output", events("start p", "run p A", "fail p A", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"crash after a failure", events("start p", "run p A", "fail p A", "output p - signal: killed\n", "fail p"),
			map[string]string{"p: A": "failed", "broken p": "crashed: signal: killed"},
		},
		{"no test files", events("start p", "output p - ?   \tp\t[no test files]\n", "skip p"), map[string]string{}},
		{"no tests to run", events("start p", "output p - ok\n", "pass p"), map[string]string{}},
		{
			"twice the same test, worst wins", events("start p", "run p A", "fail p A", "run p A", "pass p A", "output p - FAIL\n", "fail p"),
			map[string]string{"p: A": "failed"},
		},
		{
			"two packages that interleave", events("start p", "start q", "run p A", "run q A", "pass q A", "skip p A", "pass p", "pass q"),
			map[string]string{"p: A": "skipped", "q: A": "passed"},
		},
		{
			"another package run with other tests is no rerun", events("run p A", "fail p A", "fail p", "start p", "run p A", "pass p A", "run p B", "pass p B", "pass p"),
			map[string]string{"p: A": "failed", "p: B": "passed"},
		},
		{"output that looks like a verdict", events("start p", "run p A", "output p A --- FAIL: A (0.00s)\n", "pass p A", "pass p"), map[string]string{"p: A": "passed"}},
		{
			"build failure of older Go", "# p\n./a.go:1:2: undefined: x\nFAIL\tp [build failed]\n" + events("start q", "run q A", "pass q A", "pass q"),
			map[string]string{"q: A": "passed", "broken p": "build failed"},
		},
		{"noise before an event on its line", "some noise" + events("start p", "run p A", "pass p A", "pass p"), map[string]string{"p: A": "passed"}},
		{"carriage returns and a mark", "\uFEFF" + strings.ReplaceAll(events("start p", "run p A", "pass p A", "pass p"), "\n", "\r\n"), map[string]string{"p: A": "passed"}},
		{"benchmark", events("start p", "run p BenchmarkA", "output p BenchmarkA x", "pass p"), map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJUnitDialects(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{"cases under the root", `<testsuites><testcase name="a" classname="c"/></testsuites>`, map[string]string{"c.a": "passed"}},
		{"a case is the root", `<testcase name="a"><error/></testcase>`, map[string]string{"a": "error"}},
		{"a suite is the root", `<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>`, map[string]string{"s: a": "failed"}},
		{
			"nested suites", `<testsuites name="tool"><testsuite name="s"><testsuite name="t"><testcase name="a"/></testsuite><testcase name="a"/></testsuite></testsuites>`,
			map[string]string{"s > t: a": "passed", "s: a": "passed"},
		},
		{
			"file wins over suite", `<testsuite name="s"><testcase file="f.py" classname="c" name="a"/></testsuite>`,
			map[string]string{"f.py: c.a": "passed"},
		},
		{
			"file of the suite, no class", `<testsuite name="s" file="f.js"><testcase name="a"/></testsuite>`,
			map[string]string{"f.js: s.a": "passed"},
		},
		{"failure and skipped", `<testsuite><testcase name="a"><skipped/><failure/></testcase></testsuite>`, map[string]string{"a": "failed"}},
		{"failure and error", `<testsuite><testcase name="a"><error/><failure/></testcase></testsuite>`, map[string]string{"a": "error"}},
		{"a failing todo does not count", `<testsuite><testcase name="a"><skipped type="todo"/><failure/></testcase></testsuite>`, map[string]string{"a": "skipped"}},
		{"status alone", `<testsuite><testcase name="a" status="failed"/><testcase name="b" result="suppressed"/></testsuite>`, map[string]string{"a": "failed", "b": "skipped"}},
		{"failed in every run", `<testsuite><testcase name="a"><failure/><rerunFailure/></testcase></testsuite>`, map[string]string{"a": "failed"}},
		{"unnamed cases", `<testsuite><testcase/><testcase><skipped/></testcase></testsuite>`, map[string]string{"(unnamed 1)": "passed", "(unnamed 2)": "skipped"}},
		{"a suite that failed as a whole", `<testsuite name="s"><error message="no server">x</error></testsuite>`, map[string]string{"broken s": "no server\nx"}},
		{"output that looks like a verdict", `<testsuite><testcase name="a"><system-out>&lt;failure/></system-out></testcase></testsuite>`, map[string]string{"a": "passed"}},
		{"two reports in one", "<testsuite><testcase name='a'/></testsuite>\n<testsuite><testcase name='b'/></testsuite>", map[string]string{"a": "passed", "b": "passed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJUnitTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1.5": 1500 * time.Millisecond, "0,25": 250 * time.Millisecond, "1,234.5": 1234500 * time.Millisecond,
		"2s": 2 * time.Second, "1e-3": time.Millisecond, "-1": 0, "NaN": 0, "Inf": 0, "": 0, "soon": 0,
	} {
		r, err := parsers.Parse(strings.NewReader(`<testsuite><testcase name="a" time="`+text+`"/></testsuite>`), "report")
		if err != nil || r.Tests.Cases[0].Duration != want {
			t.Errorf("time %q is %v, %v; want %v", text, r.Tests.Cases[0].Duration, err, want)
		}
	}
}

func TestJUnitProblems(t *testing.T) {
	r, err := parsers.Parse(strings.NewReader(`hello <testsuite name="s" tests="3" failures="1"><testcase name="a"/><testcase name="a"/></testsuite>`), "report")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`suite "s" says it has 3 tests and holds 2`,
		`suite "s" says that 1 tests failed and holds 0`,
		"text outside of the report: hello",
		"1 cases have the suite, class and name of another one and are one test with it",
	}
	if diff := cmp.Diff(want, r.Problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if (r.Cases != parsers.Totals{Tests: 2, Passed: 2}) || len(r.Tests.Cases) != 1 {
		t.Errorf("counted %+v and %d tests, want 2 cases and 1 test", r.Cases, len(r.Tests.Cases))
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		is           error
		want         string
	}{
		{"nothing", "", parsers.ErrEmpty, "read report x.xml: the report is empty"},
		{"white space", "\uFEFF \n", parsers.ErrEmpty, "empty"},
		{"text", "all is well\n", parsers.ErrUnknownFormat, "read report x.xml: the report has none of the formats"},
		{"other XML", "<html><testsuite/></html>", parsers.ErrUnknownFormat, "none of the formats"},
		{"other JSON", `{"tests": 3}`, parsers.ErrUnknownFormat, "none of the formats"},
		{"a source of Go or Kotlin", "package a.b\n\nimport c.D\npattern=x\ncannot find anything\n", parsers.ErrUnknownFormat, "none of the formats"},
		{"a coverage profile", "mode: set\na/b.go:1.2,3.4 1 1\n", parsers.ErrUnknownFormat, "none of the formats"},
		{"times and addresses", "12:30:15: starting\nhttp://host:80/x:1: y\n10:20 done\n", parsers.ErrUnknownFormat, "none of the formats"},
		{"cut off XML", "<testsuite>\n<testcase name='a'>", nil, "x.xml: line 2 (byte 31): the document ends inside <testcase>"},
		{"cut off events", `{"Action":"start","Package":"p"}` + "\n{\"Ti", nil, "x.xml: line 2 (byte 33): the report ends in the middle of an event"},
		{"cut off issues", `{"Issues":[{"FromLinter":"a","Text":"b"},{"From`, nil, "x.xml: line 1 (byte 42): the report ends in the middle of a value"},
		{"a linter that failed", `{"Issues":[],"Report":{"Error":"no config"}}`, nil, "golangci-lint says that it did not run to its end: no config"},
		{"cut off findings of vet", "{\n\t\"p\": {\"printf\": [{\"posn\": \"a.go:1:2\"", nil, "line 1: the report ends in the middle of an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parsers.Parse(strings.NewReader(tt.report), "x.xml")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			var syntax *parsers.SyntaxError
			if tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && !errors.As(err, &syntax) {
				t.Errorf("error %#v has the wrong type", err)
			}
		})
	}
}

func TestParseAs(t *testing.T) {
	for _, f := range parsers.Formats() {
		r, err := parsers.ParseAs(strings.NewReader(""), f.Name)
		if f.Silent {
			if err != nil || r.Lint == nil || len(r.Lint.Findings) != 0 {
				t.Errorf("%s of nothing: %+v, %v; want no findings", f.Name, r.Lint, err)
			}
		} else if !errors.Is(err, parsers.ErrEmpty) {
			t.Errorf("%s of nothing: error %v, want ErrEmpty", f.Name, err)
		}
	}
	for _, format := range []string{"go-test-json", "junit"} {
		if _, err := parsers.ParseAs(strings.NewReader("<html>all is well</html>"), format); !errors.Is(err, parsers.ErrUnknownFormat) {
			t.Errorf("%s of another text: error %v, want ErrUnknownFormat", format, err)
		}
	}
	if _, err := parsers.ParseAs(strings.NewReader("x"), "nonsense"); !errors.Is(err, parsers.ErrUnknownFormat) {
		t.Errorf("error %v, want ErrUnknownFormat", err)
	}
}

func TestFindings(t *testing.T) {
	for _, tt := range []struct {
		name, format, report string
		want                 []metric.Finding
	}{
		{
			"severities of golangci-lint", "golangci-lint",
			`level=warning msg="x"` + "\n" + `{"Issues":[{"FromLinter":"a","Text":"1","Severity":"warning"},{"FromLinter":"a","Text":"2","Severity":"info"},{"FromLinter":"a","Text":"3","Severity":"odd"},{"FromLinter":"typecheck","Text":"4"}]}`,
			[]metric.Finding{
				{Tool: "golangci-lint", Rule: "a", Level: metric.Warning, Message: "1"},
				{Tool: "golangci-lint", Rule: "a", Level: metric.Note, Message: "2"},
				{Tool: "golangci-lint", Rule: "a", Level: metric.Error, Message: "3"},
				{Tool: "golangci-lint", Rule: "typecheck", Level: metric.Error, Type: true, Message: "4"},
			},
		},
		{"no issues", "golangci-lint", `{"Issues":null,"Report":{}}`, []metric.Finding{}},
		{"no issues, short", "golangci-lint", `{"Issues": []}`, []metric.Finding{}},
		{
			"what the compiler printed, in one issue", "golangci-lint",
			`{"Issues":[{"FromLinter":"typecheck","Text":": # p\n./a.go:1:2: bad\n./b.go:3:4: worse","Pos":{"Filename":"a.go","Line":1}}]}`,
			[]metric.Finding{
				{Tool: "golangci-lint", Rule: "typecheck", Level: metric.Error, Type: true, File: "a.go", Line: 1, Column: 2, Message: "bad"},
				{Tool: "golangci-lint", Rule: "typecheck", Level: metric.Error, Type: true, File: "b.go", Line: 3, Column: 4, Message: "worse"},
			},
		},
		{
			"a package and its test variant", "go-build", "# p\n./a.go:1:2: bad\n# p [p.test]\n./a.go:1:2: bad\n\tand more\n",
			[]metric.Finding{{Tool: "go build", Level: metric.Error, Type: true, File: "a.go", Line: 1, Column: 2, Message: "bad"}},
		},
		{
			"an import cycle", "go-build", "package a\n\timports b\n\timports a: import cycle not allowed\n",
			[]metric.Finding{{Tool: "go build", Level: metric.Error, Type: true, Message: "package a imports b imports a: import cycle not allowed"}},
		},
		{
			"golint, which is no compiler", "lint-text", "a.go:1:1: package comment is detached\n",
			[]metric.Finding{{Level: metric.Error, File: "a.go", Line: 1, Column: 1, Message: "package comment is detached"}},
		},
		{
			"several tools in one log", "lint-text", "\x1b[1mC:\\src\\a.c:3:4:\x1b[0m warning: unused\nx.py:7: error: bad\nnothing\n./y.ts:1:1: plain\n",
			[]metric.Finding{
				{Tool: "gcc", Level: metric.Warning, File: "C:/src/a.c", Line: 3, Column: 4, Message: "unused"},
				{Tool: "mypy", Level: metric.Error, Type: true, File: "x.py", Line: 7, Message: "bad"},
				{Level: metric.Error, File: "y.ts", Line: 1, Column: 1, Message: "plain"},
			},
		},
		{
			"any tool", "errorformat", "C:\\src\\a.x:3:4: odd\nnothing\n./y.x:1:1: plain\n",
			[]metric.Finding{
				{Level: metric.Error, File: "C:/src/a.x", Line: 3, Column: 4, Message: "odd"},
				{Level: metric.Error, File: "y.x", Line: 1, Column: 1, Message: "plain"},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if r.Format != tt.format {
				t.Errorf("format %s, want %s", r.Format, tt.format)
			}
			if diff := cmp.Diff(tt.want, r.Lint.Findings); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWriteJUnitComesBack(t *testing.T) {
	want := metric.NewTests([]metric.Test{
		{ID: metric.ID{Suite: "p", Name: "A"}, Status: metric.Passed, Duration: 1500 * time.Millisecond},
		{ID: metric.ID{Suite: "p", Name: "B/x <y> & \"z\""}, Status: metric.Failed, Message: "got 1\n\twant ]]> 2"},
		{ID: metric.ID{Suite: "p", Class: "C", Name: "c"}, Status: metric.Skipped, Message: "no database"},
		{ID: metric.ID{Suite: "q", Name: "D"}, Status: metric.NotRun, Message: "panic"},
		{ID: metric.ID{Suite: "q", Name: "E"}, Status: metric.Errored, Message: "é\uFFFD"},
		{ID: metric.ID{Suite: "q", Name: "F"}, Status: metric.Passed, Flaky: true},
	})
	want.Broken = []metric.Suite{{Name: "q", Why: "panic"}, {Name: "r", Why: "build failed"}}
	want.Duration = 3 * time.Second
	var b strings.Builder
	if err := parsers.WriteJUnit(&b, want); err != nil {
		t.Fatal(err)
	}
	r, err := parsers.Parse(strings.NewReader(b.String()), "results.xml")
	if err != nil {
		t.Fatal(err)
	}
	want.Format, want.Producer = "junit", "supervise"
	if diff := cmp.Diff(want, r.Tests); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, b.String())
	}
}
