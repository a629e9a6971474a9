package linttext

import (
	"slices"
	"sync"

	"supervise/internal/regexp"
	"supervise/metric"
)

// lineForms returns the forms of lines, the most specific first: the first plausible match
// counts. In the tables of this file and of formscompiler.go, the comment above a form is a
// line that it matches, without what a build tool prints before it.
var lineForms = sync.OnceValue(func() []lineForm {
	return compileForms(slices.Concat(messageForms, scriptForms, pythonForms, javaForms, netForms, otherForms, compilerForms, rareForms, nativeForms, solidityForms, headerForms))
})

var (
	// quotedPairsPattern matches one pair in a message to TeamCity: "message='it|'s unused'".
	quotedPairsPattern = regexp.MustCompile(`(\w+)\s*=\s*'((?:\|.|[^'|])*)'`)
	// commaPairsPattern matches one pair in a message to GitHub: "line=3".
	commaPairsPattern = regexp.MustCompile(`(\w+)=([^,]*)`)
	// semicolonPairsPattern matches one pair in a message to Azure Pipelines: "linenumber=3".
	semicolonPairsPattern = regexp.MustCompile(`(\w+)=([^;]*)`)
)

// messageForms describes the messages to CI servers: TeamCity, GitHub and Azure Pipelines.
var messageForms = []lineForm{
	// ##teamcity[inspection typeId='R1' message='it|'s unused' file='a.c' line='3']
	{contains: "##teamcity[", pattern: `\s*##teamcity\[inspection {pairs}\]`, pairs: quotedPairsPattern, fileIsCertain: true},
	// ::error file=a.py,line=3,col=1::'os' is unused
	{contains: "::", pattern: `\s*::(?P<level>error|warning|notice) (?P<pairs>.*?file=.*?)::{msg}`, pairs: commaPairsPattern, fileIsCertain: true},
	// ##vso[task.logissue type=error;sourcepath=a.cs;linenumber=3;]it is unused
	{contains: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs};\]{msg}`, pairs: semicolonPairsPattern, fileIsCertain: true}, // ] may be part of a path
	// ##vso[task.logissue type=error;sourcepath=a.cs;linenumber=3]it is unused
	{contains: "##vso[", pattern: `\s*##vso\[task\.logissue {pairs}\]{msg}`, pairs: semicolonPairsPattern, fileIsCertain: true},
}

