package candidate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/selector"
)

// rankEntries compares the candidates and returns them with the best first. After an interruption
// by the user, it does not run the tests of the candidates on each other.
func (c *competition) rankEntries(ctx context.Context) ([]ledger.Rank, error) {
	var list []ledger.Rank
	var err error
	var results crossResults
	if ctx.Err() == nil {
		if results, err = c.crossCheck(ctx); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("run the tests of the candidates on each other: %w", err)
		}
	}
	codeHash := map[int]string{}
	for _, e := range c.entries[1:] {
		rank, err := c.rankOf(context.WithoutCancel(ctx), e)
		if err != nil {
			return nil, err
		}
		list, codeHash[e.number] = append(list, rank), e.codeHash
	}
	base := c.baseIteration.Set.Tests
	addCrossResults(list, results, codeHash, base.Counts().Failed > 0 || base != nil && len(base.Broken) > 0)
	list = rankCandidates(list)
	return list, c.ledger.WriteRanking(list)
}

// rankOf returns the values of a candidate that the ranking compares.
func (c *competition) rankOf(ctx context.Context, e *entry) (ledger.Rank, error) {
	s := ledger.Rank{
		Candidate: e.number, LoopID: e.id, Agent: c.mask.Texts(c.entryOptions(ctx, e).CommandLine()), Reason: string(e.stop.Reason), Text: e.stop.Text, Iteration: e.bestNumber,
		Eligible: e.succeeded(), OwnTests: len(e.addedTests), Score: e.best.Score.Value, MutationScore: mutationScore(e.best.MutationCheck), MutantsNoticed: e.best.ChangeMutants.Share(),
	}
	if e.stop.Reason == "" {
		s.Text = "it was not started"
		if _, err := ledger.ReadState(e.dir()); err == nil {
			s.Text = "it has not ended"
		}
	}
	_, s.Tokens, s.CostUSD = e.best.Cost()
	lines, err := c.tree.Store.CountLines(ctx, c.state.BaselineSnapshot, e.best.Snapshot)
	for _, l := range lines {
		s.Lines += l.Added + l.Deleted
	}
	return s, err
}

// mutationScore returns the share of mutants that the current tests kill, in [0,1]. It is nil if
// no mutant was run.
func mutationScore(p *ledger.MutationCheck) *float64 {
	if p == nil {
		return nil
	}
	killed, all := 0, 0
	for _, r := range p.Results {
		killed, all = killed+r.KilledAfter, all+r.Mutants
	}
	if all == 0 {
		return nil
	}
	return new(float64(killed) / float64(all))
}

// finish records the choice, which is the first of the list, and restores it into the user's tree.
// The list is nil if the loop is only suspended.
func (c *competition) finish(ctx context.Context, list []ledger.Rank) (event.Stop, error) {
	switch {
	case c.Loop.Steps != nil:
		stop := event.Stop{Reason: event.Stepped, Text: loop.SteppedText}
		return stop, c.recordEnd(stop, nil, "")
	case c.isSuspended():
		stop := event.Stop{Reason: event.PausedByUser, Text: "paused: supervise resume continues it"}
		return stop, c.recordEnd(stop, nil, "")
	}

	stop, n := c.stopFor(ctx, list), 0
	if list[0].Chosen {
		n = list[0].Candidate
	}
	if err := c.journal.Write(event.LoopStopping, c.state.Iteration, stop); err != nil {
		return stop, err
	}

	keep, err := c.whyNotApplicable(ctx, n)
	if err == nil {
		err = c.journal.Write(event.CandidatesCompared, 0, event.Compared{Ranking: list, WhyNotApplied: keep})
	}
	if err != nil {
		return stop, err
	}
	if keep != "" {
		stop = event.Stop{Reason: event.NotApplied, Text: keep + "; " + stop.Text}
	}

	path, err := c.recordSelection(ctx, n, list[0].Why, keep == "" && n > 0)
	if err != nil {
		return stop, err
	}

	description := "as it was before the loop"
	if n > 0 {
		description = fmt.Sprintf("that of candidate %d", n)
	}

	tree := c.tree.TreeState(description)
	if tree != nil {
		c.state.TreeText = tree.String()
	}
	return stop, c.recordEnd(stop, tree, path)
}

