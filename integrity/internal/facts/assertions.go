package facts

import (
	"iter"
	"path"
	"slices"
	"strings"
	"unicode"

	"supervise/internal/regexp"
	"supervise/source"
)

// Assertion is one assertion of a test and what was read from its text.
type Assertion struct {
	Text string
	Line int // from 1; that of the test if the assertion was not found
	source.Assertion
}

// LocatedAssertions returns the assertions of a test with their lines. They are not
// parsed, because most of them did not change: see [ParseAssertions].
func (t *Test) LocatedAssertions() []Assertion {
	lines := t.assertionLines.get(t.findAssertionLines)
	out := make([]Assertion, len(t.Assertions))
	for i, text := range t.Assertions {
		out[i] = Assertion{Text: text, Line: lines[i]}
	}
	return out
}

// ParseAssertions parses the texts of assertions, and stores the results in the list.
func ParseAssertions(list []Assertion) {
	for i := range list {
		list[i].Assertion = source.ParseAssertion(list[i].Text)
	}
}

// AssertionWordRE matches a word that belongs to the assertion itself and does not name what is
// asserted, such as assertEqual, expect, to, not and None.
var AssertionWordRE = regexp.MustCompile(`(?i)^(?:assert\w*|expect|are_expected|require|verify|check|should|must|(?-i:to(?:[A-Z_]\w*)?)|not|be|is\w*|none|true|false|nil|null|self|this|t|fatal|error|errorf|fatalf|equal\w*|eq|eql|deep\w*|strict\w*|that|throws?|raises?|match\w*|contains?|in|and|or|ok|xct\w*|chai|len|ne|eq|refute\w*|(?:must|wont)_\w+|defined|truthy)$`)

// SubjectWords counts the words of an assertion that name what is asserted: "cart" and "total" of
// "assertEqual(cart.total, 3)".
func SubjectWords(text string) map[string]int {
	out := map[string]int{}
	for _, w := range WordRE.FindAllString(text, -1) {
		isNumber := w[0] >= '0' && w[0] <= '9'
		if !isNumber && !AssertionWordRE.MatchString(w) {
			out[w]++
		}
	}
	return out
}

// NamesSubject reports whether matches is true for one of the subject words of an assertion.
func NamesSubject(text string, matches func(word string) bool) bool {
	for w := range SubjectWords(text) {
		if matches(w) {
			return true
		}
	}
	return false
}

// IsName reports whether a token starts like a name: with a letter, "_" or "$".
func IsName(s string) bool {
	return s[0] == '_' || s[0] == '$' && len(s) > 1 || isLetter(s[0])
}

// Tautologies returns the assertions of a test that hold whatever the code does.
func Tautologies(t *Test) []Assertion {
	isPython := t.Side.Language() == source.Python
	out := Filter(t.LocatedAssertions(), func(a Assertion) bool {
		return source.IsTrivial(a.Text) || isPython && source.AssertsTuple(a.Text)
	})
	ParseAssertions(out)
	return out
}

// LiteralExpr matches strings and numbers as most languages write them, such as "a", b'x', `raw`
// and -1.5.
const LiteralExpr = `(?:[bBrRuU@]{0,2}"(?:[^"\\\n]|\\.)*"|[bBrRuU]{0,2}'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`" + `|-?\b\d[\d_]*(?:\.\d+)?\b)`

// LiteralRE matches a literal.
var LiteralRE = regexp.MustCompile(LiteralExpr)

// AreSimilarNames reports whether one name contains the other, in any case, and neither is a word
// of assertions.
func AreSimilarNames(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	contains := strings.Contains(a, b) || strings.Contains(b, a)
	return contains && !AssertionWordRE.MatchString(a) && !AssertionWordRE.MatchString(b)
}

// findAssertionLines looks for the assertions in the lines of the test, in order. Each line is used
// once.
func (t *Test) findAssertionLines() []int {
	var lines []string // without white space, "" once an assertion is found there
	for n := t.Line; n <= t.End; n++ {
		lines = append(lines, RemoveSpace(t.Side.LineAt(n)))
	}
	out := make([]int, len(t.Assertions))
	for i, a := range t.Assertions {
		out[i] = t.Line
		if n := findAssertion(lines, a); n >= 0 {
			out[i], lines[n] = t.Line+n, ""
		}
	}
	return out
}

// findAssertion returns the index of the line that contains an assertion, or of the first line of
// one that has several, such as "assert [". It returns -1 if there is none.
func findAssertion(lines []string, assertion string) int {
	for _, prefix := range AssertionPrefixes(assertion) {
		if prefix == "" {
			continue
		}
		if n := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, prefix) }); n >= 0 {
			return n
		}
	}
	text := RemoveSpace(assertion)
	return slices.IndexFunc(lines, func(l string) bool { return len(l) > len("assert") && strings.HasPrefix(text, l) })
}

// AssertionPrefixes returns the prefixes by which an assertion is found in a text without white
// space, the longest first. The source package writes an assertion of Go as "condition =>
// t.Fatal(…)", of which only the condition is looked for.
func AssertionPrefixes(a string) []string {
	condition, _, failure := strings.Cut(a, " => t.")
	if failure {
		condition = condition[strings.LastIndex(condition, "; ")+1:]
		condition = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(condition), "!("), ")")
		condition = strings.TrimPrefix(condition, "case ")
	}
	s := RemoveSpace(condition)
	var out []string
	for _, n := range []int{60, 30, 16, 9} {
		if len(s) > n {
			out = append(out, s[:n])
		} else if len(out) == 0 || len(out[len(out)-1]) != len(s) {
			out = append(out, s)
		}
	}
	return out
}

// WordRE matches a word.
var WordRE = regexp.MustCompile(`\w+`)

// CountWords counts the words of a text.
func CountWords(text string) map[string]int {
	out := map[string]int{}
	for w := range Words(text) {
		out[w]++
	}
	return out
}

// HasWord reports whether a text has one of the words.
func HasWord(text string, words map[string]bool) bool {
	return slices.ContainsFunc(WordRE.FindAllString(text, -1), func(w string) bool { return words[w] })
}

// testAffixRE matches the part of a file name that says that it holds tests: the "test_" of
// test_calc and the "_test" of calc_test.
var testAffixRE = regexp.MustCompile(`(?i)^tests?[_-]|[._-]?(?:tests?|specs?)$`)

// SubjectName returns what a test file is about, going by its name: "calc" for test_calc.py.
func SubjectName(name string) string {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	return strings.ToLower(testAffixRE.ReplaceAllString(stem, ""))
}

// RemoveSpace returns a text without its white space.
func RemoveSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// Words yields the words of a text: letters, digits and _ of ASCII.
func Words(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(c rune) bool { return c > unicode.MaxASCII || !isWordByte(byte(c)) })
}

// isLetter reports whether a byte is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWordByte reports whether a byte is an ASCII letter, a digit or an underscore.
func isWordByte(c byte) bool { return c == '_' || isLetter(c) || c >= '0' && c <= '9' }
