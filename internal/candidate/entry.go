package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"supervise/detector"
	"supervise/internal/checkout"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/notify"
	"supervise/internal/treecopy"
	"supervise/internal/treediff"
	"supervise/metric"
	"supervise/snapshot"
)

// NumberEnv is the environment variable with the number of the candidate, which its agent and its
// checks get.
const NumberEnv = "SUPERVISE_CANDIDATE"

// entry is one candidate. Entry 0 is the baseline, which has a tree and a loop without iterations.
type entry struct {
	number int
	id     string // ID of its loop
	home   string // folder of its loop's state
	tree   *checkout.Tree

	stop       event.Stop // why its loop ended; zero if it did not start
	bestNumber int        // number of the selected iteration, 0 for none
	iterations int        // number of its iterations
	best       ledger.Iteration
	testFiles  []string           // changed files that contain tests
	addedTests map[metric.ID]bool // passing tests that the baseline does not have
	codeHash   string             // hash of its other changes
	changes    []snapshot.Change
}

// dir returns the folder of the candidate's loop.
func (e *entry) dir() string { return ledger.LoopDir(e.home, e.id) }

// succeeded reports whether its loop did the task, with an iteration to restore.
func (e *entry) succeeded() bool {
	return e.stop.Reason != "" && e.stop.Reason.ExitCode() == 0 && e.bestNumber > 0
}

// readyFile is an empty file next to a tree. It marks the tree as complete, so that a tree whose
// preparation was interrupted is created again.
const readyFile = "ready"

// newEntry returns a candidate without a tree.
func (c *competition) newEntry(n int) *entry {
	return &entry{number: n, id: ledger.CandidateID(c.state.LoopID, n), home: ledger.CandidateHome(c.Loop.Home, c.state.LoopID, n)}
}

// treeDir returns the folder of a candidate's tree.
func (c *competition) treeDir(n int) string {
	return filepath.Join(c.treesDir(), c.state.LoopID, strconv.Itoa(n))
}

// treesDir returns the folder for the trees of all loops.
func (c *competition) treesDir() string { return cmp.Or(c.Folder, c.Cache) }

