package linttext

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// cuts is how a line is read that is known to have a form: what comes first and what
// follows is cut off, and an expression reads what is left. A full expression takes
// three times as long.
type cuts struct {
	fileOnly bool // the line is the name of a file
	placed   bool // a place comes first
	tail     func(s string) (message, rule string, ok bool)
	middle   *regexp.Regexp // nil if nothing can be cut off
}

// fileLine is the form of a line that has the name of a file and no more.
const fileLine = `(?P<file>[^\s:=].*?\.\w{1,12}|/[^\s:=]*):?`

// placesFirst are the patterns for a place in front.
var placesFirst = []string{"{file}:{line}", "{py}:{line}", "{go}:{line}"}

// tails are the patterns for what follows, the longest first.
var tails = []struct {
	pattern string
	cut     func(s string) (message, rule string, ok bool)
}{
	{`{msg}(?:\s{2,}{rule})?`, cutColumn},
	{`{msg}  \[{rule}\]`, cutSuffix("  [")},
	{`{msg} \[(?P<rule>SC\d+)\]`, cutSuffix(" [")},
	{`{msg} \[(?P<rule>[A-Z]\w+)\]`, cutSuffix(" [")},
	{`{msg} \({rule}\)`, cutSuffix(" (")},
	{`{msg} \((?P<rule>[a-z]\w*)\)`, cutSuffix(" (")},
	{`{msg}`, func(s string) (string, string, bool) { return s, "", true }},
}

func compileForms(table []lineForm) []lineForm {
	out := make([]lineForm, len(table))
	for i, f := range table {
		f.re = regexp.MustCompile("^" + places.Replace(f.pattern) + "$")
		f.cuts = cutsOf(f.pattern)
		out[i] = f
	}
	return out
}

func cutsOf(pattern string) cuts {
	c := cuts{fileOnly: pattern == fileLine}
	for _, first := range placesFirst {
		if rest, ok := strings.CutPrefix(pattern, first); ok {
			pattern, c.placed = rest, true
		}
	}
	end := "$"
	for _, t := range tails {
		if rest, ok := strings.CutSuffix(pattern, t.pattern); ok {
			pattern, c.tail, end = rest, t.cut, ""
			break
		}
	}
	if c.placed || c.tail != nil {
		c.middle = regexp.MustCompile("^" + places.Replace(pattern) + end)
	}
	return c
}

// read returns what a line says that has the form.
func (f *lineForm) read(s string) parts {
	if f.cuts.fileOnly {
		return parts{file: strings.TrimSpace(strings.TrimSuffix(s, ":"))}
	}
	if f.cuts.middle != nil {
		if p, ok := f.cut(s); ok {
			return p
		}
	}
	at := f.re.FindKnown(s)
	if at == nil {
		return parts{}
	}
	return f.parts(s, f.re, at)
}

// cut reads a line by its cuts; ok is false if that takes the entire expression.
func (f *lineForm) cut(s string) (p parts, ok bool) {
	file, line, rest := "", 0, s
	if f.cuts.placed {
		if file, line, rest = cutPlace(s); file == "" {
			return p, false
		}
	}
	at := f.cuts.middle.FindKnown(rest)
	if at == nil {
		return p, false
	}
	p = f.parts(rest, f.cuts.middle, at)
	if f.cuts.placed {
		p.file, p.line = file, line
	}
	if f.cuts.tail == nil {
		return p, true
	}
	message, rule, ok := f.cuts.tail(rest[at[1]:])
	p.msg = message
	if rule != "" {
		p.rule = rule
	}
	return p, ok
}

// cutPlace reads "file:line" as the expressions of [places] do. The file is "" if that
// takes an expression.
func cutPlace(s string) (file string, line int, rest string) {
	begin := 0
	if len(s) > 3 && s[1] == ':' && (s[2] == '/' || s[2] == '\\') {
		begin = 3
	}
	end := strings.IndexAny(s[begin:], `:"|*?`) + begin
	if end <= begin || s[end] != ':' || strings.IndexByte(" \t\n\f\r'[(", s[begin]) >= 0 {
		return "", 0, s
	}
	digits := end + 1
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	line, err := strconv.Atoi(s[end+1 : digits])
	if err != nil || digits-end > 10 {
		return "", 0, s
	}
	return strings.TrimSpace(s[:end]), line, s[digits:]
}

// cutSuffix cuts off a rule in brackets, which has neither these nor spaces.
func cutSuffix(open string) func(string) (message, rule string, ok bool) {
	return func(s string) (message, rule string, ok bool) {
		at := strings.LastIndex(s, open)
		if at < 0 {
			return "", "", false
		}
		return s[:at], s[at+len(open) : len(s)-1], true
	}
}

// cutColumn cuts off a rule that is in its own column, if there is one.
func cutColumn(s string) (message, rule string, ok bool) {
	const spaces = " \t\n\f\r"
	begin := strings.LastIndexAny(s, spaces) + 1
	message, rule = strings.TrimRight(s[:begin], spaces), s[begin:]
	if begin-len(message) < 2 || rule == "" || rule[0]|0x20 < 'a' || rule[0]|0x20 > 'z' || strings.ContainsAny(rule, "=,") || strings.ContainsFunc(rule, notOfRules) {
		return s, "", true
	}
	return message, rule, true
}
