package agentrun

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"supervise/internal/event"
	"supervise/internal/fileevents"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/source"
)

// alarmError is the reason for stopping an agent that deletes tests.
type alarmError struct{ event.TreeAlarm }

// Error says which files are missing.
func (e alarmError) Error() string { return e.String() }

const (
	// The tree is inspected when no file was deleted for settleTime, because editors replace
	// files, or maxSettleTime after the first one.
	settleTime, maxSettleTime = 400 * time.Millisecond, 3 * time.Second
	// A tree has shrunk if this many files, and this share of its files, are missing.
	shrunkFiles, shrunkPart = 20, .10
)

// treeAlarms watches the tree while one agent works, and raises an alarm when tests or many
// files are missing. Events of the file system only say when to look: each inspection compares
// the files on disk with the snapshot at the agent's start.
type treeAlarms struct {
	*run
	control    *runner.Control          // pauses the agent during an inspection
	cancel     context.CancelCauseFunc  // stops the agent
	files      map[string]snapshot.File // at the agent's start
	gitBefore  gitState                 // at the agent's start
	startedAt  time.Time
	vanished   map[string]bool // files deleted since the last inspection
	unresolved map[string]bool // files that git may be removing; the next inspection decides
	reported   map[string]bool // files of earlier alarms
}

