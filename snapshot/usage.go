package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pool"
)

// Usage is the disk usage of a store.
type Usage struct {
	Snapshots int
	// Bytes would be freed by deleting the store. Files that it shares with the repository by hard links do not count.
	Bytes int64
}

// Usage measures the store.
func (s *Store) Usage() (Usage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.resync(); err != nil {
		return Usage{}, err
	}
	n, err := s.diskUsage()
	return Usage{Snapshots: len(s.infos), Bytes: n}, err
}

// diskUsage returns the disk usage of the store in bytes.
func (s *Store) diskUsage() (int64, error) { return diskUsage(s.dir) }

// diskUsage returns the disk usage of the files below a folder, in bytes.
func diskUsage(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // just removed by another process
		}
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			total += disk.Usage(fi)
		}
		return err
	})
	if err != nil {
		return total, fmt.Errorf("measure snapshot store: %w", err)
	}
	return total, nil
}

// Summary describes a store without opening it, even while another process uses it.
type Summary struct {
	Usage
	Dropped int    // snapshots that Prune dropped
	Skipped []Skip // in the newest snapshot
}

// Summarize describes the store in the folder dir. A missing store is empty.
func Summarize(dir string) (Summary, error) {
	s := &Store{dir: dir}
	ids, err := s.storedIDs()
	if errors.Is(err, fs.ErrNotExist) {
		return Summary{}, nil
	}
	if err != nil {
		return Summary{}, fmt.Errorf("look at snapshot store: %w", err)
	}
	var sum Summary
	sum.Snapshots = len(ids)
	d, err := s.loadDropped()
	if err != nil {
		return sum, err
	}
	for _, set := range d.Sets {
		sum.Dropped += len(set.IDs)
	}

	if len(ids) > 0 {
		h, err := manifest.ReadHeader(filepath.Join(s.manifestDir(), string(ids[len(ids)-1])))
		if err != nil {
			return sum, err
		}
		sum.Skipped = h.Skipped
	}

	sum.Bytes, err = diskUsage(dir)
	return sum, err
}

// EstimateFreed returns the minimum number of bytes freed by dropping snapshots in the given order: the first result is for
// dropping the first snapshot only, the last one for dropping all. Contents that several of them need are freed with the
// last of them.
func (s *Store) EstimateFreed(ctx context.Context, order []ID) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.resync(); err != nil {
		return nil, err
	}

	c := newCensus(s)
	ranked := append(slices.Clone(order), s.snapshotsExcept(order)...)
	for i := len(ranked) - 1; i >= 0; i-- { // kept snapshots come first and have the highest rank
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("weigh snapshots: %w", err)
		}
		if err := c.countSnapshot(ranked[i], min(i, len(order))); err != nil {
			return nil, fmt.Errorf("weigh snapshots: %w", err)
		}
	}

	freed := make([]int64, len(order)+1) // the last element is for kept snapshots
	if err := errors.Join(c.weighPacks(freed), c.weighPools(freed)); err != nil {
		return nil, fmt.Errorf("weigh snapshots: %w", err)
	}

	for i := range order {
		if fi, err := os.Lstat(filepath.Join(s.manifestDir(), string(order[i]))); err == nil {
			freed[i] += disk.Usage(fi)
		}
		if i > 0 {
			freed[i] += freed[i-1]
		}
	}
	return freed[:len(order)], nil
}

// weighPacks adds the size of each object in the packs to the element of freed for its rank.
func (c *census) weighPacks(freed []int64) error {
	packs, err := c.s.objects.PackFiles()
	if err != nil {
		return err
	}
	for _, p := range packs {
		for i, o := range p.Objects {
			freed[c.rank[o.ID]] += p.Length(i) // unneeded objects have rank 0 and are freed with the first
		}
	}
	return nil
}

// weighPools adds the size of each file in the pools to the element of freed for its rank.
func (c *census) weighPools(freed []int64) error {
	for name, users := range c.pools {
		p, err := pool.Open(filepath.Join(c.s.dir, "objects", name))
		if err != nil {
			return err
		}
		p.AddSizes(users, freed)
	}
	return nil
}
