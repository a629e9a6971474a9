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
	wanted := byPath(want)
	for _, w := range want {
		n, ok := have[w.path]
		switch {
		case w.kind == kindDir && (!ok || n.kind != kindDir):
			p.mkdir = append(p.mkdir, w)
		case w.kind == kindDir && n.st.mode != w.st.mode:
			p.open = append(p.open, w)
		case w.kind == kindDir || ok && n.same(w):
		case ok && n.kind == w.kind && n.oid == w.oid:
			p.chmod = append(p.chmod, w)
		default:
			p.write = append(p.write, w)
		}
	}
	for _, n := range now {
		w, ok := wanted[n.path]
		if !ok && leave(n.path) {
			continue
		}
		switch {
		case n.kind == kindDir && (!ok || w.kind != kindDir):
			p.rmdir = append(p.rmdir, n)
		case n.kind != kindDir && (!ok || w.kind == kindDir):
			p.remove = append(p.remove, n)
		}
	}
	sort.SliceStable(p.rmdir, func(i, j int) bool { return depth(p.rmdir[i].path) > depth(p.rmdir[j].path) })
	return p
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
