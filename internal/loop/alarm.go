package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/internal/watch"
	"supervise/runner"
	"supervise/snapshot"
	"supervise/source"
)

// WatchAction is what is done when tests vanish while the agent works.
type WatchAction string

// The actions. An agent that is stopped is measured and judged as any other.
const (
	WatchOff  WatchAction = "off"
	WatchWarn WatchAction = "warn"
	WatchStop WatchAction = "stop"
)

// Valid reports whether a is one of the actions; empty is WatchWarn.
func (a WatchAction) Valid() bool {
	return slices.Contains([]WatchAction{"", WatchOff, WatchWarn, WatchStop}, a)
}

// TreeAlarm is the data of tree_alarm: tests vanished, or the tree shrank, while
// the agent worked.
type TreeAlarm struct {
	Tests  []string    `json:"test_files"` // that are gone
	Gone   int         `json:"files_gone"` // of all kinds
	Of     int         `json:"files"`      // that there were when the agent began
	Action WatchAction `json:"action"`
}

// String returns the alarm for people.
func (a TreeAlarm) String() string {
	text := fmt.Sprintf("%d of %d files are gone", a.Gone, a.Of)
	if len(a.Tests) > 0 {
		text = "test files are gone: " + strings.Join(a.Tests[:min(len(a.Tests), 5)], ", ")
	}
	return text
}

// errAlarm is why an agent is ended that makes tests vanish.
type errAlarm struct{ TreeAlarm }

func (e errAlarm) Error() string { return e.String() }

const (
	// settling is how long nothing more has to vanish before the tree is looked at:
	// editors write a file by replacing it. Those who never rest are looked at after
	// settledLatest all the same.
	settling, settledLatest = 400 * time.Millisecond, 3 * time.Second
	// A tree has shrunk when this many files are gone, and this part of it.
	shrunkFiles, shrunkPart = 20, .10
)

// alarms watches the tree while one agent works.
type alarms struct {
	s      *session
	w      *work
	ctl    *runner.Control
	end    context.CancelCauseFunc
	files  map[string]snapshot.File // that there were when the agent began
	git    gitState                 // where it stood then
	begun  time.Time
	missed map[string]bool // files that vanished since the last look
	told   map[string]bool // files that an alarm was about
}

