package scan

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

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/gitstate"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/walk"
)

// Options are what a scan needs to know.
type Options struct {
	*gitdir.Tree
	Inside            string // path of the store in the tree, "" if it lies outside
	MaxFile, MaxTotal int64
	MaxIgnored        int64 // of all kept ignored files; below 1 none is kept
	Rules             *ignore.Rules
	Epoch             *pack.Epoch        // of the store
	Base              *manifest.Manifest // what the tree looked like when it was last seen; nil: not known
	Pack              *pack.Writer       // nil: contents are hashed and not stored
	Token             string             // of a restore that is under way; its temporary files are not captured
}

// scanner makes a manifest of the tree as it is now.
type scanner struct {
	Options
	j *ignore.Judgement

	parts    [manifest.Parts]*partScan
	stable   int64 // files of the base that were last changed before this time need not be read again
	complete bool  // the store holds all contents of the base

	mu    sync.Mutex
	m     *manifest.Manifest
	links map[string]string // targets of new symbolic links, by path
}

// Run looks at everything and reads what may have changed since the base.
func Run(ctx context.Context, o Options) (*manifest.Manifest, error) {
	sc := &scanner{Options: o, m: &manifest.Manifest{}, links: map[string]string{}}
	if sc.Base == nil {
		sc.Base = &manifest.Manifest{}
	}
	sc.j = sc.Rules.Judge(sc.Base)
	defer sc.j.Close()
	sc.stable = sc.Base.Started.Add(-disk.RacyWindow).UnixNano()
	sc.complete = sc.Pack == nil || sc.Base.Stored == sc.Epoch
	for i := range sc.parts {
		sc.parts[i] = newPartScan(*sc.Base.List(manifest.Part(i)))
	}
	sc.m.Started = time.Now()
	if fi, err := sc.Root.Stat("."); err == nil {
		rights := disk.RightsOf(fi)
		sc.m.Root = &rights
	}
	if err := sc.walker(manifest.PartWork).Walk(ctx, sc.Root, walk.ZoneWork); err != nil {
		return nil, err
	}
	if err := sc.scanExternal(ctx); err != nil {
		return nil, err
	}
	return sc.m, sc.finish(ctx)
}

// finish puts together what the walk has found and reads the contents.
func (sc *scanner) finish(ctx context.Context) error {
	sort.Strings(sc.m.Ignored)
	sc.m.Ignored = slices.Compact(sc.m.Ignored) // an unchanged folder brings its own along
	sort.Strings(sc.m.ObjectDirs)
	for i, p := range sc.parts {
		dirty := folders{}
		list, todo := p.merge(dirty)
		switch manifest.Part(i) {
		case manifest.PartWork:
			list, todo = sc.limitTotal(list, todo, dirty, limit{sc.MaxTotal, manifest.OverTotal})
		case manifest.PartKept:
			list, todo = sc.limitTotal(list, todo, dirty, limit{sc.MaxIgnored, manifest.OverKept})
		default:
		}
		dirty.forget(list)
		if err := sc.read(ctx, manifest.Part(i), list, todo); err != nil {
			return err
		}
		if len(todo) > 0 {
			list = dropUnread(list)
		}
		*sc.m.List(manifest.Part(i)) = list
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
		doubtful[p], doubtful[manifest.Dir(p)] = true, true
	}
	for _, p := range sc.m.Ignored {
		if !strings.HasSuffix(p, "/") && sc.Rules.IsPrecious(p, path.Base(p)) {
			doubtful[manifest.Dir(p)] = true // it is captured when it becomes small enough
		}
	}
	for _, t := range sc.m.Temps {
		doubtful[manifest.Dir(strings.TrimPrefix(t, gitdir.InExternal))] = true
	}
	for p := range doubtful {
		for i := range sc.parts {
			list := sc.m.List(manifest.Part(i))
			k := manifest.Lookup(*list, p)
			if k < 0 || (*list)[k].Kind != disk.KindDir || (*list)[k].Stat.Ctime == 0 {
				continue
			}
			if manifest.Same(*list, sc.parts[i].base) {
				*list = slices.Clone(*list)
			}
			(*list)[k].Stat.Mtime, (*list)[k].Stat.Ctime = 0, 0
		}
	}
}

