// Package evidence reads what a change between two trees shows the rules beside the
// measurements: the test definitions before and after, renamed and removed files,
// and what is found in the texts about tampering.
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
func NewSnapshotReader(ctx context.Context, store *snapshot.Store, was, is snapshot.ID) Reader {
	return func(path string, after bool) ([]byte, error) {
		id := was
		if after {
			id = is
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
func CompareSnapshots(ctx context.Context, store *snapshot.Store, was, is snapshot.ID, changes []snapshot.Change, opt integrity.Options) (ledger.Evidence, error) {
	if opt.Base.Paths == nil {
		opt.Base = baseOf(ctx, store, was)
	}
	return Collect(changes, opt, NewSnapshotReader(ctx, store, was, is))
}

// Collect returns the evidence of a change; opt selects the integrity rules. Errors are
// those of read.
func Collect(changes []snapshot.Change, opt integrity.Options, read Reader) (ledger.Evidence, error) {
	var out ledger.Evidence
	defined, named := map[string]int{}, constants{}
	texts := moved{}
	var files audited
	var defsBefore, defsAfter [][]detector.TestSource
	all := make([]integrity.File, len(changes))
	for i, c := range changes {
		was, is, err := versions(c, read)
		if err != nil {
			return out, err
		}
		all[i] = integrity.File{Path: c.Path, Before: was, After: is, Added: c.Kind == snapshot.Added, Deleted: c.Kind == snapshot.Deleted}
	}
	opt.Inspections = &integrity.InspectionCache{}
	opt.Inspections.Prefetch(all)
	for i, c := range changes {
		was, is := all[i].Before, all[i].After
		files.add(c, was, is)
		if source.DetectLanguage(c.Path, nil) == source.Unknown {
			continue
		}
		if c.Kind == snapshot.Deleted {
			out.Removed = append(out.Removed, c.Path)
		}
		texts.add(c, was, is)
		before, after := scan(opt.Inspections, c.Path, was), scan(opt.Inspections, c.Path, is)
		defsBefore, defsAfter = append(defsBefore, definitions(c.Path, before)), append(defsAfter, definitions(c.Path, after))
		if !source.IsTestFile(c.Path, before.Language) {
			count(defined, before, after)
			named.add(before, was, is)
		}
	}
	out.Before, out.After = slices.Concat(defsBefore...), slices.Concat(defsAfter...)
	for name, n := range defined {
		if n < 0 {
			out.GoneSymbols = append(out.GoneSymbols, name)
		}
	}
	out.GoneSymbols = append(out.GoneSymbols, named.gone()...)
	slices.Sort(out.GoneSymbols)
	out.Renamed = texts.renames()
	out.Tampering = files.audit(out.Renamed, opt)
	sort(&out, all, opt)
	return out, nil
}

// sort notes which of the changed files belong to tests and to their runner, and whether
// there is nothing else.
func sort(e *ledger.Evidence, files []integrity.File, opt integrity.Options) {
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
			inline = inline || inlineAlone(f)
			product = product || !inlineAlone(f) && !remarksAlone(f, texts)
			if inlineDiffers(f) {
				e.InlineTestFiles = append(e.InlineTestFiles, f.Path)
			}
		case integrity.OtherFile:
		}
	}
	e.OnlyTestsChanged = !product && (inline || len(e.TestFiles)+len(e.RunnerFiles) > 0)
}

// inlineDiffers reports whether modules of tests in a file of code changed.
func inlineDiffers(f integrity.File) bool {
	text, ok := source.ReplaceInlineTests(f.Path, f.After, f.Before)
	return ok && !bytes.Equal(text, f.After)
}

// remarksAlone reports whether nothing of a file changed but comments, blank lines and its
// mode.
func remarksAlone(f integrity.File, texts *integrity.InspectionCache) bool {
	return f.Before != nil && f.After != nil && slices.Equal(code(f.Path, f.Before, texts), code(f.Path, f.After, texts))
}

// code returns the lines of a text that are not blank, without comments.
func code(path string, text []byte, texts *integrity.InspectionCache) []string {
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

// inlineAlone reports whether nothing of a file changed but the tests in it.
func inlineAlone(f integrity.File) bool {
	return !f.Added && !f.Deleted && source.DifferOnlyInInlineTests(f.Path, f.Before, f.After)
}

// versions returns the text of a changed file before and after the change, nil where
// the file does not exist, is too long, or could not be captured: a file that has
// become too big or unreadable counts as modified.
func versions(c snapshot.Change, read Reader) (was, is []byte, err error) {
	if c.Kind != snapshot.Added {
		if was, err = read(c.Path, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	if c.Kind != snapshot.Deleted {
		if is, err = read(c.Path, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
	}
	return short(was), short(is), nil
}

func short(text []byte) []byte {
	if len(text) > MaxText {
		return nil
	}
	return text
}

func scan(texts *integrity.InspectionCache, path string, text []byte) source.File {
	if text == nil {
		return source.File{}
	}
	return texts.Inspect(path, text).File
}

// TestsIn returns the tests that a text defines; none where it is too long.
func TestsIn(path string, text []byte) []detector.TestSource {
	return definitions(path, scan(nil, path, short(text)))
}

func definitions(path string, f source.File) []detector.TestSource {
	out := make([]detector.TestSource, 0, len(f.Tests))
	for _, def := range f.Tests {
		out = append(out, detector.TestSource{File: path, Def: def})
	}
	return out
}

func count(defined map[string]int, was, is source.File) {
	for _, f := range was.Functions {
		defined[f.Name]--
	}
	for _, f := range is.Functions {
		defined[f.Name]++
	}
}
