package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/overhead"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// benchmarkOptions are the options of supervise benchmark.
type benchmarkOptions struct {
	checkFlags
	runs int
	json bool
}

func newBenchmarkCmd(a *app) *cobra.Command {
	var o benchmarkOptions
	cmd := &cobra.Command{
		Use: "benchmark", Short: "Measure the overhead of supervise on this project",
		Long: `The checks are run alternately alone and with everything that a loop does around them
(a snapshot of the tree, reading reports and code, rules and score), and the medians
are compared. Only the checks themselves change files.`,
		Example: `  supervise benchmark
  supervise benchmark --runs 9 --json`,
		RunE: inWorkspace(a.workspace, func(ctx context.Context, at workspace) error { return runBenchmark(ctx, a, at, o) }),
	}
	cmd.Flags().IntVar(&o.runs, "runs", 5, "how many runs of each kind count, after one warm-up run")
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// runBenchmark measures how much time supervise adds to the checks.
func runBenchmark(ctx context.Context, a *app, at workspace, o benchmarkOptions) (err error) {
	if o.runs < 1 {
		return usageError{errors.New("--runs must be at least 1")}
	}
	settings, err := a.gateSettings(planInput{at: at, checks: o.checkFlags})
	if err != nil {
		return err
	}

	scratch, remove, err := ledger.NewScratchDir("benchmark")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	res, err := overhead.Measure(ctx, overhead.Options{
		Settings: settings.Settings, Snapshot: settings.Snapshot, Root: at.root, Scratch: scratch, Runs: o.runs,
		OnRun: func(n int, plain, wrapped time.Duration) {
			fmt.Fprintf(a.err, "%d/%d: %s alone, %s with supervise\n", n, o.runs, report.FormatDuration(plain), report.FormatDuration(wrapped))
		},
	})
	if err != nil {
		return err
	}
	if o.json {
		return a.encode(res)
	}

	for _, row := range []struct {
		name string
		took time.Duration
	}{{"the checks alone", res.Plain}, {"with supervise", res.Wrapped}, {"of that, snapshot", res.Snapshot}, {"rules and score", res.Judge}, {"first snapshot, once", res.First}} {
		fmt.Fprintf(a.out, "%-22s %s\n", row.name, row.took.Round(time.Millisecond/10))
	}

	fmt.Fprintf(a.out, "%-22s %+.1f %%, of the medians of %s\n", "overhead", res.Percent, report.Pluralize(res.Runs, "run", "runs"))
	return nil
}
