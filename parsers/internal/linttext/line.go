package linttext

import (
	"path"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

// lineForm is the form of a line that holds a finding, or a part of one.
type lineForm struct {
	tool    string
	has     string // is in each such line as well
	pattern string // with the names in braces of [places]
	levels  map[string]metric.Level
	level   metric.Level // where the line has no word for it
	typed   bool         // errors are those of a compiler or type checker
	sure    bool         // the rest of the line says that {file} is one
	outer   bool         // the line begins with a level in brackets, as in Maven
	skip    bool         // looks like a finding but is not
	from0   bool         // columns are counted from 0
	raw     bool         // the level in brackets belongs to it
	join    bool         // what the lines kept before say stays
	more    bool         // indented lines that follow continue the message

	// A finding that is spread over several lines: they share a block, the
	// first ones are kept, and the last one makes the finding.
	block string
	keep  bool
	once  bool // the lines kept are used up

	re    *regexp.Regexp
	pairs *regexp.Regexp
	cuts  cuts
}

// places are the expressions for the names in braces of a pattern.
var places = strings.NewReplacer(
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

// parts returns what the groups of a match say.
func (f *lineForm) parts(s string, re *regexp.Regexp, at []int) parts {
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
				p.set(pairNames[strings.ToLower(pair[1])], unescape.Replace(pair[2]))
			}
		}
	}
	return p
}

// pairNames are the names of the values of a service message.
var pairNames = map[string]string{
	"file": "file", "sourcepath": "file", "line": "line", "linenumber": "line", "col": "col", "columnnumber": "col", "title": "rule", "code": "rule",
	"typeid": "rule", "message": "msg", "type": "level", "severity": "level",
}

// unescape takes away the escapes of TeamCity and GitHub.
var unescape = strings.NewReplacer("|n", "\n", "|r", "", "|'", "'", "|[", "[", "|]", "]", "||", "|", "%0A", "\n", "%0D", "", "%3A", ":", "%2C", ",", "%25", "%")

func (p *parts) set(name, value string) {
	switch name {
	case "file":
		p.file = strings.TrimSpace(value)
	case "line":
		p.line, _ = strconv.Atoi(value) // digits
	case "col":
		p.column, _ = strconv.Atoi(value)
		p.col = true
	case "level":
		p.level = value
	case "rule":
		p.rule = value
	case "msg":
		p.msg = value
	}
}

// finding returns the finding of the parts.
func (f *lineForm) finding(p parts) metric.Finding {
	out := metric.Finding{Tool: f.tool, Rule: p.rule, Line: p.line, Column: p.column, Message: textstream.CleanText(p.msg)}
	if p.file != "" {
		out.File = textstream.CleanName(parsed.Slashed(withoutSlash(strings.TrimPrefix(p.file, "file://"))))
	}
	out.Level = f.levelOf(p)
	if f.from0 && p.col {
		out.Column++
	}
	f.name(&out, p)
	if rulesAtEnd[out.Tool] && out.Rule == "" && !f.more {
		takeRule(&out)
	}
	out.Rule = strings.TrimPrefix(strings.TrimSuffix(out.Rule, ",-warnings-as-errors"), "-Werror,")
	out.Type = (f.typed || parsed.ChecksTypes(out.Tool) || compilerRules[out.Rule]) && out.Level == metric.Error
	return out
}

// withoutSlash takes the slash off that Maven writes before a drive: "/C:/a.java".
func withoutSlash(file string) string {
	if len(file) > 2 && file[0] == '/' && file[2] == ':' {
		return file[1:]
	}
	return file
}

// name gives a finding its tool.
func (f *lineForm) name(out *metric.Finding, p parts) {
	switch {
	case f.pairs != nil:
		out.Message = textstream.CleanText(unescape.Replace(p.msg))
		if m := titled.FindStringSubmatch(p.rule); m != nil {
			out.Tool, out.Rule = m[1], m[2]
		}
	case p.tool != "":
		out.Tool = p.tool
	case f.tool == "" && f.level == 0:
		out.Tool, out.Rule = toolOf(*out)
	}
	if other := arrowed[path.Ext(out.File)]; out.Tool == "rustc" && other != "" {
		out.Tool = other
	}
}

