package loop

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/snapshot"
	"supervise/source"
)

// sources is what the text of the changed files tells the rules.
type sources struct {
	before, after []detector.TestSource
	removed       []string // paths of deleted files
	goneSymbols   []string // product functions that are no more
}

// maxText bounds the files that are looked at.
const maxText = 1 << 20

// sources reads the changed files as they were and as they are.
func (s *session) sources(ctx context.Context, w *work) (sources, error) {
	var out sources
	defined := map[string]int{}
	for _, c := range w.changes {
		if source.LanguageOf(c.Path, nil) == source.Unknown {
			continue
		}
		if c.Kind == snapshot.Deleted {
			out.removed = append(out.removed, c.Path)
		}
		was, err := s.scan(ctx, w.start.ID, c, snapshot.Added)
		if err != nil {
			return out, err
		}
		is, err := s.scan(ctx, w.it.Snapshot, c, snapshot.Deleted)
		if err != nil {
			return out, err
		}
		out.before = append(out.before, definitions(c.Path, was)...)
		out.after = append(out.after, definitions(c.Path, is)...)
		if !source.TestFile(c.Path, was.Language) {
			count(defined, was, is)
		}
	}
	for name, n := range defined {
		if n < 0 {
			out.goneSymbols = append(out.goneSymbols, name)
		}
	}
	slices.Sort(out.goneSymbols)
	return out, nil
}

// scan reads a changed file in a snapshot; the zero File when it is not there.
func (s *session) scan(ctx context.Context, id snapshot.ID, c snapshot.Change, absent snapshot.ChangeKind) (source.File, error) {
	if c.Kind == absent {
		return source.File{}, nil
	}
	text, err := s.store.ReadFile(ctx, id, c.Path)
	if err != nil {
		return source.File{}, fmt.Errorf("read changed file: %w", err)
	}
	if len(text) > maxText {
		return source.File{}, nil
	}
	f, _ := source.Scan(c.Path, text) // what does not parse is read as far as it goes
	return f, nil
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
