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
	have := byPath(now)
	for _, w := range want {
		n, ok := have[w.path]
		p.want(n, ok, w)
	}
	wanted := byPath(want)
	for _, n := range now {
		w, ok := wanted[n.path]
		switch same := (n.kind == kindDir) == (w.kind == kindDir); {
		case ok && same || !ok && leave(n.path):
		case n.kind == kindDir:
			p.rmdir = append(p.rmdir, n)
		default:
			p.remove = append(p.remove, n)
		}
	}
	sort.SliceStable(p.rmdir, func(i, j int) bool { return depth(p.rmdir[i].path) > depth(p.rmdir[j].path) })
	return p
}

// want plans for one wanted entry, where n is what is there, if anything is.
func (p *plan) want(n entry, ok bool, w entry) {
	if w.kind == kindDir {
		switch {
		case !ok || n.kind != kindDir:
			p.mkdir = append(p.mkdir, w)
		case n.st.mode != w.st.mode:
			p.open = append(p.open, w)
		}
		return
	}
	switch {
	case ok && n.same(w):
	case ok && n.kind == w.kind && n.oid == w.oid:
		p.chmod = append(p.chmod, w)
	default:
		p.write = append(p.write, w)
	}
}

func depth(p string) int { return strings.Count(p, "/") }

func byPath(list []entry) map[string]entry {
	m := make(map[string]entry, len(list))
	for _, e := range list {
		m[e.path] = e
	}
	return m
}

// without drops the working files that were excluded after a snapshot was taken.
func (s *Store) without(entries []entry) []entry {
	if len(s.config.Excludes) == 0 {
		return entries
	}
	var out []entry
	for _, e := range entries {
		if !s.excluded(e.path) {
			out = append(out, e)
		}
	}
	return out
}
