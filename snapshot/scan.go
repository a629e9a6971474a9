package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// racyWindow is how much older than the start of a snapshot a file's change time must be before the file is taken for
// unchanged without reading it: clocks of file systems tick every few milliseconds.
const (
	racyWindow   = 20 * time.Millisecond
	readAttempts = 3
	streamFrom   = 4 << 20 // larger files are hashed and stored without being held in memory
)

// scanner makes a manifest of the tree as it is now.
type scanner struct {
	s     *Store
	pack  *packWriter // nil: contents are hashed and not stored
	j     *judgement
	token string // of a restore that is under way; its temporary files are not captured

	mu    sync.Mutex
	m     *manifest
	links map[string]string // targets of symbolic links, by part and path
}

// scan looks at everything and reads what may have changed since s.base.
func (s *Store) scan(ctx context.Context, pack *packWriter, token string) (*manifest, error) {
	sc := &scanner{s: s, pack: pack, token: token, j: s.rules.judge(), m: &manifest{}, links: map[string]string{}}
	defer sc.j.close()
	sc.m.Started = time.Now()
	if err := sc.walker().walk(ctx, s.root, zoneWork); err != nil {
		return nil, err
	}
	if err := sc.external(ctx); err != nil {
		return nil, err
	}
	sc.sort()
	sc.limitTotal()
	base := s.base
	if base == nil {
		base = &manifest{}
	}
	for _, p := range []struct {
		entries *[]entry
		base    []entry
		root    string
		part    string
	}{{&sc.m.work, base.work, s.work, partWork}, {&sc.m.git, base.git, s.work, partGit}, {&sc.m.ext, base.ext, s.config.External.GitDir, partExt}} {
		todo := sc.reuse(*p.entries, p.base, base.Started)
		if err := sc.read(ctx, p.root, p.part, *p.entries, todo); err != nil {
			return nil, err
		}
		*p.entries = dropUnread(*p.entries)
	}
	sc.count()
	return sc.m, nil
}

func (sc *scanner) walker() *walker {
	return &walker{keep: sc.keep, visit: sc.visit, fail: func(p string, r Reason) { sc.skip(Skip{Path: p, Reason: r}) }}
}

func (sc *scanner) skip(s Skip) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.m.Skipped = append(sc.m.Skipped, s)
}

// keep leaves out what must not even be looked at.
func (sc *scanner) keep(dir, name string, z zone) bool {
	p := joinPath(dir, name)
	if sc.isTemp(name) {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		sc.m.temps = append(sc.m.temps, p)
		return false
	}
	if z == zoneGit {
		return keepGit(gitRel(dir), name)
	}
	return p != sc.s.inside && !sc.s.excluded(p)
}

func (sc *scanner) isTemp(name string) bool {
	return sc.token != "" && strings.HasPrefix(name, tempPrefix+sc.token)
}

