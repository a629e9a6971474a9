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

// ranking compares the candidates, the best first. Where the user has interrupted, no test
// is run any more.
func (c *contest) ranking(ctx context.Context) ([]ledger.Rank, error) {
	var list []ledger.Rank
	var err error
	var all crossed
	if ctx.Err() == nil {
		if all, err = c.cross(ctx); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("run the tests of the candidates over each other: %w", err)
		}
	}
	for _, e := range c.entries[1:] {
		s, err := c.standing(context.WithoutCancel(ctx), e)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	code := map[int]string{}
	for _, e := range c.entries[1:] {
		code[e.number] = e.code
	}
	judged(list, all, code)
	list = rank(list)
	return list, c.ledger.WriteRanking(list)
}

func (c *contest) standing(ctx context.Context, e *entry) (ledger.Rank, error) {
	s := ledger.Rank{
		Candidate: e.number, LoopID: e.id, Agent: c.mask.Texts(c.optionsOf(ctx, e).CommandLine()), Reason: string(e.stop.Reason), Text: e.stop.Text, Iteration: e.selected,
		Eligible: e.done(), OwnTests: len(e.own), Score: e.it.Score.Value, MutationScore: powerOf(e.it.MutationCheck),
	}
	if e.stop.Reason == "" {
		s.Text = "it was not begun"
		if _, err := ledger.ReadState(e.dir()); err == nil {
			s.Text = "it has not come to its end"
		}
	}
	_, s.Tokens, s.CostUSD = e.it.Cost()
	lines, err := c.tree.Store.CountLines(ctx, c.state.BaselineSnapshot, e.it.Snapshot)
	for _, l := range lines {
		s.Lines += l.Added + l.Deleted
	}
	return s, err
}

// powerOf is the share of mutants that the present tests notice, nil where none was run.
func powerOf(p *ledger.MutationCheck) *float64 {
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

// finish writes the choice down and puts it into the user's tree.
func (c *contest) finish(ctx context.Context, list []ledger.Rank) (event.Stop, error) {
	switch {
	case c.Loop.Steps != nil:
		stop := event.Stop{Reason: event.Stepped, Text: loop.SteppedText}
		return stop, c.ended(stop, nil, "")
	case c.setDown():
		stop := event.Stop{Reason: event.PausedByUser, Text: "paused: supervise resume goes on"}
		return stop, c.ended(stop, nil, "")
	}
	stop, n := c.stopOf(ctx, list), 0
	if list[0].Chosen {
		n = list[0].Candidate
	}
	if err := c.journal.Write(event.LoopStopping, c.state.Iteration, stop); err != nil {
		return stop, err
	}
	keep, err := c.unlike(ctx, n)
	if err == nil {
		err = c.journal.Write(event.CandidatesCompared, 0, event.Compared{Ranking: list, WhyNotApplied: keep})
	}
	if err != nil {
		return stop, err
	}
	if keep != "" {
		stop = event.Stop{Reason: event.NotApplied, Text: keep + "; " + stop.Text}
	}
	path, err := c.selected(ctx, n, list[0].Why, keep == "" && n > 0)
	if err != nil {
		return stop, err
	}
	as := "as it was before the loop"
	if n > 0 {
		as = fmt.Sprintf("that of candidate %d", n)
	}
	tree := c.tree.TreeState(as)
	if tree != nil {
		c.state.TreeText = tree.String()
	}
	return stop, c.ended(stop, tree, path)
}

// stopOf says why the loop ended.
func (c *contest) stopOf(ctx context.Context, list []ledger.Rank) event.Stop {
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
	for _, reason := range []event.Reason{event.Refused, event.NoCommand} { // all of them: somebody has to help
		same := true
		for _, s := range list {
			same = same && s.Reason == string(reason)
		}
		if same {
			return event.Stop{Reason: reason, Text: first.Text}
		}
	}
	return event.Stop{Reason: event.NoneAcceptable, Text: "no candidate did the task, and the tree stays as it was: " + strings.Join(texts, "; ")}
}

// unlike says why a candidate may not be put into the user's tree: it is not as it was any
// more.
func (c *contest) unlike(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	now, drop, err := c.tree.Store.TakeTemporary(context.WithoutCancel(ctx), "at the end")
	if err != nil {
		return "", err
	}
	was, err := c.tree.Store.Info(c.state.BaselineSnapshot)
	// That of a candidate is there after a crash behind it, or an interruption.
	ours := slices.ContainsFunc(c.entries[1:], func(e *entry) bool { return e.it.Tree == now.Tree })
	if err = errors.Join(err, drop()); err != nil || now.Tree == was.Tree || ours {
		return "", err
	}
	return fmt.Sprintf("the tree has changed since the loop began, so candidate %d was not put into it: supervise select %s --candidate %d does, and keeps what is there", n, c.state.LoopID, n), nil
}

// selected writes the choice down, and puts its tree into that of the user.
func (c *contest) selected(ctx context.Context, n int, why string, apply bool) (path string, err error) {
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
			return "", fmt.Errorf("put candidate %d into the tree: %w", n, err)
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

// ended writes the end down.
func (c *contest) ended(stop event.Stop, tree *event.TreeState, path string) error {
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
