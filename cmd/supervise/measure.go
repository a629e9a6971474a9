package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"supervise/internal/measure"
	"supervise/internal/report/results"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// measureOptions are the options of supervise measure.
type measureOptions struct {
	checkFlags
	json bool
}

func newMeasureCmd(a *app) *cobra.Command {
	var o measureOptions
	cmd := &cobra.Command{
		Use: "measure", Short: "Measure the working tree once",
		Long: `supervise runs the checks of the project and prints what they report. Only the checks
themselves change files. Exits with 6 if no test was measured.`,
		Example: `  supervise measure
  supervise measure --json
  supervise measure --test-cmd 'pytest --junitxml=report.xml' --test-report report.xml`,
		RunE: inWorkspace(a.workspace, func(ctx context.Context, at workspace) error { return runMeasure(ctx, a, at, o) }),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the metrics as JSON")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// runMeasure runs the checks once and prints the metrics.
func runMeasure(ctx context.Context, a *app, at workspace, o measureOptions) error {
	_, plan, notes, err := a.loadPlan(planInput{at: at, checks: o.checkFlags})
	a.printNotes(notes...)
	if err != nil {
		return err
	}
	res, err := a.runChecks(ctx, plan)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(plan.Checks, func(c measure.Check) bool { return c.Kind == measure.Test }) {
		res.Set.Gaps = append(res.Set.Gaps, metric.Gap{Section: metric.SectionTests, State: metric.Absent, Why: "no check runs them: give --test-cmd (and --test-report), or write them into .supervise.yaml"})
	}
	checks := treecopy.CheckRuns(res.Runs)
	if o.json {
		return a.encode(results.NewMeasurement(res, checks))
	}
	a.text().PrintMeasurement(res.Set, checks)
	return nil
}
