package loop

import (
	"context"

	"supervise/internal/cleanroom"
	"supervise/internal/criterion"
	"supervise/internal/judge"
	"supervise/internal/ledger"
)

// ending returns what ends the loop, for the judge.
func (r *run) ending() judge.Ending {
	until := r.opts.Until
	out := judge.Ending{Since: r.state.StartedAt, Met: func(ctx context.Context, it ledger.Iteration) (bool, error) {
		if until.Kind == criterion.Command {
			ok, _, err := r.commandMet(ctx, it.Tree)
			return ok, err
		}
		return until.MayBeMet(it, it.JudgedSet(), r.past.Iterations[0].Set), nil
	}}
	if until.Kind == criterion.Command {
		out.Criterion = &cleanroom.Criterion{Command: until.Command, Run: func(ctx context.Context, dir string, env []string) (bool, error) {
			ok, _, err := r.checks.runCriterion(ctx, until.Command, dir, env...)
			return ok, err
		}}
	}
	return out
}

// commandMet runs the command of the criterion in the working tree, once for each tree.
func (r *run) commandMet(ctx context.Context, tree string) (ok bool, output string, err error) {
	if last := r.lastCriterion; last.tree != "" && last.tree == tree {
		return last.ok, last.output, nil
	}
	ok, output, err = r.checks.runCriterion(ctx, r.opts.Until.Command, r.opts.Plan.Root)
	if err == nil {
		r.lastCriterion = criterionRun{tree, ok, output}
	}
	return ok, output, err
}

// criterionRun is the result of the command of the criterion on a tree.
type criterionRun struct {
	tree   string
	ok     bool
	output string
}

// criterionMet reports whether an iteration meets the criterion, and returns the output of its
// command. met is nil if there is no criterion.
func (r *run) criterionMet(ctx context.Context, it ledger.Iteration) (met *bool, output string, err error) {
	met, err = r.opts.Until.Check(it, r.past.Iterations[0].Set, func(string) (ok bool, err error) {
		ok, output, err = r.commandMet(ctx, it.Tree)
		return ok, err
	})
	return met, output, err
}
