package lintshape

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// The severities of tools that [parsed.LevelOf] does not know, or maps in another way.
var (
	pylintLevels = map[string]metric.Level{"fatal": metric.Error, "warning": metric.Warning, "refactor": metric.Note, "convention": metric.Note}
	eslintLevels = map[string]metric.Level{"0": metric.Note, "1": metric.Warning, "2": metric.Error}
	// PMD's priority 3 is the default of its rules.
	pmdLevels    = map[string]metric.Level{"1": metric.Error, "2": metric.Error, "3": metric.Warning, "4": metric.Note, "5": metric.Note}
	sonarLevels  = map[string]metric.Level{"blocker": metric.Error, "critical": metric.Error, "major": metric.Warning, "minor": metric.Note}
	rdjsonLevels = map[string]metric.Level{"1": metric.Error, "2": metric.Warning, "3": metric.Note, "unknown_severity": metric.Error}
	// Brakeman's confidence. Its SARIF maps it in the same way.
	brakemanLevels = map[string]metric.Level{"high": metric.Error, "medium": metric.Warning, "weak": metric.Note}
)

// lintShapes describes the JSON reports of linters, the most specific first.
var lintShapes = slices.Concat(pythonShapes, scriptShapes, sharedShapes, otherShapes)

// ruffList has the places in a finding of ruff.
var ruffList = lintList{
	file: "filename", line: "location.row", column: "location.column", rule: "code|name", message: "message", level: "severity",
}

// pythonShapes describes the formats of tools for Python.
var pythonShapes = []lintShape{
	{
		name: "ruff", tool: "ruff", marks: []string{"[].filename [].location.row"},
		tools: "ruff json", note: "Without a severity, as in older versions: errors.",
		lists: []lintList{ruffList.withPath("[]")},
	},
	{
		name: "ruff-lines", tool: "ruff", isLines: true, marks: []string{"filename location.row message"},
		tools: "ruff json-lines",
		lists: []lintList{ruffList.withPath("")},
	},
	{
		name: "pylint", tool: "pylint", marks: []string{"[].message-id [].symbol"}, levels: pylintLevels,
		tools: "pylint json", note: "refactor, convention and info are notes. Columns count from 1.",
		lists: []lintList{{path: "[]", file: "path", line: "line", column: "column+1", rule: "symbol|message-id", message: "message", level: "type"}},
	},
	{
		name: "pylint-json2", tool: "pylint", marks: []string{"messages.[].messageId", "messages statistics.messageTypeCount"}, levels: pylintLevels,
		tools: "pylint json2", note: "As pylint.",
		lists: []lintList{{path: "messages.[]", file: "path", line: "line", column: "column+1", rule: "symbol|messageId", message: "message", level: "type"}},
		facts: []lintFact{
			statedTotal("statistics.messageTypeCount.fatal", metric.Error), statedTotal("statistics.messageTypeCount.error", metric.Error),
			statedTotal("statistics.messageTypeCount.warning", metric.Warning), checkedFiles("statistics.modulesLinted"),
		},
	},
	{
		name: "mypy", tool: "mypy", isLines: true, isTypeChecker: true, marks: []string{"file line column message hint severity"},
		tools: "mypy --output json", note: "Errors are type errors. A clean run writes an empty line.",
		lists: []lintList{{file: "file", line: "line", column: "column+1", rule: "code", message: "message", level: "severity"}},
	},
	{
		name: "pyright", tool: "pyright", isTypeChecker: true, marks: []string{"generalDiagnostics summary", "generalDiagnostics.[].range"},
		tools: "pyright, basedpyright", note: "Errors are type errors. No file analysed is an error.",
		lists: []lintList{{path: "generalDiagnostics.[]", file: "file", line: "range.start.line+1", column: "range.start.character+1", rule: "rule", message: "message", level: "severity"}},
		facts: []lintFact{statedTotal("summary.errorCount", metric.Error), statedTotal("summary.warningCount", metric.Warning), checkedFiles("summary.filesAnalyzed")},
	},
	{
		name: "bandit", tool: "bandit", marks: []string{"results.[].issue_severity", "metrics results generated_at"},
		note:   "HIGH is an error, MEDIUM a warning, LOW a note. Files it could not read are errors.",
		levels: map[string]metric.Level{"undefined": metric.Note},
		lists: []lintList{
			{path: "results.[]", file: "filename", line: "line_number", column: "col_offset+1", rule: "test_id", message: "issue_text", level: "issue_severity"},
			{path: "errors.[]", file: "filename", message: "reason", rule: "error"},
		},
	},
}

// eslintMessage has the places in a message of eslint.
var eslintMessage = lintList{
	file: "^filePath", line: "line", column: "column", rule: "ruleId", message: "message", level: "severity", text: "source",
}

