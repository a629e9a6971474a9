package lintshape

import (
	"supervise/internal/regexp"
	"supervise/metric"
)

// cleanCommentsPattern matches a report of shellcheck -f json1 without findings:
// {"comments":[]}.
var cleanCommentsPattern = regexp.MustCompile(`^\s*\{\s*"comments"\s*:\s*\[\s*\]\s*\}\s*$`)

// cleanViolationsPattern matches a report of sqlfluff without findings: {"violations": []}.
var cleanViolationsPattern = regexp.MustCompile(`^\s*\{\s*"violations"\s*:\s*\[\s*\]\s*\}\s*$`)

// shellcheckList has the places in a finding of shellcheck, whose code is the number of its
// rule: 2086 for SC2086.
var shellcheckList = lintList{
	file: "file", line: "line", column: "column", rule: "code", message: "message", level: "level",
	convert: func(_ lintItem, f metric.Finding) []metric.Finding {
		f.Rule = "SC" + f.Rule
		return []metric.Finding{f}
	},
}

// actionlintList has the places in a finding of actionlint.
var actionlintList = lintList{file: "filepath", line: "line", column: "column", rule: "kind", message: "message", text: "snippet"}

// phpMessageList is the list of messages by file of phpcs and phpstan.
var phpMessageList = lintList{path: "files.*.messages.[]", file: "*", line: "line", column: "column", rule: "source|identifier", message: "message"}

// sqlfluffList has the places in a violation of sqlfluff, which differ between versions.
var sqlfluffList = lintList{
	file: "^filepath|path|filepath", line: "start_line_no|line_no", column: "start_line_pos|line_pos", rule: "code|rule_code",
	message: "description|rule_description|rule_name", extra: "warning",
	convert: func(v lintItem, f metric.Finding) []metric.Finding {
		if v.hasWord("warning", "true") {
			f.Level = metric.Warning
		}
		return []metric.Finding{f}
	},
}

