package restore

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// hardlinks maps each name of a file with several names to the first of these names.
type hardlinks map[string]string

// findHardlinks finds the hard links between files of a snapshot.
func findHardlinks(m *manifest.Manifest) hardlinks {
	type inode struct{ dev, ino uint64 }
	first, out := map[inode]string{}, hardlinks{}
	for _, list := range [][]manifest.Entry{m.Work, m.Kept} {
		for i := range list {
			e := &list[i]
			if e.Kind != disk.KindFile || e.Stat.Ino == 0 {
				continue
			}
			key := inode{e.Stat.Dev, e.Stat.Ino}
			if firstName, more := first[key]; more {
				out[firstName], out[e.Path] = firstName, firstName
			} else {
				first[key] = e.Path
			}
		}
	}
	return out
}

// planHardlinks plans to separate working files that are hard links now and were not, and to
// link those that were hard links. Ignored files are not changed, because they may be in use.
func (a *applier) planHardlinks(present, target *manifest.Manifest) (p plan) {
	had := findHardlinks(present)
	for _, name := range slices.Sorted(maps.Keys(had)) {
		i := manifest.Lookup(target.Work, name)
		if firstName := had[name]; name != firstName && a.hardlinks[name] != firstName && i >= 0 && a.sameFile(firstName, name) {
			p.writes = append(p.writes, target.Work[i])
		}
	}

	for _, name := range slices.Sorted(maps.Keys(a.hardlinks)) {
		firstName, i := a.hardlinks[name], manifest.Lookup(target.Work, name)
		areWorkingFiles := i >= 0 && manifest.Lookup(target.Work, firstName) >= 0
		if name != firstName && areWorkingFiles && !a.Result.hasMismatch(firstName) && !a.Result.hasMismatch(name) {
			p.relinks = append(p.relinks, target.Work[i])
		}
	}
	return p
}

// relink makes a path a hard link to the first name of its file again. Verify reports failures.
func (a *applier) relink(e manifest.Entry) error {
	firstName := a.hardlinks[e.Path]
	if a.sameFile(firstName, e.Path) {
		return nil
	}
	temp := a.newTempName(e)
	err := a.root.Link(firstName, temp)
	if err == nil {
		err = a.root.Rename(temp, e.Path)
	}
	if err != nil {
		_ = a.root.Remove(temp)
	}
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// sameFile reports whether two paths exist and are hard links to the same file.
func (a *applier) sameFile(p, q string) bool {
	x, errX := a.root.Lstat(p)
	y, errY := a.root.Lstat(q)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// hasMismatch reports whether a path is among the mismatches.
func (r *Restored) hasMismatch(p string) bool {
	return slices.ContainsFunc(r.Mismatches, func(m Mismatch) bool { return m.Path == p })
}

// findOwnerAndLinkDifferences lists paths whose content is correct, but that have another owner or other hard links.
func (x *Restorer) findOwnerAndLinkDifferences(now, target *manifest.Manifest) (out []Mismatch) {
	note := func(p, why string) {
		if !x.Tree.Excludes.Has(p) {
			out = append(out, Mismatch{p, why})
		}
	}
	owned := func(p string, is, was disk.Owner) {
		if was.DiffersFrom(is) {
			note(p, "belongs to "+is.String()+", not "+was.String())
		}
	}

	if now.Root != nil && target.Root != nil {
		owned(".", now.Root.Owner, target.Root.Owner)
	}
	for part := range manifest.Parts {
		manifest.ForEachPair(*now.List(part), *target.List(part), func(n, w *manifest.Entry) {
			if n != nil && w != nil && n.Kind == w.Kind {
				owned(n.Path, n.Stat.Owner, w.Stat.Owner)
			}
		})
	}

	is, want := findHardlinks(now), findHardlinks(target)
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if is[p] != want[p] {
			note(p, "no hard link of "+want[p]+" any more")
		}
	}
	for _, p := range slices.Sorted(maps.Keys(is)) {
		if want[p] == "" {
			note(p, "a hard link now, of "+is[p])
		}
	}
	return out
}
