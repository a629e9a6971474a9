package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"supervise/fleet/flow"
	"supervise/internal/approval"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/runner"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
)

// Iterate runs one iteration of a candidate. It starts from the state that the last iteration
// left in the repository, on whatever worker that ran, and is done when its own state is there
// as well. An iteration that is in the ledger already is not run again.
func (w *Worker) Iterate(ctx context.Context, in flow.IterateInput) (flow.Iteration, error) {
	out, onProgress, done := w.reporting(ctx)
	defer done()
	var it flow.Iteration
	leave, err := w.slot(out)
	if err == nil {
		it, err = w.iterate(out, onProgress, in)
		leave()
	}
	it.Queue = w.Queue
	if attempt := activity.GetInfo(ctx).Attempt; attempt > 1 {
		it.Attempt = int(attempt)
	}
	return it, temporalError(err)
}

func (w *Worker) iterate(ctx context.Context, onProgress func(flow.Progress), in flow.IterateInput) (flow.Iteration, error) {
	c := &candidate{Worker: w, IterateInput: in, onProgress: onProgress, place: w.place(in.Place, "candidate-"+strconv.Itoa(in.Candidate))}
	leave, err := c.lockFolder(ctx, c.dir)
	if err != nil {
		return flow.Iteration{}, err
	}
	defer leave()
	c.spans = startSpans(ctx, in)
	it, err := c.iterate(ctx)
	c.spans.end(it, err)
	if errors.Is(err, errCancelled) { // it is never continued
		free := context.WithoutCancel(ctx)
		err = errors.Join(err, c.clear(free), os.RemoveAll(c.dir))
	}
	return it, err
}

// candidate is one while a worker iterates it.
type candidate struct {
	*Worker
	flow.IterateInput
	place
	onProgress func(flow.Progress)
	spans      *spans
	repo       *remote
	baseCommit string // commit of the state with which the iteration begins
}

// The files next to a state.
const (
	packedName  = "packed"  // of which commit the state is
	runningName = "running" // something was started that is in no commit
)

func (c *candidate) iterate(ctx context.Context) (flow.Iteration, error) {
	if err := c.ready(ctx); err != nil {
		return flow.Iteration{}, fmt.Errorf("make candidate %d ready: %w", c.Candidate, err)
	}
	before, err := c.read()
	if err != nil {
		return before, err
	}
	if c.has(before) {
		return before, nil
	}
	if granted, err := c.reserve(ctx, &before); err != nil || !granted {
		return before, err
	}
	if err := c.answer(); err != nil {
		return before, err
	}
	if err := os.WriteFile(filepath.Join(c.dir, runningName), nil, 0o600); err != nil {
		return before, err
	}
	p := process{program: c.Supervise, onProgress: c.onProgress, spans: c.spans}
	end, err := c.in(ctx, c.place, p, "resume", c.Loop, "--candidate", strconv.Itoa(c.Candidate), "--steps", "1", "--trees", c.trees, "--force", "--json")
	if err != nil {
		return before, fmt.Errorf("iterate candidate %d: %w", c.Candidate, err)
	}
	after, err := c.read()
	switch {
	case err != nil:
		return before, err
	case !after.Over && after.Waiting == before.Waiting && after.Number == before.Number: // nothing has happened
		return before, failed("iterate candidate "+strconv.Itoa(c.Candidate), end, nil)
	}
	return c.keep(ctx, after)
}

// has reports whether the iteration, or all there will be, is done already.
func (c *candidate) has(it flow.Iteration) bool {
	return it.Over || it.Number >= c.Iteration && (it.Waiting == "" || c.Answer == nil)
}

