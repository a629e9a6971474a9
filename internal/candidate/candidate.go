// Package candidate runs several loops on the same task side by side, each in a tree of its
// own, compares what they came to by running, and gives back the best.
//
// It is an orchestrator beside the loop, of which it knows what everybody does: a loop runs
// with options, and leaves a folder. What the loops came to are the iterations of a loop
// of the kind [ledger.Competing], so that all that reads a loop reads them.
package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"supervise/internal/agentrun"
	"supervise/internal/checkout"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/measure"
	"supervise/internal/notify"
	"supervise/internal/secrets"
	"supervise/internal/worktree"
	"supervise/snapshot"
)

// Settings say how many candidates there are, and how they differ. They are kept in the
// folder of the loop.
type Settings struct {
	Number   int `json:"candidates"`          // at least 1
	Jobs     int `json:"jobs"`                // that run at the same time, at least 1; their checks: at most one for each processor
	StopWhen int `json:"stop_when,omitempty"` // the others end when so many have done the task; 0: never
	// Programs and Tasks are given to the candidates in turn; empty: the same to all.
	Programs []agentrun.Program `json:"programs,omitempty"`
	Tasks    []string           `json:"tasks,omitempty"`
	Setup    string             `json:"setup,omitempty"`  // command of the shell that makes a tree ready; "": none
	Folder   string             `json:"folder,omitempty"` // absolute, for the trees; "": [Options.Cache]
}

// Options are all circumstances of a loop of candidates.
type Options struct {
	Settings
	// Loop is of each, but for its tree; OnEvent hears of all. With Steps 0 the baseline is
	// measured, and no candidate begins; see [Step].
	Loop  loop.Options
	Cache string // folder for the trees where nobody names another, absolute
	// Force has the loop go on in a tree that is another one than before, see [loop.Resume].
	Force bool
	// CompareOnly compares the candidates that have ended, and lets no other begin or go on.
	CompareOnly bool
	// Watch returns who looks at the checks of a candidate, and hears what its agent
	// reports; nil: nobody.
	Watch func(candidate int) (measure.Watch, func(agentrun.Progress))
}

// Outcome is how it ended.
type Outcome struct {
	LoopID  string
	Dir     string
	Stop    event.Stop
	Chosen  int           // candidate, 0: none
	Ranking []ledger.Rank // the best first
}

// kept is what the folder of the loop has of the options.
type kept struct {
	loop.Settings
	Candidates Settings `json:"candidate_settings"`
}

// contest is such a loop while this process runs it.
type contest struct {
	Options
	mask    secrets.Mask
	ledger  *ledger.Ledger
	state   ledger.State
	journal *event.Journal
	tree    *worktree.Tree // of the user
	entries []*entry       // by number
	base    ledger.Iteration
	now     func() time.Time
	former  string        // folder of the trees before this process, "" in a new loop
	heard   sync.Mutex    // while an event is passed on
	turns   chan struct{} // as many places as candidates may run checks at the same time
}

// Run runs the candidates to their end. The errors are those of [loop.Run].
func Run(ctx context.Context, o Options) (Outcome, error) {
	c := newContest(o)
	mask := c.mask
	name := o.Loop.Task
	if name == "" && len(o.Loop.Args) > 0 {
		name = o.Loop.Args[0]
	}
	c.state = ledger.State{
		LoopID: ledger.NewID(mask.String(name)), Kind: ledger.KindCandidates, Status: ledger.Running, Task: mask.String(o.Loop.Task), Agent: mask.Texts(o.Loop.CommandLine()),
		Criterion: o.Loop.Until.String(), Workspace: o.Loop.Root, PID: os.Getpid(), StartedAt: c.now(), UpdatedAt: c.now(),
		History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{},
		Config: ledger.Configuration{MaxIterations: o.Number, TimeoutMinutes: o.Loop.MaxTime.Minutes(), MaxRetries: o.Loop.Recovery.MaxRetries, Mode: string(o.Loop.Rules.Mode), PlanHash: o.Loop.Plan.Hash()},
	}
	var err error
	if c.ledger, err = ledger.Create(o.Loop.Home, c.state); err != nil {
		return Outcome{}, err
	}
	defer c.close()
	c.listen()
	set := kept{o.Loop.Settings, o.Settings}
	set.Setup = set.Settings.Setup.ForJSON()
	sum, err := c.ledger.SaveSettings(set)
	if err == nil {
		err = c.journal.Write(event.LoopStarted, 0, event.Started{Dir: c.ledger.Dir(), Plan: o.Loop.Plan, Agent: c.state.Agent, MaxIterations: o.Number, Settings: sum, Steps: o.Loop.Steps})
	}
	return c.whole(ctx, err)
}

