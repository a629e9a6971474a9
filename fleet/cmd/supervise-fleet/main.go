// Command supervise-fleet runs supervise on many machines: tasks with candidates, each
// iteration on whatever worker is free, and the best tree of each task in the end.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"supervise/fleet/flow"
	"supervise/fleet/observe"
	"supervise/fleet/seal"
	"supervise/fleet/taskfile"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{out: os.Stdout, err: os.Stderr}
	cmd := newRoot(a)
	if err := cmd.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(a.err, "supervise-fleet:", err)
		stop()
		os.Exit(status(err))
	}
	stop()
	os.Exit(a.status)
}

// app is the program while it runs.
type app struct {
	out, err           io.Writer
	address, namespace string
	json               bool
	data               converter.DataConverter // once connected
	seen               *observe.Observer       // nil if tracing is off
	status             int                     // with which it ends
}

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// status are those of supervise: 2 where the command line or a file makes no sense.
func status(err error) int {
	if _, ok := errors.AsType[usageError](err); ok || errors.Is(err, taskfile.ErrInvalid) {
		return 2
	}
	if errors.Is(err, context.Canceled) {
		return 130
	}
	return 1
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "supervise-fleet",
		Short: "Run supervise on many machines",
		Long: `Run supervise on many machines.

A worker on each machine runs iterations; a Temporal server gives them out and knows what
was done. Trees and results travel through the repository of each task, below
refs/supervise/fleet. "supervise-fleet dev" starts a server and a worker for a try.

The server is found as Temporal's own tools find it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
TEMPORAL_API_KEY, TEMPORAL_TLS_…, or a profile of its configuration file.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f := root.PersistentFlags()
	f.StringVar(&a.address, "address", "", "`host:port` of the Temporal server (default $TEMPORAL_ADDRESS, or localhost:7233)")
	f.StringVar(&a.namespace, "namespace", "", "its `namespace` (default $TEMPORAL_NAMESPACE, or default)")
	f.BoolVar(&a.json, "json", false, "print JSON")
	root.AddCommand(newWorker(a), newDev(a), newRun(a), newStatus(a), newWatch(a), newResults(a), newFetch(a), newCancel(a), newJob(a), newExport(a))
	root.AddCommand(newAnswers(a)...)
	return root
}

// queue is the name of the task queue of a fleet where none is given.
const queue = "supervise"

// dial connects to the server.
func (a *app) dial() (client.Client, error) {
	o, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return nil, usageError{fmt.Errorf("the configuration of Temporal: %w", err)}
	}
	if a.address != "" {
		o.HostPort = a.address
	}
	if a.namespace != "" {
		o.Namespace = a.namespace
	}
	if o.DataConverter, o.FailureConverter, err = seal.Converters(os.Getenv); err != nil {
		return nil, usageError{err}
	}
	o.Logger, a.data = quietLogger{a}, o.DataConverter
	if a.seen != nil {
		a.seen.Add(&o)
	}
	c, err := client.Dial(o)
	if err != nil {
		at := o.HostPort
		if at == "" {
			at = client.DefaultHostPort
		}
		return nil, fmt.Errorf("reach the Temporal server at %s: %w (supervise-fleet dev starts one for a try)", at, err)
	}
	return c, nil
}

// connected is a command that begins by connecting to the server.
func (a *app) connected(run func(context.Context, client.Client, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		return run(cmd.Context(), c, args)
	}
}

// quietLogger passes on what is wrong.
type quietLogger struct{ *app }

func (quietLogger) Debug(string, ...any) {}
func (quietLogger) Info(string, ...any)  {}
func (l quietLogger) Warn(msg string, kv ...any) {
	fmt.Fprintln(l.err, "supervise-fleet:", msg, keyed(kv))
}

func (l quietLogger) Error(msg string, kv ...any) {
	fmt.Fprintln(l.err, "supervise-fleet:", msg, keyed(kv))
}

// keyed are the values that help a reader.
func keyed(kv []any) string {
	var out []string
	for i := 0; i+1 < len(kv); i += 2 {
		switch key := fmt.Sprint(kv[i]); key {
		case "WorkflowID", "ActivityType", "Attempt", "Error", "error":
			out = append(out, fmt.Sprintf("%s=%v", key, kv[i+1]))
		}
	}
	return strings.Join(out, " ")
}

// named takes the name of a fleet, a task of it, or a candidate of that.
func named(text string, parts int) ([]string, error) {
	list := strings.Split(strings.TrimPrefix(text, "fleet/"), "/")
	if len(list) < 1 || len(list) > parts || list[0] == "" {
		return nil, usageError{fmt.Errorf("%q: name %s", text, []string{"a FLEET", "a FLEET/TASK", "a FLEET/TASK/CANDIDATE"}[parts-1])}
	}
	return list, nil
}

// workflowID is the name of the workflow of what is named.
func workflowID(list []string) string { return flow.FleetID(strings.Join(list, "/")) }
