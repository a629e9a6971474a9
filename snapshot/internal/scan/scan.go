package scan

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/gitdir"
	"supervise/snapshot/internal/ignore"
	"supervise/snapshot/internal/manifest"
	"supervise/snapshot/internal/pack"
	"supervise/snapshot/internal/walk"
)

// Options are the parameters of a scan.
type Options struct {
	*gitdir.Tree
	Inside            string // path of the store relative to the tree, "" if it is outside
	MaxFile, MaxTotal int64  // limits of a working file and of all of them, in bytes
	MaxIgnored        int64  // limit of all captured ignored files, in bytes; below 1 none are captured
	Rules             *ignore.Rules
	Epoch             *pack.Epoch        // current epoch of the store
	Base              *manifest.Manifest // the tree at the last scan; nil if unknown
	Pack              *pack.Writer       // nil: contents are hashed and not stored
	// Token is the mark in the names of the temporary files of the current restore, which are
	// not captured; "" for none.
	Token string
}

// scanner makes the manifest of the current tree.
type scanner struct {
	Options
	judgement *ignore.Judgement

	parts [manifest.Parts]*partScan
	// stable is a time in nanoseconds since 1970. Files of the base that were last changed
	// before it need not be read again.
	stable          int64
	hasBaseContents bool // the store holds all contents of the base

	mu       sync.Mutex
	manifest *manifest.Manifest
	links    map[string]string // linkKey → target of new symbolic links
}

// Run scans the tree, reads the files that may have changed since the base, and returns the
// manifest.
func Run(ctx context.Context, o Options) (*manifest.Manifest, error) {
	sc := &scanner{Options: o, manifest: &manifest.Manifest{}, links: map[string]string{}}
	if sc.Base == nil {
		sc.Base = &manifest.Manifest{}
	}

	sc.judgement = sc.Rules.NewJudgement(sc.Base)
	defer sc.judgement.Close()
	sc.stable = sc.Base.Started.Add(-disk.RacyWindow).UnixNano()
	sc.hasBaseContents = sc.Pack == nil || sc.Base.Stored == sc.Epoch

	for i := range sc.parts {
		sc.parts[i] = newPartScan(*sc.Base.List(manifest.Part(i)))
	}

	sc.manifest.Started = time.Now()
	if fi, err := sc.Root.Stat("."); err == nil {
		rights := disk.RightsOf(fi)
		sc.manifest.Root = &rights
	}

	if err := sc.newWalker(manifest.PartWork).Walk(ctx, sc.Root, walk.ZoneWork); err != nil {
		return nil, err
	}
	if err := sc.scanExternal(ctx); err != nil {
		return nil, err
	}
	return sc.manifest, sc.assemble(ctx)
}

// assemble builds the manifest from the results of the walk, and reads the contents.
func (sc *scanner) assemble(ctx context.Context) error {
	sort.Strings(sc.manifest.Ignored)
	sc.manifest.Ignored = slices.Compact(sc.manifest.Ignored) // unchanged folders add their paths again
	sort.Strings(sc.manifest.ObjectDirs)
	for i, p := range sc.parts {
		dirty := folderSet{}
		list := p.merge(dirty)
		switch manifest.Part(i) {
		case manifest.PartWork:
			list = sc.skipLargest(list, dirty, sc.MaxTotal, manifest.OverTotal)
		case manifest.PartKept:
			list = sc.skipLargest(list, dirty, sc.MaxIgnored, manifest.OverKept)
		default:
		}
		dirty.clearTreeIDs(list)
		todo := findUnread(list)
		if err := sc.readContents(ctx, manifest.Part(i), list, todo); err != nil {
			return err
		}
		if len(todo) > 0 {
			list = removeCleared(list)
		}
		*sc.manifest.List(manifest.Part(i)) = list
	}
	sc.clearFolderTimes()
	sc.summarize()
	return nil
}

