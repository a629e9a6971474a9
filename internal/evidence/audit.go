package evidence

import (
	"context"

	"supervise/detector"
	"supervise/integrity"
	"supervise/snapshot"
	"supervise/source"
)

// auditedFiles collects the changed files for the integrity rules.
type auditedFiles struct {
	files []integrity.File
	size  int // of all texts, in bytes
}

// add adds a changed file. Its texts are omitted if it is binary, or if all texts together would be
// too large.
func (a *auditedFiles) add(c snapshot.Change, old, current []byte) {
	if c.Kind == snapshot.Mode {
		return
	}
	f := integrity.File{Path: c.Path, Added: c.Kind == snapshot.Added, Deleted: c.Kind == snapshot.Deleted}
	if a.size+len(old)+len(current) <= maxTexts && !source.IsBinary(old) && !source.IsBinary(current) {
		f.Before, f.After = old, current
		a.size += len(old) + len(current)
	}
	a.files = append(a.files, f)
}

// audit returns the findings in the files. renamed maps old paths to new ones.
func (a *auditedFiles) audit(renamed map[string]string, opt integrity.Options) []detector.Tampering {
	var out []detector.Tampering
	for _, f := range integrity.Audit(a.joinRenamed(renamed), opt) {
		out = append(out, detector.Tampering{
			Pattern: f.Rule, Type: f.Type, Severity: f.Severity, IfRan: f.SeverityIfRan, File: f.File, Line: f.Line, Test: f.Test,
			Evidence: f.Evidence, ExplainedBy: f.ExplainedBy,
		})
	}
	return out
}

// joinRenamed returns the files; a renamed file is one entry.
func (a *auditedFiles) joinRenamed(renamed map[string]string) []integrity.File {
	old := map[string]string{}
	for from, to := range renamed {
		old[to] = from
	}
	deleted := map[string]integrity.File{}
	for _, f := range a.files {
		if renamed[f.Path] != "" {
			deleted[f.Path] = f
		}
	}
	var out []integrity.File
	for _, f := range a.files {
		if _, moved := deleted[f.Path]; moved && f.Deleted {
			continue
		}
		if from, ok := deleted[old[f.Path]]; ok && f.Added {
			f.OldPath, f.Before, f.Added = from.Path, from.Before, false
		}
		out = append(out, f)
	}
	return out
}

// ReadChangedFiles returns the changed files with both texts, as the integrity rules take them.
func ReadChangedFiles(changes []snapshot.Change, read Reader) ([]integrity.File, error) {
	var files auditedFiles
	texts := movedFiles{}
	for _, c := range changes {
		before, after, err := readVersions(c, read)
		if err != nil {
			return nil, err
		}
		files.add(c, before, after)
		texts.add(c, before, after)
	}
	return files.joinRenamed(texts.renames()), nil
}

// projectTree returns the complete project in a snapshot, for rules that need unchanged tests too.
// Files that cannot be read are left out.
func projectTree(ctx context.Context, store *snapshot.Store, id snapshot.ID) integrity.Tree {
	return integrity.Tree{
		Paths: func() []string {
			files, err := store.Files(id)
			if err != nil {
				return nil
			}
			var out []string
			for _, f := range files {
				if f.Mode.IsRegular() && f.Size <= MaxText {
					out = append(out, f.Path)
				}
			}
			return out
		},
		Texts: func(paths []string) map[string][]byte {
			out := map[string][]byte{}
			for _, p := range paths {
				if text, err := store.ReadFile(ctx, id, p); err == nil && !source.IsBinary(text) {
					out[p] = text
				}
			}
			return out
		},
	}
}
