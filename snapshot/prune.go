package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/pool"
)

// PruneResult is the result of Prune.
type PruneResult struct {
	Dropped []ID  // oldest first
	Freed   int64 // bytes, as measured by Usage
}

// Prune drops all snapshots except those in keep, and frees the space that only they needed. Packs that are still needed in
// part are rewritten. The safety snapshots of the last restore and of the last rollback are always kept, and so are
// displaced files (see Restored.Displaced).
//
// If Prune is interrupted by a crash, or by an error such as a full disk, the snapshots are dropped, the others are intact,
// and the next Open or Prune frees the remaining space.
func (s *Store) Prune(ctx context.Context, keep []ID) (PruneResult, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return PruneResult{}, err
	}
	defer release()
	p, err := s.prune(ctx, keep)
	if err != nil {
		return p, fmt.Errorf("drop snapshots: %w", err)
	}
	return p, nil
}

// prune records which snapshots are dropped before it removes anything, so that finishPrune
// can continue after a crash.
func (s *Store) prune(ctx context.Context, keep []ID) (PruneResult, error) {
	if err := s.resync(); err != nil {
		return PruneResult{}, err
	}
	for _, id := range keep {
		if _, err := s.header(id); err != nil {
			return PruneResult{}, err
		}
	}

	d, err := s.loadDropped()
	if err != nil {
		return PruneResult{}, err
	}

	drop := s.snapshotsExcept(append(s.pinned(), keep...))
	if len(drop) == 0 && !d.Pending {
		return PruneResult{}, nil
	}

	before, err := s.diskUsage()
	if err != nil {
		return PruneResult{}, err
	}

	d.Next, d.Pending = max(d.Next, manifest.Seq(s.newest())+1), true
	d.Sets = append(d.Sets, droppedSet{time.Now().UTC().Truncate(time.Second), drop})
	if err := s.saveDropped(d); err != nil {
		return PruneResult{}, err
	}

	p := PruneResult{Dropped: drop}
	if err := s.reclaim(ctx, d); err != nil {
		return p, err
	}

	after, err := s.diskUsage()
	p.Freed = max(0, before-after)
	return p, err
}

// pinned returns the snapshots that are never dropped: the safety snapshots of the last
// restore and of the last rollback.
func (s *Store) pinned() []ID {
	ids := []ID{s.safety}
	if r, err := LastRollback(s.dir); err == nil {
		ids = append(ids, r.Safety)
	}
	return ids
}

// snapshotsExcept lists the snapshots that are not in keep, oldest first.
func (s *Store) snapshotsExcept(keep []ID) []ID {
	all := slices.SortedFunc(maps.Keys(s.infos), compareIDs)
	return slices.DeleteFunc(all, func(id ID) bool { return slices.Contains(keep, id) })
}

// finishPrune frees the space that an interrupted Prune has not freed. The store can be used even after an error: the list
// of dropped snapshots records that the work is pending.
func (s *Store) finishPrune(ctx context.Context) error {
	d, err := s.loadDropped()
	if err != nil || !d.Pending {
		return err
	}
	return s.reclaim(ctx, d)
}

// reclaim removes the data that only dropped snapshots need. All steps can be repeated.
func (s *Store) reclaim(ctx context.Context, d droppedList) error {
	if err := s.resync(); err != nil { // data of unknown snapshots would be removed
		return err
	}
	for _, set := range d.Sets {
		if err := s.forget(set.IDs); err != nil {
			return err
		}
	}
	c := newCensus(s)
	for _, id := range s.snapshotsExcept(nil) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := errors.Join(s.objects.RepairRefs(s.infos[id].Refs()), c.countSnapshot(id, 0)); err != nil {
			return err
		}
	}
	err := s.objects.Prune(c.rank)
	if err == nil {
		s.objects, err = pack.Open(s.GitDir()) // the packs have new names
	}
	if err != nil {
		return err
	}
	if err := s.pools.Prune(c.pools); err != nil {
		return err
	}
	d.Pending = false
	return s.saveDropped(d)
}

// resync updates the list of snapshots after other processes took or dropped some.
func (s *Store) resync() error {
	for id := range s.infos {
		if _, err := os.Lstat(filepath.Join(s.manifestDir(), string(id))); errors.Is(err, fs.ErrNotExist) {
			delete(s.infos, id)
		}
	}
	return s.refresh()
}

// forget removes the manifests and refs of dropped snapshots, and clears them from memory.
func (s *Store) forget(ids []ID) error {
	for _, id := range ids {
		for _, f := range []string{"manifests/" + string(id), "repo.git/" + id.Ref(), "repo.git/" + manifest.StateRef(id)} {
			if err := disk.IgnoreMissing(os.Remove(filepath.Join(s.dir, filepath.FromSlash(f)))); err != nil {
				return fmt.Errorf("remove snapshot: %w", err)
			}
		}
		delete(s.infos, id)
	}
	s.manifests = manifest.Cache{}
	s.base = nil
	if id := s.newest(); id != "" {
		s.base, _ = s.manifest(id) // without it all files are read again
	}
	var errs []error
	for _, dir := range []string{"manifests", "repo.git/refs/iter", "repo.git/refs/state"} {
		errs = append(errs, disk.IgnoreMissing(disk.SyncDir(filepath.Join(s.dir, filepath.FromSlash(dir)))))
	}
	return errors.Join(errs...)
}

// census finds the contents that snapshots need. Each content gets the rank of the first
// counted snapshot that needs it. Prune uses only one rank; EstimateFreed uses the ranks to
// find out which snapshot must be dropped before a content can be.
type census struct {
	s     *Store
	rank  map[pack.OID]int       // needed object → rank
	pools map[string]map[int]int // by folder of an object pool: snapshot number → rank
}

