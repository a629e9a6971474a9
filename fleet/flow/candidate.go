package flow

import (
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// iterationsPerRun is after how many iterations a candidate starts a new history.
const iterationsPerRun = 50

// The reasons for which a candidate ends that supervise run does not have.
const (
	BudgetSpent  = "fleet_budget"
	WorkerFailed = "worker_failed"
	EndedEarly   = "ended_early" // enough others have done the task
)

// iterationOptions are the options of an iteration. It may take as long as it needs, but a worker
// that stops reporting is taken for dead. A dead worker is not the agent's fault, so the
// iteration is tried often.
func iterationOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 7 * 24 * time.Hour,
		HeartbeatTimeout:    HeartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute, MaximumAttempts: 30},
	})
}

// HeartbeatTimeout is after how long a worker that does not report is taken for dead. A
// program sets it before it runs workflows; those that were scheduled before keep theirs.
var HeartbeatTimeout = 30 * time.Second

// Candidate runs the iterations of one candidate one after another, each on a free worker,
// until its loop is over.
func Candidate(ctx workflow.Context, in CandidateInput) (Iteration, error) {
	c := &candidate{CandidateInput: in, id: workflow.GetInfo(ctx).WorkflowExecution.ID}
	if err := workflow.SetQueryHandler(ctx, WaitingQuery, func() (string, error) { return c.waiting, nil }); err != nil {
		return c.Last, err
	}
	for range iterationsPerRun {
		over, err := c.iterate(ctx)
		if err != nil || over {
			return c.Last, err
		}
	}
	return c.Last, workflow.NewContinueAsNewError(ctx, CandidateName, c.CandidateInput)
}

type candidate struct {
	CandidateInput
	id      string
	waiting string
}

// pause is how long a candidate waits when others have reserved what is left of the budget.
const pause = 5 * time.Second

// iterate runs the next iteration. It reports whether the loop is over.
func (c *candidate) iterate(ctx workflow.Context) (over bool, err error) {
	it, err := c.execute(ctx)
	if c.Budget && !it.Later && it.Reason != BudgetSpent {
		c.settle(ctx, Settle{Who: c.id, Amount: it.Amount.Minus(c.Last.Amount), Unknown: err != nil})
	}
	switch {
	case temporal.IsCanceledError(err):
		return true, err
	case err != nil:
		c.Last.Over, c.Last.Reason, c.Last.Text, c.Last.Status = true, WorkerFailed, text(err), 1
		return true, nil
	case it.Later:
		return false, workflow.Sleep(ctx, pause)
	}
	c.Last, c.Answer, c.Next = it, nil, it.Number+1
	if it.Over || it.Waiting == "" {
		return it.Over, nil
	}
	c.Next = it.Number // it is not judged yet
	c.waiting = it.Waiting
	var a Answer
	if err := receive(ctx, workflow.GetSignalChannel(ctx, AnswerSignal), &a); err != nil {
		return true, err
	}
	c.Answer, c.waiting = &a, ""
	return false, nil
}

// execute runs the iteration on the worker that ran the last one, because that has the tree
// and its installed dependencies. If that worker does not start, any free one does.
func (c *candidate) execute(ctx workflow.Context) (it Iteration, err error) {
	in, options := IterateInput{c.Prepared, c.Candidate, c.Next, c.Answer, c.Budget}, iterationOptions(ctx)
	if queue := c.Last.Queue; queue != "" {
		same := workflow.WithScheduleToStartTimeout(workflow.WithTaskQueue(options, queue), HeartbeatTimeout)
		err = workflow.ExecuteActivity(same, IterateName, in).Get(ctx, &it)
		if late, is := errors.AsType[*temporal.TimeoutError](err); !is || late.TimeoutType() != enums.TIMEOUT_TYPE_SCHEDULE_TO_START {
			return it, err
		}
	}
	err = workflow.ExecuteActivity(options, IterateName, in).Get(ctx, &it)
	return it, err
}

// settle tells the fleet what an iteration took, also when the candidate is cancelled.
func (c *candidate) settle(ctx workflow.Context, s Settle) {
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := workflow.SignalExternalWorkflow(free, FleetID(c.Fleet), "", SettleSignal, s).Get(free, nil); err != nil {
		workflow.GetLogger(ctx).Warn("settle with the fleet", "error", err)
	}
}

// receive waits for a signal, or for the end of the context.
func receive(ctx workflow.Context, c workflow.ReceiveChannel, into any) error {
	sel := workflow.NewSelector(ctx)
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	sel.AddReceive(c, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, into) })
	sel.Select(ctx)
	return ctx.Err()
}

// text is an error as far as a history keeps it.
func text(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return Cut(app.Message(), Most)
	}
	return Cut(err.Error(), Most)
}

// Most is how much of a text a history keeps, in characters.
const Most = 300

// Cut is the beginning of a text.
func Cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " …"
	}
	return s
}
