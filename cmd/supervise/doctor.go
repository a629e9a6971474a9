package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"supervise/internal/event"
	"supervise/internal/holdout"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/project"
	"supervise/internal/report"
	"supervise/internal/report/terminal"
	"supervise/metric"

	"github.com/spf13/cobra"
)

func (a *app) doctorCmd() *cobra.Command {
	f := &checkFlags{}
	var asJSON, noRun bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what is recognised, run each check once, and say what was read from where",
		Long: `Doctor answers whether a loop would know what it does in this project: which
projects are recognised and by which files, which commands are run, what each of
them reports and where that was read, what is missing and how to get it.
The exit status is 0 when tests were measured and 6 when they were not.`,
		Example: `  supervise doctor
  supervise doctor --no-run
  supervise doctor --test-cmd 'make check' --test-report 'build/**/TEST-*.xml'`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), f, asJSON, noRun) },
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&noRun, "no-run", false, "show the plan and run nothing")
	return cmd
}

// diagnosis is what doctor --json prints.
type diagnosis struct {
	Tree     string            `json:"tree"`
	Projects []diagnosedPart   `json:"projects"`
	Programs []diagnosed       `json:"programs"`
	Checks   []measure.Check   `json:"checks"`
	Notes    []string          `json:"notes,omitempty"`
	Runs     []ledger.CheckRun `json:"runs,omitempty"`
	Metrics  *metric.Record    `json:"metrics,omitempty"`
}

type diagnosedPart struct {
	Dir      string   `json:"dir"`
	Language string   `json:"language"`
	Tools    []string `json:"tools"`
}

// diagnosed is a program of the machine.
type diagnosed struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"` // what does not work without it
}

func (a *app) doctor(ctx context.Context, f *checkFlags, asJSON, noRun bool) error {
	at, err := a.place(ctx)
	if err != nil {
		return err
	}
	s, err := a.settings(at.project)
	if err != nil {
		return err
	}
	if err := f.override(&s); err != nil {
		return err
	}
	plan, notes, err := s.Plan(at.project, lookPath)
	if err != nil {
		return err
	}
	opts, err := s.Loop(plan.Root)
	if err != nil {
		return err
	}
	d := diagnosis{Tree: plan.Root, Checks: plan.Checks, Notes: notes, Projects: parts(plan.Root), Programs: []diagnosed{gitProgram(ctx)}}
	if !asJSON {
		a.showDiagnosis(d)
	}
	if noRun {
		return a.encodeIf(asJSON, d)
	}
	res, err := a.measureOnce(ctx, plan)
	if err != nil {
		return err
	}
	if res.Set.Tests == nil {
		a.code = event.Unmeasurable.ExitCode()
	}
	record := res.Set.Record()
	d.Runs, d.Metrics = holdout.Runs(res.Runs), &record
	idle := opts.Rules.Unmatched(res.Set)
	d.Notes = append(d.Notes, idle...)
	if !asJSON {
		a.showRuns(res)
		a.showNotes(idle)
	}
	return a.encodeIf(asJSON, d)
}

func (a *app) encodeIf(asJSON bool, v any) error {
	if !asJSON {
		return nil
	}
	return a.encode(v)
}

// measureOnce runs the plan, with a line on a terminal for what runs.
func (a *app) measureOnce(ctx context.Context, plan measure.Plan) (measure.Result, error) {
	p := terminal.New(terminal.Options{Out: io.Discard, Talk: a.err, Paint: a.paint(a.err), Live: isTerminal(a.err)})
	meter := measure.New(plan, measure.Options{OnProgress: func(m measure.Progress) {
		p.Event(event.Event{Data: event.Check{Name: m.Check.Name, Done: m.Run != nil}})
	}})
	return meter.Run(ctx, nil)
}

// parts lists what is recognised; a tree with nothing but given commands has none.
func parts(root string) []diagnosedPart {
	out := []diagnosedPart{}
	found, err := project.Detect(root, lookPath)
	if err != nil {
		return out
	}
	for _, p := range found.Parts {
		out = append(out, diagnosedPart{p.Dir, p.Language, p.Tools})
	}
	return out
}

func gitProgram(ctx context.Context) diagnosed {
	d := diagnosed{Name: "git"}
	out, err := exec.CommandContext(ctx, "git", "version").Output()
	if err != nil {
		d.Missing = "git's own state is not looked at, and ignored files are not told apart: install git"
		return d
	}
	d.Version = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	return d
}

