package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supervise/detector"
	"supervise/internal/agentrun"
	"supervise/internal/environment"
	"supervise/internal/event"
	"supervise/internal/evidence"
	"supervise/internal/hook"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/prompt"
	"supervise/internal/recovery"
	"supervise/snapshot"
)

// iteration is one iteration on its way through the line.
type iteration struct {
	ledger.Iteration
	prompted prompted
	start    snapshot.Info // the tree that the agent starts from
	changes  []snapshot.Change
	lines    evidence.LineCounter // of the changes
	files    ledger.Files         // copies of changed ones, as far as they are small
	around   environment.State
	beside   []detector.Tampering // what changed there, in the records and in the hidden tests
	measured judge.Measured
	verdict  judge.Verdict

	turned   time.Duration // waited for others' checks
	unserved event.Stop    // why the agent cannot be run again, its zero value where it can
}

// iterate runs one iteration and returns a stop when it is the last. This is the line
// of docs/architecture.md: each step takes what the ones before it made, and none calls
// back. agentCtx bounds the agent alone: what it did in the time that it had is
// measured all the same.
func (r *run) iterate(ctx, agentCtx context.Context, n int) (event.Stop, error) {
	it, err := r.begin(ctx, n)
	if err == nil {
		it.prompted, err = r.prompt(agentCtx, it)
	}
	if err == nil {
		err = r.runAgent(agentCtx, it)
	}
	if err == nil {
		err = r.capture(ctx, it)
	}
	switch {
	case err != nil:
		return event.Stop{}, err
	case agentrun.WasUnavailable(it.Agent) && len(it.Changed) == 0 && len(it.Blocks()) == 0:
		return it.unserved, nil // nothing was done, and nothing is counted
	}
	stop, err := r.assess(ctx, it)
	return r.shortened(it, stop), err
}

// assess is the line from what the agent left on.
func (r *run) assess(ctx context.Context, it *iteration) (event.Stop, error) {
	asked := r.opts.Now()
	defer r.turn(ctx)()
	it.turned = r.opts.Now().Sub(asked)
	if interrupted(ctx) {
		return event.Stop{}, r.abandon(it)
	}
	err := r.measure(ctx, it)
	if err == nil {
		err = r.judge(ctx, it)
	}
	switch {
	case err != nil && interrupted(ctx):
		return event.Stop{}, r.abandon(it)
	case err != nil:
		return event.Stop{}, err
	}
	return r.settle(ctx, it)
}

// turn waits until checks may run, and returns the function that ends the turn.
func (r *run) turn(ctx context.Context) (done func()) {
	if r.opts.WaitForTurn == nil {
		return func() {}
	}
	return r.opts.WaitForTurn(ctx)
}

// settle is the line from the verdict on. What was decided is written down before
// anybody hears of it and before anything follows from it.
func (r *run) settle(ctx context.Context, it *iteration) (event.Stop, error) {
	if err := r.decide(ctx, it); err != nil {
		return event.Stop{}, err
	}
	last, err := r.append(it)
	if err == nil {
		err = r.ledger.MarkHintsDelivered()
	}
	if err != nil {
		return event.Stop{}, err
	}
	if err := r.finished(*last); err != nil {
		return event.Stop{}, err
	}
	return r.conclude(ctx, *last)
}

// begin takes the snapshot that the agent starts from.
func (r *run) begin(ctx context.Context, n int) (*iteration, error) {
	r.state.Iteration, r.checks.clock = n, measure.Clock{}
	it := &iteration{Iteration: ledger.Iteration{LoopID: r.state.LoopID, Number: n, StartedAt: r.opts.Now(), Retry: r.past.Recovery.Retries}}
	var err error
	if it.start, err = r.tree.Take(ctx, n, event.BeforeAgent); err != nil {
		return it, err
	}
	it.Start, r.tree.Start = it.start.ID, it.start.ID
	return it, r.save()
}

