package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
)

// ChangeKind says how a path differs between two snapshots.
type ChangeKind string

// The kinds of change. A file that became a symbolic link, or the reverse, is Modified; a file that is too big or
// unreadable in only one of the snapshots is Modified too.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Mode     ChangeKind = "mode" // permissions only
)

// Change is one path that differs.
type Change struct {
	Path string
	Kind ChangeKind
}

// File is a working file or symbolic link of a snapshot.
type File struct {
	Path string
	Size int64
	Mode fs.FileMode // with fs.ModeSymlink for a link
	// Hash is git's id of the content (SHA-1 of a blob), for a link that of its target.
	Hash string
}

// Changes lists the working files and links that differ between two snapshots, sorted by path. Git's own state, folders
// and excluded paths do not count.
func (s *Store) Changes(ctx context.Context, from, to ID) ([]Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compare snapshots: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.manifestPair(from, to)
	if err != nil {
		return nil, err
	}
	return s.compare(a, b), nil
}

// ChangesSince lists the working files and links of the current tree that differ from a snapshot, as Changes does. It reads
// only files that may have changed since the tree was last scanned, and stores nothing.
func (s *Store) ChangesSince(ctx context.Context, id ID) ([]Change, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.ensureRoot(); err != nil {
		return nil, err
	}
	before, err := s.manifest(id)
	if err != nil {
		return nil, err
	}
	now, err := s.scan(ctx, nil, "")
	if err != nil {
		return nil, fmt.Errorf("compare the tree with a snapshot: %w", err)
	}
	return s.compare(before, now), nil
}

// compare lists the working files and links that differ between two manifests.
func (s *Store) compare(a, b *manifest.Manifest) (out []Change) {
	manifest.ForEachPair(s.config.Excludes.Without(a.Work), s.config.Excludes.Without(b.Work), func(o, e *manifest.Entry) {
		if kind, changed := compareEntries(fileEntry(o), fileEntry(e), a, b); changed {
			out = append(out, Change{entryPath(o, e), kind})
		}
	})
	return out
}

// NewIgnored lists the captured ignored files that are in the snapshot to and not in from.
func (s *Store) NewIgnored(from, to ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.manifestPair(from, to)
	if err != nil {
		return nil, err
	}
	var out []string
	manifest.ForEachPair(a.Kept, b.Kept, func(o, e *manifest.Entry) {
		if fileEntry(o) == nil && fileEntry(e) != nil && !a.HasSkipped(e.Path) {
			out = append(out, e.Path)
		}
	})
	return out, nil
}

// UnkeptIgnored lists the ignored files and folders that a snapshot has seen and not captured. Folders end in a slash.
func (s *Store) UnkeptIgnored(id ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.manifest(id)
	if err != nil {
		return nil, err
	}
	return m.UnkeptIgnored(), nil
}

// manifestPair loads the manifests of two snapshots.
func (s *Store) manifestPair(from, to ID) (a, b *manifest.Manifest, err error) {
	if a, err = s.manifest(from); err == nil {
		b, err = s.manifest(to)
	}
	return a, b, err
}

// fileEntry returns e if it is a file or link, otherwise nil.
func fileEntry(e *manifest.Entry) *manifest.Entry {
	if e == nil || e.Kind == disk.KindDir {
		return nil
	}
	return e
}

// entryPath returns the path of two entries of a pair, one of which may be nil.
func entryPath(a, b *manifest.Entry) string {
	if a != nil {
		return a.Path
	}
	return b.Path
}

// compareEntries returns how a file differs between two snapshots, and false if it does not.
// Its entries are o and e, nil if it is missing.
func compareEntries(o, e *manifest.Entry, from, to *manifest.Manifest) (ChangeKind, bool) {
	switch {
	case o == nil && e == nil:
		return "", false
	case e == nil && to.HasSkipped(o.Path), o == nil && from.HasSkipped(e.Path):
		return Modified, true
	case e == nil:
		return Deleted, true
	case o == nil:
		return Added, true
	case o.RestoresSame(e):
		return "", false
	case o.Kind == e.Kind && o.OID == e.OID:
		return Mode, true
	default:
		return Modified, true
	}
}

