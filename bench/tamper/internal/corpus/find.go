package corpus

import (
	"regexp"
	"slices"
	"strings"
)

// TestCase is a test as it is in the lines of a file, all numbers from 0 and
// the last ones included. It is found by indentation, on purpose without the
// reader that the rules use: a fault of theirs must not hide here too.
type TestCase struct {
	File   string
	Name   string
	Lang   *Language
	Lines  []string // of the whole file
	Start  int      // with decorators and the comment above
	Head   int      // the line that defines it
	Body   int      // the first line within
	End    int      // the closing line; in Python the last of the body
	Indent string
	quoted []bool // Lines that begin within a string of several lines
}

// Last is the last line of the body.
func (t *TestCase) Last() int {
	if t.Lang.Family == byIndent {
		return t.End
	}
	return t.End - 1
}

// Text is the whole test, with what belongs to its head.
func (t *TestCase) Text() string { return strings.Join(t.Lines[t.Start:t.End+1], "\n") }

// BodyText is what is between head and end.
func (t *TestCase) BodyText() string { return strings.Join(t.Lines[t.Body:t.Last()+1], "\n") }

// File0 is the text of its file.
func (t *TestCase) File0() string { return strings.Join(t.Lines, "\n") }

// Inner is the indentation of the body.
func (t *TestCase) Inner() string {
	for i := t.Body; i <= t.Last() && i < len(t.Lines); i++ {
		if strings.TrimSpace(t.Lines[i]) != "" {
			if in := IndentOf(t.Lines[i]); len(in) > len(t.Indent) {
				return in
			}
			break
		}
	}
	return t.Indent + t.Lang.Step(t.Indent)
}

// Replaced returns the file with the lines from..to (included) replaced.
func (t *TestCase) Replaced(from, to int, with ...string) []byte {
	return Join(slices.Concat(t.Lines[:from], with, t.Lines[to+1:]))
}

// Inserted is the file with more lines before one.
func (t *TestCase) Inserted(at int, with ...string) []byte {
	return Join(slices.Concat(t.Lines[:at], with, t.Lines[at:]))
}

// Join makes a text of lines.
func Join(lines []string) []byte { return []byte(strings.Join(lines, "\n")) }

// IndentOf is the white space that a line begins with.
func IndentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

var (
	// collected are the files in which runners of Python look for tests: others hold
	// what tests read.
	collected = regexp.MustCompile(`(?:^|/)(?:test\w*|\w+_tests?|tests)\.py$`)
	// notRun are tests that are skipped already.
	notRun = regexp.MustCompile(`#\[ignore|\bmark\.skip\b|@(?:unittest\.)?skip\b|@(?:Ignore|Disabled)\b`)
)

