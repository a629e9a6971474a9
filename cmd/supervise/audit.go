package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/integrity"
	"supervise/internal/event"
	"supervise/internal/report"
	"supervise/internal/treediff"
	"supervise/metric"

	"github.com/spf13/cobra"
)

// auditOptions are the options of supervise audit.
type auditOptions struct {
	args              []string // revisions or folders
	workingTree, json bool
	base, failOn      string
	off               []string
}

// failSeverities maps the values of --fail-on to the lowest severity that fails.
var failSeverities = map[string]metric.Severity{
	"critical": metric.Critical, "high": metric.High, "medium": metric.Medium, "never": metric.Critical + 1,
}

func newAuditCmd(a *app) *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit REV | REV..REV | --working-tree | DIR DIR",
		Short: "Find tests and checks that a change disables or weakens",
		Long: `Nothing is run: supervise reads the changed files. A single revision is compared with
its first parent, --working-tree compares HEAD, or --base, with the files on disk
(untracked ones included), and two folders are compared with each other.

CRITICAL findings are almost never legitimate; a person should look at HIGH ones
first. Findings with an explanation (a rename, a move, a merge, a removed feature)
are INFO, and shown with --verbose or --json. Binary files and files over 1 MiB are
named, not read. Exits with 3 if any finding is at or above --fail-on.`,
		Example: `  supervise audit HEAD
  supervise audit main..my-branch --fail-on high
  supervise audit --working-tree --json`,
		Args: storeArgs(&o.args, cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, _ []string) error { return runAudit(cmd.Context(), a, o) },
	}

	flags := cmd.Flags()
	flags.BoolVar(&o.workingTree, "working-tree", false, "compare a revision with the files on disk")
	flags.StringVar(&o.base, "base", "HEAD", "the `revision` that --working-tree compares with")
	flags.StringVar(&o.failOn, "fail-on", "critical", "exit with 3 from this `severity` on: critical, high, medium or never")
	flags.StringSliceVar(&o.off, "off", nil, "`rules` to ignore, by number or name: TP-13,expected_value_rewritten")
	flags.BoolVar(&o.json, "json", false, "print the findings as a JSON array")
	return cmd
}

func runAudit(ctx context.Context, a *app, o auditOptions) error {
	minSeverity, known := failSeverities[o.failOn]
	if !known {
		return usageError{fmt.Errorf("--fail-on is critical, high, medium or never, not %s", o.failOn)}
	}
	if unknown := integrity.UnknownRules(o.off); len(unknown) > 0 {
		return usageError{fmt.Errorf("--off: there is no rule %s; the rules are %s", unknown[0], strings.Join(integrity.Rules(), ", "))}
	}

	c, err := a.readChange(ctx, o)
	if err != nil {
		return err
	}

	settings, err := a.loadSettings(cmp.Or(a.dir, "."))
	if err != nil {
		return err
	}

	opt := settings.Integrity.Options()
	opt.Disabled, opt.Base = slices.Concat(opt.Disabled, o.off), c.Base
	found := integrity.Audit(c.Files, opt)
	if slices.ContainsFunc(found, func(f integrity.Finding) bool { return f.Severity >= minSeverity }) {
		a.code = event.StoppedByRule.ExitCode()
	}

	for _, name := range c.Unread {
		a.printNotes("not read: " + name)
	}
	if o.json {
		return a.encode(found)
	}
	if n := a.text().PrintAudit(found, len(c.Files), a.verbose); n > 0 {
		a.printNotes(report.Pluralize(n, "finding", "findings") + " explained, see --verbose")
	}
	return nil
}

// readChange reads the change that the arguments name.
func (a *app) readChange(ctx context.Context, o auditOptions) (treediff.Change, error) {
	dir, args := cmp.Or(a.dir, "."), o.args
	repo := treediff.Repo{Dir: dir}
	switch {
	case o.workingTree && len(args) > 0:
		return treediff.Change{}, usageError{errors.New("--working-tree takes no arguments; --base names the revision it compares with")}
	case o.workingTree && repo.TopLevel(ctx) == "":
		return treediff.Change{}, usageError{fmt.Errorf("%s is not under git: compare two folders, supervise audit BEFORE AFTER", dir)}
	case o.workingTree:
		return repo.CompareWorkingTree(ctx, o.base)
	case len(args) == 2:
		for i, name := range args {
			if !filepath.IsAbs(name) {
				args[i] = filepath.Join(dir, name)
			}
			if info, err := os.Stat(args[i]); err != nil || !info.IsDir() {
				return treediff.Change{}, usageError{fmt.Errorf("%s is not a folder; write revisions as REV..REV", name)}
			}
		}
		return treediff.CompareFolders(args[0], args[1])
	case len(args) == 0:
		return treediff.Change{}, usageError{errors.New("give a revision, REV..REV, --working-tree, or two folders")}
	}

	from, to, err := repo.ResolveRange(ctx, args[0])
	if err != nil {
		return treediff.Change{}, err
	}
	return repo.CompareTrees(ctx, from, to)
}