// stopFor returns why the loop ended.
func (c *competition) stopFor(ctx context.Context, list []ledger.Rank) event.Stop {
	first := list[0]
	switch {
	case ctx.Err() != nil && first.Chosen:
		return event.Stop{Reason: event.Interrupted, Text: fmt.Sprintf("interrupted by the user; candidate %d of %d is in the tree: %s", first.Candidate, c.Number, first.Text)}
	case first.Chosen:
		return event.Stop{Reason: event.Reason(first.Reason), Text: fmt.Sprintf("candidate %d of %d: %s (%s)", first.Candidate, c.Number, first.Text, first.Why)}
	case ctx.Err() != nil:
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}
	}
	var texts []string
	for _, s := range list {
		texts = append(texts, fmt.Sprintf("candidate %d: %s", s.Candidate, s.Text))
	}
	for _, reason := range []event.Reason{event.Refused, event.NoCommand} { // the user has to help if no agent could work
		hasOtherReason := func(s ledger.Rank) bool { return s.Reason != string(reason) }
		if !slices.ContainsFunc(list, hasOtherReason) {
			return event.Stop{Reason: reason, Text: first.Text}
		}
	}
	return event.Stop{Reason: event.NoneAcceptable, Text: "no candidate did the task, and the tree stays unchanged: " + strings.Join(texts, "; ")}
}

// whyNotApplicable says why candidate n may not be restored into the user's tree: the tree has
// changed since the loop started. "" means that it may.
func (c *competition) whyNotApplicable(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	now, drop, err := c.tree.Store.TakeTemporary(context.WithoutCancel(ctx), "at the end")
	if err != nil {
		return "", err
	}
	baseline, err := c.tree.Store.Info(c.state.BaselineSnapshot)
	err = errors.Join(err, drop())
	// After a crash or an interruption the tree may already be that of a candidate.
	isCandidate := slices.ContainsFunc(c.entries[1:], func(e *entry) bool { return e.best.Tree == now.Tree })
	if err != nil || now.Tree == baseline.Tree || isCandidate {
		return "", err
	}
	return fmt.Sprintf("the tree has changed since the loop started, so candidate %d was not restored: supervise select %s --candidate %d restores it, and keeps the current tree as a snapshot", n, c.state.LoopID, n), nil
}

// recordSelection records that candidate n is selected, and restores its tree into the user's tree
// if apply is set. It returns the path of the selection report.
func (c *competition) recordSelection(ctx context.Context, n int, why string, apply bool) (path string, err error) {
	ctx = context.WithoutCancel(ctx)
	v, err := record.ReadView(c.ledger.Dir(), c.state)
	if err != nil {
		return "", err
	}

	v, choice, err := v.Choose(record.SelectionRequest{Override: &selector.Override{Kind: selector.UseSpecific, Iteration: n, Reason: why, User: "supervise"}})
	if err != nil {
		return "", err
	}

	it, err := v.Iteration(n)
	if err != nil {
		return "", err
	}

	c.state.Selected = &ledger.BestIteration{Iteration: n, QualityScore: it.Score.Value, Snapshot: it.Snapshot, SnapshotPath: c.ledger.SnapshotDir(), Reason: why}
	if apply {
		if err := c.tree.Restore(ctx, it.Snapshot); err != nil {
			return "", fmt.Errorf("restore candidate %d: %w", n, err)
		}
	}

	out, err := ledger.CompareOutput(ctx, c.tree.Store, c.state.BaselineSnapshot, it.Snapshot)
	if err == nil {
		err = c.ledger.WriteOutput(out.Files)
	}
	if err == nil {
		err = c.journal.Write(event.OutputSelected, n, event.SelectedOutput{Choice: choice, Applied: apply})
	}
	if err != nil {
		return "", err
	}

	v.State = c.state
	r := v.Report(choice, c.now())
	r.Artifacts, r.Removed = out.Changed, out.Removed
	return filepath.Join(c.ledger.Dir(), "reports", report.SelectionName), errors.Join(
		c.ledger.WriteReport(report.SelectionName, report.SelectionDocument(r)),
		c.ledger.WriteReport(report.CompletionName, report.CompletionDocument(r)),
		c.ledger.WriteAnalytics(report.NewAnalytics(r), report.CompletionDocument(r)),
	)
}

// recordEnd records the end of the loop in the state and the journal. tree and path, which is that
// of the selection report, may be empty.
func (c *competition) recordEnd(stop event.Stop, tree *event.TreeState, path string) error {
	c.state.Status, c.state.StopReason, c.state.StopText, c.state.ExitCode = stop.Reason.Status(), string(stop.Reason), stop.Text, stop.Reason.ExitCode()
	err := c.save()
	d := event.LoopEnd{
		Reason: stop.Reason, Text: stop.Text, ExitCode: c.state.ExitCode, Report: path, Iterations: c.state.Iteration, Safe: c.state.BaselineSnapshot.Name(),
		Spending: c.state.Spending, Tree: tree,
	}
	if best := c.state.Selected; best != nil {
		d.Best, d.Score = &best.Iteration, &best.QualityScore
	}
	c.journal.Note(event.LoopFinished, c.state.Iteration, d)
	return err
}
