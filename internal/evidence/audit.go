package evidence

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/ledger"
	"supervise/snapshot"
	"supervise/source"
)

// ReadChangedFiles returns the changed files with both texts, as the integrity rules take them.
func ReadChangedFiles(changes []snapshot.Change, read Reader) ([]integrity.File, error) {
	files, err := readFiles(changes, read)
	if err != nil {
		return nil, err
	}
	var moved movedFiles
	for _, f := range files {
		moved.add(f)
	}
	return joinRenamed(auditableFiles(changes, files), moved.renames()), nil
}

// readFiles reads the changed files, in the order of the changes.
func readFiles(changes []snapshot.Change, read Reader) ([]integrity.File, error) {
	files := make([]integrity.File, len(changes))
	for i, c := range changes {
		old, current, err := readVersions(c, read)
		if err != nil {
			return nil, err
		}
		files[i] = integrity.File{Path: c.Path, Before: old, After: current, Added: c.Kind == snapshot.Added, Deleted: c.Kind == snapshot.Deleted}
	}
	return files, nil
}

// auditableFiles returns the changed files for the integrity rules, without those of which only the
// mode changed. A file has no texts if it is binary, or if all texts together would be too large.
func auditableFiles(changes []snapshot.Change, files []integrity.File) []integrity.File {
	var out []integrity.File
	total := 0
	for i, f := range files {
		if changes[i].Kind == snapshot.Mode {
			continue
		}
		size := len(f.Before) + len(f.After)
		if total+size > maxTexts || source.IsBinary(f.Before) || source.IsBinary(f.After) {
			f.Before, f.After, size = nil, nil, 0
		}
		total += size
		out = append(out, f)
	}
	return out
}

// joinRenamed returns the files, with one entry for a renamed file. renamed maps old paths to new
// ones.
func joinRenamed(files []integrity.File, renamed map[string]string) []integrity.File {
	deleted := map[string]integrity.File{} // by the new path
	for _, f := range files {
		if to := renamed[f.Path]; to != "" {
			deleted[to] = f
		}
	}
	var out []integrity.File
	for _, f := range files {
		if f.Deleted && renamed[f.Path] != "" {
			continue
		}
		if from, ok := deleted[f.Path]; ok && f.Added {
			f.OldPath, f.Before, f.Added = from.Path, from.Before, false
		}
		out = append(out, f)
	}
	return out
}

// tamperingIn returns the findings of the integrity rules in the files.
func tamperingIn(files []integrity.File, opt integrity.Options) []detector.Tampering {
	var out []detector.Tampering
	for _, f := range integrity.Audit(files, opt) {
		out = append(out, detector.Tampering{
			Pattern: f.Rule, Type: f.Type, Severity: f.Severity, IfRan: f.SeverityIfRan, File: f.File, Line: f.Line, Test: f.Test,
			Evidence: f.Evidence, ExplainedBy: f.ExplainedBy,
		})
	}
	return out
}

// Uncommitted returns what uncommitted changes do to the tests, nil if nothing. A new test file alone
// is nothing.
func Uncommitted(files []integrity.File, opt integrity.Options) *ledger.Uncommitted {
	var e ledger.Evidence
	opt.Inspections = &integrity.InspectionCache{}
	sortByRole(&e, files, opt)
	var out ledger.Uncommitted
	for _, f := range files {
		if !f.Added && slices.Contains(slices.Concat(e.TestFiles, e.RunnerFiles, e.InlineTestFiles), f.Path) {
			out.Files = append(out.Files, f.Path)
		}
	}
	for _, f := range tamperingIn(files, opt) {
		if f.Severity >= detector.Medium && f.Type != "supervisor_touched" { // the settings are the user's own
			out.Findings = append(out.Findings, f)
		}
	}
	if len(out.Files)+len(out.Findings) == 0 {
		return nil
	}
	return &out
}

// ProjectTree returns the complete project in a snapshot, for rules that need unchanged tests too.
// Files that cannot be read are left out.
func ProjectTree(ctx context.Context, store *snapshot.Store, id snapshot.ID) integrity.Tree {
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
