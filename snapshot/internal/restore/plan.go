package restore

import (
	"sort"
	"strings"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/manifest"
)

// plan is what has to be done to one part of the tree, in this order.
type plan struct {
	open   []manifest.Entry // folders whose permissions or owners differ: shallow first, so that what is below can be reached
	remove []manifest.Entry // files and links
	rmdir  []manifest.Entry // deepest first
	mkdir  []manifest.Entry // shallow first
	write  []manifest.Entry
	chmod  []manifest.Entry // files and links whose content is right
	twin   []manifest.Entry // files that are to be other names of one
}

// diff compares what is there with what is wanted. leave names paths that must not be deleted, because the target cannot
// tell whether they were there.
func diff(now, want []manifest.Entry, leave func(string) bool) plan {
	var p plan
	if manifest.Same(now, want) {
		return p
	}
	manifest.Pairs(now, want, func(n, w *manifest.Entry) {
		if w != nil {
			p.want(n, w)
		}
		switch {
		case n == nil, w != nil && (n.Kind == disk.KindDir) == (w.Kind == disk.KindDir), w == nil && leave(n.Path):
		case n.Kind == disk.KindDir:
			p.rmdir = append(p.rmdir, *n)
		default:
			p.remove = append(p.remove, *n)
		}
	})
	sort.SliceStable(p.rmdir, func(i, j int) bool { return depth(p.rmdir[i].Path) > depth(p.rmdir[j].Path) })
	return p
}

// want plans for one wanted entry, where n is what is there, nil for nothing.
func (p *plan) want(n, w *manifest.Entry) {
	if w.Kind == disk.KindDir {
		switch {
		case n == nil || n.Kind != disk.KindDir:
			p.mkdir = append(p.mkdir, *w)
		case n.Stat.Mode != w.Stat.Mode || w.Stat.Owner.Other(n.Stat.Owner):
			p.open = append(p.open, *w)
		}
		return
	}
	switch {
	case n != nil && n.Same(w) && !w.Stat.Owner.Other(n.Stat.Owner):
	case n != nil && n.Kind == w.Kind && n.OID == w.OID:
		p.chmod = append(p.chmod, *w)
	default:
		p.write = append(p.write, *w)
	}
}

// Planned counts what a restore is to write or delete: working files, kept ignored ones, and files of git's own.
func Planned(excludes gitdir.Excludes, present, target *manifest.Manifest) (files, ignored, git int) {
	leave := target.Unknown()
	files = diff(excludes.Without(present.Work), excludes.Without(target.Work), leave).size()
	ignored = len(diff(present.Kept, excludes.Without(target.Kept), func(string) bool { return true }).write)
	git = diff(present.Git, target.Git, leave).size() + diff(present.Ext, target.Ext, leave).size()
	return files, ignored, git
}

// Replaces reports whether a restore of target writes over an ignored file of present that other does not have.
func Replaces(present, target, other *manifest.Manifest) bool {
	mine := map[string]*manifest.Entry{}
	manifest.Pairs(present.Kept, other.Kept, func(p, o *manifest.Entry) {
		if o == nil && p.Kind != disk.KindDir {
			mine[p.Path] = p
		}
	})
	for _, list := range [][]manifest.Entry{target.Kept, target.Work} {
		for i := range list {
			if was := mine[list[i].Path]; was != nil && !was.Same(&list[i]) {
				return true
			}
		}
	}
	return false
}

func (p plan) size() int { return len(p.remove) + len(p.write) + len(p.chmod) }

func depth(p string) int { return strings.Count(p, "/") }
