package linttext

import (
	"supervise/metric"
)

// javaForms describes the tools for Java, Kotlin and Scala, and their build tools.
var javaForms = []lineForm{
	// /p/a.java:[3,2] [UnusedVariable] The variable 'x' is never read.
	{tool: "error-prone", pattern: `{file}:\[{line},{col}\] \[(?P<rule>[A-Z]\w+)\] {msg}`, needsLevelPrefix: true},
	// a.java:[3,2] (javadoc) JavadocMethod: Missing a Javadoc comment.
	{tool: "checkstyle", pattern: `{file}:\[{line}(?:,{col})?\] \(\w+\) (?P<rule>\w+): {msg}`, needsLevelPrefix: true},
	// High: x may be null [p.A] Dereferenced at A.java:[line 3] NP_NULL
	{tool: "spotbugs", contains: ".java", pattern: `(?P<level>High|Medium|Low): {msg} \[[^\]]*\] .*?(?P<file>\w+\.java)(?::\[lines? {line}(?:-\d+)?\].*)? (?P<rule>[A-Z][A-Z0-9_]+)`, needsLevelPrefix: true},
	// /p/a.java:[3,2] cannot find symbol
	{tool: "javac", pattern: `{file}:\[{line},{col}\] (?:\[{rule}\] )?{msg}`, typed: true, needsLevelPrefix: true, multiline: true},
	// /p/a.kt: (3, 2) Unresolved reference: x
	{tool: "kotlinc", contains: ".kt", pattern: `(?P<file>.+\.kts?): \({line}, {col}\):? {msg}`, typed: true, needsLevelPrefix: true},
	// e: /p/a.kt: (3, 2): Unresolved reference: x
	{tool: "kotlinc", contains: ".kt", pattern: `(?P<level>[ew]): (?P<file>.+?\.kts?):(?: \(|){line}(?:, |:){col}\)?:? {msg}`, typed: true, fileIsCertain: true},
	// /p/a.java:3:2: Missing a Javadoc comment. [MissingJavadocMethod]
	{tool: "checkstyle", contains: ".java:", pattern: `(?P<file>.+\.java):{line}(?::{col})?: {msg} \[(?P<rule>[A-Z]\w+)\]`, needsLevelPrefix: true},
	// /p/a.java:3: warning - @param argument "x" is not a parameter name.
	{tool: "javadoc", contains: " - ", pattern: `{file}:{line}:\s?(?P<level>warning|error) - {msg}`},
	// javadoc: warning - No source files for package p
	{tool: "javadoc", contains: "javadoc: ", pattern: `javadoc: (?P<level>warning|error) - {msg}`},
	// Exit code: 1 - /p/a.java:3: error: reference not found
	{tool: "javadoc", contains: ".java:", pattern: `(?:Exit code: \d+ - )?{file}:{line}: (?P<level>warning|error): {msg}`, needsLevelPrefix: true},
	// a.java:3: warning: [UnusedVariable] The variable 'x' is never read.
	{tool: "error-prone", contains: ".java:", pattern: `(?P<file>.*\.java):{line}: (?P<level>warning|error): \[(?P<rule>[A-Z]\w+)\] {msg}`, multiline: true},
	// a.java:3: error: cannot find symbol
	{tool: "javac", contains: ".java:", pattern: `(?P<file>.*\.java):{line}(?::{col})?: (?P<level>warning|error|Note): (?:\[{rule}\] )?{msg}`, typed: true, multiline: true},
	// a.java:3:2: compiler.err.cant.resolve: x
	{tool: "javac", contains: "compiler.", pattern: `{file}:{line}:{col}: compiler\.(?P<level>err|warn|note)\.(?P<rule>[\w.]+): {msg}`, typed: true, levels: map[string]metric.Level{"err": metric.Error}},
	// warning: [options] source value 8 is obsolete
	{tool: "javac", pattern: `(?P<level>warning|error): \[{rule}\] {msg}`, typed: true},
	// error: warnings found and -Werror specified
	{tool: "javac", pattern: `(?P<level>error): (?P<msg>warnings found and -Werror specified)`, typed: true},
	// 1. ERROR in /p/a.java (at line 3)
	{tool: "ecj", contains: "(at line", pattern: `\d+\. (?P<level>ERROR|WARNING|INFO) in (?P<file>.+?) \(at line {line}\)`, fileIsCertain: true, typed: true},
}

