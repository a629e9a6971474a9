// Package candidate runs several loops on the same task in parallel, each in a separate tree,
// compares the results, and restores the best one into the user's tree.
//
// [Run] and [Resume] take the steps in this order: they measure the baseline once for all
// (candidate.go), create a tree for each candidate and run its loop there (entry.go), run the
// tests that each candidate added on the code of the others (crosscheck.go), rank the candidates
// (ranking.go), and restore the first one (finish.go). [RunStep] runs only a few iterations of
// one candidate (step.go).
//
// The loops are those of package loop. The result of each candidate is also an iteration of a loop
// of the kind [ledger.KindCandidates], so that every command that reads a loop can read them.
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

// Settings are the number of candidates and their differences. They are stored in the folder
// of the loop.
type Settings struct {
	Number   int `json:"candidates"`          // number of candidates, at least 1
	Jobs     int `json:"jobs"`                // how many run in parallel, at least 1; their checks: one per processor
	StopWhen int `json:"stop_when,omitempty"` // stop the others when this many have done the task; 0 means never
	// Programs and Tasks are assigned to the candidates round-robin. If one is empty, all
	// candidates have the agent or the task of the loop.
	Programs []agentrun.Program `json:"programs,omitempty"`
	Tasks    []string           `json:"tasks,omitempty"`
	Setup    string             `json:"setup,omitempty"`  // shell command that prepares a tree; "" means none
	Folder   string             `json:"folder,omitempty"` // absolute folder for the trees; "" means [Options.Cache]
}

// Options configure a loop of candidates.
type Options struct {
	Settings
	// Loop are the options of each candidate, except its tree. OnEvent gets the events of all
	// candidates. With Steps 0, the baseline is measured and no candidate starts; see [RunStep].
	Loop  loop.Options
	Cache string // default folder for the trees, absolute
	// Force continues in another tree than before, see [loop.Resume].
	Force bool
	// CompareOnly compares the finished candidates. No other one starts or continues.
	CompareOnly bool
	// Watch returns the observers of a candidate's checks and of its agent's reports. It may
	// be nil.
	Watch func(candidate int) (measure.Watch, func(agentrun.Progress))
}

// Outcome is the result of a loop of candidates.
type Outcome struct {
	LoopID  string
	Dir     string
	Stop    event.Stop
	Chosen  int           // candidate, 0 for none
	Ranking []ledger.Rank // the best first
}

// storedSettings is the content of settings.json in the folder of a loop of candidates.
type storedSettings struct {
	loop.Settings
	Candidates Settings `json:"candidate_settings"`
}

// competition is a loop of candidates that this process runs. A competition has an entry for
// each candidate, which runs in a goroutine.
type competition struct {
	Options
	mask           secrets.Mask
	ledger         *ledger.Ledger
	state          ledger.State
	journal        *event.Journal
	tree           *worktree.Tree // the user's tree
	entries        []*entry       // the candidates by number; entry 0 is the baseline
	baseIteration  ledger.Iteration
	now            func() time.Time
	formerTreesDir string        // folder of the trees in the previous process, "" in a new loop
	eventMutex     sync.Mutex    // held while a listener gets an event
	checkSlots     chan struct{} // one slot per candidate that may run checks
}

// Run runs a new loop of candidates to its end. The errors are those of [loop.Run].
func Run(ctx context.Context, o Options) (Outcome, error) {
	c := newCompetition(o)
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

	c.openJournal()
	set := storedSettings{o.Loop.Settings, o.Settings}
	set.Setup = set.Settings.Setup.ForJSON()
	sum, err := c.ledger.SaveSettings(set)
	if err == nil {
		err = c.journal.Write(event.LoopStarted, 0, event.Started{Dir: c.ledger.Dir(), Plan: o.Loop.Plan, Agent: c.state.Agent, MaxIterations: o.Number, Settings: sum, Steps: o.Loop.Steps})
	}
	return c.runSteps(ctx, err)
}