// prepareTree opens the tree of a candidate. If there is no complete one, it creates it.
func (c *competition) prepareTree(ctx context.Context, e *entry) error {
	base := c.treeDir(e.number)
	var err error
	if _, unready := os.Stat(filepath.Join(base, readyFile)); unready == nil {
		if e.tree, err = checkout.Reopen(base); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err = c.openStore(ctx); err != nil {
		return err
	}
	repo := treediff.Repo{Dir: c.Loop.Root}.TopLevel(ctx)
	if e.tree, err = checkout.New(ctx, repo, base); err != nil {
		return err
	}
	if err := c.fillTree(ctx, e.tree, repo); err != nil {
		err = errors.Join(err, e.tree.Remove())
		e.tree = nil
		return err
	}
	return os.WriteFile(filepath.Join(base, readyFile), nil, 0o600)
}

// fillTree makes a new tree equal to the user's tree: files, installed dependencies, and the state
// of the repository repo, which is "" without git.
func (c *competition) fillTree(ctx context.Context, t *checkout.Tree, repo string) error {
	store := c.tree.Store
	if err := store.Export(ctx, c.state.BaselineSnapshot, t.Dir); err != nil {
		return err
	}
	if repo != "" {
		if err := t.CopyRepoState(ctx, repo); err != nil {
			return err
		}
	}
	files, err := store.Files(c.state.BaselineSnapshot)
	if err != nil {
		return err
	}
	why, err := treecopy.Project{Root: c.Loop.Root, Plan: c.Loop.Plan, Setup: c.Setup}.Prepare(ctx, t.Dir, files, t.Lock)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil || repo == "" {
		return err
	}
	return t.IgnoreLinks(ctx, c.Loop.Root)
}

// entryOptions returns the options of a candidate's loop: those of the competition, with the tree
// of the candidate, its agent and task, and its share of the budget. No person is asked; the
// approval policy decides.
func (c *competition) entryOptions(ctx context.Context, e *entry) loop.Options {
	o := c.Loop
	o.ID, o.Home = e.id, e.home
	o.Root, o.Dir, o.Plan.Root = e.tree.Dir, c.pathInTree(e, o.WorkDir()), c.pathInTree(e, o.Plan.Root)
	o.Plan = treecopy.PlanForCopy(ctx, o.Plan, c.Loop.Plan.Root, o.Env) // copies of its tree must use its folder
	o.Env = slices.Concat(o.Env, treecopy.ExtraEnv(ctx, o.Plan, c.Loop.Plan.Root, o.Env), []string{NumberEnv + "=" + strconv.Itoa(e.number)})
	o.Terminal, o.Mirror, o.OnReport, o.WatchChecks, o.OnInterrupt = nil, nil, nil, nil, nil
	o.Person.Terminal, o.Approval.Unattended, o.Notify = "", true, notify.Settings{}
	o.OnEvent = func(ev event.Event) {
		ev.Candidate = e.number
		if _, isCheck := ev.Data.(event.Check); isCheck || e.number > 0 { // measureBaseline reports the baseline itself
			c.emit(ev)
		}
	}

	switch {
	case e.number == 0:
		o.WatchChecks = c.Loop.WatchChecks
	case c.Watch != nil:
		o.WatchChecks, o.OnReport = c.Watch(e.number)
	}

	if e.number > 0 {
		o.BaselineFrom, o.WaitForTurn = c.newEntry(0).dir(), c.waitForTurn
	}
	o.ReadOnly = append(c.otherTrees(e.number), c.Loop.Root)
	o.Origin = c.Loop.Root
	o.Readable = []string{c.Loop.Root, e.tree.ObjectsLink()} // the tree has links to installed dependencies, and git reads shared objects
	o.MaxCost /= float64(c.Number)
	o.MaxTokens = (o.MaxTokens + int64(c.Number) - 1) / int64(c.Number) // rounded up, because 0 would mean no limit
	if c.Jobs < c.Number {
		o.MaxTime /= time.Duration((c.Number + c.Jobs - 1) / c.Jobs)
	}

	c.applyVariation(e.number, &o)
	return o
}

// waitForTurn waits until the checks of a candidate may run. Checks are limited to the number
// of processors; agents are not, because they mostly wait for their service.
func (c *competition) waitForTurn(ctx context.Context) (done func()) {
	select {
	case c.checkSlots <- struct{}{}:
		return func() { <-c.checkSlots }
	case <-ctx.Done():
		return func() {}
	}
}

// otherTrees returns the folders of the trees of all entries but n, as far as they exist.
func (c *competition) otherTrees(n int) (out []string) {
	for i := range c.Number + 1 {
		if _, err := os.Stat(c.treeDir(i)); err == nil && i != n {
			out = append(out, c.treeDir(i))
		}
	}
	return out
}

// pathInTree maps a path in the user's tree to the tree of a candidate. Other paths are unchanged.
func (c *competition) pathInTree(e *entry, path string) string {
	rel, err := filepath.Rel(c.Loop.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join(e.tree.Dir, rel)
}

// applyVariation sets the agent and the task of candidate n in o.
func (c *competition) applyVariation(n int, o *loop.Options) {
	if n == 0 {
		return
	}
	if len(c.Programs) > 0 {
		o.Setup = o.WithProgram(c.Programs[(n-1)%len(c.Programs)])
	}
	if len(c.Tasks) > 0 {
		o.Task, o.RawTask = c.Tasks[(n-1)%len(c.Tasks)], nil
	}
}

// emit passes an event of a candidate to the listener, one at a time.
func (c *competition) emit(e event.Event) {
	c.eventMutex.Lock()
	defer c.eventMutex.Unlock()
	c.Loop.OnEvent(e)
}

// errEnough is the reason to stop the remaining candidates: enough have done the task.
var errEnough = errors.New("enough candidates have done the task")

// runAll runs the loops of all candidates, as many in parallel as c.Jobs says. It returns an error
// only if another process runs one of them, or if all of them failed.
func (c *competition) runAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all errgroup.Group
	all.SetLimit(c.Jobs)
	errs := make([]error, len(c.entries))
	var successes atomic.Int64
	for _, e := range c.entries[1:] {
		all.Go(func() error {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the others need not start
			}
			errs[e.number] = c.runEntry(ctx, e)
			if e.succeeded() && int(successes.Add(1)) >= c.StopWhen && c.StopWhen > 0 {
				cancel(errEnough)
			}
			return nil
		})
	}

	_ = all.Wait() // the errors are in errs
	for _, e := range c.entries[1:] {
		if err := errs[e.number]; errors.Is(err, ledger.ErrLocked) {
			return fmt.Errorf("candidate %d: %w", e.number, err)
		} else if err != nil { // an error of one candidate does not stop the others
			c.warn(fmt.Sprintf("candidate %d", e.number), err)
			e.stop = event.Stop{Reason: event.Broken, Text: err.Error()}
		}
	}

	if !slices.ContainsFunc(c.entries[1:], func(e *entry) bool { return e.stop.Reason != event.Broken }) {
		return errors.Join(errs...)
	}
	return nil
}

// runEntry runs or resumes the loop of a candidate, unless it has ended.
func (c *competition) runEntry(ctx context.Context, e *entry) error {
	e.stop = e.finalStop()
	if c.CompareOnly && e.stop.Reason == "" {
		return nil
	}

	o := c.entryOptions(ctx, e)
	err := c.journal.Write(event.CandidateStarted, 0, event.Candidate{Candidate: e.number, LoopID: e.id, Dir: e.tree.Dir, Agent: c.mask.Texts(o.CommandLine())})
	if err != nil {
		return err
	}

	if e.stop.Reason == "" {
		out, err := e.startOrResume(ctx, o)
		if err != nil {
			return err
		}
		e.stop = out.Stop
	}

	if err := e.readResult(); err != nil {
		return err
	}
	return c.journal.Write(event.CandidateFinished, 0, event.CandidateEnd{
		Candidate: e.number, LoopID: e.id, Reason: e.stop.Reason, Text: e.stop.Text, Iteration: e.bestNumber, Iterations: e.iterations,
	})
}

