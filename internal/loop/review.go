package loop

import (
	"context"
	"fmt"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/review"
	"supervise/metric"
	"supervise/runner"
)

// leastBudget is the least limit that a reviewer is given, in US dollars: 0 is none.
const leastBudget = .0001

// reviewer is who gives a second opinion on the selection, nil for nobody. What it costs
// counts in the budget of the loop.
func (r *run) reviewer() *review.Reviewer {
	if r.opts.Reviewer.Agent == "" {
		return nil
	}
	out := &review.Reviewer{
		Options: r.opts.Reviewer, Task: r.opts.Task, Env: r.opts.Env, ProtectedDirs: []string{r.opts.Home}, Masker: r.mask.Masker,
		LimitReached: func(u metric.Usage) string { return r.opts.LimitStop(r.spent().Plus(u)).Text },
		Hold:         r.ledger.TreeLocks(), BeforeStart: r.journal.Starting(event.ChildReviewer, func() int { return r.state.Iteration }),
	}
	if r.opts.MaxCost > 0 {
		out.BudgetUSD = r.opts.MaxCost
		if spent := r.spent().CostUSD; spent != nil {
			out.BudgetUSD = max(r.opts.MaxCost-*spent, leastBudget)
		}
	}
	return out
}

// review asks for a second opinion on the selected tree, which is in place. It changes
// nothing of how the loop ends.
func (r *run) review(ctx context.Context, n int, v event.Verification) error {
	if interrupted(ctx) {
		return nil
	}
	said, alerts, err := r.judging().ReviewSelected(ctx, r.past, n, judge.Verification{Goals: v.Goals})
	if err != nil || said == nil {
		return err
	}
	if runner.CheckLandlock() != nil { // nothing kept the reviewer from writing to the tree
		if err := r.tree.Restore(ctx, r.past.Iterations[n].Snapshot); err != nil {
			return fmt.Errorf("restore the selection after the review: %w", err)
		}
	}
	out := ledger.SelectionReview{Review: *said, Iteration: n, Alerts: append([]detector.Alert{}, alerts...)}
	r.state.AddReview(out)
	return r.journal.Write(event.OutputReviewed, n, out)
}
