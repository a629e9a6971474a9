package linttext

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// lineForm describes a line with a finding, or with a part of one. The pattern has to match the
// complete line. Its groups file, line, col, level, rule and msg are the [parts] of the line.
// For example, the pattern
//
//	{file}:{line}:{col}: {msg} \({rule}\)
//
// matches "a.go:3:2: x is unused (unused)".
type lineForm struct {
	tool             string                  // "" if other parts of the line show it: see [lineForm.setTool]
	contains         string                  // text in every such line, which is checked before the pattern
	pattern          string                  // with the names in braces of [placeholders]
	levels           map[string]metric.Level // by the word for the level in lower case, before [levelWords]
	level            metric.Level            // of lines without a word for it, 0 for the level before the line
	typed            bool                    // errors are type or compiler errors
	fileIsCertain    bool                    // {file} is a file whatever it looks like
	needsLevelPrefix bool                    // the line starts with a level in brackets, as in Maven
	ignore           bool                    // the line looks like a finding but is not
	columnsFromZero  bool                    // the tool counts columns from 0
	withLevelPrefix  bool                    // the pattern includes the level in brackets before the line
	multiline        bool                    // indented lines after it continue the message

	// The forms of a finding on several lines have the same block. The parts of the first lines
	// are stored until the last line completes the finding: "In a.sh line 3:" has the place,
	// and "^--^ SC2086 (info): …" two lines later has the message.
	block       string // name of the group of forms that share stored parts
	store       bool   // the line is not the last one: store its parts
	mergeStored bool   // add to the stored parts instead of replacing them
	consume     bool   // remove the stored parts after this line; otherwise more findings can use them

	re    *regexp.Regexp // the compiled pattern
	pairs *regexp.Regexp // matches the name and the value of each of {pairs}
	fast  fastPath       // a faster way to match the pattern
}

// placeholders replaces the names in braces of a pattern with expressions: {file} is a path,
// {quoted} a path in double quotes, {py} and {go} a path of a Python or Go file, {line} and
// {col} are numbers, {msg} is any text, {rule} a name without spaces, {pairs} a list of names
// with values, and {word} a word for a level.
var placeholders = strings.NewReplacer(
	"{file}", `(?P<file>(?:/?[A-Za-z]:[\\/])?[^\s:"'|*?\[(][^:"|*?]*?)`,
	"{quoted}", `"(?P<file>[^"]+)"`,
	"{py}", `(?P<file>(?:[A-Za-z]:)?[^:]*\.pyi?)`,
	"{go}", `(?P<file>(?:[A-Za-z]:)?[^:]+\.go)`,
	"{line}", `(?P<line>\d{1,9})`,
	"{col}", `(?P<col>\d{1,9})`,
	"{msg}", `(?P<msg>.*?)`,
	"{rule}", `(?P<rule>[A-Za-z][\w./@:+-]*)`,
	"{pairs}", `(?P<pairs>.*?)`,
	"{word}", `(?P<level>(?i:fatal error|catastrophic error|internal error|error|fatal|warning|warn|note|notice|remark|info|information|style|performance|portability|hint))`,
)

// matchedParts returns the parts that the groups of a match of re in s have. At has the start
// and end of each group, -1 for a group that is not in the match.
func (f *lineForm) matchedParts(s string, re *regexp.Regexp, at []int) parts {
	var p parts
	for i, name := range re.SubexpNames() {
		if name == "" || at[2*i] < 0 {
			continue
		}
		value := s[at[2*i]:at[2*i+1]]
		if value != "" {
			p.set(name, value)
		}
		if name == "pairs" {
			for _, pair := range f.pairs.FindAllStringSubmatch(value, -1) {
				p.set(pairNames[strings.ToLower(pair[1])], messageUnescaper.Replace(pair[2]))
			}
		}
	}
	return p
}

