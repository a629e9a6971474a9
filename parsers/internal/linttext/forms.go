package linttext

import (
	"slices"
	"sync"

	"supervise/internal/regexp"
	"supervise/metric"
)

// lineForms are the forms of lines, the most specific first.
var lineForms = sync.OnceValue(func() []lineForm {
	return compileForms(slices.Concat(messageForms, scriptForms, pythonForms, javaForms, netForms, otherForms, compilerForms, rareForms, nativeForms, solidityForms, headerForms))
})

var (
	quotedPairs = regexp.MustCompile(`(\w+)\s*=\s*'((?:\|.|[^'|])*)'`)
	commaPairs  = regexp.MustCompile(`(\w+)=([^,]*)`)
	semiPairs   = regexp.MustCompile(`(\w+)=([^;]*)`)
)

// messageForms are the messages to CI servers.
var messageForms = []lineForm{
	{has: "##teamcity[", pattern: `\s*##teamcity\[inspection {pairs}\]`, pairs: quotedPairs, sure: true},
	{has: "::", pattern: `\s*::(?P<level>error|warning|notice) (?P<pairs>.*?file=.*?)::{msg}`, pairs: commaPairs, sure: true},
	{has: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs};\]{msg}`, pairs: semiPairs, sure: true}, // ] may be part of a path
	{has: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs}\]{msg}`, pairs: semiPairs, sure: true},
}

