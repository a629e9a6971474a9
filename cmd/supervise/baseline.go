package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/mergegate"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// baselineOptions are the options of supervise baseline.
type baselineOptions struct {
	checkFlags
	save, remote string
	push         bool
}

func newBaselineCmd(a *app) *cobra.Command {
	var o baselineOptions
	cmd := &cobra.Command{
		Use: "baseline", Short: "Measure and store the base of later merge gates",
		Long: `The record of HEAD is stored in ` + mergegate.RecordRef("COMMIT") + `, and with --push
also at the remote, where supervise gate --trust-records finds it. Each commit has a
separate ref, so parallel jobs do not conflict. With --save the record goes to a file, for
supervise gate --base. The tree must equal HEAD, except with --save.`,
		Example: `  supervise baseline --push
  supervise baseline --save base.json
  supervise baseline prune --keep 200 --push`,
		RunE: inWorkspace(a.workspace, func(ctx context.Context, at workspace) error { return runBaseline(ctx, a, at, o) }),
	}

	flags := cmd.Flags()
	flags.BoolVar(&o.push, "push", false, "also store the record at the remote")
	flags.StringVar(&o.remote, "remote", "origin", "`remote` to push to")
	flags.StringVar(&o.save, "save", "", "write the record to this `file` instead")
	o.checkFlags.register(flags)
	cmd.AddCommand(newPruneCmd(a), newMergeRatchetCmd())
	return cmd
}

// newMergeRatchetCmd returns the command that git runs as a merge driver.
func newMergeRatchetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "merge-ratchet OURS THEIRS", Short: "Merge two versions of " + mergegate.RatchetName,
		Long: `This is a merge driver of git: it writes the stricter of each pair of limits to the
first file.`,
		Example: `  git config merge.supervise-ratchet.driver 'supervise baseline merge-ratchet %A %B'
  echo '` + mergegate.RatchetName + ` merge=supervise-ratchet' >>.gitattributes`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			ours, err := mergegate.ReadRatchet(args[0])
			if err != nil {
				return err
			}
			theirs, err := mergegate.ReadRatchet(args[1])
			if err != nil {
				return err
			}
			return ours.MergeStricter(theirs).Save(args[0])
		},
	}
}

// pushRemote returns the remote to push to, "" if push is false.
func pushRemote(push bool, remote string) string {
	if push {
		return remote
	}
	return ""
}

func runBaseline(ctx context.Context, a *app, at workspace, o baselineOptions) (err error) {
	save, remote := o.save, pushRemote(o.push, o.remote)
	if save != "" && remote != "" {
		return usageError{errors.New("--save writes a file, --push a ref: give only one")}
	}

	if err := at.requireGit(ctx, "baseline"); err != nil {
		return err
	}

	settings, err := a.gateSettings(planInput{at: at, checks: o.checkFlags})
	if err != nil {
		return err
	}

	scratch, remove, err := ledger.NewScratchDir("baseline")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	rec, dirty, err := mergegate.MeasureRecord(ctx, mergegate.Options{
		Root: at.root, Scratch: filepath.Join(scratch, "reports"), Env: os.Environ(), Version: version(), Now: time.Now(),
	}, settings.Settings)
	if err != nil {
		return err
	}

	counts := rec.Set.Tests.Counts()
	switch {
	case save != "":
		if err := rec.Save(save); err != nil {
			return err
		}
		if dirty {
			a.printNotes("the tree differs from HEAD: the record names no commit, so a gate cannot tell renamed tests from deleted ones")
		}
		fmt.Fprintf(a.out, "%s, %d passed: written to %s\n", report.Pluralize(counts.Count, "test", "tests"), counts.Passed, save)
		return nil
	case dirty:
		return usageError{errors.New("the tree differs from HEAD, so the record would belong to no commit: commit or stash, or use --save FILE")}
	}

	if err := rec.Store(ctx, at.root, remote); err != nil {
		return err
	}
	location := "here; --push stores it at the remote as well"
	if remote != "" {
		location = "here and at " + remote
	}

	fmt.Fprintf(a.out, "%s, %d passed: stored as %s, %s\n", report.Pluralize(counts.Count, "test", "tests"), counts.Passed, mergegate.RecordRef(rec.Commit), location)
	return nil
}

// pruneOptions are the options of supervise baseline prune.
type pruneOptions struct {
	keep     int
	push     bool
	remote   string
	branches []string
}

func newPruneCmd(a *app) *cobra.Command {
	var o pruneOptions
	cmd := &cobra.Command{
		Use: "prune", Short: "Delete old records",
		Long:    "Delete old records: all except those of the latest commits of the given branches.",
		Example: "  supervise baseline prune --keep 200 --push",
		RunE:    inWorkspace(a.workspace, func(ctx context.Context, at workspace) error { return runPrune(ctx, a, at, o) }),
	}
	flags := cmd.Flags()
	flags.IntVar(&o.keep, "keep", 200, "how many commits of each branch keep their record")
	flags.StringSliceVar(&o.branches, "branch", []string{"HEAD"}, "`revisions` whose records stay")
	flags.BoolVar(&o.push, "push", false, "also delete them at the remote")
	flags.StringVar(&o.remote, "remote", "origin", "`remote` to delete them at")
	return cmd
}

func runPrune(ctx context.Context, a *app, at workspace, o pruneOptions) error {
	gone, err := mergegate.Prune(ctx, at.root, pushRemote(o.push, o.remote), o.keep, o.branches)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s deleted\n", report.Pluralize(len(gone), "record", "records"))
	return nil
}
