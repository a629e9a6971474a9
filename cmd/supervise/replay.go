package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"supervise/internal/config"
	"supervise/internal/loop"
	"supervise/internal/replay"
	"supervise/internal/report"

	"github.com/spf13/cobra"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	checkFlags
	jobs, max   int
	setup       string
	fresh, json bool
	whatIf      []string
	format      string
	sensitivity float64
}

func (a *app) replayCmd() *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay REV..REV | [LOOP]",
		Short: "Judge the commits of a history, or a recorded loop, by the rules",
		Long: `Replay runs the line of a loop (measure, grade, assess) over a git history, each
commit along the first parents as if it were an iteration that was accepted, and
says which rules fire on which commits and how often: per 100 commits with a
Wilson interval of 95 %, and which share of the findings would be false where 1, 5
or 20 % of all iterations do harm. It assumes that every commit was honest. So the
rules can be tuned on a project before anything depends on them.

The commits are measured in a checkout of its own, outside of the working tree;
nothing of yours is touched, and it is removed at the end. What was measured once
is kept by tree and not measured again. The checks are those of supervise run here
and now; dependencies that git does not hold are installed by --setup.

With the name of a loop, replay judges its recorded iterations again, and says
where a verdict is not as it was recorded: exit status 3.

--what-if judges recorded measurements once more with a key of the configuration
changed, and runs nothing.`,
		Example: `  supervise replay HEAD~100..HEAD
  supervise replay v1.0..main --max 50 --jobs 2 --setup 'npm ci'
  supervise replay HEAD~100..HEAD --what-if rules.coverage_regression.threshold=1
  supervise replay fix-tests --what-if strict=true
  supervise replay HEAD~100..HEAD --format markdown`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if replay.IsRange(first(args)) {
				return a.replayHistory(cmd, f, args[0])
			}
			return a.replayLoop(cmd, f, first(args))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.max, "max", 0, "only the latest so many commits (default all)")
	flags.IntVar(&f.jobs, "jobs", 1, "how many commits are measured at the same time")
	flags.StringVar(&f.setup, "setup", "", "command that prepares a checkout, for instance 'npm ci'")
	flags.BoolVar(&f.fresh, "fresh", false, "measure again what was measured before")
	flags.StringArrayVar(&f.whatIf, "what-if", nil, "KEY=VALUE of the configuration: judge recorded measurements with it as well (repeatable)")
	flags.Float64Var(&f.sensitivity, "sensitivity", 1, "share of the iterations that do harm on which a rule fires, for the false discovery rate")
	flags.StringVar(&f.format, "format", "text", "text or markdown (the table alone)")
	flags.BoolVar(&f.json, "json", false, "print the result as JSON")
	f.register(cmd.Flags())
	return cmd
}

func (f *replayFlags) check() error {
	switch {
	case f.max < 0 || f.jobs < 1:
		return usageError{errors.New("--max must not be negative, and --jobs is at least 1")}
	case f.sensitivity <= 0 || f.sensitivity > 1:
		return usageError{fmt.Errorf("--sensitivity is above 0 and at most 1, not %v", f.sensitivity)}
	case f.format != "text" && f.format != "markdown":
		return usageError{fmt.Errorf("--format is text or markdown, not %s", f.format)}
	}
	return nil
}

func (a *app) replayHistory(cmd *cobra.Command, f *replayFlags, span string) error {
	if err := f.check(); err != nil {
		return err
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	if err := at.underGit(cmd.Context(), "replay"); err != nil {
		return err
	}
	settings, plan, err := a.plan(at.project, f.checkFlags)
	if err != nil {
		return err
	}
	opts, err := settings.Loop(at.root)
	if err != nil {
		return err
	}
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	o := replay.Options{
		Repo: at.root, Span: span, Max: f.max, Jobs: f.jobs, Setup: f.setup, Fresh: f.fresh, Recorded: len(f.whatIf) > 0,
		Plan: plan, Root: at.root, Settings: opts.Settings, Sensitivity: f.sensitivity,
		Home: home, Checkout: replay.Checkout(home, at.root, os.TempDir()), Env: os.Environ(), Version: version(),
		Now: time.Now(), OnProgress: a.replayed,
	}
	if o.WhatIf, err = whatIf(opts.Settings, f.whatIf); err != nil {
		return err
	}
	rep, err := replay.History(cmd.Context(), o)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		return a.encode(rep)
	case f.format == "markdown":
		return rep.Markdown(a.out)
	}
	return rep.Text(a.out)
}

func whatIf(base loop.Settings, keys []string) (*loop.Settings, error) {
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // nothing is tried
	}
	s, err := config.WhatIf(base, keys)
	return &s, err
}

// replayed tells of the progress.
func (a *app) replayed(p replay.Progress) {
	c, took := p.Commit, report.Duration(p.Took)
	switch {
	case p.Again:
		fmt.Fprintf(a.err, "%s failing tests were run again in %s\n", c.Short(), took)
	case p.Why != "":
		fmt.Fprintf(a.err, "%d/%d %s not measured: %s\n", p.Done, p.Total, c.Short(), p.Why)
	default:
		fmt.Fprintf(a.err, "%d/%d %s measured in %s\n", p.Done, p.Total, c.Short(), took)
	}
}

func (a *app) replayLoop(cmd *cobra.Command, f *replayFlags, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	dir, state, err := a.find(cmd, name)
	if err != nil {
		return err
	}
	rec, err := replay.Read(dir, state)
	if err != nil {
		return err
	}
	tried, err := whatIf(rec.Settings, f.whatIf)
	if err != nil {
		return err
	}
	rep, err := rec.Judge(tried)
	if err != nil {
		return err
	}
	if !rep.Exact() {
		a.code = 3
	}
	if f.json {
		return a.encode(rep)
	}
	return rep.Text(a.out)
}
