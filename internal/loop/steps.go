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
	if r.opts.Hidden.Sealed != nil {
		stop.Text += "; sealed tests are out of the tree until then, or until supervise seal --restore"
	}
	r.setStop(stop)
	err := errors.Join(r.checks.cleanUp(r.opts.Root, r.warn), r.save())
	r.reportEnd(event.LoopEnd{})
	return r.outcome(stop), err
}

// reportEnd writes the event loop_finished, with the stop and the progress of the loop added to its
// data.
func (r *run) reportEnd(d event.LoopEnd) {
	d.Reason, d.Text, d.ExitCode = event.Reason(r.state.StopReason), r.state.StopText, r.state.ExitCode
	d.Spending, d.Iterations = r.state.Spending, max(0, len(r.past.Iterations)-1)
	if best := r.state.SelectedOrBest(); best != nil {
		d.Best, d.Score = &best.Iteration, &best.QualityScore
	}
	if r.past.SafeSnapshot != "" {
		d.Safe = r.past.SafeSnapshot.Name()
	}
	r.journal.Note(event.LoopFinished, r.state.Iteration, d)
}
