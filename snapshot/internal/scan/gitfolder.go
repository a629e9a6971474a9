package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/walk"
)

// scanExternal scans the git folder outside the tree.
func (sc *scanner) scanExternal(ctx context.Context) error {
	ext := sc.External
	if ext.GitDir == "" {
		return nil
	}
	if ext.Linked() {
		if err := sc.scanShared(); err != nil {
			return err
		}
		sc.manifest.ObjectDirs = append(sc.manifest.ObjectDirs, gitdir.InExternal+"objects")
		for _, rel := range gitdir.LargeFileDirs() {
			if fi, err := os.Stat(filepath.Join(ext.Common, filepath.FromSlash(rel))); err == nil && fi.IsDir() {
				sc.manifest.ObjectDirs = append(sc.manifest.ObjectDirs, gitdir.InExternal+rel)
			}
		}
	}

	root, err := os.OpenRoot(ext.GitDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted; a restore recreates it
	}
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()

	if err := sc.newWalker(manifest.PartExt).Walk(ctx, root, walk.ZoneGit); err != nil {
		return err
	}
	if ext.Linked() {
		sc.manifest.Branch = gitstate.CurrentBranch(ctx, ext.GitDir)
	}
	return nil
}

// scanShared captures the state that linked worktrees share.
func (sc *scanner) scanShared() (err error) {
	if sc.manifest.SharedList, err = gitstate.CaptureShared(sc.External, sc.Pack, sc.Base.SharedList, sc.stable); err != nil {
		return fmt.Errorf("look at the shared git folder: %w", err)
	}
	list := manifest.AppendEntries(nil, sc.manifest.SharedList)
	id := pack.Hash(pack.Blob, list)
	if sc.Pack != nil {
		if id, err = sc.Pack.Add(pack.Blob, list); err != nil {
			return err
		}
	}
	sc.manifest.Shared = id.String()
	return nil
}
