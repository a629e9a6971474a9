package gitstate

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Linked worktrees of a repository share branches, tags, the stash and the configuration, all of which an agent in one
// worktree can delete. The shared state is captured, and a restore recreates what is missing. It does not change existing
// files, because other processes may use them.

// maxShared is the size in bytes above which files of the shared folder are omitted.
const maxShared = 4 << 20

// CaptureShared lists the files of the shared folder, without objects, the git folders of
// submodules, and the folder of this worktree, which is captured separately. It stores the
// contents with w, unless w is nil. Files of base that were last changed before the time
// stable, in nanoseconds since 1970, are not read. Unreadable folders count as empty.
func CaptureShared(ext gitdir.External, w *pack.Writer, base []manifest.Entry, stable int64) ([]manifest.Entry, error) {
	var list []manifest.Entry
	err := filepath.WalkDir(ext.Common, func(p string, d fs.DirEntry, err error) error {
		rel, errRel := filepath.Rel(ext.Common, p)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || errRel != nil:
			return nil //nolint:nilerr // it is gone, or cannot be read
		case d.IsDir() && (p == ext.GitDir || slices.Contains([]string{"objects", "modules", "lfs", "annex"}, rel)):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(rel, ".lock"):
			return nil
		}
		e, err := captureSharedFile(w, p, base, stable, rel)
		if err == nil && e.Path != "" {
			list = append(list, e)
		}
		return err
	})
	slices.SortFunc(list, func(a, b manifest.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return list, err
}

// captureSharedFile captures one file. The path of the result is "" if the file cannot be captured.
func captureSharedFile(w *pack.Writer, file string, base []manifest.Entry, stable int64, rel string) (manifest.Entry, error) {
	fi, err := os.Lstat(file)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxShared {
		return manifest.Entry{}, nil //nolint:nilerr // it is gone by now
	}
	e := manifest.Entry{Path: rel, Kind: disk.KindFile, Stat: disk.StatOf(fi)}
	if i := manifest.Lookup(base, rel); i >= 0 && base[i].Stat == e.Stat && e.Stat.Ctime != 0 && e.Stat.Ctime < stable && (w == nil || w.Has(base[i].OID)) {
		e.OID = base[i].OID
		return e, nil
	}
	data, err := projectfile.ReadAnywhere(file, maxShared)
	if err != nil {
		return manifest.Entry{}, nil //nolint:nilerr // as above
	}
	if w == nil {
		e.OID = pack.Hash(pack.Blob, data)
		return e, nil
	}
	e.OID, err = w.Add(pack.Blob, data)
	return e, err
}

// ReadShared returns the files of the shared folder in a snapshot, nil if it has none.
func ReadShared(o *pack.Objects, m *manifest.Manifest) ([]manifest.Entry, error) {
	if m.Shared == "" || m.SharedList != nil {
		return m.SharedList, nil
	}
	id, err := pack.ParseOID(m.Shared)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	data, err := o.Content(id)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	list, err := manifest.DecodeEntries(data)
	if err != nil {
		return nil, fmt.Errorf("read shared git state: %w", err)
	}
	return list, nil
}

// FindLostShared lists the refs and stash entries that are in before and missing in after. It
// omits a stash without a reflog.
func FindLostShared(o *pack.Objects, before, after []manifest.Entry) ([]LostRef, error) {
	old, now := filesOfShared(o, before), filesOfShared(o, after)
	if len(before) == 0 || old.UsesReftable() || now.UsesReftable() {
		return nil, nil
	}
	lost, err := old.FindLost(now)
	return slices.DeleteFunc(lost, func(l LostRef) bool { return l.Text == refText(StashRef) }), err
}

// filesOfShared returns the files of the shared folder as the state of a repository.
func filesOfShared(o *pack.Objects, list []manifest.Entry) Files {
	return Files{objects: o, entries: manifest.ByPath(list), dotGit: true, IsHidden: func(string) bool { return false }}
}
