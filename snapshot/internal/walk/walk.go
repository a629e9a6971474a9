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

// Node is one entry of a folder as the walk saw it. Its kind is 0 for sockets, pipes and devices.
type Node struct {
	Name      string
	Kind      disk.Kind
	Stat      disk.Stat
	BaseIndex int  // where the base of a scan has it, -1: nowhere
	Next      Zone // set by the visitor: the rules by which to go on below it
}

// Zone says by which rules a folder is looked at.
type Zone byte

// The zones of a tree.
const (
	ZoneNone    Zone = iota // not at all
	ZoneWork                // working files
	ZoneIgnored             // an ignored folder that holds tracked files
	ZoneGit                 // inside .git
	ZoneKept                // an ignored folder whose files are kept
)

// Folder is one folder of a walk. Its nodes are valid during the visit only.
type Folder struct {
	Open     disk.Dir // the folder itself
	Dir      string   // its path from the root of the walk, "" for the root
	Zone     Zone
	Self     Node // the folder in its parent; nowhere in a base for the root
	FromBase bool // the nodes come from the base of a scan, which has set where they are in it
	Nodes    []Node
}

// Join is the path of an entry of the folder.
func (l *Folder) Join(name string) string { return manifest.Join(l.Dir, name) }

// Read reads a file of the folder that is expected to be small.
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

// Walker goes through a tree in parallel, never through symbolic links and never onto another file system. Folders are
// visited before what is below them.
type Walker struct {
	Keep         func(dir string, z Zone) func(name string) bool // reports which names to look at; nil keeps all, also as a result
	Visit        func(context.Context, *Folder) error            // sets the next zone of each node
	Fail         func(path string, reason manifest.Reason)       // an entry that could not be looked at; never the root
	ListFromBase func(*Folder) bool                              // fills in the nodes of an unchanged folder; nil knows none

	dev     uint64
	scratch sync.Pool // of *scratch
	queue   queue
}

// scratch is memory that the walk of one folder needs and the next one can have again.
type scratch struct {
	list  disk.Lister
	nodes []Node
}

var errReplaced = errors.New("replaced while it was opened")

// Walk walks the tree below root, by the rules of zone z.
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

// walkQueue walks folders of the queue until there are none left. After an error the others are closed only.
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

// queue holds open folders that are to be walked. The last comes first, which keeps it short.
type queue struct {
	mu      sync.Mutex
	wake    sync.Cond
	list    []Folder
	pending int // in the list or being walked
}

// maxQueued bounds how many folders are open at a time, beside those above the ones that are being walked.
const maxQueued = 64

// push adds a folder, unless there are many already.
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

// pop waits for a folder; there is none any more when all have been walked.
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

// done follows the walk of a folder that pop gave.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pending--; q.pending == 0 {
		q.wake.Broadcast()
	}
}

// walkFolder visits one folder, which it closes, and walks those in it.
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

// enter opens a folder now, while its parent is open, and leaves it to the queue if that has room.
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

// listNodes looks at the entries of a folder.
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
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil:
			w.Fail(folder.Join(n.Name), manifest.Unreadable)
		default:
			existing = append(existing, *n)
		}
	}
	folder.Nodes = existing
	return nil
}

// listNames makes a node of each name that is to be kept.
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

// NodeKey is the path of a node, with a slash at the end for a folder.
func NodeKey(dir string, n *Node) string {
	if n.Kind == disk.KindDir {
		return manifest.Join(dir, n.Name) + "/"
	}
	return manifest.Join(dir, n.Name)
}
