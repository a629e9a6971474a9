package integrity

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// maxReason is how many lines are followed for the reason of a skip.
const maxReason = 8

var (
	// titled matches calls that define a test, up to and with its title, which is no
	// reason: it.skip('adds', xit "adds", and in Ruby skip "adds" do.
	titled = regexp.MustCompile(`\b[xf]?(?:it|test|specify|describe|context|suite|example|scenario|feature)(?:\.\w+)*\s*(?:\(\s*)?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `)|^\s*(?:skip|pending)[ (]+(?:"[^"]*"|'[^']*').*(?:\bdo\b|\{).*`)
	// stated matches the word that skips, or says why, with a text that has a word or
	// the number of an issue in it.
	stated = regexp.MustCompile(`(?i)\b(?:skip\w*|(?:xct|gtest_)skip|\w*(?:skip|incomplete|abort|assumption|omitted)\w*(?:exception|error)|xfail|marktest\w+|abort|ignore|disabled|explicit|pending|pend|omit|inconclusive|cancel|todo|reason|because)(?:::\w+)*[\s(<>,=:)]{1,12}(?:\w+\s*[:=]\s*)?[@$fbru]{0,2}(?:"[^"\n]*?(?:[a-z]{3}|#\d)|'[^'\n]*?(?:[a-z]{3}|#\d)|` + "`[^`\n]*?(?:[a-z]{3}|#\\d))")
	// tracked matches a skip that says where its reason is followed up, or in which
	// version it ends, and an expected failure with the error that is expected.
	tracked = regexp.MustCompile(`https?://\S|\b[Uu]ntil \w+ v?\d+\.\d|\bxfail\([^)]*\braises\s*=`)
)

// reasoned reports whether whoever skipped left word of it: in the call that skips, or
// in a comment beside it that came with the change. That may be an excuse, but it is
// what people do whose tests are flaky, or fail for somebody else's fault.
func (s newSkip) reasoned() bool {
	side := s.now.s
	text := side.lineAt(s.Line)
	for n := s.Line + 1; n < s.Line+maxReason && strings.Count(text, "(") > strings.Count(text, ")"); n++ {
		text += " " + strings.TrimSpace(side.lineAt(n))
	}
	for _, t := range []string{s.Text, text} {
		if tracked.MatchString(t) || stated.MatchString(titled.ReplaceAllString(t, " ")) {
			return true
		}
	}
	last := s.Line // the first line of the test's body, or that of the group's
	if s.Scope == source.OnTest && s.Line < s.now.Line {
		last = min(s.now.Line, s.Line+maxReason)
	}
	return s.now.f.remarkAt(s.Line, last+1)
}

// remarkAt reports whether a remark came with the change in some lines, or in the
// lines of comments and annotations right above them.
func (f *file) remarkAt(from, to int) bool {
	s := f.after()
	said := f.remarks()
	for n := from; n <= to; n++ {
		if said[n] {
			return true
		}
	}
	for n := from - 1; n > 0 && from-n <= maxReason && beside.MatchString(s.lineAt(n)); n-- {
		if said[n] {
			return true
		}
	}
	return false
}

// beside matches lines that belong to what stands below them: comments, annotations
// and attributes.
var beside = regexp.MustCompile(`^\s*(?://|#|/?\*|--|@|\[|"""|''')`)

// remarkAbove reports whether a remark came with the change to the comment that a
// line belongs to, blank lines among its lines or not.
func (f *file) remarkAbove(line int) bool {
	s, said, comments := f.after(), f.remarks(), map[int]bool{}
	for _, c := range s.comments() {
		comments[c.n] = true
	}
	for n := line; n > 0 && (comments[n] || strings.TrimSpace(s.lineAt(n)) == ""); n-- {
		if said[n] {
			return true
		}
	}
	return false
}

var (
	// directives are comments for tools, ownCode are those that are code.
	directives = regexp.MustCompile(`(?i)^(?:eslint|prettier|biome|tslint|jshint|istanbul|c8|v8|noqa|nolint|nosec|type:|pyright|pylint|flake8|fmt:|isort|rubocop|noinspection|nosonar|checkstyle|ktlint|phpcs|phpstan|psalm|codecov|@ts-|@phpstan|@psalm|go:|\+build|clang|cspell|spell|coverage|pragma|region|endregion)`)
	ownCode    = regexp.MustCompile(`[;{}]\s*$|^[@})\]]|^\w+(?:\.\w+)*\(.*\)$`)
	codeLike   = regexp.MustCompile(`[={}]|\w\(`)
	whose      = regexp.MustCompile(`^[A-Z]{3,}\([\w@. -]*\):?\s*`) // TODO(name)
	plainWord  = regexp.MustCompile(`[A-Za-z]{2,}`)
	// excusing are words that are a reason by themselves.
	excusing = regexp.MustCompile(`(?i)\b(?:flak\w+|broken|slow|unstable|deprecated|obsolete|unsupported|hangs?|rac[ey]\w*|fail(?:s|ing)|https?:)|#\d`)
)

// remarks returns the lines with a comment that came with the change and says
// something: no directive of a tool, and no code that was there before.
func (f *file) remarks() map[int]bool {
	if f.remarked != nil {
		return f.remarked
	}
	f.remarked = map[int]bool{}
	code := map[string]bool{}
	for _, l := range f.removedLines() {
		code[uncommented(l.text)] = true
	}
	plain := lines(f.after().withoutComments())
	for _, l := range f.addedLines() {
		text := commentIn(l, plain)
		if text == "" || code[text] || directives.MatchString(text) || ownCode.MatchString(text) {
			continue
		}
		prose := len(plainWord.FindAllString(text, 2)) > 1 && !codeLike.MatchString(whose.ReplaceAllString(text, ""))
		f.remarked[l.n] = prose || excusing.MatchString(text)
	}
	return f.remarked
}

// commentIn returns the comment of a line, without its marks, "" for none. plain are
// the lines of the file without comments.
func commentIn(l line, plain []line) string {
	if l.n > len(plain) {
		return ""
	}
	at := len(strings.TrimRight(plain[l.n-1].text, " \t"))
	if at >= len(l.text) {
		return ""
	}
	return uncommented(l.text[at:])
}

// uncommented returns a line without the marks of comments around it.
func uncommented(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), "*/")
	for {
		was := s
		for _, mark := range []string{"//", "#", "/*", "*", "--", "!", ";"} {
			s = strings.TrimSpace(strings.TrimPrefix(s, mark))
		}
		if s == was {
			return s
		}
	}
}