func (sc *scanner) walker(root manifest.Part) *walk.Walker {
	return &walk.Walker{
		Keep:  func(dir string, z walk.Zone) func(string) bool { return sc.keep(root, dir, z) },
		Known: func(l *walk.Folder) bool { return sc.known(root, l) },
		Visit: func(ctx context.Context, l *walk.Folder) error { return sc.visit(ctx, root, l) },
		Fail: func(p string, r manifest.Reason) {
			if root == manifest.PartWork {
				sc.skip(manifest.Skip{Path: p, Reason: r})
			}
		},
	}
}

func (sc *scanner) skip(s manifest.Skip) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.m.Skipped = append(sc.m.Skipped, s)
}

// keep leaves out what must not even be looked at. A nil function leaves out nothing.
func (sc *scanner) keep(root manifest.Part, dir string, z walk.Zone) func(string) bool {
	rel, key := "", ""
	if z == walk.ZoneGit {
		rel = gitdir.GitRel(dir)
	}
	if root == manifest.PartExt {
		rel, key = dir, gitdir.InExternal
	}
	if z != walk.ZoneGit && sc.Token == "" && sc.Inside == "" && len(sc.Excludes) == 0 {
		return nil
	}
	return func(name string) bool {
		switch {
		case sc.isTemp(name):
			sc.mu.Lock()
			defer sc.mu.Unlock()
			sc.m.Temps = append(sc.m.Temps, key+manifest.Join(dir, name))
			return false
		case z == walk.ZoneGit:
			return gitdir.KeepGit(rel, name)
		}
		p := manifest.Join(dir, name)
		return p != sc.Inside && !sc.Excludes.Has(p)
	}
}

func (sc *scanner) isTemp(name string) bool {
	return sc.Token != "" && strings.HasPrefix(name, disk.TempPrefix+sc.Token)
}

// partOf is the part to which the entries of a folder belong.
func partOf(root manifest.Part, l *walk.Folder) manifest.Part {
	switch {
	case root == manifest.PartWork && l.Zone == walk.ZoneGit:
		return manifest.PartGit
	case l.Zone == walk.ZoneKept:
		return manifest.PartKept
	}
	return root
}

// known lists a folder by what the base knows of it. A folder changes its times when a name comes or goes.
func (sc *scanner) known(root manifest.Part, l *walk.Folder) bool {
	of := partOf(root, l)
	base := sc.parts[of].base
	if gitdir.IsDotGit(l.Self.Name) || l.Self.At < 0 || !disk.HasInodes {
		return false // the entry of .git says nothing about names that were left out in it
	}
	e := &base[l.Self.At]
	if e.Kind != disk.KindDir || e.Stat != folderStat(l.Self.St) || e.Stat.Ctime == 0 || !sc.settled(e.Stat.Ctime) {
		return false
	}
	if lo, hi := manifest.Below(sc.parts[manifest.PartGit].base, l.Dir); of == manifest.PartWork && lo < hi {
		return false
	}
	l.Nodes = children(base, l.Dir, l.Nodes)
	if of == manifest.PartWork {
		sc.knownKept(l)
	}
	if of == manifest.PartWork || of == manifest.PartKept {
		sc.knownIgnored(l)
	}
	if keep := sc.keep(root, l.Dir, l.Zone); keep != nil {
		l.Nodes = slices.DeleteFunc(l.Nodes, func(n walk.Node) bool { return !keep(n.Name) })
	}
	return true
}

// knownKept adds the kept ignored files that lie directly in a folder of working files.
func (sc *scanner) knownKept(l *walk.Folder) {
	n := len(l.Nodes)
	l.Nodes = children(sc.parts[manifest.PartKept].base, l.Dir, l.Nodes)
	for i := range l.Nodes[n:] {
		l.Nodes[n+i].At = -1 // which is a place among the working files
	}
}

