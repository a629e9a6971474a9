package lintshape

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// codeClimateIssue has the places in an issue of Code Climate.
var codeClimateIssue = lintList{
	file: "location.path", line: "location.lines.begin|location.positions.begin.line|location.lines.begin.line",
	column: "location.positions.begin.column", rule: "check_name", message: "description", level: "severity", extra: "type", convert: convertCodeClimate,
}

// rdjsonDiagnostic has the places in a diagnostic of reviewdog.
var rdjsonDiagnostic = lintList{
	file: "location.path", line: "location.range.start.line", column: "location.range.start.column", rule: "code.value",
	message: "message", level: "severity", extra: "source.name", convert: convertReviewdog,
}

// convertReviewdog sets the tool that the diagnostic names.
func convertReviewdog(v lintItem, f metric.Finding) []metric.Finding {
	f.Tool = v.text("source.name")
	f.Type = f.Level == metric.Error && parsed.IsTypeChecker(f.Tool)
	return []metric.Finding{f}
}

// staticcheckProblem has the places in a problem of staticcheck.
var staticcheckProblem = lintList{
	file: "location.file", line: "location.line", column: "location.column", rule: "code", message: "message", level: "severity", convert: convertStaticcheck,
}

// convertStaticcheck skips ignored findings, and splits the output of the compiler about a
// package.
func convertStaticcheck(v lintItem, f metric.Finding) []metric.Finding {
	if v.hasWord("severity", "ignored") {
		return nil
	}
	if f.Rule != "compile" {
		return []metric.Finding{f}
	}
	f.Type = true
	return parsed.SplitCompilerOutput(f)
}

// skipIf returns a conversion that skips items with one of the words at the place.
func skipIf(place string, words ...string) func(lintItem, metric.Finding) []metric.Finding {
	return func(v lintItem, f metric.Finding) []metric.Finding {
		if v.hasWord(place, words...) {
			return nil
		}
		return []metric.Finding{f}
	}
}

