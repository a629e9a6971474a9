package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"supervise/internal/ack"
	"supervise/internal/candidate"
	"supervise/internal/config"
	"supervise/internal/ledger"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// resumeOptions are the options of supervise resume.
type resumeOptions struct {
	printFlags
	loop   string
	limits loop.Settings // zero values keep the stored ones
	window config.Percent
	force  bool

	steps     stepsFlag
	candidate int // 0 means the loop itself
	trees     string
	hidden    string // folder of the hidden tests, if it has moved
	choose    bool
}

func newResumeCmd(a *app) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use: "resume [LOOP]", Short: "Continue a loop that was killed, interrupted or paused",
		Long: `Without a name this is the latest loop. It may have ended by a crash, a power cut,
kill -9, an interruption or a limit. What the agent had done in an unfinished
iteration is measured and judged; its remaining processes are ended first.

The command, the checks and the rules are those that the loop started with, even if
the configuration has changed; what you acknowledged since then counts. If the tree is
not as the loop left it, it is restored, and its current state is kept as a snapshot.
A loop that has done all its iterations needs a higher --max-iterations.

If the state folder was copied from another tree or machine, give the full name of the
loop and --force: the loop continues in this tree.`,
		Example: `  supervise resume
  supervise resume fix-tests --max-iterations 30
  supervise resume fix-tests --candidate 2 --steps 1`,
		Args: optionalArg(&o.loop),
		RunE: inWorkspace(a.workspaceAndHome, func(ctx context.Context, at workspace) error { return runResume(ctx, a, at, o) }),
	}

	l := &o.limits
	addFlagSection(cmd.Flags(), "Limits", func(f *pflag.FlagSet) {
		f.IntVarP(&l.MaxIterations, "max-iterations", "m", 0, "maximum number of iterations, earlier ones included (default as before)")
		f.DurationVar(&l.MaxTime, "max-time", 0, "time limit of the loop, without interruptions (default as before)")
		f.Float64Var(&l.MaxCost, "max-cost", 0, "cost limit of the loop in US dollars (default as before)")
		f.Int64Var(&l.MaxTokens, "max-tokens", 0, "limit of tokens of all kinds in the loop (default as before)")
		f.Var(&o.window, "max-window", "share of a window of its service that the agent may use, like 80% (default as before)")
		o.steps.register(f)
	})

	addFlagSection(cmd.Flags(), "Candidates", func(f *pflag.FlagSet) {
		f.IntVar(&o.candidate, "candidate", 0, "only the loop of this `candidate`, in its tree, which stays until its loop is over; yours is not touched")
		f.BoolVar(&o.choose, "choose", false, "compare the candidates that have ended and restore the best; no other one starts or continues")
		registerTrees(f, &o.trees)
	})

	addFlagSection(cmd.Flags(), "Approval", func(f *pflag.FlagSet) {
		f.StringVar((*string)(&l.Approval.Policy), "approval", "", "what happens when an approval is needed and there is no terminal: reject, abort, wait (default as before)")
		f.BoolVar(&l.Approval.Unattended, "unattended", false, "never ask on the terminal")
	})
	addFlagSection(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		f.StringVar(&o.hidden, "hidden-tests", "", "`folder` of the hidden tests, if it has moved (default: the recorded one)")
		f.BoolVar(&o.force, "force", false, "continue even if a later loop has worked in the same tree, if the tree has moved, or if it is another repository")
		o.printFlags.register(f)
	})
	return cmd
}

// runResume continues a loop whose process ended.
func runResume(ctx context.Context, a *app, at workspace, o resumeOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	state, err := resumable(at, o)
	if err != nil {
		return err
	}

	o.limits.MaxWindow = float64(o.window)
	if o.trees, err = resolveTreesDir(o.trees, at.root); err != nil {
		return err
	}

	if o.hidden != "" {
		if o.limits.Hidden.Dir, err = config.HiddenFolder(o.hidden, at.root); err != nil {
			return err
		}
	}

	entries, err := ack.Load(filepath.Join(ledger.LoopDir(at.home, state.LoopID), ack.LoopFileName))
	if err != nil {
		return err
	}
	restoreAcks, err := a.acksRestorer(ctx)
	if err != nil {
		return err
	}
	o.limits.Root = at.root
	opts := loop.Options{Settings: o.limits, Home: at.home, Steps: o.steps.n, Accepted: ack.Acknowledgements(entries, time.Now())}
	return errors.Join(a.resumeLoop(ctx, state, opts, o), restoreAcks())
}

