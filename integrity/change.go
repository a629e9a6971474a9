package integrity

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"supervise/source"
)

// change is what the rules look at: the files, each read and scanned at most
// once, and only when a rule asks.
type change struct {
	files        []*file
	base         Tree                      // see baseTests
	pairs        *inventory                // see tests
	goneNames    map[string]bool           // see gone
	removedNames map[string]bool           // see removedWords
	shrunk       map[string]bool           // see shrunkWords
	deprecated   map[string]bool           // see deprecatedWords
	addedText    *string                   // see addedTestText
	exchanged    map[string]map[*test]bool // see everywhere
	migrating    *bool                     // see migrates
	rewriting    map[*file]map[string]bool // see wordsOfRewriting
	ways         map[*test]wayOf           // see lostBy
	skips        []newSkip                 // see newSkips
	skipsRead    bool
	config       []*configFile // see configs
	configured   bool
	deltaList    []delta // see deltas
	deltasRead   bool
	added        *string         // see addedTestCode
	source       *bool           // see touchesSource
	changed      map[string]bool // see changedWords
	functions    map[string]bool // see changedFunctions
}

func newChange(files []File) *change {
	files = translated(files)
	c := &change{files: make([]*file, len(files))}
	for i, f := range files {
		c.files[i] = &file{File: f}
	}
	return c
}

// readAhead reads what every audit asks for, several files at a time.
func (c *change) readAhead(texts *Texts) {
	eachOf(len(c.files), func(i int) {
		f := c.files[i]
		f.texts = texts
		f.diff()
		for _, s := range []*side{f.before(), f.after()} {
			s.configKind()
			if s.mayTest() {
				s.scan()
			}
		}
	})
}

// file is one changed file with what was read of it so far.
type file struct {
	File
	texts          *Texts
	sides          [2]*side
	added, removed []line
	diffed         bool
	directing      *bool        // see maySilence
	remarked       map[int]bool // see remarks
	inline         *bool        // see inlineAlone
}

// line is one line of a text.
type line struct {
	n    int    // from 1, in its own text
	text string // as written, without its end
}

// before and after return the file before and after the change. They are never
// nil: a side that is not there, or not looked at, is empty.
func (f *file) before() *side { return f.side(0, cmp.Or(f.OldPath, f.Path), f.File.Before) }
func (f *file) after() *side  { return f.side(1, f.Path, f.File.After) }

func (f *file) side(i int, name string, text []byte) *side {
	if f.sides[i] == nil {
		f.sides[i] = &side{path: name, text: text, texts: f.texts}
	}
	return f.sides[i]
}

// addedLines returns the lines that the text has now and had not before, in
// order: a line that only moved within the file, or was only indented anew, is
// none of them. Blank lines do not count.
func (f *file) addedLines() []line { f.diff(); return f.added }

// removedLines is the other way round; the numbers are those before the change.
func (f *file) removedLines() []line { f.diff(); return f.removed }

func (f *file) diff() {
	if f.diffed {
		return
	}
	f.diffed = true
	before, after := f.before().lines(), f.after().lines()
	for len(before) > 0 && len(after) > 0 && before[0].text == after[0].text {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].text == after[len(after)-1].text {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	f.removed, f.added = surplus(before, after), surplus(after, before)
}

// surplus returns the lines of a that are more often in it than in b.
func surplus(a, b []line) []line {
	if len(a) == 0 {
		return nil
	}
	counts := make(map[string]int, len(b))
	for _, l := range b {
		counts[strings.TrimSpace(l.text)]++
	}
	var out []line
	for _, l := range a {
		switch text := strings.TrimSpace(l.text); {
		case text == "":
		case counts[text] > 0:
			counts[text]--
		default:
			out = append(out, l)
		}
	}
	return out
}

// side is a file at one of the two moments.
type side struct {
	path     string
	text     []byte
	texts    *Texts
	scanned  bool
	file     source.Inspection
	split    []line
	begin    []int // see starts
	kindRead bool
	kind     configKind // see configKind
}

// there reports whether there is a text to look at.
func (s *side) there() bool { return s.text != nil }

func (s *side) scan() {
	if s.scanned {
		return
	}
	s.scanned = true
	if source.Vendored(s.path) || source.Generated(s.path, s.text[:min(len(s.text), 8<<10)]) {
		s.file = source.Inspection{Plain: s.text, Masked: s.text}
		return
	}
	s.file = s.texts.Inspect(s.path, s.text)
}

// source returns what the scanner tells of the file.
func (s *side) source() *source.Inspection { s.scan(); return &s.file }

// language is Unknown for what is no source code.
func (s *side) language() source.Language { return source.LanguageOf(s.path, head(s.text)) }

func head(text []byte) []byte { return text[:min(len(text), 512)] }

// withoutComments returns the text with its comments blank, withoutStrings with
// the bodies of its strings blank as well. Both are as long as the text and have
// its lines. What is not source code stays as it is.
func (s *side) withoutComments() []byte { s.scan(); return s.file.Plain }
func (s *side) withoutStrings() []byte  { s.scan(); return s.file.Masked }

// lines returns the text by lines.
func (s *side) lines() []line {
	if s.split == nil && len(s.text) > 0 {
		s.split = lines(s.text)
	}
	return s.split
}

func lines(text []byte) []line {
	out := make([]line, 0, bytes.Count(text, []byte("\n"))+1)
	rest := string(text)
	for n := 1; rest != ""; n++ {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		out = append(out, line{n, strings.TrimSuffix(l, "\r")})
	}
	return out
}

// lineAt returns the n-th line of the text, from 1, "" beyond either end.
func (s *side) lineAt(n int) string {
	if l := s.lines(); n >= 1 && n <= len(l) {
		return l[n-1].text
	}
	return ""
}

// mayTest reports whether the file may hold tests, by its name or its language.
func (s *side) mayTest() bool {
	return s.there() && (s.isTest() || s.language() == source.Rust)
}

// isTest reports whether the file holds tests or belongs to them.
func (s *side) isTest() bool { return source.TestFile(s.path, s.language()) }

// product reports whether the file is source code that is no test: what a test
// can be about. Third-party and generated code is not.
func (s *side) product() bool {
	return s.there() && s.language() != source.Unknown && !s.isTest() && !source.Vendored(s.path) && !inTestFolder(s.path) &&
		!source.Generated(s.path, s.text[:min(len(s.text), 8<<10)])
}

// testFolders hold tests and what they need, whatever the language.
var testFolders = []string{"test", "tests", "spec", "specs", "testdata", "__tests__", "fixtures", "e2e", "testing"}

func inTestFolder(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(testFolders, strings.ToLower(dir))
	})
}

