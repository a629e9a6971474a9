package linttext

import (
	"supervise/metric"
)

// javaForms are those of Java, Kotlin and Scala, and of their build tools.
var javaForms = []lineForm{
	{tool: "error-prone", pattern: `{file}:\[{line},{col}\] \[(?P<rule>[A-Z]\w+)\] {msg}`, outer: true},
	{tool: "checkstyle", pattern: `{file}:\[{line}(?:,{col})?\] \(\w+\) (?P<rule>\w+): {msg}`, outer: true},
	{tool: "spotbugs", has: ".java", pattern: `(?P<level>High|Medium|Low): {msg} \[[^\]]*\] .*?(?P<file>\w+\.java)(?::\[lines? {line}(?:-\d+)?\].*)? (?P<rule>[A-Z][A-Z0-9_]+)`, outer: true},
	{tool: "javac", pattern: `{file}:\[{line},{col}\] (?:\[{rule}\] )?{msg}`, typed: true, outer: true, more: true},
	{tool: "kotlinc", has: ".kt", pattern: `(?P<file>.+\.kts?): \({line}, {col}\):? {msg}`, typed: true, outer: true},
	{tool: "kotlinc", has: ".kt", pattern: `(?P<level>[ew]): (?P<file>.+?\.kts?):(?: \(|){line}(?:, |:){col}\)?:? {msg}`, typed: true, sure: true},
	{tool: "checkstyle", has: ".java:", pattern: `(?P<file>.+\.java):{line}(?::{col})?: {msg} \[(?P<rule>[A-Z]\w+)\]`, outer: true},
	{tool: "javadoc", has: " - ", pattern: `{file}:{line}:\s?(?P<level>warning|error) - {msg}`},
	{tool: "javadoc", has: "javadoc: ", pattern: `javadoc: (?P<level>warning|error) - {msg}`},
	{tool: "javadoc", has: ".java:", pattern: `(?:Exit code: \d+ - )?{file}:{line}: (?P<level>warning|error): {msg}`, outer: true},
	{tool: "error-prone", has: ".java:", pattern: `(?P<file>.*\.java):{line}: (?P<level>warning|error): \[(?P<rule>[A-Z]\w+)\] {msg}`, more: true},
	{tool: "javac", has: ".java:", pattern: `(?P<file>.*\.java):{line}(?::{col})?: (?P<level>warning|error|Note): (?:\[{rule}\] )?{msg}`, typed: true, more: true},
	{tool: "javac", has: "compiler.", pattern: `{file}:{line}:{col}: compiler\.(?P<level>err|warn|note)\.(?P<rule>[\w.]+): {msg}`, typed: true, levels: map[string]metric.Level{"err": metric.Error}},
	{tool: "javac", pattern: `(?P<level>warning|error): \[{rule}\] {msg}`, typed: true},
	{tool: "javac", pattern: `(?P<level>error): (?P<msg>warnings found and -Werror specified)`, typed: true},
	{tool: "ecj", has: "(at line", pattern: `\d+\. (?P<level>ERROR|WARNING|INFO) in (?P<file>.+?) \(at line {line}\)`, sure: true, typed: true},
}

// netForms are those of MSBuild and of the compilers that it starts.
var netForms = []lineForm{
	{tool: "cpplint", has: "cpplint:", pattern: `{file}\((?:{line}|None)\): (?P<level>error) cpplint: \[{rule}\] {msg} \[\d\]`, sure: true},
	{tool: "luacheck", has: ".lua(", pattern: `(?P<file>.+\.lua)\({line},{col}\) : (?P<level>warning|error) {rule}: {msg}`},
	{tool: "gtest", has: "error: ", pattern: `{file}[:(]{line}\)?: error: (?:Expected|Value of|Failure|-\[).*`, sure: true, skip: true},
	{has: " note: ", pattern: `\s*{file}\({line}(?:,\d+)?\)\s*: note: {msg}`, sure: true, skip: true},
	{tool: "cpplint", has: "]", pattern: `{file}\({line}\):  {msg}  \[{rule}\] \[\d\]`, sure: true, level: metric.Error},
	{tool: "dcc", has: ") ", pattern: `(?:.*? : (?:warning|error) : )?{file}\({line}\) {word}: (?P<rule>[A-Z]\d{4}) {msg}` + project, sure: true},
	{has: ": ", pattern: `\s*{file} ?\((?:{line}(?:[,-]{col})?(?:[,-]\d+)*)\)\s*:?\s*(?:[A-Z]\w+ )?{word}(?:\s+(?P<rule>#?[A-Za-z0-9][\w-]*))?\s*:\s*{msg}` + project, sure: true},
	{tool: "msbuild", has: " : ", pattern: `\s*(?P<file>[A-Za-z]\w*|(?:[A-Za-z]:)?[^:(]*\.\w+) : (?:[A-Z][a-z]+(?: [a-z]+)? )?{word}(?:\s+(?P<rule>[A-Z]{1,8}\d{1,6}))?\s*: {msg}` + project, sure: true},
	{tool: "msbuild", has: ": ", pattern: `\s*(?P<file>[A-Z]\w*|(?:[A-Za-z]:)?[^:(]*\.\w+): (?:[A-Z][a-z]+ )?{word} (?P<rule>[A-Z]{2,8}\d{0,6})\s*: {msg}` + project, sure: true},
}

