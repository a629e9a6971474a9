package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"supervise/fleet/flow"
	"supervise/fleet/taskfile"
	"supervise/fleet/work"

	"github.com/spf13/cobra"
)

func newJob(a *app) *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "job prepare|candidate|choose TASKS.yaml TASK [CANDIDATE]",
		Short: "Do one step of a task on this machine, without a server",
		Long: `Do one step of a task on this machine, without a server: measure its baseline, run a
candidate to its end, or choose the best. The steps pass their results to each other
through the repository, so that they may be jobs of a CI service, in this order, each on its own
machine. The file has to name the fleet.`,
		Example: "  supervise-fleet job candidate tasks.yaml fix-login 2",
		Args:    cobra.RangeArgs(3, 4),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.job(cmd.Context(), o, args)
		},
	}
	o.register(cmd)
	for _, name := range []string{"task-queue", "slots", "report-every", "dead-after", "metrics"} {
		_ = cmd.Flags().MarkHidden(name)
	}
	return cmd
}

func (a *app) job(ctx context.Context, o workerOptions, args []string) error {
	f, err := taskfile.Read(args[1])
	if err != nil {
		return err
	}
	if !f.Named {
		return usageError{fmt.Errorf("%s: its steps have to agree on a name: give it fleet", args[1])}
	}
	task, err := f.Task(args[2])
	if err != nil {
		return usageError{err}
	}
	w, err := o.activities(nil)
	if err != nil {
		return err
	}
	said := ""
	here := work.Local{Worker: w, OnProgress: func(p flow.Progress) {
		if text := fmt.Sprintf("iteration %d: %s %s", p.Iteration, p.Phase, p.Check); text != said {
			said = text
			fmt.Fprintf(a.err, "%s  %s\n", time.Now().Format("15:04:05"), text)
		}
	}}
	p, err := here.Prepare(ctx, flow.Place{Fleet: f.Fleet, Task: task.ID, Repository: task.Repository, Commit: task.Commit, Store: task.Store}, task)
	if err != nil {
		return err
	}
	switch args[0] {
	case "prepare":
		fmt.Fprintf(a.out, "baseline of %s: score %.1f\n", task.ID, 100*p.Score)
		return nil
	case "candidate":
		return a.jobCandidate(ctx, here, p, task, args[3:])
	case "choose":
		c, err := here.Choose(ctx, p, task.Candidates)
		if err == nil {
			fmt.Fprintf(a.out, "%s: %s\n", task.ID, c.Text)
			a.status = c.Status
		}
		return err
	}
	return usageError{fmt.Errorf("there is no step %q: prepare, candidate or choose", args[0])}
}

func (a *app) jobCandidate(ctx context.Context, here work.Local, p flow.Prepared, task taskfile.Task, args []string) error {
	if len(args) == 0 {
		return usageError{errors.New("name the candidate")}
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 || n > task.Candidates {
		return usageError{fmt.Errorf("candidate %q: give a number from 1 to %d", args[0], task.Candidates)}
	}
	it, err := here.Candidate(ctx, p, n)
	if err == nil {
		fmt.Fprintf(a.out, "candidate %d of %s, iteration %d: %s\n", n, task.ID, it.Number, it.Text)
	}
	return err
}