// prompt writes the text of the iteration and reports its level. ctx is that of the agent.
func (r *run) prompt(ctx context.Context, it *iteration) (prompted, error) {
	budget := r.budget(ctx)
	hints, err := r.ledger.Hints()
	if err != nil {
		return prompted{}, err
	}
	p, err := r.prompts.Text(it.Number, prompt.RemainingLimits(r.opts.MaxIterations-it.Number, budget, r.opts.Now()), hints)
	if err != nil {
		return p, err
	}
	from := ""
	if n := len(r.state.Levels); n > 0 {
		from = r.state.Levels[n-1].To
	}
	r.state.Level, it.Level, it.LevelReason = p.level, p.level, p.why
	if from != p.level {
		err = r.journal.Write(event.LevelChanged, it.Number, event.LevelChange{From: from, To: p.level, Why: p.why})
	}
	return p, errors.Join(err, r.journal.Write(event.IterationStarted, it.Number, event.IterationStart{Max: r.opts.MaxIterations, Level: p.level, Why: p.why, Points: p.points, Hints: r.mask.Texts(hints), Budget: budget}))
}

// runAgent runs the agent and waits until all its processes are gone.
func (r *run) runAgent(ctx context.Context, it *iteration) error {
	n := r.past.Previous.Set.Tests.Counts()
	res, err := r.agent.Run(ctx, agentrun.Task{
		Iteration: it.Number, Prompt: it.prompted.text, Evidence: it.prompted.evidence, Notes: ledger.NotesAfter(r.past.Iterations, r.past.Previous.Iteration), Start: it.Start, StartedAt: it.StartedAt, Spent: r.spent(),
		SessionContext: hook.SessionMessage(n.Passed, n.Count), FindUnmet: r.unmet, FindTests: func(names []string) ledger.Block { return ledger.NewBlock(r.past.Previous.Set.Tests, names) },
		AddWarning: func(d hook.Decision) hook.Decision { return r.prompts.beware(it.Number, it.Level, d) },
		OnWait: func(text string) error {
			r.state.Waiting = text
			return r.save()
		},
	})
	it.Agent, it.unserved = res.Run, res.Stop
	return err
}

// capture takes the snapshot of the agent's tree. It is taken also when the
// loop is being interrupted: nothing the agent did may be lost.
func (r *run) capture(ctx context.Context, it *iteration) error {
	ctx = context.WithoutCancel(ctx)
	if err := r.ledger.MoveBack(); err != nil {
		return err
	}
	info, err := r.tree.Take(ctx, it.Number, event.AfterAgent)
	if err != nil {
		return err
	}
	return r.describe(ctx, it, info)
}

// measure measures the agent's tree. What it did beside the tree is looked at before
// any check runs.
func (r *run) measure(ctx context.Context, it *iteration) (err error) {
	if it.around, err = r.around.look(ctx); err != nil {
		return err
	}
	if it.beside, err = r.around.changed(it.around); err != nil {
		return err
	}
	it.beside = append(it.beside, r.judging().FindHiddenChange(r.past)...)
	if it.measured, err = r.checks.once(ctx, it.Tree, r.past, r.near(it.Iteration)); err != nil {
		return fmt.Errorf("measure iteration %d: %w", it.Number, err)
	}
	return r.tree.ReportSharedLost(r.state.BaselineSnapshot, it.Snapshot)
}

// judge judges the measurements.
func (r *run) judge(ctx context.Context, it *iteration) (err error) {
	t := judge.Tree{Iteration: it.Iteration, StartTree: it.start.Tree, Changes: it.changes, Lines: &it.lines, EnvironmentFindings: it.beside}
	it.verdict, err = r.judging().Judge(ctx, t, it.measured, r.past)
	if it.Iteration = it.verdict.Iteration; err != nil {
		return err
	}
	it.EndedAt = r.opts.Now()
	if !it.Resumed { // else nobody was at work most of the time
		whole := it.EndedAt.Sub(it.StartedAt)
		it.OwnTime = whole - r.checks.clock.Elapsed() - it.Agent.Duration - it.Agent.Waited - it.turned
		if over := r.opts.Budget.Exceeded(it.OwnTime, whole); over != "" {
			r.warn(over, nil)
		}
	}
	return nil
}