// netForms describes MSBuild and the compilers that it runs.
var netForms = []lineForm{
	// a.cc(3): error cpplint: [whitespace/tab] Tab found [1]
	{tool: "cpplint", contains: "cpplint:", pattern: `{file}\((?:{line}|None)\): (?P<level>error) cpplint: \[{rule}\] {msg} \[\d\]`, fileIsCertain: true},
	// a.lua(3,2) : warning W111: setting non-standard global variable x
	{tool: "luacheck", contains: ".lua(", pattern: `(?P<file>.+\.lua)\({line},{col}\) : (?P<level>warning|error) {rule}: {msg}`},
	// a.cc:3: error: Expected equality of these values:
	{tool: "gtest", contains: "error: ", pattern: `{file}[:(]{line}\)?: error: (?:Expected|Value of|Failure|-\[).*`, fileIsCertain: true, ignore: true},
	// a.c(3): note: see declaration of 'x'
	{contains: " note: ", pattern: `\s*{file}\({line}(?:,\d+)?\)\s*: note: {msg}`, fileIsCertain: true, ignore: true},
	// a.cc(3):  Tab found; better to use spaces  [whitespace/tab] [1]
	{tool: "cpplint", contains: "]", pattern: `{file}\({line}\):  {msg}  \[{rule}\] \[\d\]`, fileIsCertain: true, level: metric.Error},
	// a.pas(3) error: E2003 Undeclared identifier: 'x'
	{tool: "dcc", contains: ") ", pattern: `(?:.*? : (?:warning|error) : )?{file}\({line}\) {word}: (?P<rule>[A-Z]\d{4}) {msg}` + msbuildProject, fileIsCertain: true},
	// a.cs(3,2): error CS0103: The name 'x' does not exist [/p/a.csproj]
	{contains: ": ", pattern: `\s*{file} ?\((?:{line}(?:[,-]{col})?(?:[,-]\d+)*)\)\s*:?\s*(?:[A-Z]\w+ )?{word}(?:\s+(?P<rule>#?[A-Za-z0-9][\w-]*))?\s*:\s*{msg}` + msbuildProject, fileIsCertain: true},
	// LINK : fatal error LNK1104: cannot open file 'a.lib'
	{tool: "msbuild", contains: " : ", pattern: `\s*(?P<file>[A-Za-z]\w*|(?:[A-Za-z]:)?[^:(]*\.\w+) : (?:[A-Z][a-z]+(?: [a-z]+)? )?{word}(?:\s+(?P<rule>[A-Z]{1,8}\d{1,6}))?\s*: {msg}` + msbuildProject, fileIsCertain: true},
	// CSC: error CS5001: Program does not contain a static 'Main' method
	{tool: "msbuild", contains: ": ", pattern: `\s*(?P<file>[A-Z]\w*|(?:[A-Za-z]:)?[^:(]*\.\w+): (?:[A-Z][a-z]+ )?{word} (?P<rule>[A-Z]{2,8}\d{0,6})\s*: {msg}` + msbuildProject, fileIsCertain: true},
}

// msbuildProject matches the project that MSBuild prints after a message: " [a.csproj]".
const msbuildProject = `(?: \[[^\]]*proj(?:::[^\]]*)?\])?`