// scriptForms describes the tools for JavaScript, CSS, YAML, Ruby, PHP and shell.
var scriptForms = []lineForm{
	// a.ts(3,2): error TS2304: Cannot find name 'x'.
	{tool: "tsc", contains: " TS", pattern: `{file}\({line},{col}\): (?P<level>error|warning|message) {rule}: {msg}`, fileIsCertain: true, multiline: true},
	// a.ts:3:2 - error TS2304: Cannot find name 'x'.
	{tool: "tsc", contains: " TS", pattern: `{file}:{line}:{col} - (?P<level>error|warning|message) {rule}: {msg}`, fileIsCertain: true, multiline: true},
	// error TS18003: No inputs were found in config file.
	{tool: "tsc", contains: " TS", pattern: `(?P<level>error|warning) (?P<rule>TS\d+): {msg}`, multiline: true},
	// TS2304 [ERROR]: Cannot find name 'x'.
	{tool: "deno", contains: " [", pattern: `(?P<rule>TS\d+) \[(?P<level>ERROR|WARNING)\]: {msg}`, block: "deno", store: true},
	//     at file:///p/a.ts:3:2
	{tool: "deno", contains: "at file://", pattern: `\s+at file://(?P<file>\S+):{line}:{col}`, block: "deno", consume: true, typed: true},
	// [warn] src/a.js
	{tool: "prettier", contains: "[warn] ", pattern: `\[warn\] (?P<file>[^:]*\.\w+)`, level: metric.Warning, withLevelPrefix: true},
	// [error] a.js: SyntaxError: Unexpected token (3:2)
	{tool: "prettier", contains: "[error] ", pattern: `\[error\] {file}: (?P<msg>SyntaxError: .*) \({line}:{col}\)`, level: metric.Error, withLevelPrefix: true},
	// Error ------------------------------ a.js:3:2
	{tool: "flow", contains: "--", pattern: `(?P<level>Error|Warning) -{5,} {file}:{line}:{col}`},

	// a.js: line 3, col 2, Error - 'x' is not defined. (no-undef)
	{tool: "eslint", contains: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>Error|Warning) - {msg}(?: \({rule}\))?`, fileIsCertain: true},
	// a.css: line 3, col 2, error - Unexpected unit (unit-no-unknown)
	{tool: "stylelint", contains: ": line ", pattern: `{file}: line {line}, col {col}, (?P<level>error|warning) - {msg}(?: \({rule}\))?`, fileIsCertain: true},
	// a.js:3:2: 'x' is not defined. [Error/no-undef]
	{tool: "eslint", contains: "[", pattern: `{file}:{line}:{col}: {msg} \[(?P<level>Error|Warning)(?:/{rule})?\]`},
	// a.css:3:2: Unexpected unit (unit-no-unknown) [error]
	{tool: "stylelint", contains: "[", pattern: `{file}:{line}:{col}: {msg}(?: \({rule}\))? \[(?P<level>error|warning)\]`},
	// a.yaml:3:2: [error] trailing spaces (trailing-spaces)
	{tool: "yamllint", contains: "[", pattern: `{file}:{line}:{col}: \[(?P<level>error|warning)\] {msg}(?: \({rule}\))?`},
	//   3:2       error    trailing spaces  (trailing-spaces)
	{tool: "yamllint", contains: ")", pattern: `\s+{line}:{col}\s+(?P<level>error|warning)\s+{msg}\s+\({rule}\)`, block: "stylish"},
	//   3:2  ✖  Unexpected unit  unit-no-unknown
	{tool: "stylelint", pattern: `\s+{line}:{col}\s+(?P<level>[✖×⚠‼ℹ])\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	//   3:2  error  'x' is not defined  no-undef
	{tool: "eslint", pattern: `\s+{line}:{col}\s+(?P<level>error|warning|info)\s+{msg}(?:\s{2,}{rule})?`, block: "stylish"},
	//   (3, 2)  SA4006  this value of x is never used
	{tool: "staticcheck", contains: "(", pattern: `\s+\({line}, {col}\)\s+{rule}\s+{msg}`, block: "stylish"},
	//   3:1 F401 [*] 'os' imported but unused
	{tool: "ruff", pattern: `\s+{line}:{col}\s+(?P<rule>[A-Z]+\d+) (?:\[\*\] )?{msg}`, block: "stylish"},
	//   3:1 unused-import: 'os' imported but unused
	{tool: "ruff", pattern: `\s+{line}:{col} ` + ruffName + `(?: \[\*\]|:) {msg}`, level: metric.Error, block: "stylish"},

	// × a.js:3:2: lint/suspicious/noDebugger: remove this statement
	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}:{line}:{col}: (?P<rule>(?:lint|assist|plugin|suppressions)/[\w/]+|plugin|parse|syntax|format): {msg}`},
	// × a.js: format: the file is not formatted
	{tool: "biome", pattern: `(?P<level>[i!×✖]) {file}: (?P<rule>format|organizeImports|assist\S*): {msg}`},
	// a.js:3:2 lint/suspicious/noDebugger ━━━━━━━━━━
	{tool: "biome", contains: "━━━", pattern: `{file}(?::{line}:{col})? {rule}\s.*━{3,}`, block: "biome", store: true},
	//   × This is an unexpected statement.
	{tool: "biome", pattern: `  (?P<level>[×✖!i]) {msg}`, block: "biome", consume: true},
	//   × eslint(no-debugger): `debugger` is not allowed
	{tool: "oxlint", pattern: `\s+(?P<level>[×⚠!x]) (?P<rule>[\w@/-]+\([\w@/-]+\)): {msg}`, block: "oxlint", store: true},
	//   × Unexpected token
	{tool: "oxlint", pattern: `  (?P<level>[×⚠!x]) (?P<msg>[A-Z\x60].*)`, block: "oxlint", store: true},
	//    ,-[a.js:3:2]
	{tool: "oxlint", contains: "[", pattern: `\s+[,╭][-─]\[{file}:{line}:{col}\].*`, block: "oxlint", consume: true},
	// a.md:3:2 MD009/no-trailing-spaces Trailing spaces
	{tool: "markdownlint", contains: " MD", pattern: `{file}:{line}(?::{col})? (?:(?P<level>error|warning) )?(?P<rule>MD\d+)\S* {msg}`},

	// hadolint:a/Dockerfile:3: DL3008 warning: Pin versions in apt get install.
	{tool: "hadolint", pattern: `hadolint:{file}:{line}: (?P<rule>[A-Z]+\d+) {word}: {msg}`, fileIsCertain: true},
	// hadolint:a/Dockerfile:3:2: unexpected 'x'
	{tool: "hadolint", contains: "hadolint:", pattern: `hadolint:{file}:{line}:{col}: {msg}`, fileIsCertain: true},
	// a/Dockerfile:3 DL3008 warning: Pin versions in apt get install.
	{tool: "hadolint", pattern: `{file}:{line}(?::{col})? (?P<rule>(?:DL|SC)\d+) {word}: {msg}`, fileIsCertain: true},
	// a/Dockerfile:3:2 unexpected 'x'
	{tool: "hadolint", contains: "unexpected", pattern: `{file}:{line}:{col} (?P<msg>unexpected .*)`},
	// a.sh:3:2: note: Double quote to prevent globbing. [SC2086]
	{tool: "shellcheck", contains: "[SC", pattern: `{file}:{line}:{col}: {word}: {msg} \[(?P<rule>SC\d+)\]`},
	// In a.sh line 3:
	{tool: "shellcheck", contains: "In ", pattern: `In {file} line {line}:`, fileIsCertain: true, block: "shellcheck", store: true},
	//      ^--^ SC2086 (info): Double quote to prevent globbing.
	{tool: "shellcheck", contains: " SC", pattern: `\s*\^-*\^? (?P<rule>SC\d+) \({word}\): {msg}`, block: "shellcheck"},

	// a.rb:3:2: C: [Correctable] Style/StringLiterals: Prefer single quotes.
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[CWEFRIA]): (?:\[(?:Correctable|Corrected|Todo)\] )?(?P<rule>[A-Z]\w*(?:/\w+)+): {msg}`},
	// a.rb:3:2: F: unexpected token $end
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[EF]): {msg}`},
	// == a.rb ==
	{tool: "rubocop", contains: "== ", pattern: `== {file} ==`, fileIsCertain: true, block: "rubocop", store: true},
	// C:  3:  2: [Correctable] Style/StringLiterals: Prefer single quotes.
	{tool: "rubocop", pattern: `(?P<level>[CWEFRIA]):\s*{line}:\s*{col}: (?:\[(?:Correctable|Corrected|Todo)\] )?(?:(?P<rule>[A-Z]\w*(?:/\w+)+): )?{msg}`, block: "rubocop"},

	// a.php:3:2: error - Missing file doc comment
	{tool: "phpcs", contains: " - ", pattern: `{file}:{line}:{col}: (?P<level>error|warning) - {msg}`},
	// FILE: /p/a.php
	{tool: "phpcs", contains: "FILE: ", pattern: `FILE: {file}`, fileIsCertain: true, block: "phpcs", store: true},
	//   3 | ERROR | [x] Missing file doc comment
	{tool: "phpcs", contains: "|", pattern: `\s+{line} \| (?P<level>ERROR|WARNING) \| (?:\[[x ]\] )?{msg}`, block: "phpcs"},
	//   Line   a.php
	{tool: "phpstan", contains: "Line ", pattern: `\s+Line\s+{file}(?: \(in context of .*\))?`, block: "phpstan", store: true},
	//   3      Undefined variable: $x
	{tool: "phpstan", pattern: `\s{1,3}{line}\s{2,}{msg}`, block: "phpstan", level: metric.Error, multiline: true},
	// a.php:3:Undefined variable: $x
	{tool: "phpstan", contains: ".php:", pattern: `{file}:{line}:(?P<msg>[A-Z].*)`, level: metric.Error},
	// PHP Parse error:  syntax error, unexpected end of file in a.php on line 3
	{tool: "php", contains: " on line ", pattern: `.*?(?:PHP )?(?P<level>Fatal error|Parse error|Warning|Notice|Deprecated|Catchable fatal error|Recoverable fatal error):\s+{msg} in (?P<file>\S.*?) on line {line}`, levels: phpLevels, fileIsCertain: true},
	// PHP Fatal error: SOAP-ERROR: Parsing WSDL
	{tool: "php", contains: "SOAP-ERROR", pattern: `PHP (?P<level>Fatal error): {msg}`, levels: phpLevels},
	// == [a.sql] FAIL
	{tool: "sqlfluff", contains: "== [", pattern: `== \[{file}\] FAIL`, fileIsCertain: true, block: "sqlfluff", store: true},
	// L:   3 | P:   2 | LT01 | Expected only single space.
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
	// a.pyi: note: In function "f":
	{tool: "mypy", pattern: `{file}\.pyi?: (?P<level>note): (?:In |At ).*:`, ignore: true},
	// a.py:3:2: error: Name "x" is not defined  [name-defined]
	{tool: "mypy", contains: ".py", pattern: `{py}:{line}(?::{col}(?::\d+:\d+)?)?: (?P<level>error|note): {msg}  \[{rule}\]`},
	// a.py:3: note: Revealed type is "int"
	{tool: "mypy", contains: ".py", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.pyi?)(?::{line}(?::{col}(?::\d+:\d+)?)?)?: (?P<level>error|note): {msg}`, multiline: true},
	//   /p/a.py:3:2 - error: "x" is not defined
	{tool: "pyright", contains: " - ", pattern: `\s+{file}:{line}:{col} - {word}: {msg}`, typed: true, multiline: true},
	//   /p/a.py: error: File is too large
	{tool: "pyright", contains: ": error: ", pattern: `\s+{file}: (?P<level>error|warning): {msg}`, typed: true, multiline: true},
	// a.py:3:0: C0114: Missing module docstring (missing-module-docstring)
	{tool: "pylint", pattern: `{file}:{line}(?::{col})?: (?P<level>[CRWEFI])\d{4}: {msg} \({rule}\)`, levels: pylintLetters, columnsFromZero: true},
	// a.py:3: [C0114(missing-module-docstring), ] Missing module docstring
	{tool: "pylint", contains: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	// a.py(3): [C0114(missing-module-docstring), ] Missing module docstring
	{tool: "pylint", contains: "[", pattern: `{file}\({line}\): \[(?P<level>[CRWEFI])\d{4}\({rule}\)[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	// a.py:3: [C, f] Missing docstring
	{tool: "pylint", contains: "[", pattern: `{file}:{line}: \[(?P<level>[CRWEFI])(?:\d{4})?,[^\]]*\] {msg}`, levels: pylintLetters, columnsFromZero: true},
	// a.yml:3: [E301] Commands should not change things
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: \[{rule}\] {msg}`, level: metric.Error},
	// a.yml:3: no-changed-when: Commands should not change things. (warning)
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?):? {msg} \((?P<level>warning)\)`},
	// a.yml:3: name[missing]: All tasks should be named.
	{tool: "ansible-lint", pattern: `(?P<file>\S+\.ya?ml):{line}(?::{col})?: (?P<rule>[a-z]+(?:-[a-z]+)+(?:\[[\w-]+\])?|[a-z]+\[[\w-]+\]):? {msg}`, level: metric.Error},
	// a.py:3: B101[bandit]: LOW: Use of assert detected.
	{tool: "bandit", contains: "[bandit]", pattern: `{file}:{line}: (?P<rule>B\d+)\[bandit\]: (?P<level>\w+): {msg}`},
	// >> Issue: [B101:assert_used] Use of assert detected.
	{tool: "bandit", contains: ">> Issue: [", pattern: `>> Issue: \[(?P<rule>[^\]:]*)[^\]]*\] {msg}`, block: "bandit", store: true},
	// a.py:3: [F401] 'os' imported but unused
	{tool: "flake8", contains: "[", pattern: `{file}:{line}: \[{rule}\] {msg}`, level: metric.Error},
	// a.py:3:1: F401 'os' imported but unused
	{tool: "flake8", pattern: `{file}:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	// a.ipynb:cell 1:3:1: F401 'os' imported but unused
	{tool: "flake8", contains: ":cell ", pattern: `{file}:cell \d+:{line}(?::{col})?: (?P<rule>[A-Z]{1,5}\d{1,5}) (?:\[\*\] )?{msg}`, level: metric.Error},
	// a.py:3:1: unused-import: [*] 'os' imported but unused
	{tool: "ruff", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]*\.(?:pyi?|ipynb)):{line}:{col}: ` + ruffName + `: (?:\[\*\] )?{msg}`, level: metric.Error},
	// a.py:3 in public function `f`:
	{tool: "pydocstyle", pattern: `{file}:{line} (?:in|at) .*:`, block: "pydocstyle", store: true},
	//         D103: Missing docstring in public function
	{tool: "pydocstyle", pattern: `\s+(?P<rule>D\d+): {msg}`, block: "pydocstyle", level: metric.Error, consume: true},
	//    Severity: Low   Confidence: High
	{tool: "bandit", contains: "Severity: ", pattern: `\s+Severity: (?P<level>\w+)\s+Confidence: .*`, block: "bandit", store: true, mergeStored: true},
	//    Location: ./a.py:3:4
	{tool: "bandit", contains: "Location: ", pattern: `\s+Location: {file}:{line}:{col}`, block: "bandit", consume: true, columnsFromZero: true},
	// would reformat a.py
	{tool: "black", contains: "would reformat ", pattern: `would reformat (?P<file>\S.*)`, level: metric.Warning, fileIsCertain: true},
	// error: cannot format a.py: Cannot parse: 3:2: def f(
	{tool: "black", contains: "cannot format ", pattern: `error: cannot format {file}: (?P<msg>Cannot parse: {line}:{col}: .*)`, level: metric.Error},
	// error: cannot format a.py: INTERNAL
	{tool: "black", contains: "cannot ", pattern: `error: cannot (?:parse|format):? {file}:(?:{line}:{col})?{msg}`, level: metric.Error},
	// ERROR: /p/a.py Imports are incorrectly sorted and/or formatted.
	{tool: "isort", contains: "Imports are incorrectly", pattern: `ERROR: (?P<file>.*) (?P<msg>Imports are incorrectly sorted.*)`, level: metric.Error, fileIsCertain: true},
}

// pylintLetters maps the first letters of the message codes of pylint.
var pylintLetters = map[string]metric.Level{
	"c": metric.Note, "r": metric.Note, "i": metric.Note, "w": metric.Warning, "e": metric.Error, "f": metric.Error,
}
