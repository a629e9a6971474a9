package main

import (
	"context"
	"fmt"

	"supervise/internal/event"
	"supervise/internal/replay"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// verifyOptions are the options of supervise verify.
type verifyOptions struct {
	loop string
	json bool
}

func newVerifyCmd(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [LOOP]",
		Short: "Check that the record of a loop is complete and unchanged",
		Long: `Check that the record of a loop is complete and unchanged.

The checklist covers the log and its chain of hashes, baseline, metrics, scores,
deltas, classes, the best so far, alerts, reports, the selection and its rationale,
and that the recorded verdicts follow from the measurements. Nothing is changed.
Exits with 3 if a check fails.`,
		Example: `  supervise verify
  supervise verify fix-tests --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.loop = first(args)
			return runVerify(cmd.Context(), a, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the checklist as JSON")
	return cmd
}

// maxProblems is the number of problems of one check that are shown.
const maxProblems = 10

func runVerify(ctx context.Context, a *app, o verifyOptions) error {
	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}
	checks, err := replay.Verify(dir, state)
	if err != nil {
		return err
	}
	paint := a.paint(a.out)
	for _, c := range checks {
		mark, tone := "[x]", report.Good
		switch {
		case c.Later:
			mark, tone = "[-]", report.Faint
		case !c.OK:
			mark, tone = "[ ]", report.Bad
			a.code = event.StoppedByRule.ExitCode()
		}
		if o.json {
			continue
		}
		fmt.Fprintf(a.out, "%s %s\n", paint(tone, mark), c.Name)
		for _, p := range report.Cut(c.Problems, maxProblems) {
			fmt.Fprintf(a.out, "      %s\n", p)
		}
	}
	return a.encodeIf(o.json, checks)
}
