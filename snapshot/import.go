package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Work is the work done in a tree between two snapshots of its store.
type Work struct {
	Store    *Store
	From, To ID
}

// Import makes a snapshot that applies work done in a copy of the tree, which has a separate store, to the snapshot base:
// added, changed and deleted working files. Git's own state and the ignored files are those of base, so a restore brings
// files into this tree, and no commits. The tree itself is not read.
func (s *Store) Import(ctx context.Context, base ID, w Work, label string) (Info, error) {
	m, err := s.importWork(ctx, base, w, label)
	if err != nil {
		return Info{}, fmt.Errorf("import snapshot %s of %s: %w", w.To, w.Store.dir, err)
	}
	return m.Info, nil
}

// importWork makes the manifest of Import, and copies the contents that this store does not
// have.
func (s *Store) importWork(ctx context.Context, base ID, work Work, label string) (*manifest.Manifest, error) {
	from := work.Store
	from.mu.Lock()
	defer from.mu.Unlock()
	first, last, err := from.manifestPair(work.From, work.To)
	if err != nil {
		return nil, err
	}

	release, err := s.lockForChange()
	if err != nil {
		return nil, err
	}
	defer release()
	if s.stale {
		if err := s.refresh(); err != nil {
			return nil, err
		}
		s.stale = false
	}

	ours, err := s.manifest(base)
	if err != nil {
		return nil, err
	}
	seq, err := s.next()
	if err != nil {
		return nil, err
	}

	m := *ours
	m.ID, m.Label, m.TakenAt, m.Stored = ID(strconv.Itoa(seq)), label, time.Now(), nil
	m.Work, m.WorkTree = applyChanges(ours.Work, first.Work, last.Work), ""
	m.Files, m.Bytes = 0, 0
	m.SumUp()

	w := pack.NewWriter(s.objects)
	w.Space = &disk.Space{Dir: s.dir, Keep: s.opts.MinFree}
	defer w.Abort()
	if err := s.copyContents(ctx, w, from, m.Work); err != nil {
		return nil, disk.ExplainFull(err, s.dir)
	}
	if err := s.commit(&m, w); err != nil {
		return nil, err
	}

	previousBase := s.base // the tree itself has not changed
	err = s.publish(&m, w)
	s.base = previousBase
	return &m, err
}

// applyChanges applies the changes between the lists from and to to files. The git trees of folders are reset, because
// they may have changed.
func applyChanges(files, from, to []manifest.Entry) []manifest.Entry {
	byPath := manifest.ByPath(files)
	manifest.ForEachPair(from, to, func(a, b *manifest.Entry) {
		switch {
		case b == nil:
			delete(byPath, a.Path)
		case a == nil || !a.RestoresSame(b):
			byPath[b.Path] = *b
		}
	})
	out := make([]manifest.Entry, 0, len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		e := byPath[path]
		if e.Kind == disk.KindDir {
			e.OID = pack.OID{}
		}
		out = append(out, e)
	}
	return out
}

// copyContents copies the contents of files that are missing in this store from another store.
func (s *Store) copyContents(ctx context.Context, w *pack.Writer, from *Store, files []manifest.Entry) error {
	for _, e := range files {
		if e.Kind == disk.KindDir || w.Has(e.OID) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var b bytes.Buffer
		err := from.objects.CopyTo(&b, e.OID)
		if err == nil {
			_, err = w.Add(pack.Blob, b.Bytes())
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", e.Path, err)
		}
	}
	return nil
}
