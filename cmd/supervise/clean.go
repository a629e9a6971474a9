package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/seal"

	"github.com/spf13/cobra"
)

// cleanOptions are the options of supervise clean.
type cleanOptions struct {
	keep  int
	older time.Duration
	yes   bool
}

func newCleanCmd(a *app) *cobra.Command {
	var o cleanOptions
	cmd := &cobra.Command{
		Use: "clean", Short: "Delete old loops of this working tree with their snapshots",
		Long: `Records, reports and snapshots of a deleted loop cannot be brought back. Loops that
run, wait, can be resumed or hold an interrupted restore stay, and so do the latest
--keep loops and those younger than --older-than. Without --yes the command only lists
what it would delete.

To drop only unneeded snapshots: supervise select LOOP --cleanup.`,
		Example: `  supervise clean
  supervise clean --keep 5 --older-than 720h --yes`,
		RunE: inWorkspace(a.workspaceAndHome, func(_ context.Context, at workspace) error { return runClean(a, at, o) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&o.keep, "keep", 3, "how many of the latest loops stay")
	flags.DurationVar(&o.older, "older-than", 14*24*time.Hour, "only loops that have not changed for this long")
	flags.BoolVar(&o.yes, "yes", false, "delete the loops")
	return cmd
}

// runClean lists the loops that can be deleted, and deletes them with --yes.
func runClean(a *app, at workspace, o cleanOptions) error {
	if o.keep < 0 {
		return usageError{errors.New("--keep must not be negative")}
	}
	if o.yes {
		if err := ledger.FinishDeleting(at.home); err != nil {
			return err
		}
	}

	list, young, err := ledger.FindDeletable(at.home, at.root, o.keep, time.Now().Add(-o.older))
	if err != nil {
		return err
	}

	list = slices.DeleteFunc(list, func(d ledger.Deletable) bool {
		s, err := seal.Read(d.Dir)
		return err != nil || s != nil && !s.Restored // it has the only copy
	})
	freed := int64(0)
	for _, s := range list {
		fmt.Fprintf(a.out, "%s  %-10s %s  %s\n", s.UpdatedAt.Local().Format(time.DateTime), s.Status, s.LoopID, report.FormatBytes(s.Bytes))
		freed += s.Bytes
		if !o.yes {
			continue
		}
		kept, err := s.Delete()
		if err != nil {
			return fmt.Errorf("delete %s: %w", s.LoopID, err)
		}
		if kept != "" {
			fmt.Fprintf(a.err, "files that a restore moved out of the way stay in %s\n", kept)
		}
	}

	if young > 0 {
		fmt.Fprintf(a.err, "%s younger than %s: --older-than 0s includes all that are over\n", report.Pluralize(young, "loop stays that is", "loops stay that are"), days(o.older))
	}
	action := "deleted"
	if !o.yes {
		action = "would be deleted, with --yes"
	}

	fmt.Fprintf(a.out, "%s, %s: %s\n", report.Pluralize(len(list), "loop", "loops"), report.FormatBytes(freed), action)
	return nil
}

// days formats a duration, in days if it is at least two.
func days(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
	return d.String()
}
