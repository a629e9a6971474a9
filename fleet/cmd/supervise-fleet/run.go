package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supervise/fleet/flow"
	"supervise/fleet/taskfile"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

func newRun(a *app) *cobra.Command {
	var on, name string
	var wait bool
	cmd := &cobra.Command{
		Use:   "run TASKS.yaml",
		Short: "Begin the tasks of a file",
		Long: `Begin the tasks of a file.

It returns when all are started; workers do them. If it is interrupted, the same command
with the same --name begins those that are missing.`,
		Example: "  supervise-fleet run tasks.yaml --wait",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := taskfile.Read(args[0])
			if err != nil {
				return err
			}
			switch {
			case name != "":
				f.Fleet = name
			case !f.Named:
				f.Fleet += time.Now().Format("-0102-150405")
			}
			return a.begin(cmd.Context(), f, on, wait)
		},
	}
	cmd.Flags().StringVar(&on, "task-queue", queue, "`queue` of the workers")
	cmd.Flags().StringVar(&name, "name", "", "of the fleet (default fleet: of the file, or the file's name and the time)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end, as watch does")
	return cmd
}

// begin starts the workflows of a fleet.
func (a *app) begin(ctx context.Context, f taskfile.File, on string, wait bool) error {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	limit := flow.Amount{CostUSD: f.Budget.CostUSD, Tokens: f.Budget.Tokens}
	if _, err := start(ctx, c, on, flow.FleetID(f.Fleet), flow.FleetName, flow.FleetInput{Fleet: f.Fleet, Tasks: len(f.Tasks), Limit: limit}, map[string]any{tasksMemo: len(f.Tasks)}); err != nil {
		return fmt.Errorf("begin fleet %s: %w", f.Fleet, err)
	}
	started := 0
	for _, t := range f.Tasks {
		is, err := start(ctx, c, on, flow.TaskID(f.Fleet, t.ID), flow.TaskName, flow.TaskInput{Fleet: f.Fleet, Task: t, Budget: !limit.None()}, nil)
		if err != nil {
			return fmt.Errorf("begin task %s (the same command with --name %s begins the rest): %w", t.ID, f.Fleet, err)
		}
		if is {
			started++
		}
	}
	switch {
	case a.json:
		if err := a.print(map[string]any{"fleet": f.Fleet, "tasks": len(f.Tasks), "started": started}); err != nil {
			return err
		}
	case started == len(f.Tasks):
		fmt.Fprintf(a.out, "fleet %s: %d tasks started (supervise-fleet watch %s)\n", f.Fleet, started, f.Fleet)
	default:
		fmt.Fprintf(a.out, "fleet %s: %d tasks started, %d were there already\n", f.Fleet, started, len(f.Tasks)-started)
	}
	if wait {
		return a.watch(ctx, c, f.Fleet)
	}
	return nil
}

// start starts a workflow. It reports whether it was not there before.
func start(ctx context.Context, c client.Client, on, id, name string, input any, memo map[string]any) (bool, error) {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: on, Memo: memo, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
	}, name, input)
	if _, there := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); there {
		return false, nil
	}
	return err == nil, err
}
