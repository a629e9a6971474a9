package parsers

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"supervise/internal/textstream"
	"supervise/metric"
)

// lineForm is a line in which a tool tells of a finding, or of a part of one.
type lineForm struct {
	tool    string
	has     string // stands in each such line: a cheap look before the pattern
	pattern string // with {file}, {line}, {col}, {level}, {rule}, {msg} and {pairs}
	levels  map[string]metric.Level
	level   metric.Level // where the line has no word for it
	typed   bool         // errors are those of a compiler or type checker
	sure    bool         // the rest of the line says that {file} is one
	outer   bool         // the line begins with a level in brackets, as in Maven
	skip    bool         // looks like a finding and is none
	from0   bool         // columns are counted from 0
	raw     bool         // the level in brackets belongs to it
	join    bool         // what the lines kept before say stays
	more    bool         // indented lines that follow go on with the message

	// A finding that is spread over several lines: they share a block, the
	// first ones are kept, and the last one makes the finding.
	block string
	keep  bool
	once  bool // the lines kept are used up

	re    *regexp.Regexp
	pairs *regexp.Regexp
}

// places are what stands for the names in braces of a pattern.
var places = strings.NewReplacer(
	"{file}", `(?P<file>(?:[A-Za-z]:[\\/])?[^\s:"'|*?\[(][^:"|*?]*?)`,
	"{quoted}", `"(?P<file>[^"]+)"`,
	"{line}", `(?P<line>\d{1,9})`,
	"{col}", `(?P<col>\d{1,9})`,
	"{msg}", `(?P<msg>.*?)`,
	"{rule}", `(?P<rule>[A-Za-z][\w./@:+-]*)`,
	"{pairs}", `(?P<pairs>.*?)`,
	"{word}", `(?P<level>(?i:fatal error|catastrophic error|internal error|error|fatal|warning|warn|note|notice|remark|info|information|style|performance|portability|hint))`,
)

func compileForms(table []lineForm) []lineForm {
	out := make([]lineForm, len(table))
	for i, f := range table {
		f.re = regexp.MustCompile("^" + places.Replace(f.pattern) + "$")
		out[i] = f
	}
	return out
}

