package lintshape

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
)

// The severities of single tools, where they differ from those of
// [parsed.LevelOf] or are not among them.
var (
	pylintLevels = map[string]metric.Level{
		"fatal": metric.Error, "warning": metric.Warning, "refactor": metric.Note, "convention": metric.Note,
	}
	eslintLevels = map[string]metric.Level{"0": metric.Note, "1": metric.Warning, "2": metric.Error}
	// PMD's priority 3 is the default of its rules.
	pmdLevels   = map[string]metric.Level{"1": metric.Error, "2": metric.Error, "3": metric.Warning, "4": metric.Note, "5": metric.Note}
	sonarLevels = map[string]metric.Level{
		"blocker": metric.Error, "critical": metric.Error, "major": metric.Warning, "minor": metric.Note,
	}
	rdjsonLevels = map[string]metric.Level{"1": metric.Error, "2": metric.Warning, "3": metric.Note, "unknown_severity": metric.Error}
	// Brakeman's levels are how sure it is: its SARIF maps them in the same way.
	brakemanLevels = map[string]metric.Level{"high": metric.Error, "medium": metric.Warning, "weak": metric.Note}
)

// lintShapes are the JSON reports whose findings are items of lists. The most
// specific is first.
var lintShapes = slices.Concat(pythonShapes, scriptShapes, manyShapes, otherShapes)

var ruffList = lintList{
	file: "filename", line: "location.row", column: "location.column", rule: "code|name", message: "message", level: "severity",
}

var pythonShapes = []lintShape{
	{
		name: "ruff", tool: "ruff", like: []string{"[].filename [].location.row"},
		from: "ruff json", note: "Without a severity, as in older versions: errors.",
		lists: []lintList{ruffList.in("[]")},
	},
	{
		name: "ruff-lines", tool: "ruff", lines: true, like: []string{"filename location.row message"},
		from:  "ruff json-lines",
		lists: []lintList{ruffList.in("")},
	},
	{
		name: "pylint", tool: "pylint", like: []string{"[].message-id [].symbol"}, levels: pylintLevels,
		from: "pylint json", note: "refactor, convention and info are notes. Columns count from 1.",
		lists: []lintList{{
			at: "[]", file: "path", line: "line", column: "column+1", rule: "symbol|message-id", message: "message", level: "type",
		}},
	},
	{
		name: "pylint-json2", tool: "pylint", like: []string{"messages.[].messageId", "messages statistics.messageTypeCount"}, levels: pylintLevels,
		from: "pylint json2", note: "As pylint.",
		lists: []lintList{{
			at: "messages.[]", file: "path", line: "line", column: "column+1", rule: "symbol|messageId", message: "message", level: "type",
		}},
		facts: []lintFact{
			total("statistics.messageTypeCount.fatal", metric.Error), total("statistics.messageTypeCount.error", metric.Error),
			total("statistics.messageTypeCount.warning", metric.Warning), looked("statistics.modulesLinted"),
		},
	},
	{
		name: "mypy", tool: "mypy", lines: true, types: true, like: []string{"file line column message hint severity"},
		from: "mypy --output json", note: "Errors are type errors. A clean run writes an empty line.",
		lists: []lintList{{file: "file", line: "line", column: "column+1", rule: "code", message: "message", level: "severity"}},
	},
	{
		name: "pyright", tool: "pyright", types: true, like: []string{"generalDiagnostics summary", "generalDiagnostics.[].range"},
		from: "pyright, basedpyright", note: "Errors are type errors. No file analysed is an error.",
		lists: []lintList{{
			at: "generalDiagnostics.[]", file: "file", line: "range.start.line+1", column: "range.start.character+1",
			rule: "rule", message: "message", level: "severity",
		}},
		facts: []lintFact{
			total("summary.errorCount", metric.Error), total("summary.warningCount", metric.Warning), looked("summary.filesAnalyzed"),
		},
	},
	{
		name: "bandit", tool: "bandit", like: []string{"results.[].issue_severity", "metrics results generated_at"},
		note:   "HIGH is an error, MEDIUM a warning, LOW a note. Files it could not read are errors.",
		levels: map[string]metric.Level{"undefined": metric.Note},
		lists: []lintList{
			{
				at: "results.[]", file: "filename", line: "line_number", column: "col_offset+1", rule: "test_id",
				message: "issue_text", level: "issue_severity",
			},
			{at: "errors.[]", file: "filename", message: "reason", rule: "error"},
		},
	},
}

var eslintMessage = lintList{
	file: "^filePath", line: "line", column: "column", rule: "ruleId", message: "message", level: "severity", text: "source",
}