// validate checks the values of the flags. It turns the name of a candidate, such as LOOP/2, into
// LOOP and --candidate 2.
func (o *resumeOptions) validate() error {
	if loopName, number := ledger.ParseCandidateName(o.loop); loopName != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || o.candidate != 0 && o.candidate != n {
			return usageError{fmt.Errorf("%s is not the name of a candidate: give LOOP/1, or LOOP --candidate 1", o.loop)}
		}
		o.loop, o.candidate = loopName, n
	}
	if l := o.limits; l.MaxIterations < 0 || l.MaxTime < 0 || l.MaxCost < 0 || l.MaxTokens < 0 {
		return usageError{errors.New("limits must not be negative")}
	}
	if !o.limits.Approval.Policy.Valid() {
		return usageError{fmt.Errorf("--approval is reject, abort or wait, not %s", o.limits.Approval.Policy)}
	}
	return o.printFlags.validate()
}

// resumeLoop resumes candidates, one of them, or an ordinary loop.
func (a *app) resumeLoop(ctx context.Context, state ledger.State, opts loop.Options, o resumeOptions) error {
	hasCandidates, onlyOne := state.Kind == ledger.KindCandidates, o.candidate != 0
	switch {
	case state.Kind == ledger.KindRecorded:
		return usageError{fmt.Errorf("another program runs the iterations of loop %s: use supervise record", state.LoopID)}
	case !hasCandidates && (onlyOne || o.trees != ""):
		return usageError{fmt.Errorf("loop %s has no candidates: omit --candidate and --trees", state.LoopID)}
	case o.choose && (onlyOne || !hasCandidates || o.steps.n != nil):
		return usageError{errors.New("--choose is for a loop of candidates, without --candidate and --steps")}
	case onlyOne:
		return a.stepCandidate(ctx, opts, o, state.LoopID)
	case hasCandidates && o.steps.n != nil && *o.steps.n > 0:
		return usageError{errors.New("--steps of a loop of candidates is for one of them: give --candidate N, or --steps 0 for the baseline")}
	}

	a.noteUnfinishedRestore(state.LoopID, ledger.LoopDir(opts.Home, state.LoopID))
	if hasCandidates {
		return a.runCompetition(ctx, opts, o.printFlags, func(ctx context.Context, c candidate.Options) (candidate.Outcome, error) {
			c.Folder, c.Force, c.CompareOnly = o.trees, o.force, o.choose
			return candidate.Resume(ctx, state.LoopID, c)
		})
	}

	return a.supervise(ctx, opts, o.printFlags, func(ctx context.Context, opts loop.Options) (loop.Outcome, error) {
		return loop.Resume(ctx, state.LoopID, opts, o.force)
	})
}

// resumable finds the loop to continue. If its state was copied from another tree, only its full
// name finds it, and --force is necessary.
func resumable(at workspace, o resumeOptions) (ledger.State, error) {
	_, state, err := ledger.FindLoop(at.home, at.root, o.loop)
	if !errors.Is(err, ledger.ErrNoLoop) || o.loop == "" || filepath.Base(o.loop) != o.loop {
		return state, err
	}
	moved, readErr := ledger.ReadState(ledger.LoopDir(at.home, o.loop))
	switch {
	case readErr != nil:
		return state, err
	case !o.force:
		return state, usageError{fmt.Errorf("loop %s is of the tree %s: --force continues it in %s, and keeps the current files as a snapshot", moved.LoopID, moved.Workspace, at.root)}
	}
	return moved, nil
}