// scriptForms are those of JavaScript, CSS, YAML, Ruby, PHP and shell.
var scriptForms = []lineForm{
	{tool: "tsc", has: " TS", pattern: `{file}\({line},{col}\): (?P<level>error|warning|message) {rule}: {msg}`, sure: true, more: true},
	{tool: "tsc", has: " TS", pattern: `{file}:{line}:{col} - (?P<level>error|warning|message) {rule}: {msg}`, sure: true, more: true},
	{tool: "tsc", has: " TS", pattern: `(?P<level>error|warning) (?P<rule>TS\d+): {msg}`, more: true},
	{tool: "deno", has: " [", pattern: `(?P<rule>TS\d+) \[(?P<level>ERROR|WARNING)\]: {msg}`, block: "deno", keep: true},
	{tool: "deno", has: "at file://", pattern: `\s+at file://(?P<file>\S+):{line}:{col}`, block: "deno", once: true, typed: true},
	{tool: "prettier", has: "[warn] ", pattern: `\[warn\] (?P<file>[^:]*\.\w+)`, level: metric.Warning, raw: true},
	{tool: "prettier", has: "[error] ", pattern: `\[error\] {file}: (?P<msg>SyntaxError: .*) \({line}:{col}\)`, level: metric.Error, raw: true},
	{tool: "flow", has: "--", pattern: `(?P<level>Error|Warning) -{5,} {file}:{line}:{col}`},

	{tool: "eslint", has: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>Error|Warning) - {msg}(?: \({rule}\))?`, sure: true},
	{tool: "stylelint", has: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>error|warning) - {msg}(?: \({rule}\))?`, sure: true},
	{tool: "eslint", has: "[", pattern: `{file}:{line}:{col}: {msg} \[(?P<level>Error|Warning)(?:/{rule})?\]`},
	{tool: "stylelint", has: "[", pattern: `{file}:{line}:{col}: {msg}(?: \({rule}\))? \[(?P<level>error|warning)\]`},
	{tool: "yamllint", has: "[", pattern: `{file}:{line}:{col}: \[(?P<level>error|warning)\] {msg}(?: \({rule}\))?`},
	{tool: "yamllint", has: ")", pattern: `\s+{line}:{col}\s+(?P<level>error|warning)\s+{msg}\s+\({rule}\)`, block: "stylish"},
	{tool: "stylelint", pattern: `\s+{line}:{col}\s+(?P<level>[✖×⚠‼ℹ])\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	{tool: "eslint", pattern: `\s+{line}:{col}\s+(?P<level>error|warning|info)\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	{tool: "staticcheck", has: "(", pattern: `\s+\({line}, {col}\)\s+{rule}\s+{msg}`, block: "stylish"},
	{tool: "ruff", pattern: `\s+{line}:{col}\s+(?P<rule>[A-Z]+\d+) (?:\[\*\] )?{msg}`, block: "stylish"},
	{tool: "ruff", pattern: `\s+{line}:{col} ` + ruffName + `(?: \[\*\]|:) {msg}`, level: metric.Error, block: "stylish"},

	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}:{line}:{col}: (?P<rule>(?:lint|assist|plugin|suppressions)/[\w/]+|plugin|parse|syntax|format): {msg}`},
	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}: (?P<rule>format|organizeImports|assist\S*): {msg}`},
	{tool: "biome", has: "━━━", pattern: `{file}(?::{line}:{col})? {rule}\s.*━{3,}`, block: "biome", keep: true},
	{tool: "biome", pattern: `  (?P<level>[×✖!i]) {msg}`, block: "biome", once: true},
	{tool: "oxlint", pattern: `\s+(?P<level>[×⚠!x]) (?P<rule>[\w@/-]+\([\w@/-]+\)): {msg}`, block: "oxlint", keep: true},
	{tool: "oxlint", pattern: `  (?P<level>[×⚠!x]) (?P<msg>[A-Z\x60].*)`, block: "oxlint", keep: true},
	{tool: "oxlint", has: "[", pattern: `\s+[,╭][-─]\[{file}:{line}:{col}\].*`, block: "oxlint", once: true},
	{tool: "markdownlint", has: " MD", pattern: `{file}:{line}(?::{col})? (?:(?P<level>error|warning) )?(?P<rule>MD\d+)\S* {msg}`},

	{tool: "hadolint", pattern: `hadolint:{file}:{line}: (?P<rule>[A-Z]+\d+) {word}: {msg}`, sure: true},
	{tool: "hadolint", has: "hadolint:", pattern: `hadolint:{file}:{line}:{col}: {msg}`, sure: true},
	{tool: "hadolint", pattern: `{file}:{line}(?::{col})? (?P<rule>(?:DL|SC)\d+) {word}: {msg}`, sure: true},
	{tool: "hadolint", has: "unexpected", pattern: `{file}:{line}:{col} (?P<msg>unexpected .*)`},
	{tool: "shellcheck", has: "[SC", pattern: `{file}:{line}:{col}: {word}: {msg} \[(?P<rule>SC\d+)\]`},
	{tool: "shellcheck", has: "In ", pattern: `In {file} line {line}:`, sure: true, block: "shellcheck", keep: true},
	{tool: "shellcheck", has: " SC", pattern: `\s*\^-*\^? (?P<rule>SC\d+) \({word}\): {msg}`, block: "shellcheck"},

	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[CWEFRIA]): (?:\[(?:Correctable|Corrected|Todo)\] )?(?P<rule>[A-Z]\w*(?:/\w+)+): {msg}`},
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[EF]): {msg}`},
	{tool: "rubocop", has: "== ", pattern: `== {file} ==`, sure: true, block: "rubocop", keep: true},
	{tool: "rubocop", pattern: `(?P<level>[CWEFRIA]):\s*{line}:\s*{col}: (?:\[(?:Correctable|Corrected|Todo)\] )?(?:(?P<rule>[A-Z]\w*(?:/\w+)+): )?{msg}`, block: "rubocop"},

	{tool: "phpcs", has: " - ", pattern: `{file}:{line}:{col}: (?P<level>error|warning) - {msg}`},
	{tool: "phpcs", has: "FILE: ", pattern: `FILE: {file}`, sure: true, block: "phpcs", keep: true},
	{tool: "phpcs", has: "|", pattern: `\s+{line} \| (?P<level>ERROR|WARNING) \| (?:\[[x ]\] )?{msg}`, block: "phpcs"},
	{tool: "phpstan", has: "Line ", pattern: `\s+Line\s+{file}(?: \(in context of .*\))?`, block: "phpstan", keep: true},
	{tool: "phpstan", pattern: `\s{1,3}{line}\s{2,}{msg}`, block: "phpstan", level: metric.Error, more: true},
	{tool: "phpstan", has: ".php:", pattern: `{file}:{line}:(?P<msg>[A-Z].*)`, level: metric.Error},
	{tool: "php", has: " on line ", pattern: `.*?(?:PHP )?(?P<level>Fatal error|Parse error|Warning|Notice|Deprecated|Catchable fatal error|Recoverable fatal error):\s+{msg} in (?P<file>\S.*?) on line {line}`, levels: phpLevels, sure: true},
	{tool: "php", has: "SOAP-ERROR", pattern: `PHP (?P<level>Fatal error): {msg}`, levels: phpLevels},
	{tool: "sqlfluff", has: "== [", pattern: `== \[{file}\] FAIL`, sure: true, block: "sqlfluff", keep: true},
	{tool: "sqlfluff", has: "L:", pattern: `L:\s*{line} \| P:\s*{col} \|\s*{rule} \| {msg}`, block: "sqlfluff", more: true},
}