// Files lists the working files and links of a snapshot, sorted by path.
func (s *Store) Files(id ID) ([]File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.manifest(id)
	if err != nil {
		return nil, err
	}
	out := make([]File, 0, m.Files)
	for _, e := range m.Work {
		f := File{Path: e.Path, Size: e.Stat.Size, Mode: disk.Mode(e.Stat.Mode), Hash: e.OID.String()}
		switch e.Kind {
		case disk.KindDir:
			continue
		case disk.KindLink:
			f.Mode = fs.ModeSymlink | 0o777
		case disk.KindFile:
		}
		out = append(out, f)
	}
	return out, nil
}

// ReadFile returns the content of a working file in a snapshot, or the target of a symbolic link. The error wraps
// fs.ErrNotExist if the snapshot does not contain the path.
func (s *Store) ReadFile(ctx context.Context, id ID, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.manifest(id)
	if err != nil {
		return nil, err
	}
	e := entryOf(m.Work, path)
	if e == nil {
		return nil, &fs.PathError{Op: "read snapshot " + string(id), Path: path, Err: fs.ErrNotExist}
	}
	return s.objects.Content(e.OID)
}

// LostGitState describes the parts of git's own state that are in the snapshot from and missing in the snapshot to, sorted:
//
//   - ".git" alone if the repository itself is gone;
//   - "branch NAME", "tag NAME" and "ref NAME" (full name) for refs that no longer exist; a ref that moved is not lost;
//   - "stash entry N (subject)" for entries that are no longer in the stash, numbered as in from;
//   - "object file NAME (damaged)" for object files that are damaged or unreadable now;
//   - "file NAME (a pipe, socket or device now)".
//
// Remote-tracking refs, refs of a single worktree such as refs/bisect, and refs of nested repositories are not compared.
// For a linked worktree only its own folder and its current branch are compared, and a missing branch is only noticed
// while it is checked out; LostSharedState compares the rest. Refs in the reftable format, and files that could not be
// read in to, do not count as lost. A replaced repository is not distinguished from the original one.
func (s *Store) LostGitState(ctx context.Context, from, to ID) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("compare git state: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.manifestPair(from, to)
	if err != nil {
		return nil, err
	}
	old, now := gitstate.FilesOf(s.objects, a, s.config.External), gitstate.FilesOf(s.objects, b, s.config.External)
	damage, err := s.damagedObjects(a)
	if err != nil {
		return nil, err
	}
	damage = append(damage, blockedGitFiles(a, b)...)
	switch {
	case !old.Exists():
		return nil, nil
	case !now.Exists():
		if now.IsHidden("HEAD") && len(blockedGitFiles(a, b)) == 0 {
			return nil, nil
		}
		return []string{".git"}, nil
	case s.config.External.Linked():
		return append(gitstate.LostBranch(a.Branch, b.Branch), damage...), nil
	case now.UsesReftable() || old.UsesReftable():
		return damage, nil
	}
	lost, err := old.FindLost(now)
	return append(gitstate.Texts(lost), damage...), err
}

// blockedGitFiles lists git files that were replaced by a pipe, socket or device, on which git would block.
func blockedGitFiles(from, to *manifest.Manifest) (out []string) {
	for _, s := range to.Skipped {
		if name, is := strings.CutPrefix(s.Path, ".git/"); is && s.Reason == Special && manifest.Lookup(from.Git, s.Path) >= 0 {
			out = append(out, "file "+name+" (a pipe, socket or device now)")
		}
	}
	return out
}

// damagedObjects lists the object files of a snapshot that are damaged or unreadable in the tree now.
func (s *Store) damagedObjects(m *manifest.Manifest) (out []string, err error) {
	for _, key := range m.ObjectDirs {
		p, err := s.pools.Get(key)
		if err != nil {
			return nil, err
		}
		for _, n := range p.FindDamaged(s.config.External.ObjectDir(s.work, key), manifest.Seq(m.ID), m.Started) {
			out = append(out, "object file "+n+" (damaged)")
		}
	}
	return out, nil
}

// LostSharedState describes, like LostGitState, the state shared by linked worktrees that is in the snapshot from and
// missing in the snapshot to. A process in another worktree may have removed it.
func (s *Store) LostSharedState(from, to ID) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b, err := s.manifestPair(from, to)
	if err != nil {
		return nil, err
	}
	had, errHad := gitstate.ReadShared(s.objects, a)
	has, errHas := gitstate.ReadShared(s.objects, b)
	if err := cmp.Or(errHad, errHas); err != nil {
		return nil, err
	}
	lost, err := gitstate.FindLostShared(s.objects, had, has)
	return gitstate.Texts(lost), err
}
