package sarif_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

// sarifOf returns a log of one run, made of the members.
func sarifOf(members ...string) string {
	return `{"version":"2.1.0","runs":[{` + strings.Join(members, ",") + `}]}`
}

const (
	sarifDriver = `"tool":{"driver":{"name":"T","rules":[{"id":"A","defaultConfiguration":{"level":"error"}},{"id":"B","defaultConfiguration":{"level":"note"},"messageStrings":{"m":{"text":"found {0} in {1}"}}}]},"extensions":[{"name":"E","guid":"g","rules":[{"id":"C","guid":"r","defaultConfiguration":{"level":"error"}}]}]}`
	sarifBases  = `"originalUriBaseIds":{"ROOT":{"uri":"file:///home/a/"},"SRC":{"uri":"src/","uriBaseId":"ROOT"}},"artifacts":[{"location":{"uri":"b.c","uriBaseId":"SRC"}}]`
)

// sarifAt returns the locations of a place.
func sarifAt(artifact string) string {
	return `"locations":[{"physicalLocation":{"artifactLocation":{` + artifact + `},"region":{"startLine":3,"startColumn":4}}}]`
}

func TestSARIF(t *testing.T) {
	for _, tt := range []struct{ name, report, want string }{
		{"its own level", sarifOf(sarifDriver, `"results":[{"ruleId":"A","level":"note","message":{"text":"m"}},{"ruleId":"A","level":"none","message":{"text":"n"}}]`), "T A note :0:0: m\nT A note :0:0: n"},
		{"level of the rule by its name", sarifOf(sarifDriver, `"results":[{"ruleId":"A","message":{"text":"m"}},{"ruleId":"A/1","message":{"text":"n"}}]`), "T A error :0:0: m\nT A/1 error :0:0: n"},
		{"level of the rule by its number", sarifOf(sarifDriver, `"results":[{"ruleIndex":1,"message":{"text":"m"}},{"rule":{"index":0},"message":{"text":"n"}}]`), "T B note :0:0: m\nT A error :0:0: n"},
		{"a number of another rule", sarifOf(sarifDriver, `"results":[{"ruleId":"A","ruleIndex":1,"message":{"text":"m"}},{"ruleId":"A","ruleIndex":7,"message":{"text":"n"}}]`), "T A error :0:0: m\nT A error :0:0: n"},
		{"a number of a rule, and a name that none has", sarifOf(sarifDriver, `"results":[{"ruleId":"X","ruleIndex":0,"message":{"text":"m"}},{"ruleId":"X","ruleIndex":9,"message":{"text":"n"}}]`), "T X error :0:0: m\nT X warning :0:0: n"},
		{"level of a rule of an extension", sarifOf(sarifDriver, `"results":[{"rule":{"id":"C","index":0,"toolComponent":{"index":0}},"message":{"text":"m"}},{"rule":{"guid":"r","toolComponent":{"guid":"g"}},"message":{"text":"n"}},{"ruleId":"C","message":{"text":"o"}}]`), "T C error :0:0: m\nT C error :0:0: n\nT C error :0:0: o"},
		{"no level anywhere", sarifOf(sarifDriver, `"results":[{"ruleId":"X","message":{"text":"m"}},{"message":{"text":"n"}}]`), "T X warning :0:0: m\nT  warning :0:0: n"},
		{"the tool after the results", sarifOf(`"results":[{"ruleId":"A","message":{"text":"m"}}]`, sarifDriver), "T A error :0:0: m"},
		{"a level that the run overrides", sarifOf(sarifDriver, `"invocations":[{"executionSuccessful":true,"ruleConfigurationOverrides":[{"descriptor":{"id":"A"},"configuration":{"level":"note"}}]}]`, `"results":[{"ruleId":"A","message":{"text":"m"},"provenance":{"invocationIndex":0}},{"ruleId":"A","message":{"text":"n"}}]`), "T A note :0:0: m\nT A error :0:0: n"},
		{"an unknown level", sarifOf(sarifDriver, `"results":[{"level":"odd","message":{"text":"m"}}]`), "T  error :0:0: m"},
		{"kinds", sarifOf(sarifDriver, `"results":[{"kind":"pass","message":{"text":"a"}},{"kind":"notApplicable","message":{"text":"b"}},{"kind":"open","message":{"text":"c"}},{"kind":"review","level":"error","message":{"text":"d"}},{"kind":"informational","message":{"text":"e"}},{"kind":"fail","message":{"text":"f"}}]`), "T  note :0:0: c\nT  note :0:0: d\nT  note :0:0: e\nT  warning :0:0: f"},
		{"suppressions", sarifOf(sarifDriver, `"results":[{"message":{"text":"a"},"suppressions":[{"kind":"inSource"}]},{"message":{"text":"b"},"suppressions":[{"kind":"external","status":"rejected"},{"kind":"external","status":"underReview"}]},{"message":{"text":"c"},"suppressions":[{"status":"rejected"},{"status":"accepted"}]},{"message":{"text":"d"},"suppressions":[]}]`), "T  warning :0:0: b\nT  warning :0:0: c\nT  warning :0:0: d"},
		{"baseline", sarifOf(sarifDriver, `"results":[{"message":{"text":"a"},"baselineState":"absent"},{"message":{"text":"b"},"baselineState":"unchanged"}]`), "T  warning :0:0: b"},
		{"messages of the rule", sarifOf(sarifDriver, `"results":[{"ruleId":"B","message":{"id":"m","arguments":["x","y"]}},{"message":{"text":"no {0} and {1}","arguments":["z"]}}]`), "T B note :0:0: found x in y\nT  warning :0:0: no z and {1}"},
		{"places", sarifOf(sarifDriver, sarifBases, `"results":[{"message":{"text":"a"},`+sarifAt(`"uri":"a%20b.c","uriBaseId":"ROOT"`)+`},{"message":{"text":"b"},`+sarifAt(`"uri":"b.c","uriBaseId":"SRC"`)+`},{"message":{"text":"c"},`+sarifAt(`"index":0`)+`},{"message":{"text":"d"},`+sarifAt(`"uri":"file:///C:/x/d.c"`)+`},{"message":{"text":"e"},`+sarifAt(`"uri":"file:///project/e.c"`)+`},{"message":{"text":"f"},`+sarifAt(`"uri":"https://host/f.c"`)+`}]`), "T  warning a b.c:3:4: a\nT  warning src/b.c:3:4: b\nT  warning src/b.c:3:4: c\nT  warning C:/x/d.c:3:4: d\nT  warning /project/e.c:3:4: e\nT  warning https://host/f.c:3:4: f"},
		{"a tool that met an error in a file", sarifOf(sarifDriver, `"results":[]`, `"invocations":[{"executionSuccessful":false,"toolExecutionNotifications":[{"level":"error","descriptor":{"id":"D"},"message":{"text":"cannot parse"},`+sarifAt(`"uri":"a.c"`)+`},{"level":"warning","message":{"text":"slow"}}]}]`), "T D error a.c:3:4: cannot parse"},
		{"SpotBugs, which misses classes", sarifOf(sarifDriver, `"results":[{"message":{"text":"m"}}]`, `"invocations":[{"executionSuccessful":false,"toolConfigurationNotifications":[{"descriptor":{"id":"spotbugs-missing-classes"},"level":"error","message":{"text":"missing: [a.B]"}}]}]`), "T  warning :0:0: m"},
		{"two runs", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"T","rules":[{"id":"A","defaultConfiguration":{"level":"error"}}]}},"results":[{"ruleId":"A","message":{"text":"m"}}]},{"tool":{"driver":{"name":"mypy"}},"results":[{"ruleId":"A","message":{"text":"n"},"level":"error"}]}]}`, "T A error :0:0: m\nmypy A error! :0:0: n"},
		{"nothing", sarifOf(sarifDriver, `"results":[]`), ""},
		{"no runs", `{"version":"2.1.0","runs":[]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reports.Findings(r.Lint.Findings)); diff != "" || r.Format != "sarif" {
				t.Errorf("format %s (-want +got):\n%s", r.Format, diff)
			}
		})
	}
}

