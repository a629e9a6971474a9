package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// currentBranch reads where the branch of a linked worktree stands. A detached HEAD has none.
func currentBranch(ctx context.Context, gitDir string) branchRef {
	head, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	name, isRef := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: ")
	if err != nil || !isRef {
		return branchRef{}
	}
	return branchRef{name, resolveRef(ctx, gitDir, name)}
}

func resolveRef(ctx context.Context, gitDir, name string) string {
	out, err := runGit(gitCommand(ctx, gitDir, "--git-dir="+gitDir, "rev-parse", "--verify", "-q", name))
	if err != nil {
		return "" // no commit yet
	}
	return strings.TrimSpace(string(out))
}

// restoreBranch moves the branch of a linked worktree back, if it moved. gitDir is the shared folder: seen from there the
// branch is not checked out, so that git does not write into the worktree's own HEAD log.
func restoreBranch(ctx context.Context, gitDir string, b branchRef) error {
	if b.Name == "" || resolveRef(ctx, gitDir, b.Name) == b.Commit {
		return nil
	}
	args := []string{"--git-dir=" + gitDir, "update-ref", "-m", "supervise: restore", b.Name, b.Commit}
	if b.Commit == "" {
		args = []string{"--git-dir=" + gitDir, "update-ref", "-d", b.Name}
	}
	_, err := runGit(gitCommand(ctx, gitDir, args...))
	return err
}
