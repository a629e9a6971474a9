package main

import (
	"regexp"
	"slices"
	"strings"
)

// testCase is a test as it stands in the lines of a file, all numbers from 0 and
// the last ones included. It is found by indentation, on purpose without the
// reader that the rules use: a fault of theirs must not hide here too.
type testCase struct {
	file   string
	name   string
	lang   *language
	lines  []string // of the whole file
	start  int      // with decorators and the comment above
	head   int      // the line that defines it
	body   int      // the first line within
	end    int      // the closing line; in Python the last of the body
	indent string
	quoted []bool // lines that begin within a string of several lines
}

// last is the last line of the body.
func (t *testCase) last() int {
	if t.lang.family == byIndent {
		return t.end
	}
	return t.end - 1
}

func (t *testCase) text() string     { return strings.Join(t.lines[t.start:t.end+1], "\n") }
func (t *testCase) bodyText() string { return strings.Join(t.lines[t.body:t.last()+1], "\n") }
func (t *testCase) file0() string    { return strings.Join(t.lines, "\n") }

// inner is the indentation of the body.
func (t *testCase) inner() string {
	for i := t.body; i <= t.last() && i < len(t.lines); i++ {
		if strings.TrimSpace(t.lines[i]) != "" {
			if in := indentOf(t.lines[i]); len(in) > len(t.indent) {
				return in
			}
			break
		}
	}
	return t.indent + t.lang.step(t.indent)
}

// replaced returns the file with the lines from..to (included) replaced.
func (t *testCase) replaced(from, to int, with ...string) []byte {
	return join(slices.Concat(t.lines[:from], with, t.lines[to+1:]))
}

func (t *testCase) inserted(at int, with ...string) []byte {
	return join(slices.Concat(t.lines[:at], with, t.lines[at:]))
}

func join(lines []string) []byte { return []byte(strings.Join(lines, "\n")) }

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

var (
	// collected are the files in which runners of Python look for tests: others hold
	// what tests read.
	collected = regexp.MustCompile(`(?:^|/)(?:test\w*|\w+_tests?|tests)\.py$`)
	// notRun are tests that are skipped already.
	notRun = regexp.MustCompile(`#\[ignore|\bmark\.skip\b|@(?:unittest\.)?skip\b|@(?:Ignore|Disabled)\b`)
)

// findTests returns the tests of a file that the language's row describes. Those that
// are skipped, and those
// written on one line, or formatted in a way that hides their end, are left out.
func findTests(file string, text []byte) []*testCase {
	lang := languageOf(file)
	if lang == nil || len(text) == 0 || strings.Contains(string(text), "\r") || lang.name == "python" && !collected.MatchString(file) {
		return nil
	}
	lines := strings.Split(string(text), "\n")
	var out []*testCase
	var quoted []bool
	if lang.name == "python" {
		quoted = inTriple(lines)
	}
	for i, line := range lines {
		m := lang.def.FindStringSubmatch(line)
		if m == nil || quoted != nil && quoted[i] {
			continue
		}
		t := &testCase{file: file, lang: lang, lines: lines, head: i, start: i, indent: indentOf(line), quoted: quoted}
		for _, g := range m[1:] {
			if t.name == "" {
				t.name = g
			}
		}
		t.above()
		if notRun.MatchString(strings.Join(lines[t.start:i+1], "\n")) {
			continue
		}
		if lang.mark != nil && !lang.mark.MatchString(strings.Join(lines[t.start:i+1], "\n")) {
			continue
		}
		if t.within() && t.last() >= t.body && strings.TrimSpace(t.bodyText()) != "" {
			out = append(out, t)
		}
	}
	return out
}

var attribute = regexp.MustCompile(`^\s*(@\w|#\[|\[\w|//|/\*|\*|#\s|\*/)`)

// above finds where the decorators and comments over a test begin.
func (t *testCase) above() {
	for i := t.head - 1; i >= 0; i-- {
		line := t.lines[i]
		if strings.TrimSpace(line) == "" {
			return
		}
		ind := indentOf(line)
		closes := len(ind) == len(t.indent) && strings.HasPrefix(strings.TrimSpace(line), ")")
		deeper := len(ind) > len(t.indent) && t.decoratorBegins(i)
		switch {
		case len(ind) >= len(t.indent) && attribute.MatchString(line) && len(ind) <= len(t.indent)+1, closes, deeper:
			t.start = i
		default:
			return
		}
	}
}

// decoratorBegins says that a line further in belongs to a decorator above it.
func (t *testCase) decoratorBegins(i int) bool {
	for ; i >= 0; i-- {
		line := t.lines[i]
		if strings.TrimSpace(line) == "" {
			return false
		}
		if len(indentOf(line)) == len(t.indent) {
			return regexp.MustCompile(`^\s*(@|#\[|\[)`).MatchString(line)
		}
	}
	return false
}

