package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/pool"
	"supervise/snapshot/internal/scan"
)

// Take captures the current tree. Processes that write to the tree should have ended or be stopped: files that change while
// they are read are skipped as Unstable. Nothing is written to the tree.
//
// An interrupted restore is finished first, as by Open.
//
// The label is free text for the commit that plain git shows. If Take returns an error, no snapshot was made.
func (s *Store) Take(ctx context.Context, label string) (Info, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return Info{}, err
	}
	defer release()
	m, err := s.take(ctx, label, "")
	if err != nil {
		return Info{}, fmt.Errorf("take snapshot: %w", err)
	}
	return m.Info, nil
}

// take captures the tree and explains errors of a full disk. token identifies the temporary files of a restore, which are
// not captured.
func (s *Store) take(ctx context.Context, label, token string) (*manifest.Manifest, error) {
	m, err := s.capture(ctx, label, token)
	return m, disk.ExplainFull(err, s.dir)
}

// capture takes a snapshot: it scans the tree, stores new contents and git objects, and
// publishes the manifest last, so that an incomplete snapshot is invisible.
func (s *Store) capture(ctx context.Context, label, token string) (*manifest.Manifest, error) {
	if s.stale { // slow in a store with many snapshots
		if err := s.refresh(); err != nil {
			return nil, err
		}
		s.stale = false
		s.pools.Forget()
	}
	if err := s.ensureRoot(); err != nil {
		return nil, err
	}

	seq, err := s.next()
	if err != nil {
		return nil, err
	}

	w := pack.NewWriter(s.objects)
	w.Raw.Store(s.base == nil) // the user waits for the first snapshot
	w.Space = &disk.Space{Dir: s.dir, Keep: s.opts.MinFree}
	defer w.Abort()

	m, err := s.scan(ctx, w, token)
	if err != nil {
		return nil, err
	}

	m.ID, m.Label = ID(strconv.Itoa(seq)), label
	if err := s.gatherObjects(m, seq); err != nil {
		return nil, err
	}
	if err := errors.Join(s.recordRepository(), s.commit(m, w)); err != nil {
		return nil, err
	}
	return m, s.publish(m, w)
}

// scan makes a manifest of the current tree. If w is nil, contents are hashed, but not stored.
func (s *Store) scan(ctx context.Context, w *pack.Writer, token string) (*manifest.Manifest, error) {
	return scan.Run(ctx, scan.Options{
		Tree: s.tree(), Inside: s.pathInTree, MaxFile: s.opts.MaxFile, MaxTotal: s.opts.MaxTotal, MaxIgnored: s.opts.MaxIgnored, Rules: s.rules,
		Epoch: s.objects.Epoch(), Base: s.base, Pack: w, Token: token,
	})
}

// gatherObjects copies the git objects that were added since the last snapshot to the pools.
func (s *Store) gatherObjects(m *manifest.Manifest, seq int) error {
	for _, key := range m.ObjectDirs {
		p, err := s.pools.Get(key)
		if err != nil {
			return err
		}
		err = p.Gather(s.config.External.ObjectDir(s.work, key), seq)
		if reason := skipReason(err); reason != "" {
			m.Skipped = append(m.Skipped, Skip{Path: key, Reason: reason})
			continue
		}
		if err != nil {
			return err
		}
	}
	sort.Slice(m.Skipped, func(i, j int) bool { return m.Skipped[i].Path < m.Skipped[j].Path })
	return nil
}

// skipReason returns the reason to skip objects after an error, "" if the error is fatal.
func skipReason(err error) Reason {
	switch {
	case errors.Is(err, pool.ErrOtherDisk):
		return OtherDisk
	case errors.Is(err, fs.ErrPermission):
		return Unreadable
	}
	return ""
}

// commit writes the trees and commits through which plain git reaches the contents.
func (s *Store) commit(m *manifest.Manifest, w *pack.Writer) error {
	tree, errTree := pack.ParseOID(m.WorkTree) // known if nothing has changed
	if errTree != nil || !w.Has(tree) {
		tree, errTree = manifest.WriteTrees(w, m.Work, "")
	}

	flat, errFlat := pack.ParseOID(m.StateTree)
	if errFlat != nil || !w.Has(flat) {
		flat, errFlat = manifest.WriteFlat(w, m.Git, m.Ext, m.SharedParts(), m.Kept)
	}
	if err := errors.Join(errTree, errFlat); err != nil {
		return err
	}

	message := m.Label
	if message == "" {
		message = "snapshot " + string(m.ID)
	}

	commit, errWork := manifest.WriteCommit(w, tree, message, m.TakenAt)
	state, errState := manifest.WriteCommit(w, flat, message+": state of git", m.TakenAt)
	m.WorkTree, m.StateTree = tree.String(), flat.String()
	m.Commit, m.State = commit.String(), state.String()
	return errors.Join(errWork, errState)
}

// publish makes the snapshot visible by writing its manifest last, so that a crash leaves all of it or nothing. Refs follow
// without a sync: Open repairs refs that are lost in a crash.
func (s *Store) publish(m *manifest.Manifest, w *pack.Writer) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	list, err := disk.Stage(filepath.Join(s.manifestDir(), string(m.ID)), data, 0o600)
	if err != nil {
		return err
	}
	defer list.Abort()
	if err := w.Finish(list); err != nil {
		return err
	}
	s.infos[m.ID] = m.Header // it exists, even if a later step fails
	if err := s.objects.SetRefs(m.Refs()); err != nil {
		return err
	}
	s.manifests.Put(m)
	m.Stored = s.objects.Epoch()
	s.base = m
	return nil
}

// TakeTemporary takes a snapshot for temporary use. The returned function drops it and frees its space. The snapshot is kept
// if others were taken since, because they may need its contents.
func (s *Store) TakeTemporary(ctx context.Context, label string) (Info, func() error, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return Info{}, nil, err
	}
	defer release()
	before, err := s.objects.Indexes()
	if err != nil {
		return Info{}, nil, err
	}
	m, err := s.take(ctx, label, "")
	if err != nil {
		return Info{}, nil, fmt.Errorf("take snapshot: %w", err)
	}
	indexes, err := s.objects.Indexes()
	indexes = slices.DeleteFunc(indexes, func(file string) bool { return slices.Contains(before, file) })
	return m.Info, func() error { return s.dropTemporary(m.ID, indexes) }, err
}

// dropTemporary removes a snapshot and the packs written for it, given by their indexes, if it is still the newest one.
func (s *Store) dropTemporary(id ID, indexes []string) error {
	release, err := s.lockForChange()
	if err != nil {
		return err
	}
	defer release()
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
	for _, file := range indexes {
		if err := pack.Delete(strings.TrimSuffix(file, ".idx")); err != nil {
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
