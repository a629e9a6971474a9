package main

import (
	"context"
	"errors"

	"supervise/internal/record"

	"github.com/spf13/cobra"
)

// decideOptions are the options of supervise decide.
type decideOptions struct {
	loop     string
	messages bool // read them from standard input
	question record.Message
	json     bool
}

func newDecideCmd(a *app) *cobra.Command {
	var o decideOptions
	var met bool
	cmd := &cobra.Command{
		Use:   "decide [LOOP] | decide [LOOP] --json -",
		Short: "Recommend the next step after the last iteration of a loop",
		Long: `The answer is continue, stop, rollback or escalate, with target, reason and
confidence. Without a name it is about the latest loop. Nothing is changed. With "-"
the command reads and answers JSON messages, like supervise record.`,
		Example: `  supervise decide nightly --max-iterations 20
  supervise decide nightly --json
  echo '{"type": "LoopDecisionRequest", "loop_id": "nightly"}' | supervise decide --json -`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := len(args); n > 0 && args[n-1] == "-" {
				o.messages, args = true, args[:n-1]
			}
			if len(args) > 1 {
				return usageError{errors.New("give one loop")}
			}
			if cmd.Flags().Changed("criterion-met") {
				o.question.CriterionMet = &met
			}
			o.loop = firstArg(args)
			return runDecide(cmd.Context(), a, o)
		},
	}

	flags := cmd.Flags()
	flags.IntVar(&o.question.MaxIterations, "max-iterations", 0, "maximum number of iterations (default: no limit)")
	flags.BoolVar(&met, "criterion-met", false, "the task is done")
	flags.BoolVar(&o.question.StopOnDiminishing, "stop-on-diminishing", false, "stop when quality grows too little to continue")
	flags.BoolVar(&o.json, "json", false, "print a ProgressReport and what follows from it as JSON, one per line")
	return cmd
}

func runDecide(ctx context.Context, a *app, o decideOptions) error {
	if o.messages {
		return a.answerMessages(ctx, o.loop, o.json)
	}
	m := o.question
	if m.MaxIterations < 0 {
		return usageError{errors.New("--max-iterations must not be negative")}
	}
	v, err := a.view(ctx, o.loop)
	if err != nil {
		return err
	}
	if o.json {
		out, err := v.Answer(m)
		if err != nil {
			return err
		}
		return a.encodeLines(out...)
	}
	a.text().PrintAdvice(v.Decide(m.Question))
	return nil
}
