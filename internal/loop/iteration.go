package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// iteration is one iteration while it runs. Each step of [run.iterate] adds its results.
type iteration struct {
	ledger.Iteration
	prompt      promptResult
	start       snapshot.Info // the tree that the agent starts from
	changes     []snapshot.Change
	lines       evidence.LineCounter // changed lines
	files       ledger.Files         // copies of small changed files
	environment environment.State
	tampering   []detector.Tampering // changes of the environment, the records and the hidden tests
	measured    judge.Measured
	verdict     judge.Verdict

	waitedForTurn time.Duration // while other loops ran their checks
	serviceStop   event.Stop    // why the agent cannot run again; zero if it can
}

// iterate runs iteration n and returns a stop if it is the last one. The steps are: take a
// snapshot, write the prompt, run the agent, take another snapshot, measure, judge, decide, and
// record. Each one uses the results of those before it; see docs/architecture.md.
//
// agentCtx limits only the agent. After its end, what the agent did is still measured.
func (r *run) iterate(ctx, agentCtx context.Context, n int) (event.Stop, error) {
	it, err := r.beginIteration(ctx, n)
	if err == nil {
		it.prompt, err = r.writePrompt(agentCtx, it)
	}
	if err == nil {
		err = r.runAgent(agentCtx, it)
	}
	if err == nil {
		err = r.snapshotAgentTree(ctx, it)
	}
	if err != nil {
		return event.Stop{}, err
	}
	didNothing := len(it.Changed) == 0 && len(it.Blocks()) == 0
	if agentrun.WasUnavailable(it.Agent) && didNothing {
		return it.serviceStop, nil // it does not count as an iteration
	}
	stop, err := r.assess(ctx, it)
	return r.limitStop(it, stop), err
}

// assess measures and judges what the agent left, and returns a stop if the loop ends. A loop of
// candidates lets only some of them run checks at a time.
func (r *run) assess(ctx context.Context, it *iteration) (event.Stop, error) {
	start := r.opts.Now()
	defer r.waitForTurn(ctx)()
	it.waitedForTurn = r.opts.Now().Sub(start)
	if isJudged, err := r.measureAndJudge(ctx, it); !isJudged {
		return event.Stop{}, err
	}
	return r.settle(ctx, it)
}

// measureAndJudge measures and judges what the agent left. If the user interrupts that, the iteration
// is only recorded, and isJudged is false.
func (r *run) measureAndJudge(ctx context.Context, it *iteration) (isJudged bool, err error) {
	if !interrupted(ctx) {
		if err = r.measureIteration(ctx, it); err == nil {
			err = r.judgeIteration(ctx, it)
		}
		if err == nil || !interrupted(ctx) {
			return err == nil, err
		}
	}
	return false, r.recordInterrupted(it)
}

// waitForTurn waits until checks may run, and returns the function that ends the turn.
func (r *run) waitForTurn(ctx context.Context) (done func()) {
	if r.opts.WaitForTurn == nil {
		return func() {}
	}
	return r.opts.WaitForTurn(ctx)
}

// settle decides about a judged iteration, records the decision, and acts on it. The record is
// written before any listener gets the event and before the tree changes, so that a resumed loop
// can repeat what a crash interrupted.
func (r *run) settle(ctx context.Context, it *iteration) (event.Stop, error) {
	if err := r.decide(ctx, it); err != nil {
		return event.Stop{}, err
	}
	last, err := r.appendRecord(it)
	if err == nil {
		err = r.ledger.MarkHintsDelivered()
	}
	if err != nil {
		return event.Stop{}, err
	}
	if err := r.reportFinished(*last); err != nil {
		return event.Stop{}, err
	}
	return r.conclude(ctx, *last)
}

// newlyAccepted returns the findings that a person accepted and no iteration has recorded.
func (r *run) newlyAccepted() []detector.Acknowledgement {
	known := r.past.Acknowledged()
	return slices.DeleteFunc(slices.Clone(r.opts.Accepted), func(a detector.Acknowledgement) bool {
		return slices.ContainsFunc(known, func(k detector.Acknowledgement) bool { return k.ID == a.ID })
	})
}

