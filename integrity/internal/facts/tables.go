package facts

import (
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// NormalizeNotation returns a text without white space and without what formatters change, so that
// rows can be compared.
func NormalizeNotation(text string) string {
	return QuotedKeyRE.ReplaceAllString(NotationReplacer.Replace(RemoveSpace(text)), "$1$2:")
}

// NotationReplacer replaces what formatters change in a row: the kind of quotes, and commas before
// a closing bracket.
var NotationReplacer = strings.NewReplacer("'", `"`, "`", `"`, ",)", ")", ",]", "]", ",}", "}")

// QuotedKeyRE matches the name of a field in needless quotes, with the sign before it, in a text
// without white space: {"name": of {"name":1}.
var QuotedKeyRE = regexp.MustCompile(`(^|[{,])"([A-Za-z_]\w*)":`)

// Table is a list of rows. Test is the test that it belongs to, nil if there is none.
type Table struct {
	source.List
	Keys []string // the rows as they are compared, see NormalizeNotation
	Test *source.TestDef
	Path string // the file that contains it
}

// maxLinesAboveTest is how many lines above its test a table may end, because other annotations may
// be between the two.
const maxLinesAboveTest = 25

// FindTables returns the tables of a file.
func FindTables(s *Side) []Table {
	var out []Table
	for _, list := range s.Inspection().Lists {
		t := Table{List: list, Keys: make([]string, len(list.Rows)), Path: s.Path}
		for i, row := range list.Rows {
			t.Keys[i] = NormalizeNotation(row)
		}
		if t.Test = s.testAroundList(list); t.Test == nil {
			t.Test = s.testUsingList(list)
		}
		out = append(out, t)
	}
	return out
}

// testAroundList returns the last test that contains a list, or otherwise the first test that a
// list annotates. It returns nil if there is none.
func (s *Side) testAroundList(list source.List) *source.TestDef {
	var out *source.TestDef
	tests := s.Inspection().Tests
	for i := range tests {
		t := &tests[i]
		isInside := t.Line <= list.Line && list.Line <= t.End
		isAbove := list.End < t.Line && t.Line-list.End <= maxLinesAboveTest && s.isDirectlyAbove(list.End, t.Line)
		if isInside || isAbove && out == nil {
			out = t
		}
	}
	return out
}

// testUsingList returns the first test that names the function or the variable that holds a list,
// and so takes its rows from there. It returns nil if there is none.
func (s *Side) testUsingList(list source.List) *source.TestDef {
	var provider source.Function
	for _, f := range s.Inspection().Functions {
		containsList := f.Line <= list.Line && list.End <= f.End
		if containsList && f.Line > provider.Line && f.Name != "(file)" {
			provider = f
		}
	}

	name := LastName(provider.Name)
	if m := listNameRE.FindStringSubmatch(s.LineAt(list.Line)); m != nil {
		switch {
		case name == "":
			name = m[1]
		case !s.returnsList(provider, m[1], list.End):
			return nil // the function itself needs the list
		}
	}

	if len(name) < 3 || AssertionWordRE.MatchString(name) {
		return nil
	}
	use := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	tests := s.Inspection().Tests
	for i := range tests {
		if use.MatchString(s.rangeWithAnnotations(&tests[i])) {
			return &tests[i]
		}
	}
	return nil
}

// returnsList reports whether a function returns or yields a list by its name, loops over it, or
// has a line with only that name, below the line on which the list ends.
func (s *Side) returnsList(fn source.Function, name string, end int) bool {
	use := regexp.MustCompile(`\b(?:return|yield|in|of|from|range|foreach|stream)\b[^\n]*\b` + regexp.QuoteMeta(name) + `\b|^\s*[$@]?` + regexp.QuoteMeta(name) + `\b\s*(?:$|\.(?:stream|iter|each|map|forEach))`)
	return slices.ContainsFunc(s.Lines(), func(l Line) bool {
		return end < l.Number && l.Number <= fn.End && use.MatchString(l.Text)
	})
}

// listNameRE matches the beginning of a line that gives a list a name: "private static final int[]
// CASES =" and "cases :=".
var listNameRE = regexp.MustCompile(`^\s*(?:(?:public|private|protected|internal|static|final|readonly|const|constexpr|let|var|val|auto|export|lateinit|inline|my|our)\s+)*(?:[\w.:<>\[\],?&*]+\s+)?[$@]*(?:self\.)?(\w+)(?:\s*:\s*[^=]+|\[\w*\])?\s*:?=`)

// rangeWithAnnotations returns a test with the annotations and comments above it, which may
// name its provider.
func (s *Side) rangeWithAnnotations(t *source.TestDef) string {
	var b strings.Builder
	for n := s.FirstAnnotationLine(t); n <= t.End; n++ {
		b.WriteString(s.LineAt(n) + "\n")
	}
	return b.String()
}

// isDirectlyAbove reports whether no blank line is between a line and the head of a test.
func (s *Side) isDirectlyAbove(end, testLine int) bool {
	for n := end + 1; n < testLine; n++ {
		if strings.TrimSpace(s.LineAt(n)) == "" {
			return false
		}
	}
	return true
}

// FirstAnnotationLine returns the first line of the annotations above a test.
func (s *Side) FirstAnnotationLine(t *source.TestDef) int {
	return s.firstLineAbove(t, maxLinesAboveTest)
}
