package restore

import (
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
)

// plan lists the changes of one part of the tree, in the order in which they are executed.
type plan struct {
	openDirs   []manifest.Entry // folders with other permissions or owners; parents first, so that their content becomes accessible
	removals   []manifest.Entry // files and links
	removeDirs []manifest.Entry // deepest first
	makeDirs   []manifest.Entry // parents first
	writes     []manifest.Entry
	chmods     []manifest.Entry // files and links with the correct content
	relinks    []manifest.Entry // files to replace by hard links
}

// makePlan compares the current entries with the wanted ones. leave reports paths that must
// not be deleted, because the target does not know whether they existed. The plan is empty if
// both lists are the same slice.
func makePlan(now, want []manifest.Entry, leave func(string) bool) plan {
	var p plan
	if manifest.IsSameList(now, want) {
		return p
	}
	manifest.ForEachPair(now, want, func(n, w *manifest.Entry) {
		if w != nil {
			p.planEntry(n, w)
		}
		switch {
		case n == nil, w != nil && (n.Kind == disk.KindDir) == (w.Kind == disk.KindDir), w == nil && leave(n.Path):
		case n.Kind == disk.KindDir:
			p.removeDirs = append(p.removeDirs, *n)
		default:
			p.removals = append(p.removals, *n)
		}
	})
	sort.SliceStable(p.removeDirs, func(i, j int) bool { return depth(p.removeDirs[i].Path) > depth(p.removeDirs[j].Path) })
	return p
}

// planEntry plans one wanted entry w. n is the current entry, nil if there is none.
func (p *plan) planEntry(n, w *manifest.Entry) {
	if w.Kind == disk.KindDir {
		switch {
		case n == nil || n.Kind != disk.KindDir:
			p.makeDirs = append(p.makeDirs, *w)
		case n.Stat.Mode != w.Stat.Mode || w.Stat.Owner.DiffersFrom(n.Stat.Owner):
			p.openDirs = append(p.openDirs, *w)
		}
		return
	}
	switch {
	case n != nil && n.RestoresSame(w) && !w.Stat.Owner.DiffersFrom(n.Stat.Owner):
	case n != nil && n.Kind == w.Kind && n.OID == w.OID:
		p.chmods = append(p.chmods, *w)
	default:
		p.writes = append(p.writes, *w)
	}
}

// CountPlanned counts the files that a restore writes or deletes: working files, captured ignored files, and git files.
func CountPlanned(excludes gitdir.Excludes, present, target *manifest.Manifest) (files, ignored, git int) {
	leave := target.UnknownPaths()
	files = makePlan(excludes.Without(present.Work), excludes.Without(target.Work), leave).changedFiles()
	ignored = len(makePlan(present.Kept, excludes.Without(target.Kept), func(string) bool { return true }).writes)
	git = makePlan(present.Git, target.Git, leave).changedFiles() + makePlan(present.Ext, target.Ext, leave).changedFiles()
	return files, ignored, git
}

// ReplacesIgnored reports whether restoring target overwrites an ignored file of present that is missing in other.
func ReplacesIgnored(present, target, other *manifest.Manifest) bool {
	onlyInPresent := map[string]*manifest.Entry{}
	manifest.ForEachPair(present.Kept, other.Kept, func(p, o *manifest.Entry) {
		if o == nil && p.Kind != disk.KindDir {
			onlyInPresent[p.Path] = p
		}
	})
	for _, list := range [][]manifest.Entry{target.Kept, target.Work} {
		for i := range list {
			if entry := onlyInPresent[list[i].Path]; entry != nil && !entry.RestoresSame(&list[i]) {
				return true
			}
		}
	}
	return false
}

// changedFiles counts the files and links that the plan changes.
func (p plan) changedFiles() int { return len(p.removals) + len(p.writes) + len(p.chmods) }

// depth returns how many folders contain a path, besides the root.
func depth(p string) int { return strings.Count(p, "/") }
