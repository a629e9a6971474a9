package gitdir

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
)

// Blob is a content that a commit gives to a path.
type Blob struct{ Path, ID string }

// maxCommits bounds how many commits are looked at.
const maxCommits = "5000"

// ListBlobs lists the contents that the commits that from leads to, and not leads not to, give to paths; to any path if paths
// is nil. Merges are compared with each parent. What git cannot read is left out.
func ListBlobs(ctx context.Context, root string, from, excluded, paths []string) []Blob {
	if len(from) == 0 {
		return nil
	}
	var revs strings.Builder
	for _, id := range from {
		revs.WriteString(id + "\n")
	}
	for _, id := range excluded {
		revs.WriteString("^" + id + "\n")
	}
	list := runOnPaths(ctx, root, []string{"rev-list", "--ignore-missing", "--max-count=" + maxCommits, "--stdin"}, paths, []byte(revs.String()))
	out := runOnPaths(ctx, root, []string{"diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-commit-id"}, paths, list)
	fields := strings.Split(string(out), "\x00")
	var blobs []Blob
	for i := 0; i+1 < len(fields); i += 2 {
		if f := strings.Fields(fields[i]); len(f) == 5 {
			blobs = append(blobs, Blob{fields[i+1], f[3]})
		}
	}
	return blobs
}

// runOnPaths runs plumbing of git over what stdin names.
func runOnPaths(ctx context.Context, root string, args, paths []string, stdin []byte) []byte {
	args = append([]string{"--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root, "--literal-pathspecs"}, args...)
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}
	cmd := IsolatedGit(root, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, _ := cmd.Output(ctx) // a repository that was destroyed has no commits
	return out
}

// RepoRoot is the folder of a repository of the tree.
func RepoRoot(work, rel string) string { return filepath.Join(work, filepath.FromSlash(rel)) }