// parts returns what the groups of a match say.
func (f *lineForm) parts(m []string) parts {
	var p parts
	for i, name := range f.re.SubexpNames() {
		if m[i] != "" {
			p.set(name, m[i])
		}
		if name == "pairs" {
			for _, pair := range f.pairs.FindAllStringSubmatch(m[i], -1) {
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

// finding returns what the parts tell.
func (f *lineForm) finding(p parts) metric.Finding {
	out := metric.Finding{Tool: f.tool, Rule: p.rule, Line: p.line, Column: p.column, Message: textstream.CleanText(p.msg)}
	if p.file != "" {
		out.File = textstream.CleanName(slashed(strings.TrimPrefix(p.file, "file://")))
	}
	out.Level = f.levelOf(p)
	switch {
	case f.pairs != nil:
		out.Message = textstream.CleanText(unescape.Replace(p.msg))
		if m := titled.FindStringSubmatch(p.rule); m != nil {
			out.Tool, out.Rule = m[1], m[2]
		}
	case p.tool != "":
		out.Tool = p.tool
	case f.tool == "" && f.level == 0:
		out.Tool, out.Rule = toolOf(out)
	}
	if out.Tool == "rustc" && arrowed[path.Ext(out.File)] != "" {
		out.Tool = arrowed[path.Ext(out.File)]
	}
	if f.from0 && p.col {
		out.Column++
	}
	if m := trailingRule.FindStringSubmatchIndex(out.Message); m != nil && out.Rule == "" && !f.more && rulesBehind[out.Tool] {
		out.Rule, out.Message = out.Message[m[2]:m[3]], out.Message[:m[0]]
	}
	out.Rule = strings.TrimPrefix(strings.TrimSuffix(out.Rule, ",-warnings-as-errors"), "-Werror,")
	out.Type = (f.typed || checksTypes(out.Tool) || compilerRules[out.Rule]) && out.Level == metric.Error
	return out
}

// titled is how ruff names itself in the messages to GitHub.
var titled = regexp.MustCompile(`^(\w+) \((\S+)\)$`)

// arrowed are the tools of other languages that print as rustc does.
var arrowed = map[string]string{".py": "ty", ".pyi": "ty", ".ts": "deno", ".tsx": "deno", ".js": "deno"}

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
		return levelOf(word)
	case f.level != 0:
		return f.level
	}
	return levelOf(p.outer)
}

// levelWords are those of the texts of compilers and linters beside
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

// rulesBehind are the tools that name the rule behind the message.
var rulesBehind = map[string]bool{
	"gcc": true, "clang-tidy": true, "cppcheck": true, "shellcheck": true, "doxygen": true, "sphinx": true, "mypy": true, "checkstyle": true,
	"cpplint": true, "actionlint": true, "yamllint": true, "eslint": true, "clang": true, "flow": true, "ansible-lint": true,
}

// languages tell the compiler by the file.
var languages = map[string]string{
	"java": "javac", "kt": "kotlinc", "kts": "kotlinc", "scala": "scalac", "rs": "rustc", "swift": "swiftc", "hs": "ghc", "go": "go build",
	"c": "gcc", "h": "gcc", "cc": "gcc", "cpp": "gcc", "cxx": "gcc", "c++": "gcc", "hpp": "gcc", "hh": "gcc", "hxx": "gcc", "m": "gcc", "mm": "gcc",
	"ipp": "gcc", "inl": "gcc", "s": "gcc", "l": "gcc", "y": "gcc", "cu": "gcc", "f": "gcc", "f90": "gcc", "for": "gcc", "tpp": "gcc", "f77": "gcc", "f95": "gcc",
	"py": "mypy", "pyi": "mypy", "sh": "shellcheck", "bash": "shellcheck", "zig": "zig", "cs": "csc", "fs": "fsc", "vb": "vbc", "pas": "dcc",
	"php": "phpcs", "rst": "sphinx", "ts": "tsc", "tsx": "tsc",
}

// toolOf tells who speaks in a line like "file:line:column: level: message", by
// the file and by the rule behind the message. The rule of a compiler is left to
// be taken off.
func toolOf(f metric.Finding) (tool, rule string) {
	base := f.File[strings.LastIndexByte(f.File, '/')+1:]
	tool = languages[strings.ToLower(base[strings.LastIndexByte(base, '.')+1:])]
	last := ""
	if m := trailingRule.FindStringSubmatch(f.Message); m != nil {
		last = m[1]
	}
	switch {
	case f.Rule != "":
		return tool, f.Rule
	case shellRule.MatchString(last):
		tool = "shellcheck"
	case tool == "gcc" && last != "" && !strings.HasPrefix(last, "-") && strings.Contains(last, "-"):
		tool = "clang-tidy"
	case tool == "gcc" && cppcheckRule.MatchString(last):
		tool = "cppcheck"
	case strings.HasPrefix(f.File, "<"):
		tool = "gcc"
	}
	return tool, ""
}

var (
	shellRule    = regexp.MustCompile(`^SC\d+$`)
	cppcheckRule = regexp.MustCompile(`^[a-z]+[A-Za-z]*$`)
)

// peel takes off what a build tool puts before a line: the time, the task, the
// number of the node, and the level, which it returns.
func peel(s string) (level, rest string) {
	s = stamp.ReplaceAllString(s, "")
	if shortClock.MatchString(s) {
		s = s[strings.IndexByte(s, '['):]
	}
	s = task.ReplaceAllString(s, "")
	s = node.ReplaceAllString(s, "")
	for m := leveled.FindStringSubmatch(s); m != nil; m = leveled.FindStringSubmatch(s) {
		level, s = m[1], s[len(m[0]):]
	}
	return level, s
}
