package lintshape

import (
	"supervise/internal/regexp"
	"supervise/metric"
)

// commentsClean is shellcheck's report in the form json1 of good scripts.
var commentsClean = regexp.MustCompile(`^\s*\{\s*"comments"\s*:\s*\[\s*\]\s*\}\s*$`)

// violationsClean is a report of sqlfluff about good files.
var violationsClean = regexp.MustCompile(`^\s*\{\s*"violations"\s*:\s*\[\s*\]\s*\}\s*$`)

var shellcheckComment = lintList{
	file: "file", line: "line", column: "column", rule: "code", message: "message", level: "level",
	each: func(_ lintItem, f metric.Finding) []metric.Finding {
		f.Rule = "SC" + f.Rule
		return []metric.Finding{f}
	},
}

var actionlint = lintList{file: "filepath", line: "line", column: "column", rule: "kind", message: "message", text: "snippet"}

var phpMessage = lintList{at: "files.*.messages.[]", file: "*", line: "line", column: "column", rule: "source|identifier", message: "message"}

var sqlfluff = lintList{
	file: "^filepath|path|filepath", line: "start_line_no|line_no", column: "start_line_pos|line_pos", rule: "code|rule_code",
	message: "description|rule_description|rule_name", also: "warning",
	each: func(v lintItem, f metric.Finding) []metric.Finding {
		if v.is("warning", "true") {
			f.Level = metric.Warning
		}
		return []metric.Finding{f}
	},
}

