package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"supervise/fleet/bucket"
	"supervise/fleet/flow"
	"supervise/internal/git"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
)

// newAnswers are the commands that answer at a gate.
func newAnswers(a *app) []*cobra.Command {
	var out []*cobra.Command
	for _, row := range []struct{ verb, short string }{
		{"approve", "Let a choice, or an iteration that waits, pass"},
		{"reject", "Refuse a choice, or undo an iteration that waits"},
		{"abort", "End a task, or a candidate, that waits for an answer"},
	} {
		var reason string
		cmd := &cobra.Command{
			Use:   row.verb + " FLEET/TASK[/CANDIDATE]",
			Short: row.short,
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.answer(cmd.Context(), args[0], flow.Answer{Choice: row.verb, Reason: reason, By: userName()})
			},
		}
		cmd.Flags().StringVar(&reason, "reason", "", "`text` that is kept with the answer")
		out = append(out, cmd)
	}
	return out
}

func userName() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

func (a *app) answer(ctx context.Context, name string, answer flow.Answer) error {
	parts, err := named(name, 3)
	if err != nil {
		return err
	}
	if len(parts) < 2 {
		return usageError{fmt.Errorf("%q: name FLEET/TASK", name)}
	}
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	err = c.SignalWorkflow(ctx, workflowID(parts), "", flow.AnswerSignal, answer)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return usageError{fmt.Errorf("%s does not run: supervise-fleet status %s shows what does", name, parts[0])}
	}
	if err == nil && !a.json {
		fmt.Fprintf(a.out, "%s: %s\n", name, answer.Choice)
	}
	return err
}

func newCancel(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel FLEET[/TASK]",
		Short: "End tasks with all that runs for them",
		Long: `End tasks with all that runs for them. It returns when nothing of them runs any more, and
intermediate states are removed. Trees that were published stay.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.cancel(cmd.Context(), args[0])
		},
	}
}

func (a *app) cancel(ctx context.Context, name string) error {
	parts, err := named(name, 2)
	if err != nil {
		return err
	}
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	running := "ExecutionStatus = 'Running' AND "
	query := fmt.Sprintf("%sWorkflowId STARTS_WITH '%s/'", running, workflowID(parts[:1]))
	if len(parts) == 2 {
		query = fmt.Sprintf("%s(WorkflowId = '%[2]s' OR WorkflowId STARTS_WITH '%[2]s/')", running, workflowID(parts))
	}
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	asked := map[string]bool{}
	for {
		left := 0
		var tasks []string
		err := list(ctx, c, query, func(info *workflowpb.WorkflowExecutionInfo) {
			left++
			if info.Type.Name == flow.TaskName && info.Status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
				tasks = append(tasks, info.Execution.WorkflowId)
			}
		})
		if err != nil {
			return err
		}
		for _, id := range tasks {
			if asked[id] {
				continue
			}
			if err := c.CancelWorkflow(ctx, id, ""); err != nil {
				return fmt.Errorf("cancel %s: %w", id, err)
			}
			asked[id] = true
		}
		if left == 0 {
			fmt.Fprintf(a.out, "%d tasks cancelled; nothing of %s runs any more\n", len(asked), name)
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("asked %d tasks to end, and not waited for it: %w", len(asked), context.Cause(ctx))
		}
	}
}

func newFetch(a *app) *cobra.Command {
	var branch, remote, store, dir string
	cmd := &cobra.Command{
		Use:   "fetch FLEET/TASK",
		Short: "Make a branch of a task's best tree, in this repository",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			parts, err := named(args[0], 2)
			if err != nil {
				return err
			}
			if len(parts) != 2 {
				return usageError{fmt.Errorf("%q: name FLEET/TASK", args[0])}
			}
			name := strings.Join(parts, "/")
			if branch == "" {
				branch = "supervise/" + name
			}
			if store != "" {
				file, done, err := bundle(cmd.Context(), store, name+"/best")
				if err != nil {
					return err
				}
				defer done()
				remote = file
			}
			if _, err := git.NewCommand(dir, "fetch", "-q", "--no-tags", remote, "refs/supervise/fleet/"+name+"/best:refs/heads/"+branch).Output(cmd.Context()); err != nil {
				return fmt.Errorf("%s has no best tree at %s, or none yet (supervise-fleet status %s): %w", name, remote, parts[0], err)
			}
			fmt.Fprintf(a.out, "branch %s has the best tree of %s\n", branch, name)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&branch, "branch", "", "`name` of the branch (default supervise/FLEET/TASK)")
	f.StringVar(&remote, "remote", "origin", "where the task's repository is, as a remote or an address")
	f.StringVar(&store, "store", "", "`address` of the bucket, if the task has one")
	f.StringVarP(&dir, "directory", "C", ".", "`folder` of the repository")
	return cmd
}

// bundle copies the last git bundle of a name out of a bucket.
func bundle(ctx context.Context, store, name string) (file string, done func(), err error) {
	b, err := bucket.Open(ctx, store)
	if err != nil {
		return "", nil, err
	}
	defer b.Close()
	n, err := b.Last(ctx, name)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s has no %s, or none yet", store, name)
	}
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "supervise-fleet-")
	if err != nil {
		return "", nil, err
	}
	file, done = filepath.Join(dir, "best.bundle"), func() { _ = os.RemoveAll(dir) }
	if err := b.Get(ctx, name, n, file); err != nil {
		done()
		return "", nil, err
	}
	return file, done, nil
}
