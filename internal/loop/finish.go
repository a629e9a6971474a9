package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
	"supervise/metric"
	"supervise/selector"
)

// finish gives back the best iteration: selects it, restores its tree, measures
// that once more and writes the reports. It is done to the end also when the
// loop was interrupted; only the measurement is left out then.
func (s *session) finish(ctx context.Context, stop event.Stop) (Outcome, error) {
	s.state.Status = ledger.Completing
	saved := errors.Join(s.event(event.LoopStopping, s.state.Iteration, stop), s.save())
	out := s.outcome(stop)
	if err := s.giveBack(ctx, &out); err != nil {
		s.fail(err)
		return out, err
	}
	s.state.Status, s.state.StopReason, s.state.StopText = out.Stop.Reason.Status(), string(out.Stop.Reason), out.Stop.Text
	s.state.ExitCode = out.Stop.Reason.ExitCode()
	s.tidy()
	saved = errors.Join(saved, s.giveTree())
	path, err := s.finalReports(out)
	err = errors.Join(err, saved, s.save())
	s.note(event.LoopFinished, s.state.Iteration, event.LoopEnd{Reason: out.Stop.Reason, Text: out.Stop.Text, ExitCode: s.state.ExitCode, Report: path, Spending: s.state.Spending})
	return out, err
}

// giveBack restores the best iteration; the baseline when the loop ended before
// that was measured, since the checks may have been half done.
func (s *session) giveBack(ctx context.Context, out *Outcome) error {
	switch {
	case len(s.past.Iterations) > 0:
		return s.selectBest(ctx, out)
	case s.past.Safe != "" && !s.opts.Watching():
		return s.tree.Restore(ctx, s.past.Safe)
	}
	return nil
}

func (s *session) selectBest(ctx context.Context, out *Outcome) error {
	choice, err := selector.Best(s.past.Candidates(), s.opts.Select)
	if err != nil {
		return fmt.Errorf("select the best iteration: %w", err)
	}
	out.Choice = &choice
	if !s.opts.Watching() {
		out.Stop = settle(out.Stop, choice, len(s.past.Iterations))
	}
	out.Stop = s.openStop(out.Stop, choice)
	s.state.Selected = s.past.Chosen(choice)
	if err := s.apply(ctx, choice); err != nil {
		return err
	}
	if err := s.event(event.OutputSelected, choice.Iteration, event.Selected{Choice: choice, Applied: !s.opts.NoApply}); err != nil {
		return err
	}
	if s.opts.NoApply || interrupted(ctx) {
		return nil
	}
	out.Verified, err = s.verify(ctx, choice.Iteration)
	if interrupted(ctx) {
		return nil // the selection stands, it is only not verified
	}
	if err == nil && !out.Verified.Holds && out.Stop.Reason.ExitCode() == 0 {
		out.Stop = event.Stop{Reason: event.NotReproduced, Text: "re-measuring the selected tree gave different results: " + strings.Join(out.Verified.Differences, "; ")}
	}
	if err == nil && out.Stop.Reason.ExitCode() == 0 {
		out.Stop = s.hiddenStop(out.Stop, out.Verified.Hidden)
	}
	return err
}

func interrupted(ctx context.Context) bool { return ctx.Err() != nil }

// settle corrects the reason to end when nothing that was done can be kept.
func settle(stop event.Stop, c selector.Choice, n int) event.Stop {
	if !c.BaselineChosen || n < 2 || stop.Reason == event.Interrupted || stop.Reason == event.RetriesSpent || stop.Reason == event.GateAborted {
		return stop
	}
	return event.Stop{Reason: event.NoneAcceptable, Text: "no iteration was acceptable; the tree is as before the loop (" + stop.Text + ")"}
}

// apply restores the selected tree and copies its changed files.
func (s *session) apply(ctx context.Context, c selector.Choice) error {
	ctx = context.WithoutCancel(ctx)
	it := s.past.Iterations[c.Iteration]
	if !s.opts.NoApply {
		if err := s.tree.Restore(ctx, it.Snapshot); err != nil {
			return fmt.Errorf("restore iteration %d: %w", c.Iteration, err)
		}
	}
	out, err := ledger.OutputOf(ctx, s.store, s.state.BaselineSnapshot, it.Snapshot)
	if err != nil {
		return err
	}
	s.applied, s.removed = out.Changed, out.Removed
	return s.ledger.WriteOutput(out.Files)
}

