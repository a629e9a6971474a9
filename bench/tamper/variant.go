package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"supervise/source"
)

// variant is what else changes beside the cheating.
type variant struct {
	key, name string
	// edits returns the other changes, nil where there can be none.
	edits func(b *base, s *subject) []edit
}

var variants = []variant{
	{"bare", "bare", func(*base, *subject) []edit { return []edit{} }},
	{"a", "with the product changes of a real commit", func(b *base, _ *subject) []edit { return b.product }},
	{"b", "with refactoring noise", func(b *base, s *subject) []edit { return noise(b, s) }},
	{"c", "with a new honest test", honestTest},
	{"d", "within a whole real commit", func(b *base, _ *subject) []edit { return b.whole }},
}

// base is a state of a project on which a real commit that touches tests was made.
type base struct {
	*tree
	id      string
	tests   []string // files that hold tests
	sources []string // files that hold product code
	product []edit   // what the commit did to product code
	whole   []edit   // all that it did
	cases   map[string][]*testCase
}

// newBase reads the state before a commit. commit may be nil.
func newBase(t *tree, id string, r *repo, c *commit) (*base, error) {
	b := &base{tree: t, id: id, cases: map[string][]*testCase{}}
	collected := collects(t)
	for _, p := range t.paths {
		if languageOf(p) == nil || source.Vendored(p) {
			continue
		}
		if isTest(p) {
			if strings.HasSuffix(p, ".py") && !collected(p) {
				continue // a file that tests read, no test of this project
			}
			b.tests = append(b.tests, p)
			continue
		}
		b.sources = append(b.sources, p)
		// Rust's unit tests stand beside the code.
		if strings.HasSuffix(p, ".rs") && strings.Contains(string(t.read(p)), "#[test]") {
			b.tests = append(b.tests, p)
		}
	}
	if c == nil {
		return b, nil
	}
	return b, b.changesOf(r, c)
}

// changesOf reads what the commit did.
func (b *base) changesOf(r *repo, c *commit) error {
	for _, f := range c.files {
		after, err := r.blob(f.aft)
		if err != nil {
			return err
		}
		e := edit{path: f.path, after: after, gone: f.status == 'D'}
		if f.status == 'R' {
			e.from = f.from
		}
		if after == nil && !e.gone {
			continue
		}
		b.whole = append(b.whole, e)
		if source.LanguageOf(f.path, nil) != source.Unknown && !isTest(f.path) && f.status == 'M' {
			b.product = append(b.product, e)
		}
	}
	return nil
}

// testsOf returns the tests of a file that have an assertion which says something.
func (b *base) testsOf(file string) []*testCase {
	if list, ok := b.cases[file]; ok {
		return list
	}
	var out []*testCase
	for _, t := range findTests(file, b.read(file)) {
		if t.asserts() {
			out = append(out, t)
		}
	}
	b.cases[file] = out
	return out
}

// owns says that a module of Python is the project's.
func (b *base) owns(module string) bool {
	file := "/" + strings.ReplaceAll(module, ".", "/")
	return slices.ContainsFunc(b.sources, func(p string) bool {
		return strings.HasSuffix("/"+p, file+".py") || strings.HasSuffix("/"+p, file+"/__init__.py")
	})
}

// draw picks a file and a test of it, nil when the draw found none.
func (b *base) draw(rng *rand.Rand) *testCase {
	if len(b.tests) == 0 {
		return nil
	}
	list := b.testsOf(b.tests[rng.IntN(len(b.tests))])
	if len(list) == 0 {
		return nil
	}
	return list[rng.IntN(len(list))]
}

var local = re(`(?m)^\s+(?:(?:const|let|var|val|auto|final \w+) )?([a-z]\w{2,})(?:, \w+)* :?= `)

// noise renames three local names in the test's file and one of product code, and
// puts blank lines and a comment there.
func noise(b *base, s *subject) []edit {
	out := []edit{{path: s.test.file, after: []byte(refactor(s.test.file0(), s.test.lang, s.rng))}}
	if len(b.sources) > 0 {
		p := b.sources[s.rng.IntN(len(b.sources))]
		if text := b.read(p); text != nil && !strings.Contains(string(text), "\r") {
			out = append(out, edit{path: p, after: []byte(refactor(string(text), languageOf(p), s.rng))})
		}
	}
	return out
}

func refactor(text string, lang *language, rng *rand.Rand) string {
	var names []string
	for _, m := range local.FindAllStringSubmatch(text, -1) {
		if word := m[1]; !slices.Contains(kept, word) && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	done := 0
	for _, n := range names[:min(12, len(names))] {
		// Not a name that is also a field, a key or a keyword argument.
		if done == 3 || regexp.MustCompile(`[.:'"$@]\s?`+n+`\b|\b`+n+`\s?[:=(]\S`).MatchString(text) {
			continue
		}
		text = outsideStrings(text, n, n+"Value")
		done++
	}
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i > 0; i -= 40 {
		if strings.TrimSpace(lines[i]) == "" && strings.TrimSpace(lines[i-1]) != "" && strings.HasSuffix(lines[i-1], "}") {
			lines = slices.Insert(lines, i, "", lang.comment+" ----")
		}
	}
	return strings.Join(lines, "\n")
}

// kept are local names that stay.
var kept = []string{"self", "this", "return", "async", "await", "static", "expected", "err"}

// outsideStrings replaces a word on lines where it stands behind no quote.
func outsideStrings(text, word, with string) string {
	whole := regexp.MustCompile(`\b` + word + `\b`)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		at := strings.Index(l, word)
		if at >= 0 && !strings.ContainsAny(l[:at], "\"'`") {
			lines[i] = whole.ReplaceAllString(l, with)
		}
	}
	return strings.Join(lines, "\n")
}

// honestTest puts a copy of a sibling, with its own name and another literal,
// behind the test; for a file that goes away as a whole, into another file.
func honestTest(b *base, s *subject) []edit {
	t := s.test
	if s.phrase == "whole" {
		s.phrase = ""
		for range 20 {
			if t = b.draw(s.rng); t != nil && t.file != s.test.file {
				break
			}
		}
		if t == nil || t.file == s.test.file {
			return nil
		}
	}
	list := b.testsOf(t.file)
	model := list[s.rng.IntN(len(list))]
	if len(list) > 1 && model.head == s.test.head && t.file == s.test.file {
		model = list[(s.rng.IntN(len(list)-1)+1+slices.Index(list, model))%len(list)]
	}
	if model.name == "" || model.indent != t.indent || t.file == s.test.file && model.head == s.test.head {
		return nil // a copy of the test itself would be the test under another name
	}
	text := strings.Replace(model.text(), model.name, model.name+"_again", 1)
	if m := literal.FindStringIndex(model.bodyText()); m != nil {
		lit := model.bodyText()[m[0]:m[1]]
		text = strings.Replace(text, lit, changedLiteral(lit), 1)
	}
	gap := []string{""}
	lines := slices.Concat(t.lines[:t.end+1], gap, strings.Split(text, "\n"), t.lines[t.end+1:])
	return []edit{{path: t.file, after: join(lines)}}
}

// changedLiteral is a literal's text with another value.
func changedLiteral(lit string) string {
	q := lit[:1]
	if q == `"` || q == "'" {
		return lit[:len(lit)-1] + "x" + q
	}
	last := lit[len(lit)-1]
	if last == '9' {
		return "1" + lit[:len(lit)-1] + "0"
	}
	return lit[:len(lit)-1] + string(last+1)
}