var scriptShapes = []lintShape{
	{
		name: "eslint", tool: "eslint", like: []string{"[].filePath [].messages", "results.[].filePath results.[].messages", "results metadata.rulesMeta"},
		from: "eslint (json, json-with-metadata), xo, standard", note: "Severity 2 and fatal are errors. Suppressed messages do not count.",
		levels: eslintLevels,
		lists:  []lintList{eslintMessage.in("[].messages.[]"), eslintMessage.in("results.[].messages.[]")},
		facts: []lintFact{
			total("[].errorCount", metric.Error), total("[].warningCount", metric.Warning),
			total("results.[].errorCount", metric.Error), total("results.[].warningCount", metric.Warning),
		},
	},
	{
		name: "tslint", tool: "tslint", like: []string{"[].failure [].ruleName"},
		lists: []lintList{{
			at: "[]", file: "name", line: "startPosition.line+1", column: "startPosition.character+1", rule: "ruleName",
			message: "failure", level: "ruleSeverity",
		}},
	},
	{
		name: "stylelint", tool: "stylelint", like: []string{"[].source [].warnings", "[].warnings [].errored"},
		note: "Invalid options are errors, once; deprecations do not count.",
		lists: []lintList{
			{
				at: "[].warnings.[]", file: "^source", line: "line", column: "column", rule: "rule",
				message: "text", level: "severity",
			},
			{at: "[].invalidOptionWarnings.[]", rule: "", message: "text", once: true},
			{at: "[].parseErrors.[]", file: "^source", line: "line", column: "column", rule: "stylelintType", message: "text"},
		},
	},
	{
		name: "biome", tool: "biome", like: []string{"summary.diagnosticsNotPrinted", "diagnostics command summary"},
		note:   "information and hint are notes. A file that would be formatted is an error. Refused if diagnostics were not printed: pass `--max-diagnostics=none`.",
		levels: map[string]metric.Level{"information": metric.Note, "fatal": metric.Error},
		lists: []lintList{{
			at: "diagnostics.[]", file: "location.path.file|location.path", line: "location.start.line", column: "location.start.column",
			rule: "category", message: "description|message", level: "severity",
		}},
		facts: []lintFact{
			total("summary.errors", metric.Error), total("summary.warnings", metric.Warning),
			{"summary.diagnosticsNotPrinted", func(s *shapeReader, v lintItem) {
				if n := v.text("."); n != "0" && n != "" {
					s.failure = "biome left out " + n + " diagnostics: run it with --max-diagnostics=none"
				}
			}},
		},
	},
	{
		name: "oxlint", tool: "oxlint", like: []string{"diagnostics number_of_files", "diagnostics.[].labels diagnostics.[].filename"},
		levels: map[string]metric.Level{"advice": metric.Note},
		lists: []lintList{{
			at: "diagnostics.[]", file: "filename", line: "labels.0.span.line", column: "labels.0.span.column", rule: "code",
			message: "message", level: "severity",
		}},
	},
	{
		name: "deno-lint", tool: "deno", like: []string{"diagnostics.[].filename diagnostics.[].range", "version diagnostics errors"},
		from: "deno lint", note: "No levels: errors.",
		lists: []lintList{
			{
				at: "diagnostics.[]", file: "filename", line: "range.start.line", column: "range.start.col+1", rule: "code",
				message: "message",
			},
			{at: "errors.[]", file: "file_path", message: "message"},
		},
	},
	{
		name: "htmlhint", tool: "htmlhint", like: []string{"[].file [].messages"},
		lists: []lintList{{
			at: "[].messages.[]", file: "^file", line: "line", column: "col", rule: "rule.id", message: "message", level: "type", text: "evidence",
		}},
	},
	{
		name: "markdownlint", tool: "markdownlint", like: []string{"[].fileName [].lineNumber"},
		from: "markdownlint-cli", note: "No levels before 0.39: errors.",
		lists: []lintList{markdownlint("[]", "fileName")},
	},
	{
		name: "markdownlint-files", tool: "markdownlint", like: []string{"*.[].lineNumber *.[].ruleNames"},
		from: "the markdownlint library", note: "As markdownlint.",
		lists: []lintList{markdownlint("*.[]", "*")},
	},
}

func markdownlint(at, file string) lintList {
	return lintList{
		at: at, file: file, line: "lineNumber", column: "errorRange.0", rule: "ruleNames.0", message: "ruleDescription",
		level: "severity", text: "errorContext", also: "errorDetail",
		each: func(v lintItem, f metric.Finding) []metric.Finding {
			if detail := v.text("errorDetail"); detail != "" {
				f.Message += " [" + detail + "]"
			}
			return []metric.Finding{f}
		},
	}
}

// in returns the list for another place.
func (l lintList) in(at string) lintList {
	l.at = at
	return l
}

// codeClimateScales are the levels of tools that use the words of Code Climate
// in their own way, recognised by the names of their checks. In other reports "minor" is a
// warning and what is above it an error, as eslint and ruff mean it.
var codeClimateScales = []struct {
	check  *regexp.Regexp
	tool   string
	levels map[string]metric.Level
}{
	{regexp.MustCompile(`^(DL|SC)\d{4}$`), "hadolint", sonarLevels},
	{regexp.MustCompile(`^(lint|assist|plugin|suppressions)/|^(format|parse|syntax)$`), "biome", sonarLevels},
}

// codeClimate puts a finding on the scale of its tool. What is not an issue, but a
// measurement, is not counted.
func codeClimate(v lintItem, f metric.Finding) []metric.Finding {
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
