package main

import (
	"encoding/json"
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
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/mergegate"

	"github.com/spf13/cobra"
)

// gateFlags are the flags of gate.
type gateFlags struct {
	checkFlags
	base, failOn, format, setup, remote string
	outputs, accept                     []string
	offline, tighten                    bool
}

// gateFormats are the values of --format.
var gateFormats = []string{"text", "json", "github", "gitlab", "sarif", "junit", "markdown"}

func (a *app) gateCmd() *cobra.Command {
	f := &gateFlags{}
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Judge the checked-out tree against its base, for a merge",
		Long: `Gate measures the tree that is checked out, finds what its base measured, and
judges the difference by the rules of a loop: tests that are gone, skipped or fail,
coverage, errors, and what the texts say of tests and checks that were disabled or
weakened. Tests that such findings name are run as they were over the new code.

The base is --base (a revision: where HEAD left it; or the file of a record), else
what HEAD merges into, the target of the merge request, where HEAD left the main
branch, or the commit before. Its measurements are, in this order, the record of that
commit in ` + mergegate.Ref("COMMIT") + ` (supervise baseline --push), that of the nearest
ancestor, or made now in a checkout outside the tree. Where there is nothing to
compare with, the gate fails with status 6.

Configuration and acknowledgements are those of the base: a change cannot loosen the
rules that it is judged by. --config FILE stands over them.`,
		Example: `  supervise gate
  supervise gate --base origin/main --fail-on high
  supervise gate --format github --output sarif=supervise.sarif --output markdown=comment.md
  supervise gate --tighten`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.gate(cmd, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.base, "base", "", "revision, or file of a record, to compare with")
	flags.StringVar(&f.failOn, "fail-on", "critical", "fail from this severity on: critical, high or medium")
	flags.StringVar(&f.format, "format", "text", strings.Join(gateFormats, ", "))
	flags.StringArrayVar(&f.outputs, "output", nil, "FORMAT=FILE: write the report into a file as well (repeatable)")
	flags.StringVar(&f.setup, "setup", "", "command that prepares a checkout of the base before it is measured, for instance 'npm ci'")
	flags.StringVar(&f.remote, "remote", "origin", "where records and bases are fetched from")
	flags.BoolVar(&f.offline, "offline", false, "fetch nothing")
	flags.BoolVar(&f.tighten, "tighten", false, "when the gate passes, write limits that are kept into "+mergegate.RatchetName)
	flags.StringSliceVar(&f.accept, "accept", nil, "ID of a finding that somebody with the say accepts (repeatable)")
	f.register(cmd.Flags())
	return cmd
}

func (f *gateFlags) check() error {
	if _, ok := failOn[f.failOn]; !ok || f.failOn == "never" {
		return usageError{fmt.Errorf("--fail-on is critical, high or medium, not %s", f.failOn)}
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

func (a *app) gate(cmd *cobra.Command, f *gateFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	if err := at.underGit(cmd.Context(), "gate"); err != nil {
		return err
	}
	scratch, remove, err := ledger.Scratch("gate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	remote := f.remote
	if f.offline {
		remote = ""
	}
	rep, err := mergegate.Gate(cmd.Context(), mergegate.Options{
		Root: at.root, Project: at.project, Base: f.base, Setup: f.setup, Remote: remote, Scratch: filepath.Join(scratch, "work"),
		Configure: func(base, project string) (loop.Settings, error) { return a.gateSettings(base, project, f) },
		Severity:  failOn[f.failOn], Env: os.Environ(), Version: version(), Now: time.Now(),
		OnProgress: func(what string) { fmt.Fprintf(a.err, "%s\n", what) },
	})
	if err != nil {
		return err
	}
	if !rep.Passed {
		a.code = event.StoppedByRule.ExitCode()
	}
	if err := a.writeGate(rep, f); err != nil {
		return err
	}
	if err := a.keepAlerts(at, rep.Alerts); err != nil {
		return err
	}
	if f.tighten && rep.Passed {
		path := filepath.Join(at.project, mergegate.RatchetName)
		fmt.Fprintf(a.err, "limits written: %s\n", path)
		return rep.Tightened.Save(path)
	}
	return nil
}

// gateSettings are those of the configuration in one folder, with the plan for the
// project in another.
func (a *app) gateSettings(base, project string, f *gateFlags) (loop.Settings, error) {
	s, err := a.settings(base)
	if err != nil {
		return loop.Settings{}, err
	}
	if err := f.override(&s); err != nil {
		return loop.Settings{}, err
	}
	plan, notes, err := s.Plan(project, lookPath)
	if err != nil {
		return loop.Settings{}, err
	}
	a.notes(notes...)
	opts, err := s.Loop(project)
	if err != nil {
		return loop.Settings{}, err
	}
	opts.Settings.Plan = plan
	entries, err := ack.Load(ack.Path(base))
	if err != nil {
		return loop.Settings{}, err
	}
	opts.Rules.Acknowledged = ack.Acknowledgements(entries, time.Now())
	for _, id := range f.accept {
		opts.Rules.Acknowledged = append(opts.Rules.Acknowledged, detector.Acknowledgement{ID: id, Finding: id})
	}
	return opts.Settings, nil
}

// writeGate writes the report as it was asked for. On GitHub the summary of the step
// has it, too.
func (a *app) writeGate(rep mergegate.Report, f *gateFlags) error {
	if err := a.writeFormat(a.out, f.format, rep); err != nil {
		return err
	}
	for _, o := range f.outputs {
		format, path, _ := strings.Cut(o, "=")
		if err := writeTo(path, os.O_TRUNC, func(w io.Writer) error { return a.writeFormat(w, format, rep) }); err != nil {
			return err
		}
	}
	if summary := os.Getenv("GITHUB_STEP_SUMMARY"); summary != "" && f.format == "github" {
		return writeTo(summary, os.O_APPEND, rep.Markdown)
	}
	return nil
}

func writeTo(path string, flag int, write func(io.Writer) error) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

func (a *app) writeFormat(w io.Writer, format string, rep mergegate.Report) error {
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
	case "markdown":
		return rep.Markdown(w)
	}
	return rep.Text(w, a.paint(w))
}

// alertsName is the file with the findings of the last gate on this machine, in the
// folder of the tree's loops: supervise ack finds them there.
const alertsName = "gate.json"

func (a *app) keepAlerts(at place, alerts []detector.Alert) error {
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("keep the findings: %w", err)
	}
	return ledger.WriteJSON(filepath.Join(home, alertsName), alerts)
}

// gateFindings are the findings of the last gate of the tree; none where there was
// none.
func gateFindings(home string) []ledger.Finding {
	text, err := os.ReadFile(filepath.Join(home, alertsName))
	if err != nil {
		return nil
	}
	var alerts []detector.Alert
	if err := json.Unmarshal(text, &alerts); err != nil {
		return nil
	}
	var out []ledger.Finding
	for _, alert := range alerts {
		out = append(out, ledger.Finding{Alert: alert})
	}
	return out
}
