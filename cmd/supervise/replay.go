package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"supervise/internal/config"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/replay"
	"supervise/internal/report"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// replayOptions are the options of supervise replay.
type replayOptions struct {
	checkFlags
	subject     string // a range of commits, as in HEAD~50..HEAD, or a loop
	jobs, max   int
	setup       string
	fresh, json bool
	whatIf      []string
	format      string
	sensitivity float64
}

func newReplayCmd(a *app) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use: "replay REV..REV | [LOOP]", Short: "Judge the commits of a history, or a recorded loop again",
		Long: `Each commit of a history, along the first parents, is judged like an accepted iteration
of a loop. The result is how often each rule fires: per 100 commits with a 95 % Wilson
interval, and the share of false findings if 1, 5 or 20 % of all iterations do harm.
It assumes that every commit was honest, so that rules can be tuned on a project before
they matter. The commits are measured in a checkout outside the working tree, with the
checks of supervise run. It shares what is installed in the working tree (node_modules,
.venv and the like); --setup installs what a commit needs in addition.

For a commit that touches tests, the original tests are run on the new code, and changed
ones on mutants of it, as in supervise run and gate (goal_tests and mutation_check in
the configuration). A commit whose tests cannot be run is judged only by its texts, and
counted separately.

For a loop, the recorded iterations are judged again; exits with 3 if a verdict differs
from the record.

--what-if judges recorded measurements with a key of the configuration changed, and
runs nothing.`,
		Example: `  supervise replay HEAD~100..HEAD
  supervise replay v1.0..main --max 50 --jobs 2 --setup 'npm ci'
  supervise replay fix-tests --what-if strict=true`,
		Args: optionalArg(&o.subject),
		RunE: func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.Context(), a, o) },
	}

	addFlagSection(cmd.Flags(), "Commits", func(f *pflag.FlagSet) {
		f.IntVar(&o.max, "max", 0, "only the latest commits, up to this number (default all)")
		f.IntVar(&o.jobs, "jobs", 1, "how many commits are measured in parallel")
		f.StringVar(&o.setup, "setup", "", "`command` that prepares a checkout, such as 'npm ci'")
		f.BoolVar(&o.fresh, "fresh", false, "measure again what was measured before")
		f.Float64Var(&o.sensitivity, "sensitivity", 1, "share of harmful iterations on which a rule fires, for the false discovery rate")
	})

	addFlagSection(cmd.Flags(), "Rules", func(f *pflag.FlagSet) {
		o.registerIntent(f)
		f.StringArrayVar(&o.whatIf, "what-if", nil, "`KEY=VALUE` of the configuration: also judge recorded measurements with it (repeatable)")
	})
	addFlagSection(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		f.StringVar(&o.format, "format", "text", "text or markdown (only the table)")
		f.BoolVar(&o.json, "json", false, "print as JSON")
	})
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// runReplay judges a range of commits, or the iterations of a loop, again.
func runReplay(ctx context.Context, a *app, o replayOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if replay.IsRange(o.subject) {
		return a.replayHistory(ctx, o)
	}
	return a.replayLoop(ctx, o)
}

// validate checks the values of the flags.
func (o replayOptions) validate() error {
	switch {
	case o.max < 0 || o.jobs < 1:
		return usageError{errors.New("--max must not be negative, and --jobs must be at least 1")}
	case o.sensitivity <= 0 || o.sensitivity > 1:
		return usageError{fmt.Errorf("--sensitivity is above 0 and at most 1, not %v", o.sensitivity)}
	case o.format != "text" && o.format != "markdown":
		return usageError{fmt.Errorf("--format is text or markdown, not %s", o.format)}
	}
	return nil
}

// replayHistory measures and judges the commits of a range, and prints how often the rules fired.
func (a *app) replayHistory(ctx context.Context, o replayOptions) error {
	at, err := a.workspaceAndHome(ctx)
	if err != nil {
		return err
	}
	if err := at.requireGit(ctx, "replay "+o.subject); err != nil {
		return err
	}

	_, loopOpts, err := a.loopOptions(planInput{at: at, checks: o.checkFlags})
	if err != nil {
		return err
	}

	opts := replay.Options{
		Repo: at.root, Range: o.subject, Max: o.max, Jobs: o.jobs, Setup: o.setup, Uncached: o.fresh, CachedOnly: len(o.whatIf) > 0,
		Plan: loopOpts.Plan, Root: at.root, Settings: loopOpts.Settings.Settings, Sensitivity: o.sensitivity,
		Home: at.home, CheckoutDir: replay.CheckoutDir(at.home, at.root, os.TempDir()), Env: os.Environ(), Version: version(),
		Now: time.Now(), OnProgress: a.printReplayProgress,
	}

	if opts.WhatIf, err = whatIf(loopOpts.Settings.Settings, o.whatIf); err != nil {
		return err
	}
	rep, err := replay.JudgeHistory(ctx, opts)
	if err != nil {
		return err
	}

	switch {
	case o.json:
		return a.encode(rep)
	case o.format == "markdown":
		_, err = io.WriteString(a.out, rep.Tables().Markdown())
		return err
	}

	_, err = io.WriteString(a.out, rep.Text().Terminal(a.paint(a.out)))
	return err
}

// whatIf returns the settings in which the keys of --what-if have other values, as in
// mode=aggressive. It returns nil if there are no keys.
func whatIf(base judge.Settings, keys []string) (*judge.Settings, error) {
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // nothing is tried
	}
	s, err := config.WhatIf(base, keys)
	return &s, err
}

// printReplayProgress prints a line about a commit that was measured, rerun or proven.
func (a *app) printReplayProgress(p replay.Progress) {
	count, took := fmt.Sprintf("%d/%d ", p.Done, p.Total), report.FormatDuration(p.Took)
	var what string
	switch {
	case p.IsProof && p.Why != "":
		what = "original tests not run: " + p.Why
	case p.IsProof:
		what = "original tests and mutation check run in " + took
	case p.IsRerun:
		count, what = "", "failing tests were run again in "+took
	case p.Why != "":
		what = "not measured: " + p.Why
	default:
		what = "measured in " + took
	}
	fmt.Fprintf(a.err, "%s%s %s\n", count, p.Commit.Short(), what)
}

// toReplayLoop returns a loop for package replay, with the function that judges loops of its kind.
func toReplayLoop(dir string, state ledger.State) replay.Loop {
	l := replay.Loop{Dir: dir, State: state, Rejudge: judge.Rejudge}
	if state.Kind == ledger.KindRecorded {
		l.Rejudge = record.Rejudge
	}
	return l
}

// replayLoop judges the iterations of a loop again. It sets the exit status to 3 if the verdicts
// differ from the record.
func (a *app) replayLoop(ctx context.Context, o replayOptions) error {
	dir, state, err := a.find(ctx, o.subject)
	if err != nil {
		return err
	}
	if state.Kind == ledger.KindCandidates {
		return usageError{fmt.Errorf("the iterations of %s are candidates, which were judged in separate loops: %s replay %[1]s/1", state.LoopID, a.self())}
	}

	rec, err := replay.ReadLoop(toReplayLoop(dir, state))
	if err != nil {
		return err
	}

	tried, err := whatIf(rec.Settings, o.whatIf)
	if err != nil {
		return err
	}

	rep, err := rec.Judge(tried)
	if err != nil {
		return err
	}
	if !rep.MatchesRecord() {
		a.code = 3
	}
	if o.json {
		return a.encode(rep)
	}

	_, err = io.WriteString(a.out, rep.Document().Terminal(a.paint(a.out)))
	return err
}
