package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"supervise/internal/event"
	"supervise/internal/git"
	"supervise/internal/measure"
	"supervise/internal/project"
	"supervise/internal/report/live"
	"supervise/internal/report/results"
	"supervise/internal/report/terminal"
	"supervise/internal/treecopy"
)

// doctorOptions are the options of supervise doctor.
type doctorOptions struct {
	checkFlags
	json, noRun bool
}

func newDoctorCmd(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Show how supervise would measure this project",
		Long: `It lists which projects are recognised and which commands are run, runs each check
once, and shows what each reports, where that was read, what is missing and how to
get it. Exits with 6 if no test was measured.`,
		Example: `  supervise doctor
  supervise doctor --no-run
  supervise doctor --test-cmd 'make check' --test-report 'build/**/TEST-*.xml'`,
		RunE: inWorkspace(a.workspace, func(ctx context.Context, at workspace) error { return runDoctor(ctx, a, at, o) }),
	}
	cmd.Flags().BoolVar(&o.noRun, "no-run", false, "show the plan and run nothing")
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

func runDoctor(ctx context.Context, a *app, at workspace, o doctorOptions) error {
	s, plan, notes, err := a.loadPlan(planInput{at: at, checks: o.checkFlags})
	if err != nil {
		return err
	}

	opts, err := s.LoopOptions(plan.Root)
	if err != nil {
		return err
	}

	d := results.Diagnosis{Tree: plan.Root, Checks: plan.Checks, Notes: notes, Projects: detectedProjects(plan.Root), Programs: []results.DiagnosedProgram{gitProgram(ctx)}}
	if !o.json {
		a.text().PrintDiagnosis(d)
	}
	if o.noRun && o.json {
		return a.encode(d)
	} else if o.noRun {
		return nil
	}

	res, err := a.runChecks(ctx, plan)
	if err != nil {
		return err
	}

	record := res.Set.Record()
	d.Runs, d.Metrics = treecopy.CheckRuns(res.Runs), &record
	unused := opts.UnusedSettings(res.Set)
	d.Notes = append(d.Notes, unused...)
	if o.json {
		return a.encode(d)
	}
	a.text().PrintRuns(res)
	a.text().PrintNotes(unused)
	return nil
}

// runChecks runs the plan and shows the progress, on the last lines of a terminal or as separate
// lines. Without any measured test, it sets the exit status for an unmeasurable tree.
func (a *app) runChecks(ctx context.Context, plan measure.Plan) (measure.Result, error) {
	board := live.NewBoard(time.Now, a.mask.String)
	board.SetPlan(plan)
	p := terminal.New(terminal.Options{Out: io.Discard, Progress: a.talk, Live: a.hasRegion()})
	if p.Live {
		defer a.openRegion(board, false)()
	}
	meter := measure.New(plan, measure.Options{Baseline: true, Watch: board.StartCheck, OnProgress: func(m measure.Progress) {
		p.PrintEvent(event.Event{Data: event.Check{Name: m.Check.Name, Done: m.Run != nil}})
	}})
	res, err := meter.Run(ctx, nil)
	if err == nil && res.Set.Tests.Counts().Count == 0 {
		a.code = event.Unmeasurable.ExitCode()
	}
	return res, err
}

// detectedProjects lists the projects in a tree.
func detectedProjects(root string) []results.DiagnosedProject {
	out := []results.DiagnosedProject{}
	found, err := project.Detect(root, lookPath)
	if err != nil {
		return out
	}
	for _, p := range found.Parts {
		out = append(out, results.DiagnosedProject{Dir: p.Dir, Language: p.Language, Tools: p.Tools})
	}
	return out
}

// gitProgram returns the version of git, or the consequences if it is missing.
func gitProgram(ctx context.Context) results.DiagnosedProgram {
	d := results.DiagnosedProgram{Name: "git"}
	out, err := git.NewCommand("", "version").Output(ctx)
	if err != nil {
		d.Missing = "git's own state is not watched, and ignored files are not recognised: install git"
		return d
	}
	d.Version = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	return d
}