// knownIgnored takes over what is ignored in a folder whose names have not changed.
func (sc *scanner) knownIgnored(l *walk.Folder) {
	prefix, all := l.Dir+"/", sc.Base.Ignored
	for i := sort.SearchStrings(all, prefix); i < len(all) && strings.HasPrefix(all[i], prefix); i++ {
		name := strings.TrimSuffix(all[i][len(prefix):], "/")
		if strings.Contains(name, "/") || sc.Excludes.Has(manifest.Join(l.Dir, name)) {
			continue
		}
		sc.mu.Lock()
		sc.m.Ignored = append(sc.m.Ignored, all[i])
		sc.mu.Unlock()
	}
}

// folderStat is what is recorded of a folder: its size means nothing.
func folderStat(st disk.Stat) disk.Stat {
	st.Size = 0
	return st
}

// visit compares one folder with the base and decides where to go on.
func (sc *scanner) visit(ctx context.Context, root manifest.Part, l *walk.Folder) error {
	rel, key, of := l.Dir, "", partOf(root, l)
	switch of {
	case manifest.PartExt:
		key = gitdir.InExternal
	case manifest.PartGit:
		rel = gitdir.GitRel(l.Dir)
	default:
	}
	if !l.Known {
		sc.parts[of].find(l.Dir, l.Nodes)
	}
	if l.Zone == walk.ZoneGit {
		if gitdir.IsObjectDir(rel) || gitdir.IsLargeFiles(rel) {
			sc.mu.Lock()
			sc.m.ObjectDirs = append(sc.m.ObjectDirs, key+l.Dir)
			sc.mu.Unlock()
		}
		for i := range l.Nodes {
			l.Nodes[i].Next = walk.ZoneGit
			if !gitdir.LeadsToLargeFiles(manifest.Join(rel, l.Nodes[i].Name)) {
				sc.record(of, l, &l.Nodes[i])
			}
		}
		return nil
	}
	ignored, err := sc.j.Ignored(ctx, l)
	if err != nil {
		return err
	}
	for i := range l.Nodes {
		l.Nodes[i].Next = sc.place(l, &l.Nodes[i], ignored != nil && ignored[i])
	}
	return nil
}

// place records one node outside of .git and returns by which rules to go on below it.
func (sc *scanner) place(l *walk.Folder, n *walk.Node, ignored bool) walk.Zone {
	if gitdir.IsDotGit(n.Name) {
		return sc.dotGit(l, n)
	}
	if l.Zone == walk.ZoneWork && !ignored {
		sc.record(manifest.PartWork, l, n)
		return walk.ZoneWork
	}
	p, rules := l.Join(n.Name), sc.Rules
	if l.Zone == walk.ZoneKept {
		return sc.placeIgnored(l, n, p)
	}
	if n.Kind == disk.KindDir && rules.ForcedDirs[p] {
		sc.record(manifest.PartWork, l, n)
		return walk.ZoneIgnored
	}
	if rules.Forced[p] && n.Kind != disk.KindDir || l.Zone == walk.ZoneWork && n.Kind == disk.KindFile && n.St.Size <= ignore.MaxPrecious && rules.IsPrecious(p, n.Name) {
		sc.record(manifest.PartWork, l, n)
		return walk.ZoneNone
	}
	return sc.placeIgnored(l, n, p)
}

// placeIgnored records an ignored node: what is kept in a part of its own.
func (sc *scanner) placeIgnored(l *walk.Folder, n *walk.Node, p string) walk.Zone {
	keeps := sc.Rules.KeepsBelow
	if l.Zone == walk.ZoneWork {
		keeps = sc.Rules.Keeps
	}
	base := sc.parts[manifest.PartKept].base
	n.At = manifest.Lookup(base, p)
	keep := sc.MaxIgnored > 0 && (n.At >= 0 && base[n.At].Kind == n.Kind || keeps(p, n))
	if !keep || l.Zone != walk.ZoneKept {
		sc.mu.Lock()
		sc.m.Ignored = append(sc.m.Ignored, walk.NodeKey(l.Dir, n))
		sc.mu.Unlock()
	}
	if !keep {
		return walk.ZoneNone
	}
	sc.record(manifest.PartKept, l, n)
	return walk.ZoneKept
}

