package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refsAndStashes makes a repository with branches and tags, loose and packed, a note, remote-tracking refs and two stashes.
func refsAndStashes(t *testing.T) string {
	t.Helper()
	dir := plain(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "one")
	git(t, dir, "branch", "packed/branch")
	git(t, dir, "tag", "-a", "-m", "annotated", "v1")
	git(t, dir, "pack-refs", "--all")
	git(t, dir, "branch", "loose")
	git(t, dir, "tag", "v2")
	git(t, dir, "notes", "add", "-m", "note")
	git(t, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	git(t, dir, "update-ref", "refs/bisect/bad", "HEAD")
	for _, text := range []string{"first", "second"} {
		write(t, dir, "a.txt", text)
		git(t, dir, "stash", "push", "-q", "-m", text)
	}
	return dir
}

func gitLost(t *testing.T, s *Store, from, to ID) []string {
	t.Helper()
	lost, err := s.LostGitState(context.Background(), from, to)
	must(t, err)
	return lost
}

func TestGitLost(t *testing.T) {
	stash0, stash1 := "stash entry 0 (On main: second)", "stash entry 1 (On main: first)"
	for _, c := range []struct {
		name string
		do   [][]string
		want []string
	}{
		{"nothing", nil, nil},
		{"commit", [][]string{{"commit", "-q", "--allow-empty", "-m", "two"}}, nil},
		{"reset", [][]string{{"commit", "-q", "--allow-empty", "-m", "two"}, {"branch", "-f", "loose"}, {"reset", "-q", "--hard", "HEAD~1"}}, nil},
		{"new branch, tag and stash", [][]string{{"switch", "-q", "-c", "fresh"}, {"tag", "v3"}, {"rm", "-q", "a.txt"}, {"stash", "-q"}}, nil},
		{"pack-refs", [][]string{{"pack-refs", "--all"}}, nil},
		{"gc", [][]string{{"gc", "-q", "--prune=now"}}, nil},
		{"refs that do not count", [][]string{{"update-ref", "-d", "refs/remotes/origin/main"}, {"update-ref", "-d", "refs/bisect/bad"}}, nil},
		{"branch -D", [][]string{{"branch", "-q", "-D", "loose", "packed/branch"}}, []string{"branch loose", "branch packed/branch"}},
		{"branch -m", [][]string{{"branch", "-m", "loose", "other"}}, []string{"branch loose"}},
		{"tag -d", [][]string{{"tag", "-d", "v1", "v2"}}, []string{"tag v1", "tag v2"}},
		{"notes", [][]string{{"update-ref", "-d", "refs/notes/commits"}}, []string{"ref refs/notes/commits"}},
		{"stash drop", [][]string{{"stash", "drop", "-q", "stash@{1}"}}, []string{stash1}},
		{"stash pop", [][]string{{"stash", "pop", "-q"}}, []string{stash0}},
		{"stash clear", [][]string{{"stash", "clear"}}, []string{stash0, stash1}},
		{"stash clear and another", [][]string{{"stash", "clear"}, {"rm", "-q", "a.txt"}, {"stash", "-q"}}, []string{stash0, stash1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := refsAndStashes(t)
			s := open(t, dir, Options{})
			first := take(t, s)
			for _, args := range c.do {
				git(t, dir, args...)
			}
			second := take(t, s)
			if d := cmp.Diff(c.want, gitLost(t, s, first.ID, second.ID)); d != "" {
				t.Errorf("lost (-want +got):\n%s", d)
			}
			mustRestore(t, s, first.ID)
			if lost := gitLost(t, s, first.ID, take(t, s).ID); len(lost) > 0 {
				t.Errorf("lost after the restore: %v", lost)
			}
		})
	}
}

func TestGitLostWithTheRepository(t *testing.T) {
	dir := refsAndStashes(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	must(t, os.RemoveAll(filepath.Join(dir, ".git")))
	gone := take(t, s)
	if d := cmp.Diff([]string{".git"}, gitLost(t, s, first.ID, gone.ID)); d != "" {
		t.Error(d)
	}
	if lost := gitLost(t, s, gone.ID, first.ID); lost != nil {
		t.Errorf("without a repository at first %v is lost", lost)
	}
	git(t, dir, "init", "-q", "-b", "main")
	want := regexp.MustCompile(`^branch loose,branch main,branch packed/branch,ref refs/notes/commits,stash .*,tag v1,tag v2$`)
	if got := strings.Join(gitLost(t, s, first.ID, take(t, s).ID), ","); !want.MatchString(got) {
		t.Errorf("an empty repository in its place: %s", got)
	}
	if _, err := s.LostGitState(context.Background(), "99", first.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown snapshot: %v", err)
	}
}

func TestGitLostOutsideTheTree(t *testing.T) {
	main := refsAndStashes(t)
	linked := filepath.Join(filepath.Dir(main), "linked")
	git(t, main, "worktree", "add", "-q", "-b", "topic", linked)
	s := open(t, linked, Options{})
	first := take(t, s)
	git(t, linked, "commit", "-q", "--allow-empty", "-m", "two")
	if lost := gitLost(t, s, first.ID, take(t, s).ID); lost != nil {
		t.Errorf("linked worktree, commit: %v", lost)
	}
	git(t, linked, "update-ref", "-d", "refs/heads/topic")
	if d := cmp.Diff([]string{"branch topic"}, gitLost(t, s, first.ID, take(t, s).ID)); d != "" {
		t.Errorf("linked worktree, branch: %s", d)
	}
	must(t, os.Remove(filepath.Join(linked, ".git")))
	if d := cmp.Diff([]string{".git"}, gitLost(t, s, first.ID, take(t, s).ID)); d != "" {
		t.Errorf("linked worktree, .git: %s", d)
	}

	dir := plain(t)
	git(t, dir, "init", "-q", "-b", "main", "--separate-git-dir", filepath.Join(t.TempDir(), "elsewhere.git"))
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, dir, "tag", "v1")
	s = open(t, dir, Options{})
	first = take(t, s)
	git(t, dir, "tag", "-d", "v1")
	if d := cmp.Diff([]string{"tag v1"}, gitLost(t, s, first.ID, take(t, s).ID)); d != "" {
		t.Errorf("separate git folder: %s", d)
	}
}
