package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/worktree"
)

// CurrentBranch reads where the branch of a linked worktree stands. A detached HEAD has none.
func CurrentBranch(ctx context.Context, gitDir string) manifest.Branch {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	name, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if err != nil || !isRef {
		return manifest.Branch{}
	}
	return manifest.Branch{Name: name, Commit: resolveRef(ctx, gitDir, name)}
}

func resolveRef(ctx context.Context, gitDir, name string) string {
	out, err := worktree.RunGit(worktree.GitCommand(ctx, gitDir, "--git-dir="+gitDir, "rev-parse", "--verify", "-q", name))
	if err != nil {
		return "" // no commit yet
	}
	return strings.TrimSpace(string(out))
}

// RestoreBranch moves the branch of a linked worktree back, if it moved. gitDir is the shared folder: seen from there the
// branch is not checked out, so that git does not write into the worktree's own HEAD log.
func RestoreBranch(ctx context.Context, gitDir string, b manifest.Branch) error {
	if b.Name == "" || resolveRef(ctx, gitDir, b.Name) == b.Commit {
		return nil
	}
	args := []string{"--git-dir=" + gitDir, "update-ref", "-m", "supervise: restore", b.Name, b.Commit}
	if b.Commit == "" {
		args = []string{"--git-dir=" + gitDir, "update-ref", "-d", b.Name}
	}
	_, err := worktree.RunGit(worktree.GitCommand(ctx, gitDir, args...))
	return err
}
