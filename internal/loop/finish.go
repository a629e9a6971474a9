package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/metric"
	"supervise/selector"
)

// finish gives back the best iteration: selects it, restores its tree, measures
// that once more and writes the reports. It is done to the end also when the
// loop was interrupted; only the measurement is left out then.
func (r *run) finish(ctx context.Context, stop event.Stop) (Outcome, error) {
	r.state.Status = ledger.Completing
	saved := errors.Join(r.journal.Write(event.LoopStopping, r.state.Iteration, stop), r.save())
	out, result := r.outcome(stop), ledger.Output{}
	if err := r.giveBack(ctx, &out, &result); err != nil {
		r.fail(err)
		return out, err
	}
	r.state.Status, r.state.StopReason, r.state.StopText = out.Stop.Reason.Status(), string(out.Stop.Reason), out.Stop.Text
	r.state.ExitCode = out.Stop.Reason.ExitCode()
	saved = errors.Join(saved, r.checks.tidy(r.opts.Root, r.warn))
	path, declared := "", []detector.Alert(nil)
	if out.Choice != nil {
		declared = r.declared(out)
		var err error
		path, err = r.reports.final(report.Loop{
			State: r.state, Choice: *out.Choice, Artifacts: result.Changed, Removed: result.Removed,
			Skipped: r.tree.SkippedPaths(r.past.Iterations[out.Choice.Iteration].Snapshot), Dropped: r.tree.DroppedNames(), Declared: declared,
		}, out.Verified)
		saved = errors.Join(err, saved)
	}
	tree := r.tree.TreeState(treeOf(out.Choice))
	if tree != nil {
		r.state.TreeText = tree.String()
	}
	err := errors.Join(saved, r.save())
	r.journal.Note(event.LoopFinished, r.state.Iteration, r.ended(event.LoopEnd{Reason: out.Stop.Reason, Text: out.Stop.Text, ExitCode: r.state.ExitCode, Report: path, Declared: declared, Tree: tree}))
	return out, errors.Join(err, r.reports.seal())
}

// treeOf says in words whose tree is put back at the end.
func treeOf(c *selector.Selection) string {
	if c == nil || c.Iteration == 0 {
		return "as it was before the loop"
	}
	return fmt.Sprintf("that of iteration %d", c.Iteration)
}

// declared are the findings about the selected tree that the user let happen.
func (r *run) declared(out Outcome) []detector.Alert {
	list := ledger.FindDeclarations(r.past.Iterations, out.Choice.Iteration)
	if out.Verified == nil {
		return list
	}
	return append(list, slices.DeleteFunc(slices.Clone(out.Verified.Goals.Weakened()), func(a detector.Alert) bool { return !a.Declared })...)
}

// giveBack restores the best iteration; the baseline when the loop ended before
// that was measured, since the checks may have been half done.
func (r *run) giveBack(ctx context.Context, out *Outcome, result *ledger.Output) error {
	switch {
	case len(r.past.Iterations) > 0:
		return r.selectBest(ctx, out, result)
	case r.past.SafeSnapshot != "" && !r.opts.IsWatching():
		return r.tree.Restore(ctx, r.past.SafeSnapshot)
	}
	return nil
}

func (r *run) selectBest(ctx context.Context, out *Outcome, result *ledger.Output) error {
	choice, err := selector.Best(r.past.Candidates(), r.opts.Select)
	if err != nil {
		return fmt.Errorf("select the best iteration: %w", err)
	}
	out.Choice = &choice
	if !r.opts.IsWatching() {
		out.Stop = unkept(out.Stop, choice, len(r.past.Iterations))
	}
	out.Stop = r.openStop(out.Stop, choice)
	r.state.Selected = r.past.BestRecord(choice)
	if *result, err = r.apply(ctx, choice); err != nil {
		return err
	}
	if out.Stop, err = r.metBefore(ctx, out.Stop); err != nil {
		return err
	}
	if err := r.journal.Write(event.OutputSelected, choice.Iteration, event.SelectedOutput{Choice: choice, Applied: !r.opts.NoApply}); err != nil {
		return err
	}
	if r.opts.NoApply || interrupted(ctx) {
		return nil
	}
	return r.confirm(ctx, out)
}

// confirm measures the selected tree anew, and corrects the reason to end by what that shows.
func (r *run) confirm(ctx context.Context, out *Outcome) error {
	defer r.turn(ctx)()
	if interrupted(ctx) {
		return nil
	}
	choice, err := out.Choice, error(nil)
	out.Verified, err = r.verify(ctx, choice.Iteration)
	if err == nil {
		err = r.review(ctx, choice.Iteration, *out.Verified)
	}
	if interrupted(ctx) {
		return nil // the selection is valid, it is only not verified, or not reviewed
	}
	if err == nil && !out.Verified.Confirmed && out.Stop.Reason.ExitCode() == 0 {
		out.Stop = event.Stop{Reason: event.NotReproduced, Text: "re-measuring the selected tree gave different results: " + strings.Join(out.Verified.Differences, "; ")}
	}
	if err == nil && out.Stop.Reason.ExitCode() == 0 {
		out.Stop = r.hiddenStop(out.Stop, out.Verified.Hidden)
	}
	if err == nil {
		out.Stop = gaveWayStop(out.Stop, out.Verified.Goals.Weakened())
	}
	return err
}

// apply restores the selected tree and copies its changed files.
func (r *run) apply(ctx context.Context, c selector.Selection) (ledger.Output, error) {
	ctx = context.WithoutCancel(ctx)
	it := r.past.Iterations[c.Iteration]
	if !r.opts.NoApply {
		if err := r.tree.Restore(ctx, it.Snapshot); err != nil {
			return ledger.Output{}, fmt.Errorf("restore iteration %d: %w", c.Iteration, err)
		}
	}
	out, err := ledger.CompareOutput(ctx, r.tree.Store, r.state.BaselineSnapshot, it.Snapshot)
	if err != nil {
		return out, err
	}
	return out, r.ledger.WriteOutput(out.Files)
}

// verify measures the selected tree anew and compares the numbers.
func (r *run) verify(ctx context.Context, n int) (*event.Verification, error) {
	it := r.past.Iterations[n]
	known := it.Set.Tests
	if known.Counts().Count == 0 {
		known = r.past.Iterations[0].Set.Tests
	}
	res, err := r.checks.measure(ctx, anew, known)
	if err == nil {
		var flaky []metric.ID
		flaky, err = r.judging().FindFlaky(ctx, it.Set, res.Set)
		r.past.LearnFlaky(flaky)
	}
	// What the checks changed on the way is no part of the selection.
	if err := errors.Join(err, r.tree.Restore(ctx, it.Snapshot)); err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}
	found, err := r.judging().Verify(ctx, r.past, n, res.Set)
	if err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}
	v := &event.Verification{
		Confirmed: len(found.Differences) == 0, Differences: found.Differences, Goals: found.Goals, Hidden: found.Hidden,
	}
	return v, r.journal.Write(event.OutputVerified, n, *v)
}