func (sc *scanner) dotGit(l *walk.Folder, n *walk.Node) walk.Zone {
	if l.Zone == walk.ZoneIgnored || l.Zone == walk.ZoneKept {
		return walk.ZoneNone
	}
	n.At = manifest.Lookup(sc.parts[manifest.PartGit].base, l.Join(n.Name))
	sc.record(manifest.PartGit, l, n)
	if n.Kind == disk.KindFile && l.Dir != "" && leadsOut(l, n.Name) {
		sc.skip(manifest.Skip{Path: l.Join(n.Name) + "/", Reason: manifest.External})
	}
	return walk.ZoneGit
}

// leadsOut reports whether a .git file names a folder outside the tree.
func leadsOut(l *walk.Folder, name string) bool {
	data, err := l.Read(name)
	to, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !found {
		return false
	}
	to = filepath.ToSlash(strings.TrimSpace(to))
	return path.IsAbs(to) || strings.HasPrefix(path.Clean(manifest.Join(l.Dir, to)), "..")
}

// record notes a node in a part, or among the skipped ones.
func (sc *scanner) record(of manifest.Part, l *walk.Folder, n *walk.Node) {
	p := sc.parts[of]
	st := n.St
	if n.Kind == disk.KindDir {
		st = folderStat(st)
	}
	if n.At >= 0 && sc.unchanged(&p.base[n.At], n.Kind, st) {
		p.seen[n.At] = true
		return
	}
	f := found{Entry: manifest.Entry{Path: l.Join(n.Name), Kind: n.Kind, Stat: st}, at: n.At, todo: true}
	switch n.Kind {
	case disk.KindDir:
		f.todo = false
		if n.At >= 0 && p.base[n.At].Kind == disk.KindDir {
			f.OID = p.base[n.At].OID
		}
	case disk.KindLink:
		target, err := l.Open.Readlink(n.Name)
		if err != nil {
			sc.skip(manifest.Skip{Path: f.Path, Reason: manifest.Unreadable})
			return
		}
		sc.mu.Lock()
		sc.links[linkKey(of, f.Path)] = target
		sc.mu.Unlock()
	case disk.KindFile:
		if st.Size > sc.maxSize(of) {
			reason := manifest.TooBig
			if of == manifest.PartKept {
				reason = manifest.OverKept
			}
			sc.skip(manifest.Skip{Path: f.Path, Reason: reason, Size: st.Size, Mtime: st.Mtime})
			return
		}
	default:
		sc.skip(manifest.Skip{Path: f.Path, Reason: manifest.Special})
		return
	}
	if n.At >= 0 {
		p.seen[n.At] = true
	}
	p.add(f)
}

func linkKey(of manifest.Part, path string) string { return string(rune('0'+of)) + path }

// unchanged reports whether the content of an entry need not be looked at again.
func (sc *scanner) unchanged(e *manifest.Entry, k disk.Kind, st disk.Stat) bool {
	if k == disk.KindDir && e.Kind == k && e.Stat.Ctime == 0 && sc.Base.WorkTree != "" {
		st.Mtime, st.Ctime = 0, 0 // see forgetTimes
	}
	if e.Kind != k || e.Stat != st {
		return false
	}
	changed := st.Ctime
	if !disk.HasInodes {
		changed = max(st.Ctime, st.Mtime)
	}
	switch {
	case k == disk.KindDir:
		return true
	case k == disk.KindLink && !disk.HasInodes, !sc.settled(changed):
		return false
	}
	return sc.complete || sc.Pack.Has(e.OID)
}

// settled reports whether what was last changed then could not have changed again, unnoticed, after the base was made. Where
// times are whole seconds the file system is taken for one that counts in steps of two.
func (sc *scanner) settled(changed int64) bool {
	if changed%int64(time.Second) == 0 {
		changed += int64(2 * time.Second)
	}
	return changed < sc.stable
}

