package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// reportOptions are the options of supervise report.
type reportOptions struct {
	loop                  string
	page                  string // file for the HTML page, - for standard output
	file                  string // file name of the report in the loop's folder
	completion, json, csv bool
}

func newReportCmd(a *app) *cobra.Command {
	var o reportOptions
	var iteration int
	cmd := &cobra.Command{
		Use: "report [LOOP]", Short: "Print a report of a loop",
		Long: `Without a name this is the latest loop. The default is the output selection report as
Markdown; --iteration prints the report of one iteration. --html writes one page with
everything: trajectory, metrics, alerts, the history of every test, and for each
iteration the reasoning, the diff and the transcript. It needs no network.`,
		Example: `  supervise report
  supervise report --iteration 3
  supervise report --html loop.html`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.file = report.SelectionName
			if o.completion {
				o.file = report.CompletionName
			} else if cmd.Flags().Changed("iteration") {
				o.file = reportOfIteration(iteration)
			}
			return runReport(cmd.Context(), a, o)
		},
	}

	flags := cmd.Flags()
	flags.IntVarP(&iteration, "iteration", "n", 0, "the report of this iteration, 0 for the baseline")
	flags.BoolVar(&o.completion, "completion", false, "the completion report")
	flags.StringVar(&o.page, "html", "", "write a page about the entire loop to this `file`, - for standard output")
	flags.BoolVar(&o.csv, "csv", false, "print one row of metrics for each iteration")
	flags.BoolVar(&o.json, "json", false, "print the metrics of all iterations as JSON")
	return cmd
}

// runReport prints or writes one form of report about a loop.
func runReport(ctx context.Context, a *app, o reportOptions) error {
	switch {
	case o.page != "":
		return a.reportHTML(ctx, o.loop, o.page)
	case o.csv:
		r, err := a.readReport(ctx, o.loop)
		if err != nil {
			return err
		}
		return report.WriteCSV(a.doc, r)
	case o.json:
		return a.reportJSON(ctx, o.loop)
	}
	return a.reportFile(ctx, o.loop, o.file)
}

// reportOfIteration returns the file name of the report of iteration n.
func reportOfIteration(n int) string { return ledger.IterationName(n) + "-report.md" }

// reportFile prints a report that the loop wrote to its folder.
func (a *app) reportFile(ctx context.Context, loop, name string) error {
	dir, state, err := a.find(ctx, loop)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "reports", name)) //nolint:forbidigo // of the state
	if err != nil {
		a.log().Debug(err)
		return usageError{fmt.Errorf("loop %s (%s, %s) has no %s yet", state.LoopID, state.Status, report.Pluralize(state.Iteration, "iteration", "iterations"), name)}
	}
	_, err = a.out.Write(text)
	return err
}

// reportJSON prints the metrics of all iterations.
func (a *app) reportJSON(ctx context.Context, loop string) error {
	dir, state, err := a.find(ctx, loop)
	if err != nil {
		return err
	}
	its, err := ledger.ReadIterations(dir)
	if err != nil {
		return err
	}
	out := make([]ledger.Progress, 0, len(its))
	for _, it := range its {
		best := state.SelectedOrBest()
		out = append(out, it.Progress(best != nil && best.Iteration == it.Number))
	}
	return a.encode(out)
}

// reportHTML writes the page about a loop to a file, or to standard output for "-".
func (a *app) reportHTML(ctx context.Context, loop, file string) error {
	v, err := a.viewOrDefaults(ctx, loop)
	if err != nil {
		return err
	}
	if len(v.Iterations) == 0 {
		return usageError{fmt.Errorf("loop %s has no iteration yet", v.State.LoopID)}
	}
	ranking, err := ledger.ReadRanking(v.Dir)
	if err != nil {
		return err
	}
	page := report.HTML{Dir: v.Dir, State: v.State, Iterations: v.Iterations, Ranking: ranking, Rules: v.Settings.Rules, Version: version(), Now: time.Now()}
	if file == "-" {
		return page.Write(a.doc)
	}
	if err := a.writeTo(file, os.O_TRUNC, page.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "written: %s\n", file)
	return nil
}
