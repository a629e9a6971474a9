package integrity

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/source"
)

// Tree is the whole project before a change. It is asked only when a rule needs
// tests that did not change. The zero value is a project of which only the
// changed files are known.
type Tree struct {
	// Paths lists its files, slash separated.
	Paths func() []string
	// Texts returns the texts of some of them by path. Those that are not there,
	// binary, longer than 1 MiB or cannot be read are left out.
	Texts func(paths []string) map[string][]byte
}

// The bounds of what is read of a tree: a project may hold thousands of tests.
const (
	maxBaseFiles = 400
	maxBaseBytes = 8 << 20
	baseBatch    = 50 // files read at a time
)

// basePaths returns the test files of the project before the change, those first
// that are named like a changed file of the product or lie near it.
func (c *change) basePaths() []string {
	if c.base.Paths == nil || c.base.Texts == nil {
		return nil
	}
	near := map[string]int{}
	for _, f := range c.files {
		if f.after().product() {
			near[subjectOf(f.Path)], near[path.Dir(f.Path)] = 2, 1
		}
	}
	var list []string
	for _, name := range c.base.Paths() {
		lang := source.LanguageOf(name, nil)
		if lang != source.Unknown && (source.TestFile(name, lang) || lang == source.Rust) && !source.Vendored(name) {
			list = append(list, name)
		}
	}
	rank := func(name string) int { return near[subjectOf(name)] + near[path.Dir(name)] }
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b)) })
	return list[:min(len(list), maxBaseFiles)]
}

// baseTests calls use with each file that held tests before the change, until it
// returns false: the changed ones first, then those of the tree, within bounds.
func (c *change) baseTests(use func(*side) bool) {
	seen := map[string]bool{}
	for _, f := range c.files {
		s := f.before()
		seen[s.path] = true
		if s.mayTest() && !use(s) {
			return
		}
	}
	left := maxBaseBytes
	for names := range slices.Chunk(c.basePaths(), baseBatch) {
		texts := c.base.Texts(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return seen[n] }))
		for _, name := range names {
			text, ok := texts[name]
			if left -= len(text); left < 0 {
				return
			}
			if ok && !use(&side{path: name, text: text}) {
				return
			}
		}
	}
}

// wholeTest returns the text of a test without comments, with the annotations
// above it, which may hold its rows.
func (s *side) wholeTest(t *source.TestDef) string {
	from := t.Line
	for from > 1 && t.Line-from < 60 && strings.TrimSpace(s.lineAt(from-1)) != "" {
		if s.endsTest(from - 1) {
			break
		}
		from--
	}
	return s.plainRange(from, t.End)
}

func (s *side) endsTest(n int) bool {
	return slices.ContainsFunc(s.source().Tests, func(t source.TestDef) bool { return t.End == n })
}