func (sc *scanner) visit(ctx context.Context, at listing) ([]zone, error) {
	next := make([]zone, len(at.nodes))
	ignored := make([]bool, len(at.nodes))
	if at.zone == zoneWork {
		var err error
		if ignored, err = sc.j.ignored(ctx, at.dir, at.nodes); err != nil {
			return nil, err
		}
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if at.zone == zoneGit && isObjectDir(gitRel(at.dir)) {
		sc.m.objectDirs = append(sc.m.objectDirs, at.dir)
	}
	for i, n := range at.nodes {
		next[i] = sc.place(at, n, ignored[i])
	}
	return next, nil
}

// place records one node and tells by which rules to go on below it.
func (sc *scanner) place(at listing, n node, ignored bool) zone {
	p := at.join(n.name)
	rules := sc.s.rules
	switch {
	case at.zone == zoneGit:
		sc.m.git = sc.record(sc.m.git, partGit, at, n)
		return zoneGit
	case isDotGit(n.name):
		return sc.dotGit(at, n)
	case at.zone == zoneIgnored || ignored:
		if n.kind == kindDir && rules.forcedDirs[p] {
			sc.m.work = sc.record(sc.m.work, partWork, at, n)
			return zoneIgnored
		}
		if rules.forced[p] && n.kind != kindDir || at.zone == zoneWork && rules.isPrecious(p, n) {
			sc.m.work = sc.record(sc.m.work, partWork, at, n)
			return zoneNone
		}
		sc.m.ignored = append(sc.m.ignored, nodeKey(at.dir, n))
		return zoneNone
	}
	sc.m.work = sc.record(sc.m.work, partWork, at, n)
	return zoneWork
}

func (sc *scanner) dotGit(at listing, n node) zone {
	if at.zone == zoneIgnored {
		return zoneNone
	}
	sc.m.git = sc.record(sc.m.git, partGit, at, n)
	if n.kind == kindFile && at.dir != "" && leadsOut(at, n.name) {
		sc.m.Skipped = append(sc.m.Skipped, Skip{Path: at.join(n.name) + "/", Reason: External})
	}
	return zoneGit
}

// leadsOut tells whether a .git file names a folder outside the tree.
func leadsOut(at listing, name string) bool {
	data, err := at.root.ReadFile(name)
	to, found := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !found {
		return false
	}
	to = filepath.ToSlash(strings.TrimSpace(to))
	return path.IsAbs(to) || strings.HasPrefix(path.Clean(joinPath(at.dir, to)), "..")
}

// record adds a node to a part, or to the skipped ones.
func (sc *scanner) record(part []entry, name string, at listing, n node) []entry {
	e := entry{path: at.join(n.name), kind: n.kind, st: n.st}
	switch n.kind {
	case kindDir:
		e.st = stat{mode: n.st.mode, ino: n.st.ino, dev: n.st.dev} // times and sizes of folders change with their files
	case kindLink:
		target, err := at.root.Readlink(n.name)
		if err != nil {
			sc.m.Skipped = append(sc.m.Skipped, Skip{Path: e.path, Reason: Unreadable})
			return part
		}
		sc.links[name+e.path] = target
	case kindFile:
		if n.st.size > sc.maxSize(name) {
			sc.m.Skipped = append(sc.m.Skipped, Skip{e.path, TooBig, n.st.size})
			return part
		}
	default:
		sc.m.Skipped = append(sc.m.Skipped, Skip{Path: e.path, Reason: Special})
		return part
	}
	return append(part, e)
}

// maxGitFile is the size limit for the files of git's own state, of which the index can be large.
const maxGitFile = 1 << 30

func (sc *scanner) maxSize(part string) int64 {
	if part == partWork {
		return sc.s.opts.MaxFile
	}
	return max(sc.s.opts.MaxFile, maxGitFile)
}

func (sc *scanner) sort() {
	for _, part := range [][]entry{sc.m.work, sc.m.git, sc.m.ext} {
		sort.Slice(part, func(i, j int) bool { return part[i].path < part[j].path })
	}
	sort.Strings(sc.m.ignored)
	sort.Strings(sc.m.objectDirs)
}

// limitTotal skips the largest working files until the rest fits.
func (sc *scanner) limitTotal() {
	var total int64
	bySize := make([]int, 0, len(sc.m.work))
	for i, e := range sc.m.work {
		if e.kind == kindFile {
			total += e.st.size
			bySize = append(bySize, i)
		}
	}
	if total <= sc.s.opts.MaxTotal {
		return
	}
	sort.SliceStable(bySize, func(a, b int) bool { return sc.m.work[bySize[a]].st.size > sc.m.work[bySize[b]].st.size })
	for _, i := range bySize {
		if total <= sc.s.opts.MaxTotal {
			break
		}
		e := &sc.m.work[i]
		total -= e.st.size
		sc.m.Skipped = append(sc.m.Skipped, Skip{e.path, OverTotal, e.st.size})
		e.kind = 0
	}
	sc.m.work = dropUnread(sc.m.work)
}

// reuse takes over the content ids of files that have not changed since the base was made and returns the others. Both
// lists are sorted.
func (sc *scanner) reuse(now, base []entry, started time.Time) []int {
	var todo []int
	limit := started.Add(-racyWindow).UnixNano()
	b := 0
	for i := range now {
		e := &now[i]
		for b < len(base) && base[b].path < e.path {
			b++
		}
		if e.kind == kindDir {
			continue
		}
		changed := max(e.st.ctime, e.st.mtime)
		if hasInodes {
			changed = e.st.ctime
		}
		if e.kind == kindFile && b < len(base) && base[b].path == e.path && base[b].kind == e.kind && base[b].st == e.st && changed < limit {
			e.oid = base[b].oid
			if sc.pack == nil || sc.pack.has(e.oid) {
				continue
			}
		}
		todo = append(todo, i)
	}
	return todo
}

// read hashes, and stores, the contents of the entries with the given indexes. What cannot be read becomes kind 0.
func (sc *scanner) read(ctx context.Context, rootPath, part string, entries []entry, todo []int) error {
	if len(todo) == 0 {
		return nil
	}
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return fmt.Errorf("open %s: %w", rootPath, err)
	}
	defer root.Close()
	byDir := map[string][]int{}
	for _, i := range todo {
		dir := path.Dir(entries[i].path)
		byDir[dir] = append(byDir[dir], i)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.NumCPU()))
	for dir, list := range byDir {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return sc.readDir(root, dir, part, entries, list)
		})
	}
	return g.Wait()
}