// beginIteration takes the snapshot that the agent starts from.
func (r *run) beginIteration(ctx context.Context, n int) (*iteration, error) {
	r.state.Iteration, r.checks.clock = n, measure.Clock{}
	it := &iteration{Iteration: ledger.Iteration{LoopID: r.state.LoopID, Number: n, StartedAt: r.opts.Now(), Retry: r.past.Recovery.Retries, Acknowledged: r.newlyAccepted()}}
	var err error
	if it.start, err = r.tree.Take(ctx, n, event.BeforeAgent); err != nil {
		return it, err
	}
	it.Start, r.tree.Start = it.start.ID, it.start.ID
	return it, r.save()
}

// writePrompt writes the prompt of the iteration and reports its level. ctx is the context of
// the agent.
func (r *run) writePrompt(ctx context.Context, it *iteration) (promptResult, error) {
	budget := r.budget(ctx)
	hints, err := r.ledger.Hints()
	if err != nil {
		return promptResult{}, err
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

// runAgent runs the agent and waits until all its processes have ended.
func (r *run) runAgent(ctx context.Context, it *iteration) error {
	n := r.past.Previous.Set.Tests.Counts()
	res, err := r.agent.Run(ctx, agentrun.Task{
		Iteration: it.Number, Prompt: it.prompt.text, Evidence: it.prompt.evidence, Notes: ledger.NotesAfter(r.past.Iterations, r.past.Previous.Iteration), Start: it.Start, StartedAt: it.StartedAt, Spent: r.agentUsage(),
		SessionContext: hook.SessionMessage(n.Passed, n.Count), FindUnmet: r.unmetCriterion, FindTests: func(names []string) ledger.Block { return ledger.NewBlock(r.past.Previous.Set.Tests, names) },
		AddWarning: func(d hook.Decision) hook.Decision { return r.prompts.addReminder(it.Number, it.Level, d) },
		OnWait: func(text string) error {
			r.state.Waiting = text
			return r.save()
		},
	})
	it.Agent, it.serviceStop = res.Run, res.Stop
	return err
}

// snapshotAgentTree takes the snapshot of what the agent left and records the changes. An
// interruption does not stop it, because no work of the agent may be lost.
func (r *run) snapshotAgentTree(ctx context.Context, it *iteration) error {
	ctx = context.WithoutCancel(ctx)
	if err := r.ledger.MoveBack(); err != nil {
		return err
	}
	info, err := r.tree.Take(ctx, it.Number, event.AfterAgent)
	if err != nil {
		return err
	}
	return r.recordChanges(ctx, it, info)
}

// measureIteration measures the agent's tree. It looks for changes outside the tree first, because
// the checks may run programs that the agent changed.
func (r *run) measureIteration(ctx context.Context, it *iteration) (err error) {
	if it.environment, err = r.environment.observe(ctx); err != nil {
		return err
	}
	if it.tampering, err = r.environment.changes(it.environment); err != nil {
		return err
	}
	it.tampering = append(it.tampering, r.newJudge().FindHiddenChange(r.past)...)
	if it.measured, err = r.checks.measureTree(ctx, it.Tree, r.past, r.mayBeLast(it.Iteration)); err != nil {
		return fmt.Errorf("measure iteration %d: %w", it.Number, err)
	}
	if !it.measured.Reused {
		if it.measured.CheckChanges, err = r.findCheckChanges(ctx, it.Snapshot); err != nil {
			return err
		}
	}
	return r.tree.ReportSharedLost(r.state.BaselineSnapshot, it.Snapshot)
}

// judgeIteration judges the measurements, and records how much time supervise itself used.
func (r *run) judgeIteration(ctx context.Context, it *iteration) (err error) {
	t := judge.Tree{Iteration: it.Iteration, StartTree: it.start.Tree, Changes: it.changes, Lines: &it.lines, EnvironmentFindings: it.tampering}
	it.verdict, err = r.newJudge().Judge(ctx, t, it.measured, r.past)
	it.Iteration = it.verdict.Iteration
	if err != nil {
		return err
	}
	if m := it.verdict.CleanMeasurement; m != nil {
		m.Set = r.checks.mask.Set(m.Set)
		r.lastClean = cleanRun{it.Tree, m}
	}
	it.EndedAt = r.opts.Now()
	if !it.Resumed { // a resumed iteration includes the time without a process
		total := it.EndedAt.Sub(it.StartedAt)
		it.OwnTime = total - r.checks.clock.Elapsed() - it.Agent.Duration - it.Agent.Waited - it.waitedForTurn
		if excess := r.opts.Budget.Exceeded(it.OwnTime, total); excess != "" {
			r.warn(excess, nil)
		}
	}
	return nil
}

// decide turns the verdict into a decision: accept or reject, and what comes next. It asks a
// person if the step needs an approval.
func (r *run) decide(ctx context.Context, it *iteration) error {
	r.past.Learn(it.verdict)
	step, next := r.past.Decide(it.Iteration, r.opts.Settings.Settings)
	approval, err := r.approver.consult(ctx, it.Iteration, r.past.Previous.Set, step)
	if err != nil {
		return err
	}

	if approval != nil {
		step, next = recovery.ApplyAnswer(step, next, approval.Answer, r.opts.Recovery)
		it.Assessment = judge.ApplyAnswer(it.Assessment, approval)
	}

	it.Rejected = step.Reject
	var met *bool
	var output string
	if !step.Reject {
		if it.Open, err = r.newJudge().Open(ctx, it.Iteration, r.past); err != nil {
			return err
		}
		if met, output, err = r.criterionMet(ctx, it.Iteration); err != nil {
			return err
		}
	}

	it.Verified = judge.IsVerified(it.Iteration, met)
	it.Decision = judge.NewDecision(step, next, met)
	if met != nil && !*met {
		it.Decision.CriterionOutput = output
	}

	it.Decision.Approval = approval
	if step.Reject {
		it.Decision.Restore = r.past.RestoreTarget(it.Iteration, step.Target)
	}
	return r.approver.askAboutBlocked(ctx, &it.Iteration, r.past.Previous.Set)
}

// appendRecord adds the iteration to the history and to the ledger, and returns its entry in the
// history.
func (r *run) appendRecord(it *iteration) (*ledger.Iteration, error) {
	r.addToHistory(it.Iteration)
	if !it.Rejected {
		if err := r.environment.accept(it.environment); err != nil {
			return nil, err
		}
	}
	last := r.past.Last()
	last.Best = r.state.Best
	last.Regression = r.regressionOf(*last)
	return last, r.ledger.Append(*last, it.files, r.past.IsBest(last.Number))
}

// reportFinished writes the event iteration_finished.
func (r *run) reportFinished(it ledger.Iteration) error {
	return r.journal.Write(event.IterationFinished, it.Number, event.IterationEnd{
		Progress: it.Progress(r.past.IsBest(it.Number)), Rejected: it.Rejected, Verified: it.Verified,
		Changed: len(it.Changed), ElapsedMS: it.EndedAt.Sub(it.StartedAt).Milliseconds(),
		Next: it.Decision.Move, Reason: it.Decision.Reason, Iteration: it,
	})
}

// conclude acts on the recorded decision about an iteration: it rolls back if needed, writes the
// report and returns the stop, if any. It can be repeated after a crash.
func (r *run) conclude(ctx context.Context, it ledger.Iteration) (event.Stop, error) {
	if it.Rejected {
		if err := r.rollBack(ctx, it); err != nil {
			return event.Stop{}, err
		}
	}
	if err := errors.Join(r.writeReport(it), r.tree.EnforceLimit(ctx)); err != nil {
		return event.Stop{}, err
	}
	return r.stopAfter(it), nil
}

// rollBack restores the tree that the next iteration starts from. The rejected tree is kept as
// a snapshot.
func (r *run) rollBack(ctx context.Context, it ledger.Iteration) error {
	if err := r.journal.Write(event.RollbackStarted, it.Number, event.Rollback{From: it.Snapshot, To: it.Decision.Restore}); err != nil {
		return err
	}
	if err := r.tree.Restore(ctx, it.Decision.Restore); err != nil {
		return fmt.Errorf("roll back iteration %d: %w", it.Number, err)
	}
	return r.journal.Write(event.IterationRejected, it.Number, r.rejectionEvent(it))
}

// writeReport writes the report of an iteration, the trackers and the state.
func (r *run) writeReport(it ledger.Iteration) error {
	r.state.Add(it)
	if err := r.reports.writeIteration(it, r.state); err != nil {
		return err
	}
	return r.save()
}
