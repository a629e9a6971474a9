package main

import (
	"errors"
	"fmt"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/overhead"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) benchmarkCmd() *cobra.Command {
	f := &checkFlags{}
	var runs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Measure what supervise costs on this project",
		Long: `Benchmark runs the checks of the project as you would by hand, and with all that a
loop does around them (a snapshot of the tree, reading the reports and the code, rules
and score), in turns, and compares the medians. It changes nothing in the tree but what
the checks change themselves.`,
		Example: "  supervise benchmark\n  supervise benchmark --runs 9 --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.benchmark(cmd, f, runs, asJSON) },
	}
	cmd.Flags().IntVar(&runs, "runs", 5, "how many runs of each kind count, after one that does not")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	f.register(cmd.Flags())
	return cmd
}

func (a *app) benchmark(cmd *cobra.Command, f *checkFlags, runs int, asJSON bool) (err error) {
	if runs < 1 {
		return usageError{errors.New("--runs is at least 1")}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	settings, err := a.gateSettings(at.project, at.project, &gateFlags{checkFlags: *f})
	if err != nil {
		return err
	}
	scratch, remove, err := ledger.Scratch("benchmark")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	res, err := overhead.Measure(cmd.Context(), overhead.Options{
		Settings: settings, Root: at.root, Scratch: scratch, Runs: runs,
		OnRun: func(n int, plain, wrapped time.Duration) {
			fmt.Fprintf(a.err, "%d/%d: %s alone, %s with supervise\n", n, runs, report.Duration(plain), report.Duration(wrapped))
		},
	})
	if err != nil {
		return err
	}
	if asJSON {
		return a.encode(res)
	}
	for _, row := range []struct {
		name string
		took time.Duration
	}{{"the checks alone", res.Plain}, {"with supervise", res.Wrapped}, {"of that, snapshot", res.Snapshot}, {"rules and score", res.Judge}, {"first snapshot, once", res.First}} {
		fmt.Fprintf(a.out, "%-22s %s\n", row.name, row.took.Round(time.Millisecond/10))
	}
	fmt.Fprintf(a.out, "%-22s %+.1f %%, of the medians of %s\n", "overhead", res.Percent, report.Count(res.Runs, "run", "runs"))
	return nil
}
