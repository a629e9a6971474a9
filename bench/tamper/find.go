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

// literalsOf returns what a test gives and what it expects: the strings outside of
// assertions and those inside; where all is in one line, the first and the others.
func (t *testCase) literalsOf() (in, out []string) {
	inside := map[int]bool{}
	for _, a := range t.assertions() {
		for i := a.from; i <= a.to; i++ {
			inside[i] = true
		}
	}
	for i := t.body; i <= t.last(); i++ {
		if goFails.MatchString(t.lines[i]) && t.lang.name == "go" {
			continue // a message
		}
		for _, l := range literal.FindAllString(t.lines[i], -1) {
			switch {
			case len(l) < 3 || l[0] != '"' && l[0] != '\'':
			case inside[i]:
				out = append(out, l)
			default:
				in = append(in, l)
			}
		}
	}
	if len(in) == 0 && len(out) > 1 {
		in, out = out[:1], out[1:]
	}
	return in, out
}

// goName is what a Go test calls its *testing.T.
func (t *testCase) goName() string {
	if m := goParam.FindStringSubmatch(t.lines[t.head]); m != nil {
		return m[1]
	}
	if strings.HasPrefix(t.lines[t.head], "func (") {
		return "suite.T()"
	}
	return "t"
}

// swiftThrows lets a test throw that did not.
func (t *testCase) swiftThrows(lines []string, text string) []string {
	if t.lang.name == "swift" && (strings.HasPrefix(text, "try ") || strings.HasPrefix(text, "throw ")) && !strings.Contains(lines[t.head], "throws") {
		lines[t.head] = strings.Replace(lines[t.head], "() {", "() throws {", 1)
	}
	return lines
}

func (t *testCase) inEvery(text string) []string {
	lines := slices.Clone(t.lines)
	all := findTests(t.file, []byte(t.file0()))
	slices.Reverse(all)
	for _, o := range all {
		if o.body < 1 {
			continue
		}
		say := strings.ReplaceAll(text, "{t}", o.goName())
		lines = slices.Concat(lines[:o.body], indented(o.inner(), o.lang, say), lines[o.body:])
		lines = o.swiftThrows(lines, say)
	}
	return lines
}

// afterImports is the line behind the imports at the top level.
func (t *testCase) afterImports() int {
	at := 0
	for i := 0; i < t.start && i < len(t.lines); i++ {
		if groups.MatchString(t.lines[i]) && at > 0 {
			break
		}
		if importLine.MatchString(t.lines[i]) {
			at = i + 1
			for balance(strings.Join(t.lines[i:at], "\n")) > 0 && at < len(t.lines) {
				at++
			}
		}
	}
	return at
}

var importLine = re(`^(import |from \S+ import |use |using |package |require |require_relative |#include|\s+use ExUnit)`)

var goParam = re(`(\w+) \*testing\.\w+`)

// tables returns the lists of at least four entries in and over a test: literals
// whose entries begin at one indentation, and attributes that repeat.
func (t *testCase) tables() [][]row {
	var out [][]row
	for i := t.start; i <= t.last(); i++ {
		trim := strings.TrimSpace(t.lines[i])
		if attr := caseAttr.FindString(trim); attr != "" {
			rows := []row{{i, i}}
			for i+1 < t.head && caseAttr.FindString(strings.TrimSpace(t.lines[i+1])) == attr {
				i++
				rows = append(rows, row{i, i})
			}
			if len(rows) >= 3 {
				out = append(out, rows)
			}
			continue
		}
		if !strings.HasSuffix(trim, "[") && !strings.HasSuffix(trim, "{") && !strings.HasSuffix(trim, "(") {
			continue
		}
		over := strings.Join(t.lines[max(t.start, i-3):i+1], "\n")
		if trim != "[" && !tabular.MatchString(trim) || trim == "[" && !tabular.MatchString(over) || t.lang.assert.MatchString(t.lines[i]) {
			continue
		}
		if rows := t.listAt(i); len(rows) >= 4 {
			out = append(out, rows)
		}
	}
	return out
}

func (t *testCase) listAt(i int) []row {
	var rows []row
	ind := ""
	for j := i + 1; j <= t.last(); j++ {
		line := t.lines[j]
		trim := strings.TrimSpace(line)
		if trim == "" {
			continue
		}
		in := indentOf(line)
		switch {
		case len(in) <= len(indentOf(t.lines[i])):
			if strings.IndexByte("]})", trim[0]) >= 0 && closed(t.lines, rows) {
				return rows
			}
			return nil
		case ind == "":
			ind = in
			fallthrough
		case in == ind:
			if strings.HasPrefix(trim, t.lang.comment) || strings.IndexByte("]})", trim[0]) >= 0 {
				if len(rows) > 0 {
					rows[len(rows)-1].to = j
				}
				continue
			}
			if !rowStart.MatchString(trim) {
				return nil
			}
			rows = append(rows, row{j, j})
		case len(rows) > 0:
			rows[len(rows)-1].to = j
		}
	}
	return nil
}

// row is one entry of a table of cases, in lines.
type row = span

var caseAttr = re(`^(\[InlineData|\[TestCase|#\[case|#\[test_case|@TestWith)`)

// closed says that each row, but perhaps the last, ends with a comma.
func closed(lines []string, rows []row) bool {
	for i, r := range rows {
		end := strings.TrimSpace(lines[r.to])
		if c := strings.Index(end, " //"); c > 0 {
			end = strings.TrimSpace(end[:c])
		}
		if i < len(rows)-1 && !strings.HasSuffix(end, ",") {
			return false
		}
	}
	return len(rows) > 0
}

var groups = re(`^\s*((public |final |internal |abstract |sealed |static |export |@\w+ )*(class|object) \w+|(RSpec\.)?(describe|context|suite)[ (]|defmodule )`)

// indented puts lines at an indentation, with the steps of the text around.
func indented(at string, l *language, text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		ind := indentOf(line)
		out = append(out, at+strings.Repeat(l.step(at), len(ind)/max(1, len(l.indent)))+strings.TrimSpace(line))
	}
	return out
}

var literal = re(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\b\d+(?:\.\d+)?\b`)

var rowStart = re(`^(\{|\[|\(|"|'|-?\d|pytest\.param|arguments\(|Arguments\.of|new |yield |case |#\[case|\[InlineData|\[TestCase|\w+\{|&|%\{|"[^"]*": |'[^']*' => )`)

// tabular is how the line looks that opens a list of cases, not of other things.
var tabular = re(`(?i)(parametrize|\.each|cases|tests|table|\btt\b|data|inputs|params|examples|for .* (in|of) |range |Source|listOf|arrayOf|arguments:|\[\]struct|map\[\w+\])`)
