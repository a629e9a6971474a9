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

// stopAfter says whether the loop ends with this iteration, and why.
func (r *run) stopAfter(it ledger.Iteration) event.Stop {
	d := it.Decision
	move := recovery.Move(d.Move)
	met := d.Criterion != nil && *d.Criterion || !it.Rejected && r.opts.Until.IsIdle(it, r.past.Iterations[0].Set)
	switch {
	case move == recovery.Abort:
		return event.Stop{Reason: event.Aborted, Text: d.Reason}
	case it.StaysBlocked():
		return event.Stop{Reason: event.Blocked, Text: blockedText(it)}
	case it.Rejected && move == recovery.Escalate:
		return event.Stop{Reason: event.RetriesExhausted, Text: d.Reason}
	case met && len(it.Open) > 0:
		return heldOpen(it)
	case met:
		return event.Stop{Reason: event.CriterionMet, Text: "the criterion is met: " + r.opts.Until.String()}
	case move == recovery.Continue, move == recovery.Retry:
		return r.diminished(it)
	}
	return event.Stop{Reason: endOf(it.Assessment), Text: d.Reason}
}

// blockedText says why a loop ends whose agent cannot go on.
func blockedText(it ledger.Iteration) string {
	said, more := it.Blocks(), ""
	if len(said) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(said)-1)
	}
	text := judge.AgentBlocked + ": " + said[0].String() + more
	if g := it.Decision.UnblockApproval; g != nil {
		text += "; " + g.Answer.String()
	}
	return text
}

// diminished stops a loop whose gains have become too small with this iteration, if
// that was asked for. One that is resumed goes on.
func (r *run) diminished(it ledger.Iteration) event.Stop {
	if !r.opts.StopOnDiminishing || it.Rejected {
		return event.Stop{}
	}
	small := selector.FindDiminishingReturns(r.past.Candidates(), selector.SmallGains, selector.SmallGain)
	if small == nil || small.At != it.Number {
		return event.Stop{}
	}
	return event.Stop{Reason: event.Diminishing, Text: fmt.Sprintf("diminishing returns: since iteration %d quality grew by less than %g points each time", small.Since, 100*selector.SmallGain)}
}

func endOf(a detector.Assessment) event.Reason {
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

// shortened ends a loop early that cannot go on: its agent was not served, or has
// consumed what it may. The stop of the iteration itself comes first where it is a
// good end.
func (r *run) shortened(it *iteration, stop event.Stop) event.Stop {
	switch {
	case stop.Reason == event.CriterionMet, stop.Reason == event.RetriesExhausted, stop.Reason == event.Blocked:
		return stop
	case it.unserved.Reason != "" && (stop.Reason == "" || agentrun.WasUnavailable(it.Agent)):
		return it.unserved
	case stop.Reason != "":
		return stop
	}
	return r.opts.LimitStop(r.spent())
}

// stopped turns an interruption, or a question that nobody has answered yet, into a stop; any
// other error stays one.
func stopped(ctx context.Context, err error) (event.Stop, error) {
	if ctx.Err() != nil {
		return event.Stop{Reason: event.Interrupted, Text: "interrupted by the user"}, nil //nolint:nilerr // the error is the interruption
	}
	if errors.Is(err, approval.ErrUnanswered) {
		return event.Stop{Reason: event.Awaiting, Text: "a person is asked: supervise approve, reject or abort, then supervise resume"}, nil
	}
	return event.Stop{}, err
}

// allDone is the stop at the last iteration. Without a criterion that could have been
// met before, that is what was asked for.
func (s Settings) allDone() event.Stop {
	text := "all of " + report.Pluralize(s.MaxIterations, "iteration", "iterations") + " done"
	if s.Until.Kind == criterion.Never {
		return event.Stop{Reason: event.Done, Text: text}
	}
	return event.Stop{Reason: event.IterationLimit, Text: text + ", and the criterion is not met: " + s.Until.String()}
}

// unkept corrects the reason to end when nothing that was done can be kept.
func unkept(stop event.Stop, c selector.Selection, n int) event.Stop {
	decided := []event.Reason{event.Interrupted, event.RetriesExhausted, event.Aborted, event.Blocked, event.StoppedByRule}
	if !c.BaselineChosen || n < 2 || slices.Contains(decided, stop.Reason) {
		return stop
	}
	return event.Stop{Reason: event.NoneAcceptable, Text: "no iteration was acceptable (" + stop.Text + ")"}
}

// metBefore corrects the reason to end where nothing can be kept and nothing has to be: the
// criterion holds for the baseline, which is put back.
func (r *run) metBefore(ctx context.Context, stop event.Stop) (event.Stop, error) {
	if stop.Reason != event.NoneAcceptable || r.opts.NoApply || interrupted(ctx) {
		return stop, nil
	}
	if met, _, err := r.met(ctx, r.past.Iterations[0]); err != nil || met == nil || !*met {
		return stop, err
	}
	return event.Stop{Reason: event.BaselineKept, Text: "the criterion held before the loop, and " + stop.Text}, nil
}

// hiddenStop corrects the reason to end where hidden tests of the selection fail:
// whatever the visible ones say, the work is not done.
func (r *run) hiddenStop(stop event.Stop, h *ledger.Hidden) event.Stop {
	why := r.judging().DescribeHiddenFailures(h, r.past)
	if why == "" {
		return stop
	}
	return event.Stop{Reason: event.HiddenFail, Text: "the hidden tests do not pass over the selected tree: " + why + " (" + stop.Text + ")"}
}

// heldOpen says why the loop does not end although its criterion holds: findings
// are open. The agent has one iteration to repair what the prompt names; then a person has
// to look.
func heldOpen(it ledger.Iteration) event.Stop {
	if slices.ContainsFunc(it.Open, func(o ledger.OpenFinding) bool { return o.Iteration == it.Number }) {
		return event.Stop{}
	}
	return event.Stop{Reason: event.FindingsOpen, Text: "the criterion holds, but " + openText(it.Open)}
}

// openStop corrects the reason to end where findings are open against the tree that
// was selected, or against the last one that was accepted.
func (r *run) openStop(stop event.Stop, c selector.Selection) event.Stop {
	open := r.past.Iterations[c.Iteration].Open
	if len(open) == 0 {
		open = r.past.Iterations[r.past.Previous.Iteration].Open
	}
	if code := stop.Reason.ExitCode(); len(open) == 0 || stop.Reason == event.FindingsOpen || code != 0 && code != 4 && code != 5 {
		return stop
	}
	return event.Stop{Reason: event.FindingsOpen, Text: openText(open) + " (" + stop.Text + ")"}
}

// gaveWayStop corrects the reason to end where only the changed versions of tests pass
// over the selected tree.
func gaveWayStop(stop event.Stop, found []detector.Alert) event.Stop {
	found = slices.DeleteFunc(slices.Clone(found), func(a detector.Alert) bool { return a.Declared })
	if code := stop.Reason.ExitCode(); len(found) == 0 || code != 0 && code != 4 && code != 5 {
		return stop
	}
	return event.Stop{Reason: event.TestsWeakened, Text: found[0].Message() + " (" + stop.Text + ")"}
}

func openText(open []ledger.OpenFinding) string {
	first := fmt.Sprintf("%s %s of iteration %d", open[0].Severity, open[0].Rule, open[0].Iteration)
	if len(open) == 1 {
		return "a finding about integrity is open: " + first
	}
	return fmt.Sprintf("%d findings about integrity are open: %s, and others", len(open), first)
}
