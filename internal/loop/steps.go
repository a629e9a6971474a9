package loop

import (
	"errors"

	"supervise/internal/event"
)

// SteppedText says that a process has done its steps.
const SteppedText = "the iterations asked for are done: supervise resume goes on"

// stepsFrom begins to count the steps of this process behind an iteration.
func (r *run) stepsFrom(n int) {
	if r.opts.Steps != nil {
		r.until = n + *r.opts.Steps
	}
}

// rest says why iteration n does not begin although the one before did not end the loop;
// the zero value where it begins. Someone who wants to look into the work pauses the loop,
// and is given its best tree; steps leave all as it is for the process that goes on.
func (r *run) rest(n int, first bool) (event.Stop, error) {
	paused, err := r.ledger.TakePause()
	switch {
	case err != nil:
		return event.Stop{}, err
	case n > r.opts.MaxIterations:
		return r.opts.allDone(), nil
	case paused && !first: // one from before was meant for another run
		return event.Stop{Reason: event.PausedByUser, Text: "paused: supervise resume goes on"}, nil
	case r.opts.Steps != nil && n > r.until:
		return event.Stop{Reason: event.Stepped, Text: SteppedText}, nil
	}
	return event.Stop{}, nil
}

// setDown ends the work of this process on a loop that is not over. Nothing is selected or
// measured, and the tree stays as the last iteration left it.
func (r *run) setDown(stop event.Stop) (Outcome, error) {
	r.state.Status, r.state.StopReason, r.state.StopText, r.state.ExitCode = stop.Reason.Status(), string(stop.Reason), stop.Text, stop.Reason.ExitCode()
	err := errors.Join(r.checks.tidy(r.opts.Root, r.warn), r.save())
	r.journal.Note(event.LoopFinished, r.state.Iteration, r.ended(event.LoopEnd{Reason: stop.Reason, Text: stop.Text, ExitCode: r.state.ExitCode}))
	return r.outcome(stop), err
}

// ended adds to the data of the end what the loop has come to.
func (r *run) ended(d event.LoopEnd) event.LoopEnd {
	d.Spending, d.Iterations = r.state.Spending, max(0, len(r.past.Iterations)-1)
	if best := r.state.SelectedOrBest(); best != nil {
		d.Best, d.Score = &best.Iteration, &best.QualityScore
	}
	if r.past.SafeSnapshot != "" {
		d.Safe = r.past.SafeSnapshot.Name()
	}
	return d
}
