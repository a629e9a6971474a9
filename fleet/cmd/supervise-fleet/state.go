package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"supervise/fleet/flow"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// taskState is what is known of a task.
type taskState struct {
	Task       string           `json:"task"`
	State      string           `json:"state"` // running, waiting, done, nothing, refused, cancelled, failed
	Waiting    string           `json:"waiting,omitempty"`
	StartedAt  time.Time        `json:"started_at"`
	Ended      *time.Time       `json:"ended,omitempty"`
	Candidates []candidateState `json:"candidates,omitempty"` // while it runs
	Result     *flow.Result     `json:"result,omitempty"`
}

// candidateState is what is known of a candidate that runs.
type candidateState struct {
	Candidate int            `json:"candidate"`
	Attempt   int            `json:"attempt,omitempty"` // of what runs now
	Queued    bool           `json:"queued,omitempty"`  // no worker is free
	Waiting   string         `json:"waiting,omitempty"`
	Now       *flow.Progress `json:"now,omitempty"`
}

// over reports whether nothing more will happen.
func (s taskState) over() bool { return s.State != "running" && s.State != "waiting" }

// fleetState is what is known of a fleet.
type fleetState struct {
	Fleet  string       `json:"fleet"`
	Tasks  []taskState  `json:"tasks"`
	Total  int          `json:"total,omitempty"` // tasks of the file: some may not have started
	Budget *flow.Ledger `json:"budget,omitempty"`
}

// isOver reports whether all tasks are over. The server lists a started task a little later.
func (f fleetState) isOver() bool {
	return len(f.Tasks) >= f.Total && !slices.ContainsFunc(f.Tasks, func(s taskState) bool { return !s.over() })
}

// statuses are how workflows that have not ended as they should are called.
var statuses = map[enums.WorkflowExecutionStatus]string{
	enums.WORKFLOW_EXECUTION_STATUS_RUNNING:    "running",
	enums.WORKFLOW_EXECUTION_STATUS_CANCELED:   "cancelled",
	enums.WORKFLOW_EXECUTION_STATUS_TERMINATED: "cancelled",
	enums.WORKFLOW_EXECUTION_STATUS_FAILED:     "failed",
	enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:  "failed",
}

// list calls f with each workflow that a query finds.
func list(ctx context.Context, c client.Client, query string, f func(*workflowpb.WorkflowExecutionInfo)) error {
	var page []byte
	for {
		res, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: page})
		if err != nil {
			return err
		}
		for _, info := range res.Executions {
			f(info)
		}
		if page = res.NextPageToken; len(page) == 0 {
			return nil
		}
	}
}

// fleet asks the server for the state of a fleet.
func (a *app) fleet(ctx context.Context, c client.Client, fleet string) (fleetState, error) {
	out := fleetState{Fleet: fleet}
	var err error
	if out.Total, err = a.total(ctx, c, fleet); err != nil {
		return out, err
	}
	tasks := map[string]*taskState{}
	candidates := map[string][]string{} // names of workflows that run, by task
	query := fmt.Sprintf("WorkflowId STARTS_WITH '%s/'", flow.FleetID(fleet))
	err = list(ctx, c, query, func(info *workflowpb.WorkflowExecutionInfo) {
		id := info.Execution.WorkflowId
		task, number, candidate := strings.Cut(strings.TrimPrefix(id, flow.FleetID(fleet)+"/"), "/")
		switch {
		case candidate && info.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
			candidates[task] = append(candidates[task], number)
		case !candidate:
			s := &taskState{Task: task, State: statuses[info.Status], StartedAt: info.StartTime.AsTime()}
			if info.CloseTime != nil {
				s.Ended = new(info.CloseTime.AsTime())
			}
			tasks[task] = s
		}
	})
	if err != nil {
		return out, fmt.Errorf("list the tasks of fleet %s: %w", fleet, err)
	}
	for _, task := range slices.Sorted(maps.Keys(tasks)) {
		s := tasks[task]
		if err := a.task(ctx, c, fleet, s, candidates[task]); err != nil {
			return out, fmt.Errorf("task %s: %w", task, err)
		}
		out.Tasks = append(out.Tasks, *s)
	}
	if v, err := c.QueryWorkflow(ctx, flow.FleetID(fleet), "", flow.BudgetQuery); err == nil {
		var l flow.Ledger
		if v.Get(&l) == nil {
			out.Budget = &l
		}
	}
	return out, nil
}

// tasksMemo is in the memo of a fleet: how many tasks it has.
const tasksMemo = "tasks"

// total is how many tasks a fleet has, 0 where it does not say.
func (a *app) total(ctx context.Context, c client.Client, fleet string) (n int, err error) {
	seen, err := c.DescribeWorkflow(ctx, flow.FleetID(fleet), "")
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return 0, usageError{fmt.Errorf("there is no fleet %s: supervise-fleet status lists them", fleet)}
	}
	if err != nil {
		return 0, fmt.Errorf("ask for fleet %s: %w", fleet, err)
	}
	if p := seen.RawResponse.GetWorkflowExecutionInfo().GetMemo().GetFields()[tasksMemo]; p != nil {
		err = a.data.FromPayload(p, &n)
	}
	return n, err
}

// task fills in what a task came to, or what its candidates do.
func (a *app) task(ctx context.Context, c client.Client, fleet string, s *taskState, running []string) error {
	id := flow.TaskID(fleet, s.Task)
	switch s.State {
	case "running":
		s.Waiting = waiting(ctx, c, id)
		if s.Waiting != "" {
			s.State = "waiting"
		}
		slices.Sort(running)
		for _, number := range running {
			n, err := strconv.Atoi(number)
			if err != nil {
				continue
			}
			now, err := a.doing(ctx, c, id+"/"+number)
			if err != nil {
				return err
			}
			now.Candidate = n
			s.Candidates = append(s.Candidates, now)
		}
		return nil
	case "":
		var r flow.Result
		if err := c.GetWorkflow(ctx, id, "").Get(ctx, &r); err != nil {
			return err
		}
		s.Result, s.State = &r, stateOf(r)
	}
	return nil
}

// stateOf is how a task that came to its end is called.
func stateOf(r flow.Result) string {
	switch {
	case r.Refused != "":
		return "failed"
	case r.Candidate == 0:
		return "nothing"
	case r.Answer != nil && r.Answer.Choice != "approve":
		return "rejected"
	}
	return "done"
}

// waiting returns what a workflow waits for, "" for nothing. Without a worker to ask, this is
// unknown.
func waiting(ctx context.Context, c client.Client, id string) (text string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if v, err := c.QueryWorkflow(ctx, id, "", flow.WaitingQuery); err == nil {
		_ = v.Get(&text)
	}
	return text
}

// doing is what a candidate does now.
func (a *app) doing(ctx context.Context, c client.Client, id string) (out candidateState, err error) {
	seen, err := c.DescribeWorkflow(ctx, id, "")
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	res := seen.RawResponse
	if len(res.PendingActivities) == 0 {
		out.Waiting = waiting(ctx, c, id)
		return out, nil
	}
	p := res.PendingActivities[0]
	out.Attempt, out.Queued = int(p.Attempt), p.State == enums.PENDING_ACTIVITY_STATE_SCHEDULED
	if p.HeartbeatDetails != nil {
		var now flow.Progress
		if a.data.FromPayloads(p.HeartbeatDetails, &now) == nil {
			out.Now = &now
		}
	}
	return out, nil
}

// print prints JSON.
func (a *app) print(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