// clearFolderTimes clears the times of folders with files that are not in the manifest, so that the next scan lists them.
func (sc *scanner) clearFolderTimes() {
	doubtful := map[string]bool{}
	for _, s := range sc.manifest.Skipped {
		p := strings.TrimSuffix(s.Path, "/")
		doubtful[p], doubtful[manifest.Dir(p)] = true, true
	}
	for _, p := range sc.manifest.Ignored {
		if !strings.HasSuffix(p, "/") && sc.Rules.IsPrecious(p, path.Base(p)) {
			doubtful[manifest.Dir(p)] = true // captured as soon as it is small enough
		}
	}
	for _, t := range sc.manifest.Temps {
		doubtful[manifest.Dir(strings.TrimPrefix(t, gitdir.InExternal))] = true
	}
	for p := range doubtful {
		for i := range sc.parts {
			list := sc.manifest.List(manifest.Part(i))
			k := manifest.Lookup(*list, p)
			if k < 0 || (*list)[k].Kind != disk.KindDir || (*list)[k].Stat.Ctime == 0 {
				continue
			}
			if manifest.IsSameList(*list, sc.parts[i].base) {
				*list = slices.Clone(*list)
			}
			(*list)[k].Stat.Mtime, (*list)[k].Stat.Ctime = 0, 0
		}
	}
}

// newWalker returns the walker for a root: the tree, or the git folder outside the tree.
func (sc *scanner) newWalker(root manifest.Part) *walk.Walker {
	return &walk.Walker{
		Keep:         func(dir string, z walk.Zone) func(string) bool { return sc.keepFilter(root, dir, z) },
		ListFromBase: func(l *walk.Folder) bool { return sc.listFromBase(root, l) },
		Visit:        func(ctx context.Context, l *walk.Folder) error { return sc.visitFolder(ctx, root, l) },
		Fail: func(p string, r manifest.Reason) {
			if root == manifest.PartWork {
				sc.addSkip(manifest.Skip{Path: p, Reason: r})
			}
		},
	}
}

// addSkip records a path that cannot be captured.
func (sc *scanner) addSkip(s manifest.Skip) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.manifest.Skipped = append(sc.manifest.Skipped, s)
}

// keepFilter returns a function that reports which names in a folder to scan; nil means all.
func (sc *scanner) keepFilter(root manifest.Part, dir string, z walk.Zone) func(string) bool {
	rel, key := "", ""
	if z == walk.ZoneGit {
		rel = gitdir.PathInGit(dir)
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
			sc.manifest.Temps = append(sc.manifest.Temps, key+manifest.Join(dir, name))
			return false
		case z == walk.ZoneGit:
			return gitdir.IsCapturedInGit(rel, name)
		}
		p := manifest.Join(dir, name)
		return p != sc.Inside && !sc.Excludes.Has(p)
	}
}

// isTemp reports whether a name is that of a temporary file of the current restore.
func (sc *scanner) isTemp(name string) bool {
	return sc.Token != "" && strings.HasPrefix(name, disk.TempPrefix+sc.Token)
}

// partOf returns the part that the entries of a folder belong to.
func partOf(root manifest.Part, folder *walk.Folder) manifest.Part {
	switch {
	case root == manifest.PartWork && folder.Zone == walk.ZoneGit:
		return manifest.PartGit
	case folder.Zone == walk.ZoneKept:
		return manifest.PartKept
	}
	return root
}

// listFromBase lists an unchanged folder from the base, and returns false if the folder may
// have changed. It compares the times of the folder, which change when a name is added or
// removed.
func (sc *scanner) listFromBase(root manifest.Part, folder *walk.Folder) bool {
	part := partOf(root, folder)
	base := sc.parts[part].base
	if gitdir.IsDotGit(folder.Self.Name) || folder.Self.BaseIndex < 0 || !disk.HasInodes {
		return false // .git contains names that are not captured
	}

	e := &base[folder.Self.BaseIndex]
	if e.Kind != disk.KindDir || e.Stat != statWithoutSize(folder.Self.Stat) || e.Stat.Ctime == 0 || !sc.isSettled(e.Stat.Ctime) {
		return false
	}

	if lo, hi := manifest.Below(sc.parts[manifest.PartGit].base, folder.Dir); part == manifest.PartWork && lo < hi {
		return false
	}

	folder.Nodes = childNodes(base, folder.Dir, folder.Nodes)
	if part == manifest.PartWork {
		sc.addKeptNodes(folder)
	}
	if part == manifest.PartWork || part == manifest.PartKept {
		sc.addIgnoredFromBase(folder)
	}

	if keep := sc.keepFilter(root, folder.Dir, folder.Zone); keep != nil {
		folder.Nodes = slices.DeleteFunc(folder.Nodes, func(n walk.Node) bool { return !keep(n.Name) })
	}
	return true
}