// pairNames maps the names of values in a service message to the parts of a finding.
var pairNames = map[string]string{
	"file": "file", "sourcepath": "file", "line": "line", "linenumber": "line", "col": "col", "columnnumber": "col", "title": "rule", "code": "rule",
	"typeid": "rule", "message": "msg", "type": "level", "severity": "level",
}

// messageUnescaper reverts the escaping of TeamCity, as in "|n", and of GitHub, as in "%0A".
var messageUnescaper = strings.NewReplacer("|n", "\n", "|r", "", "|'", "'", "|[", "[", "|]", "]", "||", "|", "%0A", "\n", "%0D", "", "%3A", ":", "%2C", ",", "%25", "%")

// set sets the part with the name of a group. Other names are ignored.
func (p *parts) set(name, value string) {
	switch name {
	case "file":
		p.file = strings.TrimSpace(value)
	case "line":
		p.line, _ = strconv.Atoi(value) // digits
	case "col":
		p.column, _ = strconv.Atoi(value)
		p.hasColumn = true
	case "level":
		p.level = value
	case "rule":
		p.rule = value
	case "msg":
		p.msg = value
	}
}

// toFinding returns the finding with the parts: with a clean path, the rule without its prefix,
// and the tool and level that the form or the line has.
func (f *lineForm) toFinding(p parts) metric.Finding {
	out := metric.Finding{Tool: f.tool, Rule: p.rule, Line: p.line, Column: p.column, Message: textstream.CleanText(p.msg)}
	if p.file != "" {
		out.File = textstream.CleanName(parsed.ToSlash(trimDriveSlash(strings.TrimPrefix(p.file, "file://"))))
	}
	out.Level = f.levelOf(p)
	if f.columnsFromZero && p.hasColumn {
		out.Column++
	}

	f.setTool(&out, p)
	if rulesAtEnd[out.Tool] && out.Rule == "" && !f.multiline {
		moveTrailingRule(&out)
	}
	out.Rule = strings.TrimPrefix(strings.TrimSuffix(out.Rule, ",-warnings-as-errors"), "-Werror,")
	out.Type = (f.typed || parsed.IsTypeChecker(out.Tool) || compilerRules[out.Rule]) && out.Level == metric.Error
	return out
}

// trimDriveSlash removes the slash that Maven writes before a drive: "/C:/a.java".
func trimDriveSlash(file string) string {
	if len(file) > 2 && file[0] == '/' && file[2] == ':' {
		return file[1:]
	}
	return file
}

// setTool sets the tool of a finding if the form does not know it. P has the tool that an
// earlier line of the finding names.
func (f *lineForm) setTool(out *metric.Finding, p parts) {
	switch {
	case f.pairs != nil:
		out.Message = textstream.CleanText(messageUnescaper.Replace(p.msg))
		if m := ruffTitlePattern.FindStringSubmatch(p.rule); m != nil {
			out.Tool, out.Rule = m[1], m[2]
		}
	case p.tool != "":
		out.Tool = p.tool
	case f.tool == "" && f.level == 0:
		out.Tool, out.Rule = toolOf(*out)
	}
	if tool := arrowTools[path.Ext(out.File)]; out.Tool == "rustc" && tool != "" {
		out.Tool = tool
	}
}

// moveTrailingRule moves the rule at the end of a message to the field for it.
func moveTrailingRule(f *metric.Finding) {
	if rule, message := trailingRule(f.Message); rule != "" {
		f.Rule, f.Message = rule, message
	}
}

// ruffTitlePattern matches the title of ruff in messages to GitHub: "Ruff (F401)".
var ruffTitlePattern = regexp.MustCompile(`^(\w+) \((\S+)\)$`)

// arrowTools maps file extensions to the tools that print in the style of rustc.
var arrowTools = map[string]string{".py": "ty", ".pyi": "ty", ".ts": "deno", ".tsx": "deno", ".js": "deno", ".ex": "elixir", ".exs": "elixir"}

// compilerRules are the rules with which linters report errors of a compiler.
var compilerRules = map[string]bool{"compile": true, "typecheck": true, "clang-diagnostic-error": true}