// reserve asks the fleet whether its budget allows an iteration; it says in it why not.
func (c *candidate) reserve(ctx context.Context, it *flow.Iteration) (granted bool, err error) {
	if !c.Budget {
		return true, nil
	}
	id := fmt.Sprintf("%s/%d", flow.TaskID(c.Fleet, c.Task), c.Candidate)
	u, err := c.Client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: flow.FleetID(c.Fleet), UpdateName: flow.ReserveUpdate, Args: []any{id}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	var g flow.Grant
	if err == nil {
		err = u.Get(ctx, &g)
	}
	if err != nil {
		return false, fmt.Errorf("reserve a part of the budget: %w", err)
	}
	if it.Later = g.Later; !g.OK && !g.Later {
		it.Over, it.Reason, it.Text = true, flow.BudgetSpent, g.Text
	}
	return g.OK, nil
}

// end is what the repository knows of the candidate, and nothing is run.
func (c *candidate) end(ctx context.Context) (flow.Iteration, error) {
	leave, err := c.lockFolder(ctx, c.dir)
	if err != nil {
		return flow.Iteration{}, err
	}
	defer leave()
	if err := os.RemoveAll(c.dir); err != nil {
		return flow.Iteration{}, err
	}
	defer os.RemoveAll(c.dir)
	if err := c.ready(ctx); err != nil {
		return flow.Iteration{}, err
	}
	return c.read()
}

// keep brings the state into the repository. Where another worker was faster, what that
// has done counts.
func (c *candidate) keep(ctx context.Context, it flow.Iteration) (flow.Iteration, error) {
	c.onProgress(flow.Progress{Phase: "push", Iteration: it.Number, Since: time.Now()})
	id, err := c.repo.pack(ctx, c.home, c.baseCommit, fmt.Sprintf("candidate %d, iteration %d", c.Candidate, it.Number))
	if err != nil {
		return it, fmt.Errorf("keep iteration %d of candidate %d: %w", it.Number, c.Candidate, err)
	}
	err = c.repo.write(ctx, refOf(c.Place, c.Candidate), id, c.ownRef(), c.Pack)
	switch {
	case errors.Is(err, errMoved):
		return it, err // the next attempt finds it
	case err != nil:
		return it, fmt.Errorf("keep iteration %d of candidate %d: %w", it.Number, c.Candidate, err)
	}
	it.Pack = id
	if it.Over { // it is never continued
		return it, os.RemoveAll(c.dir)
	}
	return it, errors.Join(os.WriteFile(filepath.Join(c.dir, packedName), []byte(id), 0o600), os.Remove(filepath.Join(c.dir, runningName)))
}

// ownRef is the candidate's ref as long as no other worker writes it: empty before its first
// iteration, whose state is the baseline's.
func (c *candidate) ownRef() string {
	if c.baseCommit == c.Pack {
		return ""
	}
	return c.baseCommit
}

// ready makes tree and state those of the last iteration that is in the repository.
func (c *candidate) ready(ctx context.Context) (err error) {
	c.onProgress(flow.Progress{Phase: "fetch", Iteration: c.Iteration, Since: time.Now()})
	if c.repo, err = c.remote(ctx, c.Place); err != nil {
		return err
	}
	from := refOf(c.Place, c.Candidate)
	if c.baseCommit, err = c.repo.read(ctx, from); err != nil {
		return err
	}
	if c.baseCommit == "" {
		c.baseCommit, from = c.Pack, ref(c.Place, baseName)
	}
	_, dirty := os.Stat(filepath.Join(c.dir, runningName))
	has, _ := os.ReadFile(filepath.Join(c.dir, packedName))
	if dirty != nil && string(has) == c.baseCommit {
		return nil
	}
	if dirty == nil {
		if err := c.clear(ctx); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	if err := c.repo.fetch(ctx, from, c.baseCommit); err != nil {
		return err
	}
	if _, err := c.repo.commit(ctx, c.Commit); err != nil {
		return err
	}
	if err := c.repo.unpack(ctx, c.baseCommit, c.home); err != nil {
		return err
	}
	if err := c.repo.tree(ctx, c.tree, c.Commit); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, packedName), []byte(c.baseCommit), 0o600)
}

