package snapshot

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
)

// node is one entry of a folder as the walk saw it. Its kind is 0 for sockets, pipes and devices.
type node struct {
	name string
	kind kind
	st   stat
	at   int  // where the base of a scan has it, -1: nowhere
	next zone // set by the visitor: the rules by which to go on below it
}

// zone says by which rules a folder is looked at.
type zone byte

const (
	zoneNone    zone = iota // not at all
	zoneWork                // working files
	zoneIgnored             // an ignored folder that holds tracked files
	zoneGit                 // inside .git
)

// listing is one folder of a walk. Its nodes are valid during the visit only.
type listing struct {
	open  dirFD  // the folder itself
	dir   string // its path from the root of the walk, "" for the root
	zone  zone
	self  node // the folder in its parent; nowhere in a base for the root
	known bool // the nodes come from the base of a scan, which has set where they are in it
	nodes []node
}

// join is the path of an entry of the folder.
func (l *listing) join(name string) string { return joinPath(l.dir, name) }

// read reads a file of the folder that is expected to be small.
func (l *listing) read(name string) ([]byte, error) {
	f, err := l.open.file(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// walker goes through a tree in parallel, never through symbolic links and never onto another file system. Folders are
// visited before what is below them.
type walker struct {
	keep  func(dir string, z zone) func(name string) bool // tells which names to look at; nil keeps all, also as a result
	visit func(context.Context, *listing) error           // sets the next zone of each node
	fail  func(path string, reason Reason)                // an entry that could not be looked at; never the root
	known func(*listing) bool                             // fills in the nodes of an unchanged folder; nil knows none

	dev     uint64
	scratch sync.Pool // of *scratch
	queue   queue
}

// scratch is memory that the walk of one folder needs and the next one can have again.
type scratch struct {
	list  lister
	nodes []node
}

var errReplaced = errors.New("replaced while it was opened")

func (w *walker) walk(ctx context.Context, root *os.Root, z zone) error {
	open, st, err := openDir(root)
	if err != nil {
		return fmt.Errorf("look at %s: %w", root.Name(), err)
	}
	w.dev = st.dev
	w.queue.wake.L = &w.queue.mu
	w.queue.push(listing{open: open, zone: z, self: node{at: -1}})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var g errgroup.Group
	for range max(2, runtime.NumCPU()) {
		g.Go(func() error { return w.work(ctx, cancel) })
	}
	return g.Wait()
}

// work walks folders of the queue until there are none left. After an error the others are closed only.
func (w *walker) work(ctx context.Context, cancel context.CancelCauseFunc) error {
	for {
		l, ok := w.queue.pop()
		if !ok {
			return context.Cause(ctx)
		}
		if err := w.folder(ctx, l); err != nil {
			cancel(err)
		}
		w.queue.done()
	}
}

// queue holds open folders that are to be walked. The last comes first, which keeps it short.
type queue struct {
	mu      sync.Mutex
	wake    sync.Cond
	list    []listing
	pending int // in the list or being walked
}

// queueMost bounds how many folders are open at a time, beside those above the ones that are being walked.
const queueMost = 64

// push adds a folder, unless there are many already.
func (q *queue) push(l listing) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) >= queueMost {
		return false
	}
	q.list = append(q.list, l)
	q.pending++
	q.wake.Signal()
	return true
}

// pop waits for a folder; there is none any more when all have been walked.
func (q *queue) pop() (listing, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && q.pending > 0 {
		q.wake.Wait()
	}
	if len(q.list) == 0 {
		return listing{}, false
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

// folder visits one folder, which it closes, and walks those in it.
func (w *walker) folder(ctx context.Context, l listing) error {
	defer l.open.close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s, ok := w.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	defer w.scratch.Put(s)
	if err := w.list(&l, s); err != nil {
		if l.dir == "" {
			return fmt.Errorf("list the folder: %w", err)
		}
		w.fail(l.dir, Unreadable)
		return nil
	}
	if err := w.visit(ctx, &l); err != nil {
		return err
	}
	for i := range l.nodes {
		if n := &l.nodes[i]; n.kind == kindDir && n.next != zoneNone {
			if err := w.enter(ctx, &l, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter opens a folder now, while its parent is open, and leaves it to the queue if that has room.
func (w *walker) enter(ctx context.Context, l *listing, n *node) error {
	path := l.join(n.name)
	if n.st.dev != w.dev {
		w.fail(path, MountPoint)
		return nil
	}
	open, st, err := l.open.sub(n.name)
	if err == nil && (st.ino != n.st.ino || st.dev != n.st.dev) {
		open.close()
		err = errReplaced
	}
	if err != nil {
		w.fail(path, Unreadable)
		return nil //nolint:nilerr // recorded, never fatal
	}
	below := listing{open: open, dir: path, zone: n.next, self: *n}
	if w.queue.push(below) {
		return nil
	}
	return w.folder(ctx, below)
}

// list looks at the entries of a folder.
func (w *walker) list(l *listing, s *scratch) error {
	l.nodes = s.nodes[:0]
	l.known = w.known != nil && w.known(l)
	if !l.known {
		if err := w.names(l, s); err != nil {
			return err
		}
	}
	s.nodes = l.nodes[:0]
	there := l.nodes[:0]
	for i := range l.nodes {
		n := &l.nodes[i]
		var err error
		n.kind, n.st, err = s.list.lstat(l.open, n.name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil:
			w.fail(l.join(n.name), Unreadable)
		default:
			there = append(there, *n)
		}
	}
	l.nodes = there
	return nil
}

// names makes a node of each name that is to be kept.
func (w *walker) names(l *listing, s *scratch) error {
	names, err := s.list.names(l.open)
	if err != nil {
		return err
	}
	var keep func(string) bool
	if w.keep != nil {
		keep = w.keep(l.dir, l.zone)
	}
	for _, name := range names {
		if keep == nil || keep(name) {
			l.nodes = append(l.nodes, node{name: name, at: -1})
		}
	}
	return nil
}

func nodeKey(dir string, n *node) string {
	if n.kind == kindDir {
		return joinPath(dir, n.name) + "/"
	}
	return joinPath(dir, n.name)
}