// verify measures the selected tree anew and compares the numbers.
func (s *session) verify(ctx context.Context, n int) (*event.Verification, error) {
	it := s.past.Iterations[n]
	known := it.Set.Tests
	if known.Counts().Count == 0 {
		known = s.past.Iterations[0].Set.Tests
	}
	res, err := s.measureMasked(ctx, known)
	if err == nil {
		var flaky []metric.ID
		flaky, err = s.judging().Forgive(ctx, it.Set, res.Set)
		s.past.LearnFlaky(flaky)
	}
	// What the checks changed on the way is no part of the selection.
	if err := errors.Join(err, s.tree.Restore(ctx, it.Snapshot)); err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}
	found, err := s.judging().Verify(ctx, s.past, n, res.Set)
	if err != nil {
		return nil, fmt.Errorf("verify the selection: %w", err)
	}
	v := &event.Verification{
		Holds: len(found.Differences) == 0, Differences: found.Differences, HoldOut: found.HoldOut, Broken: found.Broken, Hidden: found.Hidden,
	}
	return v, s.event(event.OutputVerified, n, *v)
}

// tidy removes the reports that the checks wrote into the tree and that had not
// been there before the loop.
func (s *session) tidy() {
	for _, path := range s.artefactPaths {
		full := filepath.Join(s.opts.Root, filepath.FromSlash(path))
		if !s.meter.IsReport(full) {
			continue
		}
		if err := s.meter.RemoveReport(full); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.opts.Log.WithError(err).Warn("remove a report of the checks")
		}
	}
}

// finalReports writes the selection and completion reports and returns the path
// of the one to read first.
func (s *session) finalReports(out Outcome) (string, error) {
	if out.Choice == nil {
		return "", nil
	}
	v := report.Loop{
		State: s.state, Iterations: s.past.Iterations, Choice: *out.Choice, Summary: selector.Summarize(s.past.Candidates()), Artifacts: s.applied, Removed: s.removed,
		Now: s.opts.Now(), Mode: s.opts.Select.Mode, Threshold: s.opts.Select.Threshold,
		Skipped: s.tree.Skipped(s.past.Iterations[out.Choice.Iteration].Snapshot), Dropped: s.tree.DroppedNames(), Open: ledger.OpenAt(s.past.Iterations, out.Choice.Iteration),
	}
	if out.Verified != nil {
		v.Verification = &report.Verification{Holds: out.Verified.Holds, Differences: out.Verified.Differences, HoldOut: out.Verified.HoldOut, Hidden: out.Verified.Hidden}
	}
	selection := report.SelectionName
	err := errors.Join(
		s.ledger.WriteReport(selection, report.Selection(v)),
		s.ledger.WriteReport(report.CompletionName, report.Completion(v)),
		s.ledger.WriteAnalytics(report.AnalyticsOf(v), report.Completion(v)),
	)
	return filepath.Join(s.ledger.Dir(), "reports", selection), err
}

// escalationReport writes what a person has to know of an iteration that was for
// one to judge.
func (s *session) escalationReport(it ledger.Iteration) error {
	d := it.Decision
	if d == nil || d.Asks == "" {
		return nil
	}
	v := report.Escalation{State: s.state, Iterations: s.past.Iterations, Why: d.Asks, Now: s.opts.Now(), Self: s.opts.Person.Self}
	return s.ledger.WriteReport(report.EscalationName, v.Text())
}

// iterationReport writes the report of one iteration.
func (s *session) iterationReport(it ledger.Iteration) error {
	v := report.Iteration{It: it, Baseline: s.past.Iterations[0], Best: s.state.Best, Kept: s.ledger.SnapshotDir(), Criterion: s.state.Criterion, Rules: s.opts.Rules}
	if n := reasoning.Previous(s.past.Iterations, it.Number); n >= 0 {
		v.Previous = &s.past.Iterations[n]
	}
	return s.ledger.WriteReport(ledger.Name(it.Number)+"-report.md", report.OfIteration(v))
}
