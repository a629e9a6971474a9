package loop

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/review"
	"supervise/metric"
	"supervise/runner"
)

// minReviewBudget is the least cost limit of a reviewer, in US dollars. A limit of 0 would mean no
// limit.
const minReviewBudget = .0001

// newReviewer returns the reviewer, nil if none is configured. Its cost counts toward the limit of
// the loop.
func (r *run) newReviewer() *review.Reviewer {
	if r.opts.Reviewer.Agent == "" {
		return nil
	}
	out := &review.Reviewer{
		Options: r.opts.Reviewer, Task: r.opts.Task, Env: r.opts.Env, ProtectedDirs: []string{r.opts.Home}, Masker: r.mask.Masker,
		LimitReached: func(u metric.Usage) string { return r.opts.LimitStop(r.agentUsage().Plus(u)).Text },
		Hold:         r.ledger.TreeLocks(), BeforeStart: r.journal.Starting(event.ChildReviewer, func() int { return r.state.Iteration }),
	}
	if r.opts.MaxCost > 0 {
		out.BudgetUSD = r.opts.MaxCost
		if spent := r.agentUsage().CostUSD; spent != nil {
			out.BudgetUSD = max(r.opts.MaxCost-*spent, minReviewBudget)
		}
	}
	return out
}

// reviewSelection asks for a second opinion on the selected tree, which is already restored. It
// does not change how the loop ends.
func (r *run) reviewSelection(ctx context.Context, n int, v ledger.Verification) error {
	if interrupted(ctx) {
		return nil
	}
	opinion, alerts, err := r.newJudge().ReviewSelected(ctx, r.past, n, v)
	if err != nil || opinion == nil {
		return err
	}
	if runner.CheckLandlock() != nil { // the reviewer may have written to the tree
		if err := r.tree.Restore(ctx, r.past.Iterations[n].Snapshot); err != nil {
			return fmt.Errorf("restore the selection after the review: %w", err)
		}
	}
	out := ledger.SelectionReview{Review: *opinion, Iteration: n, Alerts: append([]detector.Alert{}, alerts...)}
	r.state.AddReview(out)
	return r.journal.Write(event.OutputReviewed, n, out)
}