// addKeptNodes adds the captured ignored files directly in a folder of working files.
func (sc *scanner) addKeptNodes(folder *walk.Folder) {
	n := len(folder.Nodes)
	folder.Nodes = childNodes(sc.parts[manifest.PartKept].base, folder.Dir, folder.Nodes)
	for i := range folder.Nodes[n:] {
		folder.Nodes[n+i].BaseIndex = -1 // the index refers to working files
	}
}

// addIgnoredFromBase adds the ignored paths in an unchanged folder.
func (sc *scanner) addIgnoredFromBase(folder *walk.Folder) {
	prefix, ignored := folder.Dir+"/", sc.Base.Ignored
	for i := sort.SearchStrings(ignored, prefix); i < len(ignored) && strings.HasPrefix(ignored[i], prefix); i++ {
		name := strings.TrimSuffix(ignored[i][len(prefix):], "/")
		if strings.Contains(name, "/") || sc.Excludes.Has(manifest.Join(folder.Dir, name)) {
			continue
		}
		sc.mu.Lock()
		sc.manifest.Ignored = append(sc.manifest.Ignored, ignored[i])
		sc.mu.Unlock()
	}
}

// statWithoutSize returns the Stat to record for a folder, whose size is meaningless.
func statWithoutSize(st disk.Stat) disk.Stat {
	st.Size = 0
	return st
}

// visitFolder compares one folder with the base and decides which subfolders to scan.
func (sc *scanner) visitFolder(ctx context.Context, root manifest.Part, folder *walk.Folder) error {
	rel, key, part := folder.Dir, "", partOf(root, folder)
	switch part {
	case manifest.PartExt:
		key = gitdir.InExternal
	case manifest.PartGit:
		rel = gitdir.PathInGit(folder.Dir)
	default:
	}

	if !folder.FromBase {
		sc.parts[part].locate(folder.Dir, folder.Nodes)
	}

	if folder.Zone == walk.ZoneGit {
		if gitdir.IsObjectDir(rel) || gitdir.IsLargeFileDir(rel) {
			sc.mu.Lock()
			sc.manifest.ObjectDirs = append(sc.manifest.ObjectDirs, key+folder.Dir)
			sc.mu.Unlock()
		}
		for i := range folder.Nodes {
			folder.Nodes[i].Next = walk.ZoneGit
			if !gitdir.IsLargeFileParent(manifest.Join(rel, folder.Nodes[i].Name)) {
				sc.record(part, folder, &folder.Nodes[i])
			}
		}
		return nil
	}

	ignored, err := sc.judgement.FindIgnored(ctx, folder)
	if err != nil {
		return err
	}
	for i := range folder.Nodes {
		folder.Nodes[i].Next = sc.recordNode(folder, &folder.Nodes[i], ignored != nil && ignored[i])
	}
	return nil
}

// recordNode records a node outside .git and returns the zone for its content.
func (sc *scanner) recordNode(folder *walk.Folder, n *walk.Node, ignored bool) walk.Zone {
	if gitdir.IsDotGit(n.Name) {
		return sc.recordDotGit(folder, n)
	}
	if folder.Zone == walk.ZoneWork && !ignored {
		sc.record(manifest.PartWork, folder, n)
		return walk.ZoneWork
	}
	p, rules := folder.Join(n.Name), sc.Rules
	if folder.Zone == walk.ZoneKept {
		return sc.recordIgnored(folder, n, p)
	}
	if n.Kind == disk.KindDir && rules.ForcedDirs[p] {
		sc.record(manifest.PartWork, folder, n)
		return walk.ZoneIgnored
	}
	isTracked := rules.Forced[p] && n.Kind != disk.KindDir
	isSmallFile := n.Kind == disk.KindFile && n.Stat.Size <= ignore.MaxPrecious
	if isTracked || folder.Zone == walk.ZoneWork && isSmallFile && rules.IsPrecious(p, n.Name) {
		sc.record(manifest.PartWork, folder, n)
		return walk.ZoneNone
	}
	return sc.recordIgnored(folder, n, p)
}

