package candidate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/loop"
)

// ErrEnded is the error for a candidate that cannot continue because the loop of candidates
// has ended.
var ErrEnded = errors.New("the loop of candidates is over")

// RunStep starts or resumes the loop of candidate n, for the number of iterations in the options.
// The tree of the candidate stays for the next step until its loop is over. If the loop is over
// already, its end is reported again.
//
// RunStep writes only to the folder of the candidate and to its tree. On another machine, it also
// writes the path of the user's tree next to its snapshots. So steps of several candidates can run
// in parallel, also on several machines. The errors are those of [loop.Resume]; in addition the
// error may wrap [ErrEnded].
func RunStep(ctx context.Context, id string, n int, o Options) (out loop.Outcome, err error) {
	c := newCompetition(o)
	defer c.close()
	position := event.NewPosition()
	dir := ledger.LoopDir(o.Loop.Home, id)
	if c.state, err = ledger.ReadState(dir); err == nil {
		_, err = ledger.ReadLog(dir, position.Apply)
	}
	if o.Loop.Root != "" {
		c.state.Workspace = o.Loop.Root
	}
	if err == nil {
		err = c.loadSettings(dir, position.Settings)
	}
	if err != nil {
		return out, err
	}
	if n < 1 || n > c.Number {
		return out, fmt.Errorf("%w: %s has the candidates 1 to %d, not %d", ledger.ErrNoLoop, id, c.Number, n)
	}

	e := c.newEntry(n)
	if e.stop = e.finalStop(); e.stop.Reason != "" {
		return c.repeatEnd(e)
	}
	if position.Ended && isFinal(position.End.Reason) {
		return out, fmt.Errorf("%w (%s), and candidate %d cannot continue", ErrEnded, position.End.Text, n)
	}
	if _, known := c.newEntry(0).measuredBaseline(); !known {
		return out, fmt.Errorf("%w: the baseline is not measured yet: supervise resume %s --steps 0 measures it", ledger.ErrNoSettings, id)
	}
	if err := c.prepareTree(ctx, e); err != nil {
		return out, err
	}

	out, err = e.startOrResume(ctx, c.entryOptions(ctx, e))
	if err == nil && out.Stop.Reason.Suspends() {
		return out, e.tree.Keep()
	}
	return out, errors.Join(err, e.tree.Remove())
}

// isFinal reports whether a loop that ended for this reason cannot continue.
func isFinal(r event.Reason) bool {
	return !r.Suspends() && !slices.Contains([]event.Reason{event.PausedByUser, event.Interrupted, event.Broken}, r)
}

// repeatEnd reports the end of a candidate's loop again, and removes its tree.
func (c *competition) repeatEnd(e *entry) (loop.Outcome, error) {
	position := event.NewPosition()
	_, err := ledger.ReadLog(e.dir(), position.Apply)
	if err == nil {
		err = e.readResult()
	}
	if err != nil {
		return loop.Outcome{}, err
	}
	d := position.End
	if !position.Ended { // its process was killed after the end
		d = event.LoopEnd{Reason: e.stop.Reason, Text: e.stop.Text, ExitCode: e.stop.Reason.ExitCode(), Iterations: e.iterations}
	}
	d.Tree = nil // the tree may have changed since
	c.emit(event.Event{Type: event.LoopFinished, Time: position.LastEvent, LoopID: e.id, Iteration: position.Iteration, Candidate: e.number, Data: d})
	return loop.Outcome{LoopID: e.id, Dir: e.dir(), Stop: e.stop}, ledger.RemoveTree(c.treeDir(e.number))
}
