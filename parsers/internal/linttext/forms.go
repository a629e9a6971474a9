package linttext

import (
	"slices"
	"sync"

	"supervise/internal/regexp"
	"supervise/metric"
)

// lineForms returns the forms of lines, the most specific first.
var lineForms = sync.OnceValue(func() []lineForm {
	return compileForms(slices.Concat(messageForms, scriptForms, pythonForms, javaForms, netForms, otherForms, compilerForms, rareForms, nativeForms, solidityForms, headerForms))
})

var (
	quotedPairsPattern    = regexp.MustCompile(`(\w+)\s*=\s*'((?:\|.|[^'|])*)'`)
	commaPairsPattern     = regexp.MustCompile(`(\w+)=([^,]*)`)
	semicolonPairsPattern = regexp.MustCompile(`(\w+)=([^;]*)`)
)

// messageForms describes the messages to CI servers.
var messageForms = []lineForm{
	{contains: "##teamcity[", pattern: `\s*##teamcity\[inspection {pairs}\]`, pairs: quotedPairsPattern, fileIsCertain: true},
	{contains: "::", pattern: `\s*::(?P<level>error|warning|notice) (?P<pairs>.*?file=.*?)::{msg}`, pairs: commaPairsPattern, fileIsCertain: true},
	{contains: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs};\]{msg}`, pairs: semicolonPairsPattern, fileIsCertain: true}, // ] may be part of a path
	{contains: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs}\]{msg}`, pairs: semicolonPairsPattern, fileIsCertain: true},
}