// loop is the folder of the candidate's loop.
func (c *candidate) loop() (home, id, dir string) {
	home, id = ledger.CandidateHome(c.home, c.Loop, c.Candidate), ledger.CandidateID(c.Loop, c.Candidate)
	return home, id, ledger.LoopDir(home, id)
}

// clear ends what a worker that is gone has left running here.
func (c *candidate) clear(ctx context.Context) error {
	home, id, dir := c.loop()
	if _, err := os.Stat(dir); err != nil {
		return nil // it had not started
	}
	for _, loop := range []string{ledger.LoopDir(c.home, c.Loop), dir} {
		if err := quiet(ctx, loop); err != nil {
			return err
		}
	}
	at := event.NewPosition()
	l, _, err := ledger.Open("", home, id, at.Apply)
	if err != nil {
		return nil // what cannot be read has started nothing
	}
	defer l.Close()
	for _, child := range at.Children {
		if _, err := runner.KillSurvivors(ctx, child.Shim, child.Leader); err != nil && !errors.Is(err, runner.ErrDoubtful) {
			return err
		}
	}
	return nil
}

// quiet waits until no process holds a loop, and asks the one that does to stop.
func quiet(ctx context.Context, dir string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for asked, begun := false, time.Now(); ; {
		free, err := ledger.IsUnlocked(dir)
		if err != nil || free {
			return nil // there is none
		}
		if state, err := ledger.ReadState(dir); err == nil && state.PID > 0 {
			if p, err := os.FindProcess(state.PID); err == nil {
				switch {
				case !asked:
					asked = true
					_ = terminate(p)
				case time.Since(begun) > patience:
					_ = p.Kill()
				}
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// answer leaves the answer of a person for the loop that asked.
func (c *candidate) answer() error {
	if c.Answer == nil {
		return nil
	}
	_, id, dir := c.loop()
	a := approval.Answer{Choice: approval.Choice(c.Answer.Choice), Reason: c.Answer.Reason, User: c.Answer.By, At: time.Now()}
	if _, err := approval.ReplyLater(dir, a); err != nil {
		return fmt.Errorf("answer %s: %w", id, err)
	}
	return nil
}

// read reads the result of the candidate's loop.
func (c *candidate) read() (it flow.Iteration, err error) {
	_, _, dir := c.loop()
	it.Pack = c.baseCommit
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return it, nil
	}
	state, err := ledger.ReadState(dir)
	if err != nil {
		return it, fmt.Errorf("candidate %d: %w", c.Candidate, err)
	}
	its, err := ledger.ReadIterations(dir)
	if err != nil {
		return it, fmt.Errorf("candidate %d: %w", c.Candidate, err)
	}
	it.Number, it.Text, it.Status = max(0, len(its)-1), short(state.StopText), state.ExitCode
	it.Reason = state.StopReason
	it.Over = state.Status.IsOver() && state.Status != ledger.Crashed && state.StopReason != string(event.Interrupted)
	if !it.Over {
		it.Reason, it.Text, it.Status = "", "", 0
		if state.StopReason == string(event.Awaiting) {
			it.Waiting, it.Number = short(state.StopText), it.Number+1
		}
	}
	if s := state.Spending; s != nil {
		if s.Tokens != nil {
			it.Tokens = *s.Tokens
		}
		if s.CostUSD != nil {
			it.CostUSD = *s.CostUSD
		}
	}
	if s := state.Selected; s != nil && s.Iteration < len(its) && it.Over {
		its = its[:s.Iteration+1]
	}
	if len(its) > 0 {
		last := its[len(its)-1]
		it.Score = last.Score.Value
		n := last.Set.Tests.Counts()
		it.Passed, it.Failed = n.Passed, n.Failed
	}
	return it, nil
}

// short is the first line of a text, cut.
func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return flow.Cut(s, flow.Most)
}
