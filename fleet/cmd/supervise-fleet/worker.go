package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"supervise/fleet/flow"
	"supervise/fleet/observe"
	"supervise/fleet/work"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// workerOptions are the flags of a worker.
type workerOptions struct {
	queue, dir, supervise, name string
	metrics                     string
	slots                       int
	every, dead                 time.Duration
	sticky                      bool
}

func (o *workerOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.queue, "task-queue", queue, "`queue` that it works for")
	f.StringVar(&o.dir, "dir", "", "`folder` for trees and states (default in your cache folder)")
	f.StringVar(&o.supervise, "supervise", "", "the `program` (default: next to this one, or in PATH)")
	f.StringVar(&o.name, "name", "", "of this worker, for people (default the machine's)")
	f.IntVar(&o.slots, "slots", 1, "iterations at the same time")
	f.DurationVar(&o.every, "report-every", 5*time.Second, "how often it tells what it does")
	f.DurationVar(&o.dead, "dead-after", flow.HeartbeatTimeout, "without a report for so long a worker is taken for dead; the same on all")
	f.StringVar(&o.metrics, "metrics", "", "`host:port` at which Prometheus finds metrics, under /metrics (default none)")
	f.BoolVar(&o.sticky, "sticky", true, "keep workflows in memory between two steps")
	_ = f.MarkHidden("sticky")
}

func newWorker(a *app) *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run iterations on this machine until interrupted",
		Long: `Run iterations on this machine until interrupted.

What the agents need (programs, keys, logins) has to be on this machine: it never enters a
task or a history. An iteration that is cut off when the worker ends is run again by
another one, from what the last iteration left.

Traces go where OTEL_EXPORTER_OTLP_ENDPOINT says: a span for each iteration, and in it for
the agent, the checks and the verdict.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			seen, err := observe.Start(cmd.Context(), o.metrics, os.Getenv)
			if err != nil {
				return err
			}
			defer func() { _ = seen.Stop(cmd.Context()) }()
			a.seen = seen
			c, err := a.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			return a.work(cmd.Context(), c, o)
		},
	}
	o.register(cmd)
	return cmd
}

// work runs a worker until ctx ends.
func (a *app) work(ctx context.Context, c client.Client, o workerOptions) error {
	activities, err := o.activities(c)
	if err != nil {
		return err
	}
	if !o.sticky {
		worker.SetStickyWorkflowCacheSize(0)
	}
	flow.HeartbeatTimeout = o.dead
	options := worker.Options{Identity: activities.Name, MaxConcurrentActivityExecutionSize: o.slots, WorkerStopTimeout: 2 * time.Minute}
	w := worker.New(c, o.queue, options)
	register(w, activities)
	options.DisableWorkflowWorker = true
	own := worker.New(c, activities.Queue, options)
	own.RegisterActivityWithOptions(activities.Iterate, activity.RegisterOptions{Name: flow.IterateName})
	if err := errors.Join(w.Start(), own.Start()); err != nil {
		return fmt.Errorf("start the worker: %w", err)
	}
	fmt.Fprintf(a.err, "worker %s waits for iterations of queue %s\n", activities.Name, o.queue)
	every := time.NewTicker(6 * time.Hour)
	defer every.Stop()
	for ctx.Err() == nil {
		if err := activities.Sweep(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(a.err, "supervise-fleet: remove idle folders:", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
		}
	}
	var all sync.WaitGroup
	all.Go(own.Stop)
	w.Stop()
	all.Wait()
	return nil
}

func register(w worker.Registry, a *work.Worker) {
	w.RegisterWorkflowWithOptions(flow.Fleet, workflow.RegisterOptions{Name: flow.FleetName})
	w.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.TaskName})
	w.RegisterWorkflowWithOptions(flow.Candidate, workflow.RegisterOptions{Name: flow.CandidateName})
	for name, f := range map[string]any{flow.PrepareName: a.Prepare, flow.IterateName: a.Iterate, flow.ChooseName: a.Choose, flow.PublishName: a.Publish, flow.DropName: a.Drop} {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

func (o workerOptions) activities(c client.Client) (*work.Worker, error) {
	if o.slots < 1 || o.every <= 0 || o.dead < 2*o.every {
		return nil, usageError{errors.New("--slots and --report-every have to be above nothing, and --dead-after at least twice --report-every")}
	}
	var err error
	if o.name == "" {
		if o.name, err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	if o.dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		o.dir = filepath.Join(base, "supervise", "fleet")
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	if o.dir, err = filepath.EvalSymlinks(o.dir); err != nil {
		return nil, err
	}
	program, err := findProgram(o.supervise, "supervise")
	if err != nil {
		return nil, err
	}
	// The trees in the folder are those of this queue, also after a restart.
	sum := sha256.Sum256([]byte(o.name + "\x00" + o.dir))
	return &work.Worker{
		Dir: o.dir, Supervise: program, Name: o.name, Client: c, Every: o.every,
		Queue: fmt.Sprintf("%s/%s-%x", o.queue, o.name, sum[:4]), Slots: make(chan struct{}, o.slots),
	}, nil
}

// findProgram finds one of our programs: as given, next to this one, or in PATH.
func findProgram(given, name string) (string, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", usageError{err}
		}
		return filepath.Abs(path)
	}
	if self, err := os.Executable(); err == nil {
		if sibling := filepath.Join(filepath.Dir(self), name); executable(sibling) {
			return sibling, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither next to this program nor in PATH: install it", name)
	}
	return filepath.Abs(path)
}

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}