func (a *app) showDiagnosis(d diagnosis) {
	paint := a.paint(a.out)
	label := func(s string) string { return paint(report.Faint, fmt.Sprintf("%-8s", s)) }
	fmt.Fprintf(a.out, "%s %s\n", label("tree"), d.Tree)
	for _, p := range d.Programs {
		if p.Missing != "" {
			fmt.Fprintf(a.out, "%s %s\n", label(p.Name), paint(report.Warn, p.Missing))
			continue
		}
		fmt.Fprintf(a.out, "%s %s\n", label(p.Name), p.Version)
	}
	for _, p := range d.Projects {
		where := p.Language
		if p.Dir != "" {
			where = p.Dir + ": " + where
		}
		fmt.Fprintf(a.out, "%s %s: %s\n", label("project"), where, strings.Join(p.Tools, ", "))
	}
	for _, c := range d.Checks {
		fmt.Fprintf(a.out, "%s %s\n", label(string(c.Kind)), report.CheckLine(c, paint))
	}
	a.showNotes(d.Notes)
	fmt.Fprintln(a.out)
}

func (a *app) showNotes(notes []string) {
	paint := a.paint(a.out)
	for _, n := range notes {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, fmt.Sprintf("%-8s", "note")), paint(report.Warn, n))
	}
}

// showRuns says of each check how it ended and what was read from where, and
// then what all of it amounts to.
func (a *app) showRuns(res measure.Result) {
	paint := a.paint(a.out)
	for _, r := range res.Runs {
		mark := paint(report.Good, "ok     ")
		if r.Why != "" {
			mark = paint(report.Bad, "unread ")
		}
		fmt.Fprintf(a.out, "%s %s: status %d after %s%s\n", mark, r.Check.Name, r.ExitCode, report.Duration(r.Duration), readFrom(r))
		if r.Why != "" {
			fmt.Fprintf(a.out, "        %s\n", paint(report.Bad, r.Why))
		}
		for _, problem := range r.Problems {
			fmt.Fprintf(a.out, "        %s\n", paint(report.Warn, problem))
		}
		if len(r.Leftovers) > 0 {
			fmt.Fprintf(a.out, "        %s\n", paint(report.Warn, "left running, and ended now: "+strings.Join(r.Leftovers, ", ")))
		}
	}
	fmt.Fprintln(a.out)
	for _, p := range res.Parts {
		dir := p.Dir
		if dir == "" {
			dir = "."
		}
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Strong, dir), summary(p.Set))
	}
	fmt.Fprintf(a.out, "%s %s\n", paint(report.Strong, "measured"), summary(res.Set))
	for _, g := range res.Set.Gaps {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Warn, string(g.Section)+" not measured:"), g.Why)
	}
}

// readFrom lists the reports that were read, and how the list of tests compares.
func readFrom(r measure.Run) string {
	var list []string
	for _, s := range r.Read {
		list = append(list, s.Format+" from "+s.Path)
	}
	if r.Listed > 0 {
		list = append(list, fmt.Sprintf("%d listed", r.Listed))
	}
	if len(list) == 0 { // a build, or a linter that found nothing
		return ""
	}
	return "; " + strings.Join(list, ", ")
}

// summary is one line about a set.
func summary(s metric.Set) string {
	var list []string
	if s.Tests != nil {
		n := s.Tests.Counts()
		list = append(list, fmt.Sprintf("%s: %d passed, %d failed, %d skipped", report.Count(n.Count, "test", "tests"), n.Passed, n.Failed, n.Skipped))
	}
	if percent, ok := s.Coverage.Percent(); ok {
		list = append(list, fmt.Sprintf("coverage %s %% of %d %s", report.Number(percent), s.Coverage.Total, s.Coverage.Unit))
	}
	if s.Lint != nil {
		n := s.Lint.Counts()
		list = append(list, fmt.Sprintf("%s, %s, %s", report.Count(n.Errors, "lint error", "lint errors"), report.Count(n.Warnings, "warning", "warnings"), report.Count(n.TypeErrors, "type error", "type errors")))
	}
	if s.Build != nil {
		list = append(list, "build "+string(s.Build.Status))
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, "; ")
}
