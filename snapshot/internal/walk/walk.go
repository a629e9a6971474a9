package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"supervise/internal/projectfile"
	"supervise/snapshot/internal/disk"
	"supervise/snapshot/internal/manifest"
)

// Node is an entry of a folder. Its kind is 0 for sockets, pipes and devices.
type Node struct {
	Name      string
	Kind      disk.Kind
	Stat      disk.Stat
	BaseIndex int  // index in the base of a scan, -1 if it is not in the base
	Next      Zone // set by the visitor: the zone for its content
}

// Zone says by which rules a folder is scanned.
type Zone byte

// The zones of a tree.
const (
	ZoneNone    Zone = iota // not at all
	ZoneWork                // working files
	ZoneIgnored             // an ignored folder that holds tracked files
	ZoneGit                 // inside .git
	ZoneKept                // an ignored folder whose files are kept
)

// Folder is a folder of a walk. Its nodes are valid only during the visit.
type Folder struct {
	Open     disk.Dir // the folder itself
	Dir      string   // path relative to the root of the walk
	Zone     Zone
	Self     Node // the node of the folder in its parent; base index -1 for the root
	FromBase bool // the nodes, with their base index, come from the base of a scan
	Nodes    []Node
}

// Join returns the path of an entry of the folder.
func (l *Folder) Join(name string) string { return manifest.Join(l.Dir, name) }

// Read reads a small file of the folder.
func (l *Folder) Read(name string) ([]byte, error) {
	f, err := l.Open.File(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(projectfile.Git)+1))
	if err == nil && len(text) > int(projectfile.Git) {
		return nil, fmt.Errorf("%s is larger than %s", name, projectfile.Git)
	}
	return text, err
}

// Walker walks a tree in parallel. Folders are visited before their content.
type Walker struct {
	// Keep returns a filter of the names in a folder. A nil function or filter keeps all
	// names.
	Keep func(dir string, z Zone) func(name string) bool
	// Visit is called for each folder. It sets Next of the nodes.
	Visit func(context.Context, *Folder) error
	// Fail is called for entries that cannot be read, but never for the root.
	Fail func(path string, reason manifest.Reason)
	// ListFromBase sets the nodes of a folder that has not changed, and reports whether it
	// did. It may be nil.
	ListFromBase func(*Folder) bool

	dev     uint64    // device of the root
	scratch sync.Pool // of *scratch
	queue   queue
}

// scratch is memory that is reused between folders.
type scratch struct {
	list  disk.Lister
	nodes []Node
}

// errReplaced says that a folder is not the one that was listed.
var errReplaced = errors.New("replaced while it was opened")

// Walk walks the tree below root, which belongs to zone z.
func (w *Walker) Walk(ctx context.Context, root *os.Root, z Zone) error {
	open, st, err := disk.OpenDir(root)
	if err != nil {
		return fmt.Errorf("look at %s: %w", root.Name(), err)
	}

	w.dev = st.Dev
	w.queue.wake.L = &w.queue.mu
	w.queue.push(Folder{Open: open, Zone: z, Self: Node{BaseIndex: -1}})

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var g errgroup.Group
	for range max(2, runtime.NumCPU()) {
		g.Go(func() error { return w.walkQueue(ctx, cancel) })
	}
	return g.Wait()
}

// walkQueue walks folders from the queue until it is empty. After an error, the remaining folders are only closed.
func (w *Walker) walkQueue(ctx context.Context, cancel context.CancelCauseFunc) error {
	for {
		l, ok := w.queue.pop()
		if !ok {
			return context.Cause(ctx)
		}
		if err := w.walkFolder(ctx, l); err != nil {
			cancel(err)
		}
		w.queue.done()
	}
}

// queue contains open folders to walk. The last one is taken first, which keeps the queue short.
type queue struct {
	mu      sync.Mutex
	wake    sync.Cond
	list    []Folder // waiting folders
	pending int      // folders in the list, and those being walked
}

// maxQueued limits the number of folders in the queue, which are all open.
const maxQueued = 64

