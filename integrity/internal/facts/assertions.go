package facts

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// Assertion is one assertion of a test and what was read from its text.
type Assertion struct {
	Text string
	Line int
	source.Assertion
}

// LocatedAssertions returns the assertions of a test with their lines. Their texts are
// not read yet: most are unchanged, and not of interest.
func (t *Test) LocatedAssertions() []Assertion {
	at := t.assertionLines()
	out := make([]Assertion, len(t.Assertions))
	for i, text := range t.Assertions {
		out[i] = Assertion{Text: text, Line: at[i]}
	}
	return out
}

// ParseAssertions reads assertions.
func ParseAssertions(list []Assertion) {
	for i := range list {
		list[i].Assertion = source.ParseAssertion(list[i].Text)
	}
}

// AssertionWordRE matches words of the assertion itself, which do not name what is
// asserted.
var AssertionWordRE = regexp.MustCompile(`(?i)^(?:assert\w*|expect|are_expected|require|verify|check|should|must|(?-i:to(?:[A-Z_]\w*)?)|not|be|is\w*|none|true|false|nil|null|self|this|t|fatal|error|errorf|fatalf|equal\w*|eq|eql|deep\w*|strict\w*|that|throws?|raises?|match\w*|contains?|in|and|or|ok|xct\w*|chai|len|ne|eq|refute\w*|(?:must|wont)_\w+|defined|truthy)$`)

// SubjectWords counts the words of an assertion that name what is asserted.
func SubjectWords(text string) map[string]int {
	out := map[string]int{}
	for _, w := range WordRE.FindAllString(text, -1) {
		if !AssertionWordRE.MatchString(w) && (w[0] < '0' || w[0] > '9') {
			out[w]++
		}
	}
	return out
}

// IsName reports whether a token begins as names do.
func IsName(s string) bool {
	return s[0] == '_' || s[0] == '$' && len(s) > 1 || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z'
}

// Tautologies returns the assertions of a test that hold whatever the code does.
func Tautologies(t *Test) []Assertion {
	var out []Assertion
	for _, a := range t.LocatedAssertions() {
		if source.IsTrivial(a.Text) || t.Side.Language() == source.Python && source.AssertsTuple(a.Text) {
			out = append(out, a)
		}
	}
	ParseAssertions(out)
	return out
}

// LiteralExpr matches strings and numbers as most languages write them.
const LiteralExpr = `(?:[bBrRuU@]{0,2}"(?:[^"\\\n]|\\.)*"|[bBrRuU]{0,2}'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`" + `|-?\b\d[\d_]*(?:\.\d+)?\b)`

// LiteralRE matches a literal.
var LiteralRE = regexp.MustCompile(LiteralExpr)

// AreSimilarNames reports whether one name is within the other.
func AreSimilarNames(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return (strings.Contains(a, b) || strings.Contains(b, a)) && !AssertionWordRE.MatchString(a) && !AssertionWordRE.MatchString(b)
}

// findOpening returns the line with which an assertion of several lines begins, -1 for
// none: "assert [".
func findOpening(list []string, used []bool, assertion string) int {
	for i, s := range list {
		if !used[i] && len(s) > len("assert") && strings.HasPrefix(assertion, s) {
			return i
		}
	}
	return -1
}

// assertionLines returns the line of each assertion of a test; where it is not
// found, it is that of the test.
func (t *Test) assertionLines() []int {
	if t.lines == nil {
		t.lines = t.findAssertions()
	}
	return t.lines
}

func (t *Test) findAssertions() []int {
	var squashed []string
	for n := t.Line; n <= t.End; n++ {
		squashed = append(squashed, RemoveSpace(t.Side.LineAt(n)))
	}
	used := make([]bool, len(squashed))
	out := make([]int, len(t.Assertions))
	for i, a := range t.Assertions {
		out[i] = t.Line
		for _, key := range AssertionPrefixes(a) {
			if n := findContaining(squashed, used, key); n >= 0 {
				out[i], used[n] = t.Line+n, true
				break
			}
		}
		if n := findOpening(squashed, used, RemoveSpace(a)); out[i] == t.Line && n >= 0 {
			out[i], used[n] = t.Line+n, true
		}
	}
	return out
}

// AssertionPrefixes are prefixes to find an assertion in the text with, the longest first.
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

func findContaining(list []string, used []bool, key string) int {
	for i, s := range list {
		if !used[i] && key != "" && strings.Contains(s, key) {
			return i
		}
	}
	return -1
}

// WordRE matches a word.
var WordRE = regexp.MustCompile(`\w+`)

// CountWords counts the words of a text.
func CountWords(text string) map[string]int {
	out := map[string]int{}
	EachWord(text, func(w string) { out[w]++ })
	return out
}

var testAffixRE = regexp.MustCompile(`(?i)^tests?[_-]|[._-]?(?:tests?|specs?)$`)

// SubjectName is what a test file is about, by its name: calc of test_calc.py.
func SubjectName(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem, _, _ := strings.Cut(base, ".")
	return strings.ToLower(testAffixRE.ReplaceAllString(stem, ""))
}

// RemoveSpace drops the white space of a text.
func RemoveSpace(s string) string { return strings.Join(strings.Fields(s), "") }

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
