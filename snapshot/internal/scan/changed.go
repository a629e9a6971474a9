package scan

import (
	"sort"
	"strings"
	"sync"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/walk"
)

// partScan compares one part of the tree with what the base of the scan knows of it. Where nothing has changed it keeps
// no more than a mark for each entry.
type partScan struct {
	base []manifest.Entry
	seen []bool // of base: it is still there

	mu   sync.Mutex
	news []found
}

// found is an entry that is not in the base, or not like this.
type found struct {
	manifest.Entry
	at   int  // what it takes the place of in the base, -1: nothing
	todo bool // the content has to be read
}

func newPartScan(base []manifest.Entry) *partScan {
	return &partScan{base: base, seen: make([]bool, len(base))}
}

func (p *partScan) add(f found) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news = append(p.news, f)
}

// find sets where the nodes of a folder are in the base.
func (p *partScan) find(dir string, nodes []walk.Node) {
	lo, hi := manifest.Below(p.base, dir)
	if lo == hi {
		return
	}
	skip := len(dir) + 1
	if dir == "" {
		skip = 0
	}
	list := p.base[lo:hi]
	for i := range nodes {
		n := &nodes[i]
		if k := manifest.Search(list, skip, n.Name); k < len(list) && list[k].Path[skip:] == n.Name {
			n.At = lo + k
		}
	}
}

// children makes a node of each entry of the sorted list that lies directly in a folder.
func children(list []manifest.Entry, dir string, nodes []walk.Node) []walk.Node {
	lo, hi := manifest.Below(list, dir)
	skip := len(dir) + 1
	for i := lo; i < hi; {
		name, _, deep := strings.Cut(list[i].Path[skip:], "/")
		if !deep {
			nodes = append(nodes, walk.Node{Name: name, At: i})
			i++
			continue
		}
		prefix := list[i].Path[:skip+len(name)+1]
		i += sort.Search(hi-i, func(k int) bool { return !strings.HasPrefix(list[i+k].Path, prefix) })
	}
	return nodes
}

// merge makes the list of the part as it is now, sorted, and names the entries whose content has to be read. It is the
// list of the base itself, which nobody may change, if nothing is new.
func (p *partScan) merge(dirty folders) (list []manifest.Entry, todo []int) {
	if len(p.news) == 0 && p.whole() {
		return p.base, nil
	}
	sort.Slice(p.news, func(i, j int) bool { return p.news[i].Path < p.news[j].Path })
	list = make([]manifest.Entry, 0, len(p.base)+len(p.news))
	news := p.news
	put := func(f found) {
		if f.Kind != disk.KindDir {
			dirty.above(f.Path)
		}
		if f.todo {
			todo = append(todo, len(list))
		}
		list = append(list, f.Entry)
	}
	for i := range p.base {
		e := &p.base[i]
		for len(news) > 0 && news[0].Path < e.Path {
			put(news[0])
			news = news[1:]
		}
		switch {
		case len(news) > 0 && news[0].at == i:
			put(news[0])
			news = news[1:]
		case p.seen[i]:
			list = append(list, *e)
		default:
			dirty.above(e.Path)
		}
	}
	for _, f := range news {
		put(f)
	}
	return list, todo
}

// whole reports whether all that the base has is still there.
func (p *partScan) whole() bool {
	for _, s := range p.seen {
		if !s {
			return false
		}
	}
	return true
}

// folders is a set of folders below which something changed.
type folders map[string]bool

// above adds the folders that a path lies in, up to "".
func (f folders) above(p string) {
	for {
		p = p[:max(0, strings.LastIndexByte(p, '/'))]
		if f[p] {
			return
		}
		f[p] = true
		if p == "" {
			return
		}
	}
}

// forget clears the ids of the trees that are not right any more. The list is one that merge has made.
func (f folders) forget(list []manifest.Entry) {
	for p := range f {
		if i := manifest.Lookup(list, p); i >= 0 && list[i].Kind == disk.KindDir {
			list[i].OID = pack.OID{}
		}
	}
}
