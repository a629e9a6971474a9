package tests

import (
	"strings"

	"supervise/integrity/internal/facts"
	"supervise/internal/regexp"
	"supervise/source"
)

var (
	// titledCallRE matches calls that define a test, up to the end of the title, which is not a
	// reason: it.skip('adds', xit "adds", and in Ruby skip "adds" do.
	titledCallRE = regexp.MustCompile(`\b[xf]?(?:it|test|specify|describe|context|suite|example|scenario|feature)(?:\.\w+)*\s*(?:\(\s*)?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `)|^\s*(?:skip|pending)[ (]+(?:"[^"]*"|'[^']*').*(?:\bdo\b|\{).*`)
	// statedReasonRE matches a word that skips, or gives a reason, with a text that contains a word
	// or the number of an issue, as in t.Skip("see #12").
	statedReasonRE = regexp.MustCompile(`(?i)\b(?:skip\w*|(?:xct|gtest_)skip|\w*(?:skip|incomplete|abort|assumption|omitted)\w*(?:exception|error)|xfail|marktest\w+|abort|ignore|disabled|explicit|pending|pend|omit|inconclusive|cancel|todo|reason|because)(?:::\w+)*[\s(<>,=:)]{1,12}(?:\w+\s*[:=]\s*)?[@$fbru]{0,2}(?:"[^"\n]*?(?:[a-z]{3}|#\d)|'[^'\n]*?(?:[a-z]{3}|#\d)|` + "`[^`\n]*?(?:[a-z]{3}|#\\d))")
	// trackedReasonRE matches a skip with a link or the version in which it ends, and an expected
	// failure that names the error, as in xfail(raises=ValueError).
	trackedReasonRE = regexp.MustCompile(`https?://\S|\b[Uu]ntil \w+ v?\d+\.\d|\bxfail\([^)]*\braises\s*=`)
)

// statesReason reports whether a skip states a reason, in the call that skips or in a new comment
// next to it. The reason may be an excuse, but people give one when their tests are flaky, or fail
// because of the change of another person.
func (s newSkip) statesReason() bool {
	side := s.After.Side
	text := side.LineAt(s.Line)
	for n := s.Line + 1; n < s.Line+facts.MaxReasonLines && strings.Count(text, "(") > strings.Count(text, ")"); n++ {
		text += " " + strings.TrimSpace(side.LineAt(n))
	}

	for _, t := range []string{s.Text, text} {
		if trackedReasonRE.MatchString(t) || statedReasonRE.MatchString(titledCallRE.ReplaceAllString(t, " ")) {
			return true
		}
	}

	last := s.Line // the first line of the test's body, or that of the group's
	if s.Scope == source.OnTest && s.Line < s.After.Line {
		last = min(s.After.Line, s.Line+facts.MaxReasonLines)
	}
	return hasRemarkAt(s.After.File, s.Line, last+1)
}

// hasRemarkAt reports whether some lines, or the comments and annotations right above them,
// have a new remark.
func hasRemarkAt(f *facts.ChangedFile, from, to int) bool {
	s := f.After()
	messages := f.NewRemarks()
	for n := from; n <= to; n++ {
		if messages[n] {
			return true
		}
	}
	for n := from - 1; n > 0 && from-n <= facts.MaxReasonLines && facts.AnnotationLineRE.MatchString(s.LineAt(n)); n-- {
		if messages[n] {
			return true
		}
	}
	return false
}

// hasRemarkAbove reports whether the comment that contains a line, possibly with blank
// lines, has a new remark.
func hasRemarkAbove(f *facts.ChangedFile, line int) bool {
	s, messages := f.After(), f.NewRemarks()
	comments := facts.SetOf(s.CommentLines(), func(l facts.Line) int { return l.Number })
	for n := line; n > 0 && (comments[n] || strings.TrimSpace(s.LineAt(n)) == ""); n-- {
		if messages[n] {
			return true
		}
	}
	return false
}
