package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ack"
	"supervise/internal/config"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/mergegate"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// gateOptions are the options of supervise gate.
type gateOptions struct {
	checkFlags
	flags                               *pflag.FlagSet // the settings among them override the configuration
	base, failOn, format, setup, remote string
	outputs, accept                     []string
	offline, trustRecords, tighten      bool
	failOnUnguarded                     bool
}

// gateFormats are the values of --format.
var gateFormats = []string{"text", "json", "github", "gitlab", "sarif", "junit", "markdown"}

func newGateCmd(a *app) *cobra.Command {
	var o gateOptions
	cmd := &cobra.Command{
		Use: "gate", Short: "Judge a change before it is merged (merge gate)",
		Long: `supervise measures the checked-out tree and its base, and judges the difference by the
rules of a loop: tests that are gone, skipped or failing, coverage, errors, and changed
texts that disable or weaken tests and checks. For tests that failed in the base, and
those that the change touches, the original versions are run on the new code.

The base is --base (a revision, taken at the merge base, or the file of a record).
Otherwise it is what HEAD merges into, the target of the merge request, the merge base
with the main branch, or the previous commit. Remote-tracking branches are compared with
the remote, unless --offline. The base is measured in a checkout outside the tree. With
--trust-records, its record in ` + mergegate.RecordRef("COMMIT") + ` (supervise
baseline --push) counts instead, or that of the nearest ancestor.

The change cannot configure its own review: configuration and acknowledgements are those
of the base, unless --config names a file or a flag says otherwise. Exits with 3 if a finding fails by
--fail-on, by default every CRITICAL one and every HIGH one that numbers or a run show,
and with 6 if there is nothing to compare with.`,
		Example: `  supervise gate
  supervise gate --base origin/main --fail-on high
  supervise gate --format github --output sarif=supervise.sarif --output markdown=comment.md`,
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runGate(ctx, a, at, o) }),
	}
	o.flags = cmd.Flags()

	addFlagSection(cmd.Flags(), "Base", func(f *pflag.FlagSet) {
		f.StringVar(&o.base, "base", "", "`revision`, or file of a record, to compare with")
		f.StringVar(&o.setup, "setup", "", "`command` that prepares a checkout of the base before it is measured, such as 'npm ci'")
		f.StringVar(&o.remote, "remote", "origin", "`remote` to fetch records and bases from")
		f.BoolVar(&o.offline, "offline", false, "fetch nothing")
		f.BoolVar(&o.trustRecords, "trust-records", false, "use stored records instead of measuring the base: only trusted jobs can write them")
	})

	addFlagSection(cmd.Flags(), "Verdict", func(f *pflag.FlagSet) {
		f.StringVar(&o.failOn, "fail-on", string(mergegate.FailOnProven), "fail from this `severity` on: critical, proven (HIGH findings too, if more than text shows them), high or medium")
		f.BoolVar(&o.failOnUnguarded, "fail-on-unguarded", false, "fail if no test notices a fault in a changed line, see docs/guarded.md")
		o.registerIntent(f)
		f.StringSliceVar(&o.accept, "accept", nil, "`ID` of a finding that an authorised person accepts (repeatable)")
		f.BoolVar(&o.tighten, "tighten", false, "when the gate passes, write the limits that are met to "+mergegate.RatchetName)
	})

	s := config.Default()
	registerGateSettings(cmd.Flags(), &s)
	addFlagSection(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		f.StringVar(&o.format, "format", "text", strings.Join(gateFormats, ", "))
		f.StringArrayVar(&o.outputs, "output", nil, "`FORMAT=FILE`: also write the report to a file (repeatable)")
	})
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// registerGateSettings adds the flags that override settings of the configuration.
func registerGateSettings(flags *pflag.FlagSet, s *config.Settings) {
	addFlagSection(flags, "Verdict", func(f *pflag.FlagSet) {
		registerMinChangeCoverage(f, s)
		f.StringVar(&s.HiddenTests.Dir, "hidden-tests", s.HiddenTests.Dir, "`folder` outside the tree with tests that the author of the change does not see")
		f.StringVar(&s.Until, "until", s.Until, "`command` that has to succeed in the tree and, with the product code of the change alone, in a clean copy of the base")
		f.StringVar(&s.Reviewer.Agent, "reviewer", s.Reviewer.Agent, "known agent program, or `command`, that gives a second opinion on the change")
	})
}

