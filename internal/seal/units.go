package seal

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// Source is a test file of a tree.
type Source struct {
	File
	Text []byte
}

// Fineness is what is taken out of a test file at least.
type Fineness int

// The degrees of fineness, in the order in which they are tried.
const (
	Rows Fineness = iota // rows of tables and subtests
	Definitions
	WholeFiles
)

// unit is a part of a file that can be sealed: every test in it fails.
type unit struct {
	file  int         // index of its source
	group string      // the test whose table or subtests it is part of; "" for none
	span  source.Span // empty if the file is removed
	tests []metric.ID // that fail, without those that only enclose others
	gone  []metric.ID // all reported tests that it defines

	unread int // how many of its tests are in a suite that could not run
}

// reported are the tests that ran.
type reported struct {
	all, failing *metric.Tests
	parents      map[metric.ID]bool // tests that enclose others
}

func newReported(all *metric.Tests) reported {
	r := reported{all: all, parents: map[metric.ID]bool{}}
	for _, t := range all.Cases {
		if p, nested := t.Parent(); nested {
			r.parents[p] = true
		}
	}
	r.failing = metric.NewTests(slices.DeleteFunc(slices.Clone(all.Cases), func(t metric.Test) bool {
		return t.Status != metric.Failed && t.Status != metric.Errored || r.parents[t.ID]
	}))
	return r
}

// unit returns the unit that defines the tests, and false if one of them does not fail.
func (r reported) unit(group string, span source.Span, defined []metric.Test) (unit, bool) {
	u := unit{group: group, span: span}
	for _, t := range defined {
		u.gone = append(u.gone, t.ID)
		switch _, fails := r.failing.Lookup(t.ID); {
		case fails:
			u.tests = append(u.tests, t.ID)
		case !r.parents[t.ID]:
			return u, false
		}
	}
	return u, len(u.tests) > 0
}

// units returns the parts of a test file that can be sealed.
func (r reported) units(f Source, how Fineness) (out []unit) {
	in, err := source.Inspect(f.Path, f.Text)
	if err != nil {
		return nil
	}
	var defs []detector.TestSource
	for _, d := range in.Tests {
		defs = append(defs, detector.TestSource{File: f.Path, Def: d})
	}
	if out := r.unread(f, defs); len(out) > 0 && how != WholeFiles {
		return out
	}
	if len(defs) == 0 || how == WholeFiles {
		if u, ok := r.unit("", source.Span{}, r.testsOfFile(f.Path, defs)); ok {
			return []unit{u}
		}
		return nil
	}
	for i, d := range defs {
		if d.Def.Kind != source.Subtest {
			out = append(out, r.definition(testFile{f.Text, in.Lists, defs}, i, how)...)
		}
	}
	return out
}

// testFile is a test file with its tables and tests.
type testFile struct {
	text  []byte
	lists []source.List
	defs  []detector.TestSource
}

// definition returns the parts of definition i: its failing subtests and rows, or all of it.
func (r reported) definition(f testFile, i int, how Fineness) []unit {
	d := f.defs[i]
	tests := r.testsOf(d, f.defs)
	var inner []unit
	for _, sub := range f.defs[i+1:] {
		if sub.Def.Kind != source.Subtest || sub.Def.Line > d.Def.End {
			break
		}
		found := r.testsOf(sub, f.defs)
		if u, ok := r.unit(d.Def.Name, lines(f.text, sub.Def), found); ok {
			inner = append(inner, u)
		}
		tests = append(tests, found...)
	}
	inner = append(inner, r.rows(f, d.Def, tests)...)
	if how == Rows && len(inner) > 0 {
		return inner
	}
	if u, ok := r.unit("", lines(f.text, d.Def), tests); ok {
		return []unit{u}
	}
	return nil
}

// unread returns the tests of a file whose suite could not run, as when they call what does not exist yet.
func (r reported) unread(f Source, defs []detector.TestSource) (out []unit) {
	i := slices.IndexFunc(r.all.Broken, func(s metric.Suite) bool { return r.contains(s.Name, f.Path) })
	if i < 0 || len(detector.Tampering{File: f.Path}.AffectedTests(r.all, defs, nil)) > 0 {
		return nil
	}
	for _, d := range defs {
		if d.Def.Kind == source.Test {
			out = append(out, unit{span: lines(f.Text, d.Def), unread: 1, tests: []metric.ID{{Suite: r.all.Broken[i].Name, Name: d.Def.Name}}})
		}
	}
	return out
}

// contains reports whether a suite has the tests of a file: it is the file, its folder or, at the root of
// the tree, the Go package that the others are below.
func (r reported) contains(suite, file string) bool {
	dir := path.Dir(file)
	if dir != "." || suite == file {
		return suite == file || suite == dir || strings.HasSuffix(suite, "/"+dir)
	}
	return strings.HasSuffix(file, ".go") && !slices.ContainsFunc(r.all.Cases, func(t metric.Test) bool { return strings.HasPrefix(suite, t.Suite+"/") }) &&
		!slices.ContainsFunc(r.all.Broken, func(s metric.Suite) bool { return strings.HasPrefix(suite, s.Name+"/") })
}