// recordIgnored records an ignored node and returns the zone for its content. A node that is
// kept goes to the part of captured ignored files.
func (sc *scanner) recordIgnored(folder *walk.Folder, n *walk.Node, p string) walk.Zone {
	isKept := sc.Rules.IsKeptBelow
	if folder.Zone == walk.ZoneWork {
		isKept = sc.Rules.IsKept
	}
	base := sc.parts[manifest.PartKept].base
	n.BaseIndex = manifest.Lookup(base, p)
	keep := sc.MaxIgnored > 0 && (n.BaseIndex >= 0 && base[n.BaseIndex].Kind == n.Kind || isKept(p, n))
	if !keep || folder.Zone != walk.ZoneKept {
		sc.mu.Lock()
		sc.manifest.Ignored = append(sc.manifest.Ignored, walk.NodeKey(folder.Dir, n))
		sc.mu.Unlock()
	}
	if !keep {
		return walk.ZoneNone
	}
	sc.record(manifest.PartKept, folder, n)
	return walk.ZoneKept
}

// recordDotGit records a .git folder or file, unless it is in an ignored folder. It returns
// the zone for its content.
func (sc *scanner) recordDotGit(folder *walk.Folder, n *walk.Node) walk.Zone {
	if folder.Zone == walk.ZoneIgnored || folder.Zone == walk.ZoneKept {
		return walk.ZoneNone
	}
	n.BaseIndex = manifest.Lookup(sc.parts[manifest.PartGit].base, folder.Join(n.Name))
	sc.record(manifest.PartGit, folder, n)
	if n.Kind == disk.KindFile && folder.Dir != "" && leadsOutOfTree(folder, n.Name) {
		sc.addSkip(manifest.Skip{Path: folder.Join(n.Name) + "/", Reason: manifest.External})
	}
	return walk.ZoneGit
}

// leadsOutOfTree reports whether a .git file points to a folder outside the tree.
func leadsOutOfTree(folder *walk.Folder, name string) bool {
	data, err := folder.Read(name)
	target, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !found {
		return false
	}
	target = filepath.ToSlash(strings.TrimSpace(target))
	return path.IsAbs(target) || strings.HasPrefix(path.Clean(manifest.Join(folder.Dir, target)), "..")
}

// record compares a node with the base, and records the difference in a part. A node that
// cannot be captured is recorded as skipped.
func (sc *scanner) record(part manifest.Part, folder *walk.Folder, n *walk.Node) {
	p := sc.parts[part]
	st := n.Stat
	if n.Kind == disk.KindDir {
		st = statWithoutSize(st)
	}
	if n.BaseIndex >= 0 && sc.isUnchanged(&p.base[n.BaseIndex], n.Kind, st) {
		p.seen[n.BaseIndex] = true
		return
	}

	entry := change{Entry: manifest.Entry{Path: folder.Join(n.Name), Kind: n.Kind, Stat: st}, baseIndex: n.BaseIndex}

	switch n.Kind {
	case disk.KindDir:
		if n.BaseIndex >= 0 && p.base[n.BaseIndex].Kind == disk.KindDir {
			entry.OID = p.base[n.BaseIndex].OID
		}
	case disk.KindLink:
		target, err := folder.Open.Readlink(n.Name)
		if err != nil {
			sc.addSkip(manifest.Skip{Path: entry.Path, Reason: manifest.Unreadable})
			return
		}
		sc.mu.Lock()
		sc.links[linkKey(part, entry.Path)] = target
		sc.mu.Unlock()
	case disk.KindFile:
		if st.Size > sc.sizeLimit(part) {
			reason := manifest.TooBig
			if part == manifest.PartKept {
				reason = manifest.OverKept
			}
			sc.addSkip(manifest.Skip{Path: entry.Path, Reason: reason, Size: st.Size, Mtime: st.Mtime})
			return
		}
	default:
		sc.addSkip(manifest.Skip{Path: entry.Path, Reason: manifest.Special})
		return
	}

	if n.BaseIndex >= 0 {
		p.seen[n.BaseIndex] = true
	}
	p.add(entry)
}

