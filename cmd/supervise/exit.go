package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"supervise/internal/ack"
	"supervise/internal/candidate"
	"supervise/internal/config"
	"supervise/internal/hook/standalone"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/mergegate"
	"supervise/internal/projectfile"
	"supervise/internal/protect"
	"supervise/internal/record"
	"supervise/internal/replay"
	"supervise/internal/treediff"
	"supervise/internal/worktree"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// exitStatuses lists the exit statuses of supervise and their meanings, for the help and for
// docs/commands.md.
var exitStatuses = []struct {
	code    int
	meaning string
}{
	{0, "done: the criterion is met, no regression was found, or the iterations of --steps are done"},
	{1, "internal error of supervise"},
	{2, "wrong usage or configuration"},
	{3, "a critical finding is unresolved"},
	{4, "no acceptable iteration, or a limit was reached before the criterion was met"},
	{5, "stalled, cycling or stuck"},
	{6, "unmeasurable: the checks gave no results that can be judged"},
	{130, "interrupted, or paused"},
}

// newExitStatusTopic returns the help topic about exit statuses: supervise help exit-status.
func newExitStatusTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("The exit statuses of supervise:\n\n")
	for _, row := range exitStatuses {
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, row.meaning)
	}
	b.WriteString("\nThe agent's own exit status is recorded in the state of the loop; supervise never\nreturns it.")
	return &cobra.Command{Use: "exit-status", Short: "Exit statuses of all commands", Long: b.String()}
}

// usageError is an error that the user can fix with another command line. Its exit status is 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// asUsageError returns err as a usage error, nil for nil.
func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// exitCodes maps errors to exit statuses. The first match counts, and other errors have status 1.
var exitCodes = []struct {
	err  error
	code int
}{
	{loop.ErrInterrupted, 130},
	{context.Canceled, 130},
	{loop.ErrUnmeasurable, 6},
	{protect.ErrUnavailable, 2},
	{config.ErrInvalid, 2},
	{ack.ErrInvalid, 2},
	{ledger.ErrNoLoop, 2},
	{ledger.ErrLocked, 2},
	{ledger.ErrHome, 2},
	{ledger.ErrChanged, 2},
	{ledger.ErrNoSettings, 2},
	{loop.ErrLaterLoop, 2},
	{candidate.ErrEnded, 2},
	{mergegate.ErrUnmeasurable, 6},
	{mergegate.ErrBase, 6},
	{mergegate.ErrRatchet, 2},
	{replay.ErrRange, 2},
	{replay.ErrNothingToJudge, 6},
	{runner.ErrNotFound, 2},
	{ledger.ErrFinding, 2},
	{worktree.ErrUnknownTree, 2},
	{treediff.ErrRevision, 2},
	{snapshot.ErrNoRollback, 2},
	{snapshot.ErrOtherRepository, 2},
	{standalone.ErrSettings, 2},
	{record.ErrInvalidMessage, 2},
	{record.ErrExists, 2},
	{record.ErrNotRecorded, 2},
	{record.ErrStillActive, 2},
	{selector.ErrNoIteration, 2},
	{selector.ErrNoCandidates, 2},
	{selector.ErrWeights, 2},
	{selector.ErrMode, 2},
	{selector.ErrNoReason, 2},
	{selector.ErrNoEligible, 2},
}

// exitCode returns the exit status for an error.
func exitCode(err error) int {
	var usage usageError
	var refused *projectfile.Refusal
	var unfinished *snapshot.UnfinishedError
	if errors.As(err, &usage) || errors.As(err, &refused) || errors.As(err, &unfinished) {
		return 2
	}
	for _, row := range exitCodes {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return 1
}
