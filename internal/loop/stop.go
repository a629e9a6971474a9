package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/agentrun"
	"supervise/internal/approval"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/internal/report"
	"supervise/selector"
)

// stopAfter returns why the loop ends after an iteration, the zero value if it continues.
func (r *run) stopAfter(it ledger.Iteration) event.Stop {
	d := it.Decision
	move := recovery.Move(d.Move)
	isIdle := !it.Rejected && r.opts.Until.IsIdle(it, r.past.Iterations[0].Set)
	met := isIdle || d.Criterion != nil && *d.Criterion
	switch {
	case move == recovery.Abort:
		return event.Stop{Reason: event.Aborted, Text: d.Reason}
	case it.StaysBlocked():
		return event.Stop{Reason: event.Blocked, Text: blockedText(it)}
	case it.Rejected && move == recovery.Escalate:
		return event.Stop{Reason: event.RetriesExhausted, Text: d.Reason}
	case met && len(it.Open) > 0:
		return openFindingsStop(it)
	case met:
		return event.Stop{Reason: event.CriterionMet, Text: "the criterion is met: " + r.opts.Until.String()}
	case move == recovery.Continue, move == recovery.Retry:
		return r.diminishingStop(it)
	}
	return event.Stop{Reason: reasonFor(it.Assessment), Text: d.Reason}
}

// blockedText says why a loop ends whose agent cannot continue.
func blockedText(it ledger.Iteration) string {
	blocks := it.Blocks()
	text := judge.AgentBlocked + ": " + blocks[0].String()
	if len(blocks) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(blocks)-1)
	}
	if g := it.Decision.UnblockApproval; g != nil {
		text += "; " + g.Answer.String()
	}
	return text
}

// diminishingStop returns a stop if the gains have become too small with this iteration and the
// settings ask for it. Because it looks only at this iteration, a resumed loop continues.
func (r *run) diminishingStop(it ledger.Iteration) event.Stop {
	if !r.opts.StopOnDiminishing || it.Rejected {
		return event.Stop{}
	}
	small := selector.FindDiminishingReturns(r.past.Candidates(), selector.SmallGains, selector.SmallGain)
	if small == nil || small.At != it.Number {
		return event.Stop{}
	}
	return event.Stop{Reason: event.Diminishing, Text: fmt.Sprintf("diminishing returns: since iteration %d quality grew by less than %g points each time", small.Since, 100*selector.SmallGain)}
}

// reasonFor returns the reason to end for a loop that the rules end.
func reasonFor(a detector.Assessment) event.Reason {
	switch {
	case a.Recommendation.Rule == detector.InfiniteLoop, a.Recommendation.Rule == detector.MetricCycling:
		return event.Cycling
	case a.Stuck != nil:
		return event.Stuck
	case a.Stall == nil:
		return event.StoppedByRule
	}
	return event.Stalled
}

// limitStop returns the stop of an iteration, or else a stop because the agent has no service or a
// limit is reached. A stop that the iteration itself has takes precedence.
func (r *run) limitStop(it *iteration, stop event.Stop) event.Stop {
	switch {
	case stop.Reason == event.CriterionMet, stop.Reason == event.RetriesExhausted, stop.Reason == event.Blocked:
		return stop
	case it.serviceStop.Reason != "" && (stop.Reason == "" || agentrun.WasUnavailable(it.Agent)):
		return it.serviceStop
	case stop.Reason != "":
		return stop
	}
	return r.opts.LimitStop(r.agentUsage())
}

// stopFor turns an interruption, or a question without an answer, into a stop. It returns any other
// error unchanged.
func stopFor(ctx context.Context, err error) (event.Stop, error) {
	if ctx.Err() != nil {
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}, nil //nolint:nilerr // the error is the interruption
	}
	if errors.Is(err, approval.ErrUnanswered) {
		return event.Stop{Reason: event.Awaiting, Text: "a person is asked: supervise approve, reject or abort, then supervise resume"}, nil
	}
	return event.Stop{}, err
}

// iterationLimitStop returns the stop after the last iteration. It is a success if there is no
// criterion.
func (s Settings) iterationLimitStop() event.Stop {
	text := "all of " + report.Pluralize(s.MaxIterations, "iteration", "iterations") + " done"
	if s.Until.Kind == criterion.Never {
		return event.Stop{Reason: event.Done, Text: text}
	}
	return event.Stop{Reason: event.IterationLimit, Text: text + ", and the criterion is not met: " + s.Until.String()}
}

