package holdout

import (
	"cmp"
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/source"
)

// inlineTests is a file of code with modules of tests in it, as in Rust.
type inlineTests struct {
	was  []source.InlineTests // before the change
	text []byte               // the new code with the old modules; nil where they do not fit into it
}

// readInline reads the files of the findings that hold code and its tests. What
// cannot be read has none.
func (r *trialRun) readInline(ctx context.Context) {
	r.inline = map[string]inlineTests{}
	for _, f := range r.Findings {
		to := r.newPath(f.File)
		if _, known := r.inline[to]; known || r.testFile(f.File) || source.LanguageOf(to, nil) != source.Rust {
			continue
		}
		was, err1 := r.Store.ReadFile(ctx, r.Was, r.oldPath(to))
		is, err2 := r.Store.ReadFile(ctx, r.Is, to)
		if err1 != nil || err2 != nil || len(was) > evidence.MaxText || len(is) > evidence.MaxText {
			continue
		}
		if text, ok := source.WithInlineTests(to, is, was); ok {
			r.inline[to] = inlineTests{source.InlineTestsOf(to, was), text}
		}
	}
}

func (r *trialRun) newPath(file string) string { return cmp.Or(r.Evidence.Renamed[file], file) }

// testFile reports whether a changed file belongs to the tests as a whole.
func (r *trialRun) testFile(file string) bool {
	return slices.Contains(r.Evidence.TestFiles, file) || slices.Contains(r.Evidence.TestFiles, r.oldPath(file))
}

// isInline reports whether the test of a finding is in a module of tests that can be
// put into the new code.
func (r *trialRun) isInline(f detector.Tampering) bool {
	to := r.newPath(f.File)
	file, ok := r.inline[to]
	return ok && slices.ContainsFunc(r.Evidence.Before, func(d detector.TestSource) bool {
		return d.File == r.oldPath(to) && d.Def.Name == f.Test &&
			slices.ContainsFunc(file.was, func(m source.InlineTests) bool { return !m.Elsewhere && m.Holds(d.Def.Line) })
	})
}

// putInto puts the modules of tests as they were into the new code.
func (r *trialRun) putInto() error {
	var files Files
	for path, f := range r.inline {
		files = append(files, File{Path: path, Text: f.text})
		r.out.PutInto = append(r.out.PutInto, path)
	}
	slices.Sort(r.out.PutInto)
	return files.Write(r.tree.Path)
}
