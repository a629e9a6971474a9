package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"supervise/internal/ledger"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) reportCmd() *cobra.Command {
	var iteration int
	var completion, asJSON bool
	cmd := &cobra.Command{
		Use:   "report [LOOP]",
		Short: "Print a report of a loop, the latest without a name",
		Long: `Report prints the output selection report of a loop as Markdown, the report of
one iteration with --iteration, or the metrics of all iterations with --json.`,
		Example: "  supervise report\n  supervise report --iteration 3\n  supervise report --completion fix-tests",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := report.SelectionName
			switch {
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
		return usageError{fmt.Errorf("loop %s (%s) has no %s", state.LoopID, state.Status, name)}
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

// iterationArg reads the number of an iteration.
func iterationArg(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, usageError{fmt.Errorf("%q is no iteration: give a number, 0 for the baseline", s)}
	}
	return n, nil
}
