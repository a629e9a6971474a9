package mergegate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/treediff"
	"supervise/snapshot"
)

// findHeadChanges returns what the checks changed in the working tree. A test that the change
// deletes also counts if it was there before, because git ignores it.
func (g *mergeGate) findHeadChanges(ctx context.Context) (out []detector.CheckChange, err error) {
	index, base := g.indexPath(), filepath.Join(g.tree.Base, "base.index")
	if err := errors.Join(os.Rename(index, base), os.Rename(g.headIndexPath(), index)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Rename(base, index)) }()
	inBase, deleted, err := g.baseFiles(ctx)
	if err != nil {
		return nil, err
	}
	after, err := g.writeTree(ctx, deleted)
	if err != nil || after == g.headTree {
		return nil, err
	}
	change, err := treediff.Repo{Dir: g.tree.Dir}.CompareTrees(ctx, g.headTree, after)
	if err != nil {
		return nil, err
	}
	tracked, err := treediff.Repo{Dir: g.Root}.TrackedFiles(ctx)
	files := slices.DeleteFunc(change.Files, func(f integrity.File) bool {
		return g.meter.IsReport(filepath.Join(g.Root, filepath.FromSlash(f.Path)))
	})
	return slices.DeleteFunc(evidence.CheckChanges(files, change.Base, func(path string) bool { return inBase[path] }), func(c detector.CheckChange) bool {
		return c.Part == "" && !tracked[c.Path]
	}), err
}

// baseFiles returns the files of the base, and those that the change deletes and that exist in the
// working tree.
func (g *mergeGate) baseFiles(ctx context.Context) (inBase map[string]bool, existing []string, err error) {
	if g.baseSnapshot == "" {
		return nil, nil, nil
	}
	files, err := g.store.Files(g.baseSnapshot)
	if err != nil {
		return nil, nil, err
	}
	inBase = map[string]bool{}
	for _, f := range files {
		inBase[f.Path] = true
	}
	changes, err := g.store.Changes(ctx, g.baseSnapshot, g.headSnapshot)
	for _, c := range changes {
		info, missing := os.Lstat(filepath.Join(g.Root, filepath.FromSlash(c.Path)))
		if c.Kind == snapshot.Deleted && missing == nil && info.Mode().IsRegular() {
			existing = append(existing, c.Path)
		}
	}
	return inBase, existing, err
}

// checkChanges returns what checks changed in a checkout that had no uncommitted changes. It omits
// new files that are no tests.
func (r repo) checkChanges(ctx context.Context) ([]detector.CheckChange, error) {
	list, err := r.git(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
	var out []detector.CheckChange
	for entry := range strings.SplitSeq(list, "\x00") {
		if len(entry) < 4 {
			continue
		}
		c := detector.CheckChange{Path: entry[3:], Kind: string(snapshot.Modified)}
		switch role := integrity.RoleOf(c.Path); {
		case entry[:2] == "??" && (role == integrity.Product || role == integrity.OtherFile):
			continue
		case entry[:2] == "??":
			c.Kind = string(snapshot.Added)
		case entry[1] == 'D':
			c.Kind = string(snapshot.Deleted)
		}
		out = append(out, c)
	}
	return out, err
}