// maxGitFile is the size limit for the files of git's own state, of which the index can be large.
const maxGitFile = 1 << 30

func (sc *scanner) maxSize(of manifest.Part) int64 {
	switch of {
	case manifest.PartWork:
		return sc.MaxFile
	case manifest.PartKept:
		return sc.MaxIgnored
	default:
	}
	return max(sc.MaxFile, maxGitFile)
}

// limit is how many bytes may be captured, and why the others are not.
type limit struct {
	bytes  int64
	reason manifest.Reason
}

// limitTotal skips the largest files until the rest fits.
func (sc *scanner) limitTotal(list []manifest.Entry, todo []int, dirty folders, most limit) ([]manifest.Entry, []int) {
	var total int64
	for i := range list {
		total += list[i].Stat.Size // that of folders is 0
	}
	if total <= most.bytes {
		return list, todo
	}
	list = slices.Clone(list) // it may be that of the base
	var bySize []int
	for i := range list {
		if list[i].Kind == disk.KindFile {
			bySize = append(bySize, i)
		}
	}
	sort.SliceStable(bySize, func(a, b int) bool { return list[bySize[a]].Stat.Size > list[bySize[b]].Stat.Size })
	for _, i := range bySize {
		if total <= most.bytes {
			break
		}
		e := &list[i]
		total -= e.Stat.Size
		sc.m.Skipped = append(sc.m.Skipped, manifest.Skip{Path: e.Path, Reason: most.reason, Size: e.Stat.Size, Mtime: e.Stat.Mtime})
		dirty.above(e.Path)
		e.Kind = 0
	}
	unread := map[string]bool{}
	for _, i := range todo {
		unread[list[i].Path] = true
	}
	list, todo = dropUnread(list), nil
	for i := range list {
		if unread[list[i].Path] {
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
	m.KeepNames(sc.Base)
	if b := sc.Base; b.Tree != "" && manifest.Same(m.Work, b.Work) {
		m.Tree, m.Files, m.Bytes, m.WorkTree = b.Tree, b.Files, b.Bytes, b.WorkTree
	} else {
		m.Total()
	}
	if b := sc.Base; manifest.Same(m.Git, b.Git) && manifest.Same(m.Ext, b.Ext) && manifest.Same(m.Kept, b.Kept) && m.Shared == b.Shared {
		m.StateTree = b.StateTree
	}
}

// scanExternal looks at the git folder outside of the tree.
func (sc *scanner) scanExternal(ctx context.Context) error {
	ext := sc.External
	if ext.GitDir == "" {
		return nil
	}
	if ext.Linked() {
		if err := sc.scanShared(); err != nil {
			return err
		}
		sc.m.ObjectDirs = append(sc.m.ObjectDirs, gitdir.InExternal+"objects")
		for _, rel := range gitdir.LargeFiles() {
			if fi, err := os.Stat(filepath.Join(ext.Common, filepath.FromSlash(rel))); err == nil && fi.IsDir() {
				sc.m.ObjectDirs = append(sc.m.ObjectDirs, gitdir.InExternal+rel)
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
	if err := sc.walker(manifest.PartExt).Walk(ctx, root, walk.ZoneGit); err != nil {
		return err
	}
	if ext.Linked() {
		sc.m.Branch = gitstate.CurrentBranch(ctx, ext.GitDir)
	}
	return nil
}

// scanShared captures what this worktree shares with others.
func (sc *scanner) scanShared() (err error) {
	if sc.m.SharedList, err = gitstate.Shared(sc.External, sc.Pack, sc.Base.SharedList, sc.stable); err != nil {
		return fmt.Errorf("look at the shared git folder: %w", err)
	}
	list := manifest.AppendEntries(nil, sc.m.SharedList)
	id := pack.Hash(pack.Blob, list)
	if sc.Pack != nil {
		if id, err = sc.Pack.Add(pack.Blob, list); err != nil {
			return err
		}
	}
	sc.m.Shared = id.String()
	return nil
}
