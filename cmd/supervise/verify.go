package main

import (
	"context"
	"fmt"
	"strings"

	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/regexp"
	"supervise/internal/replay"
	"supervise/internal/report"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// verifyOptions are the options of supervise verify.
type verifyOptions struct {
	loop, head string
	json       bool
}

// logHeadPattern matches the hash of an entry of a log, which is 32 hexadecimal digits.
var logHeadPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)

func newVerifyCmd(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use: "verify [LOOP]", Short: "Check that the record of a loop is complete and unchanged",
		Long: `The checklist covers the log and its chain of hashes, every pack and manifest of the
snapshots (all hashes are recomputed), baseline, metrics, scores, deltas, classes,
the best so far, alerts, reports, the selection and its rationale, and that the
recorded verdicts follow from the measurements. Nothing is changed. Exits with 3 if a
check fails.

A user who can write the record can also recompute its chain. run prints the head of the
chain at its end: keep it on another machine, and --head compares. A log that has grown
since is fine.`,
		Example: `  supervise verify
  supervise verify fix-tests --json
  supervise verify fix-tests --head 0f343b0931126a20f133d67c2b018a3b`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.head = strings.ToLower(o.head); cmd.Flags().Changed("head") && !logHeadPattern.MatchString(o.head) {
				return usageError{fmt.Errorf("--head %q is not a hash: give the 32 hexadecimal digits that the end of the loop printed", o.head)}
			}
			return runVerify(cmd.Context(), a, o)
		},
	}

	cmd.Flags().StringVar(&o.head, "head", "", "the `hash` of an entry that the log must hold, as the end of the loop printed it")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the checklist as JSON")
	return cmd
}

// maxProblems is the maximum number of problems that are shown for one check.
const maxProblems = 10

// slowStore is the size of a snapshot store, in bytes, from which its check takes seconds.
const slowStore = 256 << 20

// runVerify checks the folder of a loop. It sets the exit status to 3 if a check finds a problem.
func runVerify(ctx context.Context, a *app, o verifyOptions) error {
	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}
	if sum, err := snapshot.Summarize(ledger.SnapshotDir(dir)); err == nil && sum.Bytes > slowStore {
		a.printNotes(fmt.Sprintf("reading %s of snapshots", report.FormatBytes(sum.Bytes)))
	}

	checks, err := replay.Verify(ctx, toReplayLoop(dir, state), o.head)
	if err != nil {
		return err
	}

	paint := a.paint(a.out)
	for _, c := range checks {
		mark, tone := "[x]", document.Good
		switch {
		case c.Pending:
			mark, tone = "[-]", document.Faint
		case !c.OK:
			mark, tone = "[ ]", document.Bad
			a.code = event.StoppedByRule.ExitCode()
		}
		if o.json {
			continue
		}
		fmt.Fprintf(a.out, "%s %s\n", paint(tone, mark), c.Name)
		for _, p := range report.Truncate(c.Problems, maxProblems) {
			fmt.Fprintf(a.out, "      %s\n", p)
		}
		if c.Note != "" {
			fmt.Fprintf(a.out, "      %s\n", c.Note)
		}
	}
	if o.json {
		return a.encode(checks)
	}
	return nil
}
