package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	code   int
	errors []error
}{
	{130, []error{loop.ErrInterrupted, context.Canceled}},
	{6, []error{loop.ErrUnmeasurable, mergegate.ErrUnmeasurable, mergegate.ErrBase, replay.ErrNothingToJudge}},
	{2, []error{
		protect.ErrUnavailable, config.ErrInvalid, ack.ErrInvalid, mergegate.ErrRatchet, replay.ErrRange, runner.ErrNotFound,
		ledger.ErrNoLoop, ledger.ErrLocked, ledger.ErrHome, ledger.ErrChanged, ledger.ErrNoSettings, ledger.ErrFinding,
		loop.ErrLaterLoop, candidate.ErrEnded, worktree.ErrUnknownTree, treediff.ErrRevision, standalone.ErrSettings,
		snapshot.ErrNoRollback, snapshot.ErrOtherRepository,
		record.ErrInvalidMessage, record.ErrExists, record.ErrNotRecorded, record.ErrStillActive,
		selector.ErrNoIteration, selector.ErrNoCandidates, selector.ErrWeights, selector.ErrMode, selector.ErrNoReason, selector.ErrNoEligible,
	}},
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
		if slices.ContainsFunc(row.errors, func(known error) bool { return errors.Is(err, known) }) {
			return row.code
		}
	}
	return 1
}
