package parsers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

// lintSamples are small reports, at least one of each format, with what they
// hold: "tool rule level place: message", a ! after the level of type errors.
var lintSamples = []struct{ format, report, want string }{
	{"checkstyle", `<?xml version="1.0"?><checkstyle version="8"><file name="C:\src\A.java"><error line="3" column="5" severity="warning" message="a &lt; b" source="com.puppycrawl.tools.checkstyle.checks.X"/><error severity="ignore" message="c" source="x"/><exception>no such class</exception></file></checkstyle>`, "checkstyle com.puppycrawl.tools.checkstyle.checks.X warning C:/src/A.java:3:5: a < b\n x note C:/src/A.java:0:0: c\n  error C:/src/A.java:0:0: no such class"},
	{"checkstyle", `<checkstyle version="5.0"><file name="a/b.go"><error column="0" line="1" message=": # p&#10;./b.go:4:9: undefined: x" severity="error" source="typecheck"/></file></checkstyle>`, " typecheck error! b.go:4:9: undefined: x"},
	{"checkstyle", `<checkstyle/>`, ""},
	{"pmd", `<pmd xmlns="http://pmd.sourceforge.net/report/2.0.0" version="6"><file name="A.java"><violation beginline="1" begincolumn="2" rule="R" priority="3">
text
</violation><violation beginline="4" rule="S" priority="1">grave</violation></file><error filename="B.java" msg="cannot parse">trace</error><suppressedviolation filename="A.java"/></pmd>`, "pmd R warning A.java:1:2: text\npmd S error A.java:4:0: grave\npmd  error B.java:0:0: cannot parse"},
	{"cppcheck", `<results version="2"><cppcheck version="2.3"/><errors><error id="nullPointer" severity="error" msg="short" verbose="long"><location file="a.c" line="7" column="3"/><location file="b.c" line="1"/></error><error id="missingInclude" severity="information" msg="m"/></errors></results>`, "cppcheck nullPointer error a.c:7:3: short\ncppcheck missingInclude note :0:0: m"},
	{"cppcheck", `<results><error file="a.c" line="2" id="x" severity="style" msg="m"/></results>`, "cppcheck x note a.c:2:0: m"},
	{"spotbugs", `<BugCollection version="4"><Errors errors="1" missingClasses="0"><Error><ErrorMessage>broken</ErrorMessage></Error></Errors><BugInstance type="NP" priority="2"><LongMessage>Null</LongMessage><Class classname="a.B"><SourceLine classname="a.B" start="1" sourcepath="a/B.java"/></Class><Method><SourceLine start="5" sourcepath="a/B.java"/></Method><SourceLine start="9" sourcepath="a/B.java"/><SourceLine start="10"/></BugInstance></BugCollection>`, "spotbugs  error :0:0: broken\nspotbugs NP warning a/B.java:9:0: Null"},
	{"android-lint", `<issues format="4" by="lint"><issue id="A" severity="Fatal" message="m" errorLine1="  x"><location file="r.xml" line="1" column="2"/></issue><issue id="B" severity="Informational" message="n"/></issues>`, "android-lint A error r.xml:1:2: m\nandroid-lint B note :0:0: n"},
	{"jslint", `<jslint><file name="a.js"><issue line="1" char="2" reason="Bad." evidence="x = 1"/></file></jslint>`, "jslint  error a.js:1:2: Bad."},
	{"phpcs-xml", `<phpcs version="3"><file name="a.php"><error line="1" column="2" source="S">e</error><warning line="3" column="4" source="T">w</warning></file></phpcs>`, "phpcs S error a.php:1:2: e\nphpcs T warning a.php:3:4: w"},
	{"stylecop", `<StyleCopViolations><Violation LineNumber="3" Source="A.cs" Rule="R" RuleId="SA1">text</Violation></StyleCopViolations>`, "stylecop SA1 warning A.cs:3:0: text"},
	{"idea-inspection", `<problems><problem><file>file://$PROJECT_DIR$/A.java</file><line>4</line><problem_class severity="WEAK WARNING">C</problem_class><description>d</description></problem></problems>`, "idea C note A.java:4:0: d"},
	{"cargo", `    Checking a v0.1.0` + "\n" + `{"reason":"compiler-message","message":{"message":"mismatched types","code":{"code":"E0308"},"level":"error","spans":[{"file_name":"/rustc/x/macros.rs","line_start":9,"column_start":9,"is_primary":true,"expansion":{"span":{"file_name":"src/a.rs","line_start":2,"column_start":3,"is_primary":false}}}]}}` + "\n" + `{"reason":"compiler-message","message":{"message":"unused","code":{"code":"clippy::x"},"level":"warning","spans":[]}}` + "\n" + `{"reason":"compiler-message","message":{"message":"unused","code":{"code":"clippy::x"},"level":"warning","spans":[]}}` + "\n" + `{"reason":"compiler-message","message":{"message":"aborting due to 1 previous error; 1 warning emitted","code":null,"level":"error","spans":[]}}` + "\n" + `{"reason":"build-finished","success":false}` + "\n", "rustc E0308 error! src/a.rs:2:3: mismatched types\nclippy clippy::x warning :0:0: unused"},
	{"cargo", `{"reason":"compiler-artifact","package_id":"a"}` + "\n" + `{"reason":"build-finished","success":true}` + "\nrunning 1 test\n", ""},
	{"rustc", `{"$message_type":"diagnostic","message":"m","code":null,"level":"error","spans":[{"file_name":"a.rs","line_start":1,"column_start":2,"is_primary":true,"text":[{"text":" x"}]}],"children":[],"rendered":"r"}` + "\n" + `{"$message_type":"artifact","artifact":"a","emit":"link"}` + "\n" + `{"$message_type":"diagnostic","message":"For more information about this error, try ...","code":null,"level":"failure-note","spans":[],"children":[],"rendered":"r"}`, "rustc  error! a.rs:1:2: m"},
	{"empty-list", "[]\n", ""},
	{"ruff", `[{"code":"F401","message":"m","filename":"/p/a.py","location":{"row":1,"column":8}},{"code":null,"name":"invalid-syntax","message":"s","filename":"/p/a.py","location":{"row":2,"column":1},"severity":"warning"}]`, "ruff F401 error /p/a.py:1:8: m\nruff invalid-syntax warning /p/a.py:2:1: s"},
	{"ruff-lines", `{"code":"F401","message":"m","filename":"a.py","location":{"row":1,"column":8}}` + "\n", "ruff F401 error a.py:1:8: m"},
	{"pylint", `[{"type":"fatal","path":"a.py","line":1,"column":0,"symbol":"s","message":"m","message-id":"F0001"},{"type":"refactor","path":"a.py","line":2,"column":4,"symbol":"t","message":"n","message-id":"R1"}]`, "pylint s error a.py:1:1: m\npylint t note a.py:2:5: n"},
	{"pylint-json2", `{"messages":[{"type":"warning","path":"a.py","line":1,"column":0,"symbol":"s","message":"m","messageId":"W1"}],"statistics":{"messageTypeCount":{"fatal":0,"error":0,"warning":1},"modulesLinted":1}}`, "pylint s warning a.py:1:1: m"},
	{"mypy", `{"file": "a.py", "line": 3, "column": 0, "message": "m", "hint": "h", "code": "c", "severity": "error"}` + "\n" + `{"file": "a.py", "line": 4, "column": -1, "message": "n", "hint": null, "code": null, "severity": "note"}`, "mypy c error! a.py:3:1: m\nmypy  note a.py:4:0: n"},
	{"pyright", `{"version":"1","generalDiagnostics":[{"file":"/p/a.py","severity":"error","message":"m","range":{"start":{"line":0,"character":10}},"rule":"r"},{"file":"/p/a.py","severity":"information","message":"n"}],"summary":{"filesAnalyzed":1,"errorCount":1,"warningCount":0}}`, "pyright r error! /p/a.py:1:11: m\npyright  note /p/a.py:0:0: n"},
	{"bandit", `{"errors":[{"filename":"b.py","reason":"syntax error"}],"generated_at":"t","metrics":{},"results":[{"filename":"a.py","issue_severity":"HIGH","issue_text":"m","line_number":1,"col_offset":0,"test_id":"B1"},{"filename":"a.py","issue_severity":"LOW","issue_text":"n","test_id":"B2"}]}`, "bandit  error b.py:0:0: syntax error\nbandit B1 error a.py:1:1: m\nbandit B2 note a.py:0:0: n"},
	{"eslint", `[{"filePath":"/p/a.js","messages":[{"ruleId":"r","severity":1,"message":"m","line":1,"column":2},{"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error","line":3,"column":4}],"suppressedMessages":[{"ruleId":"q","severity":2,"message":"hidden"}],"errorCount":1,"fatalErrorCount":1,"warningCount":1}]`, "eslint r warning /p/a.js:1:2: m\neslint  error /p/a.js:3:4: Parsing error"},
	{"eslint", `{"results":[{"filePath":"a.js","messages":[{"ruleId":"r","severity":2,"message":"m"}]}],"metadata":{"rulesMeta":{}}}`, "eslint r error a.js:0:0: m"},
	{"tslint", `[{"failure":"f","name":"a.ts","ruleName":"r","ruleSeverity":"WARNING","startPosition":{"character":0,"line":1,"position":9}}]`, "tslint r warning a.ts:2:1: f"},
	{"stylelint", `[{"source":"a.css","invalidOptionWarnings":[{"text":"bad option"}],"parseErrors":[],"errored":true,"warnings":[{"line":1,"column":2,"rule":"r","severity":"error","text":"t"}]},{"source":"b.css","invalidOptionWarnings":[{"text":"bad option"}],"warnings":[]}]`, "stylelint r error a.css:1:2: t\nstylelint  error :0:0: bad option"},
	{"biome", `{"summary":{"errors":1,"warnings":0,"diagnosticsNotPrinted":0},"diagnostics":[{"severity":"error","message":"m","category":"lint/x","location":{"path":"a.js","start":{"line":1,"column":2}}},{"severity":"information","description":"d","message":[{"content":"x"}],"category":"c","location":{"path":{"file":"b.js"},"span":[1,2]}}],"command":"lint"}` + "\n", "biome lint/x error a.js:1:2: m\nbiome c note b.js:0:0: d"},
	{"oxlint", `{"diagnostics":[{"message":"m","code":"eslint(no-x)","severity":"warning","filename":"a.js","labels":[{"span":{"offset":1,"line":2,"column":3}}]}],"number_of_files":1}`, "oxlint eslint(no-x) warning a.js:2:3: m"},
	{"deno-lint", `{"version":1,"diagnostics":[{"filename":"a.ts","range":{"start":{"line":1,"col":0}},"code":"c","message":"m"}],"errors":[{"file_path":"b.ts","message":"syntax"}]}`, "deno c error a.ts:1:1: m\ndeno  error b.ts:0:0: syntax"},
	{"htmlhint", `[{"file":"a.html","messages":[{"type":"warning","message":"m","line":1,"col":2,"rule":{"id":"r"},"evidence":"<a>"}]}]`, "htmlhint r warning a.html:1:2: m"},
	{"markdownlint", `[{"fileName":"a.md","lineNumber":1,"ruleNames":["MD1","x"],"ruleDescription":"d","errorDetail":"e","errorContext":"c","errorRange":[3,1]}]`, "markdownlint MD1 error a.md:1:3: d [e]"},
	{"markdownlint-files", `{"a.md":[{"lineNumber":1,"ruleNames":["MD1"],"ruleDescription":"d"}],"b.md":[]}`, "markdownlint MD1 error a.md:1:0: d"},
	{"code-climate", `[{"type":"Issue","check_name":"r","description":"n","severity":"major","location":{"path":"a.rb","lines":{"begin":2}}}]`, " r error a.rb:2:0: n"},
	{"code-climate", `[{"type":"issue","check_name":"DL3006","description":"m","severity":"major","location":{"path":"Dockerfile","lines":{"begin":1}}},{"check_name":"r","description":"n","severity":"major","fingerprint":"x","location":{"path":"a.rb","positions":{"begin":{"line":2,"column":3}}}},{"type":"measurement","check_name":"r","location":{}}]`, "hadolint DL3006 warning Dockerfile:1:0: m\n r error a.rb:2:3: n"},
	{"code-climate-lines", `{"type":"issue","check_name":"r","description":"n","severity":"minor","location":{"path":"a.rb","lines":{"begin":2}}}` + "\x00", " r warning a.rb:2:0: n"},
	{"rdjson", `{"diagnostics":[{"message":"m","location":{"path":"a.py","range":{"start":{"line":1,"column":2}}},"code":{"value":"c"}},{"message":"n","location":{"path":"b.py"},"severity":"INFO"}],"severity":"WARNING","source":{"name":"ruff"}}`, "ruff c warning a.py:1:2: m\nruff  note b.py:0:0: n"},
	{"rdjsonl", `{"message":"m","location":{"path":"a.ts","range":{"start":{"line":1}}},"source":{"name":"tsc"}}`, "tsc  error! a.ts:1:0: m"},
	{"staticcheck", `{"code":"S1","severity":"error","location":{"file":"/p/a.go","line":1,"column":2},"end":{"file":""},"message":"m"}` + "\n" + `{"code":"S2","severity":"ignored","location":{"file":"/p/a.go","line":1,"column":2},"end":{"file":""},"message":"m"}` + "\n" + `{"code":"compile","severity":"error","location":{"file":""},"end":{"file":""},"message":"# p\nb/b.go:4:9: undefined: x"}`, "staticcheck S1 error /p/a.go:1:2: m\nstaticcheck compile error! b/b.go:4:9: undefined: x"},
	{"staticcheck-list", `[{"code":"S1","severity":"warning","location":{"file":"a.go","line":1},"message":"m"}]`, "staticcheck S1 warning a.go:1:0: m"},
	{"sonarqube-generic", `{"issues":[{"engineId":"e","ruleId":"r","severity":"MINOR","primaryLocation":{"message":"m","filePath":"a.c","textRange":{"startLine":1}}}]}`, "e r note a.c:1:0: m"},
	{"sonarqube", `{"paging":{"total":2},"issues":[{"rule":"r","component":"p:q:src/a.c","line":1,"severity":"MAJOR","message":"m","status":"OPEN"},{"rule":"r","component":"p:a.c","status":"CLOSED"}],"components":[]}`, "sonarqube r warning src/a.c:1:0: m"},
	{"shellcheck", `[{"file":"a.sh","line":1,"endLine":1,"column":2,"endColumn":3,"level":"style","code":2086,"message":"m","fix":null}]`, "shellcheck SC2086 note a.sh:1:2: m"},
	{"shellcheck-json1", `{"comments":[{"file":"a.sh","line":1,"endLine":1,"column":2,"level":"error","code":1073,"message":"m"}]}`, "shellcheck SC1073 error a.sh:1:2: m"},
	{"shellcheck-json1", `{"comments":[]}`, ""},
	{"hadolint", `[{"code":"DL1","column":1,"file":"Dockerfile","level":"warning","line":2,"message":"m"},{}]`, "hadolint DL1 warning Dockerfile:2:1: m\nhadolint  error :0:0: "},
	{"rubocop", `{"metadata":{"rubocop_version":"1"},"files":[{"path":"a.rb","offenses":[{"severity":"convention","message":"m","cop_name":"A/B","corrected":false,"location":{"start_line":1,"start_column":2}},{"severity":"fatal","message":"n","cop_name":"C","location":{"line":3}},{"severity":"error","corrected":true}]}],"summary":{"offense_count":3,"inspected_file_count":1}}`, "rubocop A/B note a.rb:1:2: m\nrubocop C error a.rb:3:0: n"},
	{"phpstan", `{"totals":{"errors":1,"file_errors":1},"files":{"/p/a.php":{"errors":1,"messages":[{"message":"m","line":3,"ignorable":true,"identifier":"x.y"}]}},"errors":["no such class"]}`, "phpstan x.y error /p/a.php:3:0: m\nphpstan  error :0:0: no such class"},
	{"phpstan", `{"totals":{"errors":0,"file_errors":0},"files":[],"errors":[]}`, ""},
	{"phpcs", `{"totals":{"errors":0,"warnings":1,"fixable":0},"files":{"a.php":{"messages":[{"message":"m","source":"S","severity":5,"type":"WARNING","line":1,"column":2}]}}}`, "phpcs S warning a.php:1:2: m"},
	{"psalm", `[{"severity":"info","line_from":1,"column_from":2,"type":"T","message":"m","file_name":"a.php","snippet":"$x"}]`, "psalm T note a.php:1:2: m"},
	{"pmd-json", `{"formatVersion":0,"pmdVersion":"6","files":[{"filename":"A.java","violations":[{"beginline":1,"begincolumn":2,"description":"d","rule":"R","ruleset":"S","priority":4}]}],"processingErrors":[{"filename":"B.java","message":"x"}]}`, "pmd R note A.java:1:2: d\npmd  error B.java:0:0: x"},
	{"semgrep", `{"version":"1","results":[{"check_id":"c","path":"a.py","start":{"line":1,"col":2},"extra":{"message":"m","severity":"WARNING","is_ignored":false}},{"check_id":"d","path":"a.py","extra":{"is_ignored":true}}],"errors":[{"level":"error","type":"Syntax","message":"e","path":"b.py"}],"paths":{"scanned":["a.py"]}}`, "semgrep c warning a.py:1:2: m\nsemgrep Syntax error b.py:0:0: e"},
	{"brakeman", `{"scan_info":{"security_warnings":1},"warnings":[{"warning_type":"SQL","message":"m","file":"a.rb","line":1,"confidence":"Weak"}],"ignored_warnings":[{}],"errors":[{"error":"e","location":"l"}]}`, "brakeman SQL note a.rb:1:0: m\nbrakeman  error l:0:0: e"},
	{"sqlfluff", `[{"filepath":"a.sql","violations":[{"start_line_no":1,"start_line_pos":2,"code":"L1","description":"d","warning":true},{"line_no":3,"line_pos":4,"code":"L2","description":"e"}]}]`, "sqlfluff L1 warning a.sql:1:2: d\nsqlfluff L2 error a.sql:3:4: e"},
	{"sqlfluff", `{"violations":[]}`, ""},
	{"revive", `[{"Severity":"warning","Failure":"f","RuleName":"r","Category":"c","Position":{"Start":{"Filename":"a.go","Line":1,"Column":2}}}]`, "revive r warning a.go:1:2: f"},
	{"gcc-json", `[{"kind":"error","message":"m","locations":[{"caret":{"file":"a.c","line":1,"column":2}}],"children":[{"kind":"note","message":"n","locations":[]}]}]` + "\n" + `[{"kind":"warning","option":"-Wx","message":"w","locations":[{"caret":{"file":"b.c","line":3,"column":4}}]}]` + "\n", "gcc  error! a.c:1:2: m\ngcc -Wx warning b.c:3:4: w"},
	{"trivy", `{"SchemaVersion":2,"ArtifactName":"x","Results":[{"Target":"go.sum","Vulnerabilities":[{"VulnerabilityID":"CVE-1","Title":"t","Severity":"CRITICAL"}],"Misconfigurations":[{"ID":"DS1","Title":"u","Severity":"LOW","Status":"FAIL"},{"ID":"DS2","Status":"PASS"}]}]}`, "trivy CVE-1 error go.sum:0:0: t\ntrivy DS1 note go.sum:0:0: u"},
	{"snyk", `{"vulnerabilities":[{"id":"S1","title":"t","severity":"medium","packageName":"p","filePath":"package.json"}]}`, "snyk S1 warning package.json:0:0: t"},
	{"actionlint", `[{"message":"m","filepath":"a.yml","line":1,"column":2,"kind":"k","snippet":"x\n^~"}]`, "actionlint k error a.yml:1:2: m"},
	{"actionlint-lines", `{"message":"m","filepath":"a.yml","line":1,"column":2,"kind":"k"}` + "\n", "actionlint k error a.yml:1:2: m"},
	{"github-annotations", `[{"file":"a.sql","start_line":1,"start_column":2,"title":"T","message":"m","annotation_level":"failure"}]`, " T error a.sql:1:2: m"},
	{"sonarqube-generic", `{"issues":[]}`, ""},
	{"gitlab-sast", `{"version":"15","scan":{"scanner":{"name":"S"}},"vulnerabilities":[{"message":"m","severity":"Medium","location":{"file":"a.py","start_line":2},"identifiers":[{"value":"r"}]}]}`, "S r warning a.py:2:0: m"},
	{"ktlint", `[{"file":"a.kt","errors":[{"line":1,"column":2,"message":"m","rule":"r"}]}]`, "ktlint r error a.kt:1:2: m"},
	{"swiftlint", `[{"character":2,"file":"a.swift","line":1,"reason":"m","rule_id":"r","severity":"Warning","type":"T"}]`, "swiftlint r warning a.swift:1:2: m"},
	{"tflint", `{"issues":[{"rule":{"name":"r","severity":"info"},"message":"m","range":{"filename":"a.tf","start":{"line":1,"column":2}}}],"errors":[{"summary":"s","message":"bad","severity":"error"}]}`, "tflint r note a.tf:1:2: m\ntflint  error :0:0: bad"},
	{"tflint", `{"issues":[],"errors":[]}`, ""},
	{"snyk", `[{"vulnerabilities":[],"ok":true,"dependencyCount":3},{"vulnerabilities":[{"id":"S1","title":"t","severity":"low"}],"ok":false,"dependencyCount":1,"displayTargetFile":"b/package.json"}]`, "snyk S1 note b/package.json:0:0: t"},
	{"trivy", `{"SchemaVersion":2,"ArtifactName":".","ArtifactType":"filesystem"}`, ""},
	{"trivy", `{"SchemaVersion":2,"ArtifactName":".","Results":[{"Target":"go.mod","Licenses":[{"Severity":"HIGH","Category":"restricted","PkgName":"p","Name":"GPL-3.0"}]}]}`, "trivy GPL-3.0 error go.mod:0:0: p"},
	{"dart-analyze", `{"version":1,"diagnostics":[]}`, ""},
	{"rdjson", `{"diagnostics":[]}`, ""},
	{"sonarqube-generic", `{"rules":[],"issues":[]}`, ""},
	{"gosec", `{"Golang errors":{"/project/b.go":[{"line":1,"column":2,"error":"expected declaration"}]},"Issues":[{"severity":"HIGH","confidence":"LOW","rule_id":"G101","details":"m","file":"/project/a.go","code":"3: x","line":"3-4","column":"5"},{"severity":"LOW","rule_id":"G104","details":"n","file":"/project/a.go","line":"7","column":"2"}],"Stats":{"files":2,"found":2},"GosecVersion":"2"}`, "gosec  error /project/b.go:1:2: expected declaration\ngosec G101 error /project/a.go:3:5: m\ngosec G104 note /project/a.go:7:2: n"},
	{"gosec", `{"Golang errors":{},"Issues":[],"Stats":{"files":1,"found":0},"GosecVersion":"2"}`, ""},
	{"cfn-lint", `[{"Filename":"a.yml","Level":"Informational","Location":{"Start":{"ColumnNumber":2,"LineNumber":1}},"Message":"m","Rule":{"Id":"I1"}},{"Filename":"a.yml","Level":"Warning","Location":{"Start":{"ColumnNumber":4,"LineNumber":3}},"Message":"n","Rule":{"Id":"W2"}}]`, "cfn-lint I1 note a.yml:1:2: m\ncfn-lint W2 warning a.yml:3:4: n"},
	{"checkov", `[{"check_type":"a","results":{"failed_checks":[{"check_id":"C1","check_name":"m","file_path":"/a.tf","file_line_range":[3,9],"severity":null}]},"summary":{"failed":1}},{"check_type":"b","results":{"passed_checks":[],"failed_checks":[]},"summary":{"failed":0}}]`, "checkov C1 error /a.tf:3:0: m"},
	{"checkov", `{"results":{"failed_checks":[{"check_id":"C1","check_name":"m","file_path":"/a.tf","file_line_range":[3,9],"severity":"LOW"}]}}`, "checkov C1 note /a.tf:3:0: m"},
	{"checkov", `{"passed":0,"failed":0,"skipped":0,"parsing_errors":0,"resource_count":0,"checkov_version":"3"}`, ""},
	{"credo", `{"issues":[{"category":"c","check":"C","column":2,"filename":"a.ex","line_no":1,"message":"m","priority":9}]}`, "credo C error a.ex:1:2: m"},
	{"dart-analyze", `{"version":1,"diagnostics":[{"code":"c","severity":"ERROR","type":"COMPILE_TIME_ERROR","location":{"file":"/p/a.dart","range":{"start":{"line":1,"column":2}}},"problemMessage":"m"}]}`, "dart c error! /p/a.dart:1:2: m"},
	{"vale", `{"a.md":[{"Check":"V.x","Message":"m","Severity":"suggestion","Line":1,"Span":[2,3]}]}`, "vale V.x note a.md:1:2: m"},
	{"findings-by-file", `{"a.go":[{"line":1,"column":2,"rule":"r","message":"m","severity":"notice"}]}`, " r note a.go:1:2: m"},
}