// otherShapes are those of single tools for other languages.
var otherShapes = []lintShape{
	{
		name: "shellcheck", tool: "shellcheck", like: []string{"[].file [].endLine [].level [].code"}, lists: []lintList{shellcheckComment.in("[]")},
		note: "info and style are notes.",
	},
	{
		name: "shellcheck-json1", tool: "shellcheck", clean: commentsClean, like: []string{"comments.[].file comments.[].level"},
		from: "shellcheck -f json1", note: "As shellcheck.",
		lists: []lintList{shellcheckComment.in("comments.[]")},
	},
	{
		name: "hadolint", tool: "hadolint", like: []string{"[].file [].level [].code [].line"},
		note:  "info, style and ignore are notes; an unknown level is an error.",
		lists: []lintList{{at: "[]", file: "file", line: "line", column: "column", rule: "code", message: "message", level: "level"}},
	},
	{
		name: "rubocop", tool: "rubocop", like: []string{"metadata.rubocop_version", "files.[].offenses", "metadata files summary.offense_count"},
		from: "rubocop, erb_lint, haml-lint, slim-lint", note: "convention, refactor and info are notes. Corrected offenses do not count. No file inspected is an error.",
		levels: pylintLevels,
		lists: []lintList{{
			at: "files.[].offenses.[]", file: "^path", line: "location.start_line|location.line",
			column: "location.start_column|location.column", rule: "cop_name|linter_name|linter", message: "message", level: "severity",
			also: "corrected", each: unless("corrected", "true"),
		}},
		facts: []lintFact{total("summary.offense_count", 0), looked("summary.inspected_file_count")},
	},
	{
		name: "phpstan", tool: "phpstan", like: []string{"totals.file_errors files"},
		note:  "General errors are errors without a place.",
		lists: []lintList{phpMessage, {at: "errors.[]", message: "."}},
		facts: []lintFact{total("totals.file_errors", 0), total("totals.errors", 0)},
	},
	{
		name: "phpcs", tool: "phpcs", like: []string{"totals.fixable files", "totals.warnings files"},
		lists: []lintList{phpMessage.levelled("type")},
		facts: []lintFact{total("totals.errors", metric.Error), total("totals.warnings", metric.Warning)},
	},
	{
		name: "psalm", tool: "psalm", like: []string{"[].line_from [].file_name [].severity"},
		lists: []lintList{{
			at: "[]", file: "file_name", line: "line_from", column: "column_from", rule: "type", message: "message",
			level: "severity", text: "snippet",
		}},
	},
	{
		name: "pmd-json", tool: "pmd", like: []string{"pmdVersion files", "files.[].violations.[].ruleset"}, levels: pmdLevels,
		from: "PMD 6 and later", note: "As pmd.",
		lists: []lintList{
			{
				at: "files.[].violations.[]", file: "^filename", line: "beginline", column: "begincolumn", rule: "rule",
				message: "description", level: "priority",
			},
			{at: "processingErrors.[]", file: "filename", message: "message"},
			{at: "configurationErrors.[]", rule: "rule", message: "message"},
		},
	},
	{
		name: "semgrep", tool: "semgrep", like: []string{"results.[].check_id", "results errors paths version"},
		note: "Ignored results do not count; `errors` are findings. Nothing scanned is an error.",
		lists: []lintList{
			{
				at: "results.[]", file: "path", line: "start.line", column: "start.col", rule: "check_id", message: "extra.message",
				level: "extra.severity", also: "extra.is_ignored", each: unless("extra.is_ignored", "true"),
			},
			{at: "errors.[]", file: "path", rule: "type", message: "message|long_msg", level: "level"},
		},
		facts: []lintFact{looked("paths.scanned")},
	},
	{
		name: "brakeman", tool: "brakeman", like: []string{"scan_info warnings"}, levels: brakemanLevels,
		note: "By confidence: High is an error, Medium a warning, Weak a note. Ignored warnings do not count.",
		lists: []lintList{
			{
				at: "warnings.[]", file: "file", line: "line", rule: "warning_type", message: "message", level: "confidence", text: "code",
			},
			{at: "errors.[]", file: "location", message: "error"},
		},
		facts: []lintFact{total("scan_info.security_warnings", 0)},
	},
	{
		name: "sqlfluff", tool: "sqlfluff", clean: violationsClean,
		note:  "Errors, or warnings if `warning` is true.",
		like:  []string{"[].filepath [].violations", "violations.[].rule_code"},
		lists: []lintList{sqlfluff.in("[].violations.[]"), sqlfluff.in("violations.[]")},
	},
	{
		name: "revive", tool: "revive", like: []string{"[].RuleName [].Position"},
		lists: []lintList{{
			at: "[]", file: "Position.Start.Filename", line: "Position.Start.Line", column: "Position.Start.Column",
			rule: "RuleName", message: "Failure", level: "Severity",
		}},
	},
	{
		name: "gcc-json", tool: "gcc", types: true, like: []string{"[].kind [].locations [].message"},
		from: "GCC -fdiagnostics-format=json", note: "Errors are type errors. Notes below a diagnostic do not count.",
		lists: []lintList{{
			at: "[]", file: "locations.0.caret.file", line: "locations.0.caret.line", column: "locations.0.caret.column",
			rule: "option", message: "message", level: "kind",
		}},
	},
	{
		name: "trivy", tool: "trivy", like: []string{"[].Target [].Vulnerabilities", "SchemaVersion ArtifactName"},
		note:   "CRITICAL and HIGH are errors, MEDIUM warnings, LOW and UNKNOWN notes. Checks that passed do not count.",
		levels: map[string]metric.Level{"unknown": metric.Note},
		lists: []lintList{
			trivy("[].Vulnerabilities.[]"), trivy("Results.[].Vulnerabilities.[]"), trivy("Results.[].Misconfigurations.[]"),
			trivy("Results.[].Secrets.[]"), trivy("Results.[].Licenses.[]"),
		},
		facts: []lintFact{sign("SchemaVersion")}, // nothing found: there are no results
	},
	{
		name: "snyk", tool: "snyk", note: "Levels as trivy.", like: []string{
			"vulnerabilities.[].packageName", "vulnerabilities ok dependencyCount", "[].vulnerabilities [].ok [].dependencyCount",
		},
		lists: []lintList{snyk.in("vulnerabilities.[]"), snyk.in("[].vulnerabilities.[]")},
	},
	{
		name: "actionlint", tool: "actionlint", like: []string{"[].filepath [].kind [].message"}, lists: []lintList{actionlint.in("[]")},
		note: "No levels: errors.",
	},
	{
		name: "actionlint-lines", tool: "actionlint", lines: true, like: []string{"filepath kind message"}, lists: []lintList{actionlint},
		from: "actionlint, one object a line", note: "As actionlint.",
	},
	{
		name: "ktlint", tool: "ktlint", like: []string{"[].file [].errors.[].rule"},
		note:  "No levels: errors.",
		lists: []lintList{{at: "[].errors.[]", file: "^file", line: "line", column: "column", rule: "rule", message: "message"}},
	},
	{
		name: "swiftlint", tool: "swiftlint", like: []string{"[].rule_id [].reason"},
		lists: []lintList{{
			at: "[]", file: "file", line: "line", column: "character", rule: "rule_id", message: "reason", level: "severity",
		}},
	},
	{
		name: "tflint", tool: "tflint", clean: tflintClean, like: []string{"issues.[].range issues.[].rule", "issues errors.[].message", "issues errors.[].summary"},
		lists: []lintList{
			{
				at: "issues.[]", file: "range.filename", line: "range.start.line", column: "range.start.column", rule: "rule.name",
				message: "message", level: "rule.severity",
			},
			{at: "errors.[]", message: "message|summary", level: "severity"},
		},
	},
	{
		name: "credo", tool: "credo", like: []string{"issues.[].check issues.[].filename"},
		note:  "No levels: errors.",
		lists: []lintList{{at: "issues.[]", file: "filename", line: "line_no", column: "column", rule: "check", message: "message"}},
	},
	{
		name: "gosec", tool: "gosec", like: []string{"Issues.[].rule_id Issues.[].details", "Issues Stats GosecVersion"},
		note: "HIGH or none is an error, MEDIUM a warning, LOW a note. Files it could not read are errors.",
		lists: []lintList{
			{at: "Issues.[]", file: "file", line: "line", column: "column", rule: "rule_id", message: "details", level: "severity"},
			{at: "Golang errors.*.[]", file: "*", line: "line", column: "column", message: "error"},
		},
	},
	{
		name: "cfn-lint", tool: "cfn-lint", like: []string{"[].Filename [].Rule.Id [].Level"},
		note: "Informational is a note.",
		lists: []lintList{{
			at: "[]", file: "Filename", line: "Location.Start.LineNumber", column: "Location.Start.ColumnNumber", rule: "Rule.Id",
			message: "Message", level: "Level",
		}},
	},
	{
		name: "checkov", tool: "checkov", like: []string{"results.failed_checks", "[].results.failed_checks", "passed failed checkov_version"},
		note:  "Without a severity: errors.",
		lists: []lintList{checkov.in("results.failed_checks.[]"), checkov.in("[].results.failed_checks.[]")},
		facts: []lintFact{total("summary.failed", 0), total("[].summary.failed", 0), sign("checkov_version")},
	},
	{
		name: "dart-analyze", tool: "dart", types: true, clean: dartClean, like: []string{"diagnostics.[].problemMessage"},
		from: "dart analyze", note: "Errors are type errors.",
		lists: []lintList{{
			at: "diagnostics.[]", file: "location.file", line: "location.range.start.line", column: "location.range.start.column",
			rule: "code", message: "problemMessage", level: "severity",
		}},
	},
	{
		name: "vale", tool: "vale", like: []string{"*.[].Check *.[].Severity"},
		lists: []lintList{{at: "*.[]", file: "*", line: "Line", column: "Span.0", rule: "Check", message: "Message", level: "Severity"}},
	},
	{
		name: "findings-by-file", like: []string{"*.[].rule *.[].severity *.[].message"},
		from:  "several tools",
		lists: []lintList{{at: "*.[]", file: "*", line: "line", column: "column", rule: "rule", message: "message", level: "severity"}},
	},
}

var (
	snyk    = lintList{file: "filePath|^displayTargetFile", rule: "id", message: "title", level: "severity"}
	checkov = lintList{file: "file_path", line: "file_line_range.0", rule: "check_id", message: "check_name", level: "severity"}
)

func (l lintList) levelled(place string) lintList {
	l.level = place
	return l
}

// trivy leaves out the checks that passed.
func trivy(at string) lintList {
	return lintList{
		at: at, file: "^Target", line: "StartLine|CauseMetadata.StartLine", rule: "VulnerabilityID|ID|RuleID|Name", message: "Title|Message|Description|PkgName|FilePath",
		level: "Severity", also: "Status", each: unless("Status", "PASS", "EXCEPTION"),
	}
}
