package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/regexp"
	"supervise/internal/report"
	"supervise/selector"
	"supervise/snapshot"
)

// Errors of [Record] that callers distinguish.
var (
	ErrNotRecorded = errors.New("supervise itself runs the iterations of this loop")
	ErrExists      = errors.New("is recorded already")
)

// Service records loops of one working tree and answers messages about them.
type Service struct {
	Home     string                        // folder of the loops, see [ledger.Home]
	Root     string                        // the working tree, absolute
	Settings func() (Settings, any, error) // settings of a new loop, and all of its settings as they are stored
	By       string                        // user name
	Now      func() time.Time
}

// loopNamePattern matches valid names of loops, as in "nightly-2.1". They become names of folders.
var loopNamePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Result is the result of [Record].
type Result struct {
	View      View
	Iteration ledger.Iteration
	Created   bool  // the loop is new
	Rejudged  []int // later iterations whose verdict changed after a replacement
}

// Record judges an iteration and adds it to a recorded loop. A missing loop is created with its
// baseline or first iteration. The error wraps [ErrInvalidMessage], [ErrExists] or
// [ErrNotRecorded] if another message would work.
func Record(ctx context.Context, p Service, m Message) (rec Result, err error) {
	n, ok, err := m.iterationNumber()
	switch {
	case err != nil:
		return rec, err
	case m.Type == KindBaseline && ok && n != 0:
		return rec, invalid("the baseline is iteration 0, not %d", n)
	case !ok && m.Type != KindBaseline:
		return rec, invalid("give the number of the iteration")
	case n < 0:
		return rec, invalid("iteration is %d: give a number from 0, the baseline", n)
	case !loopNamePattern.MatchString(m.LoopID):
		return rec, invalid("%q cannot be the name of a loop: give letters, digits, dots, dashes and underscores", m.LoopID)
	}

	l, v, created, err := p.openLoop(m.LoopID, n)
	if err != nil {
		return rec, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	r := recorder{Service: p, ledger: l, view: v, message: m, number: n}
	if err := r.run(ctx); err != nil {
		if created {
			err = errors.Join(err, os.RemoveAll(l.Dir())) // nothing was recorded
		}
		return rec, err
	}

	it, err := r.view.Iteration(n)
	return Result{View: r.view, Iteration: it, Created: created, Rejudged: r.rejudged}, err
}

// openLoop opens the loop for recording iteration n. If the loop does not exist and n is 0 or 1,
// it creates the loop, and the third result is true.
func (p Service) openLoop(id string, n int) (*ledger.Ledger, View, bool, error) {
	state, err := ledger.ReadState(ledger.LoopDir(p.Home, id))
	switch {
	case errors.Is(err, ledger.ErrNoLoop) && n > 1:
		return nil, View{}, false, fmt.Errorf("%w: %s (looked in %s); a new one starts with iteration 0, the baseline, or with 1", ledger.ErrNoLoop, id, p.Home)
	case errors.Is(err, ledger.ErrNoLoop):
		l, v, err := p.createLoop(id)
		return l, v, true, err
	case err != nil:
		return nil, View{}, false, err
	case state.Kind != ledger.KindRecorded:
		return nil, View{}, false, fmt.Errorf("loop %s: %w; give another name", id, ErrNotRecorded)
	case state.Workspace != p.Root:
		return nil, View{}, false, invalid("loop %s belongs to %s", id, state.Workspace)
	}

	l, v, err := openView(p.Home, id)
	return l, v, false, err
}

// createLoop creates the folder of a loop without iterations.
func (p Service) createLoop(id string) (*ledger.Ledger, View, error) {
	settings, stored, err := p.Settings()
	if err != nil {
		return nil, View{}, err
	}

	state := ledger.State{
		LoopID: id, Kind: ledger.KindRecorded, Status: ledger.Running, Task: "recorded from another orchestrator", Workspace: p.Root, PID: os.Getpid(),
		Criterion: "decided by the orchestrator", StartedAt: p.Now(), UpdatedAt: p.Now(),
		History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{},
	}

	state.Config.MaxRetries, state.Config.Mode = settings.Recovery.MaxRetries, string(settings.Rules.Mode)
	l, err := ledger.Create(p.Home, state)
	if err != nil {
		return nil, View{}, err
	}

	sum, err := l.SaveSettings(stored)
	if err == nil {
		err = l.Log(p.Now(), string(event.LoopRecorded), 0, 0, event.Started{Dir: l.Dir(), Settings: sum})
	}
	if err != nil {
		return nil, View{}, errors.Join(err, l.Close())
	}

	state.Version = ledger.Version
	return l, View{Dir: l.Dir(), State: state, Settings: settings, Dropped: map[snapshot.ID]bool{}}, nil
}

// recorder adds one iteration to a loop. Its run checks the number, judges the iteration, writes
// its files, and judges the later ones again if the iteration replaces one.
type recorder struct {
	Service
	ledger   *ledger.Ledger
	view     View
	message  Message
	number   int
	rejudged []int // later iterations whose verdict changed
}

// run records the iteration. An existing iteration is replaced only if the message asks for it.
func (r *recorder) run(ctx context.Context) error {
	old, err := r.view.Iteration(r.number)
	exists := err == nil
	last := -1
	if len(r.view.Iterations) > 0 {
		last = r.view.Iterations[len(r.view.Iterations)-1].Number
	}

	switch {
	case exists && !r.message.Replace:
		return fmt.Errorf("iteration %d of loop %s %w: record the next number, or replace it on purpose (--replace)", r.number, r.message.LoopID, ErrExists)
	case !exists && r.number < last:
		return invalid("iteration %d comes before %d, which is recorded and was judged without it", r.number, last)
	case !exists && r.message.Replace:
		return invalid("iteration %d is not recorded: there is nothing to replace", r.number)
	}

	it, err := r.newIteration(ctx)
	if err != nil {
		return err
	}

	if exists {
		err := r.ledger.Log(r.Now(), string(event.IterationReplaced), r.number, 0, ReplacedData{Before: old, By: r.By, Reason: r.message.Reason})
		if err = errors.Join(err, r.ledger.RemoveResults(r.number)); err != nil {
			return err
		}
	}

	if err := r.ledger.CopyArtifacts(r.number, r.Root, r.message.Artifacts); err != nil {
		return invalid("%v", err)
	}
	if err := r.append(it); err != nil {
		return err
	}
	if err := r.rejudgeLater(); err != nil {
		return err
	}
	return r.saveState()
}

// ReplacedData is the data of the event iteration_replaced in the log.
type ReplacedData struct {
	Before ledger.Iteration `json:"before"`
	By     string           `json:"by"`
	Reason string           `json:"reason,omitempty"`
}

// RecordedData is the data of the event iteration_recorded in the log.
type RecordedData struct {
	Progress ledger.Progress `json:"metrics"`
	Rejected bool            `json:"rejected"`
	Verified bool            `json:"verified"`
	Next     string          `json:"next,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	By       string          `json:"by"`
}

// newIteration creates the iteration from the message, without a verdict.
func (r *recorder) newIteration(ctx context.Context) (ledger.Iteration, error) {
	reported, err := r.message.reportedFields()
	if err != nil {
		return ledger.Iteration{}, err
	}

	if reported.StartedFrom != nil {
		if _, err := r.view.until(r.number).Iteration(*reported.StartedFrom); err != nil {
			return ledger.Iteration{}, invalid("started_from is %d, which is not an earlier iteration", *reported.StartedFrom)
		}
	}

	set, err := r.message.Set(r.view.Settings.Plan.ErrorFields)
	if err != nil {
		return ledger.Iteration{}, err
	}

	now := r.Now()
	it := ledger.Iteration{
		LoopID: r.message.LoopID, Number: r.number, StartedAt: now, EndedAt: now, Set: set, Tree: r.message.Tree, Recorded: reported,
		Checks: []ledger.CheckRun{}, Evidence: &ledger.Evidence{JudgedAt: now},
	}
	if r.message.Timestamp != nil {
		it.StartedAt, it.EndedAt = *r.message.Timestamp, *r.message.Timestamp
	}
	if reported.TimeMS != nil {
		it.StartedAt = it.EndedAt.Add(-time.Duration(*reported.TimeMS) * time.Millisecond)
	}

	baseline := set
	if first, err := r.view.Iteration(0); err == nil && r.number > 0 {
		baseline = first.Set
	}
	if it.Score, err = r.message.scoreOf(set, baseline, r.view.Settings.Weights); err != nil {
		return it, err
	}
	if r.number > 0 && !it.Score.Measured && it.Set.IsEmpty() && reported.Error == "" {
		return it, invalid("iteration %d has neither metrics nor dimensions nor a score", r.number)
	}
	if r.message.Snapshot {
		err = r.snapshot(ctx, &it)
	}
	return it, err
}

// snapshot takes a snapshot of the working tree for the iteration, and adds the changes and the
// evidence that follow from it.
func (r *recorder) snapshot(ctx context.Context, it *ledger.Iteration) (err error) {
	tree, err := ledger.LockTree(r.Root)
	if err != nil {
		return err
	}
	defer tree.Close()

	store, err := snapshot.Open(ctx, r.Root, r.ledger.SnapshotDir(), r.view.Settings.Snapshot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	if rel, inside := ledger.PathInTree(r.Home, r.Root); inside {
		if err := store.Exclude([]string{rel}); err != nil {
			return err
		}
	}

	info, err := store.Take(ctx, ledger.IterationName(r.number)+", recorded")
	if err != nil {
		return fmt.Errorf("snapshot of the tree: %w", err)
	}

	it.Snapshot, it.Tree = info.ID, cmp.Or(it.Tree, info.Tree)
	before := r.view.until(r.number)
	if i := before.startIndex(it.Recorded); i >= 0 && before.Iterations[i].Snapshot != "" {
		it.Start = before.Iterations[i].Snapshot
		changes, err := store.Changes(ctx, it.Start, it.Snapshot)
		if err != nil {
			return fmt.Errorf("compare iteration %d with its start: %w", r.number, err)
		}
		for _, c := range changes {
			it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
		}
		it.Recorded.Unchanged = len(changes) == 0
	}

	if base := r.view.State.BaselineSnapshot; base != "" && r.number > 0 {
		if it.Evidence.GitLost, err = store.LostGitState(ctx, base, it.Snapshot); err != nil {
			return fmt.Errorf("compare git's state with the baseline: %w", err)
		}
		it.Evidence.WorkLost, err = evidence.FindLostWork(ctx, store, evidence.Trees{Baseline: base, Start: it.Start, Now: it.Snapshot})
	}
	return err
}

// append judges the iteration, writes it, and logs that it was recorded.
func (r *recorder) append(it ledger.Iteration) error {
	it, err := r.view.judge(it)
	if err != nil {
		return err
	}
	r.view = r.view.with(it)
	best := it.Best != nil && it.Best.Iteration == it.Number
	if err := r.ledger.Append(it, nil, best); err != nil {
		return err
	}
	data := RecordedData{Progress: it.Progress(best), Rejected: it.Rejected, Verified: it.Verified, By: r.By}
	if it.Decision != nil {
		data.Next, data.Reason = it.Decision.Move, it.Decision.Reason
	}
	if err := r.ledger.Log(r.Now(), string(event.IterationRecorded), it.Number, it.EndedAt.Sub(it.StartedAt), data); err != nil {
		return err
	}
	return r.ledger.WriteReport(ledger.IterationName(it.Number)+"-report.md", report.IterationDocument(r.view.reportOf(it)))
}

// rejudgeLater judges the iterations after a replaced one again.
func (r *recorder) rejudgeLater() error {
	for _, later := range r.view.Iterations {
		if later.Number <= r.number {
			continue
		}
		again := later
		again.Decision, again.Best, again.Regression, again.Rejected = nil, nil, nil, false
		if e, err := ledger.ReadEvidence(r.ledger.Dir(), later.Number); err == nil {
			again.Evidence = &e
		}
		if r.number == 0 && len(later.Score.Dimensions) > 0 && hasComponents(later.Score) {
			first, _ := r.view.Iteration(0)
			again.Score = selector.Grade(later.Set, first.Set, r.view.Settings.Weights)
		}
		again, err := r.view.judge(again)
		if err != nil {
			return err
		}
		if !sameVerdict(again, later) {
			r.rejudged = append(r.rejudged, later.Number)
		}
		if err := r.append(again); err != nil {
			return err
		}
	}
	return nil
}

// hasComponents reports whether a score was computed from metrics and not reported.
func hasComponents(s selector.Score) bool {
	return slices.ContainsFunc(s.Dimensions, func(d selector.Dimension) bool { return len(d.Components) > 0 })
}

// sameVerdict reports whether two verdicts have the same class, outcome and recommended action.
func sameVerdict(a, b ledger.Iteration) bool {
	return a.Assessment.Class == b.Assessment.Class && a.Rejected == b.Rejected && a.Verified == b.Verified &&
		a.Assessment.Recommendation.Action == b.Assessment.Recommendation.Action
}

// reportOf returns the data of the report about an iteration.
func (v View) reportOf(it ledger.Iteration) report.Iteration {
	before := v.until(it.Number)
	out := report.Iteration{Iteration: it, Best: it.Best, Kept: ledger.SnapshotDir(v.Dir), Criterion: v.State.Criterion, Rules: v.Settings.Rules}
	if first, err := v.Iteration(0); err == nil {
		out.Baseline = first
	}
	if i := before.startIndex(it.Recorded); i >= 0 {
		out.Previous = &before.Iterations[i]
	}
	return out
}

// saveState rebuilds the tracker and the state from all iterations, and writes them.
func (r *recorder) saveState() error {
	s := &r.view.State
	s.ResetIterations()
	for _, it := range r.view.Iterations {
		s.Add(it)
	}
	s.Status, s.UpdatedAt, s.Selected = ledger.Running, r.Now(), nil
	s.Best = r.view.bestSoFar()
	var best *int
	if s.Best != nil {
		best = &s.Best.Iteration
	}
	return errors.Join(r.ledger.WriteTracking(r.view.Iterations, r.view.Settings.TrackingConfig(), best, r.Now()), r.ledger.Save(*s))
}
