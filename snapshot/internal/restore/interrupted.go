package restore

import (
	"path"
	"slices"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
)

// Interrupted compares the tree after an interrupted restore with the tree before it and with the target.
type Interrupted struct {
	Now, Before, Target *manifest.Manifest
	Objects             *pack.Objects
	Excludes            gitdir.Excludes
}

// Changed lists the paths that were changed after the interrupted restore: they match neither the tree before it nor the
// target nor a state in between. Permissions of folders and times in the git index are ignored.
func (x Interrupted) Changed() []string {
	var out []string
	for _, part := range []manifest.Part{manifest.PartWork, manifest.PartGit, manifest.PartExt} {
		out = append(append(out, x.alteredPaths(part)...), x.removedPaths(part)...)
	}
	out = append(out, x.alteredPaths(manifest.PartKept)...) // missing files are simply written again
	if now, b, t := x.Now.Branch, x.Before.Branch, x.Target.Branch; now.Name != "" && now.Name == b.Name && now != b && now != t {
		out = append(out, now.Name)
	}
	out = slices.DeleteFunc(out, x.Excludes.Has)
	slices.Sort(out)
	return out
}

// alteredPaths lists existing paths that match neither the tree before nor the target.
func (x Interrupted) alteredPaths(part manifest.Part) (out []string) {
	before, target := manifest.ByPath(*x.Before.List(part)), manifest.ByPath(*x.Target.List(part))
	for _, n := range *x.Now.List(part) {
		b, isB := before[n.Path]
		t, isT := target[n.Path]
		if part == manifest.PartKept && (!isB && !isT || n.Kind == disk.KindDir) { // ignored files are never deleted
			continue
		}
		if !(isB && x.isSameEntry(&n, &b)) && !(isT && x.isSameEntry(&n, &t)) {
			out = append(out, n.Path)
		}
	}
	return out
}

// removedPaths lists paths that are missing although the restore replaces them atomically, or that became too large or
// unreadable.
func (x Interrupted) removedPaths(part manifest.Part) (out []string) {
	now, target := manifest.ByPath(*x.Now.List(part)), manifest.ByPath(*x.Target.List(part))
	for _, b := range *x.Before.List(part) {
		t, isT := target[b.Path]
		if _, there := now[b.Path]; !there && (isT && t.Kind == b.Kind || x.Now.HasSkipped(b.Path)) {
			out = append(out, b.Path)
		}
	}
	return out
}

// isSameEntry reports whether the entry n is in the state of o. Git may have refreshed the
// times in an index.
func (x Interrupted) isSameEntry(n, o *manifest.Entry) bool {
	if n.Kind == disk.KindDir || o.Kind == disk.KindDir {
		return n.Kind == o.Kind
	}
	return n.RestoresSame(o) || path.Base(n.Path) == "index" && x.isSameIndex(n, o)
}

// isSameIndex reports whether two git indexes have the same entries.
func (x Interrupted) isSameIndex(n, o *manifest.Entry) bool {
	if n.Kind != disk.KindFile || o.Kind != disk.KindFile {
		return false
	}
	a, errA := x.Objects.Content(n.OID)
	b, errB := x.Objects.Content(o.OID)
	return errA == nil && errB == nil && gitstate.HaveSameEntries(a, b)
}
