package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// history takes n snapshots, each with a separate file that cannot be compressed, one that all have and one that changes.
func history(t *testing.T, dir string, s *Store, n int) (ids []ID, pictures []map[string]string) {
	t.Helper()
	for i := range n {
		write(t, dir, "a.txt", fmt.Sprint("version ", i))
		noise(t, dir, fmt.Sprint("own/", i), 1<<18)
		if i > 0 {
			must(t, os.Remove(filepath.Join(dir, fmt.Sprint("own/", i-1))))
		}
		git(t, dir, "add", "a.txt", "own")
		git(t, dir, "commit", "-q", "-m", fmt.Sprint(i))
		ids, pictures = append(ids, take(t, s).ID), append(pictures, picture(t, dir))
	}
	return ids, pictures
}

func TestPrune(t *testing.T) {
	ctx := context.Background()
	dir := workshop(t)
	s := open(t, dir, Options{})
	ids, pictures := history(t, dir, s, 7)
	other := reopen(t, s) // as another process that knows all snapshots
	_, err := other.List()
	must(t, err)
	before, err := s.Usage()
	must(t, err)
	weights, err := s.EstimateFreed(ctx, []ID{ids[1], ids[2], ids[4]})
	must(t, err)

	keep := []ID{ids[0], ids[3], ids[5], ids[6]}
	p, err := s.Prune(ctx, keep)
	must(t, err)
	after, err := s.Usage()
	must(t, err)
	if d := cmp.Diff([]ID{ids[1], ids[2], ids[4]}, p.Dropped); d != "" {
		t.Errorf("dropped (-want +got):\n%s", d)
	}
	const own = 1 << 18
	if before.Bytes-after.Bytes != p.Freed || p.Freed < 3*own || after.Snapshots != 4 {
		t.Errorf("freed %d, usage was %+v and is %+v", p.Freed, before, after)
	}
	if over := weights[2] - p.Freed; over < -own/4 || over > own/4 || weights[0] < own || weights[1] < 2*own || weights[2] < 3*own {
		t.Errorf("freed %d, want about %v", p.Freed, weights)
	}
	for name, s := range map[string]*Store{"the same": s, "another": other, "a later": reopen(t, s)} {
		for i, id := range ids {
			kept := slices.Contains(keep, id)
			text, err := s.ReadFile(ctx, id, "a.txt")
			if kept && (err != nil || string(text) != fmt.Sprint("version ", i)) {
				t.Errorf("%s process: a.txt of kept snapshot %s is %q, %v", name, id, text, err)
			}
			if !kept && (!errors.Is(err, ErrDropped) || !strings.Contains(err.Error(), "s"+string(id)+" was dropped")) {
				t.Errorf("%s process: dropped snapshot %s: %v", name, id, err)
			}
		}
	}
	for _, i := range []int{3, 0, 6, 5} {
		mustRestore(t, s, ids[i])
		same(t, fmt.Sprint("restored ", i), pictures[i], picture(t, dir))
	}
	storeIsSound(t, s)
	if out := git(t, s.GitDir(), "fsck", "--no-progress", "--unreachable"); strings.Contains(out, "unreachable") {
		t.Errorf("unreachable objects are left:\n%s", out)
	}
}