// push adds a folder, and returns false if the queue is full.
func (q *queue) push(l Folder) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) >= maxQueued {
		return false
	}
	q.list = append(q.list, l)
	q.pending++
	q.wake.Signal()
	return true
}

// pop waits for a folder, and returns false when all folders have been walked.
func (q *queue) pop() (Folder, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && q.pending > 0 {
		q.wake.Wait()
	}
	if len(q.list) == 0 {
		return Folder{}, false
	}
	l := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return l, true
}

// done must be called after walking a folder from pop.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pending--; q.pending == 0 {
		q.wake.Broadcast()
	}
}

// walkFolder visits a folder, walks the folders in it, and closes it.
func (w *Walker) walkFolder(ctx context.Context, folder Folder) error {
	defer folder.Open.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	s, ok := w.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	defer w.scratch.Put(s)

	if err := w.listNodes(&folder, s); err != nil {
		if folder.Dir == "" {
			return fmt.Errorf("list the folder: %w", err)
		}
		w.Fail(folder.Dir, manifest.Unreadable)
		return nil
	}

	if err := w.Visit(ctx, &folder); err != nil {
		return err
	}

	for i := range folder.Nodes {
		if n := &folder.Nodes[i]; n.Kind == disk.KindDir && n.Next != ZoneNone {
			if err := w.enter(ctx, &folder, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter opens a folder, while its parent is open, and adds it to the queue, or walks it if the queue is full.
func (w *Walker) enter(ctx context.Context, parent *Folder, n *Node) error {
	path := parent.Join(n.Name)
	if n.Stat.Dev != w.dev {
		w.Fail(path, manifest.MountPoint)
		return nil
	}

	open, st, err := parent.Open.Sub(n.Name)
	if err == nil && (st.Ino != n.Stat.Ino || st.Dev != n.Stat.Dev) {
		open.Close()
		err = errReplaced
	}
	if err != nil {
		w.Fail(path, manifest.Unreadable)
		return nil //nolint:nilerr // recorded, never fatal
	}

	below := Folder{Open: open, Dir: path, Zone: n.Next, Self: *n}
	if w.queue.push(below) {
		return nil
	}
	return w.walkFolder(ctx, below)
}

// listNodes sets the nodes of a folder, with their types and Stat. It lists the names, unless
// ListFromBase knows them, and omits nodes that cannot be read.
func (w *Walker) listNodes(folder *Folder, s *scratch) error {
	folder.Nodes = s.nodes[:0]
	folder.FromBase = w.ListFromBase != nil && w.ListFromBase(folder)
	if !folder.FromBase {
		if err := w.listNames(folder, s); err != nil {
			return err
		}
	}

	s.nodes = folder.Nodes[:0]
	existing := folder.Nodes[:0]
	for i := range folder.Nodes {
		n := &folder.Nodes[i]
		var err error
		n.Kind, n.Stat, err = s.list.Lstat(folder.Open, n.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed since it was listed
		case err != nil:
			w.Fail(folder.Join(n.Name), manifest.Unreadable)
		default:
			existing = append(existing, *n)
		}
	}
	folder.Nodes = existing
	return nil
}

// listNames adds a node for each name in a folder that the filter keeps.
func (w *Walker) listNames(folder *Folder, s *scratch) error {
	names, err := s.list.Names(folder.Open)
	if err != nil {
		return err
	}
	var keep func(string) bool
	if w.Keep != nil {
		keep = w.Keep(folder.Dir, folder.Zone)
	}
	for _, name := range names {
		if keep == nil || keep(name) {
			folder.Nodes = append(folder.Nodes, Node{Name: name, BaseIndex: -1})
		}
	}
	return nil
}

// NodeKey returns the path of a node. Folders end in a slash.
func NodeKey(dir string, n *Node) string {
	if n.Kind == disk.KindDir {
		return manifest.Join(dir, n.Name) + "/"
	}
	return manifest.Join(dir, n.Name)
}