// FindTests returns the tests of a file that the language's row describes. Those that
// are skipped, and those
// written on one line, or formatted in a way that hides their end, are left out.
func FindTests(file string, text []byte) []*TestCase {
	lang := LanguageOf(file)
	if lang == nil || len(text) == 0 || strings.Contains(string(text), "\r") || lang.Name == "python" && !collected.MatchString(file) {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	var out []*TestCase
	var quoted []bool
	if lang.Name == "python" {
		quoted = inTriple(lines)
	}
	for i, line := range lines {
		m := lang.def.FindStringSubmatch(line)
		if m == nil || quoted != nil && quoted[i] {
			continue
		}
		t := &TestCase{File: file, Lang: lang, Lines: lines, Head: i, Start: i, Indent: IndentOf(line), quoted: quoted}
		for _, g := range m[1:] {
			if t.Name == "" {
				t.Name = g
			}
		}
		t.above()
		if notRun.MatchString(strings.Join(lines[t.Start:i+1], "\n")) {
			continue
		}
		if lang.mark != nil && !lang.mark.MatchString(strings.Join(lines[t.Start:i+1], "\n")) {
			continue
		}
		if t.Within() && t.Last() >= t.Body && strings.TrimSpace(t.BodyText()) != "" {
			out = append(out, t)
		}
	}
	return out
}

// Attribute matches lines above a test that belong to it.
var Attribute = regexp.MustCompile(`^\s*(@\w|#\[|\[\w|//|/\*|\*|#\s|\*/)`)

// above finds where the decorators and comments over a test begin.
func (t *TestCase) above() {
	for i := t.Head - 1; i >= 0; i-- {
		line := t.Lines[i]
		if strings.TrimSpace(line) == "" {
			return
		}
		ind := IndentOf(line)
		closes := len(ind) == len(t.Indent) && strings.HasPrefix(strings.TrimSpace(line), ")")
		deeper := len(ind) > len(t.Indent) && t.decoratorBegins(i)
		switch {
		case len(ind) >= len(t.Indent) && Attribute.MatchString(line) && len(ind) <= len(t.Indent)+1, closes, deeper:
			t.Start = i
		default:
			return
		}
	}
}

// decoratorBegins says that a line further in belongs to a decorator above it.
func (t *TestCase) decoratorBegins(i int) bool {
	for ; i >= 0; i-- {
		line := t.Lines[i]
		if strings.TrimSpace(line) == "" {
			return false
		}
		if len(IndentOf(line)) == len(t.Indent) {
			return regexp.MustCompile(`^\s*(@|#\[|\[)`).MatchString(line)
		}
	}
	return false
}

// Within finds body and end.
func (t *TestCase) Within() bool {
	t.Body = -1
	for j := t.Head; j < len(t.Lines); j++ {
		line := t.Lines[j]
		trim := strings.TrimSpace(line)
		if t.Body < 0 {
			if t.Lang.Opens.MatchString(line) && balance(strings.Join(t.Lines[t.Head:j+1], "\n"))-t.Lang.open(line) <= t.outer() {
				t.Body = j + 1
			} else if j > t.Head+8 || strings.HasSuffix(trim, ";") {
				return false
			}
			continue
		}
		if trim == "" {
			continue
		}
		if t.Lang.Family == byIndent {
			if len(IndentOf(line)) <= len(t.Indent) {
				return t.endsBefore(j)
			}
			continue
		}
		if IndentOf(line) == t.Indent && t.Lang.Closes.MatchString(trim) {
			t.End = j
			return true
		}
		if len(IndentOf(line)) <= len(t.Indent) && t.Lang.def.MatchString(line) {
			return false
		}
	}
	return t.Lang.Family == byIndent && t.Body >= 0 && t.endsBefore(len(t.Lines))
}

// outer is how many brackets around the body may stay open: that of it("…", () => {.
func (t *TestCase) outer() int {
	if t.Lang.Family == ByBrace {
		return 1
	}
	return 0
}

func (t *TestCase) endsBefore(j int) bool {
	for j--; j >= t.Body && strings.TrimSpace(t.Lines[j]) == ""; j-- {
		continue
	}
	t.End = j
	return j >= t.Body
}

// balance counts brackets that are open at the end of a text, strings left out as
// well as is possible without parsing.
func balance(s string) int {
	n, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote || c == '\n' && quote != '`' {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && closesSoon(s[i+1:]):
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			n++
		case strings.IndexByte(")]}", c) >= 0:
			n--
		}
	}
	return n
}

// closesSoon distinguishes a quote from an apostrophe or a lifetime.
func closesSoon(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	return strings.IndexByte(line, '\'') >= 0
}

// span is a range of lines, the last included.
type span struct{ From, To int }

// Assertions returns the statements of the body that can fail the test.
func (t *TestCase) Assertions() []span {
	var out []span
	for i := t.Body; i <= t.Last(); i++ {
		line := t.Lines[i]
		if t.Lang.Name == "go" {
			if s, ok := t.goCondition(i); ok {
				out, i = append(out, s), s.To
				continue
			}
		}
		if !t.Lang.Assert.MatchString(line) || t.quoted != nil && t.quoted[i] {
			continue
		}
		if to := t.statement(i); to <= t.Last() {
			out, i = append(out, span{i, to}), to
		}
	}
	return out
}

