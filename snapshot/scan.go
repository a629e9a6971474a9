package snapshot

import (
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// racyWindow is how much older than the start of a snapshot a file's change time must be before the file is taken for
// unchanged without reading it: clocks of file systems tick every few milliseconds.
const racyWindow = 20 * time.Millisecond

// scanner makes a manifest of the tree as it is now.
type scanner struct {
	s     *Store
	pack  *packWriter // nil: contents are hashed and not stored
	j     *judgement
	token string // of a restore that is under way; its temporary files are not captured

	base     *manifest
	parts    [parts]*partScan
	stable   int64 // files of the base that were last changed before this time need not be read again
	complete bool  // the store holds all contents of the base

	mu    sync.Mutex
	m     *manifest
	links map[string]string // targets of new symbolic links, by path
}

// scan looks at everything and reads what may have changed since s.base.
func (s *Store) scan(ctx context.Context, pack *packWriter, token string) (*manifest, error) {
	sc := &scanner{s: s, pack: pack, token: token, m: &manifest{}, links: map[string]string{}, base: s.base}
	if sc.base == nil {
		sc.base = &manifest{}
	}
	sc.j = s.rules.judge(sc.base)
	defer sc.j.close()
	sc.stable = sc.base.Started.Add(-racyWindow).UnixNano()
	sc.complete = pack == nil || s.objects.holds(sc.base)
	for i := range sc.parts {
		sc.parts[i] = newPartScan(*sc.base.list(part(i)))
	}
	sc.m.Started = time.Now()
	if err := sc.walker(partWork).walk(ctx, s.root, zoneWork); err != nil {
		return nil, err
	}
	if err := sc.external(ctx); err != nil {
		return nil, err
	}
	return sc.m, sc.finish(ctx)
}

// finish puts together what the walk has found and reads the contents.
func (sc *scanner) finish(ctx context.Context) error {
	sort.Strings(sc.m.ignored)
	sort.Strings(sc.m.objectDirs)
	for i, p := range sc.parts {
		dirty := folders{}
		list, todo := p.merge(dirty)
		if part(i) == partWork {
			list, todo = sc.limitTotal(list, todo, dirty)
		}
		dirty.forget(list)
		if err := sc.read(ctx, part(i), list, todo); err != nil {
			return err
		}
		if len(todo) > 0 {
			list = dropUnread(list)
		}
		*sc.m.list(part(i)) = list
	}
	sc.count()
	return nil
}

func (sc *scanner) walker(root part) *walker {
	return &walker{
		keep:  func(dir string, z zone) func(string) bool { return sc.keep(root, dir, z) },
		visit: func(ctx context.Context, l *listing) error { return sc.visit(ctx, root, l) },
		fail: func(p string, r Reason) {
			if root == partWork {
				sc.skip(Skip{Path: p, Reason: r})
			}
		},
	}
}

func (sc *scanner) skip(s Skip) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.m.Skipped = append(sc.m.Skipped, s)
}

// keep leaves out what must not even be looked at. A nil function leaves out nothing.
func (sc *scanner) keep(root part, dir string, z zone) func(string) bool {
	rel, key := "", ""
	if z == zoneGit {
		rel = gitRel(dir)
	}
	if root == partExt {
		rel, key = dir, inExternal
	}
	if z != zoneGit && sc.token == "" && sc.s.inside == "" && len(sc.s.config.Excludes) == 0 {
		return nil
	}
	return func(name string) bool {
		switch {
		case sc.isTemp(name):
			sc.mu.Lock()
			defer sc.mu.Unlock()
			sc.m.temps = append(sc.m.temps, key+joinPath(dir, name))
			return false
		case z == zoneGit:
			return keepGit(rel, name)
		}
		p := joinPath(dir, name)
		return p != sc.s.inside && !sc.s.excluded(p)
	}
}

func (sc *scanner) isTemp(name string) bool {
	return sc.token != "" && strings.HasPrefix(name, tempPrefix+sc.token)
}

// visit compares one folder with the base and tells where to go on.
func (sc *scanner) visit(ctx context.Context, root part, l *listing) error {
	rel, key, of := "", "", partWork
	switch {
	case root == partExt:
		rel, key, of = l.dir, inExternal, partExt
	case l.zone == zoneGit:
		rel, of = gitRel(l.dir), partGit
	}
	sc.parts[of].find(l.dir, l.nodes)
	if l.zone == zoneGit {
		if isObjectDir(rel) {
			sc.mu.Lock()
			sc.m.objectDirs = append(sc.m.objectDirs, key+l.dir)
			sc.mu.Unlock()
		}
		for i := range l.nodes {
			sc.record(of, l, &l.nodes[i])
			l.nodes[i].next = zoneGit
		}
		return nil
	}
	ignored, err := sc.j.ignored(ctx, l)
	if err != nil {
		return err
	}
	for i := range l.nodes {
		l.nodes[i].next = sc.place(l, &l.nodes[i], ignored != nil && ignored[i])
	}
	return nil
}

