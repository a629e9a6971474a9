package loop

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"supervise/internal/ledger"
	"supervise/snapshot"
)

// copied is a private copy of a snapshot in which some files read otherwise. One
// whose text is nil is not there.
type copied struct {
	trialTree
	id    snapshot.ID
	texts map[string][]byte
}

// inCopy makes the copy, works in it and removes it.
func (r Recount) inCopy(ctx context.Context, texts map[string][]byte, work func(copied) error) (err error) {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(r.Dir, "tree-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.RemoveTree(dir)) }()
	c := copied{trialTree{dir: dir, root: r.Root, store: r.Store, plan: r.Plan, user: r.User}, r.Is, texts}
	if err := c.lay(ctx, r.Is); err != nil {
		return err
	}
	var files hiddenFiles
	for _, path := range c.paths() {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if texts[path] == nil {
			if err := os.Remove(full); err != nil {
				return err
			}
			continue
		}
		info, err := os.Lstat(full)
		if err != nil {
			return err
		}
		files = append(files, hiddenFile{path: path, text: texts[path], exec: info.Mode()&0o100 != 0})
	}
	if err := files.lay(dir); err != nil {
		return err
	}
	return work(c)
}

// paths are the files that read otherwise, sorted.
func (c copied) paths() []string { return slices.Sorted(maps.Keys(c.texts)) }

// asIs has those files read as in the snapshot.
func (c copied) asIs(ctx context.Context) error {
	return c.store.Export(ctx, c.id, c.dir, c.paths()...)
}
