package ignore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
)

// Uncommitted is what was in no commit when the store was made. Where there is no repository nothing is known of that.
type Uncommitted struct {
	// Files are the untracked files and those that differ from HEAD, each with the id of what HEAD has at that path, ""
	// for nothing.
	Files map[manifest.PathText]string
	// Staged are those of them of which the index had another version than the folder, with the id of that version.
	Staged map[manifest.PathText]string `json:",omitempty"`
	// Tips are the commits that refs, HEAD and the stash named, by the root of the repository.
	Tips map[manifest.PathText][]string
}

// ReadUncommitted reads what Write wrote; the zero value if there is no such file.
func ReadUncommitted(file string) (Uncommitted, error) {
	var o Uncommitted
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return Uncommitted{}, fmt.Errorf("read what was uncommitted: %w", err)
	}
	return o, nil
}

// Write keeps it in a file.
func (o Uncommitted) Write(file string) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write what was uncommitted: %w", err)
	}
	return disk.WriteFile(file, data)
}

// compareHead finds out what of a repository differs from HEAD, by the times in the index, without filters. Too much is
// named where the index is out of date.
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

// compareIndex finds out what is staged otherwise than it lies in the folder.
func (l *learner) compareIndex(ctx context.Context, rel, root string) {
	out, err := gitdir.RepoGit(ctx, root, "diff-files", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return // what is staged counts as part of the edit then
	}
	for name, id := range parseOldIDs(out) {
		if p := manifest.Join(rel, name); id != "" && id != l.edited[p] {
			l.staged[p] = id
		}
	}
}

// parseOldIDs reads the raw output of a diff: of each file the id before it, "" for none.
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

// FindTips are the commits that refs, HEAD and entries of the stash name; none where git cannot say.
func FindTips(ctx context.Context, root string) []string {
	refs, _ := gitdir.RepoGit(ctx, root, "for-each-ref", "--format=%(objectname)")
	head, _ := gitdir.RepoGit(ctx, root, "rev-parse", "--verify", "-q", "HEAD")
	stash, _ := gitdir.RepoGit(ctx, root, "rev-list", "-g", "refs/stash", "--")
	tips := strings.Fields(string(refs) + "\n" + string(head) + "\n" + string(stash))
	sort.Strings(tips)
	return tips
}

// recordUncommitted takes down a file that is in no commit.
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