// testsOfFile returns the reported tests of a file.
func (r reported) testsOfFile(path string, defs []detector.TestSource) []metric.Test {
	if len(defs) > 0 {
		return detector.Tampering{File: path}.AffectedTests(r.all, defs, nil)
	}
	var out []metric.Test
	for _, t := range r.all.Cases {
		if t.File == path {
			out = append(out, t)
		}
	}
	return out
}

// testsOf returns the reported tests of a definition.
func (r reported) testsOf(d detector.TestSource, defs []detector.TestSource) []metric.Test {
	find := detector.Tampering{File: d.File, Test: d.Def.Name}
	if len(find.AffectedTests(r.failing, defs, nil)) == 0 {
		return nil
	}
	found := find.AffectedTests(r.all, defs, nil)
	sameName := slices.ContainsFunc(defs, func(o detector.TestSource) bool { return o.Def.Name == d.Def.Name && o.Def.Class != d.Def.Class })
	return slices.DeleteFunc(slices.Clone(found), func(t metric.Test) bool {
		return sameName && lastPart(t.Class) != d.Def.Class
	})
}

// lastPart returns what follows the last separator in the name of a class.
func lastPart(class string) string { return class[strings.LastIndexAny(class, ".:/$")+1:] }

// rows returns the rows of the tables of a definition that are failing tests. A test belongs to the only
// row whose literals its name shows. What that guesses wrong is noticed when the other tests run.
func (r reported) rows(f testFile, d source.TestDef, tests []metric.Test) []unit {
	for _, l := range f.lists {
		if len(l.Spans) < 2 || l.End < d.Line-maxAbove {
			continue
		}
		taken := map[int]bool{}
		var found []unit
		for _, t := range tests {
			i := onlyRow(l.Rows, t)
			if r.parents[t.ID] || i < 0 || taken[i] {
				continue
			}
			taken[i] = true
			if u, ok := r.unit(d.Name, rowSpan(f.text, l.Spans, i), []metric.Test{t}); ok {
				found = append(found, u)
			}
		}
		if len(taken) == len(l.Rows) {
			return found
		}
	}
	return nil
}

// maxAbove is how many lines above a test its table may end.
const maxAbove = 200

// onlyRow returns the index of the only row that a test can belong to, -1 if there is none.
func onlyRow(rows []string, t metric.Test) int {
	for _, matches := range []func(literals []string, name string) bool{isNamedBy, showsAll} {
		found := -1
		for i, row := range rows {
			if !matches(literalsIn(row), plainName(t.Name)) {
				continue
			}
			if found >= 0 {
				found = -2
				break
			}
			found = i
		}
		if found >= 0 {
			return found
		}
	}
	return -1
}

// isNamedBy reports whether the last part of the name of a test is a literal of the row, or all of them.
func isNamedBy(literals []string, name string) bool {
	for _, l := range append(literals, strings.Join(literals, "-")) {
		if l != "" && (strings.HasSuffix(name, "/"+l) || strings.HasSuffix(name, "["+l+"]")) {
			return true
		}
	}
	return false
}

// showsAll reports whether the name of a test contains the literals of the row in order, as words.
func showsAll(literals []string, name string) bool {
	for _, l := range literals {
		at := -1
		for from := 0; at < 0; {
			i := strings.Index(name[from:], l)
			if i < 0 {
				return false
			}
			end := from + i + len(l)
			if isBorder(name, from+i-1) && isBorder(name, end) {
				at = end
			}
			from += i + 1
			if from > len(name) {
				return false
			}
		}
		name = name[at:]
	}
	return len(literals) > 0
}

// isBorder reports whether no letter, digit or minus is at a place of a name.
func isBorder(name string, at int) bool {
	return at < 0 || at >= len(name) || strings.IndexByte(" _()[]{},:;/=+*'\"|<>", name[at]) >= 0
}

// literalRE matches a literal.
var literalRE = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|` + "`([^`]*)`" + `|-?\b\d[\w.]*|\b(?:True|False|None|true|false|null|nil)\b`)

// literalsIn returns the values of the literals of a row, as names of tests contain them.
func literalsIn(row string) (out []string) {
	for _, m := range literalRE.FindAllStringSubmatch(row, -1) {
		value := m[0]
		if strings.ContainsAny(value[:1], "\"'`") {
			value = m[1] + m[2] + m[3]
		}
		out = append(out, plainName(value))
	}
	return out
}

// plainName replaces the spaces of a name as go test does.
func plainName(name string) string { return strings.ReplaceAll(name, " ", "_") }

// rowSpan returns the place of a row with the comma after it, and complete lines if the row has its own.
func rowSpan(text []byte, rows []source.Span, i int) source.Span {
	s := rows[i]
	if rest := bytes.TrimLeft(text[s.To:], " \t"); bytes.HasPrefix(rest, []byte(",")) {
		s.To = len(text) - len(rest) + 1
	} else if i > 0 {
		s.From = rows[i-1].To // the comma before the last one
		return s
	}
	start := bytes.LastIndexByte(text[:s.From], '\n') + 1
	end := lineEnd(text, s.To)
	if tail := bytes.TrimSpace(text[s.To:end]); len(bytes.TrimSpace(text[start:s.From])) == 0 && (len(tail) == 0 || tail[0] == '/' || tail[0] == '#') {
		return source.Span{From: start, To: end}
	}
	for s.To < len(text) && text[s.To] == ' ' {
		s.To++
	}
	return s
}

// lineEnd returns the offset after the line of an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