// scriptForms describes the tools for JavaScript, CSS, YAML, Ruby, PHP and shell.
var scriptForms = []lineForm{
	{tool: "tsc", contains: " TS", pattern: `{file}\({line},{col}\): (?P<level>error|warning|message) {rule}: {msg}`, fileIsCertain: true, multiline: true},
	{tool: "tsc", contains: " TS", pattern: `{file}:{line}:{col} - (?P<level>error|warning|message) {rule}: {msg}`, fileIsCertain: true, multiline: true},
	{tool: "tsc", contains: " TS", pattern: `(?P<level>error|warning) (?P<rule>TS\d+): {msg}`, multiline: true},
	{tool: "deno", contains: " [", pattern: `(?P<rule>TS\d+) \[(?P<level>ERROR|WARNING)\]: {msg}`, block: "deno", store: true},
	{tool: "deno", contains: "at file://", pattern: `\s+at file://(?P<file>\S+):{line}:{col}`, block: "deno", consume: true, typed: true},
	{tool: "prettier", contains: "[warn] ", pattern: `\[warn\] (?P<file>[^:]*\.\w+)`, level: metric.Warning, withLevelPrefix: true},
	{tool: "prettier", contains: "[error] ", pattern: `\[error\] {file}: (?P<msg>SyntaxError: .*) \({line}:{col}\)`, level: metric.Error, withLevelPrefix: true},
	{tool: "flow", contains: "--", pattern: `(?P<level>Error|Warning) -{5,} {file}:{line}:{col}`},

	{tool: "eslint", contains: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>Error|Warning) - {msg}(?: \({rule}\))?`, fileIsCertain: true},
	{tool: "stylelint", contains: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>error|warning) - {msg}(?: \({rule}\))?`, fileIsCertain: true},
	{tool: "eslint", contains: "[", pattern: `{file}:{line}:{col}: {msg} \[(?P<level>Error|Warning)(?:/{rule})?\]`},
	{tool: "stylelint", contains: "[", pattern: `{file}:{line}:{col}: {msg}(?: \({rule}\))? \[(?P<level>error|warning)\]`},
	{tool: "yamllint", contains: "[", pattern: `{file}:{line}:{col}: \[(?P<level>error|warning)\] {msg}(?: \({rule}\))?`},
	{tool: "yamllint", contains: ")", pattern: `\s+{line}:{col}\s+(?P<level>error|warning)\s+{msg}\s+\({rule}\)`, block: "stylish"},
	{tool: "stylelint", pattern: `\s+{line}:{col}\s+(?P<level>[✖×⚠‼ℹ])\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	{tool: "eslint", pattern: `\s+{line}:{col}\s+(?P<level>error|warning|info)\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	{tool: "staticcheck", contains: "(", pattern: `\s+\({line}, {col}\)\s+{rule}\s+{msg}`, block: "stylish"},
	{tool: "ruff", pattern: `\s+{line}:{col}\s+(?P<rule>[A-Z]+\d+) (?:\[\*\] )?{msg}`, block: "stylish"},
	{tool: "ruff", pattern: `\s+{line}:{col} ` + ruffName + `(?: \[\*\]|:) {msg}`, level: metric.Error, block: "stylish"},

	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}:{line}:{col}: (?P<rule>(?:lint|assist|plugin|suppressions)/[\w/]+|plugin|parse|syntax|format): {msg}`},
	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}: (?P<rule>format|organizeImports|assist\S*): {msg}`},
	{tool: "biome", contains: "━━━", pattern: `{file}(?::{line}:{col})? {rule}\s.*━{3,}`, block: "biome", store: true},
	{tool: "biome", pattern: `  (?P<level>[×✖!i]) {msg}`, block: "biome", consume: true},
	{tool: "oxlint", pattern: `\s+(?P<level>[×⚠!x]) (?P<rule>[\w@/-]+\([\w@/-]+\)): {msg}`, block: "oxlint", store: true},
	{tool: "oxlint", pattern: `  (?P<level>[×⚠!x]) (?P<msg>[A-Z\x60].*)`, block: "oxlint", store: true},
	{tool: "oxlint", contains: "[", pattern: `\s+[,╭][-─]\[{file}:{line}:{col}\].*`, block: "oxlint", consume: true},
	{tool: "markdownlint", contains: " MD", pattern: `{file}:{line}(?::{col})? (?:(?P<level>error|warning) )?(?P<rule>MD\d+)\S* {msg}`},

	{tool: "hadolint", pattern: `hadolint:{file}:{line}: (?P<rule>[A-Z]+\d+) {word}: {msg}`, fileIsCertain: true},
	{tool: "hadolint", contains: "hadolint:", pattern: `hadolint:{file}:{line}:{col}: {msg}`, fileIsCertain: true},
	{tool: "hadolint", pattern: `{file}:{line}(?::{col})? (?P<rule>(?:DL|SC)\d+) {word}: {msg}`, fileIsCertain: true},
	{tool: "hadolint", contains: "unexpected", pattern: `{file}:{line}:{col} (?P<msg>unexpected .*)`},
	{tool: "shellcheck", contains: "[SC", pattern: `{file}:{line}:{col}: {word}: {msg} \[(?P<rule>SC\d+)\]`},
	{tool: "shellcheck", contains: "In ", pattern: `In {file} line {line}:`, fileIsCertain: true, block: "shellcheck", store: true},
	{tool: "shellcheck", contains: " SC", pattern: `\s*\^-*\^? (?P<rule>SC\d+) \({word}\): {msg}`, block: "shellcheck"},

	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[CWEFRIA]): (?:\[(?:Correctable|Corrected|Todo)\] )?(?P<rule>[A-Z]\w*(?:/\w+)+): {msg}`},
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[EF]): {msg}`},
	{tool: "rubocop", contains: "== ", pattern: `== {file} ==`, fileIsCertain: true, block: "rubocop", store: true},
	{tool: "rubocop", pattern: `(?P<level>[CWEFRIA]):\s*{line}:\s*{col}: (?:\[(?:Correctable|Corrected|Todo)\] )?(?:(?P<rule>[A-Z]\w*(?:/\w+)+): )?{msg}`, block: "rubocop"},

	{tool: "phpcs", contains: " - ", pattern: `{file}:{line}:{col}: (?P<level>error|warning) - {msg}`},
	{tool: "phpcs", contains: "FILE: ", pattern: `FILE: {file}`, fileIsCertain: true, block: "phpcs", store: true},
	{tool: "phpcs", contains: "|", pattern: `\s+{line} \| (?P<level>ERROR|WARNING) \| (?:\[[x ]\] )?{msg}`, block: "phpcs"},
	{tool: "phpstan", contains: "Line ", pattern: `\s+Line\s+{file}(?: \(in context of .*\))?`, block: "phpstan", store: true},
	{tool: "phpstan", pattern: `\s{1,3}{line}\s{2,}{msg}`, block: "phpstan", level: metric.Error, multiline: true},
	{tool: "phpstan", contains: ".php:", pattern: `{file}:{line}:(?P<msg>[A-Z].*)`, level: metric.Error},
	{tool: "php", contains: " on line ", pattern: `.*?(?:PHP )?(?P<level>Fatal error|Parse error|Warning|Notice|Deprecated|Catchable fatal error|Recoverable fatal error):\s+{msg} in (?P<file>\S.*?) on line {line}`, levels: phpLevels, fileIsCertain: true},
	{tool: "php", contains: "SOAP-ERROR", pattern: `PHP (?P<level>Fatal error): {msg}`, levels: phpLevels},
	{tool: "sqlfluff", contains: "== [", pattern: `== \[{file}\] FAIL`, fileIsCertain: true, block: "sqlfluff", store: true},
	{tool: "sqlfluff", contains: "L:", pattern: `L:\s*{line} \| P:\s*{col} \|\s*{rule} \| {msg}`, block: "sqlfluff", multiline: true},
}