// place records one node outside of .git and tells by which rules to go on below it.
func (sc *scanner) place(l *listing, n *node, ignored bool) zone {
	if isDotGit(n.name) {
		return sc.dotGit(l, n)
	}
	if l.zone != zoneIgnored && !ignored {
		sc.record(partWork, l, n)
		return zoneWork
	}
	p, rules := l.join(n.name), sc.s.rules
	if n.kind == kindDir && rules.forcedDirs[p] {
		sc.record(partWork, l, n)
		return zoneIgnored
	}
	if rules.forced[p] && n.kind != kindDir || l.zone == zoneWork && rules.isPrecious(p, n) {
		sc.record(partWork, l, n)
		return zoneNone
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.m.ignored = append(sc.m.ignored, nodeKey(l.dir, n))
	return zoneNone
}

func (sc *scanner) dotGit(l *listing, n *node) zone {
	if l.zone == zoneIgnored {
		return zoneNone
	}
	n.at = lookup(sc.parts[partGit].base, l.join(n.name))
	sc.record(partGit, l, n)
	if n.kind == kindFile && l.dir != "" && leadsOut(l, n.name) {
		sc.skip(Skip{Path: l.join(n.name) + "/", Reason: External})
	}
	return zoneGit
}

// leadsOut tells whether a .git file names a folder outside the tree.
func leadsOut(l *listing, name string) bool {
	data, err := readIn(l.open, name)
	to, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !found {
		return false
	}
	to = filepath.ToSlash(strings.TrimSpace(to))
	return path.IsAbs(to) || strings.HasPrefix(path.Clean(joinPath(l.dir, to)), "..")
}

// readIn reads a file that is expected to be small.
func readIn(d dirFD, name string) ([]byte, error) {
	f, err := d.file(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// record notes a node in a part, or among the skipped ones.
func (sc *scanner) record(of part, l *listing, n *node) {
	p := sc.parts[of]
	st := n.st
	if n.kind == kindDir {
		st = stat{mode: n.st.mode, ino: n.st.ino, dev: n.st.dev} // times and sizes of folders change with their files
	}
	if n.at >= 0 && sc.unchanged(&p.base[n.at], n.kind, st) {
		p.seen[n.at] = true
		return
	}
	f := found{entry: entry{path: l.join(n.name), kind: n.kind, st: st}, at: n.at, todo: true}
	switch n.kind {
	case kindDir:
		f.todo = false
		if n.at >= 0 && p.base[n.at].kind == kindDir {
			f.oid = p.base[n.at].oid
		}
	case kindLink:
		target, err := l.open.readlink(n.name)
		if err != nil {
			sc.skip(Skip{Path: f.path, Reason: Unreadable})
			return
		}
		sc.mu.Lock()
		sc.links[linkKey(of, f.path)] = target
		sc.mu.Unlock()
	case kindFile:
		if st.size > sc.maxSize(of) {
			sc.skip(Skip{f.path, TooBig, st.size})
			return
		}
	default:
		sc.skip(Skip{Path: f.path, Reason: Special})
		return
	}
	if n.at >= 0 {
		p.seen[n.at] = true
	}
	p.add(f)
}

func linkKey(of part, path string) string { return string(rune('0'+of)) + path }

// unchanged tells whether the content of an entry need not be looked at again.
func (sc *scanner) unchanged(e *entry, k kind, st stat) bool {
	if e.kind != k || e.st != st {
		return false
	}
	changed := st.ctime
	if !hasInodes {
		changed = max(st.ctime, st.mtime)
	}
	switch {
	case k == kindDir:
		return true
	case k == kindLink && !hasInodes, changed >= sc.stable:
		return false
	}
	return sc.complete || sc.pack.has(e.oid)
}

// maxGitFile is the size limit for the files of git's own state, of which the index can be large.
const maxGitFile = 1 << 30

func (sc *scanner) maxSize(of part) int64 {
	if of == partWork {
		return sc.s.opts.MaxFile
	}
	return max(sc.s.opts.MaxFile, maxGitFile)
}

// limitTotal skips the largest working files until the rest fits.
func (sc *scanner) limitTotal(list []entry, todo []int, dirty folders) ([]entry, []int) {
	var total int64
	for i := range list {
		total += list[i].st.size // that of folders is 0
	}
	if total <= sc.s.opts.MaxTotal {
		return list, todo
	}
	list = slices.Clone(list) // it may be that of the base
	var bySize []int
	for i := range list {
		if list[i].kind == kindFile {
			bySize = append(bySize, i)
		}
	}
	sort.SliceStable(bySize, func(a, b int) bool { return list[bySize[a]].st.size > list[bySize[b]].st.size })
	for _, i := range bySize {
		if total <= sc.s.opts.MaxTotal {
			break
		}
		e := &list[i]
		total -= e.st.size
		sc.m.Skipped = append(sc.m.Skipped, Skip{e.path, OverTotal, e.st.size})
		dirty.above(e.path)
		e.kind = 0
	}
	unread := map[string]bool{}
	for _, i := range todo {
		unread[list[i].path] = true
	}
	list, todo = dropUnread(list), nil
	for i := range list {
		if unread[list[i].path] {
			todo = append(todo, i)
		}
	}
	return list, todo
}

// count sums up what was found. What depends on the working files alone is taken over if they are those of the base.
func (sc *scanner) count() {
	m := sc.m
	sort.Slice(m.Skipped, func(i, j int) bool { return m.Skipped[i].Path < m.Skipped[j].Path })
	m.TakenAt = m.Started
	if b := sc.base; b.Tree != "" && shared(m.work, b.work) {
		m.Tree, m.Files, m.Bytes, m.WorkTree = b.Tree, b.Files, b.Bytes, b.WorkTree
	} else {
		m.total()
	}
	if b := sc.base; shared(m.git, b.git) && shared(m.ext, b.ext) {
		m.StateTree = b.StateTree
	}
}

// total sums up the working files.
func (m *manifest) total() {
	for i := range m.work {
		if m.work[i].kind != kindDir {
			m.Files++
			m.Bytes += m.work[i].st.size
		}
	}
	m.Tree = treeID(m.work)
}