// finalStop returns why the loop of a candidate has ended, the zero value if it can continue.
func (e *entry) finalStop() event.Stop {
	state, err := ledger.ReadState(e.dir())
	stop := event.Stop{Reason: event.Reason(state.StopReason), Text: state.StopText}
	hasEnded := err == nil && state.Status.IsOver() && state.Status != ledger.Crashed
	if !hasEnded || !isFinal(stop.Reason) {
		return event.Stop{}
	}
	return stop
}

// startOrResume starts the loop of a candidate, or resumes it. A loop that was killed before it
// stored its settings starts again.
func (e *entry) startOrResume(ctx context.Context, o loop.Options) (loop.Outcome, error) {
	if _, err := ledger.ReadState(e.dir()); err != nil {
		return loop.Run(ctx, o)
	}
	out, err := loop.Resume(ctx, e.id, o, true)
	if !errors.Is(err, ledger.ErrNoSettings) {
		return out, err
	}
	if err := ledger.RemoveTree(e.home); err != nil {
		return out, err
	}
	return loop.Run(ctx, o)
}

// readResult reads what the loop of a candidate selected and what it used, and sets e.best.
func (e *entry) readResult() error {
	state, err := ledger.ReadState(e.dir())
	if err != nil {
		return err
	}

	its, err := ledger.ReadIterations(e.dir())
	if err != nil {
		return err
	}

	e.iterations = max(0, len(its)-1)
	if s := state.Selected; s != nil && s.Iteration > 0 && s.Iteration < len(its) {
		e.bestNumber, e.best = s.Iteration, its[s.Iteration]
	}

	e.best.StartedAt, e.best.EndedAt = state.StartedAt, state.UpdatedAt
	if state.Spending != nil {
		run := ledger.AgentRun{}
		if e.best.Agent != nil {
			run = *e.best.Agent
		}
		run.Usage = new(state.Spending.Usage)
		e.best.Agent = &run
	}
	return nil
}

// isSuspended reports whether the candidates will continue later: the user has paused one, or
// asked only for the baseline.
func (c *competition) isSuspended() bool {
	return c.Loop.Steps != nil || slices.ContainsFunc(c.entries, func(e *entry) bool { return e.stop.Reason == event.PausedByUser })
}

// importResults adds the result of each candidate to the ledger, as the iteration with its number.
func (c *competition) importResults(ctx context.Context) error {
	if c.isSuspended() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, e := range c.entries[1:] {
		if err := c.importResult(ctx, e); err != nil {
			return fmt.Errorf("candidate %d: %w", e.number, err)
		}
		if err := c.ledger.Append(e.best, nil, false); err != nil {
			return err
		}
		c.state.Iteration = e.number
		c.state.Add(e.best)
	}
	return c.save()
}

// importResult turns e.best into an iteration of this loop, and copies its tree into the store of
// the user's tree. A candidate without a result becomes an interrupted iteration.
func (c *competition) importResult(ctx context.Context, e *entry) error {
	base := c.state.BaselineSnapshot
	e.best.LoopID, e.best.Number, e.best.Start, e.best.Best, e.best.Regression = c.state.LoopID, e.number, base, nil, nil
	if e.bestNumber == 0 {
		e.best.Interrupted, e.best.Rejected, e.best.Snapshot, e.best.Tree = true, true, base, c.baseIteration.Tree
		e.best.Set = metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "it has no result that can be kept"}}}
		e.best.Assessment = detector.Assessment{Iteration: e.number, Class: detector.Plateau}
		return nil
	}

	state, err := ledger.ReadState(e.dir())
	if err != nil {
		return err
	}

	store, err := snapshot.Open(ctx, e.tree.Dir, ledger.SnapshotDir(e.dir()), snapshot.Options{Moved: true})
	if err != nil {
		return err
	}
	defer store.Close()

	info, err := c.tree.Store.Import(ctx, base, snapshot.Work{Store: store, From: state.BaselineSnapshot, To: e.best.Snapshot}, "candidate "+strconv.Itoa(e.number))
	if err != nil {
		return err
	}

	e.best.Snapshot, e.best.Tree = info.ID, info.Tree
	if e.changes, err = c.tree.Store.Changes(ctx, base, info.ID); err != nil {
		return err
	}

	e.best.Changed = nil
	for _, change := range e.changes {
		e.best.Changed = append(e.best.Changed, ledger.FileChange{Path: change.Path, Kind: string(change.Kind)})
	}
	return nil
}