// otherForms describes the tools for many other languages.
var otherForms = []lineForm{
	// CMake Error at CMakeLists.txt:3 (find_package):
	{tool: "cmake", contains: "CMake ", pattern: `CMake (?P<level>Error|Warning|Warning \(dev\)|Deprecation Warning|Deprecation Error) (?:at|in) (?P<file>[^:]+):(?:{line})?(?: \(\S+\))?:?`, levels: map[string]metric.Level{"deprecation error": metric.Error}},
	// /p/a.rst:3: WARNING: Title underline too short.
	{tool: "sphinx", contains: "WARNING: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>WARNING): {msg}`, fileIsCertain: true},
	// /p/a.rst:3: ERROR: Unknown directive type "x".
	{tool: "sphinx", contains: "ERROR: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>ERROR): {msg}`, fileIsCertain: true},
	// /p/a.rst:3: SEVERE: Unexpected section title.
	{tool: "sphinx", contains: "SEVERE: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>SEVERE): {msg}`, fileIsCertain: true},
	// /p/a.rst:3: CRITICAL: Unexpected section title.
	{tool: "sphinx", contains: "CRITICAL: ", pattern: `(?P<file>(?:[A-Za-z]:)?[^:]+)(?::docstring of [^:]+(?::[^:\s]+)*?)?:(?:{line}|None|:)?:? (?P<level>CRITICAL): {msg}`, fileIsCertain: true},
	// a.cc:3:  Tab found; better to use spaces  [whitespace/tab] [1]
	{tool: "cpplint", contains: "]", pattern: `{file}:(?:{line}|None): (?:(?P<level>warning): | ?){msg}  \[{rule}\] \[\d\]`, level: metric.Error},
	// [a.c:3]: (error) Null pointer dereference
	{tool: "cppcheck", contains: "]: (", pattern: `\[{file}:{line}\](?: -> \[[^\]]*\])*: \({word}\) {msg}`},
	// a.c +3: error: Null pointer dereference
	{tool: "cppcheck", contains: " +", pattern: `{file} \+{line}: {word}: {msg}`},
	// ERROR|STATIC_WARNING|UNDEFINED_IDENTIFIER|/p/a.dart|3|2|1|Undefined name 'x'.
	{tool: "dart", contains: "|", pattern: `(?P<level>ERROR|WARNING|INFO)\|\w+\|(?P<rule>\w+)\|(?P<file>[^|]+)\|{line}\|{col}\|\d+\|{msg}`, fileIsCertain: true},
	//   error • Undefined name 'x' • a.dart:3:2 • undefined_identifier
	{tool: "dart", contains: " • ", pattern: `\s+(?P<level>error|warning|info|hint) • {msg} • {file}:{line}:{col} • {rule}`, fileIsCertain: true},
	//   error - a.dart:3:2 - Undefined name 'x'. - undefined_identifier
	{tool: "dart", contains: " - ", pattern: `\s+(?P<level>error|warning|info|hint) - {file}:{line}:{col} - {msg} - {rule}`, fileIsCertain: true},
	// a.pl: Code before strictures are enabled at line 3, column 2.  See page 429.  (Severity: 5)
	{tool: "perlcritic", contains: "(Severity: ", pattern: `(?:{file}: )?{msg} at line {line}, column {col}\..*\(Severity: (?P<level>[1-5])\)`, levels: perlLevels},
	// [HIGH] a.c:3:2: Dereference of null pointer [core.NullDereference]
	{tool: "codechecker", pattern: `\[(?P<level>LOW|MEDIUM|HIGH|CRITICAL|STYLE|UNSPECIFIED)\] {file}:{line}:{col}: {msg} \[{rule}\]`},
	// Error: a.f90, line 3: Implicit type for X
	{tool: "nagfor", contains: ": ", pattern: `(?P<level>Info|Warning|Questionable|Extension|Obsolescent|Deleted feature used|Non-[Ss]tandard|Error|Runtime Error|Fatal Error|Panic)(?:\([\w ]+\))?: (?P<file>\S.*\.[fF]\w*|\S+\.inc)(?:, line {line})?: {msg}`, fileIsCertain: true},
	// "a.c", line 3: error #20: identifier "x" is undefined
	{tool: "armcc", contains: ", line ", pattern: `{quoted}, line {line}: {word}\s+(?:\(\w+:)?(?P<rule>#?\w+(?:-\w)?)\)?: {msg}`, fileIsCertain: true},
	// a.go:3:2: this value of x is never used (SA4006)
	{tool: "staticcheck", contains: ".go:", pattern: `{go}:{line}:{col}: {msg} \((?P<rule>(?:SA|ST|S|QF|U)\d{4}|compile)\)`},
	// a.go:3:2: x is unused (unused)
	{tool: "golangci-lint", contains: ".go:", pattern: `{go}:{line}(?::{col})?: {msg} \((?P<rule>[a-z]\w*)\)`, level: metric.Error},
	// a.go:3:2  unused  x is unused
	{tool: "golangci-lint", contains: ".go:", pattern: `{go}:{line}:{col}\s{2,}(?P<rule>[a-z]\w*)\s{2,}{msg}`, level: metric.Error},
	// a.yml:3:2: property "x" is not defined [expression]
	{tool: "actionlint", pattern: `(?P<file>\S+\.ya?ml):{line}:{col}: {msg} \[(?P<rule>[a-z][\w-]+)\]`, level: metric.Error},
	// warning: tag INPUT: input source 'x' does not exist
	{tool: "doxygen", pattern: `(?P<level>[Ww]arning|error|Notice): (?P<msg>(?:Output directory |tag |source |[Dd]oxygen |ignoring unsupported tag |the dot tool).*)`},
	// F401 [*] 'os' imported but unused
	{tool: "ruff", pattern: `(?P<rule>[A-Z]{1,5}\d{2,5})(?: \[\*\])? {msg}`, level: metric.Error, block: "arrow", store: true},
	// unused-import: 'os' imported but unused
	{tool: "ruff", pattern: ruffName + `: (?:\[\*\] )?{msg}`, level: metric.Error, block: "arrow", store: true},
	// error[E0308]: mismatched types
	{tool: "rustc", pattern: `(?P<level>error|warning)(?:\[{rule}\])?: {msg}`, block: "arrow", store: true},
	//   --> src/a.rs:3:2
	{tool: "rustc", contains: "--> ", pattern: `\s*--> {file}:(?:cell \d+:)?{line}:{col}`, block: "arrow", consume: true},
	// src/a.rs:3:2: error[E0308]: mismatched types
	{tool: "rustc", contains: ".rs:", pattern: `(?P<file>.+\.rs):{line}:{col}: (?P<level>error|warning|note)(?:\[{rule}\])?: {msg}`},
	// a.f90:3:2:
	{tool: "gfortran", pattern: `(?P<file>\S+\.[fF]\d*):{line}(?:[.:]{col}(?:-\d+)?)?:`, block: "gfortran", store: true},
	// Error: Symbol 'x' has no IMPLICIT type
	{tool: "gfortran", pattern: `(?P<level>Warning|Error|Fatal Error|Internal Error)(?:: | at ){msg}`, block: "gfortran", typed: true, consume: true},
	// a.erl:3:2: Warning: variable 'X' is unused
	{tool: "erlc", contains: "rl:", pattern: `(?P<file>\S+\.[ehxy]rl):{line}(?::{col})?: (?:(?P<level>Warning): )?{msg}`, level: metric.Error, typed: true},
	//     a.lua:3:2: (W211) unused variable x
	{tool: "luacheck", contains: ".lua:", pattern: `\s*(?P<file>\S.*\.lua):{line}:{col}(?:-\d+)?: (?:\((?P<level>[EW])(?P<rule>\d+)\) )?{msg}`, level: metric.Warning},
	// a.py:3:2:W:python.lang.eqeq:It is always true.
	{tool: "semgrep", pattern: `{file}:{line}:{col}:(?P<level>[IWE]):{rule}:{msg}`},
	// a.txt:3: foo ==> bar
	{tool: "codespell", contains: " ==> ", pattern: `{file}:{line}: {msg}`, level: metric.Error},
	// Diff in /p/a.rs:3:
	{tool: "rustfmt", contains: "Diff in ", pattern: `Diff in {file}:{line}:`, fileIsCertain: true},
}

// perlLevels maps the severities of perlcritic. 5 is the most severe.
var perlLevels = map[string]metric.Level{"5": metric.Error, "4": metric.Error, "3": metric.Warning, "2": metric.Note, "1": metric.Note}

// nativeForms describes the compilers of C, all tools that print in the same style, and
// linkers.
var nativeForms = []lineForm{
	// a.hs:3:2: error: [GHC-88464] Variable not in scope: x
	{tool: "ghc", contains: ".hs:", pattern: `(?P<file>.+\.hs):{line}:{col}: {word}:(?: \[{rule}\](?: \[-W.*\])?)?\s*{msg}`, typed: true},
	// a.swift:3:2: warning: Lines should not have trailing whitespace (trailing_whitespace)
	{tool: "swiftlint", contains: ".swift:", pattern: `(?P<file>.+\.swift):{line}:(?:{col}:)? {word}: {msg} \({rule}\)`},
	// a.c:3:2: note: declared here
	{contains: "note: ", pattern: `{file}:{line}(?::{col})?:\s+note: {msg}`, ignore: true},
	// /p/a.h:3: warning: Member x of class A is not documented.
	{tool: "doxygen", contains: ": ", pattern: `{file}:-?{line}:\s*(?P<level>[Ww]arning|error): (?P<msg>.*(?:@\w+|\\\w+|documented|documentation|unknown command|explicit link|resolve reference|end of (?:file|comment|list)|no (?:uniquely )?matching|Reached|while searching).*)`, fileIsCertain: true, multiline: true},
	// a.c:3:2: error: 'x' undeclared
	{contains: ": ", pattern: `{file}:{line}(?::{col})?(?::(?:\{[-\d:]+\})+)?:\s*{word}(?:\[{rule}\])?:\s*{msg}`},
	// a.c:3: undefined reference to `f'
	{tool: "ld", contains: "undefined reference to", pattern: `(?:\S*ld: )?{file}:(?:{line}:|\(\S+\):)? ?(?P<msg>undefined reference to .*)`, typed: true, level: metric.Error},
	// a.c:(.text+0x5): multiple definition of `f'
	{tool: "ld", contains: "multiple definition of", pattern: `(?:\S*ld: )?{file}:(?:{line}:|\(\S+\):)? ?(?P<msg>multiple definition of .*)`, typed: true, level: metric.Error},
	// /usr/bin/ld: cannot find -lx: No such file or directory
	{tool: "ld", contains: "cannot find", pattern: `(?:\S*/)?ld: (?P<msg>cannot find .*)`, typed: true, level: metric.Error},
	// /usr/bin/ld: warning: a.o: missing .note.GNU-stack section
	{tool: "ld", contains: "ld", pattern: `(?:\S*/)?ld: {word}: {msg}`, typed: true},
	// a.yaml:3:2: mapping values are not allowed
	{pattern: `(?P<file>\S+\.(?:yml|yaml|json|toml|lock|md|rb|lua|pl|pm|sh|bash|js|jsx|mjs|cjs|ts|tsx|css|scss|sql|go|proto|kt|kts|swift|ex|exs|xml|html|erb|tf|vue|svelte)):{line}(?::{col})?:\s{0,2}{msg}`, level: metric.Error},
	// a.java:3: cannot find symbol
	{pattern: `{file}:{line}(?::{col})?: {msg}`, level: metric.Error, needsLevelPrefix: true},
}

// headerForms describes the line with the file before a list of findings.
var headerForms = []lineForm{
	// /p/src/a.js
	{pattern: fileLine, block: "stylish", store: true},
}

// compilerForms describes the compilers of Elixir, OCaml, Nim and Crystal, and the linker of
// LLVM. Messages of Elixir before 1.16 start like those of rustc.
var compilerForms = []lineForm{
	//   lib/a.ex:3: A.f/1
	{tool: "elixir", contains: ".ex", pattern: `\s+(?P<file>\S.*\.exs?):{line}(?::{col})?(?:: .*)?`, block: "arrow", consume: true, typed: true},
	//      warning: variable "x" is unused
	{tool: "elixir", pattern: `\s{4,}(?P<level>warning|error): {msg}`, block: "elixir", store: true},
	//      └─ lib/a.ex:3:2: A.f/1
	{tool: "elixir", contains: "└─ ", pattern: `\s+└─ {file}:{line}(?::{col})?(?:: .*)?`, block: "elixir", consume: true, typed: true},
	// ** (CompileError) lib/a.ex:3: undefined function x/0
	{tool: "elixir", contains: "** (", pattern: `\*\* \((?P<rule>(?:Compile|Syntax|TokenMissing|MismatchedDelimiter)Error)\) {file}:{line}(?::{col})?: {msg}`, level: metric.Error, typed: true, fileIsCertain: true},
	// File "a.ml", line 3, characters 2-5:
	{tool: "ocaml", contains: "File ", pattern: `File {quoted}, lines? {line}(?:-\d+)?(?:, characters {col}-\d+)?:`, block: "ocaml", store: true},
	// Error (warning 26 [unused-var]): unused variable x.
	{tool: "ocaml", contains: "Error", pattern: `(?P<level>Error) \((?:warning (?:\d+ )?|alert )\[?(?P<rule>[\w-]+)\]?\): {msg}`, block: "ocaml", consume: true, columnsFromZero: true, multiline: true},
	// Warning 26 [unused-var]: unused variable x.
	{tool: "ocaml", contains: ": ", pattern: `(?P<level>Warning|Alert) (?:\d+ )?\[?(?P<rule>[\w-]+)\]?: {msg}`, block: "ocaml", consume: true, columnsFromZero: true, multiline: true, levels: map[string]metric.Level{"alert": metric.Warning}},
	// Error: Unbound value x
	{tool: "ocaml", contains: "Error: ", pattern: `(?P<level>Error): {msg}`, block: "ocaml", consume: true, columnsFromZero: true, multiline: true, typed: true},
	// a.nim(3, 2) Error: undeclared identifier: 'x'
	{tool: "nim", contains: ".nim", pattern: `{file}\({line}, {col}\) (?P<level>Hint|Warning|Error): {msg}(?: \[{rule}\])?`, typed: true, fileIsCertain: true},
	// In a.cr:3:2
	{tool: "crystal", contains: "n ", pattern: `(?:Code i|I)n {file}:{line}:{col}`, block: "crystal", store: true},
	// Error: instantiating 'f()'
	{tool: "crystal", contains: "Error: instantiating", pattern: `(?P<level>Error): (?P<msg>instantiating '.*')`, block: "crystal", consume: true, ignore: true},
	// Error: undefined local variable or method 'x'
	{tool: "crystal", contains: ": ", pattern: `(?P<level>Error|Warning): {msg}`, block: "crystal", consume: true, typed: true},
	// ld.lld: error: undefined symbol: f
	{tool: "lld", contains: "l", pattern: `(?:\S*/)?(?:ld\.lld|ld64\.lld|wasm-ld|lld-link|rust-lld|lld)(?:-\d+)?: {word}: {msg}`, typed: true},
}

// solidityForms describes the compiler of Solidity. They are tried late, since they accept
// every line that starts like an error, and only the arrow after it has the place.
var solidityForms = []lineForm{
	//   --> a.sol:3:2:
	{tool: "solc", contains: "--> ", pattern: `\s*--> (?P<file>\S.*\.sol)(?::{line}:{col})?:?`, block: "solc", consume: true, typed: true},
	// Warning (2072): Unused local variable.
	{tool: "solc", contains: ": ", pattern: `(?P<level>Info|Warning|(?:[A-Z][A-Za-z]*)?Error)(?: \((?P<rule>\d{4})\))?: {msg}`, block: "solc", store: true},
}

// rareForms describes less common tools for Ruby, PHP, TypeScript, Haskell and others.
var rareForms = []lineForm{
	// a.rb:3:2: W: Useless assignment to variable - x.
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[CWRIA]): (?:\[(?:Correctable|Corrected|Todo)\] )?{msg}`},
	// a.haml:3 [W] LineLength: Line is too long. [90/80]
	{tool: "haml-lint", contains: ".haml:", pattern: `(?P<file>\S.*\.haml):{line} \[(?P<level>[WEF])\] (?:{rule}: )?{msg}`},
	// a.slim:3 [W] LineLength: Line is too long. [90/80]
	{tool: "slim-lint", contains: ".slim:", pattern: `(?P<file>\S.*\.slim):{line} \[(?P<level>[WEF])\] (?:{rule}: )?{msg}`},
	//   /p/a.js:3:2: 'x' is not defined.
	{tool: "standard", pattern: `\s+(?P<file>\S.*\.(?:jsx?|mjs|cjs|tsx?|vue|rb|rake)):{line}:{col}: (?:(?P<rule>[A-Z]\w*(?:/\w+)+): )?{msg}`, level: metric.Error},
	// a.rb -- 1 warning:
	{tool: "reek", contains: " warning", pattern: `{file} -- \d+ warnings?:`, fileIsCertain: true, block: "reek", store: true},
	//   [3]:DuplicateMethodCall: A#f calls 'x' 2 times
	{tool: "reek", contains: "]:", pattern: `\s+\[{line}(?:, \d+)*\]:\s?(?P<rule>[A-Z]\w+): {msg}`, block: "reek", level: metric.Warning},
	//   a.rb:3: DuplicateMethodCall: A#f calls 'x' 2 times
	{tool: "reek", contains: ".rb:", pattern: `\s+(?P<file>\S.*\.rb):{line}: (?P<rule>[A-Z]\w+): {msg}`, level: metric.Warning},
	// a.pp - WARNING: double quoted string on line 3 (check: double_quoted_strings)
	{tool: "puppet-lint", contains: " on line ", pattern: `{file} - (?P<level>ERROR|WARNING): {msg} on line {line}(?: \(check: {rule}\))?`, fileIsCertain: true},
	// a.php:3:2:error - UndefinedVariable: Cannot find referenced variable $x
	{tool: "psalm", contains: " - ", pattern: `{file}:{line}:{col}:(?P<level>error|warning|info) - (?P<rule>[A-Z]\w+): {msg}`},
	// ERROR: UndefinedVariable - a.php:3:2 - Cannot find referenced variable $x
	{tool: "psalm", contains: ".php:", pattern: `(?P<level>ERROR|INFO): (?P<rule>[A-Z]\w+) - (?P<file>\S.*\.php):{line}:{col} - {msg}`},
	// a.ts[3, 2]: Missing semicolon
	{tool: "tslint", contains: ".ts", pattern: `(?:(?P<level>ERROR|WARNING): )?(?P<file>\S+\.tsx?)\[{line}, {col}\]: {msg}`},
	// ERROR: a.ts:3:2 - Missing semicolon
	{tool: "tslint", contains: ".ts", pattern: `(?P<level>ERROR|WARNING): (?P<file>\S+\.tsx?):{line}:{col} - {msg}`},
	// a.hs:3:2-5: Warning: Use map
	{tool: "hlint", contains: "hs:", pattern: `(?P<file>\S.*\.l?hs):\(?{line}[:,]{col}\)?(?:-\(?[\d,]+\)?)?: (?P<level>Suggestion|Warning|Error|Ignore): {msg}`},
	// a.f90(3): (col. 2) remark #8291: Recommended relationship
	{tool: "icc", contains: "(col. ", pattern: `{file}\({line}\): \(col\. {col}\) {word}(?: (?P<rule>#\d+))?: {msg}`, fileIsCertain: true},
	// warning file=/p/a.scala message=Line is too long line=3 column=2
	{tool: "scalastyle", contains: " message=", pattern: `(?P<level>error|warning|info) file={file} message=(?P<msg>.*?)(?: line={line})?(?: column={col})?`, fileIsCertain: true},
	// .env:3 LowercaseKey: The x key should be in uppercase
	{tool: "dotenv-linter", contains: ".env", pattern: `(?P<file>(?:\S*/)?\.env[\w.-]*):{line} (?:(?P<rule>[A-Z]\w+): )?{msg}`, level: metric.Warning},
	// /p/AndroidManifest.xml:3:2-5:7 Warning:
	{tool: "manifest-merger", contains: "Manifest.xml:", pattern: `{file}:{line}:{col}-(?:\d+:)?\d+ (?P<level>Warning|Error|Info):`, multiline: true},
}
