package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// restoreShared brings back what is gone of the shared state.
func (x *restorer) restoreShared(ctx context.Context, present, target *manifest) error {
	want, err := readShared(x.objects, target)
	if err != nil || len(want) == 0 {
		return err
	}
	common := x.tree.external.Common
	if _, err := os.Lstat(filepath.Join(common, "HEAD")); errors.Is(err, fs.ErrNotExist) {
		return x.remakeShared(want)
	}
	lost, err := lostShared(x.objects, want, present.shared)
	if err != nil {
		return err
	}
	for _, l := range lost {
		if l.commit == "" || l.name == target.Branch.Name {
			continue
		}
		args := []string{"--git-dir=" + common, "update-ref", "-m", "supervise: restore", l.name, l.commit, strings.Repeat("0", len(l.commit))}
		if l.name == stashRef {
			args = []string{"--git-dir=" + common, "update-ref", "--create-reflog", "-m", l.subject, l.name, l.commit}
		}
		if _, err := runGit(gitCommand(ctx, common, args...)); err != nil {
			x.r.mismatch(l.name, err.Error())
			continue
		}
		x.r.Shared = append(x.r.Shared, l.text)
	}
	return nil
}

// remakeShared writes every file that is not there; the repository was deleted.
func (x *restorer) remakeShared(want []entry) error {
	root, err := os.OpenRoot(x.tree.external.Common)
	if err != nil {
		return fmt.Errorf("open shared git folder: %w", err)
	}
	defer root.Close()
	for _, e := range want {
		if _, err := root.Lstat(e.path); err == nil {
			continue
		}
		data, err := x.objects.content(e.oid)
		if err != nil {
			return fmt.Errorf("read shared git state: %w", err)
		}
		if dir := dirOf(e.path); dir != "" {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("make shared git folder: %w", err)
			}
		}
		if err := root.WriteFile(e.path, data, goMode(e.st.mode)); err != nil {
			return fmt.Errorf("write shared git folder: %w", err)
		}
	}
	for _, dir := range []string{"refs", "objects"} { // without them it is no repository
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make shared git folder: %w", err)
		}
	}
	x.r.Shared = append(x.r.Shared, "the repository "+x.tree.external.Common)
	return nil
}
