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
	ruler     = regexp.MustCompile(`^[\s+|]*[-=*_]{3,}[\s+|=*_-]*$`)
	caretLine = regexp.MustCompile(`^\s*\|?[\s~|_-]*[~^]`)
	margin    = regexp.MustCompile(`^\s*\d*\s+\| ?`)
)

// goOn looks at a line that is not its own finding: the source line with
// carets under it, or more of the message.
func (l *lintText) goOn(s string) {
	if !l.open {
		return
	}
	f := &l.latest
	indented := s[0] == ' ' || s[0] == '\t'
	if m := clippyRule.FindStringSubmatch(s); m != nil && f.Tool == "rustc" {
		f.Tool, f.Rule, f.Type = "clippy", "clippy::"+m[1], false
		l.Heard(f.Tool)
		return
	}
	switch {
	case f.Text == "" && caretLine.MatchString(s):
		l.source(f, s)
	case l.continues(f, indented):
		if len(f.Message) < parsed.MaxMessage {
			f.Message = strings.TrimSpace(f.Message + " " + textstream.CleanText(s))
		}
	case indented, margin.MatchString(s):
	case l.stray:
		l.open = false
	default: // it may be a source line as well
		l.stray = true
	}
}

// source takes the line before the carets.
func (l *lintText) source(f *metric.Finding, carets string) {
	_, source := peel(l.before)
	f.Text = textstream.CleanText(margin.ReplaceAllString(source, ""))
	if f.Column == 0 && !strings.Contains(carets, "|") {
		f.Column = strings.IndexByte(carets, '^') + 1
	}
	f.Message = strings.TrimSpace(strings.TrimSuffix(f.Message, f.Text))
}

// continues reports whether a line is more of the message.
func (l *lintText) continues(f *metric.Finding, indented bool) bool {
	if f.Message == "" && indented {
		return true
	}
	broken := f.Tool == "mypy" && f.Rule == "" && len(l.before) > wrapped
	return l.more && f.Text == "" && (indented || broken)
}

// placed takes the place from a line below an error of lld.
func (l *lintText) placed(s string) bool {
	f := &l.latest
	if !l.open || f.Tool != "lld" || !strings.HasPrefix(s, ">>> ") {
		return false
	}
	if m := lldPlace.FindStringSubmatch(s); m != nil && f.File == "" {
		f.File = textstream.CleanName(parsed.Slashed(cmp.Or(m[3], m[1])))
		f.Line, _ = strconv.Atoi(cmp.Or(m[4], m[2])) // digits
	}
	return true
}

// lldPlace is below an error of lld: the file, and its path where there is debug information.
var lldPlace = regexp.MustCompile(`^>>> (?:referenced by|defined (?:at|in)) ([^\s:(]+)(?::(\d{1,9}))?(?: \((.*):(\d{1,9})\))?$`)

// clippyRule is below each finding of clippy.
var clippyRule = regexp.MustCompile(`rust-clippy/\S*index\.html#(\w+)`)

// wrapped is the length from which mypy --pretty breaks a line.
const wrapped = 60

// trailingRule returns a rule in brackets at the end of a message, and the text before it.
func trailingRule(message string) (rule, before string) {
	end := len(message) - 1
	if end < 0 || message[end] != ']' && message[end] != ')' {
		return "", message
	}
	open := strings.LastIndexAny(message[:end], "[( ")
	if open < 1 || message[open] == ' ' {
		return "", message
	}
	first := strings.TrimPrefix(message[open+1:end], "-")
	if first == "" || first[0]|0x20 < 'a' || first[0]|0x20 > 'z' || strings.ContainsFunc(first, notOfRules) {
		return "", message
	}
	if before = strings.TrimRight(message[:open], " \t\n\f\r"); len(before) == open {
		return "", message
	}
	return message[open+1 : end], before
}

func notOfRules(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./@:+=,", r)
}

// finish takes the rule off the end of a message of several lines.
func (l *lintText) finish() {
	if !l.open {
		return
	}
	if f := &l.latest; f.Rule == "" && l.more {
		takeRule(f)
	}
}