// Resume goes on with candidates whose supervisor is gone: those that had ended stay as they
// are, and the others are resumed. The errors are those of [loop.Resume].
func Resume(ctx context.Context, id string, o Options) (Outcome, error) {
	at := event.NewPosition()
	c := newContest(o)
	var err error
	if c.ledger, c.state, err = ledger.OpenIn(o.Loop.Root, o.Loop.Home, id, at.Apply); err != nil {
		return Outcome{}, err
	}
	defer c.close()
	if err := c.reload(c.ledger.Dir(), at.Settings); err != nil {
		return Outcome{}, err
	}
	c.listen()
	if at.Ended && final(at.End.Reason) {
		if err := ledger.RemoveTree(filepath.Join(c.folder(), id)); err != nil { // it may have been killed behind its end
			return Outcome{}, err
		}
		at.End.Tree = nil // which was then
		c.Loop.OnEvent(event.Event{Type: event.LoopFinished, Time: at.LastEvent, LoopID: id, Data: at.End})
		return c.outcome(event.Stop{Reason: at.End.Reason, Text: at.End.Text}, nil), nil
	}
	c.state.ResetIterations()
	c.state.Status, c.state.StopReason, c.state.StopText, c.state.ExitCode, c.state.PID, c.state.Selected = ledger.Running, "", "", 0, os.Getpid(), nil
	err = c.journal.Write(event.LoopResumed, 0, event.Resumed{Dir: c.ledger.Dir(), Plan: c.Loop.Plan, Agent: c.state.Agent, From: "the candidates that had not ended go on", Max: c.Number, Steps: o.Loop.Steps})
	return c.whole(ctx, err)
}