// noneAcceptableStop corrects the reason to end if the baseline was chosen, so that no iteration is
// acceptable. n is the number of iterations with the baseline.
func noneAcceptableStop(stop event.Stop, c selector.Selection, n int) event.Stop {
	decided := []event.Reason{event.Interrupted, event.RetriesExhausted, event.Aborted, event.Blocked, event.StoppedByRule}
	if !c.BaselineChosen || n < 2 || slices.Contains(decided, stop.Reason) {
		return stop
	}
	return event.Stop{Reason: event.NoneAcceptable, Text: "no iteration was acceptable (" + stop.Text + ")"}
}

// baselineKeptStop corrects the reason to end if no iteration is acceptable, but the restored
// baseline meets the criterion.
func (r *run) baselineKeptStop(ctx context.Context, stop event.Stop) (event.Stop, error) {
	if stop.Reason != event.NoneAcceptable || r.opts.NoApply || interrupted(ctx) {
		return stop, nil
	}
	if met, _, err := r.criterionMet(ctx, r.past.Iterations[0]); err != nil || met == nil || !*met {
		return stop, err
	}
	return event.Stop{Reason: event.BaselineKept, Text: "the criterion held before the loop, and " + stop.Text}, nil
}

// hiddenStop corrects the reason to end if hidden tests fail on the selected tree.
func (r *run) hiddenStop(stop event.Stop, h *ledger.Hidden) event.Stop {
	why := r.newJudge().DescribeHiddenFailures(h, r.past)
	if why == "" {
		return stop
	}
	return event.Stop{Reason: event.HiddenFail, Text: "the " + h.Kind() + " tests do not pass on the selected tree: " + why + " (" + stop.Text + ")"}
}

// openFindingsStop returns the stop of a loop that meets its criterion with open findings. The
// agent has one iteration to fix them, so new ones do not stop the loop. After that, a person has
// to decide.
func openFindingsStop(it ledger.Iteration) event.Stop {
	if slices.ContainsFunc(it.Open, func(o ledger.OpenFinding) bool { return o.Iteration == it.Number }) {
		return event.Stop{}
	}
	return event.Stop{Reason: event.FindingsOpen, Text: "the criterion holds, but " + openFindingsText(it.Open)}
}

// selectionOpenStop corrects the reason to end if there are open findings on the selected tree,
// or on the last accepted one.
func (r *run) selectionOpenStop(stop event.Stop, c selector.Selection) event.Stop {
	open := r.past.Iterations[c.Iteration].Open
	if len(open) == 0 {
		open = r.past.Iterations[r.past.Previous.Iteration].Open
	}
	if len(open) == 0 || stop.Reason == event.FindingsOpen || !canBeCorrected(stop) {
		return stop
	}
	return event.Stop{Reason: event.FindingsOpen, Text: openFindingsText(open) + " (" + stop.Text + ")"}
}

// canBeCorrected reports whether findings about the selected tree matter more than the reason of
// the stop. That depends on its exit code.
func canBeCorrected(stop event.Stop) bool {
	return slices.Contains([]int{0, 4, 5}, stop.Reason.ExitCode())
}

// weakenedTestsStop corrects the reason to end if tests pass on the selected tree only in their
// changed versions.
func weakenedTestsStop(stop event.Stop, found []detector.Alert) event.Stop {
	i := slices.IndexFunc(found, func(a detector.Alert) bool { return !a.Declared })
	if i < 0 || !canBeCorrected(stop) {
		return stop
	}
	return event.Stop{Reason: event.TestsWeakened, Text: found[i].Message() + " (" + stop.Text + ")"}
}

// openFindingsText names the first open finding, and counts all.
func openFindingsText(open []ledger.OpenFinding) string {
	first := fmt.Sprintf("%s %s of iteration %d", open[0].Severity, open[0].Rule, open[0].Iteration)
	if len(open) == 1 {
		return "a finding about integrity is open: " + first
	}
	return fmt.Sprintf("%d findings about integrity are open: %s, and others", len(open), first)
}
