package lintshape

import (
	"strings"

	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// xmlShapes describes the reports of linters and compilers in XML, the most specific first.
var xmlShapes = []xmlShape{
	{
		name: "checkstyle", root: "checkstyle", convert: convertCheckstyle,
		tools: "Checkstyle and most linters", note: "info and ignore are notes; `exception` is an error; `typecheck` of golangci-lint is a type error. Two equal findings without a line count twice.",
		lists: map[string]xmlList{
			"error":     {file: "^file@name", line: "@line", column: "@column", rule: "@source", message: "@message|.", level: "@severity"},
			"exception": {file: "^file@name", message: "."}, // checkstyle could not read the file
		},
	},
	{
		name: "pmd", root: "pmd", tool: "pmd", levels: pmdLevels,
		tools: "PMD 5 and later", note: "Priorities 1 and 2 are errors, 3 warnings, 4 and 5 notes. Suppressed violations do not count.",
		lists: map[string]xmlList{
			"violation":   {file: "^file@name", line: "@beginline|@line", column: "@begincolumn", rule: "@rule", message: ".", level: "@priority"},
			"error":       {file: "@filename", message: "@msg|."},
			"configerror": {rule: "@rule", message: "@msg|."},
		},
	},
	{
		name: "cppcheck", root: "results", required: "errors|cppcheck|error", tool: "cppcheck", levels: cppcheckLevels,
		tools: "Cppcheck 1 and 2", note: "style, performance, portability and information are notes.",
		lists: map[string]xmlList{"error": {file: "location@file|@file", line: "location@line|@line", column: "location@column", rule: "@id", message: "@msg|@verbose", level: "@severity"}},
	},
	{
		name: "spotbugs", root: "BugCollection", tool: "spotbugs", levels: spotbugsLevels, convert: convertSpotbugs,
		tools: "SpotBugs, FindBugs", note: "Priority 1 is an error, 2 a warning, 3 a note; errors of the analysis are errors. Its SARIF has levels by rank.",
		lists: map[string]xmlList{
			"BugInstance": {
				file: "SourceLine@sourcepath|Class/SourceLine@sourcepath|SourceLine@sourcefile|Class@classname",
				line: "SourceLine@start|Method/SourceLine@start|Class/SourceLine@start", rule: "@type",
				message: "LongMessage.|ShortMessage.|@type", level: "@priority",
			},
			"Error": {message: "ErrorMessage.|Exception.|@exception"},
		},
	},
	{
		name: "android-lint", root: "issues", required: "issue|", tool: "android-lint", levels: map[string]metric.Level{"informational": metric.Note},
		tools: "Android Lint", note: "Fatal is an error, Informational a note.",
		lists: map[string]xmlList{"issue": {file: "location@file", line: "location@line", column: "location@column", rule: "@id", message: "@message", level: "@severity", text: "@errorLine1"}},
	},
	{
		name: "jslint", root: "jslint|lint|csslint", tool: "jslint",
		tools: "JSLint, CSSLint", note: "Without a severity: errors.",
		lists: map[string]xmlList{"issue": {file: "^file@name", line: "@line", column: "@char", rule: "@rule", message: "@reason", level: "@severity", text: "@evidence"}},
	},
	{
		name: "phpcs-xml", root: "phpcs", tool: "phpcs",
		tools: "phpcs --report=xml",
		lists: map[string]xmlList{
			"error":   {file: "^file@name", line: "@line", column: "@column", rule: "@source", message: "."},
			"warning": {file: "^file@name", line: "@line", column: "@column", rule: "@source", message: ".", defaultLevel: metric.Warning},
		},
	},
	{
		name: "stylecop", root: "StyleCopViolations|SourceAnalysisViolations", tool: "stylecop",
		tools: "StyleCop", note: "All findings are warnings.",
		lists: map[string]xmlList{"Violation": {file: "@Source", line: "@LineNumber", rule: "@RuleId|@Rule", message: ".", defaultLevel: metric.Warning}},
	},
	{
		name: "idea-inspection", root: "problems", tool: "idea", convert: convertIdeaProblem,
		tools: "IntelliJ inspections", note: "Weak warnings and information are notes.",
		levels: map[string]metric.Level{"weak warning": metric.Note, "information": metric.Note},
		lists:  map[string]xmlList{"problem": {file: "file.", line: "line.", rule: "problem_class.", message: "description.", level: "problem_class@severity"}},
	},
}

// cppcheckLevels maps the severities of Cppcheck. Style, performance and the like are notes.
var cppcheckLevels = map[string]metric.Level{
	"style": metric.Note, "performance": metric.Note, "portability": metric.Note, "information": metric.Note,
	"debug": metric.Note, "none": metric.Note, "internal": metric.Note,
	"possible error": metric.Warning, "possible style": metric.Note, "all": metric.Note, // of version 1
}

// spotbugsLevels maps the priorities of SpotBugs: high, normal, low, and two that it usually
// does not report.
var spotbugsLevels = map[string]metric.Level{"1": metric.Error, "2": metric.Warning, "3": metric.Note, "4": metric.Note, "5": metric.Note}

// checkstyleTools identifies the tools that write the format of Checkstyle by a prefix of their
// rules, as in "eslint.rules.no-undef" or "ShellCheck.SC2086".
var checkstyleTools = []struct{ prefix, tool string }{
	{"eslint.rules.", "eslint"},
	{"ShellCheck.", "shellcheck"},
	{"com.puppycrawl.tools.checkstyle.", "checkstyle"},
	{"stylelint.rules.", "stylelint"},
	{"detekt.", "detekt"},
	{"lint/", "biome"},
	{"DL", "hadolint"},
	{"jslint", "jslint"},
}

// convertCheckstyle sets the tool of a finding, and splits compiler output that
// golangci-lint reports as one finding.
func convertCheckstyle(f metric.Finding) []metric.Finding {
	for _, t := range checkstyleTools {
		if strings.HasPrefix(f.Rule, t.prefix) {
			f.Tool = t.tool
			break
		}
	}
	if f.Rule != "typecheck" {
		return []metric.Finding{f}
	}
	f.Type, f.Message = true, strings.TrimPrefix(f.Message, ": ")
	return parsed.SplitCompilerOutput(f)
}

// convertSpotbugs skips errors without a rule and message.
func convertSpotbugs(f metric.Finding) []metric.Finding {
	if f.Rule == "" && f.Message == "" {
		return nil
	}
	return []metric.Finding{f}
}

// convertIdeaProblem makes the path of the file relative to the project.
func convertIdeaProblem(f metric.Finding) []metric.Finding {
	f.File = strings.TrimPrefix(f.File, "/$PROJECT_DIR$/")
	return []metric.Finding{f}
}
