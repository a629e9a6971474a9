package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) reportCmd() *cobra.Command {
	var iteration int
	var completion, asJSON, csv bool
	var page string
	cmd := &cobra.Command{
		Use:   "report [LOOP]",
		Short: "Print a report of a loop, the latest without a name",
		Long: `Report prints the output selection report of a loop as Markdown, the report of
one iteration with --iteration, or the metrics of all iterations with --json or
--csv. --html writes a page with everything (trajectory, metrics, alerts, the history
of every test, and for each iteration the reasoning, the diff and the transcript): one
file that needs no network.`,
		Example: "  supervise report\n  supervise report --iteration 3\n  supervise report --completion fix-tests\n  supervise report --html loop.html",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := report.SelectionName
			switch {
			case page != "":
				return a.reportHTML(cmd, first(args), page)
			case csv:
				return a.reportCSV(cmd, first(args))
			case completion:
				name = report.CompletionName
			case cmd.Flags().Changed("iteration"):
				name = ledger.Name(iteration) + "-report.md"
			}
			return a.report(cmd, first(args), name, asJSON)
		},
	}
	cmd.Flags().IntVarP(&iteration, "iteration", "n", 0, "the report of this iteration, 0 for the baseline")
	cmd.Flags().BoolVar(&completion, "completion", false, "the completion report")
	cmd.Flags().StringVar(&page, "html", "", "write a page about the whole loop into this file, - for standard output")
	cmd.Flags().BoolVar(&csv, "csv", false, "one row for each iteration")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the metrics of all iterations as JSON")
	return cmd
}

func (a *app) report(cmd *cobra.Command, loop, name string, asJSON bool) error {
	dir, state, err := a.find(cmd, loop)
	if err != nil {
		return err
	}
	if asJSON {
		return a.reportJSON(dir, state)
	}
	text, err := os.ReadFile(filepath.Join(dir, "reports", name))
	if err != nil {
		a.log().Debug(err)
		return usageError{fmt.Errorf("loop %s (%s, %s) has no %s yet", state.LoopID, state.Status, report.Count(state.Iteration, "iteration", "iterations"), name)}
	}
	_, err = a.out.Write(text)
	return err
}

func (a *app) reportJSON(dir string, state ledger.State) error {
	its, err := ledger.Iterations(dir)
	if err != nil {
		return err
	}
	out := make([]ledger.Progress, 0, len(its))
	for _, it := range its {
		best := chosen(state)
		out = append(out, it.Progress(best != nil && best.Iteration == it.Number))
	}
	return a.encode(out)
}

// reportHTML writes the page about a loop.
func (a *app) reportHTML(cmd *cobra.Command, loop, file string) (err error) {
	dir, state, err := a.find(cmd, loop)
	if err != nil {
		return err
	}
	its, err := ledger.Iterations(dir)
	if err != nil {
		return err
	}
	if len(its) == 0 {
		return usageError{fmt.Errorf("loop %s has no iteration yet", state.LoopID)}
	}
	page := report.HTML{Dir: dir, State: state, Iterations: its, Rules: a.rulesOf(dir), Version: version(), Now: time.Now()}
	if file == "-" {
		return page.Write(a.out)
	}
	if err := writeTo(file, os.O_TRUNC, page.Write); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "written: %s\n", file)
	return nil
}

func (a *app) reportCSV(cmd *cobra.Command, loop string) error {
	v, err := a.view(cmd, loop)
	if err != nil {
		return err
	}
	v, choice, err := v.Choose(record.Wish{})
	if err != nil {
		return selectError(err)
	}
	return report.CSV(a.out, v.Report(choice, asOf(v.State)))
}

// iterationArg reads the number of an iteration.
func iterationArg(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("%q is no iteration: give a number, 0 for the baseline", s)}
	}
	return n, nil
}