// maxStatement is how many lines a statement is followed.
const maxStatement = 60

// statement returns the last line of the statement that begins at i.
func (t *TestCase) statement(i int) int {
	j := i
	for ; j <= min(t.Last(), i+maxStatement); j++ {
		if balance(strings.Join(t.Lines[i:j+1], "\n")) > 0 || strings.HasSuffix(strings.TrimSpace(t.Lines[j]), "\\") {
			continue
		}
		next := ""
		if j < t.Last() {
			next = strings.TrimSpace(t.Lines[j+1])
		}
		if t.Lang.Family != byIndent && (strings.HasPrefix(next, ".") || strings.HasPrefix(next, "->") || strings.HasPrefix(next, "<<")) {
			continue
		}
		trim := strings.TrimSpace(t.Lines[j])
		if (trim == "" || strings.HasSuffix(trim, ",") || strings.HasSuffix(trim, " do") || strings.HasSuffix(trim, "|") && t.Lang.Family == ByEnd) && j < t.Last() && j > i+40 {
			break
		}
		if t.Lang.Family == ByEnd && blockOpens.MatchString(trim) {
			if e := t.closing(i); e > 0 {
				return e
			}
		}
		if t.Lang.Family == byIndent && strings.HasSuffix(trim, ":") { // with pytest.raises(…):
			for j < t.Last() && (strings.TrimSpace(t.Lines[j+1]) == "" || len(IndentOf(t.Lines[j+1])) > len(IndentOf(t.Lines[i]))) {
				j++
			}
		}
		return j
	}
	return j
}

var blockOpens = regexp.MustCompile(`\b(do|fn .*->)(\s*\|[^|]*\|)?$`)

// closing is the line of the `end` that closes what begins at i, 0 for none.
func (t *TestCase) closing(i int) int {
	for j := i + 1; j <= t.Last(); j++ {
		if IndentOf(t.Lines[j]) == IndentOf(t.Lines[i]) && strings.HasPrefix(strings.TrimSpace(t.Lines[j]), "end") {
			return j
		}
	}
	return 0
}

var goFails = regexp.MustCompile(`\b\w+\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(`)

// goCondition reads `if cond {` … `t.Errorf(…)` … `}` without an else.
func (t *TestCase) goCondition(i int) (span, bool) {
	trim := strings.TrimSpace(t.Lines[i])
	if !strings.HasPrefix(trim, "if ") || !strings.HasSuffix(trim, "{") {
		return span{}, false
	}
	ind := IndentOf(t.Lines[i])
	for j := i + 1; j <= t.Last(); j++ {
		if IndentOf(t.Lines[j]) == ind && strings.HasPrefix(strings.TrimSpace(t.Lines[j]), "}") {
			ok := strings.TrimSpace(t.Lines[j]) == "}" && j-i <= 5 && goFails.MatchString(strings.Join(t.Lines[i:j], "\n"))
			return span{i, j}, ok
		}
	}
	return span{}, false
}

// Args splits the arguments of the first call of a name in a statement. It returns
// them and the text before the call's name and after its closing bracket.
func Args(stmt, name string) (list []string, before, after string, ok bool) {
	at := regexp.MustCompile(regexp.QuoteMeta(name) + `\s*\(`).FindStringIndex(stmt)
	if at == nil {
		return nil, "", "", false
	}
	depth, from, quote := 0, at[1], byte(0)
	for i := at[1]; i < len(stmt); i++ {
		c := stmt[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && closesSoon(stmt[i+1:]):
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0 && depth > 0:
			depth--
		case c == ',' && depth == 0:
			list, from = append(list, strings.TrimSpace(stmt[from:i])), i+1
		case c == ')':
			if s := strings.TrimSpace(stmt[from:i]); s != "" {
				list = append(list, s)
			}
			return list, stmt[:at[0]], stmt[i+1:], true
		}
	}
	return nil, "", "", false
}