// project is what MSBuild prints after a message.
const project = `(?: \[[^\]]*proj(?:::[^\]]*)?\])?`

// otherForms are those of tools of many other languages.
var otherForms = []lineForm{
	{tool: "cmake", has: "CMake ", pattern: `CMake (?P<level>Error|Warning|Warning \(dev\)|Deprecation Warning|Deprecation Error) (?:at|in) (?P<file>[^:]+):(?:{line})?(?: \(\S+\))?:?`, levels: map[string]metric.Level{"deprecation error": metric.Error}},
	{tool: "sphinx", has: "WARNING: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>WARNING): {msg}`, sure: true},
	{tool: "sphinx", has: "ERROR: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>ERROR): {msg}`, sure: true},
	{tool: "sphinx", has: "SEVERE: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>SEVERE): {msg}`, sure: true},
	{tool: "sphinx", has: "CRITICAL: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>CRITICAL): {msg}`, sure: true},
	{tool: "cpplint", has: "]", pattern: `{file}:(?:{line}|None): (?:(?P<level>warning): | ?){msg}  \[{rule}\] \[\d\]`, level: metric.Error},
	{tool: "cppcheck", has: "]: (", pattern: `\[{file}:{line}\](?: -> \[[^\]]*\])*: \({word}\) {msg}`},
	{tool: "cppcheck", has: " +", pattern: `{file} \+{line}: {word}: {msg}`},
	{tool: "dart", has: "|", pattern: `(?P<level>ERROR|WARNING|INFO)\|\w+\|(?P<rule>\w+)\|(?P<file>[^|]+)\|{line}\|{col}\|\d+\|{msg}`, sure: true},
	{tool: "dart", has: " • ", pattern: `\s+(?P<level>error|warning|info|hint) • {msg} • {file}:{line}:{col} • {rule}`, sure: true},
	{tool: "dart", has: " - ", pattern: `\s+(?P<level>error|warning|info|hint) - {file}:{line}:{col} - {msg} - {rule}`, sure: true},
	{tool: "perlcritic", has: "(Severity: ", pattern: `(?:{file}: )?{msg} at line {line}, column {col}\..*\(Severity: (?P<level>[1-5])\)`, levels: perlLevels},
	{tool: "codechecker", pattern: `\[(?P<level>LOW|MEDIUM|HIGH|CRITICAL|STYLE|UNSPECIFIED)\] {file}:{line}:{col}: {msg} \[{rule}\]`},
	{tool: "nagfor", has: ": ", pattern: `(?P<level>Info|Warning|Questionable|Extension|Obsolescent|Deleted feature used|Non-[Ss]tandard|Error|Runtime Error|Fatal Error|Panic)(?:\([\w ]+\))?: (?P<file>\S.*\.[fF]\w*|\S+\.inc)(?:, line {line})?: {msg}`, sure: true},
	{tool: "armcc", has: ", line ", pattern: `{quoted}, line {line}: {word}\s+(?:\(\w+:)?(?P<rule>#?\w+(?:-\w)?)\)?: {msg}`, sure: true},
	{tool: "staticcheck", has: ".go:", pattern: `{go}:{line}:{col}: {msg} \((?P<rule>(?:SA|ST|S|QF|U)\d{4}|compile)\)`},
	{tool: "golangci-lint", has: ".go:", pattern: `{go}:{line}(?::{col})?: {msg} \((?P<rule>[a-z]\w*)\)`, level: metric.Error},
	{tool: "golangci-lint", has: ".go:", pattern: `{go}:{line}:{col}\s{2,}(?P<rule>[a-z]\w*)\s{2,}{msg}`, level: metric.Error},
	{tool: "actionlint", pattern: `(?P<file>\S+\.ya?ml):{line}:{col}: {msg} \[(?P<rule>[a-z][\w-]+)\]`, level: metric.Error},
	{tool: "doxygen", pattern: `(?P<level>[Ww]arning|error|Notice): (?P<msg>(?:Output directory |tag |source |[Dd]oxygen |ignoring unsupported tag |the dot tool).*)`},
	{tool: "ruff", pattern: `(?P<rule>[A-Z]{1,5}\d{2,5})(?: \[\*\])? {msg}`, level: metric.Error, block: "arrow", keep: true},
	{tool: "ruff", pattern: ruffName + `: (?:\[\*\] )?{msg}`, level: metric.Error, block: "arrow", keep: true},
	{tool: "rustc", pattern: `(?P<level>error|warning)(?:\[{rule}\])?: {msg}`, block: "arrow", keep: true},
	{tool: "rustc", has: "--> ", pattern: `\s*--> {file}:(?:cell \d+:)?{line}:{col}`, block: "arrow", once: true},
	{tool: "rustc", has: ".rs:", pattern: `(?P<file>.+\.rs):{line}:{col}: (?P<level>error|warning|note)(?:\[{rule}\])?: {msg}`},
	{tool: "gfortran", pattern: `(?P<file>\S+\.[fF]\d*):{line}(?:[.:]{col}(?:-\d+)?)?:`, block: "gfortran", keep: true},
	{tool: "gfortran", pattern: `(?P<level>Warning|Error|Fatal Error|Internal Error)(?:: | at ){msg}`, block: "gfortran", typed: true, once: true},
	{tool: "erlc", has: "rl:", pattern: `(?P<file>\S+\.[ehxy]rl):{line}(?::{col})?: (?:(?P<level>Warning): )?{msg}`, level: metric.Error, typed: true},
	{tool: "luacheck", has: ".lua:", pattern: `\s*(?P<file>\S.*\.lua):{line}:{col}(?:-\d+)?: (?:\((?P<level>[EW])(?P<rule>\d+)\) )?{msg}`, level: metric.Warning},
	{tool: "semgrep", pattern: `{file}:{line}:{col}:(?P<level>[IWE]):{rule}:{msg}`},
	{tool: "codespell", has: " ==> ", pattern: `{file}:{line}: {msg}`, level: metric.Error},
	{tool: "rustfmt", has: "Diff in ", pattern: `Diff in {file}:{line}:`, sure: true},
}

// perlLevels are the severities of perlcritic, the gravest is 5.
var perlLevels = map[string]metric.Level{"5": metric.Error, "4": metric.Error, "3": metric.Warning, "2": metric.Note, "1": metric.Note}

// nativeForms are those of the compilers of C and of all that print as they do,
// and of linkers.
var nativeForms = []lineForm{
	{tool: "ghc", has: ".hs:", pattern: `(?P<file>.+\.hs):{line}:{col}: {word}:(?: \[{rule}\](?: \[-W.*\])?)?\s*{msg}`, typed: true},
	{tool: "swiftlint", has: ".swift:", pattern: `(?P<file>.+\.swift):{line}:(?:{col}:)? {word}: {msg} \({rule}\)`},
	{has: "note: ", pattern: `{file}:{line}(?::{col})?:\s+note: {msg}`, skip: true},
	{tool: "doxygen", has: ": ", pattern: `{file}:-?{line}:\s*(?P<level>[Ww]arning|error): (?P<msg>.*(?:@\w+|\\\w+|documented|documentation|unknown command|explicit link|resolve reference|end of (?:file|comment|list)|no (?:uniquely )?matching|Reached|while searching).*)`, sure: true, more: true},
	{has: ": ", pattern: `{file}:{line}(?::{col})?(?::(?:\{[-\d:]+\})+)?:\s*{word}(?:\[{rule}\])?:\s*{msg}`},
	{tool: "ld", has: "undefined reference to", pattern: `(?:\S*ld: )?{file}:(?:{line}:|\(\S+\):)? ?(?P<msg>undefined reference to .*)`, typed: true, level: metric.Error},
	{tool: "ld", has: "multiple definition of", pattern: `(?:\S*ld: )?{file}:(?:{line}:|\(\S+\):)? ?(?P<msg>multiple definition of .*)`, typed: true, level: metric.Error},
	{tool: "ld", has: "cannot find", pattern: `(?:\S*/)?ld: (?P<msg>cannot find .*)`, typed: true, level: metric.Error},
	{tool: "ld", has: "ld", pattern: `(?:\S*/)?ld: {word}: {msg}`, typed: true},
	{pattern: `(?P<file>\S+\.(?:yml|yaml|json|toml|lock|md|rb|lua|pl|pm|sh|bash|js|jsx|mjs|cjs|ts|tsx|css|scss|sql|go|proto|kt|kts|swift|ex|exs|xml|html|erb|tf|vue|svelte)):{line}(?::{col})?:\s{0,2}{msg}`, level: metric.Error},
	{pattern: `{file}:{line}(?::{col})?: {msg}`, level: metric.Error, outer: true},
}

// headerForms are the names of files over a list of findings.
var headerForms = []lineForm{
	{pattern: fileLine, block: "stylish", keep: true},
}