// validate checks the values of the flags.
func (f gateOptions) validate() error {
	if !slices.Contains(mergegate.FailOnValues(), mergegate.FailOn(f.failOn)) {
		return usageError{fmt.Errorf("--fail-on is critical, proven, high or medium, not %s", f.failOn)}
	}
	if !slices.Contains(gateFormats, f.format) {
		return usageError{fmt.Errorf("--format is one of %s, not %s", strings.Join(gateFormats, ", "), f.format)}
	}
	for _, o := range f.outputs {
		format, path, ok := strings.Cut(o, "=")
		if !ok || path == "" || !slices.Contains(gateFormats, format) {
			return usageError{fmt.Errorf("--output is FORMAT=FILE, not %s; the formats are %s", o, strings.Join(gateFormats, ", "))}
		}
	}
	return nil
}

// runGate judges the change in the working tree and writes the report. It sets the exit status to 3
// if the gate fails.
func runGate(ctx context.Context, a *app, at workspace, o gateOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if err := at.requireGit(ctx, "gate"); err != nil {
		return err
	}

	scratch, remove, err := ledger.NewScratchDir("gate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	remote := o.remote
	if o.offline {
		remote = ""
	}

	rep, err := mergegate.Gate(ctx, mergegate.Options{
		Root: at.root, Project: at.project, Base: o.base, Setup: o.setup, Remote: remote, TrustRecords: o.trustRecords, State: at.home, Scratch: filepath.Join(scratch, "work"),
		Configure: func(base, project string) (judge.Settings, criterion.Criterion, error) {
			s, err := a.gateSettings(planInput{at: at, base: base, project: project, checks: o.checkFlags, flags: o.flags, register: registerGateSettings}, o.accept...)
			return s.Settings, s.Until, err
		},
		FailOn: mergegate.FailOn(o.failOn), FailOnUnguarded: o.failOnUnguarded, Accept: o.accept, Env: os.Environ(), Version: version(), Now: time.Now(),
		OnProgress: func(what string) { fmt.Fprintf(a.err, "%s\n", what) },
	})
	if err != nil {
		return err
	}
	if !rep.Passed {
		a.code = event.StoppedByRule.ExitCode()
	}
	if err := a.writeGate(rep, o); err != nil {
		return err
	}
	if err := mergegate.SaveFindings(at.home, rep.Alerts); err != nil {
		return err
	}

	if o.tighten && rep.Passed {
		path := filepath.Join(at.project, mergegate.RatchetName)
		fmt.Fprintf(a.err, "limits written: %s\n", path)
		return rep.Tightened.Save(path)
	}
	return nil
}

// gateSettings returns the settings of a merge gate. They come from the configuration of the base,
// with the flags and with additional acknowledgements of the findings with the IDs in accept.
func (a *app) gateSettings(in planInput, accept ...string) (loop.Settings, error) {
	_, opts, err := a.loopOptions(in)
	if err == nil {
		err = requireReviewer(in.at, opts.Reviewer)
	}
	if err != nil {
		return loop.Settings{}, err
	}
	entries, err := ack.Load(ack.Path(cmp.Or(in.base, in.at.project)))
	if err != nil {
		return loop.Settings{}, err
	}

	opts.Rules.Acknowledged = ack.Acknowledgements(entries, time.Now())
	for _, id := range accept {
		opts.Rules.Acknowledged = append(opts.Rules.Acknowledged, detector.Acknowledgement{ID: id, Finding: id})
	}
	return opts.Settings, nil
}

// writeGate writes the report to standard output and to the files of --output. With the format
// github, it also appends the report to the summary of the step.
func (a *app) writeGate(rep mergegate.Report, o gateOptions) error {
	if err := a.writeFormat(a.doc, o.format, rep); err != nil {
		return err
	}
	for _, o := range o.outputs {
		format, path, _ := strings.Cut(o, "=")
		if err := a.writeTo(path, os.O_TRUNC, func(w io.Writer) error { return a.writeFormat(w, format, rep) }); err != nil {
			return err
		}
	}
	if summary := os.Getenv("GITHUB_STEP_SUMMARY"); summary != "" && o.format == "github" {
		return a.writeTo(summary, os.O_APPEND, func(w io.Writer) error { return a.writeFormat(w, "markdown", rep) })
	}
	return nil
}

// writeTo opens a file and lets write fill it, with secrets masked. flag is O_TRUNC or O_APPEND.
func (a *app) writeTo(path string, flag int, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644) //nolint:forbidigo // it is written
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(&maskingWriter{to: file, mask: a.mask})
}

// writeFormat writes the report in one of [gateFormats].
func (a *app) writeFormat(w io.Writer, format string, rep mergegate.Report) error {
	text := rep.Markdown
	switch format {
	case "json":
		return rep.JSON(w)
	case "github":
		return rep.GitHub(w)
	case "gitlab":
		return rep.GitLab(w, config.FileName)
	case "sarif":
		return rep.SARIF(w, version(), config.FileName)
	case "junit":
		return rep.JUnit(w)
	case "text":
		text = func() string { return rep.Text().Terminal(a.paint(w)) }
	}
	_, err := io.WriteString(w, text())
	return err
}