func TestLintErrors(t *testing.T) {
	for _, tt := range []struct{ name, format, report, want string }{
		{"another version of SARIF", "sarif", `{"version":"1.0.0","runs":[]}`, `version "1.0.0" is not read`},
		{"no runs in SARIF", "sarif", `{"version":"2.1.0"}`, "no runs"},
		{"results in another file", "sarif", sarifOf(sarifDriver, `"externalPropertyFileReferences":{"results":[{"location":{"uri":"x"}}]}`), "outside of the run"},
		{"a failure of the tool", "sarif", sarifOf(sarifDriver, `"results":[{"message":{"text":"m"}}]`, `"invocations":[{"executionSuccessful":false,"toolConfigurationNotifications":[{"level":"error","message":{"text":"no such rule"}}]}]`), "T says that it did not run to its end: no such rule"},
		{"a failure without a reason", "sarif", sarifOf(sarifDriver, `"results":[]`, `"invocations":[{"executionSuccessful":false}]`), "it does not say why"},
		{"a build that failed without an error", "cargo", `{"reason":"build-finished","success":false}`, "no error is in the report"},
		{"cargo without an end", "cargo", `{"reason":"compiler-artifact","package_id":"a"}` + "\n", "no build-finished event"},
		{"another shape", "eslint", `{"a":1}`, "nothing of the format eslint"},
		{"an object for a list", "ruff", `{"filename":"a"}`, "not what the format ruff has there"},
		{"a text for a list", "semgrep", `{"results":"none"}`, "not what the format semgrep has there"},
		{"a text for a list within", "eslint", `[{"filePath":"a","messages":"none"}]`, "a value of another kind"},
		{"findings left out", "biome", `{"summary":{"errors":30,"diagnosticsNotPrinted":10},"diagnostics":[],"command":"check"}`, "left out 10 diagnostics"},
		{"no file", "pyright", `{"generalDiagnostics":[],"summary":{"filesAnalyzed":0}}`, "pyright looked at no file"},
		{"a list that was empty", "empty-list", `[{"a":1}]`, "its format is not known"},
		{"another root", "checkstyle", `<html/>`, "there is no <checkstyle>"},
		{"issues of another tool", "android-lint", `<issues burpVersion="1"><issue><name>a</name><host>b</host></issue></issues>`, "name no file, rule or message"},
		{"issues of an unknown tool", "eslint", `[{"filePath":"","messages":[{"text":"a"}]}]`, "name no file, rule or message"},
		{"cut off XML", "checkstyle", `<checkstyle><file name="a"><error/>`, "the document ends inside <file>"},
		{"rules that are broken", "semgrep", `{"results":[],"errors":[{"level":"error","message":"invalid rules"}],"paths":{"scanned":[]},"version":"1"}`, "semgrep looked at no file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.ParseAs(strings.NewReader(tt.report), tt.format)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, error %v; want %q", r.Lint, err, tt.want)
			}
		})
	}
}

func TestLintProblems(t *testing.T) {
	for _, tt := range []struct{ name, report, want string }{
		{"totals that lie", `[{"filePath":"a","messages":[{"severity":2,"message":"m"}],"errorCount":3,"warningCount":0}]`, "the report says it has 3 errors and holds 1"},
		{"talk around", "> lint\n" + `[{"filePath":"a","messages":[]}]`, "text outside of the report: > lint"},
		{"talk in JSON Lines", "loading\n" + `{"file":"a.py","line":1,"column":0,"message":"m","hint":null,"code":"c","severity":"error"}`, "text outside of the report: loading"},
		{"a run without results", sarifOf(sarifDriver), "wrote a run without results"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(r.Problems, "\n"); !strings.Contains(all, tt.want) {
				t.Errorf("problems %q, want %q", all, tt.want)
			}
		})
	}
}

func FuzzSarif(f *testing.F) { reports.Fuzz(f, "sarif") }
