// Package fileevents reports, while it happens, that files of a tree appear, change and
// disappear. It is a hint and never the truth: whoever acts on it looks at the
// tree first.
//
// On Linux it listens to inotify(7) and looks into every new folder once it
// listens there, since nobody reports what was made in between. When the
// kernel had to drop events it says so and compares the whole tree with what it
// knew. Where inotify allows no further watches, and on all other systems, it
// looks at the whole tree every two seconds instead; changes of contents are not
// reported then.
package fileevents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Op is what happened.
type Op uint8

// What can happen. Lost says that events were dropped: what follows was found by
// comparing the tree, and changes of contents may be missing. Scanning says that
// from now on the tree is compared now and then, and why. Both have no path.
const (
	New Op = iota + 1
	Changed
	Gone
	Lost
	Scanning
)

// Event is something that happened to a file; folders have none of their own.
type Event struct {
	Op   Op
	Path string // relative to the root, with slashes
	Why  string // of Scanning
}

// Options are the circumstances of a watch.
type Options struct {
	// Skip reports whether a folder, relative to the root and with slashes, is left
	// out with all below. Nil leaves out .git and node_modules.
	Skip func(dir string) bool
	// Poll is how often the tree is looked at where the system reports nothing. Zero
	// means two seconds.
	Poll time.Duration
}

// DefaultPoll is how often the tree is looked at where the system reports nothing.
const DefaultPoll = 2 * time.Second

// Watcher watches one tree until it is closed.
type Watcher struct {
	root   string
	opts   Options
	events chan Event
	done   chan struct{}
	ended  chan struct{}

	notify *fsnotify.Watcher // nil: the tree is looked at now and then
	tick   <-chan time.Time
	files  map[string]bool
	dirs   map[string]bool
	queue  queue
}

// Start watches the tree at root. No event reports what is there already. The
// error is that of a tree that cannot be read.
func Start(root string, o Options) (*Watcher, error) {
	if o.Skip == nil {
		o.Skip = func(dir string) bool {
			name := dir[strings.LastIndexByte(dir, '/')+1:]
			return name == ".git" || name == "node_modules"
		}
	}
	if o.Poll <= 0 {
		o.Poll = DefaultPoll
	}
	w := &Watcher{
		root: root, opts: o, events: make(chan Event), done: make(chan struct{}), ended: make(chan struct{}),
		files: map[string]bool{}, dirs: map[string]bool{},
	}
	if _, err := os.ReadDir(root); err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	w.listen()
	w.enter(".")
	w.queue = queue{held: w.queue.only(Scanning)}
	ticker := time.NewTicker(o.Poll)
	w.tick = ticker.C
	go func() {
		defer ticker.Stop()
		w.run()
	}()
	return w, nil
}

// Events is closed when the watch is. A slow reader loses nothing: what happens
// to a file meanwhile becomes one event.
func (w *Watcher) Events() <-chan Event { return w.events }

// Close ends the watch.
func (w *Watcher) Close() error {
	close(w.done)
	<-w.ended
	if w.notify != nil {
		return w.notify.Close()
	}
	return nil
}

// listen asks the system for events, where it has them folder by folder.
func (w *Watcher) listen() {
	if runtime.GOOS != "linux" {
		return
	}
	n, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		w.scanOnly(err)
		return
	}
	w.notify = n
}

// scanOnly gives up listening.
func (w *Watcher) scanOnly(why error) {
	if w.notify != nil {
		_ = w.notify.Close() // nothing is expected of it any more
		w.notify = nil
	}
	w.queue.put(Event{Op: Scanning, Why: why.Error()})
}

func (w *Watcher) run() {
	defer close(w.ended)
	defer close(w.events)
	for {
		var out chan<- Event
		next, waiting := w.queue.first()
		if waiting {
			out = w.events
		}
		var events <-chan fsnotify.Event
		var faults <-chan error
		var tick <-chan time.Time
		if w.notify != nil {
			events, faults = w.notify.Events, w.notify.Errors
		} else {
			tick = w.tick
		}
		select {
		case e := <-events:
			w.take(e)
		case err := <-faults:
			w.fault(err)
		case <-tick:
			w.compare()
		case out <- next:
			w.queue.drop()
		case <-w.done:
			return
		}
	}
}

