package facts

import (
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// NormalizeNotation normalises a text for the comparison of rows: no white space, and nothing
// that formatters change.
func NormalizeNotation(text string) string {
	return QuotedKeyRE.ReplaceAllString(NotationReplacer.Replace(RemoveSpace(text)), "$1$2:")
}

// NotationReplacer normalises what formatters change in a row.
var NotationReplacer = strings.NewReplacer("'", `"`, "`", `"`, ",)", ")", ",]", "]", ",}", "}")

// QuotedKeyRE matches the name of a field in needless quotes.
var QuotedKeyRE = regexp.MustCompile(`(^|[{,])"([A-Za-z_]\w*)":`)

// Table is a list of rows and the test it belongs to, nil for none.
type Table struct {
	source.List
	Keys []string // the rows as they are compared: without white space
	Test *source.TestDef
	Path string
}

// maxLinesAboveTest is how many lines above its test a table may end: its names are
// between, and other annotations.
const maxLinesAboveTest = 25

// FindTables returns the tables of a file.
func FindTables(s *Side) []Table {
	var out []Table
	inspection := s.Inspection()
	for _, l := range inspection.Lists {
		t := Table{List: l, Keys: make([]string, len(l.Rows)), Path: s.Path}
		for i, r := range l.Rows {
			t.Keys[i] = NormalizeNotation(r)
		}
		for i := range inspection.Tests {
			d := &inspection.Tests[i]
			inside := d.Line <= l.Line && l.Line <= d.End
			above := l.End < d.Line && d.Line-l.End <= maxLinesAboveTest && t.Test == nil && s.isDirectlyAbove(l.End, d.Line)
			if inside || above {
				t.Test = d
			}
		}
		if t.Test == nil {
			t.Test = s.testUsingList(l)
		}
		out = append(out, t)
	}
	return out
}

// testUsingList returns the test that names the function, or the variable, that holds a list:
// a provider of its rows; nil for none.
func (s *Side) testUsingList(l source.List) *source.TestDef {
	name := ""
	inspection := s.Inspection()
	from := 0
	for _, f := range inspection.Functions {
		if f.Line <= l.Line && l.End <= f.End && f.Line > from && f.Name != "(file)" {
			name, from = LastName(f.Name), f.Line
		}
	}
	m := listNameRE.FindStringSubmatch(s.LineAt(l.Line))
	if name == "" && m != nil {
		name = m[1]
	} else if m != nil && !s.returnsList(m[1], l.End, from) {
		return nil // what a helper needs itself
	}
	if len(name) < 3 || AssertionWordRE.MatchString(name) {
		return nil
	}
	use := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	for i := range inspection.Tests {
		d := &inspection.Tests[i]
		if use.MatchString(s.rangeWithAnnotations(d)) {
			return d
		}
	}
	return nil
}

// returnsList reports whether the function that begins on a line returns or yields a list
// by its name, or ends with that name.
func (s *Side) returnsList(name string, after, begin int) bool {
	use := regexp.MustCompile(`\b(?:return|yield|in|of|from|range|foreach|stream)\b[^\n]*\b` + regexp.QuoteMeta(name) + `\b|^\s*[$@]?` + regexp.QuoteMeta(name) + `\b\s*(?:$|\.(?:stream|iter|each|map|forEach))`)
	for _, f := range s.Inspection().Functions {
		if f.Line != begin {
			continue
		}
		for n := after + 1; n <= f.End; n++ {
			if use.MatchString(s.LineAt(n)) {
				return true
			}
		}
	}
	return false
}

// listNameRE matches the beginning of a line that gives a list a name.
var listNameRE = regexp.MustCompile(`^\s*(?:(?:public|private|protected|internal|static|final|readonly|const|constexpr|let|var|val|auto|export|lateinit|inline|my|our)\s+)*(?:[\w.:<>\[\],?&*]+\s+)?[$@]*(?:self\.)?(\w+)(?:\s*:\s*[^=]+|\[\w*\])?\s*:?=`)

// rangeWithAnnotations is a test with the annotations and comments above it, where its
// provider may be named.
func (s *Side) rangeWithAnnotations(d *source.TestDef) string {
	var b strings.Builder
	for n := s.FirstAnnotationLine(d); n <= d.End; n++ {
		b.WriteString(s.LineAt(n))
		b.WriteByte('\n')
	}
	return b.String()
}

// isDirectlyAbove reports whether no blank line is between a list and a test.
func (s *Side) isDirectlyAbove(end, at int) bool {
	for n := end + 1; n < at; n++ {
		if strings.TrimSpace(s.LineAt(n)) == "" {
			return false
		}
	}
	return true
}

// FirstAnnotationLine returns the first line of what is above a test without a blank line
// between: its annotations.
func (s *Side) FirstAnnotationLine(t *source.TestDef) int {
	from := t.Line
	for from > 1 && t.Line-from < maxLinesAboveTest && strings.TrimSpace(s.LineAt(from-1)) != "" && !s.isLastLineOfTest(from-1) {
		from--
	}
	return from
}