// Resume continues a loop of candidates after its supervisor ended. Finished candidates stay
// unchanged, and the others are resumed. If the loop has ended, its end is reported again. The
// errors are those of [loop.Resume].
func Resume(ctx context.Context, id string, o Options) (Outcome, error) {
	at := event.NewPosition()
	c := newCompetition(o)
	var err error
	if c.ledger, c.state, err = ledger.Open(o.Loop.Root, o.Loop.Home, id, at.Apply); err != nil {
		return Outcome{}, err
	}
	defer c.close()

	if err := c.loadSettings(c.ledger.Dir(), at.Settings); err != nil {
		return Outcome{}, err
	}
	c.openJournal()
	if at.Ended && isFinal(at.End.Reason) {
		if err := ledger.RemoveTree(filepath.Join(c.treesDir(), id)); err != nil { // the process may have been killed after the end of the loop
			return Outcome{}, err
		}
		at.End.Tree = nil // the tree may have changed since
		c.Loop.OnEvent(event.Event{Type: event.LoopFinished, Time: at.LastEvent, LoopID: id, Data: at.End})
		return c.outcome(event.Stop{Reason: at.End.Reason, Text: at.End.Text}, nil), nil
	}

	c.state.ResetIterations()
	c.state.Status, c.state.StopReason, c.state.StopText, c.state.ExitCode, c.state.PID, c.state.Selected = ledger.Running, "", "", 0, os.Getpid(), nil
	err = c.journal.Write(event.LoopResumed, 0, event.Resumed{Dir: c.ledger.Dir(), Plan: c.Loop.Plan, Agent: c.state.Agent, From: "the candidates that had not ended continue", Max: c.Number, Steps: o.Loop.Steps})
	return c.runSteps(ctx, err)
}

// newCompetition returns a competition with the options, without a ledger and a journal.
func newCompetition(o Options) *competition {
	if o.Loop.Env == nil {
		o.Loop.Env = os.Environ()
	}
	if o.Loop.OnEvent == nil {
		o.Loop.OnEvent = func(event.Event) {}
	}
	c := &competition{Options: o, now: o.Loop.Now, mask: secrets.NewMask(o.Loop.Env), checkSlots: make(chan struct{}, runtime.NumCPU())}
	if c.now == nil {
		c.now = time.Now
	}
	return c
}

// openJournal opens the journal, whose events go to the listener and to notifications.
func (c *competition) openJournal() {
	notifier := notify.New(c.Loop.Notify, c.mask, func(err error) { c.warn("send a notification", err) })
	c.journal = &event.Journal{Ledger: c.ledger, LoopID: c.state.LoopID, Now: c.now, OnEvent: []func(event.Event){c.emit, notifier.Handle}}
}

// close closes the store and the ledger, if they are open.
func (c *competition) close() {
	if c.tree != nil {
		_ = c.tree.Store.Close()
	}
	if c.ledger != nil {
		_ = c.ledger.Close()
	}
}

// runSteps runs the remaining steps: it measures the baseline, runs the candidates in parallel,
// imports and compares their results, and restores the best one into the user's tree. If err is
// set, it takes no step and only records the failure.
func (c *competition) runSteps(ctx context.Context, err error) (Outcome, error) {
	steps := []func(context.Context) error{c.openTree, c.measureBaseline, c.prepareEntries, c.runAll, c.importResults}
	if c.Loop.Steps != nil {
		steps = steps[:2]
	}

	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}

	var list []ledger.Rank
	if err == nil && !c.isSuspended() {
		list, err = c.rankEntries(ctx)
	}

	var stop event.Stop
	if err == nil {
		stop, err = c.finish(ctx, list)
	}

	err = errors.Join(err, c.removeTrees())
	if err != nil {
		c.recordFailure(err)
	}
	return c.outcome(stop, list), err
}

// loadSettings reads the stored settings of the loop in dir, whose hash is sum. The limits of
// this process, and its folder for the trees, replace the stored ones.
func (c *competition) loadSettings(dir, sum string) error {
	if sum == "" {
		return fmt.Errorf("resume loop %s: %w: start a new one", c.state.LoopID, ledger.ErrNoSettings)
	}
	var set storedSettings
	if err := ledger.ReadSettingsAt(c.state.Workspace, dir, sum, &set); err != nil {
		return err
	}
	if moves := c.Loop.MovedFolders(set.Settings); len(moves) > 0 {
		set = storedSettings{}
		if err := ledger.ReadSettingsAt(c.state.Workspace, dir, sum, &set, moves...); err != nil {
			return err
		}
	}
	set.Setup = set.Settings.Setup.FromJSON()
	set.OverrideLimits(c.Loop.Settings)
	c.formerTreesDir = cmp.Or(set.Candidates.Folder, c.Cache)
	if c.Folder != "" {
		set.Candidates.Folder = c.Folder
	}
	c.Loop.Settings, c.Settings = set.Settings, set.Candidates
	return nil
}

// openStore opens the snapshots of the user's tree, unless they are open.
func (c *competition) openStore(ctx context.Context) error {
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

// openTree opens the user's tree and takes the snapshot that all candidates start from.
func (c *competition) openTree(ctx context.Context) error {
	if err := c.openStore(ctx); err != nil {
		return err
	}
	isOtherRepository := c.tree.Store.CheckRepository() != nil
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
	} else if c.Force && isOtherRepository { // the result will be restored relative to this snapshot
		if err := c.tree.EnsureState(ctx, c.state.BaselineSnapshot, ""); err != nil {
			return err
		}
	}

	c.entries = []*entry{c.newEntry(0)}
	return c.save()
}

