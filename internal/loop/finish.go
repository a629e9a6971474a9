package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/selector"
)

// finish ends the loop: it selects the best iteration, restores its tree, measures it again and
// writes the reports. After an interruption it does not measure. The reason in the outcome may
// differ from stop, since the selection can turn a success into a failure.
func (r *run) finish(ctx context.Context, stop event.Stop) (Outcome, error) {
	r.state.Status = ledger.Completing
	saved := errors.Join(r.journal.Write(event.LoopStopping, r.state.Iteration, stop), r.save())
	out, result := r.outcome(stop), ledger.Output{}
	if err := errors.Join(r.restoreBest(ctx, &out, &result), r.restoreSealed()); err != nil {
		r.fail(err)
		return out, err
	}

	r.setStop(out.Stop)
	saved = errors.Join(saved, r.checks.cleanUp(r.opts.Root, r.warn))
	path, declared := "", []detector.Alert(nil)
	if out.Choice != nil {
		declared = r.declaredFindings(out)
		var err error
		path, err = r.reports.writeFinal(report.Loop{
			State: r.state, Choice: *out.Choice, Artifacts: result.Changed, Removed: result.Removed,
			Skipped: r.tree.SkippedPaths(r.past.Iterations[out.Choice.Iteration].Snapshot), Dropped: r.tree.DroppedNames(), Declared: declared,
		}, out.Verified)
		saved = errors.Join(err, saved)
	}

	tree := r.tree.TreeState(treeDescription(out.Choice))
	if tree != nil {
		r.state.TreeText = tree.String()
	}

	err := errors.Join(saved, r.save())
	r.reportEnd(event.LoopEnd{Report: path, Declared: declared, Tree: tree})
	return out, errors.Join(err, r.reports.addLogHead())
}

// treeDescription says which tree is restored at the end, as in "that of iteration 3".
func treeDescription(c *selector.Selection) string {
	if c == nil || c.Iteration == 0 {
		return "as it was before the loop"
	}
	return fmt.Sprintf("that of iteration %d", c.Iteration)
}

// declaredFindings returns the findings about the selected tree that the user allowed in advance,
// and that a person should read.
func (r *run) declaredFindings(out Outcome) []detector.Alert {
	list := ledger.FindDeclarations(r.past.Iterations, out.Choice.Iteration)
	if out.Verified == nil {
		return list
	}
	for _, a := range out.Verified.Goals.Weakened() {
		if a.Declared {
			list = append(list, a)
		}
	}
	return list
}

// restoreBest restores the best iteration. If the loop ended before the baseline was measured, it
// restores the tree from before the checks, which may have been interrupted.
func (r *run) restoreBest(ctx context.Context, out *Outcome, result *ledger.Output) error {
	switch {
	case len(r.past.Iterations) > 0:
		return r.selectBest(ctx, out, result)
	case r.past.SafeSnapshot != "" && !r.opts.IsWatching():
		return r.tree.Restore(ctx, r.past.SafeSnapshot)
	}
	return nil
}

// selectBest selects the best iteration, restores it and confirms the selection. It sets the choice
// and the reason to end in out, and the changed files in result.
func (r *run) selectBest(ctx context.Context, out *Outcome, result *ledger.Output) error {
	choice, err := selector.Best(r.past.Candidates(), r.opts.Select)
	if err != nil {
		return fmt.Errorf("select the best iteration: %w", err)
	}

	out.Choice = &choice
	if !r.opts.IsWatching() {
		out.Stop = noneAcceptableStop(out.Stop, choice, len(r.past.Iterations))
	}

	out.Stop = r.selectionOpenStop(out.Stop, choice)
	r.state.Selected = r.past.BestRecord(choice)
	if *result, err = r.applySelection(ctx, choice); err != nil {
		return err
	}
	if out.Stop, err = r.baselineKeptStop(ctx, out.Stop); err != nil {
		return err
	}
	if err := r.journal.Write(event.OutputSelected, choice.Iteration, event.SelectedOutput{Choice: choice, Applied: !r.opts.NoApply}); err != nil {
		return err
	}
	if r.opts.NoApply || interrupted(ctx) {
		return nil
	}
	return r.confirmSelection(ctx, out)
}

// confirmSelection measures the selected tree again and has it reviewed. If the tree does not
// pass, it corrects the reason to end.
func (r *run) confirmSelection(ctx context.Context, out *Outcome) error {
	defer r.waitForTurn(ctx)()
	if interrupted(ctx) {
		return nil
	}

	choice, err := out.Choice, error(nil)
	out.Verified, err = r.verifySelection(ctx, choice.Iteration)
	if err == nil {
		err = r.reviewSelection(ctx, choice.Iteration, *out.Verified)
	}
	if interrupted(ctx) {
		return nil // the selection is valid without verification and review
	}
	if err != nil {
		return err
	}
	if !out.Verified.Confirmed && out.Stop.Reason.ExitCode() == 0 {
		out.Stop = event.Stop{Reason: event.NotReproduced, Text: "re-measuring the selected tree gave different results: " + strings.Join(out.Verified.Differences, "; ")}
	}
	if out.Stop.Reason.ExitCode() == 0 {
		out.Stop = r.hiddenStop(out.Stop, out.Verified.Hidden)
	}

	out.Stop = weakenedTestsStop(out.Stop, out.Verified.Goals.Weakened())
	return nil
}

// applySelection restores the selected tree, unless the user does not want that, and copies its
// changed files to the output folder. An interruption does not stop it.
func (r *run) applySelection(ctx context.Context, c selector.Selection) (ledger.Output, error) {
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
	s, err := r.loadSealed()
	for path, text := range out.Files {
		if s != nil && err == nil {
			out.Files[path], err = s.Merge(path, text)
		}
	}
	if err != nil {
		return out, err
	}
	return out, r.ledger.WriteOutput(out.Files)
}

// verifySelection measures the tree of iteration n, which is restored, again without caches and
// compares the results with the recorded ones.
func (r *run) verifySelection(ctx context.Context, n int) (*ledger.Verification, error) {
	it := r.past.Iterations[n]
	known := it.Set.Tests
	if known.Counts().Count == 0 {
		known = r.past.Iterations[0].Set.Tests
	}

	again, clean, err := r.measureSelected(ctx, it, known)

	// Changes by the checks are not part of the selection.
	if err := errors.Join(err, r.tree.Restore(ctx, it.Snapshot)); err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}

	found, err := r.newJudge().Verify(ctx, r.past, n, again, clean)
	if err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}

	r.state.Proof = found.Proof
	return &found, r.journal.Write(event.OutputVerified, n, found)
}
