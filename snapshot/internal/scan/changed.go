package scan

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/walk"
)

// partScan compares one part of the tree with the base of the scan. For an unchanged entry it
// only sets a mark in seen; everything else is in changes.
type partScan struct {
	base []manifest.Entry
	seen []bool // by index in base: the entry is unchanged or replaced

	mu      sync.Mutex
	changes []change
}

// change is an entry that is new or differs from the base.
type change struct {
	manifest.Entry     // a file or link has no id yet: its content must be read
	baseIndex      int // index in the base of the replaced entry, -1 if the entry is new
}

// newPartScan returns the comparison with a part of the base.
func newPartScan(base []manifest.Entry) *partScan {
	return &partScan{base: base, seen: make([]bool, len(base))}
}

// add adds a change.
func (p *partScan) add(f change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes = append(p.changes, f)
}

// locate sets the index in the base of each node of a folder. Nodes that the base does not
// have keep their index.
func (p *partScan) locate(dir string, nodes []walk.Node) {
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
			n.BaseIndex = lo + k
		}
	}
}

// childNodes appends a node for each entry of the sorted list that is directly in the folder
// dir.
func childNodes(list []manifest.Entry, dir string, nodes []walk.Node) []walk.Node {
	lo, hi := manifest.Below(list, dir)
	skip := len(dir) + 1
	for i := lo; i < hi; {
		name, _, deep := strings.Cut(list[i].Path[skip:], "/")
		if !deep {
			nodes = append(nodes, walk.Node{Name: name, BaseIndex: i})
			i++
			continue
		}
		prefix := list[i].Path[:skip+len(name)+1]
		i += sort.Search(hi-i, func(k int) bool { return !strings.HasPrefix(list[i+k].Path, prefix) })
	}
	return nodes
}

// merge returns the sorted list of current entries. It adds the folders with changes to dirty.
// If nothing has changed, it returns the list of the base itself, which must not be modified.
func (p *partScan) merge(dirty folderSet) []manifest.Entry {
	isComplete := !slices.Contains(p.seen, false)
	if len(p.changes) == 0 && isComplete {
		return p.base
	}
	sort.Slice(p.changes, func(i, j int) bool { return p.changes[i].Path < p.changes[j].Path })

	list := make([]manifest.Entry, 0, len(p.base)+len(p.changes))
	changes := p.changes
	appendChange := func(f change) {
		if f.Kind != disk.KindDir {
			dirty.addParents(f.Path)
		}
		list = append(list, f.Entry)
	}

	for i := range p.base {
		e := &p.base[i]
		for len(changes) > 0 && changes[0].Path < e.Path {
			appendChange(changes[0])
			changes = changes[1:]
		}
		switch {
		case len(changes) > 0 && changes[0].baseIndex == i:
			appendChange(changes[0])
			changes = changes[1:]
		case p.seen[i]:
			list = append(list, *e)
		default:
			dirty.addParents(e.Path)
		}
	}

	for _, f := range changes {
		appendChange(f)
	}
	return list
}

// findUnread returns the indexes of the entries whose content must be read.
func findUnread(list []manifest.Entry) (unread []int) {
	for i := range list {
		if list[i].Kind != disk.KindDir && list[i].OID == (pack.OID{}) {
			unread = append(unread, i)
		}
	}
	return unread
}

// folderSet is a set of folders in which something has changed.
type folderSet map[string]bool

// addParents adds all parent folders of a path, up to "".
func (f folderSet) addParents(p string) {
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

// clearTreeIDs clears the outdated tree ids in a list made by merge.
func (f folderSet) clearTreeIDs(list []manifest.Entry) {
	for p := range f {
		if i := manifest.Lookup(list, p); i >= 0 && list[i].Kind == disk.KindDir {
			list[i].OID = pack.OID{}
		}
	}
}
