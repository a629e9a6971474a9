package flow

import (
	"cmp"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Task does a task: it prepares the tree, runs the candidates, chooses one by running their
// tests over each other, asks at the gate, and publishes the best tree.
func Task(ctx workflow.Context, in TaskInput) (Result, error) {
	t := &task{TaskInput: in, begun: workflow.Now(ctx)}
	if err := workflow.SetQueryHandler(ctx, WaitingQuery, func() (string, error) { return t.waiting, nil }); err != nil {
		return Result{}, err
	}
	res, err := t.run(ctx)
	res.Task, res.Took = in.Task.ID, workflow.Now(ctx).Sub(t.begun)
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if err := workflow.SignalExternalWorkflow(free, FleetID(in.Fleet), "", EndedSignal, in.Task.ID).Get(free, nil); err != nil {
		workflow.GetLogger(ctx).Warn("signal the end of the task to the fleet", "error", err)
	}
	return res, err
}

type task struct {
	TaskInput
	begun   time.Time
	waiting string
}

// activityOptions are the options of a worker's activities other than iterations.
func activityOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour,
		HeartbeatTimeout:    HeartbeatTimeout,
		WaitForCancellation: true,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute, MaximumAttempts: 30},
	})
}

func (t *task) run(ctx workflow.Context) (res Result, err error) {
	var p Prepared
	if err := workflow.ExecuteActivity(activityOptions(ctx), PrepareName, t.Place(), t.Task).Get(ctx, &p); err != nil {
		if temporal.IsCanceledError(err) {
			return res, err
		}
		res.Refused, res.Status = text(err), 1
		return res, nil
	}
	ends, err := t.race(ctx, p)
	for i, e := range ends {
		res.Candidates = append(res.Candidates, Outcome{i + 1, e.Number, e.Reason, e.Text, e.Score, e.Amount, false})
		res.Amount = res.Amount.Plus(e.Amount)
	}
	if err == nil {
		err = workflow.ExecuteActivity(activityOptions(ctx), ChooseName, ChooseInput{p, ends}).Get(ctx, &res.Choice)
	}
	if err == nil && res.Candidate > 0 {
		res.Candidates[res.Candidate-1].Chosen = true
		err = t.publish(ctx, p, &res)
	}
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if dropped := workflow.ExecuteActivity(activityOptions(free), DropName, p, t.Task.Candidates).Get(free, nil); dropped != nil {
		workflow.GetLogger(ctx).Warn("drop intermediate states", "error", dropped)
	}
	if err != nil && !temporal.IsCanceledError(err) {
		res.Refused, res.Status, err = text(err), 1, nil
	}
	return res, err
}

// Place is where the trees of the task are.
func (in TaskInput) Place() Place {
	return Place{Fleet: in.Fleet, Task: in.Task.ID, Repository: in.Task.Repository, Commit: in.Task.Commit, Store: in.Task.Store}
}

// publish publishes the best tree, after a person has approved it where there is a gate.
func (t *task) publish(ctx workflow.Context, p Prepared, res *Result) error {
	if t.Task.Gate {
		a, err := t.gate(ctx, res.Choice)
		if err != nil {
			return err
		}
		res.Answer = &a
		if a.Choice != "approve" {
			res.Status = 3
			return nil
		}
	}
	return workflow.ExecuteActivity(activityOptions(ctx), PublishName, p.Place, res.Choice).Get(ctx, nil)
}

// gate waits for a person.
func (t *task) gate(ctx workflow.Context, c Choice) (a Answer, err error) {
	t.waiting = c.Text
	defer func() { t.waiting = "" }()
	if t.Task.GateTimeout <= 0 {
		return a, receive(ctx, workflow.GetSignalChannel(ctx, AnswerSignal), &a)
	}
	timed, cancel := workflow.WithCancel(ctx)
	defer cancel()
	sel := workflow.NewSelector(ctx)
	sel.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	sel.AddReceive(workflow.GetSignalChannel(ctx, AnswerSignal), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &a) })
	sel.AddFuture(workflow.NewTimer(timed, t.Task.GateTimeout), func(workflow.Future) {
		a = Answer{Choice: "reject", By: "timeout", Reason: "no answer within " + t.Task.GateTimeout.String()}
	})
	sel.Select(ctx)
	return a, ctx.Err()
}

// race runs the candidates, as many at a time as the task allows, and returns how each
// ended. When enough have done the task the others are ended.
func (t *task) race(ctx workflow.Context, p Prepared) ([]Iteration, error) {
	ends := make([]Iteration, t.Task.Candidates)
	rest, cancel := workflow.WithCancel(ctx)
	defer cancel()
	slots := workflow.NewSemaphore(ctx, int64(cmp.Or(t.Task.Jobs, t.Task.Candidates)))
	all := workflow.NewWaitGroup(ctx)
	won := 0
	for i := range ends {
		all.Add(1)
		workflow.Go(rest, func(ctx workflow.Context) {
			defer all.Done()
			if slots.Acquire(ctx, 1) != nil {
				ends[i] = Iteration{Over: true, Reason: EndedEarly}
				return
			}
			defer slots.Release(1)
			child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
				WorkflowID:          TaskID(t.Fleet, t.Task.ID) + "/" + strconv.Itoa(i+1),
				WaitForCancellation: true,
			})
			err := workflow.ExecuteChildWorkflow(child, CandidateName, CandidateInput{Prepared: p, Candidate: i + 1, Next: 1, Budget: t.Budget}).Get(ctx, &ends[i])
			switch {
			case temporal.IsCanceledError(err):
				ends[i] = Iteration{Over: true, Reason: EndedEarly}
			case err != nil:
				ends[i] = Iteration{Over: true, Reason: WorkerFailed, Text: text(err), Status: 1}
			case ends[i].Status == 0:
				won++
			}
			if t.Task.StopWhen > 0 && won >= t.Task.StopWhen {
				cancel()
			}
		})
	}
	all.Wait(ctx)
	return ends, ctx.Err()
}
