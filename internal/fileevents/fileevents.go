// Package fileevents reports live that files of a tree appear, change and disappear. Events are
// hints: callers check the tree before they act.
//
// On Linux it uses inotify(7). It scans every new folder after it watches it, since the kernel
// does not report earlier files. If the kernel dropped events, the package reports that and
// compares the full tree with what it knew. If inotify allows no further watches, and on all
// other systems, it scans the tree every two seconds instead, and does not report changes of
// contents.
package fileevents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Op is what happened.
type Op uint8

// The operations. EventsLost means that the system dropped events: the next events come from
// comparing the tree, and changes of contents may be missing. Polling means that from now on
// the tree is scanned periodically. These two have no path.
const (
	Created Op = iota + 1
	Modified
	Removed
	EventsLost
	Polling
)

// Event is something that happened to a file. Folders have no events.
type Event struct {
	Op   Op
	Path string // relative to the root, with slashes
	Why  string // the reason for Polling
}

// Options are the circumstances of a watch.
type Options struct {
	// Skip reports whether to ignore a folder, relative to the root and with slashes.
	// Nil ignores .git and node_modules.
	Skip func(dir string) bool
	// PollInterval is the interval between scans if the system reports no events. Zero means
	// two seconds.
	PollInterval time.Duration
}

// DefaultPollInterval is the default interval between scans.
const DefaultPollInterval = 2 * time.Second

// Watcher watches one tree until it is closed.
type Watcher struct {
	root    string
	opts    Options
	events  chan Event
	done    chan struct{} // closed by Close
	stopped chan struct{} // closed when run has returned

	notify *fsnotify.Watcher // nil: the tree is scanned periodically
	tick   <-chan time.Time  // fires when the tree should be scanned
	files  map[string]bool   // the known files, by path
	dirs   map[string]bool   // the known folders, by path; "." is the root
	queue  queue             // events that were not received yet
}

// Start watches the tree at root. Existing files cause no events. The error is about a tree that
// cannot be read.
func Start(root string, o Options) (*Watcher, error) {
	if o.Skip == nil {
		o.Skip = func(dir string) bool {
			name := dir[strings.LastIndexByte(dir, '/')+1:]
			return name == ".git" || name == "node_modules"
		}
	}
	if o.PollInterval <= 0 {
		o.PollInterval = DefaultPollInterval
	}

	w := &Watcher{
		root: root, opts: o, events: make(chan Event), done: make(chan struct{}), stopped: make(chan struct{}),
		files: map[string]bool{}, dirs: map[string]bool{},
	}
	if _, err := os.ReadDir(root); err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}

	w.openNotify()
	w.scanDir(".", func(string) {})

	ticker := time.NewTicker(o.PollInterval)
	w.tick = ticker.C
	go func() {
		defer ticker.Stop()
		w.run()
	}()
	return w, nil
}

// Events returns the channel of events, which is closed with the watcher. A slow reader loses
// nothing: several events of a file become one.
func (w *Watcher) Events() <-chan Event { return w.events }

// Close stops the watcher.
func (w *Watcher) Close() error {
	close(w.done)
	<-w.stopped
	if w.notify != nil {
		return w.notify.Close()
	}
	return nil
}

// openNotify subscribes to the events of the system, if it has events for folders.
func (w *Watcher) openNotify() {
	if runtime.GOOS != "linux" {
		return
	}
	n, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		w.startPolling(err)
		return
	}
	w.notify = n
}

// startPolling stops using the events of the system, and scans the tree periodically from now
// on.
func (w *Watcher) startPolling(why error) {
	if w.notify != nil {
		_ = w.notify.Close() // no longer needed
		w.notify = nil
	}
	w.queue.push(Event{Op: Polling, Why: why.Error()})
}

// run processes the events of the system, and passes events from the queue on, until the
// watcher is closed. A nil channel disables its case.
func (w *Watcher) run() {
	defer close(w.stopped)
	defer close(w.events)
	for {
		var out chan<- Event
		next, waiting := w.queue.peek()
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
			w.handleEvent(e)
		case err := <-faults:
			w.handleError(err)
		case <-tick:
			w.rescan()
		case out <- next:
			w.queue.pop()
		case <-w.done:
			return
		}
	}
}