// scriptShapes describes the formats of tools for JavaScript, CSS, HTML and Markdown.
var scriptShapes = []lintShape{
	{
		name: "eslint", tool: "eslint", marks: []string{"[].filePath [].messages", "results.[].filePath results.[].messages", "results metadata.rulesMeta"},
		tools: "eslint (json, json-with-metadata), xo, standard", note: "Severity 2 and fatal are errors. Suppressed messages do not count.",
		levels: eslintLevels,
		lists:  []lintList{eslintMessage.withPath("[].messages.[]"), eslintMessage.withPath("results.[].messages.[]")},
		facts: []lintFact{
			statedTotal("[].errorCount", metric.Error), statedTotal("[].warningCount", metric.Warning),
			statedTotal("results.[].errorCount", metric.Error), statedTotal("results.[].warningCount", metric.Warning),
		},
	},
	{
		name: "tslint", tool: "tslint", marks: []string{"[].failure [].ruleName"},
		lists: []lintList{{path: "[]", file: "name", line: "startPosition.line+1", column: "startPosition.character+1", rule: "ruleName", message: "failure", level: "ruleSeverity"}},
	},
	{
		name: "stylelint", tool: "stylelint", marks: []string{"[].source [].warnings", "[].warnings [].errored"},
		note: "Invalid options are errors, once; deprecations do not count.",
		lists: []lintList{
			{path: "[].warnings.[]", file: "^source", line: "line", column: "column", rule: "rule", message: "text", level: "severity"},
			{path: "[].invalidOptionWarnings.[]", rule: "", message: "text", unique: true},
			{path: "[].parseErrors.[]", file: "^source", line: "line", column: "column", rule: "stylelintType", message: "text"},
		},
	},
	{
		name: "biome", tool: "biome", marks: []string{"summary.diagnosticsNotPrinted", "diagnostics command summary"},
		note:   "information and hint are notes. A file that would be formatted is an error. Refused if diagnostics were not printed: pass `--max-diagnostics=none`.",
		levels: map[string]metric.Level{"information": metric.Note, "fatal": metric.Error},
		lists: []lintList{{
			path: "diagnostics.[]", file: "location.path.file|location.path", line: "location.start.line", column: "location.start.column",
			rule: "category", message: "description|message", level: "severity",
		}},
		facts: []lintFact{
			statedTotal("summary.errors", metric.Error), statedTotal("summary.warnings", metric.Warning),
			{"summary.diagnosticsNotPrinted", func(s *shapeReader, v lintItem) {
				if n := v.text("."); n != "0" && n != "" {
					s.failure = "biome left out " + n + " diagnostics: run it with --max-diagnostics=none"
				}
			}},
		},
	},
	{
		name: "oxlint", tool: "oxlint", marks: []string{"diagnostics number_of_files", "diagnostics.[].labels diagnostics.[].filename"},
		levels: map[string]metric.Level{"advice": metric.Note},
		lists:  []lintList{{path: "diagnostics.[]", file: "filename", line: "labels.0.span.line", column: "labels.0.span.column", rule: "code", message: "message", level: "severity"}},
	},
	{
		name: "deno-lint", tool: "deno", marks: []string{"diagnostics.[].filename diagnostics.[].range", "version diagnostics errors"},
		tools: "deno lint", note: "No levels: errors.",
		lists: []lintList{
			{path: "diagnostics.[]", file: "filename", line: "range.start.line", column: "range.start.col+1", rule: "code", message: "message"},
			{path: "errors.[]", file: "file_path", message: "message"},
		},
	},
	{
		name: "htmlhint", tool: "htmlhint", marks: []string{"[].file [].messages"},
		lists: []lintList{{path: "[].messages.[]", file: "^file", line: "line", column: "col", rule: "rule.id", message: "message", level: "type", text: "evidence"}},
	},
	{
		name: "markdownlint", tool: "markdownlint", marks: []string{"[].fileName [].lineNumber"},
		tools: "markdownlint-cli", note: "No levels before 0.39: errors.",
		lists: []lintList{markdownlintList("[]", "fileName")},
	},
	{
		name: "markdownlint-files", tool: "markdownlint", marks: []string{"*.[].lineNumber *.[].ruleNames"},
		tools: "the markdownlint library", note: "As markdownlint.",
		lists: []lintList{markdownlintList("*.[]", "*")},
	},
}

// markdownlintList returns a list of markdownlint. Its messages end with their detail in
// brackets.
func markdownlintList(at, file string) lintList {
	return lintList{
		path: at, file: file, line: "lineNumber", column: "errorRange.0", rule: "ruleNames.0", message: "ruleDescription",
		level: "severity", text: "errorContext", extra: "errorDetail",
		convert: func(v lintItem, f metric.Finding) []metric.Finding {
			if detail := v.text("errorDetail"); detail != "" {
				f.Message += " [" + detail + "]"
			}
			return []metric.Finding{f}
		},
	}
}

// withPath returns the list with another path.
func (l lintList) withPath(at string) lintList {
	l.path = at
	return l
}

// codeClimateScales has the levels of tools that use the severities of Code Climate in another
// way. Check matches the names of their checks: "DL3008" or "SC2086" of hadolint,
// "lint/style/useConst" or "format" of biome. In other reports, as in those of eslint and ruff,
// "minor" is a warning and everything above it is an error.
var codeClimateScales = []struct {
	check  *regexp.Regexp
	tool   string
	levels map[string]metric.Level
}{{regexp.MustCompile(`^(DL|SC)\d{4}$`), "hadolint", sonarLevels}, {regexp.MustCompile(`^(lint|assist|plugin|suppressions)/|^(format|parse|syntax)$`), "biome", sonarLevels}}

// convertCodeClimate sets the tool and the level of a finding. It skips measurements, which
// are not issues.
func convertCodeClimate(v lintItem, f metric.Finding) []metric.Finding {
	if kind := v.text("type"); kind != "" && !strings.EqualFold(kind, "issue") {
		return nil
	}
	for _, scale := range codeClimateScales {
		if !scale.check.MatchString(f.Rule) {
			continue
		}
		f.Tool = scale.tool
		if level, ok := scale.levels[strings.ToLower(v.text("severity"))]; ok {
			f.Level = level
		}
	}
	f.Type = f.Rule == "typecheck"
	return []metric.Finding{f}
}
