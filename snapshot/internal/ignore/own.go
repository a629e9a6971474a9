package ignore

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
)

// Uncommitted is the work that was in no commit when the store was created. Without a repository it is not known.
type Uncommitted struct {
	// Files are the untracked files and those that differ from HEAD, each with the id of its
	// content in HEAD, "" if HEAD does not have it.
	Files map[manifest.PathText]string
	// Staged are the files whose staged content differs from that in the tree, each with the
	// id of the staged content.
	Staged map[manifest.PathText]string `json:",omitempty"`
	// Tips are the commits of refs, HEAD and the stash, by the root of the repository.
	Tips map[manifest.PathText][]string
}

// ReadUncommitted reads a file written by Write. It returns the zero value if the file does not exist.
func ReadUncommitted(file string) (Uncommitted, error) {
	var o Uncommitted
	if _, err := disk.ReadJSON(file, &o); err != nil {
		return Uncommitted{}, fmt.Errorf("read what was uncommitted: %w", err)
	}
	return o, nil
}

// Write writes u to a file.
func (u Uncommitted) Write(file string) error { return disk.WriteJSON(file, "", u) }

// compareHead finds the files of a repository that differ from HEAD. It compares the times in
// the index, and runs no filters. It may report unchanged files if the index is out of date.
func (l *learner) compareHead(ctx context.Context, rel, root string) {
	l.uncommitted.Tips[manifest.PathText(rel)] = FindTips(ctx, root)
	args := []string{"diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all", "HEAD", "--"}
	out, err := gitdir.RepoGit(ctx, root, args...)
	if err != nil { // there is no commit yet
		l.unborn = append(l.unborn, rel)
		l.compareIndex(ctx, rel, root)
		return
	}
	for name, id := range parseOldIDs(out) {
		l.edited[manifest.Join(rel, name)] = id
	}
	if len(out) > 0 {
		l.compareIndex(ctx, rel, root)
	}
}

// compareIndex finds the files whose staged content differs from that in the tree.
func (l *learner) compareIndex(ctx context.Context, rel, root string) {
	out, err := gitdir.RepoGit(ctx, root, "diff-files", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return // staged content then counts as part of the edit
	}
	for name, id := range parseOldIDs(out) {
		if p := manifest.Join(rel, name); id != "" && id != l.edited[p] {
			l.staged[p] = id
		}
	}
}

// parseOldIDs parses the output of git diff --raw -z. Each file has two fields that end in a
// zero byte: ":100644 100644 OLD NEW M", and the path. The result maps a path to the id of the
// old content, "" for a new file.
func parseOldIDs(raw []byte) map[string]string {
	out := map[string]string{}
	fields := strings.Split(string(raw), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if f := strings.Fields(fields[i]); len(f) == 5 {
			if strings.Trim(f[2], "0") == "" {
				f[2] = ""
			}
			out[fields[i+1]] = f[2]
		}
	}
	return out
}

// FindTips returns the commits of all refs, of HEAD and of the stash entries, sorted. It
// returns none if git fails.
func FindTips(ctx context.Context, root string) []string {
	refs, _ := gitdir.RepoGit(ctx, root, "for-each-ref", "--format=%(objectname)")
	head, _ := gitdir.RepoGit(ctx, root, "rev-parse", "--verify", "-q", "HEAD")
	stash, _ := gitdir.RepoGit(ctx, root, "rev-list", "-g", "refs/stash", "--")
	tips := strings.Fields(string(refs) + "\n" + string(head) + "\n" + string(stash))
	sort.Strings(tips)
	return tips
}

// recordUncommitted adds a file to l.uncommitted if its content is in no commit. Files outside
// of a repository are not recorded.
func (l *learner) recordUncommitted(p string) {
	s := l.scopeOf(p)
	if s.Plain {
		return
	}
	committed, edited := l.edited[p]
	if i := sort.SearchStrings(l.tracked, p); !edited && i < len(l.tracked) && l.tracked[i] == p && !slices.Contains(l.unborn, string(s.Root)) {
		return
	}
	l.uncommitted.Files[manifest.PathText(p)] = committed
	if id := l.staged[p]; id != "" {
		l.uncommitted.Staged[manifest.PathText(p)] = id
	}
}