// The last snapshot that was dropped may be the newest one: its number is not given to another.
func TestPrunedNumbersAreNotUsedAgain(t *testing.T) {
	ctx := context.Background()
	dir := plain(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "a.txt", "two\n")
	second := take(t, s)
	_, err := s.Prune(ctx, []ID{first.ID})
	must(t, err)
	third := take(t, reopen(t, s))
	if third.ID == second.ID || third.Tree != second.Tree {
		t.Errorf("the next snapshot after %s was dropped is %+v", second.ID, third)
	}
	if text, err := s.ReadFile(ctx, third.ID, "a.txt"); string(text) != "two\n" {
		t.Errorf("content that was in the dropped snapshot is %q, %v", text, err)
	}
	if _, err := s.Prune(ctx, []ID{first.ID, "99"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("prune with an unknown snapshot: %v", err)
	}
	if list, err := s.List(); err != nil || len(list) != 2 {
		t.Errorf("the refused prune dropped something: %v, %v", list, err)
	}
}

// What a restore needs to be reversed is kept, whatever is asked for.
func TestPruneKeepsTheWayBack(t *testing.T) {
	ctx := context.Background()
	dir := plain(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	write(t, dir, "a.txt", "two\n")
	r, err := s.Rollback(ctx, first.ID)
	must(t, err)
	write(t, dir, "a.txt", "three\n")
	later := mustRestore(t, s, first.ID)
	_, err = s.Prune(ctx, []ID{first.ID})
	must(t, err)
	for _, id := range []ID{r.Safety, later.Safety} {
		if _, err := s.Info(id); err != nil {
			t.Errorf("safety snapshot %s: %v", id, err)
		}
	}
	s = reopen(t, s)
	_, err = s.Undo(ctx)
	must(t, err)
	if text := read(t, dir, "a.txt"); text != "two\n" {
		t.Errorf("undone: %q", text)
	}
}

// Copies of git's packs that only dropped snapshots need are given back, those that the others need are not.
func TestPruneObjectPools(t *testing.T) {
	ctx := context.Background()
	dir := repository(t)
	s := open(t, dir, Options{})
	base := take(t, s)
	beforeBase := picture(t, dir)
	noise(t, dir, "large", 1<<20)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "large")
	git(t, dir, "gc", "-q", "--prune=now")
	middle := take(t, s)
	git(t, dir, "reset", "-q", "--hard", "HEAD~1")
	git(t, dir, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	git(t, dir, "gc", "-q", "--prune=now")
	last := take(t, s)

	mustRestore(t, s, middle.ID)
	mustRestore(t, s, last.ID)
	git(t, dir, "gc", "-q", "--prune=now")
	after := picture(t, dir)
	last = take(t, s)
	if _, err := s.Prune(ctx, []ID{base.ID, middle.ID, last.ID}); err != nil {
		t.Fatal(err)
	}
	full, err := s.Usage()
	must(t, err)
	s = reopen(t, s) // which does not know of the restore that was made before
	p, err := s.Prune(ctx, []ID{base.ID, last.ID})
	must(t, err)
	if p.Freed < 2<<20 { // the file itself and the pack of the commit that held it
		t.Errorf("freed %d of %d bytes, want those of the large file twice", p.Freed, full.Bytes)
	}
	mustRestore(t, s, base.ID)
	same(t, "the first snapshot", beforeBase, picture(t, dir))
	mustRestore(t, s, last.ID)
	same(t, "the last snapshot", after, picture(t, dir))
	git(t, dir, "fsck", "--full")
}

// Undo of an undo is a redo, whatever was done in between.
func TestUndo(t *testing.T) {
	ctx := context.Background()
	dir := workshop(t)
	s := open(t, dir, Options{})
	if _, err := s.Undo(ctx); !errors.Is(err, ErrNoRollback) {
		t.Errorf("undo of nothing: %v", err)
	}
	old, first := picture(t, dir), take(t, s)
	write(t, dir, "main.go", "later\n")
	git(t, dir, "commit", "-q", "-am", "later")
	later := picture(t, dir)
	_, err := s.Rollback(ctx, first.ID)
	must(t, err)
	same(t, "rolled back", old, picture(t, dir))
	for range 2 {
		_, err = reopen(t, s).Undo(ctx)
		must(t, err)
		same(t, "undone", later, picture(t, dir))
		take(t, s)
		_, err = reopen(t, s).Undo(ctx)
		must(t, err)
		same(t, "done again", old, picture(t, dir))
	}
	// Work that was done after the rollback is what a redo brings back.
	write(t, dir, "main.go", "after the rollback\n")
	meanwhile := picture(t, dir)
	_, err = s.Undo(ctx)
	must(t, err)
	same(t, "undone over later work", later, picture(t, dir))
	_, err = s.Undo(ctx)
	must(t, err)
	same(t, "the later work", meanwhile, picture(t, dir))
}

// A temporary snapshot leaves nothing behind, unless another snapshot needs it.
func TestPresent(t *testing.T) {
	ctx := context.Background()
	dir := repository(t)
	s := open(t, dir, Options{})
	first := take(t, s)
	noise(t, dir, "large", 1<<20)
	git(t, dir, "add", "large")
	before, tree := sizes(t, s.dir), picture(t, dir)
	other := reopen(t, s)
	info, drop, err := s.TakeTemporary(ctx, "now")
	must(t, err)
	if c, err := s.Changes(ctx, first.ID, info.ID); err != nil || !cmp.Equal(c, []Change{{"large", Added}}) {
		t.Errorf("changes: %v, %v", c, err)
	}
	_, err = other.List()
	must(t, err)
	must(t, drop())
	after := sizes(t, s.dir)
	delete(after, "/dropped.json")
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("left behind (-want +got):\n%s", d)
	}
	for _, s := range []*Store{s, other} {
		if _, err := s.Files(info.ID); !errors.Is(err, ErrUnknown) {
			t.Errorf("the dropped snapshot: %v", err)
		}
	}
	_, drop, err = s.TakeTemporary(ctx, "now")
	must(t, err)
	later := take(t, other)
	_, err = other.Prune(ctx, []ID{first.ID, later.ID})
	must(t, err)
	must(t, drop())
	must(t, os.Remove(filepath.Join(dir, "large")))
	mustRestore(t, s, later.ID)
	same(t, "restored", tree, picture(t, dir))
	storeIsSound(t, s)
}
