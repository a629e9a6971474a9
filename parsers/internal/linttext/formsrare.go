package linttext

import (
	"supervise/metric"
)

// compilerForms are those of compilers of Elixir, OCaml, Nim, Crystal and Solidity, and of
// the linker of LLVM. The messages of Elixir before 1.16 begin as those of rustc do.
var compilerForms = []lineForm{
	{tool: "elixir", has: ".ex", pattern: `\s+(?P<file>\S.*\.exs?):{line}(?::{col})?(?:: .*)?`, block: "arrow", once: true, typed: true},
	{tool: "elixir", pattern: `\s{4,}(?P<level>warning|error): {msg}`, block: "elixir", keep: true},
	{tool: "elixir", has: "└─ ", pattern: `\s+└─ {file}:{line}(?::{col})?(?:: .*)?`, block: "elixir", once: true, typed: true},
	{tool: "elixir", has: "** (", pattern: `\*\* \((?P<rule>(?:Compile|Syntax|TokenMissing|MismatchedDelimiter)Error)\) {file}:{line}(?::{col})?: {msg}`, level: metric.Error, typed: true, sure: true},
	{tool: "ocaml", has: "File ", pattern: `File {quoted}, lines? {line}(?:-\d+)?(?:, characters {col}-\d+)?:`, block: "ocaml", keep: true},
	{tool: "ocaml", has: "Error", pattern: `(?P<level>Error) \((?:warning (?:\d+ )?|alert )\[?(?P<rule>[\w-]+)\]?\): {msg}`, block: "ocaml", once: true, from0: true, more: true},
	{tool: "ocaml", has: ": ", pattern: `(?P<level>Warning|Alert) (?:\d+ )?\[?(?P<rule>[\w-]+)\]?: {msg}`, block: "ocaml", once: true, from0: true, more: true, levels: map[string]metric.Level{"alert": metric.Warning}},
	{tool: "ocaml", has: "Error: ", pattern: `(?P<level>Error): {msg}`, block: "ocaml", once: true, from0: true, more: true, typed: true},
	{tool: "nim", has: ".nim", pattern: `{file}\({line}, {col}\) (?P<level>Hint|Warning|Error): {msg}(?: \[{rule}\])?`, typed: true, sure: true},
	{tool: "crystal", has: "n ", pattern: `(?:Code i|I)n {file}:{line}:{col}`, block: "crystal", keep: true},
	{tool: "crystal", has: "Error: instantiating", pattern: `(?P<level>Error): (?P<msg>instantiating '.*')`, block: "crystal", once: true, skip: true},
	{tool: "crystal", has: ": ", pattern: `(?P<level>Error|Warning): {msg}`, block: "crystal", once: true, typed: true},
	{tool: "lld", has: "l", pattern: `(?:\S*/)?(?:ld\.lld|ld64\.lld|wasm-ld|lld-link|rust-lld|lld)(?:-\d+)?: {word}: {msg}`, typed: true},
}

// solidityForms are tried late, since each line that begins like an error begins one of
// Solidity, until an arrow says where it is.
var solidityForms = []lineForm{
	{tool: "solc", has: "--> ", pattern: `\s*--> (?P<file>\S.*\.sol)(?::{line}:{col})?:?`, block: "solc", once: true, typed: true},
	{tool: "solc", has: ": ", pattern: `(?P<level>Info|Warning|(?:[A-Z][A-Za-z]*)?Error)(?: \((?P<rule>\d{4})\))?: {msg}`, block: "solc", keep: true},
}

// rareForms are those of tools of Ruby, PHP, TypeScript, Haskell and others that
// print in their own way.
var rareForms = []lineForm{
	{tool: "rubocop", pattern: `{file}:{line}:{col}: (?P<level>[CWRIA]): (?:\[(?:Correctable|Corrected|Todo)\] )?{msg}`},
	{tool: "haml-lint", has: ".haml:", pattern: `(?P<file>\S.*\.haml):{line} \[(?P<level>[WEF])\] (?:{rule}: )?{msg}`},
	{tool: "slim-lint", has: ".slim:", pattern: `(?P<file>\S.*\.slim):{line} \[(?P<level>[WEF])\] (?:{rule}: )?{msg}`},
	{tool: "standard", pattern: `\s+(?P<file>\S.*\.(?:jsx?|mjs|cjs|tsx?|vue|rb|rake)):{line}:{col}: (?:(?P<rule>[A-Z]\w*(?:/\w+)+): )?{msg}`, level: metric.Error},
	{tool: "reek", has: " warning", pattern: `{file} -- \d+ warnings?:`, sure: true, block: "reek", keep: true},
	{tool: "reek", has: "]:", pattern: `\s+\[{line}(?:, \d+)*\]:\s?(?P<rule>[A-Z]\w+): {msg}`, block: "reek", level: metric.Warning},
	{tool: "reek", has: ".rb:", pattern: `\s+(?P<file>\S.*\.rb):{line}: (?P<rule>[A-Z]\w+): {msg}`, level: metric.Warning},
	{tool: "puppet-lint", has: " on line ", pattern: `{file} - (?P<level>ERROR|WARNING): {msg} on line {line}(?: \(check: {rule}\))?`, sure: true},
	{tool: "psalm", has: " - ", pattern: `{file}:{line}:{col}:(?P<level>error|warning|info) - (?P<rule>[A-Z]\w+): {msg}`},
	{tool: "psalm", has: ".php:", pattern: `(?P<level>ERROR|INFO): (?P<rule>[A-Z]\w+) - (?P<file>\S.*\.php):{line}:{col} - {msg}`},
	{tool: "tslint", has: ".ts", pattern: `(?:(?P<level>ERROR|WARNING): )?(?P<file>\S+\.tsx?)\[{line}, {col}\]: {msg}`},
	{tool: "tslint", has: ".ts", pattern: `(?P<level>ERROR|WARNING): (?P<file>\S+\.tsx?):{line}:{col} - {msg}`},
	{tool: "hlint", has: "hs:", pattern: `(?P<file>\S.*\.l?hs):\(?{line}[:,]{col}\)?(?:-\(?[\d,]+\)?)?: (?P<level>Suggestion|Warning|Error|Ignore): {msg}`},
	{tool: "icc", has: "(col. ", pattern: `{file}\({line}\): \(col\. {col}\) {word}(?: (?P<rule>#\d+))?: {msg}`, sure: true},
	{tool: "scalastyle", has: " message=", pattern: `(?P<level>error|warning|info) file={file} message=(?P<msg>.*?)(?: line={line})?(?: column={col})?`, sure: true},
	{tool: "dotenv-linter", has: ".env", pattern: `(?P<file>(?:\S*/)?\.env[\w.-]*):{line} (?:(?P<rule>[A-Z]\w+): )?{msg}`, level: metric.Warning},
	{tool: "manifest-merger", has: "Manifest.xml:", pattern: `{file}:{line}:{col}-(?:\d+:)?\d+ (?P<level>Warning|Error|Info):`, more: true},
}
