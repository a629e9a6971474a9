package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/review"
	"supervise/metric"
	"supervise/snapshot"
)

// askReviewer asks for a second opinion on a merge request, if a reviewer is set. In a loop the
// reviewer is asked once, about the selected tree, see [Judge.ReviewSelected].
func askReviewer(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	if c.Reviewer == nil || c.Subject != Change || len(c.Tree.Changes) == 0 {
		return v, nil
	}
	c.progress("asking the reviewer")
	shown := describeResults(c.History.Baseline.Set, v.JudgedSet(), c.assess(v).Alerts) + describeGoals(v.Goals) + describeMutationCheck(v.MutationCheck) + describeChanges(c.Tree.Changes)
	var err error
	v.Review, err = c.Reviewer.Ask(ctx, c.Workspace, review.Change{Base: v.Start, Current: v.Snapshot, Files: changedPaths(c.Tree.Changes), Results: shown})
	return v, err
}

// ReviewSelected asks for a second opinion on all that the loop did up to iteration n,
// and returns it with the alerts about it; nil if there is no reviewer or
// nothing to review. found is what the tree showed at the end.
func (j Judge) ReviewSelected(ctx context.Context, h *History, n int, found ledger.Verification) (*ledger.Review, []detector.Alert, error) {
	if j.Reviewer == nil || n == 0 {
		return nil, nil, nil
	}

	base, it := h.baselineIteration(), h.Iterations[n]
	changes, err := j.Store.Changes(ctx, base.Snapshot, it.Snapshot)
	if err != nil {
		return nil, nil, fmt.Errorf("compare the selection with the baseline: %w", err)
	}
	if len(changes) == 0 {
		return nil, nil, nil
	}

	var alerts []detector.Alert
	var check *ledger.MutationCheck
	for _, earlier := range h.Iterations[:n+1] {
		if !earlier.Rejected {
			alerts = append(alerts, earlier.Assessment.Alerts...)
			check = cmp.Or(earlier.MutationCheck, check)
		}
	}

	alerts = append(alerts, found.Goals.Weakened()...)
	shown := describeResults(base.Set, it.JudgedSet(), alerts) + describeGoals(found.Goals) + describeMutationCheck(check) + describeChanges(changes)
	out, err := j.Reviewer.Ask(ctx, j.Workspace, review.Change{Base: base.Snapshot, Current: it.Snapshot, Files: changedPaths(changes), Results: shown})
	if err != nil {
		return nil, nil, err
	}

	in := detector.Input{Current: it.Observation(), ReviewFindings: reviewFindings(out, found.Goals), Now: j.Now()}
	return out, detector.ReviewAlerts(in, j.Rules), nil
}

// reviewFindings returns the findings of a review in the form of the rules.
func reviewFindings(r *ledger.Review, h *ledger.Goals) []detector.ReviewFinding {
	if r == nil {
		return nil
	}
	kind := detector.Concern
	if r.Verdict == ledger.ReviewGaming {
		kind = detector.Gaming
	}
	var out []detector.ReviewFinding
	for _, f := range r.Findings {
		out = append(out, detector.ReviewFinding{Kind: kind, File: f.File, Line: f.Line, Reason: f.Reason, TestsNotRun: hasUnrunTest(h, f.File)})
	}
	return out
}

// hasUnrunTest reports whether an original test of the file could not run.
func hasUnrunTest(h *ledger.Goals, file string) bool {
	return h != nil && slices.ContainsFunc(h.Results, func(r detector.Goal) bool {
		return r.File == file && (r.Outcome == detector.Unbuilt || r.Outcome == detector.NotRun)
	})
}

// describeResults describes what running a change showed: the numbers before and after, and the
// findings. The names of hidden tests are left out.
func describeResults(old, current metric.Set, alerts []detector.Alert) string {
	var b strings.Builder
	for _, f := range slices.Concat([]metric.Field{metric.TestCount, metric.TestsFailed, metric.TestsSkipped}, verifiedFields) {
		before, ok1 := old.Value(f)
		after, ok2 := current.Value(f)
		if ok1 && ok2 {
			fmt.Fprintf(&b, "%s: %s before, %s after\n", f, formatNumber(before), formatNumber(after))
		}
	}
	b.WriteString("\nFindings of the rules so far, and the basis of each:\n")
	if len(alerts) == 0 {
		b.WriteString("none\n")
	}
	for _, a := range alerts {
		fmt.Fprintf(&b, "%s %s (%s): %s\n", a.Severity, a.Rule, a.Basis, a.Message())
	}
	return b.String()
}

// describeGoals describes the results of original tests, "" if none had to run.
func describeGoals(h *ledger.Goals) string {
	if h == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nTests as they were before the change, run on the new code:\n")
	if h.NotRunReason != "" {
		fmt.Fprintf(&b, "not run: %s\n", h.NotRunReason)
	}
	fmt.Fprintf(&b, "%d passed\n", h.Passed)
	for _, r := range h.Results {
		if r.Outcome != detector.Passed {
			fmt.Fprintf(&b, "%s: %s\n", r.ID, r.Outcome)
		}
	}
	return b.String()
}

// describeMutationCheck describes how many mutants changed tests kill, before and after the change.
func describeMutationCheck(p *ledger.MutationCheck) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nChanged tests, before and after, run on mutants of the code:\n")
	if p.NotRunReason != "" {
		fmt.Fprintf(&b, "not run: %s\n", p.NotRunReason)
	}
	for _, r := range p.Results {
		fmt.Fprintf(&b, "%s: %s\n", strings.Join(r.Files, ", "), r)
		for _, s := range r.Survivors {
			fmt.Fprintf(&b, "not noticed any more: %s\n", s)
		}
	}
	return b.String()
}

// describeChanges lists the changed files.
func describeChanges(changes []snapshot.Change) string {
	var b strings.Builder
	b.WriteString("\nChanged files:\n")
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s\n", c.Kind, c.Path)
	}
	return b.String()
}

func changedPaths(changes []snapshot.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Path)
	}
	return out
}
