package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// node is one entry of a folder as the walk saw it. Its kind is 0 for sockets, pipes and devices.
type node struct {
	name string
	kind kind
	st   stat
}

// zone says by which rules a folder is looked at.
type zone byte

const (
	zoneNone    zone = iota // not at all
	zoneWork                // working files
	zoneIgnored             // an ignored folder that holds tracked files
	zoneGit                 // inside .git
)

// listing is one folder of a walk.
type listing struct {
	root  *os.Root // the folder itself
	dir   string   // its path from the root of the walk, "" for the root
	zone  zone
	nodes []node
}

// join is the path of an entry of the folder.
func (l listing) join(name string) string { return joinPath(l.dir, name) }

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// walker goes through a tree in parallel, never through symbolic links and never onto another file system. Folders are
// visited before what is below them.
type walker struct {
	keep  func(dir, name string, z zone) bool            // nil keeps all; called before a name is looked at
	visit func(context.Context, listing) ([]zone, error) // where to go on, one zone for each node
	fail  func(path string, reason Reason)               // an entry that could not be looked at; never the root
}

var errReplaced = errors.New("replaced while it was opened")

func (w *walker) walk(ctx context.Context, root *os.Root, z zone) error {
	fi, err := root.Stat(".")
	if err != nil {
		return fmt.Errorf("look at %s: %w", root.Name(), err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(2, runtime.NumCPU()))
	g.Go(func() error { return w.folder(ctx, g, listing{root: root, zone: z}, statOf(fi).dev) })
	return g.Wait()
}

func (w *walker) folder(ctx context.Context, g *errgroup.Group, l listing, dev uint64) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := w.list(&l); err != nil {
		if l.dir == "" {
			return err
		}
		w.fail(l.dir, Unreadable)
		return nil
	}
	next, err := w.visit(ctx, l)
	if err != nil {
		return err
	}
	for i, n := range l.nodes {
		if n.kind != kindDir || next[i] == zoneNone {
			continue
		}
		if err := w.enter(ctx, g, l, n, next[i], dev); err != nil {
			return err
		}
	}
	return nil
}

// enter opens a folder now, while its parent is open, and walks it in a goroutine of its own if one is free.
func (w *walker) enter(ctx context.Context, g *errgroup.Group, l listing, n node, z zone, dev uint64) error {
	path := l.join(n.name)
	if n.st.dev != dev {
		w.fail(path, MountPoint)
		return nil
	}
	sub, err := openSub(l.root, n)
	if err != nil {
		w.fail(path, Unreadable)
		return nil //nolint:nilerr // recorded, never fatal
	}
	job := func() error {
		defer sub.Close()
		return w.folder(ctx, g, listing{root: sub, dir: path, zone: z}, dev)
	}
	if !g.TryGo(job) {
		return job()
	}
	return nil
}

// openSub opens the folder that was seen and nothing that was put in its place.
func openSub(parent *os.Root, n node) (*os.Root, error) {
	sub, err := parent.OpenRoot(n.name)
	if err != nil {
		return nil, err
	}
	fi, err := sub.Stat(".")
	if err == nil && (statOf(fi).ino != n.st.ino || statOf(fi).dev != n.st.dev) {
		err = errReplaced
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

func (w *walker) list(l *listing) error {
	d, err := l.root.Open(".")
	if err != nil {
		return fmt.Errorf("open folder %s: %w", l.root.Name(), err)
	}
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return fmt.Errorf("list folder %s: %w", l.root.Name(), err)
	}
	l.nodes = make([]node, 0, len(names))
	for _, name := range names {
		if w.keep != nil && !w.keep(l.dir, name, l.zone) {
			continue
		}
		fi, err := l.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone since it was listed
		case err != nil:
			w.fail(l.join(name), Unreadable)
		default:
			l.nodes = append(l.nodes, node{name, kindOf(fi), statOf(fi)})
		}
	}
	return nil
}

func kindOf(fi fs.FileInfo) kind {
	switch mode := fi.Mode(); {
	case mode.IsRegular():
		return kindFile
	case mode.IsDir():
		return kindDir
	case mode&fs.ModeSymlink != 0:
		return kindLink
	default:
		return 0
	}
}
