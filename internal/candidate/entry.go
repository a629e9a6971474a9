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
	"sync"
	"time"

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

// NumberEnv is the variable that tells the agent and the checks the number of their candidate.
const NumberEnv = "SUPERVISE_CANDIDATE"

// entry is one candidate; number 0 is that of the baseline.
type entry struct {
	number int
	id     string // of its loop
	home   string
	tree   *checkout.Tree

	stop     event.Stop // why its loop ended; zero: it did not begin
	selected int        // iteration, 0: none
	count    int        // of its iterations
	it       ledger.Iteration
	tests    []string           // files with tests among its changes
	own      map[metric.ID]bool // tests that it added
	code     string             // identity of its other changes
	changes  []snapshot.Change
}

func (e *entry) dir() string { return ledger.LoopDir(e.home, e.id) }

// done reports whether its loop ended well, with something to give back.
func (e *entry) done() bool {
	return e.stop.Reason != "" && e.stop.Reason.ExitCode() == 0 && e.selected > 0
}

// readyName is the file beside a tree that says that it is made.
const readyName = "ready"

// entryOf returns a candidate, without a tree.
func (c *contest) entryOf(n int) *entry {
	return &entry{number: n, id: ledger.CandidateID(c.state.LoopID, n), home: ledger.CandidateHome(c.Loop.Home, c.state.LoopID, n)}
}

// place is the folder of a candidate's tree.
func (c *contest) place(n int) string {
	return filepath.Join(c.folder(), c.state.LoopID, strconv.Itoa(n))
}

// folder is that of the trees of all loops of candidates.
func (c *contest) folder() string { return cmp.Or(c.Folder, c.Cache) }

