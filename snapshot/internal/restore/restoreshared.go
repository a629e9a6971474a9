package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/worktree"
)

// restoreShared brings back what is gone of the shared state.
func (x *Restorer) restoreShared(ctx context.Context, present, target *manifest.Manifest) error {
	want, err := gitstate.ReadShared(x.Objects, target)
	if err != nil || len(want) == 0 {
		return err
	}
	common := x.Tree.External.Common
	if _, err := os.Lstat(filepath.Join(common, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return x.remakeShared(want)
	}
	lost, err := gitstate.LostShared(x.Objects, want, present.SharedList)
	if err != nil {
		return err
	}
	for _, l := range lost {
		if l.Commit == "" || l.Name == target.Branch.Name {
			continue
		}
		args := []string{"--git-dir=" + common, "update-ref", "-m", "supervise: restore", l.Name, l.Commit, strings.Repeat("0", len(l.Commit))}
		if l.Name == gitstate.StashRef {
			args = []string{"--git-dir=" + common, "update-ref", "--create-reflog", "-m", l.Subject, l.Name, l.Commit}
		}
		if _, err := worktree.RunGit(worktree.GitCommand(ctx, common, args...)); err != nil {
			x.Result.mismatch(l.Name, err.Error())
			continue
		}
		x.Result.Shared = append(x.Result.Shared, l.Text)
	}
	return nil
}

// remakeShared writes every file that is not there; the repository was deleted.
func (x *Restorer) remakeShared(want []manifest.Entry) error {
	root, err := os.OpenRoot(x.Tree.External.Common)
	if err != nil {
		return fmt.Errorf("open shared git folder: %w", err)
	}
	defer root.Close()
	for _, e := range want {
		if _, err := root.Lstat(e.Path); err == nil {
			continue
		}
		data, err := x.Objects.Content(e.OID)
		if err != nil {
			return fmt.Errorf("read shared git state: %w", err)
		}
		if dir := manifest.Dir(e.Path); dir != "" {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make shared git folder: %w", err)
			}
		}
		if err := root.WriteFile(e.Path, data, disk.Mode(e.Stat.Mode)); err != nil {
			return fmt.Errorf("write shared git folder: %w", err)
		}
	}
	for _, dir := range []string{"refs", "objects"} { // without them it is no repository
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make shared git folder: %w", err)
		}
	}
	x.Result.Shared = append(x.Result.Shared, "the repository "+x.Tree.External.Common)
	return nil
}