// levelOf returns the level that the line names, else that of the form, else the one in
// brackets before the line.
func (f *lineForm) levelOf(p parts) metric.Level {
	word := strings.ToLower(p.level)
	switch {
	case word != "":
		return cmp.Or(f.levels[word], levelWords[word], parsed.LevelOf(word))
	case f.level != 0:
		return f.level
	}
	return parsed.LevelOf(p.levelPrefix)
}

// levelWords maps words and signs for levels that [parsed.LevelOf] does not know.
var levelWords = map[string]metric.Level{
	"remark": metric.Note, "performance": metric.Note, "portability": metric.Note, "hint warning": metric.Warning,
	"✖": metric.Error, "×": metric.Error, "⚠": metric.Warning, "‼": metric.Warning, "!": metric.Warning, "ℹ": metric.Note, "i": metric.Note, "•": metric.Note,
	"e": metric.Error, "w": metric.Warning, "f": metric.Error, "c": metric.Note, "r": metric.Note, "a": metric.Note, "n": metric.Note,
	"high": metric.Error, "critical": metric.Error, "severe": metric.Error,
	"questionable": metric.Warning, "extension": metric.Warning, "obsolescent": metric.Warning, "non-standard": metric.Warning, "deleted feature used": metric.Warning,
	"warning (dev)": metric.Warning, "deprecation warning": metric.Warning, "deprecated": metric.Warning,
}

var (
	// branchPattern matches the name of a parallel branch or native build before a line:
	// "[linux] " or "C/C++: ".
	branchPattern = regexp.MustCompile(`^(?:\[[^\]:/\\]{1,60}\]|C/C\+\+:) `)
	// timestampPattern matches a time before a line: "2024-05-01T10:20:30.5Z " or "[10:20:30]
	// ".
	timestampPattern = regexp.MustCompile(`^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s{1,2}`)
	// clockPattern matches hours and minutes before a bracket: "10:20 [".
	clockPattern = regexp.MustCompile(`^\d\d:\d\d\s+\[`)
	// taskPattern matches the task that Ant prints before a line: "    [javac] ".
	taskPattern = regexp.MustCompile(`^\s*\[(?:javac|exec|java|javadoc|ecj|groovyc|scalac|kotlinc|echo|wsimport|ant:\w+|apt|aspectj|iajc|cc|mkdir)\](?: |$)`)
	// nodePattern matches the number of the node that MSBuild prints before a line: "  2>".
	nodePattern = regexp.MustCompile(`^\s*\d+>`)
	// levelPrefixPattern matches the level that Maven and others print before a line: "[ERROR]
	// ".
	levelPrefixPattern = regexp.MustCompile(`^\[\s?(ERROR|WARNING|WARN|INFO|FATAL|error|warn|info)\s?\](?: |$)`)
)

// cutBuildPrefix removes what build tools print before a line: the time, the task, the number
// of the node, and the level. It returns that level, "" if there is none, and the remaining
// line.
func cutBuildPrefix(s string) (level, line string) {
	start := strings.TrimLeft(s, " \t\r\f")
	if start == "" || start[0] != '[' && (start[0] < '0' || start[0] > '9') {
		return "", s
	}

	if clock := strings.TrimPrefix(s, "["); len(clock) > 5 && (clock[2] == ':' || clock[4] == '-') {
		s = timestampPattern.ReplaceAllString(s, "")
		if clockPattern.MatchString(s) {
			s = s[strings.IndexByte(s, '['):]
		}
	}
	if strings.HasPrefix(strings.TrimLeft(s, " \t\r\f"), "[") {
		s = taskPattern.ReplaceAllString(s, "")
	}

	s = nodePattern.ReplaceAllString(s, "")
	for strings.HasPrefix(s, "[") {
		m := levelPrefixPattern.FindStringSubmatch(s)
		if m == nil {
			break
		}
		level, s = m[1], s[len(m[0]):]
	}
	return level, s
}