func TestLintSamples(t *testing.T) {
	for _, s := range lintSamples {
		t.Run(s.format, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(s.report), "report")
			if err != nil {
				t.Fatal(err)
			}
			if r.Format != s.format {
				t.Errorf("format %s, want %s", r.Format, s.format)
			}
			if diff := cmp.Diff(s.want, reports.Findings(r.Lint.Findings)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTruncatedLintSampleIsRefused truncates each sample at every byte after
// its beginning: what is left is never read as a complete report. The end of a line
// of JSON looks like the end of the report, except before cargo's last event.
func TestTruncatedLintSampleIsRefused(t *testing.T) {
	for _, s := range lintSamples {
		intact := strings.TrimRight(s.report, "\n\x00 ")
		if s.format == "cargo" {
			intact, _, _ = strings.Cut(intact, "\nrunning")
		}
		for n := len(intact) / 4; n < len(intact); n++ {
			cut := intact[:n]
			if ends := strings.TrimSpace(cut); s.format != "cargo" && strings.Contains(intact[len(ends):], "\n") && strings.ContainsAny(ends[len(ends)-1:], "}]") {
				continue
			}
			if r, err := parsers.ParseAs(strings.NewReader(cut), s.format); err == nil {
				t.Fatalf("%s cut off after %q was read: %+v", s.format, cut[max(0, n-30):], r.Lint.Findings)
			}
		}
	}
}
