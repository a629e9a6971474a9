package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/replay"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

func (a *app) verifyCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [LOOP]",
		Short: "Check the folder of a loop: nothing missing, nothing changed",
		Long: `Verify checks the folder of a loop against a checklist: the log and its chain of
hashes, baseline, metrics, scores, deltas, classes, the best so far, alerts, reports,
the selection and its rationale, and that the recorded verdicts follow from what was
measured. It changes nothing. The exit status is 3 when a line does not hold.`,
		Example: "  supervise verify\n  supervise verify fix-tests --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, state, err := a.find(cmd, first(args))
			if err != nil {
				return err
			}
			checks, err := replay.Verify(dir, state)
			if err != nil {
				return err
			}
			for _, c := range checks {
				if !c.OK {
					a.code = event.StoppedByRule.ExitCode()
				}
			}
			if asJSON {
				return a.encode(checks)
			}
			a.printChecks(checks)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checklist as JSON")
	return cmd
}

// maxProblems is how many problems of one check are shown.
const maxProblems = 10

func (a *app) printChecks(checks []replay.Check) {
	paint := a.paint(a.out)
	for _, c := range checks {
		mark, tone := "[x]", report.Good
		switch {
		case c.Later:
			mark, tone = "[-]", report.Faint
		case !c.OK:
			mark, tone = "[ ]", report.Bad
		}
		fmt.Fprintf(a.out, "%s %s\n", paint(tone, mark), c.Name)
		for _, p := range report.Cut(c.Problems, maxProblems) {
			fmt.Fprintf(a.out, "      %s\n", p)
		}
	}
}

func (a *app) analyticsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "analytics [LOOP]",
		Short:   "Print the analytics of a loop: trajectory, degradation, returns",
		Example: "  supervise analytics\n  supervise analytics --json fix-tests",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := a.view(cmd, first(args))
			if err != nil {
				return err
			}
			v, choice, err := v.Choose(record.Wish{})
			if err != nil {
				return selectError(err)
			}
			r := v.Report(choice, asOf(v.State))
			if asJSON {
				return a.encode(report.AnalyticsOf(r))
			}
			_, err = a.out.Write(report.Completion(r))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	return cmd
}

// asOf is the time at which a loop is looked at: when it ended, for one that did.
func asOf(s ledger.State) time.Time {
	if over(s.Status) {
		return s.UpdatedAt
	}
	return time.Now()
}

// cleanFlags are the flags of clean.
type cleanFlags struct {
	keep   int
	older  time.Duration
	dryRun bool
}

func (a *app) cleanCmd() *cobra.Command {
	f := &cleanFlags{}
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Delete old loops of this working tree with all their snapshots",
		Long: `Clean deletes the folders of loops that are over: their records, reports and
snapshots. What a deleted loop kept cannot be brought back. Loops that run, that wait
or that resume could continue stay, as do the latest --keep, and those younger than
--older-than. It says what it would delete; --yes deletes it.

To drop only the snapshots that nobody needs any more: supervise select LOOP --cleanup.`,
		Example: "  supervise clean\n  supervise clean --keep 5 --older-than 720h --yes",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.clean(cmd, f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.keep, "keep", 3, "how many of the latest loops stay in any case")
	flags.DurationVar(&f.older, "older-than", 14*24*time.Hour, "only loops whose last change is so long ago")
	yes := flags.Bool("yes", false, "delete; without it nothing is")
	cmd.PreRun = func(*cobra.Command, []string) { f.dryRun = !*yes }
	return cmd
}

func (a *app) clean(cmd *cobra.Command, f *cleanFlags) error {
	if f.keep < 0 {
		return usageError{fmt.Errorf("--keep must not be negative")}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	loops, err := ledger.Loops(home, at.root) // the latest first
	if err != nil {
		return err
	}
	count, freed, young := 0, int64(0), 0
	for _, s := range loops[min(f.keep, len(loops)):] {
		if !deletable(s) {
			continue
		}
		if time.Since(s.UpdatedAt) < f.older {
			young++
			continue
		}
		dir := ledger.Dir(home, s.LoopID)
		if free, err := ledger.Free(dir); err != nil || !free {
			continue
		}
		bytes := sizeOf(dir)
		fmt.Fprintf(a.out, "%s  %-10s %s  %s\n", s.UpdatedAt.Local().Format(time.DateTime), s.Status, s.LoopID, report.Bytes(bytes))
		count, freed = count+1, freed+bytes
		if !f.dryRun {
			if err := ledger.RemoveTree(dir); err != nil {
				return fmt.Errorf("delete %s: %w", s.LoopID, err)
			}
		}
	}
	if young > 0 {
		fmt.Fprintf(a.err, "%s younger than %s: --older-than 0s takes all that are over\n", report.Count(young, "loop stays that is", "loops stay that are"), days(f.older))
	}
	what := "deleted"
	if f.dryRun {
		what = "would be deleted, with --yes"
	}
	fmt.Fprintf(a.out, "%s, %s: %s\n", report.Count(count, "loop", "loops"), report.Bytes(freed), what)
	return nil
}

// days is a long time for people.
func days(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
	return d.String()
}

// deletable reports whether nobody can go on with a loop.
func deletable(s ledger.State) bool {
	return s.Status == ledger.Completed || s.Status == ledger.Failed
}

// sizeOf is the sum of the sizes of the files in a folder.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read does not count
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