// otherShapes describes the formats of single tools for other languages.
var otherShapes = []lintShape{
	{
		name: "shellcheck", tool: "shellcheck", marks: []string{"[].file [].endLine [].level [].code"}, lists: []lintList{shellcheckList.withPath("[]")},
		note: "info and style are notes.",
	},
	{
		name: "shellcheck-json1", tool: "shellcheck", cleanPattern: cleanCommentsPattern, marks: []string{"comments.[].file comments.[].level"},
		tools: "shellcheck -f json1", note: "As shellcheck.",
		lists: []lintList{shellcheckList.withPath("comments.[]")},
	},
	{
		name: "hadolint", tool: "hadolint", marks: []string{"[].file [].level [].code [].line"},
		note:  "info, style and ignore are notes; an unknown level is an error.",
		lists: []lintList{{path: "[]", file: "file", line: "line", column: "column", rule: "code", message: "message", level: "level"}},
	},
	{
		name: "rubocop", tool: "rubocop", marks: []string{"metadata.rubocop_version", "files.[].offenses", "metadata files summary.offense_count"},
		tools: "rubocop, erb_lint, haml-lint, slim-lint", note: "convention, refactor and info are notes. Corrected offenses do not count. No file inspected is an error.",
		levels: pylintLevels,
		lists: []lintList{{
			path: "files.[].offenses.[]", file: "^path", line: "location.start_line|location.line",
			column: "location.start_column|location.column", rule: "cop_name|linter_name|linter", message: "message", level: "severity",
			extra: "corrected", convert: skipIf("corrected", "true"),
		}},
		facts: []lintFact{statedTotal("summary.offense_count", 0), checkedFiles("summary.inspected_file_count")},
	},
	{
		name: "phpstan", tool: "phpstan", marks: []string{"totals.file_errors files"},
		note:  "General errors are errors without a place.",
		lists: []lintList{phpMessageList, {path: "errors.[]", message: "."}},
		facts: []lintFact{statedTotal("totals.file_errors", 0), statedTotal("totals.errors", 0)},
	},
	{
		name: "phpcs", tool: "phpcs", marks: []string{"totals.fixable files", "totals.warnings files"},
		lists: []lintList{phpMessageList.withLevel("type")},
		facts: []lintFact{statedTotal("totals.errors", metric.Error), statedTotal("totals.warnings", metric.Warning)},
	},
	{
		name: "psalm", tool: "psalm", marks: []string{"[].line_from [].file_name [].severity"},
		lists: []lintList{{path: "[]", file: "file_name", line: "line_from", column: "column_from", rule: "type", message: "message", level: "severity", text: "snippet"}},
	},
	{
		name: "pmd-json", tool: "pmd", marks: []string{"pmdVersion files", "files.[].violations.[].ruleset"}, levels: pmdLevels,
		tools: "PMD 6 and later", note: "As pmd.",
		lists: []lintList{
			{path: "files.[].violations.[]", file: "^filename", line: "beginline", column: "begincolumn", rule: "rule", message: "description", level: "priority"},
			{path: "processingErrors.[]", file: "filename", message: "message"},
			{path: "configurationErrors.[]", rule: "rule", message: "message"},
		},
	},
	{
		name: "semgrep", tool: "semgrep", marks: []string{"results.[].check_id", "results errors paths version"},
		note: "Ignored results do not count; `errors` are findings. Nothing scanned is an error.",
		lists: []lintList{
			{
				path: "results.[]", file: "path", line: "start.line", column: "start.col", rule: "check_id", message: "extra.message",
				level: "extra.severity", extra: "extra.is_ignored", convert: skipIf("extra.is_ignored", "true"),
			},
			{path: "errors.[]", file: "path", rule: "type", message: "message|long_msg", level: "level"},
		},
		facts: []lintFact{checkedFiles("paths.scanned")},
	},
	{
		name: "brakeman", tool: "brakeman", marks: []string{"scan_info warnings"}, levels: brakemanLevels,
		note: "By confidence: High is an error, Medium a warning, Weak a note. Ignored warnings do not count.",
		lists: []lintList{
			{path: "warnings.[]", file: "file", line: "line", rule: "warning_type", message: "message", level: "confidence", text: "code"},
			{path: "errors.[]", file: "location", message: "error"},
		},
		facts: []lintFact{statedTotal("scan_info.security_warnings", 0)},
	},
	{
		name: "sqlfluff", tool: "sqlfluff", cleanPattern: cleanViolationsPattern,
		note:  "Errors, or warnings if `warning` is true.",
		marks: []string{"[].filepath [].violations", "violations.[].rule_code"},
		lists: []lintList{sqlfluffList.withPath("[].violations.[]"), sqlfluffList.withPath("violations.[]")},
	},
	{
		name: "revive", tool: "revive", marks: []string{"[].RuleName [].Position"},
		lists: []lintList{{path: "[]", file: "Position.Start.Filename", line: "Position.Start.Line", column: "Position.Start.Column", rule: "RuleName", message: "Failure", level: "Severity"}},
	},
	{
		name: "gcc-json", tool: "gcc", isTypeChecker: true, marks: []string{"[].kind [].locations [].message"},
		tools: "GCC -fdiagnostics-format=json", note: "Errors are type errors. Notes below a diagnostic do not count.",
		lists: []lintList{{path: "[]", file: "locations.0.caret.file", line: "locations.0.caret.line", column: "locations.0.caret.column", rule: "option", message: "message", level: "kind"}},
	},
	{
		name: "trivy", tool: "trivy", marks: []string{"[].Target [].Vulnerabilities", "SchemaVersion ArtifactName"},
		note:   "CRITICAL and HIGH are errors, MEDIUM warnings, LOW and UNKNOWN notes. Checks that passed do not count.",
		levels: map[string]metric.Level{"unknown": metric.Note},
		lists: []lintList{
			trivyList("[].Vulnerabilities.[]"), trivyList("Results.[].Vulnerabilities.[]"), trivyList("Results.[].Misconfigurations.[]"),
			trivyList("Results.[].Secrets.[]"), trivyList("Results.[].Licenses.[]"),
		},
		facts: []lintFact{presence("SchemaVersion")}, // nothing found: there are no results
	},
	{
		name: "snyk", tool: "snyk", note: "Levels as trivy.", marks: []string{"vulnerabilities.[].packageName", "vulnerabilities ok dependencyCount", "[].vulnerabilities [].ok [].dependencyCount"},
		lists: []lintList{snykList.withPath("vulnerabilities.[]"), snykList.withPath("[].vulnerabilities.[]")},
	},
	{
		name: "actionlint", tool: "actionlint", marks: []string{"[].filepath [].kind [].message"}, lists: []lintList{actionlintList.withPath("[]")},
		note: "No levels: errors.",
	},
	{
		name: "actionlint-lines", tool: "actionlint", isLines: true, marks: []string{"filepath kind message"}, lists: []lintList{actionlintList},
		tools: "actionlint, one object a line", note: "As actionlint.",
	},
	{
		name: "ktlint", tool: "ktlint", marks: []string{"[].file [].errors.[].rule"},
		note:  "No levels: errors.",
		lists: []lintList{{path: "[].errors.[]", file: "^file", line: "line", column: "column", rule: "rule", message: "message"}},
	},
	{
		name: "swiftlint", tool: "swiftlint", marks: []string{"[].rule_id [].reason"},
		lists: []lintList{{path: "[]", file: "file", line: "line", column: "character", rule: "rule_id", message: "reason", level: "severity"}},
	},
	{
		name: "tflint", tool: "tflint", cleanPattern: cleanTflintPattern, marks: []string{"issues.[].range issues.[].rule", "issues errors.[].message", "issues errors.[].summary"},
		lists: []lintList{
			{path: "issues.[]", file: "range.filename", line: "range.start.line", column: "range.start.column", rule: "rule.name", message: "message", level: "rule.severity"},
			{path: "errors.[]", message: "message|summary", level: "severity"},
		},
	},
	{
		name: "credo", tool: "credo", marks: []string{"issues.[].check issues.[].filename"},
		note:  "No levels: errors.",
		lists: []lintList{{path: "issues.[]", file: "filename", line: "line_no", column: "column", rule: "check", message: "message"}},
	},
	{
		name: "gosec", tool: "gosec", marks: []string{"Issues.[].rule_id Issues.[].details", "Issues Stats GosecVersion"},
		note: "HIGH or none is an error, MEDIUM a warning, LOW a note. Files it could not read are errors.",
		lists: []lintList{
			{path: "Issues.[]", file: "file", line: "line", column: "column", rule: "rule_id", message: "details", level: "severity"},
			{path: "Golang errors.*.[]", file: "*", line: "line", column: "column", message: "error"},
		},
	},
	{
		name: "cfn-lint", tool: "cfn-lint", marks: []string{"[].Filename [].Rule.Id [].Level"},
		note:  "Informational is a note.",
		lists: []lintList{{path: "[]", file: "Filename", line: "Location.Start.LineNumber", column: "Location.Start.ColumnNumber", rule: "Rule.Id", message: "Message", level: "Level"}},
	},
	{
		name: "checkov", tool: "checkov", marks: []string{"results.failed_checks", "[].results.failed_checks", "passed failed checkov_version"},
		note:  "Without a severity: errors.",
		lists: []lintList{checkovList.withPath("results.failed_checks.[]"), checkovList.withPath("[].results.failed_checks.[]")},
		facts: []lintFact{statedTotal("summary.failed", 0), statedTotal("[].summary.failed", 0), presence("checkov_version")},
	},
	{
		name: "dart-analyze", tool: "dart", isTypeChecker: true, cleanPattern: cleanDartPattern, marks: []string{"diagnostics.[].problemMessage"},
		tools: "dart analyze", note: "Errors are type errors.",
		lists: []lintList{{
			path: "diagnostics.[]", file: "location.file", line: "location.range.start.line", column: "location.range.start.column",
			rule: "code", message: "problemMessage", level: "severity",
		}},
	},
	{
		name: "vale", tool: "vale", marks: []string{"*.[].Check *.[].Severity"},
		lists: []lintList{{path: "*.[]", file: "*", line: "Line", column: "Span.0", rule: "Check", message: "Message", level: "Severity"}},
	},
	{
		name: "findings-by-file", marks: []string{"*.[].rule *.[].severity *.[].message"},
		tools: "several tools",
		lists: []lintList{{path: "*.[]", file: "*", line: "line", column: "column", rule: "rule", message: "message", level: "severity"}},
	},
}

var (
	// snykList has the places in a finding of snyk.
	snykList = lintList{file: "filePath|^displayTargetFile", rule: "id", message: "title", level: "severity"}
	// checkovList has the places in a failed check of checkov.
	checkovList = lintList{file: "file_path", line: "file_line_range.0", rule: "check_id", message: "check_name", level: "severity"}
)

// withLevel returns the list with another place of the level.
func (l lintList) withLevel(place string) lintList {
	l.level = place
	return l
}

// trivyList returns a list of trivy, without the checks that passed.
func trivyList(at string) lintList {
	return lintList{
		path: at, file: "^Target", line: "StartLine|CauseMetadata.StartLine", rule: "VulnerabilityID|ID|RuleID|Name", message: "Title|Message|Description|PkgName|FilePath",
		level: "Severity", extra: "Status", convert: skipIf("Status", "PASS", "EXCEPTION"),
	}
}
