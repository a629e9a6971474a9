package integrity

import (
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// rowRules are about the tables that tests go through.
var rowRules = []rule{
	{"TP-09", "rows_removed", metric.High, findRemovedRows},
}

// findRemovedRows finds tables of tests that have fewer rows than before.
func findRemovedRows(c *change) []Finding {
	var out []Finding
	for _, f := range c.files {
		before, after := f.before(), f.after()
		if !before.mayTest() || !after.mayTest() {
			continue
		}
		for _, x := range c.fewerRows(before, after) {
			if !slices.Contains(out, x) { // one list may be read in two ways
				out = append(out, x)
			}
		}
		out = append(out, emptyLoops(f)...)
	}
	return out
}

// fewerRows compares the tables of a file, those in one test with each other.
func (c *change) fewerRows(before, after *side) []Finding {
	var out []Finding
	now := tablesOf(after)
	for _, b := range tablesOf(before) {
		if len(b.rows) < 2 || b.fields() || b.test != nil && c.isLost(b.test, before) {
			continue
		}
		best, most := -1, 0
		for i, a := range now {
			if n := commonRows(b, a); n > most {
				best, most = i, n
			}
		}
		kept := 0
		if best >= 0 {
			kept = len(now[best].rows)
			if kept >= len(b.rows) {
				continue
			}
		} else if !b.emptied(now, before, after) {
			continue
		}
		if !b.stillIn(after) {
			out = append(out, c.rowFinding(b, now, best, after))
		}
	}
	return out
}

// stillIn reports whether all rows stand in a file one after another, where they are no
// list any more to the scanner: their keys lost their quotes.
func (t table) stillIn(s *side) bool {
	return len(t.rows) > 1 && quotedKey.MatchString(notation.Replace(squash(t.Rows[0]))) &&
		strings.Contains(inNotation(string(s.withoutComments())), strings.Join(t.rows, ","))
}

// inNotation is a text as rows are compared: without white space and what formatters
// change.
func inNotation(text string) string {
	return quotedKey.ReplaceAllString(notation.Replace(squash(text)), "$1$2:")
}

// fewRows is which part of its rows a table may lose beside a change of the
// source.
const fewRows = 3

// notation takes out of a row what formatters change.
var notation = strings.NewReplacer("'", `"`, "`", `"`, ",)", ")", ",]", "]", ",}", "}")

// quotedKey matches a name of a field in quotes, which it does not need.
var quotedKey = regexp.MustCompile(`(^|[{,])"([A-Za-z_]\w*)":`)

func (c *change) rowFinding(b table, now []table, best int, after *side) Finding {
	f := Finding{File: after.path, Line: 0}
	var gone []string
	kept := 0
	if best >= 0 {
		kept, f.Line = len(now[best].rows), now[best].Line
	}
	for i, row := range b.rows {
		if best < 0 || !slices.Contains(now[best].rows, row) {
			gone = append(gone, b.Rows[i])
		}
	}
	if b.test != nil {
		f.Test = b.test.Name
	} else { // maybe no table of a test at all
		f.Severity = metric.Medium
	}
	f.Evidence = evidence(fmt.Sprintf("%d of %d rows are left; gone: %s", kept, len(b.rows), strings.Join(gone, " · ")))
	f.ExplainedBy = c.whyRowsGone(gone, b)
	if fewRows*len(gone) <= len(b.rows) && c.touchesSource() || c.unrolled(b, after) {
		f.Severity = metric.Medium
	}
	return f
}

// unrolled reports whether product code changed, and a new test that is no copy is
// called much like the one that lost rows: each case has a test of its own now.
func (c *change) unrolled(b table, after *side) bool {
	inv := c.tests()
	return b.test != nil && c.touchesProduct() && slices.ContainsFunc(inv.added, func(t *test) bool {
		return t.s == after && !t.skipped() && inv.models[t].like < copyEnough && len(t.Assertions) > len(tautologies(t)) && commonInNames(&test{TestDef: b.test}, t) >= leastInName
	})
}

// whyRowsGone explains rows that are elsewhere, or whose subject is gone.
func (c *change) whyRowsGone(gone []string, b table) string {
	added := c.addedTestCode()
	n, without := 0, 0
	names := c.gone()
	for _, row := range gone {
		if r := squash(row); len(r) > 6 && strings.Contains(added, strings.TrimSuffix(strings.Trim(r, "(){}[]"), ",")) {
			n++
		}
		for w := range subjectWords(row) {
			if len(w) > 2 && names[w] {
				without++
				break
			}
		}
	}
	switch {
	case len(gone) > 0 && 2*n >= len(gone):
		return byAbsorbed
	case len(gone) > 0 && 2*without >= len(gone):
		return bySubject
	case b.test != nil && len(names) > 0 && c.subjectGone(&test{TestDef: b.test, s: &side{path: b.path}}):
		return bySubject
	}
	return ""
}

// table is a list of rows and the test it belongs to, nil for none.
type table struct {
	source.List
	rows []string // without white space
	test *source.TestDef
	path string
}

// field matches an element with the name of a field or a parameter before it.
var field = regexp.MustCompile(`^[A-Za-z_]\w*\s*(?:=|:)[^=:]`)

// fields reports whether a list is a value with named fields, or what a call is
// given: no table.
func (t table) fields() bool {
	n := 0
	for _, r := range t.Rows {
		if field.MatchString(r) {
			n++
		}
	}
	return 2*n > len(t.Rows)
}

// aboveTest is how many lines above its test a table may end: its names stand
// between, and other annotations.
const aboveTest = 25

// tablesOf returns the tables of a file.
func tablesOf(s *side) []table {
	var out []table
	src := s.source()
	for _, l := range src.Lists {
		t := table{List: l, rows: make([]string, len(l.Rows)), path: s.path}
		for i, r := range l.Rows {
			t.rows[i] = inNotation(r)
		}
		for i := range src.Tests {
			d := &src.Tests[i]
			inside := d.Line <= l.Line && l.Line <= d.End
			above := l.End < d.Line && d.Line-l.End <= aboveTest && t.test == nil && s.annotates(l.End, d.Line)
			if inside || above {
				t.test = d
			}
		}
		if t.test == nil {
			t.test = s.user(l)
		}
		out = append(out, t)
	}
	return out
}

// user returns the test that names the function, or the variable, that holds a list:
// a provider of its rows; nil for none.
func (s *side) user(l source.List) *source.TestDef {
	name := ""
	src := s.source()
	from := 0
	for _, f := range src.Functions {
		if f.Line <= l.Line && l.End <= f.End && f.Line > from && f.Name != "(file)" {
			name, from = lastName(f.Name), f.Line
		}
	}
	m := givenName.FindStringSubmatch(s.lineAt(l.Line))
	if name == "" && m != nil {
		name = m[1]
	} else if m != nil && !s.givesBack(m[1], l.End, from) {
		return nil // what a helper needs itself
	}
	if len(name) < 3 || vocabulary.MatchString(name) {
		return nil
	}
	use := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for i := range src.Tests {
		d := &src.Tests[i]
		if use.MatchString(s.wholeRange(d)) {
			return d
		}
	}
	return nil
}

// givesBack reports whether the function that begins on a line returns, yields or
// ends with a name that it gave a list before.
func (s *side) givesBack(name string, after, begin int) bool {
	use := regexp.MustCompile(`\b(?:return|yield|in|of|from|range|foreach|stream)\b[^\n]*\b` + regexp.QuoteMeta(name) + `\b|^\s*[$@]?` + regexp.QuoteMeta(name) + `\b\s*(?:$|\.(?:stream|iter|each|map|forEach))`)
	for _, f := range s.source().Functions {
		if f.Line != begin {
			continue
		}
		for n := after + 1; n <= f.End; n++ {
			if use.MatchString(s.lineAt(n)) {
				return true
			}
		}
	}
	return false
}

// givenName matches the beginning of a line that gives a list a name.
var givenName = regexp.MustCompile(`^\s*(?:(?:public|private|protected|internal|static|final|readonly|const|constexpr|let|var|val|auto|export|lateinit|inline|my|our)\s+)*(?:[\w.:<>\[\],?&*]+\s+)?[$@]*(?:self\.)?(\w+)(?:\s*:\s*[^=]+|\[\w*\])?\s*:?=`)

// wholeRange is a test with the annotations and comments above it, where its
// provider may be named.
func (s *side) wholeRange(d *source.TestDef) string {
	var b strings.Builder
	for n := s.headOf(d); n <= d.End; n++ {
		b.WriteString(s.lineAt(n))
		b.WriteByte('\n')
	}
	return b.String()
}

// annotates reports whether no blank line stands between a list and a test.
func (s *side) annotates(end, at int) bool {
	for n := end + 1; n < at; n++ {
		if strings.TrimSpace(s.lineAt(n)) == "" {
			return false
		}
	}
	return true
}

// commonRows counts the rows that two tables of the same test have in common.
func commonRows(a, b table) int {
	if (a.test == nil) != (b.test == nil) || a.test != nil && a.test.Name != b.test.Name {
		return 0
	}
	n := 0
	for _, r := range a.rows {
		if slices.Contains(b.rows, r) {
			n++
		}
	}
	return n
}

func (c *change) isLost(t *source.TestDef, s *side) bool {
	return slices.ContainsFunc(c.tests().lost, func(l loss) bool { return l.s == s && l.Line == t.Line })
}

// emptyLiteral matches a literal without rows.
var emptyLiteral = regexp.MustCompile(`\[\s*\]|\{\s*\}|(?:=|\bin|,)\s*\(\s*\)`)

// rowMark matches the rows that stand as annotations, otherRows annotations that
// name where rows come from.
var (
	rowMark   = regexp.MustCompile(`^(?:InlineData|TestCase|DataRow|case|test_case|TestWith|Arguments)\s*\(`)
	otherRows = regexp.MustCompile(`\b(?:\w+Data|\w+Source|DataRow|TestCase|case|test_case|TestWith\w*|Arguments|values|files|Values|Range|Combinatorial|Random)\b|@dataProvider`)
)

// emptied reports whether a table has no rows any more, but is still there: the
// test is, and names an empty literal where it did not.
func (t table) emptied(now []table, before, after *side) bool {
	if t.test == nil || t.replaced(now, before) {
		return false
	}
	for _, d := range after.source().Tests {
		if d.Name != t.test.Name {
			continue
		}
		from := max(d.Line-6, 1)
		was, is := t.without(before, before.headOf(t.test), t.test.End), after.maskedRange(after.headOf(&d), d.End)
		if rowMark.MatchString(t.Rows[0]) {
			return !otherRows.MatchString(after.maskedRange(from, d.Line+1))
		}
		if t.End < before.headOf(t.test) || t.Line > t.test.End { // of a provider
			was, is = t.without(before, 1, len(before.starts())), string(after.withoutStrings())
		}
		return len(d.Assertions) >= len(t.test.Assertions) &&
			len(emptyLiteral.FindAllString(is, -1)) > len(emptyLiteral.FindAllString(was, -1))
	}
	return false
}

// without returns some lines of the text that a table stands in, without its rows
// where they have lines of their own.
func (t table) without(s *side, from, to int) string {
	if t.Line == t.End {
		return s.maskedRange(from, to)
	}
	return s.maskedRange(from, t.Line) + "…" + s.maskedRange(max(t.End, from), to)
}

// headOf returns the first line of what stands above a test without a blank line
// between: its annotations.
func (s *side) headOf(t *source.TestDef) int {
	from := t.Line
	for from > 1 && t.Line-from < aboveTest && strings.TrimSpace(s.lineAt(from-1)) != "" && !s.endsTest(from-1) {
		from--
	}
	return from
}

// replaced reports whether the test of a table has another one now that it did not
// have.
func (t table) replaced(now []table, before *side) bool {
	had := tablesOf(before)
	return slices.ContainsFunc(now, func(a table) bool {
		return a.test != nil && a.test.Name == t.test.Name && len(a.rows) > 1 &&
			!slices.ContainsFunc(had, func(o table) bool { return slices.Equal(o.rows, a.rows) })
	})
}

// noRows matches loops over nothing.
var noRows = regexp.MustCompile(`\[\s*0?\s*:\s*0\s*\]|\.slice\(\s*0\s*,\s*0\s*\)|\.(?:take|first|limit|Take)\(\s*0\s*\)|\[\s*\]\.(?:forEach|each|map)\b(?:[^)]|$)|\bin\s+\[\s*\]\s*:|\brange\(\s*0\s*\)|\[\.\.0\]|\[0\.\.0\]|\[0, 0\]\.each|\[\]\s*\.each|\.each\(\s*\[\s*\]\s*\)|parametrize\([^\n]*,\s*(?:\[\s*\]|\(\s*\))\s*[,)]`)

// firstRows matches what takes but the first few of a list.
var firstRows = regexp.MustCompile(`\[\s*0?\s*:\s*[1-3]\s*\]|\.(?:slice|Slice)\(\s*0\s*,\s*[1-3]\s*\)|\.(?:iter\(\)\.)?(?:take|first|limit|Take)\(\s*[1-3]\s*\)|\.prefix\(\s*[1-3]\s*\)`)

// cutShort reports whether a loop goes over the first few rows now, and is else
// as it was.
func (f *file) cutShort(text string) bool {
	m := firstRows.FindStringIndex(text)
	if m == nil {
		return false
	}
	want := squash(text[:m[0]] + text[m[1]:])
	return slices.ContainsFunc(f.removedLines(), func(l line) bool { return squash(l.text) == want })
}

// emptyLoops finds loops over nothing, or cut short, that were added to existing
// test files.
func emptyLoops(f *file) []Finding {
	s := f.after()
	if !s.mayTest() {
		return nil
	}
	var out []Finding
	masked := lines(s.withoutStrings())
	for _, l := range f.addedLines() {
		if l.n > len(masked) || !loops.MatchString(masked[l.n-1].text) {
			continue
		}
		text := masked[l.n-1].text
		if !(noRows.MatchString(text) && noRows.MatchString(l.text) && strings.ContainsAny(text, "[(")) && !f.cutShort(l.text) {
			continue
		}
		x := Finding{File: s.path, Line: l.n, Evidence: evidence(l.text)}
		if t := s.testAt(l.n); t != nil {
			x.Test = t.Name
		}
		out = append(out, x)
	}
	return out
}

// loops matches what goes through a list.
var loops = regexp.MustCompile(`\bfor\b|\.(?:forEach|each|map|iter)\b|parametrize|\brange\b`)

// inTest returns the innermost test that holds a line, nil for none.
func (s *side) inTest(n int) *source.TestDef {
	var best *source.TestDef
	src := s.source()
	for i := range src.Tests {
		t := &src.Tests[i]
		if t.Line <= n && n <= t.End && (best == nil || t.End-t.Line <= best.End-best.Line) {
			best = t
		}
	}
	return best
}

// testAt returns the innermost test that holds a line, or stands below it as
// below an annotation.
func (s *side) testAt(n int) *source.TestDef {
	best := s.inTest(n)
	src := s.source()
	if best == nil {
		for i := range src.Tests {
			if t := &src.Tests[i]; t.Line > n && t.Line-n <= 6 && s.annotates(n, t.Line) {
				return t
			}
		}
	}
	return best
}

// maskedRange returns some lines without comments and the bodies of strings.
func (s *side) maskedRange(from, to int) string {
	starts, masked := s.starts(), s.withoutStrings()
	if from < 1 || from > len(starts) || to < from {
		return ""
	}
	end := len(masked)
	if to < len(starts) {
		end = starts[to]
	}
	return string(masked[starts[from-1]:end])
}