func newContest(o Options) *contest {
	if o.Loop.Env == nil {
		o.Loop.Env = os.Environ()
	}
	if o.Loop.OnEvent == nil {
		o.Loop.OnEvent = func(event.Event) {}
	}
	c := &contest{Options: o, now: o.Loop.Now, mask: secrets.NewMask(o.Loop.Env), turns: make(chan struct{}, runtime.NumCPU())}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

func (c *contest) listen() {
	notifier := notify.New(c.Loop.Notify, c.mask, func(err error) { c.warn("tell somebody", err) })
	c.journal = &event.Journal{Ledger: c.ledger, LoopID: c.state.LoopID, Now: c.now, OnEvent: []func(event.Event){c.hear, notifier.Handle}}
}

func (c *contest) close() {
	if c.tree != nil {
		_ = c.tree.Store.Close()
	}
	if c.ledger != nil {
		_ = c.ledger.Close()
	}
}

// whole is the line: the baseline, the candidates side by side, what they came to, the
// comparison, and the best one into the user's tree.
func (c *contest) whole(ctx context.Context, err error) (Outcome, error) {
	steps := []func(context.Context) error{c.open, c.baseline, c.enter, c.race, c.gather}
	if c.Loop.Steps != nil {
		steps = steps[:2]
	}
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	var list []ledger.Rank
	if err == nil && !c.setDown() {
		list, err = c.ranking(ctx)
	}
	var stop event.Stop
	if err == nil {
		stop, err = c.finish(ctx, list)
	}
	err = errors.Join(err, c.sweep())
	if err != nil {
		c.fail(err)
	}
	return c.outcome(stop, list), err
}

// reload reads what the loop in dir was asked to do. Limits and a folder for the trees that
// this process was given replace the kept ones.
func (c *contest) reload(dir, sum string) error {
	if sum == "" {
		return fmt.Errorf("resume loop %s: %w: start a new one", c.state.LoopID, ledger.ErrNoSettings)
	}
	var set kept
	if err := ledger.ReadSettingsAt(c.state.Workspace, dir, sum, &set); err != nil {
		return err
	}
	if moves := c.Loop.MovedFolders(set.Settings); len(moves) > 0 {
		set = kept{}
		if err := ledger.ReadSettingsAt(c.state.Workspace, dir, sum, &set, moves...); err != nil {
			return err
		}
	}
	set.Setup = set.Settings.Setup.FromJSON()
	set.OverrideLimits(c.Loop.Settings)
	c.former = cmp.Or(set.Candidates.Folder, c.Cache)
	if c.Folder != "" {
		set.Candidates.Folder = c.Folder
	}
	c.Loop.Settings, c.Settings = set.Settings, set.Candidates
	return nil
}

// openStore opens the snapshots of the user's tree.
func (c *contest) openStore(ctx context.Context) error {
	if c.tree != nil {
		return nil
	}
	dir := ledger.SnapshotDir(ledger.LoopDir(c.Loop.Home, c.state.LoopID))
	o := c.Loop.Snapshot
	o.Moved = c.Force
	store, err := worktree.Open(ctx, c.Loop.Root, c.Loop.Home, dir, o)
	if err == nil {
		c.tree = worktree.New(store, worktree.Options{Journal: c.journal, Iteration: func() int { return 0 }, Dropped: map[snapshot.ID]bool{}})
	}
	return err
}

// open takes the snapshot of the user's tree that all begin with.
func (c *contest) open(ctx context.Context) error {
	if err := c.openStore(ctx); err != nil {
		return err
	}
	elsewhere := c.tree.Store.CheckRepository() != nil
	if c.Force {
		if err := c.tree.Store.AdoptRepository(); err != nil {
			return err
		}
	}
	if c.state.BaselineSnapshot == "" {
		info, err := c.tree.Take(ctx, 0, event.BeforeChecks)
		if err != nil {
			return err
		}
		c.state.BaselineSnapshot = info.ID
	} else if c.Force && elsewhere { // what comes into the tree at the end starts from there
		if err := c.tree.EnsureState(ctx, c.state.BaselineSnapshot, ""); err != nil {
			return err
		}
	}
	c.entries = []*entry{c.entryOf(0)}
	return c.save()
}

// enter makes the trees of the candidates.
func (c *contest) enter(ctx context.Context) error {
	for n := range c.Number {
		e := c.entryOf(n + 1)
		err := error(nil)
		if e.over().Reason == "" {
			err = c.plant(ctx, e)
		} else { // nothing is done there any more
			e.tree, err = checkout.New(ctx, "", c.place(e.number))
		}
		if err != nil {
			return err
		}
		c.entries = append(c.entries, e)
	}
	return nil
}

// measured returns the baseline, and false where it is not measured yet.
func (e *entry) measured() (ledger.Iteration, bool) {
	its, err := ledger.ReadIterations(e.dir())
	state, stateErr := ledger.ReadState(e.dir())
	if stateErr != nil || err != nil || len(its) == 0 || state.Status != ledger.Completed {
		return ledger.Iteration{}, false
	}
	return its[0], true
}

// baseline measures the baseline, in a tree of its own.
func (c *contest) baseline(ctx context.Context) error {
	e, known := c.entries[0], false
	if c.base, known = e.measured(); !known {
		if err := errors.Join(ledger.RemoveTree(e.home), c.plant(ctx, e)); err != nil {
			return err
		}
		o := c.optionsOf(ctx, e)
		o.MaxIterations, o.NoApply = 0, true
		out, err := loop.Run(ctx, o)
		if err != nil {
			return err
		}
		if len(out.History) == 0 {
			return fmt.Errorf("measure the baseline: %w", context.Cause(ctx))
		}
		c.base = out.History[0]
	}
	if state, err := ledger.ReadState(e.dir()); err == nil {
		c.state.Criterion = state.Criterion
	}
	it := c.base
	it.LoopID, it.Snapshot, it.Start = c.state.LoopID, c.state.BaselineSnapshot, c.state.BaselineSnapshot
	record := it.Set.Record()
	c.state.BaselineMetrics, c.state.BaselineRuns = &record, it.BaselineRuns
	info, err := c.tree.Store.Info(it.Snapshot)
	if err != nil {
		return err
	}
	it.Tree = info.Tree
	c.state.Add(it)
	return errors.Join(c.ledger.Append(it, nil, false), c.journal.Write(event.BaselineMeasured, 0, event.Baseline{
		Progress: it.Progress(false), Criterion: c.state.Criterion, Files: info.Files, Skipped: worktree.SkippedPaths(info), NotKept: []string{}, CheckOutputs: it.CheckOutputs,
		Flaky: []string{}, Checks: it.Checks, UnusedSettings: []string{}, Iteration: it,
	}), c.save())
}

func (c *contest) save() error {
	c.state.UpdatedAt = c.now()
	return c.ledger.Save(c.state)
}

func (c *contest) fail(err error) {
	reason := event.Broken
	if errors.Is(err, loop.ErrUnmeasurable) {
		reason = event.Unmeasurable
	}
	c.state.Status, c.state.StopReason, c.state.StopText, c.state.ExitCode = ledger.Failed, string(reason), err.Error(), reason.ExitCode()
	_ = c.save()
	c.journal.Note(event.LoopFinished, 0, event.LoopEnd{Reason: reason, Text: err.Error(), ExitCode: c.state.ExitCode})
}

func (c *contest) outcome(stop event.Stop, list []ledger.Rank) Outcome {
	out := Outcome{LoopID: c.state.LoopID, Dir: c.ledger.Dir(), Stop: stop, Ranking: list}
	if len(list) > 0 && list[0].Chosen {
		out.Chosen = list[0].Candidate
	}
	return out
}

// sweep removes the trees. What was done in them is in the snapshots.
func (c *contest) sweep() error {
	var errs []error
	for _, e := range c.entries {
		if e.tree != nil {
			errs = append(errs, e.tree.Remove())
		} else { // that of the baseline, where a killed process left it
			errs = append(errs, ledger.RemoveTree(c.place(e.number)))
		}
	}
	c.entries = nil
	_ = os.Remove(filepath.Join(c.folder(), c.state.LoopID)) // fails where a tree could not be removed
	if c.former != "" && c.former != c.folder() {
		errs = append(errs, ledger.RemoveTree(filepath.Join(c.former, c.state.LoopID)))
	}
	return errors.Join(errs...)
}

// warn tells of what does not keep the candidates from going on.
func (c *contest) warn(what string, err error) {
	if c.Loop.Log != nil {
		c.Loop.Log.WithError(err).Warn(what)
	}
}
