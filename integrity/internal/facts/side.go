package facts

import (
	"path"
	"slices"
	"strings"

	"supervise/integrity/internal/configtext"
	"supervise/source"
)

// Side is a file before or after the change, with what was read from it so far.
type Side struct {
	Path       string           // slash separated, relative to the root of the project
	Text       []byte           // nil if the file does not exist or was not read
	texts      *InspectionCache // the cache of inspections, which may be nil
	inspection lazy[source.Inspection]
	lines      lazy[[]Line]          // see Lines
	offsets    lazy[[]int]           // see LineOffsets
	kind       lazy[configtext.Kind] // see ConfigKind
}

// Exists reports whether the file exists and its text was read.
func (s *Side) Exists() bool { return s.Text != nil }

// Inspection returns what the scanner found in the file.
func (s *Side) Inspection() *source.Inspection {
	s.inspection.get(s.inspect)
	return &s.inspection.value
}

// inspect reads the file. Nothing is found in vendored and generated files.
func (s *Side) inspect() source.Inspection {
	if source.IsVendored(s.Path) || s.isGenerated() {
		return source.Inspection{Plain: s.Text, Masked: s.Text}
	}
	return s.texts.Inspect(s.Path, s.Text)
}

// Language returns the language of the file, Unknown if it is not source code.
func (s *Side) Language() source.Language { return source.DetectLanguage(s.Path, head(s.Text)) }

// head returns the beginning of a text, by which its language is recognized.
func head(text []byte) []byte { return text[:min(len(text), 512)] }

// WithoutComments returns the text with blanks in place of comments, so that offsets and line
// numbers stay the same. A text that is not source code is returned unchanged.
func (s *Side) WithoutComments() []byte { return s.Inspection().Plain }

// WithoutStrings returns the text with blanks in place of comments and of the bodies of strings.
func (s *Side) WithoutStrings() []byte { return s.Inspection().Masked }

// Lines returns the text by lines.
func (s *Side) Lines() []Line {
	return s.lines.get(func() []Line { return SplitLines(s.Text) })
}

// AddedLinesOfCode are the added lines of a file that are more than a comment, without comments.
func (f *ChangedFile) AddedLinesOfCode() []Line {
	code := Map(f.AddedLines(), func(l Line) Line { return Line{l.Number, f.After().CodeAt(l.Number)} })
	return Filter(code, func(l Line) bool { return strings.TrimSpace(l.Text) != "" })
}

// LineAt returns the n-th line of the text, counted from 1. It returns "" if there is no such line.
func (s *Side) LineAt(n int) string {
	if l := s.Lines(); n >= 1 && n <= len(l) {
		return l[n-1].Text
	}
	return ""
}

// MayHoldTests reports whether the file may hold tests, by its name or its language.
func (s *Side) MayHoldTests() bool {
	return s.Exists() && (s.IsTestFile() || s.Language() == source.Rust)
}

// IsTestFile reports whether the file holds tests or belongs to them.
func (s *Side) IsTestFile() bool { return source.IsTestFile(s.Path, s.Language()) }

// IsScript reports whether the file is JavaScript or TypeScript.
func (s *Side) IsScript() bool {
	return s.Language() == source.JavaScript || s.Language() == source.TypeScript
}

// IsProduct reports whether the file is product code: source code that is neither a test nor
// third-party or generated code.
func (s *Side) IsProduct() bool {
	if !s.Exists() || s.Language() == source.Unknown || s.IsTestFile() || IsInTestFolder(s.Path) {
		return false
	}
	return !source.IsVendored(s.Path) && !s.isGenerated()
}

// isGenerated reports whether a tool wrote the file, going by its name and its first lines.
func (s *Side) isGenerated() bool {
	return source.IsGenerated(s.Path, s.Text[:min(len(s.Text), 8<<10)])
}

// testFolders hold tests and what they need, whatever the language.
var testFolders = []string{"test", "tests", "spec", "specs", "testdata", "__tests__", "fixtures", "e2e", "testing"}

// IsInTestFolder reports whether a path is in a folder for tests and what they need.
func IsInTestFolder(name string) bool {
	isMain := strings.Contains("/"+name, "/src/main/")
	return !isMain && slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(testFolders, strings.ToLower(dir))
	})
}