// phpLevels maps the words of PHP.
var phpLevels = map[string]metric.Level{
	"fatal error": metric.Error, "parse error": metric.Error, "catchable fatal error": metric.Error, "recoverable fatal error": metric.Error,
	"warning": metric.Warning, "notice": metric.Note, "deprecated": metric.Note,
}

// ruffName matches the name of a rule, which ruff --preview prints in place of its code.
const ruffName = `(?P<rule>[a-z]+(?:-[a-z0-9]+)+|unformatted)`

// pythonForms describes the tools for Python.
var pythonForms = []lineForm{
	{tool: "mypy", pattern: `{file}\.pyi?: (?P<level>note): (?:In |At ).*:`, ignore: true},
	{tool: "mypy", contains: ".py", pattern: `{py}:{line}(?::{col}(?::\d+:\d+)?)?: (?P<level>error|note): {msg}  \[{rule}\]`},
	{tool: "mypy", contains: ".py", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.pyi?)(?::{line}(?::{col}(?::\d+:\d+)?)?)?: (?P<level>error|note): {msg}`, multiline: true},
	{tool: "pyright", contains: " - ", pattern: `\s+{file}:{line}:{col} - {word}: {msg}`, typed: true, multiline: true},
	{tool: "pyright", contains: ": error: ", pattern: `\s+{file}: (?P<level>error|warning): {msg}`, typed: true, multiline: true},
	{tool: "pylint", pattern: `{file}:{line}(?::{col})?: (?P<level>[CRWEFI])\d{4}: {msg} \({rule}\)`, levels: pylintLetters, columnsFromZero: true},
	{tool: "pylint", contains: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	{tool: "pylint", contains: "[", pattern: `{file}\({line}\): \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	{tool: "pylint", contains: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])(?:\d{4})?,[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: \[{rule}\] {msg}`, level: metric.Error},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?):? {msg} \((?P<level>warning)\)`},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?|[a-z]+\[[\w-]+\]):? {msg}`, level: metric.Error},
	{tool: "bandit", contains: "[bandit]", pattern: `{file}:{line}: (?P<rule>B\d+)\[bandit\]: (?P<level>\w+): {msg}`},
	{tool: "bandit", contains: ">> Issue: [", pattern: `>> Issue: \[(?P<rule>[^\]:]*)[^\]]*\] {msg}`, block: "bandit", store: true},
	{tool: "flake8", contains: "[", pattern: `{file}:{line}: \[{rule}\] {msg}`, level: metric.Error},
	{tool: "flake8", pattern: `{file}:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "flake8", contains: ":cell ", pattern: `{file}:cell \d+:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "ruff", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.(?:pyi?|ipynb)):{line}:{col}: ` + ruffName + `: (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "pydocstyle", pattern: `{file}:{line} (?:in|at) .*:`, block: "pydocstyle", store: true},
	{tool: "pydocstyle", pattern: `\s+(?P<rule>D\d+): {msg}`, block: "pydocstyle", level: metric.Error, consume: true},
	{tool: "bandit", contains: "Severity: ", pattern: `\s+Severity: (?P<level>\w+)\s+Confidence: .*`, block: "bandit", store: true, mergeStored: true},
	{tool: "bandit", contains: "Location: ", pattern: `\s+Location: {file}:{line}:{col}`, block: "bandit", consume: true, columnsFromZero: true},
	{tool: "black", contains: "would reformat ", pattern: `would reformat (?P<file>\S.*)`, level: metric.Warning, fileIsCertain: true},
	{tool: "black", contains: "cannot format ", pattern: `error: cannot format {file}: (?P<msg>Cannot parse: {line}:{col}: .*)`, level: metric.Error},
	{tool: "black", contains: "cannot ", pattern: `error: cannot (?:parse|format):? {file}:(?:{line}:{col})?{msg}`, level: metric.Error},
	{tool: "isort", contains: "Imports are incorrectly", pattern: `ERROR: (?P<file>.*) (?P<msg>Imports are incorrectly sorted.*)`, level: metric.Error, fileIsCertain: true},
}

// pylintLetters maps the first letters of the message codes of pylint.
var pylintLetters = map[string]metric.Level{
	"c": metric.Note, "r": metric.Note, "i": metric.Note, "w": metric.Warning, "e": metric.Error, "f": metric.Error,
}
