package snapshot

import (
	"sort"
	"strings"
)

// plan is what has to be done to one part of the tree, in this order.
type plan struct {
	open   []entry // folders whose permissions differ: shallow first, so that what is below can be reached
	remove []entry // files and links
	rmdir  []entry // deepest first
	mkdir  []entry // shallow first
	write  []entry
	chmod  []entry // files whose content is right
}

// diff compares what is there with what is wanted. leave names paths that must not be deleted, because the target cannot
// tell whether they were there.
func diff(now, want []entry, leave func(string) bool) plan {
	var p plan
	if shared(now, want) {
		return p
	}
	pairs(now, want, func(n, w *entry) {
		if w != nil {
			p.want(n, w)
		}
		switch {
		case n == nil, w != nil && (n.kind == kindDir) == (w.kind == kindDir), w == nil && leave(n.path):
		case n.kind == kindDir:
			p.rmdir = append(p.rmdir, *n)
		default:
			p.remove = append(p.remove, *n)
		}
	})
	sort.SliceStable(p.rmdir, func(i, j int) bool { return depth(p.rmdir[i].path) > depth(p.rmdir[j].path) })
	return p
}

// want plans for one wanted entry, where n is what is there, nil for nothing.
func (p *plan) want(n, w *entry) {
	if w.kind == kindDir {
		switch {
		case n == nil || n.kind != kindDir:
			p.mkdir = append(p.mkdir, *w)
		case n.st.mode != w.st.mode:
			p.open = append(p.open, *w)
		}
		return
	}
	switch {
	case n != nil && n.same(w):
	case n != nil && n.kind == w.kind && n.oid == w.oid:
		p.chmod = append(p.chmod, *w)
	default:
		p.write = append(p.write, *w)
	}
}

func depth(p string) int { return strings.Count(p, "/") }