// CommentLines returns the lines of the text that are nothing but comment.
func (s *Side) CommentLines() []Line {
	return Filter(s.Lines(), func(l Line) bool {
		return strings.TrimSpace(s.CodeAt(l.Number)) == "" && strings.TrimSpace(l.Text) != ""
	})
}

// LineOffsets returns the offset in bytes at which each line of the text begins.
func (s *Side) LineOffsets() []int {
	return s.offsets.get(func() []int {
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

// LineNumber returns the line, counted from 1, that contains an offset in bytes.
func (s *Side) LineNumber(pos int) int {
	n, found := slices.BinarySearch(s.LineOffsets(), pos)
	if found {
		return n + 1
	}
	return n
}

// LinesWithoutComments returns the lines from one number to another, inclusive, without comments.
// It returns "" if they do not exist.
func (s *Side) LinesWithoutComments(from, to int) string {
	return s.lineRange(s.WithoutComments(), from, to)
}

// CodeAt returns line n without comments, "" if there is no such line.
func (s *Side) CodeAt(n int) string { return strings.TrimRight(s.LinesWithoutComments(n, n), "\r\n") }

// MaskedAt returns line n without comments and the bodies of strings, "" if there is no such line.
func (s *Side) MaskedAt(n int) string { return strings.TrimRight(s.LinesWithoutStrings(n, n), "\r\n") }

// lineRange returns some lines of a text that has the same offsets as that of the file.
func (s *Side) lineRange(text []byte, from, to int) string {
	starts := s.LineOffsets()
	if from < 1 || from > len(starts) || to < from {
		return ""
	}
	end := len(text)
	if to < len(starts) {
		end = starts[to]
	}
	return string(text[starts[from-1]:end])
}

// ConfigKind returns the format of the file, [configtext.None] if it is not configuration.
func (s *Side) ConfigKind() configtext.Kind {
	return s.kind.get(func() configtext.Kind { return configtext.DetectKind(s.Path, head(s.Text)) })
}

// FindingAt returns a finding about a line, with the name of the test that contains it.
func (s *Side) FindingAt(n int, text string) Finding {
	f := Finding{File: s.Path, Line: n, Evidence: ShortenEvidence(text)}
	if t := s.TestAt(n); t != nil {
		f.Test = t.Name
	}
	return f
}

// maxLinesToTest is how many lines an annotation may be above its test.
const maxLinesToTest = 6

// TestAt returns the innermost test that contains a line, or otherwise the test that the line
// annotates; nil for none.
func (s *Side) TestAt(n int) *source.TestDef {
	if t := s.Inspection().TestAround(n); t != nil {
		return t
	}
	tests := s.Inspection().Tests
	for i := range tests {
		isBelow := tests[i].Line > n && tests[i].Line-n <= maxLinesToTest
		if isBelow && s.isDirectlyAbove(n, tests[i].Line) {
			return &tests[i]
		}
	}
	return nil
}

// LinesWithoutStrings returns some lines without comments and without the bodies of strings.
func (s *Side) LinesWithoutStrings(from, to int) string {
	return s.lineRange(s.WithoutStrings(), from, to)
}

// TextWithAnnotations returns the text of a test without comments, together with the annotations
// above it, which may hold rows of its table.
func (s *Side) TextWithAnnotations(t *source.TestDef) string {
	return s.LinesWithoutComments(s.firstLineAbove(t, 60), t.End)
}

// firstLineAbove returns the first line of the block that ends with the head of a test. The block
// begins after a blank line or another test, and at most maxLines above the head.
func (s *Side) firstLineAbove(t *source.TestDef, maxLines int) int {
	first := t.Line
	for first > 1 && t.Line-first < maxLines && strings.TrimSpace(s.LineAt(first-1)) != "" && !s.isLastLineOfTest(first-1) {
		first--
	}
	return first
}

// isLastLineOfTest reports whether a test ends on the line.
func (s *Side) isLastLineOfTest(n int) bool {
	return slices.ContainsFunc(s.Inspection().Tests, func(t source.TestDef) bool { return t.End == n })
}
