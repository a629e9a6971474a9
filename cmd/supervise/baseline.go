package main

import (
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

func (a *app) baselineCmd() *cobra.Command {
	f := &checkFlags{}
	var save, remote string
	var push bool
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Measure the tree as the base of gates to come",
		Long: `Baseline measures the tree and stores what it found for supervise gate: for HEAD, in
` + mergegate.Ref("COMMIT") + `; with --push at the remote as well, so that every checkout
finds it. Each commit has a ref of its own, so that two jobs never meet. With --save
the record goes into a file instead, which --base names.

The tree must be what HEAD holds, unless the record goes into a file.`,
		Example: `  supervise baseline --push
  supervise baseline --save base.json
  supervise baseline prune --keep 200 --push`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.baseline(cmd, f, save, pushTo(push, remote)) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&push, "push", false, "store the record at the remote as well")
	flags.StringVar(&remote, "remote", "origin", "which one")
	flags.StringVar(&save, "save", "", "write the record into this file instead")
	f.register(cmd.Flags())
	for _, sub := range []*cobra.Command{a.pruneCmd(), a.mergeRatchetCmd()} {
		finish(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// mergeRatchetCmd is a merge driver of git.
func (a *app) mergeRatchetCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-ratchet OURS THEIRS",
		Short: "Merge two versions of " + mergegate.RatchetName + ": the stricter limit of each pair",
		Long: `Merge-ratchet is a merge driver of git: it writes the stricter limit of each pair into
the first file.`,
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
			return ours.Stricter(theirs).Save(args[0])
		},
	}
}

// pushTo is the remote that something is pushed to, "" for none.
func pushTo(push bool, remote string) string {
	if push {
		return remote
	}
	return ""
}

func (a *app) baseline(cmd *cobra.Command, f *checkFlags, save, remote string) (err error) {
	if save != "" && remote != "" {
		return usageError{errors.New("--save writes a file, --push a ref: give one of them")}
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	if err := at.underGit(cmd.Context(), "baseline"); err != nil {
		return err
	}
	settings, err := a.gateSettings(at.project, at.project, &gateFlags{checkFlags: *f})
	if err != nil {
		return err
	}
	scratch, remove, err := ledger.Scratch("baseline")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	rec, dirty, err := mergegate.Take(cmd.Context(), mergegate.Options{
		Root: at.root, Scratch: filepath.Join(scratch, "reports"), Env: os.Environ(), Version: version(), Now: time.Now(),
	}, settings)
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
			fmt.Fprintln(a.err, "note: the tree differs from HEAD: the record names no commit, and a gate cannot tell renamed tests from deleted ones by it")
		}
		fmt.Fprintf(a.out, "%s, %d passed: written to %s\n", report.Count(counts.Count, "test", "tests"), counts.Passed, save)
		return nil
	case dirty:
		return usageError{errors.New("the tree differs from HEAD, so that the record would be of no commit: commit or stash, or write it into a file with --save")}
	}
	if err := rec.Keep(cmd.Context(), at.root, remote); err != nil {
		return err
	}
	where := "here; --push stores it at the remote as well"
	if remote != "" {
		where = "here and at " + remote
	}
	fmt.Fprintf(a.out, "%s, %d passed: stored as %s, %s\n", report.Count(counts.Count, "test", "tests"), counts.Passed, mergegate.Ref(rec.Commit), where)
	return nil
}

func (a *app) pruneCmd() *cobra.Command {
	var keep int
	var push bool
	var remote string
	var branches []string
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Delete old records",
		Example: "  supervise baseline prune --keep 200 --push",
		Long:    "Prune deletes all records but those of the latest commits of the given branches.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := a.place(cmd.Context())
			if err != nil {
				return err
			}
			gone, err := mergegate.Prune(cmd.Context(), at.root, pushTo(push, remote), keep, branches)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s deleted\n", report.Count(len(gone), "record", "records"))
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&keep, "keep", 200, "how many commits of each branch keep theirs")
	flags.StringSliceVar(&branches, "branch", []string{"HEAD"}, "revisions whose records are kept")
	flags.BoolVar(&push, "push", false, "delete them at the remote as well")
	flags.StringVar(&remote, "remote", "origin", "which one")
	return cmd
}