// newCensus returns a census without snapshots.
func newCensus(s *Store) *census {
	return &census{s: s, rank: map[pack.OID]int{}, pools: map[string]map[int]int{}}
}

// countSnapshot adds everything that a snapshot needs and that was not added before. It follows both the manifest and the
// commits that plain git sees.
func (c *census) countSnapshot(id ID, rank int) error {
	m, err := manifest.Read(filepath.Join(c.s.manifestDir(), string(id)))
	if err != nil && !errors.Is(err, manifest.ErrDamaged) { // a damaged manifest still has its commits
		return err
	}
	if err == nil {
		for _, part := range [][]manifest.Entry{m.Work, m.Git, m.Ext, m.Kept} {
			for _, e := range part {
				if e.Kind != disk.KindDir {
					c.add(e.OID, rank)
				}
			}
		}
		for _, key := range m.ObjectDirs {
			if c.pools[pool.Name(key)] == nil {
				c.pools[pool.Name(key)] = map[int]int{}
			}
			c.pools[pool.Name(key)][manifest.Seq(id)] = rank
		}
	}
	for _, ref := range []string{id.Ref(), manifest.StateRef(id)} {
		if err := c.countRef(ref, rank); err != nil {
			return err
		}
	}
	return nil
}

// add adds an object, and reports whether it is new.
func (c *census) add(id pack.OID, rank int) bool {
	if _, ok := c.rank[id]; ok {
		return false
	}
	c.rank[id] = rank
	return true
}

// countRef adds the commit that a ref names, and its tree. A missing ref adds nothing.
func (c *census) countRef(name string, rank int) error {
	text, err := os.ReadFile(filepath.Join(c.s.GitDir(), filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ref: %w", err)
	}
	id, err := pack.ParseOID(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("read ref %s: %w", name, err)
	}
	tree, err := c.s.treeOf(id)
	if err != nil {
		return fmt.Errorf("read commit %s: %w", id, err)
	}
	c.add(id, rank)
	return c.countTree(tree, rank)
}

// countTree adds a git tree and everything below it.
func (c *census) countTree(id pack.OID, rank int) error {
	if !c.add(id, rank) {
		return nil
	}
	return c.s.eachTreeEntry(id, func(sub pack.OID, isTree bool) error {
		if isTree {
			return c.countTree(sub, rank)
		}
		c.add(sub, rank)
		return nil
	})
}

// treeOf returns the tree of a commit.
func (s *Store) treeOf(commit pack.OID) (pack.OID, error) {
	text, err := s.objects.Read(commit, pack.Commit)
	if err != nil {
		return pack.OID{}, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return pack.ParseOID(strings.TrimPrefix(line, "tree "))
}

// eachTreeEntry calls do with every entry of a git tree.
func (s *Store) eachTreeEntry(id pack.OID, do func(sub pack.OID, isTree bool) error) error {
	data, err := s.objects.Read(id, pack.Tree)
	if err != nil {
		return err
	}
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(rest) < len(pack.OID{}) {
			return fmt.Errorf("tree %s is damaged", id)
		}
		var sub pack.OID
		copy(sub[:], rest)
		data = rest[len(sub):]
		if err := do(sub, bytes.HasPrefix(head, []byte(manifest.ModeTree+" "))); err != nil {
			return err
		}
	}
	return nil
}

// ErrDropped is returned for an ID whose snapshot was dropped by Prune. It never comes back.
var ErrDropped = errors.New("dropped to save space")

// droppedList records the snapshots that were dropped.
type droppedList struct {
	Version int
	Next    int  // lowest number for new snapshots
	Pending bool // some space still has to be freed
	Sets    []droppedSet
}

// droppedSet is the set of snapshots dropped by one Prune.
type droppedSet struct {
	At  time.Time
	IDs []ID
}

// droppedVersion is the version of the file with the list.
const droppedVersion = 1

// droppedFile returns the path of the list of dropped snapshots.
func (s *Store) droppedFile() string { return filepath.Join(s.dir, "dropped.json") }

// loadDropped reads the list of dropped snapshots, which most stores do not have.
func (s *Store) loadDropped() (droppedList, error) {
	d := droppedList{Version: droppedVersion}
	_, err := disk.ReadJSON(s.droppedFile(), &d)
	if err == nil && d.Version != droppedVersion {
		err = fmt.Errorf("version %d is unknown; use the program that wrote it", d.Version)
	}
	if err != nil {
		return d, fmt.Errorf("read list of dropped snapshots %s: %w", s.droppedFile(), err)
	}
	return d, nil
}

// saveDropped writes the list of dropped snapshots.
func (s *Store) saveDropped(d droppedList) error {
	return disk.WriteJSON(s.droppedFile(), "\t", d)
}

// when returns when a snapshot was dropped, if it was.
func (d droppedList) when(id ID) (time.Time, bool) {
	for _, set := range d.Sets {
		if slices.Contains(set.IDs, id) {
			return set.At, true
		}
	}
	return time.Time{}, false
}

// next returns the number of the next snapshot. Numbers of dropped snapshots are not used
// again.
func (s *Store) next() (int, error) {
	d, err := s.loadDropped()
	return max(manifest.Seq(s.newest())+1, d.Next), err
}

// missingError returns the error for a snapshot that is not in the store. It says if the
// snapshot was dropped.
func (s *Store) missingError(id ID) error {
	d, err := s.loadDropped()
	if err != nil {
		return err
	}
	if at, ok := d.when(id); ok {
		return fmt.Errorf("snapshot s%s was %w on %s; raise the limit of the store to keep more of them next time (snapshot.max_store_mb)",
			id, ErrDropped, at.Local().Format(time.DateTime))
	}
	return fmt.Errorf("snapshot %q in %s: %w", id, s.dir, ErrUnknown)
}