// touchesProduct reports whether the code that is tested changed, too.
func (c *change) touchesProduct() bool {
	return slices.ContainsFunc(c.files, func(f *file) bool {
		return (f.before().product() || f.after().product()) && !f.inlineAlone() && len(f.addedLines())+len(f.removedLines()) > 0
	})
}

// evidence shortens a line, or what was made of it, for a finding.
func evidence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const limit = 160
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// comments returns the lines of the text that are nothing but comment.
func (s *side) comments() []line {
	var out []line
	plain := lines(s.withoutComments())
	for i, l := range s.lines() {
		if i < len(plain) && strings.TrimSpace(plain[i].text) == "" && strings.TrimSpace(l.text) != "" {
			out = append(out, l)
		}
	}
	return out
}

// starts returns the places where the lines of the text begin.
func (s *side) starts() []int {
	if s.begin == nil && len(s.text) > 0 {
		s.begin = []int{0}
		for i, b := range s.text {
			if b == '\n' {
				s.begin = append(s.begin, i+1)
			}
		}
	}
	return s.begin
}

// lineOf returns the line of a place in the text.
func (s *side) lineOf(pos int) int {
	n, found := slices.BinarySearch(s.starts(), pos)
	if found {
		return n + 1
	}
	return n
}

// plainRange returns some lines of the text without its comments.
func (s *side) plainRange(from, to int) string {
	starts, plain := s.starts(), s.withoutComments()
	if from < 1 || from > len(starts) || to < from {
		return ""
	}
	end := len(plain)
	if to < len(starts) {
		end = starts[to]
	}
	return string(plain[starts[from-1]:end])
}

// touchesSource reports whether anything else than tests and documentation
// changed: it may be what made an expected value another one.
func (c *change) touchesSource() bool {
	if c.source == nil {
		touched := slices.ContainsFunc(c.files, func(f *file) bool {
			return !f.testing() && !documentation(f.Path)
		})
		c.source = &touched
	}
	return *c.source
}

// testing reports whether a file belongs to the tests, before or after, or nothing of
// it changed but the tests in it.
func (f *file) testing() bool {
	return f.inlineAlone() || slices.ContainsFunc([]*side{f.before(), f.after()}, func(s *side) bool {
		return s.there() && (s.isTest() || inTestFolder(s.path) || onlyTests(s))
	})
}

// unresolved reports whether a merge was left half done in a file: what it says is not
// what it is to say.
func (c *change) unresolved(name string) bool {
	return slices.ContainsFunc(c.files, func(f *file) bool {
		return f.Path == name && bytes.Contains(f.after().text, []byte("\n<<<<<<< ")) && f.after().language() != source.Unknown &&
			bytes.Contains(f.after().withoutStrings(), []byte("\n<<<<<<< "))
	})
}

// inlineAlone reports whether nothing but the modules of tests changed in a file of the
// code that they test.
func (f *file) inlineAlone() bool {
	if f.inline == nil {
		alone := !f.Added && !f.Deleted && f.after().language() == source.Rust && source.SameButInlineTests(f.Path, f.before().text, f.after().text)
		f.inline = &alone
	}
	return *f.inline
}

// onlyTests reports whether a file of a language that has its tests beside the
// code holds nothing else.
func onlyTests(s *side) bool {
	return s.language() == source.Go && strings.HasSuffix(s.path, "_test.go")
}

func documentation(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".rst", ".txt", ".adoc", ".markdown":
		return true
	}
	base := strings.ToUpper(path.Base(name))
	return strings.HasPrefix(base, "CHANGELOG") || strings.HasPrefix(base, "CHANGES") || strings.HasPrefix(base, "LICENSE") || strings.HasPrefix(base, "AUTHORS")
}
