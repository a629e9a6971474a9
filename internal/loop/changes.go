package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// recordChanges adds the agent's changes to an iteration: the list of files, a patch, and copies
// of small files.
func (r *run) recordChanges(ctx context.Context, it *iteration, info snapshot.Info) error {
	it.Snapshot, it.Tree = info.ID, info.Tree
	var err error
	if it.changes, err = r.tree.Store.Changes(ctx, it.start.ID, info.ID); err != nil {
		return fmt.Errorf("compare iteration %d with its start: %w", it.Number, err)
	}
	for _, c := range it.changes {
		it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	if err := r.writePatch(ctx, it); err != nil {
		return fmt.Errorf("write the changes of iteration %d: %w", it.Number, err)
	}
	it.files, err = ledger.ReadChangedFiles(ctx, r.tree.Store, info.ID, it.changes)
	return err
}

// patchName is the name of the patch in the folder of an iteration.
const patchName = "changes.patch"

// writePatch writes the agent's changes as a unified diff into the folder of the iteration, with
// secrets masked, and counts the changed lines.
func (r *run) writePatch(ctx context.Context, it *iteration) (err error) {
	dir, err := r.ledger.MakeIterationDir(it.Number)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, patchName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	masked := r.mask.Writer(f)
	defer func() { err = errors.Join(err, masked.Close(), f.Close()) }()
	return r.tree.Store.WritePatch(ctx, io.MultiWriter(masked, &it.lines), it.start.ID, it.Snapshot)
}

// recordInterrupted records an iteration that was interrupted before it could be judged, so
// that the agent's work can be found and restored.
func (r *run) recordInterrupted(it *iteration) error {
	it.EndedAt = r.opts.Now()
	it.Interrupted, it.Rejected = true, true
	it.Set = metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "interrupted"}}}
	it.Assessment = detector.Assessment{Iteration: it.Number, Class: detector.Plateau}
	r.past.Skip(it.Iteration)
	if err := r.ledger.Append(it.Iteration, it.files, false); err != nil {
		return err
	}
	err := r.journal.Write(event.IterationInterrupted, it.Number, event.Interruption{Kept: it.Snapshot.Name(), Changed: len(it.Changed), Iteration: it.Iteration})
	return errors.Join(err, r.writeReport(it.Iteration))
}

// newJudge returns the judge of the trees of this loop.
func (r *run) newJudge() judge.Judge {
	return judge.Judge{
		Settings: r.opts.Settings.Settings, Reviewer: r.newReviewer(), Mask: r.mask, Now: r.opts.Now, OnProblem: r.warn, Ending: r.ending(),
		Workspace: r.workspace(),
	}
}

// workspace returns what copies of the current tree are made from.
func (r *run) workspace() treecopy.Workspace {
	return treecopy.Workspace{
		Store: r.tree.Store, Meter: r.checks.meter, Plan: r.checks.plan, Root: r.opts.Root, Scratch: r.checks.scratchDir(), User: r.checks.user,
		Original: r.checks.originalMeter(), Kept: &r.kept,
	}
}

// addToHistory adds an iteration with its decision to the history.
func (r *run) addToHistory(it ledger.Iteration) {
	r.past.Add(it, r.opts.Select)
	if best := r.past.BestSoFar(); best != nil {
		r.state.Best = best
	}
	if it.Rejected {
		r.agent.ResetSession() // its session refers to changes that are rolled back
	}
}

// rejectionEvent returns the data of the event iteration_rejected.
func (r *run) rejectionEvent(it ledger.Iteration) event.Rejection {
	out := event.Rejection{
		Kept: it.Snapshot.Name(), Restored: r.past.Previous.Iteration, Retry: it.Decision.Retry,
		Max: r.opts.Recovery.MaxRetries, Cause: it.Decision.Diagnosis,
	}
	out.Reasons, out.Tests = reasonsOf(it.Assessment.Alerts)
	if why := it.Assessment.Recommendation.Reason; len(out.Reasons) == 0 && why != "" {
		out.Reasons = []string{why}
	}
	return out
}

// reasonsOf lists the messages of the alerts that are HIGH or more severe and not acknowledged,
// and the tests that they name, each test once.
func reasonsOf(alerts []detector.Alert) (messages, tests []string) {
	seen := map[string]bool{}
	for _, a := range alerts {
		if !a.CountsAtLeast(detector.High) {
			continue
		}
		messages = append(messages, a.Message())
		for _, id := range a.Tests {
			if name := id.String(); !seen[name] {
				seen[name] = true
				tests = append(tests, name)
			}
		}
	}
	return messages, tests
}

// regressionOf returns the regression in an iteration, nil if there is none. A regression that a
// person approved is returned too.
func (r *run) regressionOf(it ledger.Iteration) *ledger.Regression {
	outcome := ""
	if it.Rejected {
		outcome = fmt.Sprintf("rolled back to iteration %d, %s", r.past.Previous.Iteration, it.Decision.Move)
	}
	return ledger.NewRegression(it, len(r.state.Regressions)+1, outcome)
}

// agentUsage returns what the agent has used so far.
func (r *run) agentUsage() agent.Usage {
	if r.state.Spending == nil {
		return agent.Usage{}
	}
	return r.state.Spending.Usage
}

// budget returns what the agent may still use in the loop. The deadline is that of ctx.
func (r *run) budget(ctx context.Context) event.Budget {
	used := r.agentUsage()
	b := event.Budget{MaxCost: r.opts.MaxCost, MaxTokens: r.opts.MaxTokens, UsedCost: used.CostUSD, UsedTokens: used.Tokens()}
	b.Deadline, _ = ctx.Deadline()
	b.MaxWindow = r.opts.MaxWindow
	run := r.past.Iterations[len(r.past.Iterations)-1].Agent
	if hasWindow := run != nil && run.Window != nil; hasWindow && !run.Window.HasReset(r.opts.Now()) {
		b.UsedWindow = &run.Window.Used
	}
	return b
}

// mayBeLast returns a function that reports whether the loop may end with the iteration if it has
// the given metrics.
func (r *run) mayBeLast(it ledger.Iteration) func(metric.Set) bool {
	return func(s metric.Set) bool { return r.opts.Until.MayBeMet(it, s, r.past.Iterations[0].Set) }
}

// unmetCriterion measures the tree when the agent wants to stop. It returns a text for the agent
// that says what is missing to meet the criterion. The text is "" if the criterion is met or
// cannot be measured.
func (r *run) unmetCriterion(ctx context.Context) string {
	res, err := r.checks.measure(ctx, measureQuickly, r.past.Previous.Set.Tests)
	if err != nil {
		return ""
	}

	r.lastCriterion = criterionRun{} // the agent still works
	it := ledger.Iteration{Set: res.Set}
	it.Assessment.Balance = r.past.CompareWithBaseline(res.Set, nil, r.opts.Rules)
	met, output, err := r.criterionMet(ctx, it)
	if err != nil || met == nil || *met {
		return ""
	}

	n := res.Set.Tests.Counts()
	text := fmt.Sprintf("%d of %s pass", n.Passed, report.Pluralize(n.Count, "test", "tests"))
	if list := judge.FailingTests(res.Set.Tests); len(list) > 0 {
		text += "; failing: " + strings.Join(list[:min(len(list), 5)], ", ")
	}
	if costs := it.Assessment.Balance.CostMessages(); len(costs) > 0 {
		text += "; " + strings.Join(costs, "; ")
	}

	text += ". Done is when " + r.opts.Until.String() + "."
	if output != "" {
		text += " It printed at its end:\n" + output
	}
	return text
}

// interrupted reports whether the user has interrupted the loop.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
