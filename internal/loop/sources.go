package loop

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/snapshot"
	"supervise/source"
)

// The bounds of what is looked at: of one file, and of all that a change holds.
const (
	maxText  = 1 << 20
	maxTexts = 64 << 20
)

// sources finds out what the text of the changed files tells the rules.
func (s *session) sources(ctx context.Context, w *work) (ledger.Evidence, error) {
	return s.evidenceOf(ctx, w.start.ID, w.it.Snapshot, w.changes)
}

// Sources returns what the text of the changed files tells the rules; opt says
// which of those about integrity are applied. read gives
// the text of a file before or after the change; it is asked only for files that
// were there. Errors are those of read.
func Sources(changes []snapshot.Change, opt integrity.Options, read func(path string, after bool) ([]byte, error)) (ledger.Evidence, error) {
	var out ledger.Evidence
	defined := map[string]int{}
	texts := moved{}
	var files audited
	var defsBefore, defsAfter [][]detector.TestSource
	all := make([]integrity.File, len(changes))
	for i, c := range changes {
		was, is, err := versions(c, read)
		if err != nil {
			return out, err
		}
		all[i] = integrity.File{Path: c.Path, Before: was, After: is}
	}
	opt.Texts = &integrity.Texts{}
	opt.Texts.ReadAhead(all)
	for i, c := range changes {
		was, is := all[i].Before, all[i].After
		files.add(c, was, is)
		if integrity.BelongsToTests(c.Path) {
			out.TestFiles = append(out.TestFiles, c.Path)
		}
		if source.LanguageOf(c.Path, nil) == source.Unknown {
			continue
		}
		if c.Kind == snapshot.Deleted {
			out.Removed = append(out.Removed, c.Path)
		}
		texts.add(c, was, is)
		before, after := scan(opt.Texts, c.Path, was), scan(opt.Texts, c.Path, is)
		defsBefore, defsAfter = append(defsBefore, definitions(c.Path, before)), append(defsAfter, definitions(c.Path, after))
		if !source.TestFile(c.Path, before.Language) {
			count(defined, before, after)
		}
	}
	out.Before, out.After = slices.Concat(defsBefore...), slices.Concat(defsAfter...)
	for name, n := range defined {
		if n < 0 {
			out.GoneSymbols = append(out.GoneSymbols, name)
		}
	}
	slices.Sort(out.GoneSymbols)
	out.Renamed = texts.renames()
	out.Tampering = files.audit(out.Renamed, opt)
	product := slices.DeleteFunc(slices.Clone(files.files), inlineAlone)
	out.TestsAlone = len(out.TestFiles)+len(files.files)-len(product) > 0 && !integrity.TouchesProduct(product)
	return out, nil
}

// inlineAlone reports whether nothing of a file changed but the tests in it.
func inlineAlone(f integrity.File) bool {
	return !f.Added && !f.Deleted && source.SameButInlineTests(f.Path, f.Before, f.After)
}

// versions returns the text of a changed file as it was and as it is, nil where
// it is not there, too long to be looked at, or could not be captured: a file that
// has become too big or unreadable counts as modified.
func versions(c snapshot.Change, read func(string, bool) ([]byte, error)) (was, is []byte, err error) {
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
	if len(text) > maxText {
		return nil
	}
	return text
}

func scan(texts *integrity.Texts, path string, text []byte) source.File {
	if text == nil {
		return source.File{}
	}
	return texts.Inspect(path, text).File
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