// takeRule takes the rule off the end of a message.
func takeRule(f *metric.Finding) {
	if rule, message := trailingRule(f.Message); rule != "" {
		f.Rule, f.Message = rule, message
	}
}

// titled is how ruff names itself in the messages to GitHub.
var titled = regexp.MustCompile(`^(\w+) \((\S+)\)$`)

// arrowed are the tools of other languages that print as rustc does.
var arrowed = map[string]string{".py": "ty", ".pyi": "ty", ".ts": "deno", ".tsx": "deno", ".js": "deno", ".ex": "elixir", ".exs": "elixir"}

// compilerRules are those under which linters pass on errors of a compiler.
var compilerRules = map[string]bool{"compile": true, "typecheck": true, "clang-diagnostic-error": true}

func (f *lineForm) levelOf(p parts) metric.Level {
	word := strings.ToLower(p.level)
	switch {
	case word != "":
		if l, ok := f.levels[word]; ok {
			return l
		}
		if l, ok := levelWords[word]; ok {
			return l
		}
		return parsed.LevelOf(word)
	case f.level != 0:
		return f.level
	}
	return parsed.LevelOf(p.outer)
}

// levelWords are those of the texts of compilers and linters in addition to
// [severities].
var levelWords = map[string]metric.Level{
	"remark": metric.Note, "performance": metric.Note, "portability": metric.Note, "hint warning": metric.Warning,
	"✖": metric.Error, "×": metric.Error, "⚠": metric.Warning, "‼": metric.Warning, "!": metric.Warning, "ℹ": metric.Note, "i": metric.Note, "•": metric.Note,
	"e": metric.Error, "w": metric.Warning, "f": metric.Error, "c": metric.Note, "r": metric.Note, "a": metric.Note, "n": metric.Note,
	"high": metric.Error, "critical": metric.Error, "severe": metric.Error,
	"questionable": metric.Warning, "extension": metric.Warning, "obsolescent": metric.Warning, "non-standard": metric.Warning, "deleted feature used": metric.Warning,
	"warning (dev)": metric.Warning, "deprecation warning": metric.Warning, "deprecated": metric.Warning,
}

var (
	branch     = regexp.MustCompile(`^(?:\[[^\]:/\\]{1,60}\]|C/C\+\+:) `)
	stamp      = regexp.MustCompile(`^\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s{1,2}`)
	shortClock = regexp.MustCompile(`^\d\d:\d\d\s+\[`)
	task       = regexp.MustCompile(`^\s*\[(?:javac|exec|java|javadoc|ecj|groovyc|scalac|kotlinc|echo|wsimport|ant:\w+|apt|aspectj|iajc|cc|mkdir)\](?: |$)`)
	node       = regexp.MustCompile(`^\s*\d+>`)
	leveled    = regexp.MustCompile(`^\[\s?(ERROR|WARNING|WARN|INFO|FATAL|error|warn|info)\s?\](?: |$)`)
)

// peel takes off what a build tool puts before a line: the time, the task, the
// number of the node, and the level, which it returns.
func peel(s string) (level, rest string) {
	if first := strings.TrimLeft(s, " \t\r\f"); first == "" || first[0] != '[' && (first[0] < '0' || first[0] > '9') {
		return "", s
	}
	if clock := strings.TrimPrefix(s, "["); len(clock) > 5 && (clock[2] == ':' || clock[4] == '-') {
		s = stamp.ReplaceAllString(s, "")
		if shortClock.MatchString(s) {
			s = s[strings.IndexByte(s, '['):]
		}
	}
	if strings.HasPrefix(strings.TrimLeft(s, " \t\r\f"), "[") {
		s = task.ReplaceAllString(s, "")
	}
	s = node.ReplaceAllString(s, "")
	for strings.HasPrefix(s, "[") {
		m := leveled.FindStringSubmatch(s)
		if m == nil {
			break
		}
		level, s = m[1], s[len(m[0]):]
	}
	return level, s
}
