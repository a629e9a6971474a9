package linttext

import (
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// fastPath reads a line that is known to have a form in a third of the time of its expression:
// it cuts off the place at the start and the message and rule at the end, and matches only the
// part between them. Of "a.go:3:2: x is unused (unused)", the expression reads only ":2: ".
type fastPath struct {
	fileOnly   bool                                           // the line is nothing but the name of a file
	placeFirst bool                                           // the line starts with "file:line"
	tail       func(s string) (message, rule string, ok bool) // reads the end of the line; may be nil
	middle     *regexp.Regexp                                 // nil if nothing can be cut off
}

// fileLine is the pattern of a line with nothing but the name of a file.
const fileLine = `(?P<file>[^\s:=].*?\.\w{1,12}|/[^\s:=]*):?`

// leadingPlaces are the patterns for a place at the start of a line.
var leadingPlaces = []string{"{file}:{line}", "{py}:{line}", "{go}:{line}"}

// tailForms are the patterns for the end of a line, the longest first, with the functions that
// read the same text without an expression.
var tailForms = []struct {
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

// compileForms returns the forms of the table with their expressions and fast paths.
func compileForms(table []lineForm) []lineForm {
	out := make([]lineForm, len(table))
	for i, f := range table {
		f.re = regexp.MustCompile("^" + placeholders.Replace(f.pattern) + "$")
		f.fast = newFastPath(f.pattern)
		out[i] = f
	}
	return out
}

// newFastPath splits a pattern into the place at its start, the middle, and the message and
// rule at its end. Middle is nil if it finds neither place nor message.
func newFastPath(pattern string) fastPath {
	c := fastPath{fileOnly: pattern == fileLine}
	for _, first := range leadingPlaces {
		if rest, ok := strings.CutPrefix(pattern, first); ok {
			pattern, c.placeFirst = rest, true
		}
	}

	end := "$"
	for _, t := range tailForms {
		if rest, ok := strings.CutSuffix(pattern, t.pattern); ok {
			pattern, c.tail, end = rest, t.cut, ""
			break
		}
	}

	if c.placeFirst || c.tail != nil {
		c.middle = regexp.MustCompile("^" + placeholders.Replace(pattern) + end)
	}
	return c
}

// read returns the parts of a line with the form. They are empty if it does not match.
func (f *lineForm) read(s string) parts {
	if f.fast.fileOnly {
		return parts{file: strings.TrimSpace(strings.TrimSuffix(s, ":"))}
	}
	if f.fast.middle != nil {
		if p, ok := f.readFast(s); ok {
			return p
		}
	}
	at := f.re.FindKnown(s)
	if at == nil {
		return parts{}
	}
	return f.matchedParts(s, f.re, at)
}

// readFast reads a line by its fast path. Ok is false if that needs the full expression.
func (f *lineForm) readFast(s string) (p parts, ok bool) {
	file, line, remaining := "", 0, s
	if f.fast.placeFirst {
		if file, line, remaining = cutPlace(s); file == "" {
			return p, false
		}
	}

	at := f.fast.middle.FindKnown(remaining)
	if at == nil {
		return p, false
	}
	p = f.matchedParts(remaining, f.fast.middle, at)
	if f.fast.placeFirst {
		p.file, p.line = file, line
	}

	if f.fast.tail == nil {
		return p, true
	}
	message, rule, ok := f.fast.tail(remaining[at[1]:])
	p.msg = message
	if rule != "" {
		p.rule = rule
	}
	return p, ok
}

// cutPlace reads "file:line" at the start of s as the expressions of [placeholders] do, and
// returns the text after it. The file is "" if that needs an expression.
func cutPlace(s string) (file string, line int, remaining string) {
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

// cutSuffix returns a function that splits "message [rule]" at the last open, which is the
// bracket with the spaces before it. The rule has neither brackets nor spaces. Ok is false if
// open is not in the text.
func cutSuffix(open string) func(string) (message, rule string, ok bool) {
	return func(s string) (message, rule string, ok bool) {
		at := strings.LastIndex(s, open)
		if at < 0 {
			return "", "", false
		}
		return s[:at], s[at+len(open) : len(s)-1], true
	}
}

// cutColumn splits "message  rule", where at least two spaces are before the rule. Without such
// a rule, the complete text is the message.
func cutColumn(s string) (message, rule string, ok bool) {
	const spaces = " \t\n\f\r"
	begin := strings.LastIndexAny(s, spaces) + 1
	message, rule = strings.TrimRight(s[:begin], spaces), s[begin:]
	hasGap := begin-len(message) >= 2
	if !hasGap || !isRule(rule) || strings.ContainsAny(rule, "=,") {
		return s, "", true
	}
	return message, rule, true
}
