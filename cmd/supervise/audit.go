package main

import (
	"cmp"
	"context"
	"encoding/json"
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

// auditFlags are the flags of audit.
type auditFlags struct {
	workingTree, json bool
	base, failOn      string
	off               []string
}

// failOn are the values of --fail-on, with the least severity that fails.
var failOn = map[string]metric.Severity{
	"critical": metric.Critical, "high": metric.High, "medium": metric.Medium, "never": metric.Critical + 1,
}

func (a *app) auditCmd() *cobra.Command {
	f := &auditFlags{}
	cmd := &cobra.Command{
		Use:   "audit REV | REV..REV | --working-tree | DIR DIR",
		Short: "Look for tests and checks that a change disables or weakens",
		Long: `Audit reads what changed, runs nothing, and says where tests were deleted, skipped,
emptied or weakened, where runners, thresholds and checks were turned off, and
where product code knows that it is tested. A single revision is compared with its
first parent; --working-tree compares HEAD, or --base, with the files on disk,
untracked ones included; two folders are compared with each other.

CRITICAL is what is almost never honest, HIGH is what a person should look at
first. What an explanation was found for (a rename, a move, a merge, a removed
feature) is INFO, and shown with --verbose or --json. The exit status is 3 when a
finding is as grave as --fail-on says.

git is read by its plumbing: external diffs, textconv, hooks, fsmonitor and
assume-unchanged of the repository have no say. Binary files and files over 1 MiB
are not looked at, and named.`,
		Example: `  supervise audit HEAD
  supervise audit main..my-branch --fail-on high
  supervise audit --working-tree --json
  supervise audit before/ after/`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return a.audit(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.workingTree, "working-tree", false, "compare a revision with the files on disk")
	flags.StringVar(&f.base, "base", "HEAD", "the revision that --working-tree compares with")
	flags.StringVar(&f.failOn, "fail-on", "critical", "exit with status 3 from this severity on: critical, high, medium or never")
	flags.StringSliceVar(&f.off, "off", nil, "rules that are not applied, by number or name: TP-13,expected_value_rewritten")
	flags.BoolVar(&f.json, "json", false, "print the findings as a JSON array")
	return cmd
}

func (a *app) audit(ctx context.Context, f *auditFlags, args []string) error {
	least, known := failOn[f.failOn]
	if !known {
		return usageError{fmt.Errorf("--fail-on is critical, high, medium or never, not %s", f.failOn)}
	}
	if unknown := integrity.Unknown(f.off); len(unknown) > 0 {
		return usageError{fmt.Errorf("--off: there is no rule %s; the rules are %s", unknown[0], strings.Join(integrity.Rules(), ", "))}
	}
	c, err := a.changed(ctx, f, args)
	if err != nil {
		return err
	}
	settings, err := a.settings(cmp.Or(a.dir, "."))
	if err != nil {
		return err
	}
	opt := settings.Integrity.Options()
	opt.Off, opt.Base = slices.Concat(opt.Off, f.off), c.Base
	found := integrity.Audit(c.Files, opt)
	for _, x := range found {
		if x.Severity >= least {
			a.code = event.StoppedByRule.ExitCode()
		}
	}
	for _, name := range c.Unread {
		fmt.Fprintf(a.err, "note: not looked at: %s\n", name)
	}
	if f.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(found)
	}
	a.printAudit(found, len(c.Files))
	return nil
}

// changed reads what the arguments name.
func (a *app) changed(ctx context.Context, f *auditFlags, args []string) (treediff.Change, error) {
	dir := a.dir
	if dir == "" {
		dir = "."
	}
	repo := treediff.Repo{Dir: dir}
	switch {
	case f.workingTree && len(args) > 0:
		return treediff.Change{}, usageError{errors.New("--working-tree stands alone; --base names the revision it compares with")}
	case f.workingTree && repo.TopLevel(ctx) == "":
		return treediff.Change{}, usageError{fmt.Errorf("%s is not under git: compare two folders, supervise audit BEFORE AFTER", dir)}
	case f.workingTree:
		c, err := repo.WorkingTree(ctx, f.base)
		return c, notThere(err)
	case len(args) == 2:
		for i, name := range args {
			if !filepath.IsAbs(name) {
				args[i] = filepath.Join(dir, name)
			}
			if info, err := os.Stat(args[i]); err != nil || !info.IsDir() {
				return treediff.Change{}, usageError{fmt.Errorf("%s is no folder; revisions are given as REV..REV", name)}
			}
		}
		return treediff.Folders(args[0], args[1])
	case len(args) == 0:
		return treediff.Change{}, usageError{errors.New("audit what? Give a revision, REV..REV, --working-tree, or two folders")}
	}
	from, to, err := repo.Span(ctx, args[0])
	if err != nil {
		return treediff.Change{}, notThere(err)
	}
	return repo.Between(ctx, from, to)
}

// notThere makes of a revision that is none a wrong usage.
func notThere(err error) error {
	if errors.Is(err, treediff.ErrRevision) {
		return usageError{err}
	}
	return err
}

var severityTones = map[metric.Severity]report.Tone{
	metric.Critical: report.Bad, metric.High: report.Bad, metric.Medium: report.Warn, metric.Low: report.Faint, metric.Info: report.Faint,
}

func (a *app) printAudit(found []integrity.Finding, files int) {
	paint := a.paint(a.out)
	shown, explained := 0, 0
	for _, x := range found {
		if x.Severity <= metric.Info && !a.verbose {
			explained++
			continue
		}
		shown++
		fmt.Fprintf(a.out, "%s  %s %s  %s\n", paint(severityTones[x.Severity], fmt.Sprintf("%-8s", x.Severity)), x.Rule, x.Type, auditLine(x))
	}
	if shown == 0 {
		fmt.Fprintf(a.out, "nothing found in %s\n", counted(files, "changed file"))
	}
	if explained > 0 {
		fmt.Fprintf(a.err, "note: %s explained, see --verbose\n", counted(explained, "finding"))
	}
}

// auditLine says where a finding is and what shows it.
func auditLine(x integrity.Finding) string {
	where := x.File
	if x.Line > 0 {
		where = fmt.Sprintf("%s:%d", x.File, x.Line)
	}
	parts := []string{where}
	if x.Test != "" {
		parts = append(parts, x.Test)
	}
	if x.Evidence != "" {
		parts = append(parts, x.Evidence)
	}
	line := strings.Join(parts, "  ")
	if x.ExplainedBy != "" {
		line += " (explained: " + x.ExplainedBy + ")"
	}
	return line
}

// counted says how many there are of a thing whose plural ends with an s.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
