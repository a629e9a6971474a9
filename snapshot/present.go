package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// Present takes a snapshot of the tree as it is now, for a short look. The function that it returns drops it again, with
// the space that it took; if other snapshots have been taken since, it stays, as they may need what it holds.
func (s *Store) Present(ctx context.Context, label string) (Info, func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock()
	if err != nil {
		return Info{}, nil, err
	}
	defer unlock()
	if err := s.recover(ctx); err != nil {
		return Info{}, nil, err
	}
	had, err := s.packNames()
	if err != nil {
		return Info{}, nil, err
	}
	m, err := s.take(ctx, label, "")
	if err != nil {
		return Info{}, nil, fmt.Errorf("take snapshot: %w", err)
	}
	came, err := s.packNames()
	for p := range had {
		delete(came, p)
	}
	return m.Info, func() error { return s.drop(m.ID, came) }, err
}

// packNames lists the packs without their extension.
func (s *Store) packNames() (map[string]bool, error) {
	list, err := filepath.Glob(filepath.Join(s.objects.PackDir(), "pack-*.idx"))
	if err != nil {
		return nil, fmt.Errorf("list packs: %w", err)
	}
	out := map[string]bool{}
	for _, f := range list {
		out[strings.TrimSuffix(f, ".idx")] = true
	}
	return out, nil
}

// drop removes a snapshot and the packs that came with it, if it is still the newest one.
func (s *Store) drop(id ID, packs map[string]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.refresh(); err != nil || s.newest() != id {
		return err
	}
	d, err := s.loadDropped()
	if err != nil {
		return err
	}
	d.Next = max(d.Next, manifest.Seq(id)+1)
	if err := s.saveDropped(d); err != nil {
		return err
	}
	if err := s.forget([]ID{id}); err != nil {
		return err
	}
	for p := range packs {
		if err := errors.Join(disk.IgnoreMissing(os.Remove(p+".idx")), disk.IgnoreMissing(os.Remove(p+".pack"))); err != nil {
			return fmt.Errorf("drop snapshot: %w", err)
		}
	}
	pools, _ := filepath.Glob(filepath.Join(s.dir, "objects", "*", strconv.Itoa(manifest.Seq(id))))
	for _, p := range pools {
		if err := os.RemoveAll(p); err != nil {
			return fmt.Errorf("drop snapshot: %w", err)
		}
	}
	s.pools.Forget()
	return errors.Join(s.objects.Reload(), disk.SyncDir(s.objects.PackDir()))
}
