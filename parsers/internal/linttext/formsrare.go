package linttext

import (
	"supervise/metric"
)

// rareForms are those of tools of Ruby, PHP, TypeScript, Haskell and others that
// print in a way of their own.
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