// plant gives a candidate its tree, which is made where there is none.
func (c *contest) plant(ctx context.Context, e *entry) error {
	base := c.place(e.number)
	var err error
	if _, unready := os.Stat(filepath.Join(base, readyName)); unready == nil {
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
	if err := c.fill(ctx, e.tree, repo); err != nil {
		err = errors.Join(err, e.tree.Remove())
		e.tree = nil
		return err
	}
	return os.WriteFile(filepath.Join(base, readyName), nil, 0o600)
}

// fill makes a tree equal to the user's: its files, what is installed there, and its
// repository.
func (c *contest) fill(ctx context.Context, t *checkout.Tree, repo string) error {
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

// optionsOf are the options of a candidate's loop: those of all, in its own tree, with its
// part of the budget. Nobody is asked: what needs a person is decided by the policy.
func (c *contest) optionsOf(ctx context.Context, e *entry) loop.Options {
	o := c.Loop
	o.ID, o.Home = e.id, e.home
	o.Root, o.Dir, o.Plan.Root = e.tree.Dir, c.moved(e, o.WorkDir()), c.moved(e, o.Plan.Root)
	o.Plan = treecopy.PlanForCopy(ctx, o.Plan, c.Loop.Plan.Root, o.Env) // copies of its tree follow that
	o.Env = slices.Concat(o.Env, treecopy.ExtraEnv(ctx, o.Plan, c.Loop.Plan.Root, o.Env), []string{NumberEnv + "=" + strconv.Itoa(e.number)})
	o.Terminal, o.Mirror, o.OnReport, o.WatchChecks, o.OnInterrupt = nil, nil, nil, nil, nil
	o.Person.Terminal, o.Approval.Unattended, o.Notify = "", true, notify.Settings{}
	o.OnEvent = func(ev event.Event) {
		ev.Candidate = e.number
		if _, check := ev.Data.(event.Check); check || e.number > 0 { // the baseline is told of as that of all
			c.hear(ev)
		}
	}
	switch {
	case e.number == 0:
		o.WatchChecks = c.Loop.WatchChecks
	case c.Watch != nil:
		o.WatchChecks, o.OnReport = c.Watch(e.number)
	}
	if e.number > 0 {
		o.BaselineFrom, o.WaitForTurn = c.entryOf(0).dir(), c.turn
	}
	o.ReadOnly = append(c.others(e.number), c.Loop.Root)
	o.Origin = c.Loop.Root
	o.Readable = []string{c.Loop.Root, e.tree.ObjectsLink()} // what is installed there is linked, and git reads its objects
	o.MaxCost /= float64(c.Number)
	o.MaxTokens = (o.MaxTokens + int64(c.Number) - 1) / int64(c.Number) // 0 would be no limit
	if c.Jobs < c.Number {
		o.MaxTime /= time.Duration((c.Number + c.Jobs - 1) / c.Jobs)
	}
	c.vary(e.number, &o)
	return o
}

// turn waits until the checks of a candidate may run. Agents mostly wait for their service,
// and checks for a processor.
func (c *contest) turn(ctx context.Context) (done func()) {
	select {
	case c.turns <- struct{}{}:
		return func() { <-c.turns }
	case <-ctx.Done():
		return func() {}
	}
}

// others are the folders of the trees of the other candidates.
func (c *contest) others(n int) (out []string) {
	for other := range c.Number + 1 {
		if _, err := os.Stat(c.place(other)); err == nil && other != n {
			out = append(out, c.place(other))
		}
	}
	return out
}

// moved is a path of the user's tree in that of a candidate.
func (c *contest) moved(e *entry, path string) string {
	rel, err := filepath.Rel(c.Loop.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join(e.tree.Dir, rel)
}

// vary gives a candidate its own agent and task.
func (c *contest) vary(n int, o *loop.Options) {
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

// hear passes an event of a candidate on, one at a time.
func (c *contest) hear(e event.Event) {
	c.heard.Lock()
	defer c.heard.Unlock()
	c.Loop.OnEvent(e)
}

// errEnough is why candidates are ended when enough have done the task.
var errEnough = errors.New("enough candidates have done the task")

// race runs the candidates, as many at a time as there are jobs.
func (c *contest) race(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	slots, errs := make(chan struct{}, c.Jobs), make([]error, len(c.entries))
	var mu sync.Mutex
	won := 0
	for _, e := range c.entries[1:] {
		all.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			if ctx.Err() != nil {
				return
			}
			errs[e.number] = c.run(ctx, e)
			mu.Lock()
			defer mu.Unlock()
			if e.done() {
				won++
			}
			if c.StopWhen > 0 && won >= c.StopWhen {
				cancel(errEnough)
			}
		})
	}
	all.Wait()
	for _, e := range c.entries[1:] {
		if err := errs[e.number]; errors.Is(err, ledger.ErrLocked) {
			return fmt.Errorf("candidate %d: %w", e.number, err)
		} else if err != nil { // one that breaks does not take the others with it
			c.warn(fmt.Sprintf("candidate %d", e.number), err)
			e.stop = event.Stop{Reason: event.Broken, Text: err.Error()}
		}
	}
	if !slices.ContainsFunc(c.entries[1:], func(e *entry) bool { return e.stop.Reason != event.Broken }) {
		return errors.Join(errs...)
	}
	return nil
}

// run runs or resumes the loop of a candidate. One that has ended stays as it is.
func (c *contest) run(ctx context.Context, e *entry) error {
	if e.stop = e.over(); c.CompareOnly && e.stop.Reason == "" {
		return nil
	}
	o := c.optionsOf(ctx, e)
	err := c.journal.Write(event.CandidateStarted, 0, event.Candidate{Candidate: e.number, LoopID: e.id, Dir: e.tree.Dir, Agent: c.mask.Texts(o.CommandLine())})
	if err != nil {
		return err
	}
	if e.stop.Reason == "" {
		out, err := e.goOn(ctx, o)
		if err != nil {
			return err
		}
		e.stop = out.Stop
	}
	if err := e.read(); err != nil {
		return err
	}
	return c.journal.Write(event.CandidateFinished, 0, event.CandidateEnd{
		Candidate: e.number, LoopID: e.id, Reason: e.stop.Reason, Text: e.stop.Text, Iteration: e.selected, Iterations: e.count,
	})
}

// over is why the loop of a candidate has ended for good; zero where it goes on.
func (e *entry) over() event.Stop {
	state, err := ledger.ReadState(e.dir())
	stop := event.Stop{Reason: event.Reason(state.StopReason), Text: state.StopText}
	if err != nil || !state.Status.IsOver() || state.Status == ledger.Crashed || !final(stop.Reason) {
		return event.Stop{}
	}
	return stop
}

// goOn begins the loop of a candidate, or resumes it.
func (e *entry) goOn(ctx context.Context, o loop.Options) (loop.Outcome, error) {
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

// read finds what the loop of a candidate selected.
func (e *entry) read() error {
	state, err := ledger.ReadState(e.dir())
	if err != nil {
		return err
	}
	its, err := ledger.ReadIterations(e.dir())
	if err != nil {
		return err
	}
	e.count = max(0, len(its)-1)
	if s := state.Selected; s != nil && s.Iteration > 0 && s.Iteration < len(its) {
		e.selected, e.it = s.Iteration, its[s.Iteration]
	}
	e.it.StartedAt, e.it.EndedAt = state.StartedAt, state.UpdatedAt
	if state.Spending != nil {
		run := ledger.AgentRun{}
		if e.it.Agent != nil {
			run = *e.it.Agent
		}
		usage := state.Spending.Usage
		run.Usage = &usage
		e.it.Agent = &run
	}
	return nil
}

// setDown reports whether candidates are not at their end, and nothing broke or interrupted
// them: the user has paused one, or wants the baseline alone.
func (c *contest) setDown() bool {
	return c.Loop.Steps != nil || slices.ContainsFunc(c.entries, func(e *entry) bool { return e.stop.Reason == event.PausedByUser })
}

// gather takes what the candidates came to over into the store of the user's tree, as the
// iterations of this loop.
func (c *contest) gather(ctx context.Context) error {
	if c.setDown() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, e := range c.entries[1:] {
		if err := c.take(ctx, e); err != nil {
			return fmt.Errorf("candidate %d: %w", e.number, err)
		}
		if err := c.ledger.Append(e.it, nil, false); err != nil {
			return err
		}
		c.state.Iteration = e.number
		c.state.Add(e.it)
	}
	return c.save()
}

// take makes the iteration of a candidate.
func (c *contest) take(ctx context.Context, e *entry) error {
	base := c.state.BaselineSnapshot
	e.it.LoopID, e.it.Number, e.it.Start, e.it.Best, e.it.Regression = c.state.LoopID, e.number, base, nil, nil
	if e.selected == 0 {
		e.it.Interrupted, e.it.Rejected, e.it.Snapshot, e.it.Tree = true, true, base, c.base.Tree
		e.it.Set = metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "it came to nothing that can be kept"}}}
		e.it.Assessment = detector.Assessment{Iteration: e.number, Class: detector.Plateau}
		return nil
	}
	theirs, err := ledger.ReadState(e.dir())
	if err != nil {
		return err
	}
	store, err := snapshot.Open(ctx, e.tree.Dir, ledger.SnapshotDir(e.dir()), snapshot.Options{Moved: true})
	if err != nil {
		return err
	}
	defer store.Close()
	info, err := c.tree.Store.Import(ctx, base, snapshot.Work{Store: store, From: theirs.BaselineSnapshot, To: e.it.Snapshot}, "candidate "+strconv.Itoa(e.number))
	if err != nil {
		return err
	}
	e.it.Snapshot, e.it.Tree = info.ID, info.Tree
	if e.changes, err = c.tree.Store.Changes(ctx, base, info.ID); err != nil {
		return err
	}
	e.it.Changed = nil
	for _, change := range e.changes {
		e.it.Changed = append(e.it.Changed, ledger.FileChange{Path: change.Path, Kind: string(change.Kind)})
	}
	return nil
}