// phpLevels are the words of PHP.
var phpLevels = map[string]metric.Level{
	"fatal error": metric.Error, "parse error": metric.Error, "catchable fatal error": metric.Error, "recoverable fatal error": metric.Error,
	"warning": metric.Warning, "notice": metric.Note, "deprecated": metric.Note,
}

// ruffName is the name of a rule, which preview prints in place of its code.
const ruffName = `(?P<rule>[a-z]+(?:-[a-z0-9]+)+|unformatted)`

// pythonForms are those of Python.
var pythonForms = []lineForm{
	{tool: "mypy", pattern: `{file}\.pyi?: (?P<level>note): (?:In |At ).*:`, skip: true},
	{tool: "mypy", has: ".py", pattern: `{py}:{line}(?::{col}(?::\d+:\d+)?)?: (?P<level>error|note): {msg}  \[{rule}\]`},
	{tool: "mypy", has: ".py", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.pyi?)(?::{line}(?::{col}(?::\d+:\d+)?)?)?: (?P<level>error|note): {msg}`, more: true},
	{tool: "pyright", has: " - ", pattern: `\s+{file}:{line}:{col} - {word}: {msg}`, typed: true, more: true},
	{tool: "pyright", has: ": error: ", pattern: `\s+{file}: (?P<level>error|warning): {msg}`, typed: true, more: true},
	{tool: "pylint", pattern: `{file}:{line}(?::{col})?: (?P<level>[CRWEFI])\d{4}: {msg} \({rule}\)`, levels: pylintLetters, from0: true},
	{tool: "pylint", has: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, from0: true},
	{tool: "pylint", has: "[", pattern: `{file}\({line}\): \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, from0: true},
	{tool: "pylint", has: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])(?:\d{4})?,[^\]]*\] {msg}`, levels: pylintLetters, from0: true},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: \[{rule}\] {msg}`, level: metric.Error},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?):? {msg} \((?P<level>warning)\)`},
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?|[a-z]+\[[\w-]+\]):? {msg}`, level: metric.Error},
	{tool: "bandit", has: "[bandit]", pattern: `{file}:{line}: (?P<rule>B\d+)\[bandit\]: (?P<level>\w+): {msg}`},
	{tool: "bandit", has: ">> Issue: [", pattern: `>> Issue: \[(?P<rule>[^\]:]*)[^\]]*\] {msg}`, block: "bandit", keep: true},
	{tool: "flake8", has: "[", pattern: `{file}:{line}: \[{rule}\] {msg}`, level: metric.Error},
	{tool: "flake8", pattern: `{file}:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "flake8", has: ":cell ", pattern: `{file}:cell \d+:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "ruff", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.(?:pyi?|ipynb)):{line}:{col}: ` + ruffName + `: (?:\[\*\] )?{msg}`, level: metric.Error},
	{tool: "pydocstyle", pattern: `{file}:{line} (?:in|at) .*:`, block: "pydocstyle", keep: true},
	{tool: "pydocstyle", pattern: `\s+(?P<rule>D\d+): {msg}`, block: "pydocstyle", level: metric.Error, once: true},
	{tool: "bandit", has: "Severity: ", pattern: `\s+Severity: (?P<level>\w+)\s+Confidence: .*`, block: "bandit", keep: true, join: true},
	{tool: "bandit", has: "Location: ", pattern: `\s+Location: {file}:{line}:{col}`, block: "bandit", once: true, from0: true},
	{tool: "black", has: "would reformat ", pattern: `would reformat (?P<file>\S.*)`, level: metric.Warning, sure: true},
	{tool: "black", has: "cannot format ", pattern: `error: cannot format {file}: (?P<msg>Cannot parse: {line}:{col}: .*)`, level: metric.Error},
	{tool: "black", has: "cannot ", pattern: `error: cannot (?:parse|format):? {file}:(?:{line}:{col})?{msg}`, level: metric.Error},
	{tool: "isort", has: "Imports are incorrectly", pattern: `ERROR: (?P<file>.*) (?P<msg>Imports are incorrectly sorted.*)`, level: metric.Error, sure: true},
}

// pylintLetters are the first letters of its messages.
var pylintLetters = map[string]metric.Level{
	"c": metric.Note, "r": metric.Note, "i": metric.Note, "w": metric.Warning, "e": metric.Error, "f": metric.Error,
}