// watchTree watches the tree until the function that it returns is called. Where
// that cannot be done, nothing is lost but time: what vanishes is found when the
// agent has ended.
func (s *session) watchTree(ctx context.Context, w *work, ctl *runner.Control, end context.CancelCauseFunc) (stop func()) {
	if s.opts.Watch == WatchOff {
		return func() {}
	}
	a := &alarms{s: s, w: w, ctl: ctl, end: end, begun: time.Now(), git: lookAtGit(s.opts.Root), missed: map[string]bool{}, told: map[string]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.run(ctx); err != nil {
			s.opts.Log.WithError(err).Warn("watch the tree")
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// run watches until ctx ends. The agent may be at work already: what is gone when
// the watch begins counts as well.
func (a *alarms) run(ctx context.Context) (err error) {
	files, err := a.s.store.Files(a.w.start.ID)
	if err != nil {
		return err
	}
	a.files = make(map[string]snapshot.File, len(files))
	for _, f := range files {
		a.files[f.Path] = f
	}
	watcher, err := watch.Start(a.s.opts.Root, watch.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	there := a.standing()
	for file := range a.files {
		if !there.all[file] {
			a.missed[file] = true
		}
	}
	a.follow(ctx, watcher.Events())
	return nil
}

// follow looks at the tree whenever something has vanished and nothing more does.
func (a *alarms) follow(ctx context.Context, events <-chan watch.Event) {
	rest := time.NewTimer(settling)
	defer rest.Stop()
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if !a.take(e) {
				continue
			}
			if since.IsZero() {
				since = time.Now()
			}
			rest.Reset(min(settling, max(0, settledLatest-time.Since(since))))
		case <-rest.C:
			since = time.Time{}
			if a.worthALook() {
				a.look(ctx)
			}
			clear(a.missed)
		}
	}
}

// take notes an event, and reports whether the tree may have lost something by it.
func (a *alarms) take(e watch.Event) bool {
	if _, had := a.files[e.Path]; !had || a.told[e.Path] {
		return false
	}
	switch e.Op {
	case watch.Gone:
		a.missed[e.Path] = true
		return true
	case watch.New:
		delete(a.missed, e.Path)
	case watch.Changed, watch.Lost, watch.Scanning:
	}
	return false
}

func isTest(file string) bool { return source.TestFile(file, source.LanguageOf(file, nil)) }

func (a *alarms) worthALook() bool {
	for file := range a.missed {
		if isTest(file) {
			return true
		}
	}
	return a.shrunk(len(a.missed))
}

func (a *alarms) shrunk(gone int) bool {
	return gone >= shrunkFiles && float64(gone) >= shrunkPart*float64(len(a.files))
}

// look stops the agent, looks at the tree itself, and does what is to be done.
func (a *alarms) look(ctx context.Context) {
	if err := a.ctl.Freeze(ctx); err != nil {
		return // it is ending: all of it will be measured
	}
	defer func() { _ = a.ctl.Thaw(ctx) }() // an agent that ends is thawed by that
	if a.git.moved(a.s.opts.Root) {
		return
	}
	alarm := a.verify(ctx)
	if len(alarm.Tests) == 0 && !a.shrunk(alarm.Gone) || ctx.Err() != nil {
		return
	}
	alarm.Action = a.s.opts.Watch
	if alarm.Action == "" {
		alarm.Action = WatchWarn
	}
	a.s.note(TreeAlarmed, a.w.it.Number, alarm)
	if alarm.Action == WatchStop {
		a.end(errAlarm{alarm})
	}
}

// verify compares the tree with what it was when the agent began. What only stands
// elsewhere now is not gone.
func (a *alarms) verify(ctx context.Context) TreeAlarm {
	there := a.standing()
	out := TreeAlarm{Of: len(a.files), Tests: []string{}}
	for file, was := range a.files {
		if there.all[file] || a.elsewhere(ctx, was, there) {
			continue
		}
		out.Gone++
		if isTest(file) && !a.told[file] {
			out.Tests = append(out.Tests, file)
		}
		a.told[file] = true
	}
	slices.Sort(out.Tests)
	return out
}

// elsewhere reports whether a file was moved, or its tests were moved to another
// one.
func (a *alarms) elsewhere(ctx context.Context, was snapshot.File, there tree) bool {
	for _, file := range there.fresh {
		if _, had := a.files[file]; !had && path.Base(file) == path.Base(was.Path) {
			return true
		}
	}
	if len(there.fresh) == 0 || was.Size > maxText {
		return false
	}
	text, err := a.s.store.ReadFile(ctx, a.w.start.ID, was.Path)
	if err != nil {
		return false
	}
	tests := map[string]bool{}
	for _, def := range testsIn(was.Path, text) {
		tests[def.Name] = true
	}
	named := len(tests) > 0
	for _, file := range there.fresh {
		now, err := os.ReadFile(filepath.Join(a.s.opts.Root, filepath.FromSlash(file)))
		if err != nil || len(now) > maxText {
			continue
		}
		if bytes.Equal(now, text) {
			return true
		}
		if !named {
			continue
		}
		for _, def := range testsIn(file, now) {
			delete(tests, def.Name)
		}
	}
	return named && len(tests) == 0
}

func testsIn(file string, text []byte) []source.TestDef {
	f, _ := source.Scan(file, text) // what does not parse is read as far as it goes
	return f.Tests
}

// tree is what stands in the working tree: all files, and those that are new or
// were written lately.
type tree struct {
	all   map[string]bool
	fresh []string
}

// standing walks the tree as the watcher does, without .git and what is installed.
func (a *alarms) standing() tree {
	root, out := a.s.opts.Root, tree{all: map[string]bool{}}
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not there
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
		out.all[rel] = true
		_, had := a.files[rel]
		if info, err := d.Info(); !had || err == nil && !info.ModTime().Before(a.begun.Add(-time.Second)) {
			out.fresh = append(out.fresh, rel)
		}
		return nil
	})
	return out
}

// gitState is where git stands: what is checked out, and the latest stash.
type gitState struct{ head, stash string }

// lookAtGit reads where git stands; all is empty without one.
func lookAtGit(root string) gitState {
	dir, common := gitDirs(root)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			text, _ = os.ReadFile(filepath.Join(common, name)) // packed, or not there: both stay the same until something is done
		}
		return strings.TrimSpace(string(text))
	}
	g := gitState{head: read("HEAD"), stash: read("refs/stash")}
	if ref, is := strings.CutPrefix(g.head, "ref: "); is {
		g.head += " " + read(ref)
	}
	return g
}

// gitDirs are the folder of git's state of this working tree, and the one that it
// shares with others.
func gitDirs(root string) (dir, common string) {
	dir = filepath.Join(root, ".git")
	if text, err := os.ReadFile(dir); err == nil {
		to, _ := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if dir = filepath.FromSlash(to); !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
	}
	common = dir
	if text, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	return dir, common
}

// gitWork are files of git that are there while it is at work in the tree.
var gitWork = []string{"index.lock", "rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_START", "sequencer"}

// moved reports whether git is at work in the tree, or has been: a checkout, a
// stash or a rebase takes files away and brings them back. What they leave is
// judged when the agent has ended.
func (g gitState) moved(root string) bool {
	if lookAtGit(root) != g {
		return true
	}
	dir, _ := gitDirs(root)
	return slices.ContainsFunc(gitWork, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}
