package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// scanOptions are what a scan needs to know.
type scanOptions struct {
	*tree
	inside            string // path of the store in the tree, "" if it lies outside
	maxFile, maxTotal int64
	rules             *rules
	epoch             *epoch      // of the store
	base              *manifest   // what the tree looked like when it was last seen; nil: not known
	pack              *packWriter // nil: contents are hashed and not stored
	token             string      // of a restore that is under way; its temporary files are not captured
}

// scanner makes a manifest of the tree as it is now.
type scanner struct {
	scanOptions
	j *judgement

	parts    [parts]*partScan
	stable   int64 // files of the base that were last changed before this time need not be read again
	complete bool  // the store holds all contents of the base

	mu    sync.Mutex
	m     *manifest
	links map[string]string // targets of new symbolic links, by path
}

// scan looks at everything and reads what may have changed since the base.
func scan(ctx context.Context, o scanOptions) (*manifest, error) {
	sc := &scanner{scanOptions: o, m: &manifest{}, links: map[string]string{}}
	if sc.base == nil {
		sc.base = &manifest{}
	}
	sc.j = sc.rules.judge(sc.base)
	defer sc.j.close()
	sc.stable = sc.base.Started.Add(-racyWindow).UnixNano()
	sc.complete = sc.pack == nil || sc.base.stored == sc.epoch
	for i := range sc.parts {
		sc.parts[i] = newPartScan(*sc.base.list(part(i)))
	}
	sc.m.Started = time.Now()
	if err := sc.walker(partWork).walk(ctx, sc.root, zoneWork); err != nil {
		return nil, err
	}
	if err := sc.scanExternal(ctx); err != nil {
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
	sc.forgetTimes()
	sc.count()
	return nil
}

// forgetTimes makes the next scan list the folders that hold more than what the manifest knows.
func (sc *scanner) forgetTimes() {
	doubtful := map[string]bool{}
	for _, s := range sc.m.Skipped {
		p := strings.TrimSuffix(s.Path, "/")
		doubtful[p], doubtful[dirOf(p)] = true, true
	}
	for _, p := range sc.m.ignored {
		if !strings.HasSuffix(p, "/") && sc.rules.isPrecious(p, path.Base(p)) {
			doubtful[dirOf(p)] = true // it is captured when it becomes small enough
		}
	}
	for _, t := range sc.m.temps {
		doubtful[dirOf(strings.TrimPrefix(t, inExternal))] = true
	}
	for p := range doubtful {
		for i := range sc.parts {
			list := sc.m.list(part(i))
			k := lookup(*list, p)
			if k < 0 || (*list)[k].kind != kindDir || (*list)[k].st.ctime == 0 {
				continue
			}
			if shared(*list, sc.parts[i].base) {
				*list = slices.Clone(*list)
			}
			(*list)[k].st.mtime, (*list)[k].st.ctime = 0, 0
		}
	}
}

func (sc *scanner) walker(root part) *walker {
	return &walker{
		keep:  func(dir string, z zone) func(string) bool { return sc.keep(root, dir, z) },
		known: func(l *listing) bool { return sc.known(root, l) },
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
	if z != zoneGit && sc.token == "" && sc.inside == "" && len(sc.excludes) == 0 {
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
		return p != sc.inside && !sc.excludes.has(p)
	}
}

func (sc *scanner) isTemp(name string) bool {
	return sc.token != "" && strings.HasPrefix(name, tempPrefix+sc.token)
}

// partOf is the part to which the entries of a folder belong.
func partOf(root part, l *listing) part {
	if root == partWork && l.zone == zoneGit {
		return partGit
	}
	return root
}

// known lists a folder by what the base knows of it. A folder changes its times when a name comes or goes.
func (sc *scanner) known(root part, l *listing) bool {
	of := partOf(root, l)
	base := sc.parts[of].base
	if isDotGit(l.self.name) || l.self.at < 0 || !hasInodes {
		return false // the entry of .git tells nothing of names that were left out in it
	}
	e := &base[l.self.at]
	if e.kind != kindDir || e.st != folderStat(l.self.st) || e.st.ctime == 0 || !sc.settled(e.st.ctime) {
		return false
	}
	if lo, hi := below(sc.parts[partGit].base, l.dir); of == partWork && lo < hi {
		return false
	}
	l.nodes = children(base, l.dir, l.nodes)
	if of == partWork {
		sc.knownIgnored(l)
	}
	if keep := sc.keep(root, l.dir, l.zone); keep != nil {
		l.nodes = slices.DeleteFunc(l.nodes, func(n node) bool { return !keep(n.name) })
	}
	return true
}

// knownIgnored takes over what is ignored in a folder whose names have not changed.
func (sc *scanner) knownIgnored(l *listing) {
	prefix, all := l.dir+"/", sc.base.ignored
	for i := sort.SearchStrings(all, prefix); i < len(all) && strings.HasPrefix(all[i], prefix); i++ {
		name := strings.TrimSuffix(all[i][len(prefix):], "/")
		if strings.Contains(name, "/") || sc.excludes.has(joinPath(l.dir, name)) {
			continue
		}
		sc.mu.Lock()
		sc.m.ignored = append(sc.m.ignored, all[i])
		sc.mu.Unlock()
	}
}

// folderStat is what is recorded of a folder: its size means nothing.
func folderStat(st stat) stat {
	st.size = 0
	return st
}

// visit compares one folder with the base and tells where to go on.
func (sc *scanner) visit(ctx context.Context, root part, l *listing) error {
	rel, key, of := l.dir, "", partOf(root, l)
	switch of {
	case partExt:
		key = inExternal
	case partGit:
		rel = gitRel(l.dir)
	default:
	}
	if !l.known {
		sc.parts[of].find(l.dir, l.nodes)
	}
	if l.zone == zoneGit {
		if isObjectDir(rel) || isLargeFiles(rel) {
			sc.mu.Lock()
			sc.m.objectDirs = append(sc.m.objectDirs, key+l.dir)
			sc.mu.Unlock()
		}
		for i := range l.nodes {
			l.nodes[i].next = zoneGit
			if !leadsToLargeFiles(joinPath(rel, l.nodes[i].name)) {
				sc.record(of, l, &l.nodes[i])
			}
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
	p, rules := l.join(n.name), sc.rules
	if n.kind == kindDir && rules.forcedDirs[p] {
		sc.record(partWork, l, n)
		return zoneIgnored
	}
	if rules.forced[p] && n.kind != kindDir || l.zone == zoneWork && n.kind == kindFile && n.st.size <= maxPrecious && rules.isPrecious(p, n.name) {
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
	data, err := l.read(name)
	to, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !found {
		return false
	}
	to = filepath.ToSlash(strings.TrimSpace(to))
	return path.IsAbs(to) || strings.HasPrefix(path.Clean(joinPath(l.dir, to)), "..")
}

// record notes a node in a part, or among the skipped ones.
func (sc *scanner) record(of part, l *listing, n *node) {
	p := sc.parts[of]
	st := n.st
	if n.kind == kindDir {
		st = folderStat(st)
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
	if k == kindDir && e.kind == k && e.st.ctime == 0 && sc.base.WorkTree != "" {
		st.mtime, st.ctime = 0, 0 // see forgetTimes
	}
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
	case k == kindLink && !hasInodes, !sc.settled(changed):
		return false
	}
	return sc.complete || sc.pack.has(e.oid)
}

// settled tells whether what was last changed then could not have changed again, unnoticed, after the base was made. Where
// times are whole seconds the file system is taken for one that counts in steps of two.
func (sc *scanner) settled(changed int64) bool {
	if changed%int64(time.Second) == 0 {
		changed += int64(2 * time.Second)
	}
	return changed < sc.stable
}

// maxGitFile is the size limit for the files of git's own state, of which the index can be large.
const maxGitFile = 1 << 30

func (sc *scanner) maxSize(of part) int64 {
	if of == partWork {
		return sc.maxFile
	}
	return max(sc.maxFile, maxGitFile)
}

// limitTotal skips the largest working files until the rest fits.
func (sc *scanner) limitTotal(list []entry, todo []int, dirty folders) ([]entry, []int) {
	var total int64
	for i := range list {
		total += list[i].st.size // that of folders is 0
	}
	if total <= sc.maxTotal {
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
		if total <= sc.maxTotal {
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
	m.keepNames(sc.base)
	if b := sc.base; b.Tree != "" && shared(m.work, b.work) {
		m.Tree, m.Files, m.Bytes, m.WorkTree = b.Tree, b.Files, b.Bytes, b.WorkTree
	} else {
		m.total()
	}
	if b := sc.base; shared(m.git, b.git) && shared(m.ext, b.ext) && m.Shared == b.Shared {
		m.StateTree = b.StateTree
	}
}

// scanExternal looks at the git folder outside of the tree.
func (sc *scanner) scanExternal(ctx context.Context) error {
	ext := sc.external
	if ext.GitDir == "" {
		return nil
	}
	if ext.linked() {
		if err := sc.scanShared(); err != nil {
			return err
		}
		sc.m.objectDirs = append(sc.m.objectDirs, inExternal+"objects")
		for _, rel := range largeFiles() {
			if fi, err := os.Stat(filepath.Join(ext.Common, filepath.FromSlash(rel))); err == nil && fi.IsDir() {
				sc.m.objectDirs = append(sc.m.objectDirs, inExternal+rel)
			}
		}
	}
	root, err := os.OpenRoot(ext.GitDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted; a restore makes it again
	}
	if err != nil {
		return fmt.Errorf("open git folder: %w", err)
	}
	defer root.Close()
	if err := sc.walker(partExt).walk(ctx, root, zoneGit); err != nil {
		return err
	}
	if ext.linked() {
		sc.m.Branch = currentBranch(ctx, ext.GitDir)
	}
	return nil
}

// scanShared captures what this worktree shares with others.
func (sc *scanner) scanShared() (err error) {
	if sc.m.shared, err = sharedFiles(sc.external, sc.pack, sc.base.shared, sc.stable); err != nil {
		return fmt.Errorf("look at the shared git folder: %w", err)
	}
	list := appendEntries(nil, sc.m.shared)
	id := hashObject(objBlob, list)
	if sc.pack != nil {
		if id, err = sc.pack.add(objBlob, list); err != nil {
			return err
		}
	}
	sc.m.Shared = id.String()
	return nil
}
