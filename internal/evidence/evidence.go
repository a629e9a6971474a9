// Package evidence collects facts about a change between two trees for the rules, in
// addition to the measurements: the test definitions before and after, renamed and removed
// files, and findings of tampering in the texts.
package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/snapshot"
	"supervise/source"
)

// The limits of what is read, in bytes: of one file, and of all files of a change.
const (
	MaxText  = 1 << 20
	maxTexts = 64 << 20
)

// Reader returns the text of a changed file before or after the change. It is called
// only for files that existed then.
type Reader func(path string, after bool) ([]byte, error)

// NewSnapshotReader reads the files of two snapshots of a store.
func NewSnapshotReader(ctx context.Context, store *snapshot.Store, old, current snapshot.ID) Reader {
	return func(path string, after bool) ([]byte, error) {
		id := old
		if after {
			id = current
		}
		text, err := store.ReadFile(ctx, id, path)
		if err != nil {
			return nil, fmt.Errorf("read changed file: %w", err)
		}
		return text, nil
	}
}

// CompareSnapshots returns the evidence of a change between two snapshots of a store. The base
// of the integrity rules is the earlier snapshot, unless opt has another.
func CompareSnapshots(ctx context.Context, store *snapshot.Store, old, current snapshot.ID, changes []snapshot.Change, opt integrity.Options) (ledger.Evidence, error) {
	if opt.Base.Paths == nil {
		opt.Base = ProjectTree(ctx, store, old)
	}
	read := NewSnapshotReader(ctx, store, old, current)
	out, err := Collect(changes, opt, read)
	if err == nil {
		out.Duplicates, err = findDuplicates(out, changes, read, func() ([]snapshot.File, error) { return store.Files(current) })
	}
	return out, err
}

// Collect returns the evidence of a change; opt selects the integrity rules. Errors are
// those of read.
func Collect(changes []snapshot.Change, opt integrity.Options, read Reader) (ledger.Evidence, error) {
	var out ledger.Evidence
	functions, constants := map[string]int{}, removedConstants{removed: map[string]bool{}}
	var moved movedFiles
	var defsBefore, defsAfter [][]detector.TestSource
	files, err := readFiles(changes, read)
	if err != nil {
		return out, err
	}

	opt.Inspections = &integrity.InspectionCache{}
	opt.Inspections.Prefetch(files)
	for _, f := range files {
		if source.DetectLanguage(f.Path, nil) == source.Unknown {
			continue
		}
		if f.Deleted {
			out.Removed = append(out.Removed, f.Path)
		}
		moved.add(f)
		before, after := inspect(opt.Inspections, f.Path, f.Before), inspect(opt.Inspections, f.Path, f.After)
		defsBefore, defsAfter = append(defsBefore, testSources(f.Path, before)), append(defsAfter, testSources(f.Path, after))
		if !source.IsTestFile(f.Path, before.Language) {
			countFunctions(functions, before, after)
			constants.add(before, f.Before, f.After)
		}
	}

	out.Before, out.After = slices.Concat(defsBefore...), slices.Concat(defsAfter...)
	for name, added := range functions {
		if added < 0 {
			out.GoneSymbols = append(out.GoneSymbols, name)
		}
	}

	out.GoneSymbols = append(out.GoneSymbols, constants.names()...)
	slices.Sort(out.GoneSymbols)
	out.Renamed = moved.renames()
	out.Tampering = tamperingIn(joinRenamed(auditableFiles(changes, files), out.Renamed), opt)
	sortByRole(&out, files, opt)
	return out, nil
}

// sortByRole records which of the changed files belong to tests and to their runner, and whether
// nothing else changed.
func sortByRole(e *ledger.Evidence, files []integrity.File, opt integrity.Options) {
	roles, texts := integrity.Roles(files, opt.Base), opt.Inspections
	inline, product := false, false
	for _, f := range files {
		switch role := roles[f.Path]; role {
		case integrity.TestCode, integrity.TestSupport:
			e.TestFiles = append(e.TestFiles, f.Path)
		case integrity.RunnerConfig:
			e.RunnerFiles = append(e.RunnerFiles, f.Path)
		case integrity.MixedConfig:
			e.RunnerFiles, e.MixedRunnerFiles = append(e.RunnerFiles, f.Path), append(e.MixedRunnerFiles, f.Path)
		case integrity.Product:
			inline = inline || onlyInlineTestsChanged(f)
			product = product || !onlyInlineTestsChanged(f) && !onlyCommentsChanged(f, texts)
			if inlineTestsChanged(f) {
				e.InlineTestFiles = append(e.InlineTestFiles, f.Path)
			}
		case integrity.OtherFile:
		}
	}
	e.OnlyTestsChanged = !product && (inline || len(e.TestFiles)+len(e.RunnerFiles) > 0)
}

// inlineTestsChanged reports whether modules of tests in a file of code changed.
func inlineTestsChanged(f integrity.File) bool {
	text, ok := source.ReplaceInlineTests(f.Path, f.After, f.Before)
	return ok && !bytes.Equal(text, f.After)
}

// onlyCommentsChanged reports whether only comments, blank lines or the mode of a file changed.
func onlyCommentsChanged(f integrity.File, texts *integrity.InspectionCache) bool {
	return f.Before != nil && f.After != nil && slices.Equal(codeLines(f.Path, f.Before, texts), codeLines(f.Path, f.After, texts))
}

// codeLines returns the lines of a text that are not blank, without comments.
func codeLines(path string, text []byte, texts *integrity.InspectionCache) []string {
	if source.DetectLanguage(path, nil) != source.Unknown && !bytes.Contains(text, []byte("//go:")) {
		text = texts.Inspect(path, text).Plain
	}
	var out []string
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			out = append(out, string(line))
		}
	}
	return out
}

// onlyInlineTestsChanged reports whether only the tests within a file of code changed.
func onlyInlineTestsChanged(f integrity.File) bool {
	return !f.Added && !f.Deleted && source.DifferOnlyInInlineTests(f.Path, f.Before, f.After)
}

// readVersions returns the text of a changed file before and after the change. A text is nil if
// the file does not exist, is longer than [MaxText], or could not be captured.
func readVersions(c snapshot.Change, read Reader) (old, current []byte, err error) {
	if c.Kind != snapshot.Added {
		if old, err = read(c.Path, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	if c.Kind != snapshot.Deleted {
		if current, err = read(c.Path, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	return limitText(old), limitText(current), nil
}

// limitText returns the text without a byte order mark, nil if it is longer than [MaxText].
func limitText(text []byte) []byte {
	if len(text) > MaxText {
		return nil
	}
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}

// inspect returns the structure of a text, the zero File if the text is nil. texts may be nil.
func inspect(texts *integrity.InspectionCache, path string, text []byte) source.File {
	if text == nil {
		return source.File{}
	}
	return texts.Inspect(path, text).File
}

// TestsIn returns the tests that a text defines, none if it is too long.
func TestsIn(path string, text []byte) []detector.TestSource {
	return testSources(path, inspect(nil, path, limitText(text)))
}

// testSources returns the tests of a file with its path.
func testSources(path string, f source.File) []detector.TestSource {
	out := make([]detector.TestSource, 0, len(f.Tests))
	for _, def := range f.Tests {
		out = append(out, detector.TestSource{File: path, Def: def})
	}
	return out
}

// countFunctions adds to defined, by name, how many more functions a file has than before.
func countFunctions(defined map[string]int, old, current source.File) {
	for _, f := range old.Functions {
		defined[f.Name]--
	}
	for _, f := range current.Functions {
		defined[f.Name]++
	}
}