func (sc *scanner) readDir(root *os.Root, dir, part string, entries []entry, list []int) error {
	sub, err := root.OpenRoot(dir)
	if err != nil {
		for _, i := range list {
			sc.unread(&entries[i], part, Unreadable)
		}
		return nil
	}
	defer sub.Close()
	for _, i := range list {
		e := &entries[i]
		if e.kind == kindLink {
			if e.oid, err = sc.store([]byte(sc.links[part+e.path])); err != nil {
				return err
			}
			continue
		}
		err := sc.readFile(sub, e)
		switch {
		case err == nil:
		case errors.Is(err, errContentChanged):
			sc.unread(e, part, Unstable)
		case errors.Is(err, errStore):
			return err
		case errors.Is(err, fs.ErrNotExist):
			e.kind = 0 // gone since the walk
		default:
			sc.unread(e, part, Unreadable)
		}
	}
	return nil
}

// errStore marks errors of our own store, which are not the file's fault.
var errStore = errors.New("store content")

func (sc *scanner) unread(e *entry, part string, r Reason) {
	if part != partExt {
		sc.skip(Skip{e.path, r, e.st.size})
	}
	e.kind = 0
}

func (sc *scanner) store(data []byte) (oid, error) {
	if sc.pack == nil {
		return hashObject(objBlob, data), nil
	}
	id, err := sc.pack.add(objBlob, data)
	if err != nil {
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

// readFile reads a file that holds still while it is read. The entry's stat becomes that of the content.
func (sc *scanner) readFile(dir *os.Root, e *entry) error {
	err := errContentChanged
	for try := 0; try < readAttempts && errors.Is(err, errContentChanged); try++ {
		err = sc.readOnce(dir, e)
	}
	return err
}

func (sc *scanner) readOnce(dir *os.Root, e *entry) error {
	f, err := dir.OpenFile(path.Base(e.path), openFlags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	st := statOf(before)
	// os.Root follows a link inside the tree even where the flags forbid it.
	named, err := dir.Lstat(path.Base(e.path))
	if err != nil {
		return err
	}
	if !named.Mode().IsRegular() || statOf(named).ino != st.ino || !before.Mode().IsRegular() || st.ino != e.st.ino || st.dev != e.st.dev {
		e.st = st
		return errContentChanged
	}
	id, err := sc.content(f, st.size)
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if statOf(after) != st {
		return errContentChanged
	}
	e.oid, e.st = id, st
	return nil
}

func (sc *scanner) content(f *os.File, size int64) (oid, error) {
	if size < streamFrom {
		data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		n, err := data.ReadFrom(io.LimitReader(f, size+1))
		if err == nil && n != size {
			err = errContentChanged
		}
		if err != nil {
			return oid{}, err
		}
		return sc.store(data.Bytes())
	}
	h := newHash(objBlob, size)
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = errContentChanged
	}
	id := sumOf(h)
	if err != nil || sc.pack == nil {
		return id, err
	}
	if err := sc.pack.stream(io.NewSectionReader(f, 0, size), size, id); err != nil {
		if errors.Is(err, errContentChanged) {
			return id, err
		}
		return id, errors.Join(errStore, err)
	}
	return id, nil
}

// dropUnread removes the entries whose kind was cleared.
func dropUnread(entries []entry) []entry {
	out := entries[:0]
	for _, e := range entries {
		if e.kind != 0 {
			out = append(out, e)
		}
	}
	return out
}

func (sc *scanner) count() {
	m := sc.m
	sort.Slice(m.Skipped, func(i, j int) bool { return m.Skipped[i].Path < m.Skipped[j].Path })
	for _, e := range m.work {
		if e.kind != kindDir {
			m.Files++
			m.Bytes += e.st.size
		}
	}
	m.Tree = treeID(m.work)
	m.TakenAt = m.Started
}
