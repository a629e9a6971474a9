package linttext

import (
	"cmp"
	"strconv"
	"strings"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
	"supervise/parsers/internal/parsed"
)

var (
	// rulerPattern matches a line that only separates others: "-----+-----".
	rulerPattern = regexp.MustCompile(`^[\s+|]*[-=*_]{3,}[\s+|=*_-]*$`)
	// caretPattern matches the line that marks a place in the source line above it: "   |
	// ^~~~".
	caretPattern = regexp.MustCompile(`^\s*\|?[\s~|_-]*[~^]`)
	// marginPattern matches the line number and margin before a source line: "   12 | ".
	marginPattern = regexp.MustCompile(`^\s*\d*\s+\| ?`)
)

// continueFinding reads a line that is not a finding itself: a source line, the carets below
// it, or more of the message. The second line in a row that is none of these ends the finding.
func (l *lintReader) continueFinding(s string) {
	if !l.isOpen {
		return
	}
	f := &l.latest
	indented := s[0] == ' ' || s[0] == '\t'
	if m := clippyRulePattern.FindStringSubmatch(s); m != nil && f.Tool == "rustc" {
		f.Tool, f.Rule, f.Type = "clippy", "clippy::"+m[1], false
		l.AddTool(f.Tool)
		return
	}

	switch {
	case f.Text == "" && caretPattern.MatchString(s):
		l.takeSourceLine(f, s)
	case l.continuesMessage(f, indented):
		if len(f.Message) < parsed.MaxMessage {
			f.Message = strings.TrimSpace(f.Message + " " + textstream.CleanText(s))
		}
	case indented, marginPattern.MatchString(s):
	case l.hasStrayLine:
		l.isOpen = false
	default: // it may be a source line
		l.hasStrayLine = true
	}
}

// takeSourceLine sets the source text of a finding to the line before the carets.
func (l *lintReader) takeSourceLine(f *metric.Finding, carets string) {
	_, source := cutBuildPrefix(l.previousLine)
	f.Text = textstream.CleanText(marginPattern.ReplaceAllString(source, ""))
	if f.Column == 0 && !strings.Contains(carets, "|") {
		f.Column = strings.IndexByte(carets, '^') + 1
	}
	f.Message = strings.TrimSpace(strings.TrimSuffix(f.Message, f.Text))
}

// continuesMessage reports whether a line continues the message. mypy wraps long messages
// without indenting the next line.
func (l *lintReader) continuesMessage(f *metric.Finding, indented bool) bool {
	if f.Message == "" && indented {
		return true
	}
	isWrapped := f.Tool == "mypy" && f.Rule == "" && len(l.previousLine) > mypyWrapLength
	return l.isMultiline && f.Text == "" && (indented || isWrapped)
}

// handleLLDPlace reads the place from a line after an error of lld, and reports whether the
// line is one of these.
func (l *lintReader) handleLLDPlace(s string) bool {
	f := &l.latest
	if !l.isOpen || f.Tool != "lld" || !strings.HasPrefix(s, ">>> ") {
		return false
	}
	if m := lldPlacePattern.FindStringSubmatch(s); m != nil && f.File == "" {
		f.File = textstream.CleanName(parsed.ToSlash(cmp.Or(m[3], m[1])))
		f.Line, _ = strconv.Atoi(cmp.Or(m[4], m[2])) // digits
	}
	return true
}

// lldPlacePattern matches the line after an error of lld: ">>> referenced by a.c:3 (/src/a.c:3)".
// It has the path only with debug information.
var lldPlacePattern = regexp.MustCompile(`^>>> (?:referenced by|defined (?:at|in)) ([^\s:(]+)(?::(\d{1,9}))?(?: \((.*):(\d{1,9})\))?$`)

// clippyRulePattern matches the link to the rule after each finding of clippy.
var clippyRulePattern = regexp.MustCompile(`rust-clippy/\S*index\.html#(\w+)`)

// mypyWrapLength is the length from which mypy --pretty wraps a line.
const mypyWrapLength = 60

// trailingRule returns a rule in brackets at the end of a message, and the text before it:
// "unused" and "x is unused" for "x is unused (unused)". Without a rule, it returns "" and the
// message.
func trailingRule(message string) (rule, before string) {
	end := len(message) - 1
	if end < 0 || message[end] != ']' && message[end] != ')' {
		return "", message
	}

	open := strings.LastIndexAny(message[:end], "[( ")
	if open < 1 || message[open] == ' ' {
		return "", message
	}
	if !isRule(strings.TrimPrefix(message[open+1:end], "-")) {
		return "", message
	}
	if before = strings.TrimRight(message[:open], " \t\n\f\r"); len(before) == open {
		return "", message
	}
	return message[open+1 : end], before
}

// isRule reports whether s can be the name of a rule: a letter, and then letters, digits and
// some punctuation.
func isRule(s string) bool {
	for i, r := range s {
		isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		isOther := '0' <= r && r <= '9' || strings.ContainsRune("-_./@:+=,", r)
		if !isLetter && (i == 0 || !isOther) {
			return false
		}
	}
	return s != ""
}

// finishMessage moves the rule at the end of a multi-line message to the field for it.
func (l *lintReader) finishMessage() {
	if !l.isOpen {
		return
	}
	if f := &l.latest; f.Rule == "" && l.isMultiline {
		moveTrailingRule(f)
	}
}
