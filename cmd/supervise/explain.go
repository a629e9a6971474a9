package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/selector"

	"github.com/spf13/cobra"
)

// explainOptions are the options of supervise explain.
type explainOptions struct {
	loop           string
	iteration      int
	json, markdown bool
	prompt         bool // print the prompt of the iteration instead of the reasons
}

func newExplainCmd(a *app) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use: "explain [LOOP] N", Short: "Explain the verdict on iteration N, and how to override it",
		Long: `The five steps are: goal (what was compared with what), extraction (what was read from
where), reasoning (which rules fired or came near, with the numbers), exceptions (what
was surprising) and synthesis (class, recommendation and confidence). The commands
that override the verdict follow.`,
		Example: `  supervise explain 3
  supervise explain fix-tests 3 --json
  supervise explain 3 --prompt`,
		Args: loopAndTrees(1, 1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			args = loopFirst(args)
			o.loop = args[0]
			if o.iteration, err = iterationArg(args[1]); err != nil {
				return err
			}
			return runExplain(cmd.Context(), a, o)
		},
	}

	cmd.Flags().BoolVar(&o.json, "json", false, "print the five steps as JSON")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print the complete report of the iteration, as the loop wrote it")
	cmd.Flags().BoolVar(&o.prompt, "prompt", false, "print the prompt of the iteration, with its level and the reason for it")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "prompt")
	return cmd
}

func runExplain(ctx context.Context, a *app, o explainOptions) error {
	if o.markdown {
		return a.reportFile(ctx, o.loop, reportOfIteration(o.iteration))
	}
	v, err := a.viewOrDefaults(ctx, o.loop)
	if err != nil {
		return err
	}

	in, err := reasoningInput(v, o.iteration)
	if err != nil {
		return err
	}
	if o.prompt {
		return a.showPrompt(v, in.Iteration)
	}

	c := reasoning.NewChain(in)
	for i, override := range c.Overrides { // add the flags that the user needs to paste the command
		if args, ok := strings.CutPrefix(override.Command, "supervise "); ok {
			c.Overrides[i].Command = a.self() + " " + args
		}
	}

	if o.json {
		return a.encode(c)
	}
	paint := a.paint(a.out)
	fmt.Fprintf(a.out, "%s\n\n%s", report.IterationLine(in.Iteration, paint), report.ReasoningDocument(c).Terminal(paint))
	return nil
}

// showPrompt prints the prompt of an iteration, with its level and the reason for it.
func (a *app) showPrompt(v record.View, it ledger.Iteration) error {
	text, err := ledger.ReadPrompt(v.Dir, it.Number)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("the agent was given no prompt in iteration %d of loop %s", it.Number, v.State.LoopID)}
	}
	if err != nil {
		return err
	}
	if it.Level != "" {
		fmt.Fprintf(a.out, "level %s: %s\n\n", strings.ToLower(it.Level), it.LevelReason)
	}
	fmt.Fprintln(a.out, strings.TrimSpace(text))
	return nil
}

// reasoningInput collects what the verdict on iteration n is based on.
func reasoningInput(v record.View, n int) (in reasoning.Input, err error) {
	in.Criterion, in.Rules, in.Proof = v.State.Criterion, v.Settings.Rules, v.State.Proof
	if in.Iteration, err = v.Iteration(n); errors.Is(err, selector.ErrNoIteration) {
		return in, usageError{fmt.Errorf("loop %s has no iteration %d; it has %s, see supervise status %s", v.State.LoopID, n, iterationRange(v.Iterations), v.State.LoopID)}
	}
	if v.Iterations[0].Number == 0 {
		in.Baseline = v.Iterations[0]
	}
	if before, err := v.Iteration(reasoning.PreviousIteration(v.Iterations, n)); err == nil {
		in.Previous = &before
	}
	return in, nil
}

// iterationRange says which numbers of iterations exist.
func iterationRange(its []ledger.Iteration) string {
	if len(its) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d to %d", its[0].Number, its[len(its)-1].Number)
}