// prepareEntries creates the candidates and their trees.
func (c *competition) prepareEntries(ctx context.Context) error {
	for n := range c.Number {
		e := c.newEntry(n + 1)
		err := error(nil)
		if e.finalStop().Reason == "" {
			err = c.prepareTree(ctx, e)
		} else { // it needs no files any more
			e.tree, err = checkout.New(ctx, "", c.treeDir(e.number))
		}
		if err != nil {
			return err
		}
		c.entries = append(c.entries, e)
	}
	return nil
}

// measuredBaseline returns the baseline that the loop of entry 0 measured, and false if that loop
// has not completed.
func (e *entry) measuredBaseline() (ledger.Iteration, bool) {
	its, err := ledger.ReadIterations(e.dir())
	state, stateErr := ledger.ReadState(e.dir())
	if stateErr != nil || err != nil || len(its) == 0 || state.Status != ledger.Completed {
		return ledger.Iteration{}, false
	}
	return its[0], true
}

// measureBaseline measures the baseline in a separate tree, unless an earlier process did. It adds
// the result to the state, the ledger and the journal.
func (c *competition) measureBaseline(ctx context.Context) error {
	e, known := c.entries[0], false
	if c.baseIteration, known = e.measuredBaseline(); !known {
		if err := errors.Join(ledger.RemoveTree(e.home), c.prepareTree(ctx, e)); err != nil {
			return err
		}
		o := c.entryOptions(ctx, e)
		o.MaxIterations, o.NoApply = 0, true
		out, err := loop.Run(ctx, o)
		if err != nil {
			return err
		}
		if len(out.History) == 0 {
			return fmt.Errorf("measure the baseline: %w", context.Cause(ctx))
		}
		c.baseIteration = out.History[0]
	}

	if state, err := ledger.ReadState(e.dir()); err == nil {
		c.state.Criterion = state.Criterion
	}
	it := c.baseIteration
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
		Progress: it.Progress(false), Criterion: c.state.Criterion, Files: info.Files, Skipped: worktree.SkippedPaths(info), NotKept: []string{}, CheckOutputs: it.CheckOutputs, Uncommitted: it.Uncommitted.Lines(),
		Flaky: []string{}, Checks: it.Checks, UnusedSettings: []string{}, Iteration: it,
	}), c.save())
}

// save writes the state of the loop.
func (c *competition) save() error {
	c.state.UpdatedAt = c.now()
	return c.ledger.Save(c.state)
}

// recordFailure records that the loop ended by an error.
func (c *competition) recordFailure(err error) {
	reason := event.Broken
	if errors.Is(err, loop.ErrUnmeasurable) {
		reason = event.Unmeasurable
	}
	c.state.Status, c.state.StopReason, c.state.StopText, c.state.ExitCode = ledger.Failed, string(reason), err.Error(), reason.ExitCode()
	_ = c.save()
	c.journal.Note(event.LoopFinished, 0, event.LoopEnd{Reason: reason, Text: err.Error(), ExitCode: c.state.ExitCode})
}

// outcome returns the outcome for a stop and a ranking, which may be nil.
func (c *competition) outcome(stop event.Stop, list []ledger.Rank) Outcome {
	out := Outcome{LoopID: c.state.LoopID, Dir: c.ledger.Dir(), Stop: stop, Ranking: list}
	if len(list) > 0 && list[0].Chosen {
		out.Chosen = list[0].Candidate
	}
	return out
}

// removeTrees removes the trees of the candidates. Their contents are in the snapshots.
func (c *competition) removeTrees() error {
	var errs []error
	for _, e := range c.entries {
		if e.tree != nil {
			errs = append(errs, e.tree.Remove())
		} else { // a killed process may have left the tree of the baseline
			errs = append(errs, ledger.RemoveTree(c.treeDir(e.number)))
		}
	}
	c.entries = nil
	_ = os.Remove(filepath.Join(c.treesDir(), c.state.LoopID)) // fails if a tree could not be removed
	if c.formerTreesDir != "" && c.formerTreesDir != c.treesDir() {
		errs = append(errs, ledger.RemoveTree(filepath.Join(c.formerTreesDir, c.state.LoopID)))
	}
	return errors.Join(errs...)
}

// warn logs an error that does not stop the candidates.
func (c *competition) warn(what string, err error) {
	if c.Loop.Log != nil {
		c.Loop.Log.WithError(err).Warn(what)
	}
}
