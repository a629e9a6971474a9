package facts

import (
	"strings"

	"supervise/internal/regexp"
)

// MaxReasonLines is how many lines are followed for the reason of a skip.
const MaxReasonLines = 8

// Attached matches lines that belong to what is below them: comments, annotations
// and attributes.
var Attached = regexp.MustCompile(`^\s*(?://|#|/?\*|--|@|\[|"""|''')`)

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

// Remarks returns the lines with a comment that came with the change and says
// something: no directive of a tool, and no code that was there before.
func (f *ChangedFile) Remarks() map[int]bool {
	return f.remarked.get(f.readRemarks)
}

func (f *ChangedFile) readRemarks() map[int]bool {
	out := map[int]bool{}
	code := map[string]bool{}
	for _, l := range f.RemovedLines() {
		code[uncommented(l.Text)] = true
	}
	plain := Lines(f.After().WithoutComments())
	for _, l := range f.AddedLines() {
		text := commentIn(l, plain)
		if text == "" || code[text] || directives.MatchString(text) || ownCode.MatchString(text) {
			continue
		}
		prose := len(plainWord.FindAllString(text, 2)) > 1 && !codeLike.MatchString(whose.ReplaceAllString(text, ""))
		out[l.Number] = prose || excusing.MatchString(text)
	}
	return out
}

// commentIn returns the comment of a line, without its marks, "" for none. plain are
// the lines of the file without comments.
func commentIn(l Line, plain []Line) string {
	if l.Number > len(plain) {
		return ""
	}
	at := len(strings.TrimRight(plain[l.Number-1].Text, " \t"))
	if at >= len(l.Text) {
		return ""
	}
	return uncommented(l.Text[at:])
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
