package main

import (
	"errors"

	"supervise/internal/record"

	"github.com/spf13/cobra"
)

func (a *app) decideCmd() *cobra.Command {
	var m record.Message
	var met, asJSON bool
	cmd := &cobra.Command{
		Use:   "decide [LOOP] | decide [LOOP] --json -",
		Short: "Say what should follow the last iteration of a loop",
		Long: `Decide prints what should follow the last recorded iteration of a loop, the latest
without a name: continue, stop, rollback or escalate, with the target, the reason
and the confidence. It changes nothing. With - it reads messages from standard
input and answers them, as supervise record does.`,
		Example: `  supervise decide nightly --max-iterations 20
  supervise decide nightly --json
  echo '{"type": "LoopDecisionRequest", "loop_id": "nightly"}' | supervise decide --json -`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := len(args); n > 0 && args[n-1] == "-" {
				return a.serve(cmd, first(args[:n-1]), asJSON)
			}
			if len(args) > 1 {
				return usageError{errors.New("give one loop")}
			}
			if cmd.Flags().Changed("criterion-met") {
				m.CriterionMet = &met
			}
			return a.decide(cmd, first(args), m, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&m.MaxIterations, "max-iterations", 0, "how many iterations there are at most (default no limit)")
	flags.BoolVar(&met, "criterion-met", false, "the task is done")
	flags.BoolVar(&m.StopOnDiminishing, "stop-on-diminishing", false, "stop when quality grows too little to go on for")
	flags.BoolVar(&asJSON, "json", false, "print a ProgressReport and what follows from it as JSON, a line each")
	return cmd
}

func (a *app) decide(cmd *cobra.Command, name string, m record.Message, asJSON bool) error {
	if m.MaxIterations < 0 {
		return usageError{errors.New("--max-iterations must not be negative")}
	}
	v, err := a.view(cmd, name)
	if err != nil {
		return err
	}
	if asJSON {
		out, err := v.Answer(m)
		if err != nil {
			return recordError(err)
		}
		return a.lines(out)
	}
	a.showAdvice(v.Decide(record.Question{MaxIterations: m.MaxIterations, CriterionMet: m.CriterionMet, StopOnDiminishing: m.StopOnDiminishing}))
	return nil
}