// watchTree watches the tree until the returned function is called. It only warns about
// errors, since missing files are also found after the run.
func (r *run) watchTree(ctx context.Context, ctl *runner.Control, end context.CancelCauseFunc) (stop func()) {
	if r.Alarms == AlarmOff {
		return func() {}
	}
	a := r.newAlarms()
	a.control, a.cancel = ctl, end
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.watch(ctx); err != nil {
			r.Warn("watch the tree", err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// newAlarms returns the watcher of a run that starts now.
func (r *run) newAlarms() *treeAlarms {
	return &treeAlarms{
		run: r, startedAt: time.Now(), gitBefore: readGitState(r.Root),
		vanished: map[string]bool{}, unresolved: map[string]bool{}, reported: map[string]bool{},
	}
}

// readStartFiles reads the list of files at the start of the agent.
func (a *treeAlarms) readStartFiles() error {
	files, err := a.Store.Files(a.task.Start)
	if err != nil {
		return err
	}
	a.files = make(map[string]snapshot.File, len(files))
	for _, f := range files {
		a.files[f.Path] = f
	}
	return nil
}

// watch watches the tree until ctx ends. The agent may already be running, so files that are
// missing at the start of the watch count as well.
func (a *treeAlarms) watch(ctx context.Context) (err error) {
	if err := a.readStartFiles(); err != nil {
		return err
	}
	watcher, err := fileevents.Start(a.Root, fileevents.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	for _, file := range a.missingFiles(a.scanTree()) {
		a.vanished[file] = true
	}
	a.follow(ctx, watcher.Events())
	return nil
}

// follow inspects the tree when files have been deleted and the deletions have stopped.
func (a *treeAlarms) follow(ctx context.Context, events <-chan fileevents.Event) {
	settled := time.NewTimer(settleTime)
	defer settled.Stop()
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if !a.noteEvent(e) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			settled.Reset(min(settleTime, max(0, maxSettleTime-time.Since(since))))
		case <-settled.C:
			since = time.Time{}
			if a.isSuspicious() && a.inspect(ctx) {
				settled.Reset(settleTime)
				continue
			}
			clear(a.vanished)
			clear(a.unresolved)
		}
	}
}

// noteEvent records an event, and reports whether a file was deleted.
func (a *treeAlarms) noteEvent(e fileevents.Event) bool {
	if _, had := a.files[e.Path]; !had || a.reported[e.Path] {
		return false
	}
	switch e.Op {
	case fileevents.Removed:
		a.vanished[e.Path] = true
		return true
	case fileevents.Created:
		delete(a.vanished, e.Path)
	case fileevents.Modified, fileevents.EventsLost, fileevents.Polling:
	}
	return false
}

// isTest reports whether a file is a test, by its path.
func isTest(file string) bool { return source.IsTestFile(file, source.DetectLanguage(file, nil)) }

// isSuspicious reports whether a test or many files were deleted since the last inspection.
func (a *treeAlarms) isSuspicious() bool {
	for file := range a.vanished {
		if isTest(file) {
			return true
		}
	}
	return a.hasShrunk(len(a.vanished))
}

// hasShrunk reports whether so many missing files are a sign of damage.
func (a *treeAlarms) hasShrunk(gone int) bool {
	return gone >= shrunkFiles && float64(gone) >= shrunkPart*float64(len(a.files))
}

// inspect stops the agent, searches the tree for missing files, and raises an alarm if
// necessary. It reports whether the tree has to be inspected again.
func (a *treeAlarms) inspect(ctx context.Context) (again bool) {
	if isGitBusy(a.Root) {
		return true // wait until git has finished
	}
	if err := a.control.Freeze(ctx); err != nil {
		return false // the agent is ending: its tree will be measured
	}
	defer func() { _ = a.control.Thaw(ctx) }() // an agent that is stopped is thawed anyway
	alarm, again := a.findAlarm(ctx)
	if alarm.MissingFiles == 0 || ctx.Err() != nil {
		return again
	}
	action := cmp.Or(a.Alarms, AlarmWarn)
	alarm.Action = string(action)
	a.Journal.Note(event.TreeAlarmed, a.task.Iteration, alarm)
	if action == AlarmStop {
		a.cancel(alarmError{alarm})
	}
	return again
}

// findAlarm compares the tree with its state at the agent's start. Files that git removed, or
// that were moved, are not missing. The alarm is empty unless a test or many files are missing.
// It reports whether the tree has to be inspected again.
func (a *treeAlarms) findAlarm(ctx context.Context) (_ event.TreeAlarm, again bool) {
	if isGitBusy(a.Root) {
		return event.TreeAlarm{}, true
	}

	there := a.scanTree()
	gone := a.missingFiles(there)
	if len(gone) == 0 {
		return event.TreeAlarm{}, false
	}
	now := a.collectNewFiles(ctx, there)
	git, done := a.gitExplainer(ctx)
	defer done()

	out, news := event.TreeAlarm{Total: len(a.files), MissingTests: []string{}}, 0
	for _, file := range gone {
		answer := git(file)
		switch {
		case answer == gitRemovedFile || now.explains(file, a.textBefore(ctx, file)):
			continue
		case answer == gitUnknown && !a.unresolved[file]:
			a.unresolved[file], again = true, true
			continue
		}
		out.MissingFiles++
		if a.reported[file] {
			continue
		}
		a.reported[file], news = true, news+1
		if isTest(file) {
			out.MissingTests = append(out.MissingTests, file)
		}
	}

	if len(out.MissingTests) == 0 && !a.hasShrunk(news) {
		return event.TreeAlarm{}, again
	}
	return out, again
}

// missingFiles returns the files at the agent's start that are not in the tree. They are sorted, so
// that a new test always replaces the same missing test.
func (a *treeAlarms) missingFiles(there treeFiles) (gone []string) {
	for _, file := range slices.Sorted(maps.Keys(a.files)) {
		if !there.paths[file] {
			gone = append(gone, file)
		}
	}
	return gone
}

// textBefore returns the text of a file at the agent's start, nil if it is too long or cannot
// be read.
func (a *treeAlarms) textBefore(ctx context.Context, file string) []byte {
	if a.files[file].Size > maxText {
		return nil
	}
	text, err := a.Store.ReadFile(ctx, a.task.Start, file)
	if err != nil {
		return nil
	}
	return text
}

// treeFiles are the files of the working tree.
type treeFiles struct {
	paths   map[string]bool // all files, by path relative to the root
	written []string        // those that are new or were written since the agent started
}

// scanTree lists the files of the tree as the watcher does, without .git and node_modules.
func (a *treeAlarms) scanTree() treeFiles {
	root, out := a.Root, treeFiles{paths: map[string]bool{}}
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // unreadable folders count as missing
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		rel = filepath.ToSlash(rel)
		out.paths[rel] = true
		_, had := a.files[rel]
		if info, err := d.Info(); !had || err == nil && !info.ModTime().Before(a.startedAt.Add(-time.Second)) {
			out.written = append(out.written, rel)
		}
		return nil
	})
	return out
}
