package loop

import (
	"errors"

	"supervise/internal/event"
)

// SteppedText is the text of the stop [event.Stepped].
const SteppedText = "the requested iterations are done: supervise resume continues the loop"

// countStepsFrom starts counting the steps of this process after iteration n.
func (r *run) countStepsFrom(n int) {
	if r.opts.Steps != nil {
		r.until = n + *r.opts.Steps
	}
}

// stopBefore returns why iteration n does not start, the zero value if it does. first means that n
// is the first iteration of this process. After a pause, the best tree is restored for a person who
// wants to look at it. After the last step, the tree stays unchanged for the next process.
func (r *run) stopBefore(n int, first bool) (event.Stop, error) {
	paused, err := r.ledger.TakePause()
	switch {
	case err != nil:
		return event.Stop{}, err
	case n > r.opts.MaxIterations:
		return r.opts.iterationLimitStop(), nil
	case paused && !first: // an older request was for an earlier process
		return event.Stop{Reason: event.PausedByUser, Text: "paused: supervise resume continues it"}, nil
	case r.opts.Steps != nil && n > r.until:
		return event.Stop{Reason: event.Stepped, Text: SteppedText}, nil
	}
	return event.Stop{}, nil
}

// suspend ends this process, but not the loop. The tree stays as the last iteration left it.
func (r *run) suspend(stop event.Stop) (Outcome, error) {
	r.state.Status, r.state.StopReason, r.state.StopText, r.state.ExitCode = stop.Reason.Status(), string(stop.Reason), stop.Text, stop.Reason.ExitCode()
	err := errors.Join(r.checks.cleanUp(r.opts.Root, r.warn), r.save())
	r.journal.Note(event.LoopFinished, r.state.Iteration, r.withProgress(event.LoopEnd{Reason: stop.Reason, Text: stop.Text, ExitCode: r.state.ExitCode}))
	return r.outcome(stop), err
}

// withProgress returns the data of the loop's end with its progress.
func (r *run) withProgress(d event.LoopEnd) event.LoopEnd {
	d.Spending, d.Iterations = r.state.Spending, max(0, len(r.past.Iterations)-1)
	if best := r.state.SelectedOrBest(); best != nil {
		d.Best, d.Score = &best.Iteration, &best.QualityScore
	}
	if r.past.SafeSnapshot != "" {
		d.Safe = r.past.SafeSnapshot.Name()
	}
	return d
}