// decide turns the verdict into the next step, and asks a person if one is needed.
func (r *run) decide(ctx context.Context, it *iteration) error {
	r.past.Learn(it.verdict)
	step, next := r.past.Decide(it.Iteration, r.opts.Settings.Settings)
	asked, err := r.approver.consult(ctx, it.Iteration, r.past.Previous.Set, step)
	if err != nil {
		return err
	}
	if asked != nil {
		step, next = recovery.ApplyAnswer(step, next, asked.Answer, r.opts.Recovery)
		it.Assessment = judge.ApplyAnswer(it.Assessment, asked)
	}
	it.Rejected = step.Reject
	var holds *bool
	var said string
	if !step.Reject {
		if it.Open, err = r.judging().Open(ctx, it.Iteration, r.past); err != nil {
			return err
		}
		if holds, said, err = r.met(ctx, it.Iteration); err != nil {
			return err
		}
	}
	it.Verified = judge.IsVerified(it.Iteration, holds)
	it.Decision = judge.NewDecision(step, next, holds)
	if holds != nil && !*holds {
		it.Decision.CriterionOutput = said
	}
	it.Decision.Approval = asked
	if step.Reject {
		it.Decision.Restore = r.past.RestoreTarget(it.Iteration, step.Target)
	}
	return r.approver.unblock(ctx, &it.Iteration, r.past.Previous.Set)
}

// append adds the iteration to the history and to the ledger, and returns the entry.
func (r *run) append(it *iteration) (*ledger.Iteration, error) {
	r.accept(it.Iteration)
	if !it.Rejected {
		if err := r.around.accept(it.around); err != nil {
			return nil, err
		}
	}
	last := r.past.Last()
	last.Best = r.state.Best
	last.Regression = r.regression(*last)
	return last, r.ledger.Append(*last, it.files, r.past.IsBest(last.Number))
}

// finished reports that the iteration is judged.
func (r *run) finished(it ledger.Iteration) error {
	return r.journal.Write(event.IterationFinished, it.Number, event.IterationEnd{
		Progress: it.Progress(r.past.IsBest(it.Number)), Rejected: it.Rejected, Verified: it.Verified,
		Changed: len(it.Changed), ElapsedMS: it.EndedAt.Sub(it.StartedAt).Milliseconds(),
		Next: it.Decision.Move, Reason: it.Decision.Reason, Iteration: it,
	})
}

// conclude does what was decided about an iteration: restore, report, stop. Doing it
// once more, after a crash, changes nothing.
func (r *run) conclude(ctx context.Context, it ledger.Iteration) (event.Stop, error) {
	if it.Rejected {
		if err := r.restore(ctx, it); err != nil {
			return event.Stop{}, err
		}
	}
	if err := errors.Join(r.report(it), r.tree.EnforceLimit(ctx)); err != nil {
		return event.Stop{}, err
	}
	return r.stopAfter(it), nil
}

// restore restores the tree that the next iteration starts from. The
// rejected tree stays a snapshot.
func (r *run) restore(ctx context.Context, it ledger.Iteration) error {
	if err := r.journal.Write(event.RollbackStarted, it.Number, event.Rollback{From: it.Snapshot, To: it.Decision.Restore}); err != nil {
		return err
	}
	if err := r.tree.Restore(ctx, it.Decision.Restore); err != nil {
		return fmt.Errorf("undo iteration %d: %w", it.Number, err)
	}
	return r.journal.Write(event.IterationRejected, it.Number, r.rejection(it))
}

// report writes the report of an iteration, the trackers and the state.
func (r *run) report(it ledger.Iteration) error {
	r.state.Add(it)
	if err := r.reports.iteration(it, r.state); err != nil {
		return err
	}
	return r.save()
}