// fault is called when events were dropped, or something else broke.
func (w *Watcher) fault(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.scanOnly(err)
	}
	w.queue.put(Event{Op: Lost})
	w.compare()
}

// take finds out what an event of the system means by looking at the path: it
// may be something else by now.
func (w *Watcher) take(e fsnotify.Event) {
	rel, err := filepath.Rel(w.root, e.Name)
	if err != nil {
		return
	}
	p := filepath.ToSlash(rel)
	info, err := os.Lstat(e.Name)
	if err != nil || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.leave(p) // what is there now, if anything, is another
	}
	switch {
	case err != nil:
	case info.IsDir():
		w.become(p)
	default:
		w.forget(p)
		w.see(p, !e.Has(fsnotify.Chmod))
	}
}

// become takes note of a folder, where a file may have been.
func (w *Watcher) become(p string) {
	if w.files[p] {
		w.leave(p)
	}
	w.enter(p)
}

// see takes note of a file that is there.
func (w *Watcher) see(p string, written bool) {
	switch {
	case !w.files[p]:
		w.files[p] = true
		w.queue.put(Event{Op: New, Path: p})
	case written:
		w.queue.put(Event{Op: Changed, Path: p})
	}
}

// leave takes note that a file, or a folder with all below, is gone.
func (w *Watcher) leave(p string) {
	if w.files[p] {
		delete(w.files, p)
		w.queue.put(Event{Op: Gone, Path: p})
	}
	w.forget(p)
}

// forget takes note that a path is no folder any more.
func (w *Watcher) forget(p string) {
	if !w.dirs[p] {
		return
	}
	for d := range w.dirs {
		if d == p || strings.HasPrefix(d, p+"/") {
			delete(w.dirs, d)
			if w.notify != nil {
				_ = w.notify.Remove(filepath.Join(w.root, filepath.FromSlash(d))) // it is gone by itself, as a rule
			}
		}
	}
	for f := range w.files {
		if strings.HasPrefix(f, p+"/") {
			delete(w.files, f)
			w.queue.put(Event{Op: Gone, Path: f})
		}
	}
}

// enter listens in a folder first and looks into it then.
func (w *Watcher) enter(p string) {
	if w.dirs[p] || p != "." && w.opts.Skip(p) {
		return
	}
	full := filepath.Join(w.root, filepath.FromSlash(p))
	w.listenIn(full)
	entries, err := os.ReadDir(full)
	if err != nil {
		return // gone again, or not to be read
	}
	w.dirs[p] = true
	for _, e := range entries {
		below := join(p, e.Name())
		if e.IsDir() {
			w.become(below)
		} else {
			w.see(below, false)
		}
	}
}

// listenIn listens in a folder. One that is gone is no fault.
func (w *Watcher) listenIn(full string) {
	if w.notify == nil {
		return
	}
	if err := w.notify.Add(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.scanOnly(err)
	}
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// compare looks at the whole tree and reports how it differs from what is known.
func (w *Watcher) compare() {
	there := map[string]bool{}
	w.walk(".", there)
	for f := range w.files {
		if !there[f] {
			w.leave(f)
		}
	}
	for d := range w.dirs {
		if !there[d+"/"] {
			w.forget(d)
		}
	}
}

// walk enters what is not known yet and notes all that is there, folders with a
// slash at their end. It listens in all of them anew: a folder of a known name
// may be another one.
func (w *Watcher) walk(p string, there map[string]bool) {
	full := filepath.Join(w.root, filepath.FromSlash(p))
	w.listenIn(full)
	entries, err := os.ReadDir(full)
	if err != nil {
		return
	}
	there[p+"/"] = true
	for _, e := range entries {
		below := join(p, e.Name())
		switch {
		case !e.IsDir():
			there[below] = true
			w.forget(below)
			w.see(below, false)
		case !w.opts.Skip(below):
			w.become(below)
			w.walk(below, there)
		}
	}
}
