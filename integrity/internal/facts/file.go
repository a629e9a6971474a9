package facts

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"supervise/internal/regexp"
	"supervise/source"
)

// ChangedFile is one changed file, with what was derived from it so far.
type ChangedFile struct {
	File
	sides       [2]Side               // before and after the change
	lines       lazy[lineDiff]        // see AddedLines and RemovedLines
	addedWords  lazy[map[string]bool] // see wordsOfRewrite
	remarks     lazy[map[int]bool]    // see NewRemarks
	inlineTests lazy[bool]            // see changesOnlyInlineTests
}

// lineDiff holds the lines that exist only after, and only before, the change.
type lineDiff struct{ added, removed []Line }

// Line is one line of a text.
type Line struct {
	Number int    // from 1, in its own text
	Text   string // as written, without its end
}

// Before returns the file before the change. It is never nil: a file that did not exist, or was not
// read, has an empty side.
func (f *ChangedFile) Before() *Side { return &f.sides[0] }

// After returns the file after the change. It is never nil either.
func (f *ChangedFile) After() *Side { return &f.sides[1] }

// AddedLines returns the lines that are new in the text, in order. Lines that only
// moved within the file, or whose indentation changed, and blank lines do not count.
func (f *ChangedFile) AddedLines() []Line { return f.lines.get(f.compareLines).added }

// RemovedLines returns the lines that are gone from the text, in order, with their numbers before
// the change. It leaves out the same lines as [ChangedFile.AddedLines].
func (f *ChangedFile) RemovedLines() []Line { return f.lines.get(f.compareLines).removed }

// HasChangedLines reports whether lines were added or removed.
func (f *ChangedFile) HasChangedLines() bool {
	return len(f.AddedLines())+len(f.RemovedLines()) > 0
}

// compareLines finds the lines that only one side has. It leaves out the lines that both begin and
// end with, so that most of a long file is not looked up.
func (f *ChangedFile) compareLines() lineDiff {
	before, after := f.Before().Lines(), f.After().Lines()
	for len(before) > 0 && len(after) > 0 && before[0].Text == after[0].Text {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1].Text == after[len(after)-1].Text {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return lineDiff{added: surplusLines(after, before), removed: surplusLines(before, after)}
}

// surplusLines returns the lines, except blank ones, that occur more often in a than in b. Their
// indentation does not matter.
func surplusLines(a, b []Line) []Line {
	text := func(l Line) string { return strings.TrimSpace(l.Text) }
	return Filter(Surplus(a, b, text), func(l Line) bool { return text(l) != "" })
}

// SplitLines splits a text into its lines, without line feeds and carriage returns.
func SplitLines(text []byte) []Line {
	out := make([]Line, 0, bytes.Count(text, []byte("\n"))+1)
	for l := range strings.Lines(string(text)) {
		l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		out = append(out, Line{len(out) + 1, l})
	}
	return out
}

// BelongsToTests reports whether a file is a test or in a folder of tests, before or after the
// change, or whether only the tests in it changed.
func (f *ChangedFile) BelongsToTests() bool {
	return f.changesOnlyInlineTests() || slices.ContainsFunc([]*Side{f.Before(), f.After()}, func(s *Side) bool {
		return s.Exists() && (s.IsTestFile() || IsInTestFolder(s.Path))
	})
}

// changesOnlyInlineTests reports whether the change of a Rust file is only to its test modules.
func (f *ChangedFile) changesOnlyInlineTests() bool {
	return f.inlineTests.get(func() bool {
		isEdited := !f.Added && !f.Deleted && f.After().Language() == source.Rust
		return isEdited && source.DifferOnlyInInlineTests(f.Path, f.Before().Text, f.After().Text)
	})
}

// FirstMatchingLine returns the first of the lines that an expression matches. It is false if there
// is none.
func FirstMatchingLine(list []Line, re *regexp.Regexp) (Line, bool) {
	if i := slices.IndexFunc(list, func(l Line) bool { return re.MatchString(l.Text) }); i >= 0 {
		return list[i], true
	}
	return Line{}, false
}

// id identifies the file of a test. It is the same for both sides of a renamed file.
func (f *ChangedFile) id() string { return f.Path + "\x00" + f.OldPath }

// MatchingLines returns the lines that an expression matches.
func MatchingLines(list []Line, re *regexp.Regexp) []Line {
	return Filter(list, func(l Line) bool { return re.MatchString(l.Text) })
}

// dialects are groups of extensions. A file is translated when it moves from one extension of a
// group to another.
var dialects = [][]string{
	{".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"},
	{".java", ".kt"},
}

// joinTranslated returns the files with each pair of a deleted and a new file joined to one renamed
// file, if the two are in the same folder and their names differ only in the extension, as test.js
// and test.ts do. It does not matter how much of the text changed.
func joinTranslated(files []File) []File {
	deleted := map[string]int{} // the index of a deleted file by its familyPath
	for i, f := range files {
		if name := familyPath(f.Path); f.Deleted && f.OldPath == "" && name != "" {
			deleted[name] = i
		}
	}

	isJoined := map[int]bool{}
	out := slices.Clone(files)
	for i, f := range files {
		old, ok := deleted[familyPath(f.Path)]
		if ok && f.Added && f.OldPath == "" && !isJoined[old] {
			isJoined[old] = true
			out[i].OldPath, out[i].Before, out[i].Added = files[old].Path, files[old].Before, false
		}
	}

	if len(isJoined) == 0 {
		return files
	}
	remaining := out[:0]
	for i, f := range out {
		if !isJoined[i] {
			remaining = append(remaining, f)
		}
	}
	return remaining
}

// familyPath returns a path with the first extension of its dialects, "" for a language
// without dialects.
func familyPath(name string) string {
	ext := path.Ext(name)
	for _, list := range dialects {
		if slices.Contains(list, ext) {
			return strings.TrimSuffix(name, ext) + list[0]
		}
	}
	return ""
}
