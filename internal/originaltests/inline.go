package originaltests

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/treecopy"
	"supervise/source"
)

// readInline reads the files of code in which modules of tests changed, and combines the new code
// with the original modules. It skips files that are too large, cannot be read, or do not fit.
func (r *trialRun) readInline(ctx context.Context) {
	r.inlineTexts = map[string][]byte{}
	for _, to := range r.Evidence.InlineTestFiles {
		old, err1 := r.Store.ReadFile(ctx, r.Base, r.Evidence.OldPath(to))
		current, err2 := r.Store.ReadFile(ctx, r.Current, to)
		if err1 != nil || err2 != nil || len(old) > evidence.MaxText || len(current) > evidence.MaxText {
			continue
		}
		if text, ok := source.ReplaceInlineTests(to, current, old); ok {
			r.inlineTexts[to] = text
		}
	}
}

// isTestFile reports whether a changed file belongs to the tests completely.
func (t Trial) isTestFile(file string) bool {
	return slices.Contains(t.Evidence.TestFiles, file) || slices.Contains(t.Evidence.TestFiles, t.Evidence.OldPath(file))
}

// isInline reports whether a test is in a module of tests within a file of code.
func (t Trial) isInline(d detector.TestSource) bool {
	return !t.isTestFile(d.File) && slices.Contains(t.Evidence.InlineTestFiles, t.Evidence.NewPath(d.File))
}

// writeInlineTests writes the new code with the original modules of tests into the copy.
func (r *trialRun) writeInlineTests() error {
	var files treecopy.Files
	for path, text := range r.inlineTexts {
		files = append(files, treecopy.File{Path: path, Text: text})
		r.out.RestoredInlineTests = append(r.out.RestoredInlineTests, path)
	}
	slices.Sort(r.out.RestoredInlineTests)
	return files.Write(r.tree.Path)
}
