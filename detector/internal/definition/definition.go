// Package definition finds the source definitions of reported tests. Go reports the
// name and package of a test exactly. Other runners write names in many ways and need
// not name files, so there the definitions that match best are taken.
package definition

import (
	"maps"
	"path"
	"slices"
	"strings"

	"supervise/detector/internal/naming"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// TestSource is a test definition in a source file. It belongs to the test
// whose name is Def.Name and whose suite is Suite or, if Suite is empty, the
// File or its folder.
type TestSource struct {
	Suite string
	File  string // slash separated, relative to the root of the tree
	Def   source.TestDef
}

// isExact reports whether name and suite of the test follow exactly from the source.
func (t *TestSource) isExact() bool {
	return t.Suite != "" || t.File == "" || source.DetectLanguage(t.File, nil) == source.Go
}

// belongsTo reports whether suite or file of a reported test are those of the
// definition.
func (t *TestSource) belongsTo(test metric.Test) bool {
	if t.Suite != "" {
		return t.Suite == test.Suite
	}
	dir := path.Dir(t.File)
	return t.File == "" || t.File == test.File || t.File == test.Suite || dir == test.Suite || strings.HasSuffix(test.Suite, "/"+dir)
}

// title returns the name without the class.
func (t *TestSource) title() string { return strings.TrimPrefix(t.Def.Name, t.Def.Class+" ") }

// fileRank returns how well a reported test names the file of the definition, from 0 to 2, see
// [naming.FileRank].
func (t *TestSource) fileRank(test metric.Test) int { return fileRank(test, t.File) }

func fileRank(test metric.Test, file string) int {
	return max(naming.FileRank(test.File, file), naming.FileRank(test.Suite, file), naming.FileRank(test.Class, file))
}

// hasClass reports whether a suite or class ends with that of the definition or, if
// the definition has none, with its file.
func (t *TestSource) hasClass(name string) bool {
	parts := naming.SplitPath(name)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	if t.Def.Class == "" {
		return last == strings.TrimSuffix(path.Base(t.File), path.Ext(t.File))
	}
	name = naming.Plain(name)
	return last == t.Def.Class || name == t.Def.Class || strings.HasSuffix(name, " "+t.Def.Class)
}

// SameTest reports whether two definitions are one test before and after a change.
func SameTest(a, b TestSource) bool {
	return a.Def.Name == b.Def.Name && a.Def.Class == b.Def.Class && a.File == b.File && a.Suite == b.Suite
}

// SameTokens reports whether two definitions of a test have the same tokens and skip
// conditions.
func SameTokens(a, b TestSource) bool {
	return maps.Equal(a.Def.Tokens, b.Def.Tokens) && slices.Equal(a.Def.SkipConditions, b.Def.SkipConditions)
}

// Duplicate is a test that is gone, and an identical one that stays.
type Duplicate struct {
	Lost    TestSource `json:"lost"`
	Staying TestSource `json:"staying"`
}

// Index finds the definitions of reported tests in a list.
type Index struct {
	list       []TestSource
	byLastWord map[string][]*TestSource       // by the last word of the name
	rows       map[*TestSource]*regexp.Regexp // of titles with placeholders
	titles     []*TestSource                  // those definitions
	exact      bool                           // all definitions are exact
}

// NewIndex returns an index of the definitions.
func NewIndex(list []TestSource) *Index {
	x := &Index{list: list, byLastWord: make(map[string][]*TestSource, len(list)), rows: map[*TestSource]*regexp.Regexp{}, exact: true}
	for i := range list {
		t := &list[i]
		word := naming.LastWord(t.Def.Name)
		x.byLastWord[word] = append(x.byLastWord[word], t)
		if t.isExact() {
			continue
		}
		x.exact = false
		if rows := naming.RowPattern(t.title()); rows != nil {
			x.rows[t], x.titles = rows, append(x.titles, t)
		}
	}
	return x
}

// maxMatches bounds how many definitions are considered for one test.
const maxMatches = 8

// reportedTest is a test with the names that its definition may have.
type reportedTest struct {
	metric.Test
	plain, full string   // the name with blanks between groups, without and with the class
	own         []string // the names without parameters, see naming.FunctionNames
	group       string   // the class; in TAP the class is the test, and the name one of its assertions
}

// newReportedTest returns a test with its possible names.
func newReportedTest(test metric.Test) reportedTest {
	r := reportedTest{Test: test, plain: naming.Plain(test.Name), own: naming.FunctionNames(test.Name)}
	r.full = r.plain
	if test.Class != "" {
		r.full, r.group = naming.Plain(test.Class+" "+test.Name), naming.Plain(test.Class)
	}
	return r
}

// Find returns the definitions that match a test best.
func (x *Index) Find(test metric.Test) []*TestSource {
	if x.exact {
		return x.best(x.byLastWord[naming.LastWord(test.Name)], reportedTest{Test: test})
	}
	r := newReportedTest(test)
	var words []string
	for _, name := range append(r.own, test.Name, r.plain, r.group) {
		if word := naming.LastWord(name); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	var candidates []*TestSource
	for _, word := range words {
		candidates = append(candidates, x.byLastWord[word]...)
	}
	if found := x.best(candidates, r); len(found) > 0 {
		return found
	}
	return x.best(x.titles, r)
}

// best returns the candidates with the highest rank above zero.
func (x *Index) best(candidates []*TestSource, r reportedTest) []*TestSource {
	var out []*TestSource
	highest := 1
	for _, t := range candidates {
		switch rank := x.rank(t, r); {
		case rank > highest:
			highest, out = rank, append(out[:0], t)
		case rank == highest && len(out) < maxMatches:
			out = append(out, t)
		}
	}
	return out
}

// rank returns how well a definition matches a test, 0 for not at all. The file in the report has
// the most weight (8 or 16), then the name (2 to 6), then the class (1).
func (x *Index) rank(t *TestSource, r reportedTest) int {
	if t.isExact() {
		if t.Def.Name == r.Name && t.belongsTo(r.Test) {
			return 1
		}
		return 0
	}
	match := x.matchName(t, r)
	if match == noMatch {
		return 0
	}
	rank := 1 + 8*t.fileRank(r.Test) + 2*int(match)
	if t.hasClass(r.Class) || t.hasClass(r.Suite) {
		rank++
	}
	return rank
}

// nameMatch says which part of the name of a test is the name of a definition.
type nameMatch int

const (
	noMatch       nameMatch = iota
	caseMatch               // the name without parameters, or the group
	titleMatch              // the name without some of the groups
	fullNameMatch           // the complete name
)

// matchName returns how the name of a test matches that of a definition.
func (x *Index) matchName(t *TestSource, r reportedTest) nameMatch {
	name, title := t.Def.Name, t.title()
	isGroup := r.group != "" && (r.group == name || r.group == title || strings.HasSuffix(name, " "+r.group))
	switch {
	case name == r.plain, name == r.full:
		return fullNameMatch
	case r.plain == title, strings.HasSuffix(r.plain, " "+title), strings.HasSuffix(name, " "+r.plain):
		return titleMatch
	case slices.Contains(r.own, name), isGroup:
		return caseMatch
	}
	if rows := x.rows[t]; rows != nil && rows.MatchString(r.plain) {
		return caseMatch
	}
	return noMatch
}

// IsCase reports whether a test is one of several that a definition produces.
func (x *Index) IsCase(t *TestSource, test metric.Test) bool {
	return !t.isExact() && x.matchName(t, newReportedTest(test)) == caseMatch
}

// SameTests returns the definitions that are the same test as t.
func (x *Index) SameTests(t TestSource) []*TestSource {
	return slices.DeleteFunc(slices.Clone(x.byLastWord[naming.LastWord(t.Def.Name)]), func(other *TestSource) bool { return !SameTest(*other, t) })
}

// File returns the file that defines a test, "" if it is in none of the definitions.
func (x *Index) File(test metric.Test) string {
	for _, t := range x.Find(test) {
		if t.isExact() || t.fileRank(test) == 2 {
			return t.File
		}
	}
	if parent, ok := test.Parent(); ok {
		test.ID = parent
		return x.File(test)
	}
	return ""
}

// HasFileOf reports whether one of the files of the definitions is that of the test.
func (x *Index) HasFileOf(test metric.Test) bool {
	return x.File(test) != "" || slices.ContainsFunc(x.list, func(t TestSource) bool {
		return t.File != "" && max(naming.FileRank(test.File, t.File), naming.FileRank(test.Suite, t.File)) == 2
	})
}

// enclosing returns the definition of a test, or of its nearest ancestor that has one.
func (x *Index) enclosing(test metric.Test) *TestSource {
	for {
		if found := x.Find(test); len(found) > 0 {
			return found[0]
		}
		parent, ok := test.Parent()
		if !ok {
			return nil
		}
		test.ID = parent
	}
}

// FindExact returns the definition of a test, or of its nearest ancestor that has one,
// in the languages whose definitions show skips: in Go.
func FindExact(list []TestSource, test metric.Test) *TestSource {
	for {
		i := slices.IndexFunc(list, func(t TestSource) bool { return t.isExact() && t.Def.Name == test.Name && t.belongsTo(test) })
		if i >= 0 {
			return &list[i]
		}
		parent, ok := test.Parent()
		if !ok {
			return nil
		}
		test.ID = parent
	}
}
