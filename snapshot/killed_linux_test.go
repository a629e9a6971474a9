package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A restore that is killed before any step that it makes is either not started, or finished by the next Open; and it can be
// undone.
func TestRestoreKilledAtEveryStep(t *testing.T) {
	killedAt(t, func(t *testing.T) ([]string, func(bool)) {
		dir := small(t)
		s := open(t, dir, Options{})
		before, target := picture(t, dir), take(t, s)
		havoc(t, dir)
		after, rejected := picture(t, dir), take(t, s)
		return []string{"restore", dir, s.dir, string(target.ID)}, func(killed bool) {
			s := reopen(t, s)
			r := s.Recovered()
			switch {
			case !killed:
				same(t, "restored", before, picture(t, dir))
			case r == nil && cmp.Equal(after, picture(t, dir)): // not started, or all done
				mustRestore(t, s, target.ID)
			case r != nil && (r.Target != target.ID || len(r.Mismatches) > 0):
				t.Errorf("recovered: %+v", r)
			case r != nil:
				same(t, "finished", before, picture(t, dir))
				mustRestore(t, s, r.Safety)
				same(t, "undone", after, picture(t, dir))
				mustRestore(t, s, target.ID)
			}
			same(t, "restored", before, picture(t, dir))
			mustRestore(t, s, rejected.ID)
			same(t, "the rejected tree", after, picture(t, dir))
			storeIsSound(t, s)
		}
	})
}

// A snapshot that is killed before any step that it makes is there whole or not at all; the tree is untouched, and those
// that were taken before are still good.
func TestTakeKilledAtEveryStep(t *testing.T) {
	killedAt(t, func(t *testing.T) ([]string, func(bool)) {
		dir := small(t)
		s := open(t, dir, Options{})
		before, first := picture(t, dir), take(t, s)
		havoc(t, dir)
		after := picture(t, dir)
		return []string{"take", dir, s.dir}, func(bool) {
			same(t, "taking a snapshot changed the tree", after, picture(t, dir))
			s := reopen(t, s)
			next := take(t, s)
			list, err := s.List()
			must(t, err)
			if len(list) != 2 && (len(list) != 3 || list[1].Tree != next.Tree) {
				t.Errorf("snapshots: %+v", list)
			}
			for _, i := range list {
				if _, err := s.Files(i.ID); err != nil {
					t.Error(err)
				}
			}
			mustRestore(t, s, first.ID)
			same(t, "restored", before, picture(t, dir))
			mustRestore(t, s, next.ID)
			same(t, "undone", after, picture(t, dir))
			storeIsSound(t, s)
		}
	})
}

// The first snapshot may be killed while the store itself is made.
func TestOpenKilledAtEveryStep(t *testing.T) {
	killedAt(t, func(t *testing.T) ([]string, func(bool)) {
		dir, store := small(t), filepath.Join(t.TempDir(), "store")
		before := picture(t, dir)
		return []string{"take", dir, store}, func(bool) {
			same(t, "making a store changed the tree", before, picture(t, dir))
			s, err := Open(context.Background(), dir, store, Options{})
			must(t, err)
			defer s.Close()
			first := take(t, s)
			havoc(t, dir)
			mustRestore(t, s, first.ID)
			same(t, "restored", before, picture(t, dir))
			storeIsSound(t, s)
		}
	})
}

// Dropping snapshots that is killed before any step that it makes is finished later, or not started; the snapshots that are
// kept are good in either case, and space comes back.
func TestPruneKilledAtEveryStep(t *testing.T) {
	killedAt(t, func(t *testing.T) ([]string, func(bool)) {
		dir := small(t)
		s := open(t, dir, Options{})
		ids, pictures := history(t, dir, s, 4)
		git(t, dir, "gc", "-q", "--prune=now")
		ids, pictures = append(ids, take(t, s).ID), append(pictures, picture(t, dir))
		before, err := s.Usage()
		must(t, err)
		keep := []ID{ids[0], ids[2], ids[4]}
		return []string{"prune", dir, s.dir, string(keep[0]), string(keep[1]), string(keep[2])}, func(bool) {
			s := reopen(t, s)
			if _, err := s.Prune(context.Background(), keep); err != nil { // again, if it was not started
				t.Fatal(err)
			}
			after, err := s.Usage()
			must(t, err)
			if before.Bytes-after.Bytes < 2<<18 || after.Snapshots != 3 {
				t.Errorf("usage was %+v and is %+v", before, after)
			}
			for _, i := range []int{0, 2, 4} {
				mustRestore(t, s, ids[i])
				same(t, fmt.Sprint("restored ", i), pictures[i], picture(t, dir))
			}
			storeIsSound(t, s)
		}
	})
}

// A rollback that is killed before any step that it makes can be undone once it is finished.
func TestRollbackKilledAtEveryStep(t *testing.T) {
	killedAt(t, func(t *testing.T) ([]string, func(bool)) {
		dir := small(t)
		s := open(t, dir, Options{})
		target := take(t, s)
		havoc(t, dir)
		after := picture(t, dir)
		return []string{"rollback", dir, s.dir, string(target.ID)}, func(bool) {
			s := reopen(t, s)
			if !cmp.Equal(after, picture(t, dir)) {
				_, err := s.Undo(context.Background())
				must(t, err)
			}
			same(t, "undone", after, picture(t, dir))
		}
	})
}
