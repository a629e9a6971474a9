package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linkedWorktree is a worktree of a repository in the middle of work, and that repository.
func linkedWorktree(t *testing.T) (dir, main string) {
	t.Helper()
	main = workshop(t)
	git(t, main, "stash", "push", "-q", "-m", "mine")
	git(t, main, "stash", "apply", "-q")
	git(t, main, "branch", "extra")
	git(t, main, "tag", "-a", "-m", "tagged", "v9")
	dir = filepath.Join(filepath.Dir(main), "linked")
	git(t, main, "worktree", "add", "-q", "-b", "topic", dir)
	return dir, main
}

// What an agent in a linked worktree deletes of the branches, tags and stashes that all worktrees share comes back; what
// others did there meanwhile stays.
func TestSharedRefsComeBack(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(t *testing.T, dir, main string)
		lost []string
	}{
		"branch, tag and stash": {func(t *testing.T, dir, _ string) {
			git(t, dir, "branch", "-q", "-D", "extra")
			git(t, dir, "tag", "-d", "v9")
			git(t, dir, "stash", "clear")
			git(t, dir, "reflog", "expire", "--expire=now", "--all")
			git(t, dir, "gc", "-q", "--prune=now")
		}, []string{"branch extra", "stash entry 0 (On main: mine)", "stash entry 1 (WIP", "tag v9"}},
		"one stash of two": {func(t *testing.T, dir, _ string) {
			git(t, dir, "stash", "drop", "-q", "stash@{1}")
		}, []string{"stash entry 1 (WIP"}},
		"packed, moved, new": {func(t *testing.T, dir, main string) {
			git(t, dir, "pack-refs", "--all")
			git(t, main, "branch", "-q", "-f", "extra", "HEAD~1")
			git(t, main, "branch", "-q", "new")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir, main := linkedWorktree(t)
			stashes := git(t, main, "rev-list", "-g", "stash")
			s := open(t, dir, Options{})
			first := take(t, s)
			tt.do(t, dir, main)
			refs := git(t, main, "for-each-ref")
			second := take(t, s)
			lost, err := s.LostSharedState(first.ID, second.ID)
			must(t, err)
			r := mustRestore(t, s, first.ID)
			for i, want := range tt.lost {
				if i >= len(lost) || !strings.HasPrefix(lost[i], want) {
					t.Errorf("lost %q, want %q", lost, tt.lost)
				}
			}
			if len(lost) != len(tt.lost) || len(r.Shared) != len(lost) {
				t.Errorf("lost %q, put back %q, want %q", lost, r.Shared, tt.lost)
			}
			if tt.lost == nil {
				if d := cmp.Diff(refs, git(t, main, "for-each-ref")); d != "" {
					t.Errorf("what others did was touched:\n%s", d)
				}
				return
			}
			again, err := s.LostSharedState(first.ID, take(t, s).ID)
			must(t, err)
			if len(again) > 0 {
				t.Errorf("still lost: %q", again)
			}
			for _, id := range strings.Fields(stashes) {
				if !strings.Contains(git(t, main, "rev-list", "-g", "stash"), id) {
					t.Errorf("stash %s is gone", id)
				}
			}
			git(t, main, "fsck", "--full", "--no-dangling")
		})
	}
}

// An agent in a linked worktree deletes the repository itself.
func TestSharedRepositoryComesBack(t *testing.T) {
	dir, main := linkedWorktree(t)
	s := open(t, dir, Options{})
	before, beforeMain := picture(t, dir), picture(t, main)
	first := take(t, s)
	must(t, os.RemoveAll(filepath.Join(main, ".git")))
	r := mustRestore(t, s, first.ID)
	same(t, "worktree", before, picture(t, dir))
	after := picture(t, main)
	for _, p := range []map[string]string{beforeMain, after} { // empty folders of git's are none of ours
		for key, text := range p {
			if strings.HasPrefix(key, ".git/") && strings.HasPrefix(text, "d") {
				delete(p, key)
			}
		}
	}
	same(t, "main worktree", beforeMain, after)
	if d := cmp.Diff([]string{"the repository " + filepath.Join(main, ".git")}, r.Shared); d != "" {
		t.Errorf("lost (-want +got):\n%s", d)
	}
}

// What was captured of the shared state survives that other snapshots are dropped, and another process reads it.
func TestSharedStateIsKept(t *testing.T) {
	dir, main := linkedWorktree(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	git(t, main, "branch", "third")
	write(t, dir, "new", "new\n")
	second := take(t, s)
	write(t, dir, "new", "newer\n")
	third := take(t, s)
	if _, err := s.Prune(t.Context(), []ID{second.ID, third.ID}); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, s)
	if _, err := s.Info(first.ID); err == nil {
		t.Fatal("the first snapshot is still there")
	}
	git(t, main, "branch", "-q", "-D", "third", "extra")
	if r := mustRestore(t, s, second.ID); len(r.Shared) != 2 {
		t.Errorf("put back %q, want both branches", r.Shared)
	}
}