// linkKey returns the key of a path in scanner.links. The same path may be in several parts.
func linkKey(part manifest.Part, path string) string { return string(rune('0'+part)) + path }

// isUnchanged reports whether an entry of the base can be reused without reading it.
func (sc *scanner) isUnchanged(e *manifest.Entry, k disk.Kind, st disk.Stat) bool {
	if k == disk.KindDir && e.Kind == k && e.Stat.Ctime == 0 && sc.Base.WorkTree != "" {
		st.Mtime, st.Ctime = 0, 0 // see clearFolderTimes
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
	case k == disk.KindLink && !disk.HasInodes, !sc.isSettled(changed):
		return false
	}
	return sc.hasBaseContents || sc.Pack.Has(e.OID)
}

// isSettled reports whether a file with this change time cannot have changed again, unnoticed, after the base was made. If
// the time is a multiple of a second, the file system may have a resolution of two seconds.
func (sc *scanner) isSettled(changed int64) bool {
	if changed%int64(time.Second) == 0 {
		changed += int64(2 * time.Second)
	}
	return changed < sc.stable
}

// maxGitFile is the size limit of git files in bytes, because the index can be large.
const maxGitFile = 1 << 30

// sizeLimit returns the size limit of a file in a part, in bytes.
func (sc *scanner) sizeLimit(part manifest.Part) int64 {
	switch part {
	case manifest.PartWork:
		return sc.MaxFile
	case manifest.PartKept:
		return sc.MaxIgnored
	default:
	}
	return max(sc.MaxFile, maxGitFile)
}

// skipLargest skips the largest files of a list, for the given reason, until the rest is within
// the limit in bytes. It returns the remaining entries.
func (sc *scanner) skipLargest(list []manifest.Entry, dirty folderSet, limit int64, why manifest.Reason) []manifest.Entry {
	var total int64
	for i := range list {
		total += list[i].Stat.Size // folders have size 0
	}
	if total <= limit {
		return list
	}

	list = slices.Clone(list) // may be the list of the base

	var bySize []int
	for i := range list {
		if list[i].Kind == disk.KindFile {
			bySize = append(bySize, i)
		}
	}
	sort.SliceStable(bySize, func(a, b int) bool { return list[bySize[a]].Stat.Size > list[bySize[b]].Stat.Size })

	for _, i := range bySize {
		if total <= limit {
			break
		}
		e := &list[i]
		total -= e.Stat.Size
		sc.manifest.Skipped = append(sc.manifest.Skipped, manifest.Skip{Path: e.Path, Reason: why, Size: e.Stat.Size, Mtime: e.Stat.Mtime})
		dirty.addParents(e.Path)
		e.Kind = 0
	}

	return removeCleared(list)
}

// summarize computes the totals of the manifest. It reuses those of the base if the files are unchanged.
func (sc *scanner) summarize() {
	m := sc.manifest
	sort.Slice(m.Skipped, func(i, j int) bool { return m.Skipped[i].Path < m.Skipped[j].Path })
	m.TakenAt = m.Started
	m.ReuseNames(sc.Base)
	if b := sc.Base; b.Tree != "" && manifest.IsSameList(m.Work, b.Work) {
		m.Tree, m.Files, m.Bytes, m.WorkTree = b.Tree, b.Files, b.Bytes, b.WorkTree
	} else {
		m.SumUp()
	}
	if b := sc.Base; manifest.IsSameList(m.Git, b.Git) && manifest.IsSameList(m.Ext, b.Ext) && manifest.IsSameList(m.Kept, b.Kept) && m.Shared == b.Shared {
		m.StateTree = b.StateTree
	}
}