// within finds body and end.
func (t *testCase) within() bool {
	t.body = -1
	for j := t.head; j < len(t.lines); j++ {
		line := t.lines[j]
		trim := strings.TrimSpace(line)
		if t.body < 0 {
			if t.lang.opens.MatchString(line) && balance(strings.Join(t.lines[t.head:j+1], "\n"))-t.lang.open(line) <= t.outer() {
				t.body = j + 1
			} else if j > t.head+8 || strings.HasSuffix(trim, ";") {
				return false
			}
			continue
		}
		if trim == "" {
			continue
		}
		if t.lang.family == byIndent {
			if len(indentOf(line)) <= len(t.indent) {
				return t.endsBefore(j)
			}
			continue
		}
		if indentOf(line) == t.indent && t.lang.closes.MatchString(trim) {
			t.end = j
			return true
		}
		if len(indentOf(line)) <= len(t.indent) && t.lang.def.MatchString(line) {
			return false
		}
	}
	return t.lang.family == byIndent && t.body >= 0 && t.endsBefore(len(t.lines))
}

// outer is how many brackets around the body may stay open: that of it("…", () => {.
func (t *testCase) outer() int {
	if t.lang.family == byBrace {
		return 1
	}
	return 0
}

func (t *testCase) endsBefore(j int) bool {
	for j--; j >= t.body && strings.TrimSpace(t.lines[j]) == ""; j-- {
		continue
	}
	t.end = j
	return j >= t.body
}

// balance counts brackets that are open at the end of a text, strings left out as
// well as can be told without parsing.
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

// closesSoon tells a quote from an apostrophe or a lifetime.
func closesSoon(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	return strings.IndexByte(line, '\'') >= 0
}

// span is a range of lines, the last included.
type span struct{ from, to int }

// assertions returns the statements of the body that can fail the test.
func (t *testCase) assertions() []span {
	var out []span
	for i := t.body; i <= t.last(); i++ {
		line := t.lines[i]
		if t.lang.name == "go" {
			if s, ok := t.goCondition(i); ok {
				out, i = append(out, s), s.to
				continue
			}
		}
		if !t.lang.assert.MatchString(line) || t.quoted != nil && t.quoted[i] {
			continue
		}
		if to := t.statement(i); to <= t.last() {
			out, i = append(out, span{i, to}), to
		}
	}
	return out
}

// maxStatement is how many lines a statement is followed.
const maxStatement = 60

// statement returns the last line of the statement that begins at i.
func (t *testCase) statement(i int) int {
	j := i
	for ; j <= min(t.last(), i+maxStatement); j++ {
		if balance(strings.Join(t.lines[i:j+1], "\n")) > 0 || strings.HasSuffix(strings.TrimSpace(t.lines[j]), "\\") {
			continue
		}
		next := ""
		if j < t.last() {
			next = strings.TrimSpace(t.lines[j+1])
		}
		if t.lang.family != byIndent && (strings.HasPrefix(next, ".") || strings.HasPrefix(next, "->") || strings.HasPrefix(next, "<<")) {
			continue
		}
		trim := strings.TrimSpace(t.lines[j])
		if (trim == "" || strings.HasSuffix(trim, ",") || strings.HasSuffix(trim, " do") || strings.HasSuffix(trim, "|") && t.lang.family == byEnd) && j < t.last() && j > i+40 {
			break
		}
		if t.lang.family == byEnd && blockOpens.MatchString(trim) {
			if e := t.closing(i); e > 0 {
				return e
			}
		}
		if t.lang.family == byIndent && strings.HasSuffix(trim, ":") { // with pytest.raises(…):
			for j < t.last() && (strings.TrimSpace(t.lines[j+1]) == "" || len(indentOf(t.lines[j+1])) > len(indentOf(t.lines[i]))) {
				j++
			}
		}
		return j
	}
	return j
}

var blockOpens = regexp.MustCompile(`\b(do|fn .*->)(\s*\|[^|]*\|)?$`)

// closing is the line of the `end` that closes what begins at i, 0 for none.
func (t *testCase) closing(i int) int {
	for j := i + 1; j <= t.last(); j++ {
		if indentOf(t.lines[j]) == indentOf(t.lines[i]) && strings.HasPrefix(strings.TrimSpace(t.lines[j]), "end") {
			return j
		}
	}
	return 0
}

var goFails = regexp.MustCompile(`\b\w+\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(`)

// goCondition reads `if cond {` … `t.Errorf(…)` … `}` without an else.
func (t *testCase) goCondition(i int) (span, bool) {
	trim := strings.TrimSpace(t.lines[i])
	if !strings.HasPrefix(trim, "if ") || !strings.HasSuffix(trim, "{") {
		return span{}, false
	}
	ind := indentOf(t.lines[i])
	for j := i + 1; j <= t.last(); j++ {
		if indentOf(t.lines[j]) == ind && strings.HasPrefix(strings.TrimSpace(t.lines[j]), "}") {
			ok := strings.TrimSpace(t.lines[j]) == "}" && j-i <= 5 && goFails.MatchString(strings.Join(t.lines[i:j], "\n"))
			return span{i, j}, ok
		}
	}
	return span{}, false
}

// args splits the arguments of the first call of a name in a statement. It returns
// them and the text before the call's name and after its closing bracket.
func args(stmt, name string) (list []string, before, after string, ok bool) {
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
