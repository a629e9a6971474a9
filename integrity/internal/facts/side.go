package facts

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/source"
)

// Side is a file before or after the change.
type Side struct {
	Path    string
	Text    []byte
	texts   *InspectionCache
	scanned lazy[source.Inspection]
	split   lazy[[]Line]
	begin   lazy[[]int]
	kind    lazy[configtext.Kind]
}

// Exists reports whether there is a text to look at.
func (s *Side) Exists() bool { return s.Text != nil }

// Source returns what the scanner found in the file.
func (s *Side) Source() *source.Inspection {
	s.scanned.get(s.scan)
	return &s.scanned.value
}

func (s *Side) scan() source.Inspection {
	if source.IsVendored(s.Path) || source.IsGenerated(s.Path, s.Text[:min(len(s.Text), 8<<10)]) {
		return source.Inspection{Plain: s.Text, Masked: s.Text}
	}
	return s.texts.Inspect(s.Path, s.Text)
}

// Language is Unknown for what is not source code.
func (s *Side) Language() source.Language { return source.DetectLanguage(s.Path, head(s.Text)) }

func head(text []byte) []byte { return text[:min(len(text), 512)] }

// WithoutComments returns the text with its comments blank, as long as the text and
// with its lines. What is not source code stays as it is.
func (s *Side) WithoutComments() []byte { return s.Source().Plain }

// WithoutStrings is the same with the bodies of strings blank, too.
func (s *Side) WithoutStrings() []byte { return s.Source().Masked }

// Lines returns the text by lines.
func (s *Side) Lines() []Line {
	return s.split.get(func() []Line { return Lines(s.Text) })
}

// LineAt returns the n-th line of the text, from 1, "" beyond either end.
func (s *Side) LineAt(n int) string {
	if l := s.Lines(); n >= 1 && n <= len(l) {
		return l[n-1].Text
	}
	return ""
}

// MayTest reports whether the file may hold tests, by its name or its language.
func (s *Side) MayTest() bool {
	return s.Exists() && (s.IsTest() || s.Language() == source.Rust)
}

// IsTest reports whether the file holds tests or belongs to them.
func (s *Side) IsTest() bool { return source.IsTestFile(s.Path, s.Language()) }

// Product reports whether the file is product code: source code that is neither a test
// nor third-party or generated code.
func (s *Side) Product() bool {
	return s.Exists() && s.Language() != source.Unknown && !s.IsTest() && !source.IsVendored(s.Path) && !InTestFolder(s.Path) &&
		!source.IsGenerated(s.Path, s.Text[:min(len(s.Text), 8<<10)])
}

// testFolders hold tests and what they need, whatever the language.
var testFolders = []string{"test", "tests", "spec", "specs", "testdata", "__tests__", "fixtures", "e2e", "testing"}

// InTestFolder reports whether a path is in a folder for tests and what they need.
func InTestFolder(name string) bool {
	return !strings.Contains("/"+name, "/src/main/") && slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(testFolders, strings.ToLower(dir))
	})
}

// Comments returns the lines of the text that are nothing but comment.
func (s *Side) Comments() []Line {
	var out []Line
	plain := Lines(s.WithoutComments())
	for i, l := range s.Lines() {
		if i < len(plain) && strings.TrimSpace(plain[i].Text) == "" && strings.TrimSpace(l.Text) != "" {
			out = append(out, l)
		}
	}
	return out
}

// Starts returns the places where the lines of the text begin.
func (s *Side) Starts() []int {
	return s.begin.get(func() []int {
		if len(s.Text) == 0 {
			return nil
		}
		begin := []int{0}
		for i, b := range s.Text {
			if b == '\n' {
				begin = append(begin, i+1)
			}
		}
		return begin
	})
}

// LineOf returns the line of a place in the text.
func (s *Side) LineOf(pos int) int {
	n, found := slices.BinarySearch(s.Starts(), pos)
	if found {
		return n + 1
	}
	return n
}

// PlainRange returns some lines of the text without its comments.
func (s *Side) PlainRange(from, to int) string { return s.textRange(s.WithoutComments(), from, to) }

// textRange returns some lines of a text that is as long as that of the file.
func (s *Side) textRange(text []byte, from, to int) string {
	starts := s.Starts()
	if from < 1 || from > len(starts) || to < from {
		return ""
	}
	end := len(text)
	if to < len(starts) {
		end = starts[to]
	}
	return string(text[starts[from-1]:end])
}

// ConfigKind is how the file is written if it is configuration.
func (s *Side) ConfigKind() configtext.Kind {
	return s.kind.get(func() configtext.Kind { return configtext.KindOf(s.Path, head(s.Text)) })
}

// InTest returns the innermost test that holds a line, nil for none.
func (s *Side) InTest(n int) *source.TestDef {
	var best *source.TestDef
	src := s.Source()
	for i := range src.Tests {
		t := &src.Tests[i]
		if t.Line <= n && n <= t.End && (best == nil || t.End-t.Line <= best.End-best.Line) {
			best = t
		}
	}
	return best
}

// FindingAt is a finding about a line, with the test that contains it.
func (s *Side) FindingAt(n int, text string) Finding {
	f := Finding{File: s.Path, Line: n, Evidence: Evidence(text)}
	if t := s.TestAt(n); t != nil {
		f.Test = t.Name
	}
	return f
}

// TestAt returns the innermost test that contains a line, or is below it as
// below an annotation.
func (s *Side) TestAt(n int) *source.TestDef {
	best := s.InTest(n)
	src := s.Source()
	if best == nil {
		for i := range src.Tests {
			if t := &src.Tests[i]; t.Line > n && t.Line-n <= 6 && s.annotates(n, t.Line) {
				return t
			}
		}
	}
	return best
}

// MaskedRange returns some lines without comments and the bodies of strings.
func (s *Side) MaskedRange(from, to int) string { return s.textRange(s.WithoutStrings(), from, to) }

// FullText returns the text of a test without comments, with the annotations
// above it, which may hold its rows.
func (s *Side) FullText(t *source.TestDef) string {
	from := t.Line
	for from > 1 && t.Line-from < 60 && strings.TrimSpace(s.LineAt(from-1)) != "" {
		if s.endsTest(from - 1) {
			break
		}
		from--
	}
	return s.PlainRange(from, t.End)
}

func (s *Side) endsTest(n int) bool {
	return slices.ContainsFunc(s.Source().Tests, func(t source.TestDef) bool { return t.End == n })
}