// sharedShapes describes the formats that several tools write.
var sharedShapes = []lintShape{
	{
		name: "code-climate", marks: []string{"[].check_name [].location", "[].fingerprint [].description [].location"},
		tools: "Code Climate, GitLab code quality, ansible-lint", note: "blocker, critical and major are errors, minor warnings; hadolint and biome, recognised by their rules, use major for warnings and minor for notes.",
		lists: []lintList{codeClimateIssue.withPath("[]")}, levels: map[string]metric.Level{"major": metric.Error},
	},
	{
		name: "code-climate-lines", isLines: true, marks: []string{"check_name location description"},
		tools: "Code Climate, one object a line", note: "As code-climate.",
		lists: []lintList{codeClimateIssue}, levels: map[string]metric.Level{"major": metric.Error},
	},
	{
		name: "rdjson", cleanPattern: cleanDiagnosticsPattern, marks: []string{"diagnostics source.name", "diagnostics.[].location.path diagnostics.[].message"}, levels: rdjsonLevels,
		tools: "reviewdog, ruff, biome", note: "Without a severity: that of the report, else errors. ruff calls all findings warnings.",
		lists: []lintList{rdjsonDiagnostic.withPath("diagnostics.[]")},
		facts: []lintFact{
			{"source.name", func(s *shapeReader, v lintItem) { s.reportedTool = v.text(".") }},
			{"severity", func(s *shapeReader, v lintItem) { s.defaultLevel = s.levelOf(lintList{}, v.text(".")) }},
		},
	},
	{
		name: "rdjsonl", isLines: true, marks: []string{"location.path message"}, levels: rdjsonLevels, lists: []lintList{rdjsonDiagnostic},
		tools: "reviewdog, one object a line", note: "As rdjson.",
	},
	{
		name: "staticcheck", tool: "staticcheck", isLines: true, marks: []string{"code location.file end message"}, lists: []lintList{staticcheckProblem},
		tools: "staticcheck -f json", note: "Severity ignored does not count; `compile` is split into type errors. All findings are errors; SARIF has the levels of the rules.",
	},
	{
		name: "staticcheck-list", tool: "staticcheck", marks: []string{"[].code [].location.file [].message"},
		tools: "staticcheck, as a list", note: "As staticcheck.",
		lists: []lintList{staticcheckProblem.withPath("[]")},
	},
	{
		name: "github-annotations", marks: []string{"[].annotation_level [].message"},
		tools: "sqlfluff and others", note: "failure is an error, notice a note.",
		lists: []lintList{{path: "[]", file: "file|path", line: "start_line|line", column: "start_column", rule: "title", message: "message", level: "annotation_level"}},
	},
	{
		name: "gitlab-sast", marks: []string{"vulnerabilities.[].location vulnerabilities.[].identifiers", "vulnerabilities scan version"},
		tools:  "GitLab's security scanners",
		levels: map[string]metric.Level{"unknown": metric.Note},
		lists: []lintList{{
			path: "vulnerabilities.[]", file: "location.file", line: "location.start_line", rule: "identifiers.0.value",
			message: "message|name|description|identifiers.0.name", level: "severity",
		}},
		facts: []lintFact{{"scan.scanner.name", func(s *shapeReader, v lintItem) { s.reportedTool = v.text(".") }}},
	},
	{
		name: "sonarqube-generic", cleanPattern: cleanIssuesPattern, marks: []string{"issues.[].engineId", "issues.[].primaryLocation", "rules.[].engineId issues"}, levels: sonarLevels,
		tools: "SonarQube's generic issues", note: "BLOCKER and CRITICAL are errors, MAJOR warnings, MINOR and INFO notes.",
		lists: []lintList{{
			path: "issues.[]", file: "primaryLocation.filePath", line: "primaryLocation.textRange.startLine", rule: "ruleId",
			message: "primaryLocation.message", level: "severity|impacts.0.severity", extra: "engineId",
			convert: func(v lintItem, f metric.Finding) []metric.Finding {
				f.Tool = v.text("engineId")
				return []metric.Finding{f}
			},
		}},
	},
	{
		name: "sonarqube", tool: "sonarqube", marks: []string{"issues.[].component issues.[].rule", "issues components paging"}, levels: sonarLevels,
		tools: "SonarQube's API", note: "As sonarqube-generic. Closed and resolved issues do not count.",
		lists: []lintList{{
			path: "issues.[]", file: "component", line: "line|textRange.startLine", rule: "rule", message: "message", level: "severity", extra: "status",
			convert: func(v lintItem, f metric.Finding) []metric.Finding {
				if v.hasWord("status", "CLOSED", "RESOLVED") {
					return nil
				}
				f.File = f.File[strings.LastIndexByte(f.File, ':')+1:] // after the project's key
				return []metric.Finding{f}
			},
		}},
		facts: []lintFact{statedTotal("paging.total", 0)},
	},
}

// cleanIssuesPattern matches SonarQube's generic report without findings: {"issues":[]},
// perhaps with an empty list of rules before it.
var cleanIssuesPattern = regexp.MustCompile(`^\s*\{(\s*"rules"\s*:\s*\[\s*\]\s*,)?\s*"issues"\s*:\s*\[\s*\]\s*\}\s*$`)

// cleanTflintPattern matches a report of tflint without findings: {"issues": [], "errors": []}.
var cleanTflintPattern = regexp.MustCompile(`^\s*\{\s*"issues"\s*:\s*\[\s*\]\s*,\s*"errors"\s*:\s*\[\s*\]\s*\}\s*$`)

// cleanDartPattern matches a report of dart without findings: {"version":1,"diagnostics":[]}.
var cleanDartPattern = regexp.MustCompile(`^\s*\{\s*"version"\s*:\s*1\s*,\s*"diagnostics"\s*:\s*\[\s*\]\s*\}\s*$`)

// cleanDiagnosticsPattern matches a report without findings, {"diagnostics": []}, of reviewdog
// or of a tool that writes its format without a source.
var cleanDiagnosticsPattern = regexp.MustCompile(`^\s*\{\s*"diagnostics"\s*:\s*\[\s*\]\s*\}\s*$`)
