package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"supervise/integrity"
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
func (s *session) inCopy(ctx context.Context, id snapshot.ID, texts map[string][]byte, work func(copied) error) (err error) {
	if err := os.MkdirAll(s.scratchDir(), 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.scratchDir(), "tree-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.RemoveTree(dir)) }()
	c := copied{trialTree{dir: dir, root: s.opts.Root, store: s.store, plan: s.opts.Plan, user: s.user}, id, texts}
	if err := c.lay(ctx, id); err != nil {
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

// changedFiles are the files that differ between two trees, with their texts, as the
// rules about integrity look at them.
func (s *session) changedFiles(ctx context.Context, was, is snapshot.ID, changes []snapshot.Change) ([]integrity.File, error) {
	var files audited
	texts := moved{}
	for _, c := range changes {
		before, after, err := versions(c, func(path string, after bool) ([]byte, error) {
			if after {
				return s.store.ReadFile(ctx, is, path)
			}
			return s.store.ReadFile(ctx, was, path)
		})
		if err != nil {
			return nil, fmt.Errorf("read changed file: %w", err)
		}
		files.add(c, before, after)
		texts.add(c, before, after)
	}
	return files.joined(texts.renames()), nil
}
