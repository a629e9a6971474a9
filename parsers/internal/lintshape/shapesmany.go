package lintshape

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var codeClimateIssue = lintList{
	file: "location.path", line: "location.lines.begin|location.positions.begin.line|location.lines.begin.line",
	column: "location.positions.begin.column", rule: "check_name", message: "description", level: "severity", also: "type", each: codeClimate,
}

var rdjsonDiagnostic = lintList{
	file: "location.path", line: "location.range.start.line", column: "location.range.start.column", rule: "code.value",
	message: "message", level: "severity", also: "source.name", each: reviewdog,
}

// reviewdog gives a finding the tool that the diagnostic names.
func reviewdog(v lintItem, f metric.Finding) []metric.Finding {
	f.Tool = v.text("source.name")
	f.Type = f.Level == metric.Error && parsed.ChecksTypes(f.Tool)
	return []metric.Finding{f}
}

var staticcheckProblem = lintList{
	file: "location.file", line: "location.line", column: "location.column", rule: "code", message: "message", level: "severity", each: staticcheck,
}

// staticcheck leaves out what was ignored, and splits what a compiler
// printed about a package.
func staticcheck(v lintItem, f metric.Finding) []metric.Finding {
	if v.is("severity", "ignored") {
		return nil
	}
	if f.Rule != "compile" {
		return []metric.Finding{f}
	}
	f.Type = true
	return parsed.Compiled(f)
}

// unless leaves out the items where the place holds one of the words.
func unless(place string, words ...string) func(lintItem, metric.Finding) []metric.Finding {
	return func(v lintItem, f metric.Finding) []metric.Finding {
		if v.is(place, words...) {
			return nil
		}
		return []metric.Finding{f}
	}
}

// manyShapes are those that several tools write.
var manyShapes = []lintShape{
	{
		name: "code-climate", like: []string{"[].check_name [].location", "[].fingerprint [].description [].location"},
		from: "Code Climate, GitLab code quality, ansible-lint", note: "blocker, critical and major are errors, minor warnings; hadolint and biome, recognised by their rules, use major for warnings and minor for notes.",
		lists: []lintList{codeClimateIssue.in("[]")}, levels: map[string]metric.Level{"major": metric.Error},
	},
	{
		name: "code-climate-lines", lines: true, like: []string{"check_name location description"},
		from: "Code Climate, one object a line", note: "As code-climate.",
		lists: []lintList{codeClimateIssue}, levels: map[string]metric.Level{"major": metric.Error},
	},
	{
		name: "rdjson", clean: diagnosticsClean, like: []string{"diagnostics source.name", "diagnostics.[].location.path diagnostics.[].message"}, levels: rdjsonLevels,
		from: "reviewdog, ruff, biome", note: "Without a severity: that of the report, else errors. ruff calls all findings warnings.",
		lists: []lintList{rdjsonDiagnostic.in("diagnostics.[]")},
		facts: []lintFact{
			{"source.name", func(s *shapeReader, v lintItem) { s.source = v.text(".") }},
			{"severity", func(s *shapeReader, v lintItem) { s.fallback = s.level(lintList{}, v.text(".")) }},
		},
	},
	{
		name: "rdjsonl", lines: true, like: []string{"location.path message"}, levels: rdjsonLevels, lists: []lintList{rdjsonDiagnostic},
		from: "reviewdog, one object a line", note: "As rdjson.",
	},
	{
		name: "staticcheck", tool: "staticcheck", lines: true, like: []string{"code location.file end message"}, lists: []lintList{staticcheckProblem},
		from: "staticcheck -f json", note: "Severity ignored does not count; `compile` is split into type errors. All findings are errors; SARIF has the levels of the rules.",
	},
	{
		name: "staticcheck-list", tool: "staticcheck", like: []string{"[].code [].location.file [].message"},
		from: "staticcheck, as a list", note: "As staticcheck.",
		lists: []lintList{staticcheckProblem.in("[]")},
	},
	{
		name: "github-annotations", like: []string{"[].annotation_level [].message"},
		from: "sqlfluff and others", note: "failure is an error, notice a note.",
		lists: []lintList{{
			at: "[]", file: "file|path", line: "start_line|line", column: "start_column", rule: "title", message: "message", level: "annotation_level",
		}},
	},
	{
		name: "gitlab-sast", like: []string{"vulnerabilities.[].location vulnerabilities.[].identifiers", "vulnerabilities scan version"},
		from:   "GitLab's security scanners",
		levels: map[string]metric.Level{"unknown": metric.Note},
		lists: []lintList{{
			at: "vulnerabilities.[]", file: "location.file", line: "location.start_line", rule: "identifiers.0.value",
			message: "message|name|description|identifiers.0.name", level: "severity",
		}},
		facts: []lintFact{{"scan.scanner.name", func(s *shapeReader, v lintItem) { s.source = v.text(".") }}},
	},
	{
		name: "sonarqube-generic", clean: issuesClean, like: []string{"issues.[].engineId", "issues.[].primaryLocation", "rules.[].engineId issues"}, levels: sonarLevels,
		from: "SonarQube's generic issues", note: "BLOCKER and CRITICAL are errors, MAJOR warnings, MINOR and INFO notes.",
		lists: []lintList{{
			at: "issues.[]", file: "primaryLocation.filePath", line: "primaryLocation.textRange.startLine", rule: "ruleId",
			message: "primaryLocation.message", level: "severity|impacts.0.severity", also: "engineId",
			each: func(v lintItem, f metric.Finding) []metric.Finding {
				f.Tool = v.text("engineId")
				return []metric.Finding{f}
			},
		}},
	},
	{
		name: "sonarqube", tool: "sonarqube", like: []string{"issues.[].component issues.[].rule", "issues components paging"}, levels: sonarLevels,
		from: "SonarQube's API", note: "As sonarqube-generic. Closed and resolved issues do not count.",
		lists: []lintList{{
			at: "issues.[]", file: "component", line: "line|textRange.startLine", rule: "rule", message: "message", level: "severity", also: "status",
			each: func(v lintItem, f metric.Finding) []metric.Finding {
				if v.is("status", "CLOSED", "RESOLVED") {
					return nil
				}
				f.File = f.File[strings.LastIndexByte(f.File, ':')+1:] // after the project's key
				return []metric.Finding{f}
			},
		}},
		facts: []lintFact{total("paging.total", 0)},
	},
}

// issuesClean is SonarQube's generic report of good files.
var issuesClean = regexp.MustCompile(`^\s*\{(\s*"rules"\s*:\s*\[\s*\]\s*,)?\s*"issues"\s*:\s*\[\s*\]\s*\}\s*$`)

// tflintClean is a report of tflint about good files.
var tflintClean = regexp.MustCompile(`^\s*\{\s*"issues"\s*:\s*\[\s*\]\s*,\s*"errors"\s*:\s*\[\s*\]\s*\}\s*$`)

// dartClean is a report of dart about good files.
var dartClean = regexp.MustCompile(`^\s*\{\s*"version"\s*:\s*1\s*,\s*"diagnostics"\s*:\s*\[\s*\]\s*\}\s*$`)

// diagnosticsClean is a report of good files by reviewdog, or by one of the
// tools that write it without a source.
var diagnosticsClean = regexp.MustCompile(`^\s*\{\s*"diagnostics"\s*:\s*\[\s*\]\s*\}\s*$`)