// handleError handles dropped events and other errors.
func (w *Watcher) handleError(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.startPolling(err)
	}
	w.queue.push(Event{Op: EventsLost})
	w.rescan()
}

// handleEvent records what is now at the path of an event. The file may have changed again
// since the event.
func (w *Watcher) handleEvent(e fsnotify.Event) {
	rel, err := filepath.Rel(w.root, e.Name)
	if err != nil {
		return
	}
	p := filepath.ToSlash(rel)
	info, err := os.Lstat(e.Name)
	if err != nil || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.removePath(p) // anything there now is a different file
	}
	switch {
	case err != nil:
	case info.IsDir():
		w.addDir(p)
	default:
		w.removeDir(p)
		w.addFile(p, !e.Has(fsnotify.Chmod))
	}
}

// addDir records a folder, which may have replaced a file.
func (w *Watcher) addDir(p string) {
	if w.files[p] {
		w.removePath(p)
	}
	w.scanDir(p, w.reportCreated)
}

// reportCreated reports a new file.
func (w *Watcher) reportCreated(p string) { w.queue.push(Event{Op: Created, Path: p}) }

// addFile records an existing file. written says that its content may have changed.
func (w *Watcher) addFile(p string, written bool) {
	switch {
	case !w.files[p]:
		w.files[p] = true
		w.reportCreated(p)
	case written:
		w.queue.push(Event{Op: Modified, Path: p})
	}
}

// removePath records that a file, or a folder with everything below, is gone.
func (w *Watcher) removePath(p string) {
	if w.files[p] {
		delete(w.files, p)
		w.queue.push(Event{Op: Removed, Path: p})
	}
	w.removeDir(p)
}

// removeDir records that a path is no longer a folder, and that everything below it has
// disappeared.
func (w *Watcher) removeDir(p string) {
	if !w.dirs[p] {
		return
	}
	for d := range w.dirs {
		if d == p || strings.HasPrefix(d, p+"/") {
			delete(w.dirs, d)
			w.unwatchDir(d)
		}
	}
	for f := range w.files {
		if strings.HasPrefix(f, p+"/") {
			delete(w.files, f)
			w.queue.push(Event{Op: Removed, Path: f})
		}
	}
}

// scanDir records a new folder and everything below it, and calls found with each file. It
// watches the folder first, so that it misses no file.
func (w *Watcher) scanDir(p string, found func(file string)) {
	if w.dirs[p] || p != "." && w.opts.Skip(p) {
		return
	}
	full := filepath.Join(w.root, filepath.FromSlash(p))
	w.watchDir(full)
	entries, err := os.ReadDir(full)
	if err != nil {
		return // gone again, or unreadable
	}
	w.dirs[p] = true
	for _, e := range entries {
		below := path.Join(p, e.Name())
		if e.IsDir() {
			w.scanDir(below, found)
		} else if !w.files[below] {
			w.files[below] = true
			found(below)
		}
	}
}

// watchDir watches a folder. A missing folder is not an error.
func (w *Watcher) watchDir(full string) {
	if w.notify == nil {
		return
	}
	if err := w.notify.Add(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.startPolling(err)
	}
}

// unwatchDir stops watching a folder. Usually the kernel has done so already.
func (w *Watcher) unwatchDir(p string) {
	if w.notify != nil {
		_ = w.notify.Remove(filepath.Join(w.root, filepath.FromSlash(p)))
	}
}

// rescan scans the tree and reports how it differs from what was known. It watches all folders
// again, because a folder with a known name may be a new one.
func (w *Watcher) rescan() {
	knownFiles, knownDirs := w.files, w.dirs
	w.files, w.dirs = map[string]bool{}, map[string]bool{}
	w.scanDir(".", func(file string) {
		if !knownFiles[file] {
			w.reportCreated(file)
		}
	})
	for f := range knownFiles {
		if !w.files[f] {
			w.queue.push(Event{Op: Removed, Path: f})
		}
	}
	for d := range knownDirs {
		if !w.dirs[d] {
			w.unwatchDir(d)
		}
	}
}
