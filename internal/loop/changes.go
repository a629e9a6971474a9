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

// describe finds out what the agent changed.
func (r *run) describe(ctx context.Context, it *iteration, info snapshot.Info) error {
	it.Snapshot, it.Tree = info.ID, info.Tree
	var err error
	if it.changes, err = r.tree.Store.Changes(ctx, it.start.ID, info.ID); err != nil {
		return fmt.Errorf("compare iteration %d with its start: %w", it.Number, err)
	}
	for _, c := range it.changes {
		it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	if err := r.patch(ctx, it); err != nil {
		return fmt.Errorf("write the changes of iteration %d: %w", it.Number, err)
	}
	it.files, err = ledger.ReadChangedFiles(ctx, r.tree.Store, info.ID, it.changes)
	return err
}

// patchName is the file with an iteration's changes in its folder.
const patchName = "changes.patch"

// patch writes the agent's changes as a unified diff, with secrets masked, and counts
// its lines.
func (r *run) patch(ctx context.Context, it *iteration) (err error) {
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

// abandon records an iteration that was interrupted before it could be judged,
// so that what the agent did can be found and had back.
func (r *run) abandon(it *iteration) error {
	it.EndedAt = r.opts.Now()
	it.Interrupted, it.Rejected = true, true
	it.Set = metric.Set{Gaps: []metric.Gap{{Section: metric.SectionTests, State: metric.Absent, Why: "interrupted"}}}
	it.Assessment = detector.Assessment{Iteration: it.Number, Class: detector.Plateau}
	r.past.Skip(it.Iteration)
	if err := r.ledger.Append(it.Iteration, it.files, false); err != nil {
		return err
	}
	err := r.journal.Write(event.IterationInterrupted, it.Number, event.Interruption{Kept: it.Snapshot.Name(), Changed: len(it.Changed), Iteration: it.Iteration})
	return errors.Join(err, r.report(it.Iteration))
}

// judging is what judges the trees of this loop.
func (r *run) judging() judge.Judge {
	return judge.Judge{
		Settings: r.opts.Settings.Settings, Reviewer: r.reviewer(), Mask: r.mask, Now: r.opts.Now, OnProblem: r.warn,
		Workspace: treecopy.Workspace{
			Store: r.tree.Store, Meter: r.checks.meter, Plan: r.checks.plan, Root: r.opts.Root, Scratch: r.checks.scratch(), User: r.checks.user, Original: r.checks.original(),
		},
	}
}

// accept takes an iteration with its decision into the history.
func (r *run) accept(it ledger.Iteration) {
	r.past.Add(it, r.opts.Select)
	if best := r.past.BestSoFar(); best != nil {
		r.state.Best = best
	}
	if it.Rejected {
		r.agent.ResetSession() // a session would believe in what was undone
	}
}

func (r *run) rejection(it ledger.Iteration) event.Rejection {
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

// reasonsOf lists the messages and tests of the alerts that weigh.
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

// regression is what the iteration cost, or what a person let happen; nil for neither.
func (r *run) regression(it ledger.Iteration) *ledger.Regression {
	outcome := ""
	if it.Rejected {
		outcome = fmt.Sprintf("rolled back to iteration %d, %s", r.past.Previous.Iteration, it.Decision.Move)
	}
	return ledger.NewRegression(it, len(r.state.Regressions)+1, outcome)
}

// spent is what the agent consumed in the iterations so far.
func (r *run) spent() agent.Usage {
	if r.state.Spending == nil {
		return agent.Usage{}
	}
	return r.state.Spending.Usage
}

// budget is what the agent may use in the loop. ctx ends when its time is up.
func (r *run) budget(ctx context.Context) event.Budget {
	used := r.spent()
	b := event.Budget{MaxCost: r.opts.MaxCost, MaxTokens: r.opts.MaxTokens, UsedCost: used.CostUSD, UsedTokens: used.Tokens()}
	b.Deadline, _ = ctx.Deadline()
	b.MaxWindow = r.opts.MaxWindow
	if run := r.past.Iterations[len(r.past.Iterations)-1].Agent; run != nil && run.Window != nil && !run.Window.HasReset(r.opts.Now()) {
		b.UsedWindow = &run.Window.Used
	}
	return b
}

// met reports whether the criterion holds for an iteration, and nil when there is
// none that could; and what its command printed.
func (r *run) met(ctx context.Context, it ledger.Iteration) (holds *bool, said string, err error) {
	holds, err = r.opts.Until.Check(it, r.past.Iterations[0].Set, func(command string) (ok bool, err error) {
		ok, said, err = r.checks.succeeds(ctx, command, r.opts.Plan.Root)
		return ok, err
	})
	return holds, said, err
}

// near reports whether the loop may end with an iteration, by what was measured of it.
func (r *run) near(it ledger.Iteration) func(metric.Set) bool {
	return func(s metric.Set) bool { return r.opts.Until.MayBeMet(it, s, r.past.Iterations[0].Set) }
}

// unmet measures the tree while the agent wants to stop, and returns what is missing
// for the criterion; "" where it is met, or cannot be measured.
func (r *run) unmet(ctx context.Context) string {
	res, err := r.checks.measure(ctx, quick, r.past.Previous.Set.Tests)
	if err != nil {
		return ""
	}
	it := ledger.Iteration{Set: res.Set}
	it.Assessment.Balance = r.past.CompareWithBaseline(res.Set, r.opts.Rules)
	met, said, err := r.met(ctx, it)
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
	if said != "" {
		text += " It printed at its end:\n" + said
	}
	return text
}

func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
