package mutation

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// goesOn are the ends of a line whose statement continues in the next one, continues the
// beginnings of a line that continues the one before.
const (
	goesOn    = `,([+-*/%=&|?.<>\`
	continues = `.?&|+-*/%)],:={`
)

// alone reports whether a line is one whole statement. open is the number of brackets that are open before it.
func (t *textFile) alone(code string, open int) bool {
	if !balanced(code) || t.indented && open > 0 || longText.MatchString(code) {
		return false
	}
	before, after := t.near(-1), t.near(1)
	if t.semicolons {
		return strings.HasSuffix(code, ";") && (before == "" || ends(before, ";{}:)>"))
	}
	if ends(code, `\`) || ends(before, goesOn) && !strings.HasSuffix(before, "=>") && !strings.HasSuffix(before, "->") {
		return false
	}
	return t.indented || after == "" || strings.IndexByte(continues, after[0]) < 0 || after[0] == '{'
}

// ends reports whether a text ends with one of the characters.
func ends(text, of string) bool { return text != "" && strings.IndexByte(of, text[len(text)-1]) >= 0 }

// near is the nearest line with code in a direction.
func (t *textFile) near(step int) string {
	for i := t.no + step; i >= 0 && i < len(t.lines); i += step {
		if code := strings.TrimSpace(t.lines[i]); code != "" {
			return code
		}
	}
	return ""
}

var (
	called    = regexp.MustCompile(`^(await\s+)?[A-Za-z_$@][\w$.:>@\[\]-]*[?!]?\(.*\)[?!]?;?$`)
	keyword   = regexp.MustCompile(`^(if|elif|for|foreach|while|until|switch|match|case|return|function|fun|fn|def|with|catch|except|super|constructor|do|else|try|yield|new|delete|lock|using|when|unless|not|lambda|describe|it|test)\b`)
	stored    = regexp.MustCompile(`^(?:[@$]?[A-Za-z_]\w*(?:(?:\.|->)\w+|\[[^\]]*\])+|@\w+)\s*(?:[-+*/|&]|\|\||&&|\?\?)?=[^=>~]`)
	increased = regexp.MustCompile(`^\$?[A-Za-z_]\w*\s*(?:[-+*/|&]|\|\|)=[^=]`)
	assigned  = regexp.MustCompile(`^\$?[A-Za-z_]\w*\s*=[^=>]`)
	result    = regexp.MustCompile(`^(\s*return\s+)(\S.*?)\s*;?\s*$`)
	longText  = regexp.MustCompile("'''|\"\"\"|^[^`]*`[^`]*$") // it may go on in the next line
	aLiteral  = regexp.MustCompile(`^(None|null|nil|undefined|true|false|True|False|[\d.]+|"\s*"|'\s*')$`)
)

// statement adds the mutants of a line that is one statement.
func (t *textFile) statement(code string) {
	if m := result.FindStringSubmatchIndex(t.line); m != nil && t.line[m[1]-1] != '{' {
		t.result(m[4], m[5])
		return
	}
	again := !t.indented && t.lang != source.Ruby && t.lang != source.PHP && assigned.MatchString(code)
	drops := called.MatchString(code) && !keyword.MatchString(code) || stored.MatchString(code) || increased.MatchString(code) || again ||
		t.throws && raises.MatchString(code)
	if !drops || strings.HasSuffix(code, "{") || strings.HasSuffix(code, ":") {
		return
	}
	from := strings.Index(t.line, code)
	t.put(DropStatement, from, from+len(code), t.pass)
	m := &t.out[len(t.out)-1]
	m.Original, m.shown = string(t.src[m.from:m.to]), true
}

// result adds the mutant with another result than the expression at a place.
func (t *textFile) result(from, to int) {
	masked := t.line[from:to]
	if aLiteral.MatchString(masked) || !balanced(masked) {
		return // by another constant
	}
	was := string(t.src[t.at[t.no]+from : t.at[t.no]+to])
	if t.none != "" {
		t.put(ChangeReturn, from, to, t.none)
		return
	}
	switch kind := t.types[t.no]; kind {
	case "":
	case "boolean", "bool":
		t.put(ChangeReturn, from, to, "!("+was+")")
	case "int", "long", "double", "float", "decimal":
		t.put(ChangeReturn, from, to, "("+was+") + 1")
	case "String", "string":
		t.put(ChangeReturn, from, to, "("+was+`) + "XX"`)
	default:
		t.put(ChangeReturn, from, to, "null")
	}
}

// method matches the head of a method in Java and C#.
var method = regexp.MustCompile(`\b(boolean|bool|int|long|double|float|decimal|[A-Z]\w*(?:<[^()]*>)?(?:\[\])?|string)\s+\w+\s*\([^;]*$`)

// resultTypes finds the type of the result for each line of a method whose head is one
// line, in languages that write it first.
func (t *textFile) resultTypes() {
	t.types = map[int]string{}
	if t.lang != source.Java && t.lang != source.CSharp {
		return
	}
	kind := ""
	for i, line := range t.lines {
		switch m := method.FindStringSubmatch(line); {
		case m != nil && !strings.Contains(line, "new ") && !strings.Contains(line, "return "):
			kind = m[1]
		case strings.Contains(line, "->") || strings.Contains(line, "=>"):
			kind = "" // a lambda has results of its own
		}
		t.types[i] = kind
	}
}
