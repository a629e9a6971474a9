package main

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/ledger"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// compareOptions are the options of supervise compare.
type compareOptions struct {
	loop  string
	trees []string
	json  bool
}

func newCompareCmd(a *app) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use: "compare [LOOP] [A B]", Short: "Compare the candidates of a loop",
		Long: `The best comes first: candidates that did the task, by the share of the others' tests
that pass on them, the mutants that their own tests kill, score, size of the change and
cost. With two numbers the result is the unified diff from candidate A to candidate B.`,
		Example: `  supervise compare
  supervise compare fix-tests 1 3`,
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)%2 == 1 {
				o.loop, args = args[0], args[1:]
			}
			o.trees = args
			return runCompare(cmd.Context(), a, o)
		},
	}

	cmd.Flags().BoolVar(&o.json, "json", false, "print the candidates as JSON")
	return cmd
}

// runCompare prints the ranking of the candidates, or the difference between two of them.
func runCompare(ctx context.Context, a *app, o compareOptions) error {
	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}
	if err := requireCandidates(state); err != nil {
		return err
	}

	if len(o.trees) > 0 {
		if o.json {
			return usageError{errors.New("--json is for all candidates: leave out their numbers")}
		}
		return runDiff(ctx, a, diffOptions{loop: state.LoopID, trees: o.trees})
	}

	list, err := ledger.ReadRanking(dir)
	if err != nil {
		return err
	}
	if o.json {
		return a.encode(map[string]any{"loop_id": state.LoopID, "status": state.Status, "ranking": append([]ledger.Rank{}, list...)})
	}

	if len(list) == 0 {
		fmt.Fprintf(a.out, "the candidates of %s are not compared yet (%s); of one: %s explain %[1]s/1\n", state.LoopID, state.Status, a.self())
		return nil
	}

	fmt.Fprint(a.out, report.RankingDocument(list).Terminal(a.paint(a.out)))
	return nil
}

// requireCandidates returns an error for a loop without candidates.
func requireCandidates(s ledger.State) error {
	if s.Kind != ledger.KindCandidates {
		return usageError{fmt.Errorf("loop %s has no candidates: supervise run --candidates creates them", s.LoopID)}
	}
	return nil
}

// promptedLoops returns the folders of the loops that give their agent prompts: the one in the folder
// dir, or those of its candidates that processes work on.
func promptedLoops(dir string, s ledger.State) (out []string) {
	if s.Kind != ledger.KindCandidates {
		return []string{dir}
	}
	for _, candidateDir := range ledger.CandidateLoops(dir, s) {
		if free, err := ledger.IsUnlocked(candidateDir); err == nil && !free {
			out = append(out, candidateDir)
		}
	}
	return out
}
