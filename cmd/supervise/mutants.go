package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"supervise/internal/config"
	"supervise/internal/criterion"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/mergegate"
	"supervise/internal/report"
	"supervise/internal/review"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mutantsOptions are the options of supervise mutants.
type mutantsOptions struct {
	checkFlags
	flags       *pflag.FlagSet
	args        []string
	setup, page string
	json        bool
	workingTree bool
}

func newMutantsCmd(a *app) *cobra.Command {
	var o mutantsOptions
	cmd := &cobra.Command{
		Use: "mutants [REV | REV..REV | --working-tree]", Short: "Show which faults in a change its tests do not notice",
		Long: `supervise measures the checked-out tree and its base, plants one fault (a mutant) into each
changed line that tests execute, and runs the tests on each. It lists the survivors:
mutants with which no test fails, with the code around them.

The change is that of the checked-out tree, with uncommitted files, since the base: the
commit where HEAD left REV, HEAD with --working-tree, or the base that 'supervise gate'
finds. The second revision of REV..REV has to be checked out. Not every survivor needs a
test; 'supervise gate --fail-on-unguarded' fails with any.`,
		Example: `  supervise mutants
  supervise mutants main..HEAD --html mutants.html
  supervise mutants --working-tree --json`,
		Args: storeArgs(&o.args, cobra.MaximumNArgs(1)),
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runMutants(ctx, a, at, o) }),
	}
	o.flags = cmd.Flags()
	s := config.Default()
	registerMutantSettings(cmd.Flags(), &s)
	o.flags.BoolVar(&o.workingTree, "working-tree", false, "only what is not committed")
	o.flags.StringVar(&o.setup, "setup", "", "`command` that prepares a checkout of the base before it is measured, such as 'npm ci'")
	o.flags.StringVar(&o.page, "html", "", "also write the survivors as a page to this `file`")
	o.flags.BoolVar(&o.json, "json", false, "print the result as JSON")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// registerMutantSettings adds the flags that override settings of the configuration.
func registerMutantSettings(flags *pflag.FlagSet, s *config.Settings) {
	flags.IntVar(&s.ChangeMutants.MaxMutants, "max", s.ChangeMutants.MaxMutants, "the most `mutants` to run")
}

// base returns the revision to compare with, "" for the one that the gate finds.
func (o mutantsOptions) base(ctx context.Context, at workspace) (string, error) {
	rev := strings.Join(o.args, "")
	switch {
	case o.workingTree && rev != "":
		return "", usageError{errors.New("--working-tree compares with HEAD: name no revision")}
	case o.workingTree:
		return "HEAD", nil
	}
	from, to, isRange := strings.Cut(rev, "..")
	if isRange && !mergegate.IsCheckedOut(ctx, at.root, to) {
		return "", usageError{fmt.Errorf("%s is not checked out, or something is not committed: mutants run on the checked-out tree; `git worktree add DIR %s` makes one", to, to)}
	}
	return from, nil
}

// runMutants runs the tests on mutants of the change in the working tree and prints the survivors.
func runMutants(ctx context.Context, a *app, at workspace, o mutantsOptions) (err error) {
	if err := at.requireGit(ctx, "mutants"); err != nil {
		return err
	}
	base, err := o.base(ctx, at)
	if err != nil {
		return err
	}
	scratch, remove, err := ledger.NewScratchDir("mutants")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	rep, err := mergegate.Gate(ctx, mergegate.Options{
		Root: at.root, Project: at.project, Base: base, Setup: o.setup, State: at.home, Scratch: filepath.Join(scratch, "work"), OnlyMutants: true,
		Configure: func(base, project string) (judge.Settings, criterion.Criterion, error) {
			s, err := a.gateSettings(planInput{at: at, base: base, project: project, checks: o.checkFlags, flags: o.flags, register: registerMutantSettings})
			s.ChangeMutants.Off, s.Reviewer, s.Hidden.Dir = false, review.Options{}, ""
			return s.Settings, criterion.Criterion{}, err
		},
		FailOn: mergegate.FailOnProven, Env: os.Environ(), Version: version(), Now: time.Now(),
		OnProgress: func(what string) { fmt.Fprintf(a.err, "%s\n", what) },
	})
	if err != nil {
		return err
	}
	if o.page != "" {
		page := func(w io.Writer) error {
			_, err := io.WriteString(w, report.Page("supervise mutants", rep.Mutants()))
			return err
		}
		if err := a.writeTo(o.page, os.O_TRUNC, page); err != nil {
			return err
		}
	}
	if o.json {
		return a.encode(rep.MutantsRecord())
	}
	_, err = io.WriteString(a.doc, rep.Mutants().Terminal(a.paint(a.doc)))
	return err
}
