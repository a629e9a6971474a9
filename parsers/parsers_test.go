package parsers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
)

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
		{"Allure 1, which is not NUnit", `<a:test-suite xmlns:a="urn:model.allure.qatools.yandex.ru" start="1"><name>s</name><test-cases><test-case status="failed"><name>a</name></test-case></test-cases></a:test-suite>`, parsers.ErrUnknownFormat, "none of the formats"},
		{"results of Xcode", `{"_type":{"_name":"ActionsInvocationRecord"},"actions":{"_values":[]}}`, parsers.ErrUnknownFormat, "let xcbeautify or xcresultparser write JUnit XML"},
		{"results of Xcode 16", `{"devices":[],"testNodes":[{"name":"a","nodeType":"Test Plan"}],"testPlanConfigurations":[]}`, parsers.ErrUnknownFormat, "let xcbeautify or xcresultparser write JUnit XML"},
		{"Bullseye", `<BullseyeCoverage name="a.cov" version="6"><src name="a.cpp" fn_cov="1" fn_total="2"/></BullseyeCoverage>`, parsers.ErrUnknownFormat, "build with --coverage"},
		{"Bullseye's own file", "CoVfIlEa\x00\x01", parsers.ErrUnknownFormat, "build with --coverage"},
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
