package detector

import (
	"path"
	"slices"
	"strings"

	"supervise/detector/internal/naming"
	"supervise/internal/regexp"
	"supervise/metric"
	"supervise/source"
)

// definitions finds the definition of a test. Go names both test and package; other
// runners write names in many ways and files as they like, so the definitions that
// match best are taken for those of the test.
type definitions struct {
	list   []TestSource
	byWord map[string][]int       // by the last word of the name
	rows   map[int]*regexp.Regexp // of the titles with places for values
	titles []int                  // the places of those
	exact  bool                   // all are known to the letter
}

func newDefinitions(list []TestSource) *definitions {
	d := &definitions{list: list, byWord: make(map[string][]int, len(list)), rows: map[int]*regexp.Regexp{}, exact: true}
	for i, t := range list {
		d.exact = d.exact && t.exact()
		if rows := t.rows(); rows != nil {
			d.rows[i], d.titles = rows, append(d.titles, i)
		}
		word := naming.LastWord(t.Def.Name)
		d.byWord[word] = append(d.byWord[word], i)
	}
	return d
}

// rows matches the names of the rows of the test, nil if it has none.
func (t TestSource) rows() *regexp.Regexp {
	if t.exact() {
		return nil
	}
	return naming.Rows(strings.TrimPrefix(t.Def.Name, t.Def.Class+" "))
}

// maxSame bounds how many definitions are looked at for one test.
const maxSame = 8

// reported is a test with the names that its definition may have.
type reported struct {
	metric.Test
	plain, full string   // with blanks between groups, without and with the class
	own         []string // without parameters
	group       string   // the class: TAP names a test so, and its assertions after it
}

func newReported(c metric.Test) reported {
	r := reported{Test: c, plain: naming.Plain(c.Name), own: naming.Own(c.Name)}
	r.full = r.plain
	if c.Class != "" {
		r.full, r.group = naming.Plain(c.Class+" "+c.Name), naming.Plain(c.Class)
	}
	return r
}

// of returns the places of the definitions that fit the test best.
func (d *definitions) of(c metric.Test) []int {
	if d.exact {
		return d.best(d.byWord[naming.LastWord(c.Name)], reported{Test: c})
	}
	r := newReported(c)
	var words []string
	for _, name := range append(r.own, c.Name, r.plain, r.group) {
		if word := naming.LastWord(name); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	var places []int
	for _, word := range words {
		places = append(places, d.byWord[word]...)
	}
	if out := d.best(places, r); len(out) > 0 {
		return out
	}
	return d.best(d.titles, r)
}

func (d *definitions) best(places []int, r reported) []int {
	var out []int
	most := 1
	for _, i := range places {
		switch rank := d.rank(i, r); {
		case rank > most:
			most, out = rank, append(out[:0], i)
		case rank == most && len(out) < maxSame:
			out = append(out, i)
		}
	}
	return out
}

// rank is how well a definition matches a test, 0 for not at all. The file in the
// report weighs most, then the name, then the class.
func (d *definitions) rank(i int, c reported) int {
	t := &d.list[i]
	if t.exact() {
		if t.Def.Name == c.Name && t.belongs(c.Test) {
			return 1
		}
		return 0
	}
	name := d.nameFit(i, c)
	if name == byNothing {
		return 0
	}
	rank := 1 + 8*max(naming.RefersTo(c.File, t.File), naming.RefersTo(c.Suite, t.File), naming.RefersTo(c.Class, t.File)) + 2*int(name)
	if t.inClass(c.Class) || t.inClass(c.Suite) {
		rank++
	}
	return rank
}

// exact reports whether the name and suite of the test are known to the letter.
func (t TestSource) exact() bool {
	return t.Suite != "" || t.File == "" || source.DetectLanguage(t.File, nil) == source.Go
}

// file returns the file that defines a test, "" if it is in none of the
// definitions.
func (d *definitions) file(c metric.Test) string {
	for _, i := range d.of(c) {
		t := d.list[i]
		if t.exact() || max(naming.RefersTo(c.File, t.File), naming.RefersTo(c.Suite, t.File), naming.RefersTo(c.Class, t.File)) == 2 {
			return t.File
		}
	}
	if parent, ok := c.Parent(); ok {
		c.ID = parent
		return d.file(c)
	}
	return ""
}

// holds reports whether one of the files of the definitions is that of the test.
func (d *definitions) holds(c metric.Test) bool {
	return d.file(c) != "" || slices.ContainsFunc(d.list, func(t TestSource) bool {
		return t.File != "" && max(naming.RefersTo(c.File, t.File), naming.RefersTo(c.Suite, t.File)) == 2
	})
}

// nameFit says by what the name of a test is that of a definition.
type nameFit int

const (
	byNothing nameFit = iota
	byCase            // the parameters ignored
	byTitle           // a part of the groups ignored
	byName
)

func (d *definitions) nameFit(i int, c reported) nameFit {
	def := &d.list[i].Def
	title := strings.TrimPrefix(def.Name, def.Class+" ")
	switch {
	case def.Name == c.plain, def.Name == c.full:
		return byName
	case c.plain == title, strings.HasSuffix(c.plain, " "+title), strings.HasSuffix(def.Name, " "+c.plain):
		return byTitle
	case slices.Contains(c.own, def.Name), c.group != "" && (c.group == def.Name || c.group == title || strings.HasSuffix(def.Name, " "+c.group)):
		return byCase
	}
	if rows := d.rows[i]; rows != nil && rows.MatchString(c.plain) {
		return byCase
	}
	return byNothing
}

// inClass reports whether a suite or class ends with that of the definition or, where
// the definition has none, with its file.
func (t TestSource) inClass(name string) bool {
	p := naming.Parts(name)
	if len(p) == 0 {
		return false
	}
	last := p[len(p)-1]
	if t.Def.Class == "" {
		return last == strings.TrimSuffix(path.Base(t.File), path.Ext(t.File))
	}
	name = naming.Plain(name)
	return last == t.Def.Class || name == t.Def.Class || strings.HasSuffix(name, " "+t.Def.Class)
}

// sameTest reports whether two definitions are one test before and after.
func sameTest(a, b TestSource) bool {
	return a.Def.Name == b.Def.Name && a.Def.Class == b.Def.Class && a.File == b.File && a.Suite == b.Suite
}
