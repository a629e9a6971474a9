package facts

import (
	"strings"

	"supervise/internal/regexp"
)

// Word matches a word.
var Word = regexp.MustCompile(`\w+`)

// WordCounts counts the words of a text.
func WordCounts(text string) map[string]int {
	out := map[string]int{}
	EachWord(text, func(w string) { out[w]++ })
	return out
}

var testParts = regexp.MustCompile(`(?i)^tests?[_-]|[._-]?(?:tests?|specs?)$`)

// SubjectOf is what a test file is about, by its name: calc of test_calc.py.
func SubjectOf(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem, _, _ := strings.Cut(base, ".")
	return strings.ToLower(testParts.ReplaceAllString(stem, ""))
}

// Squash drops the white space of a text.
func Squash(s string) string { return strings.Join(strings.Fields(s), "") }

// EachWord calls use with each word of a text: letters, digits and _ of ASCII.
func EachWord(text string, use func(string)) {
	for i := 0; i < len(text); i++ {
		if !isWordByte(text[i]) {
			continue
		}
		from := i
		for i < len(text) && isWordByte(text[i]) {
			i++
		}
		use(text[from:i])
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}
