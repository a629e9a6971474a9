package gitdir

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
)

// Blob is the content of a path in a commit.
type Blob struct{ Path, ID string }

// maxCommits is the maximum number of commits that are read.
const maxCommits = "5000"

// ListBlobs lists the contents that commits give to paths; nil means all paths. The commits
// are those reachable from the ids in from, and not from those in excluded. Merges are
// compared with each parent. Unreadable objects are omitted.
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

// runOnPaths runs a git command that reads object names from stdin, and returns its output. It
// is limited to paths unless there are none.
func runOnPaths(ctx context.Context, root string, args, paths []string, stdin []byte) []byte {
	args = append([]string{"--git-dir=" + filepath.Join(root, ".git"), "--work-tree=" + root, "--literal-pathspecs"}, args...)
	if len(paths) > 0 {
		args = append(append(args, "--"), paths...)
	}
	cmd := IsolatedGit(root, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, _ := cmd.Output(ctx) // a damaged repository has no commits
	return out
}
