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

// ErrEnded is returned for a candidate that had not ended when its loop of candidates did.
var ErrEnded = errors.New("the loop of candidates is over")

// RunStep begins or resumes the loop of one candidate, which does as many iterations as the
// options say. The tree of the candidate stays for the next step as long as its loop is not
// over; where it is over already, its end is told again.
//
// Nothing but the folder of the candidate and its tree is written to, and elsewhere the
// place of the user's tree beside its snapshots: steps of several candidates can run at the
// same time, also on several machines. The errors are those of
// [loop.Resume]; in addition the error may wrap [ErrOver].
func RunStep(ctx context.Context, id string, n int, o Options) (out loop.Outcome, err error) {
	c := newContest(o)
	defer c.close()
	at := event.NewPosition()
	dir := ledger.LoopDir(o.Loop.Home, id)
	if c.state, err = ledger.ReadState(dir); err == nil {
		_, err = ledger.ReadLog(dir, at.Apply)
	}
	if o.Loop.Root != "" {
		c.state.Workspace = o.Loop.Root
	}
	if err == nil {
		err = c.reload(dir, at.Settings)
	}
	if err != nil {
		return out, err
	}
	if n < 1 || n > c.Number {
		return out, fmt.Errorf("%w: %s has the candidates 1 to %d, not %d", ledger.ErrNoLoop, id, c.Number, n)
	}
	e := c.entryOf(n)
	if e.stop = e.over(); e.stop.Reason != "" {
		return c.again(e)
	}
	if at.Ended && final(at.End.Reason) {
		return out, fmt.Errorf("%w (%s), and candidate %d goes on no more", ErrEnded, at.End.Text, n)
	}
	if _, known := c.entryOf(0).measured(); !known {
		return out, fmt.Errorf("%w: the baseline is not measured yet: supervise resume %s --steps 0 does it", ledger.ErrNoSettings, id)
	}
	if err := c.plant(ctx, e); err != nil {
		return out, err
	}
	out, err = e.goOn(ctx, c.optionsOf(ctx, e))
	if err == nil && out.Stop.Reason.Suspends() {
		return out, e.tree.Keep()
	}
	return out, errors.Join(err, e.tree.Remove())
}

// final reports whether a loop that ended for a reason goes on no more.
func final(r event.Reason) bool {
	return !r.Suspends() && !slices.Contains([]event.Reason{event.PausedByUser, event.Interrupted, event.Broken}, r)
}

// again tells the end of a candidate's loop once more.
func (c *contest) again(e *entry) (loop.Outcome, error) {
	at := event.NewPosition()
	_, err := ledger.ReadLog(e.dir(), at.Apply)
	if err == nil {
		err = e.read()
	}
	if err != nil {
		return loop.Outcome{}, err
	}
	d := at.End
	if !at.Ended { // it was killed behind its end
		d = event.LoopEnd{Reason: e.stop.Reason, Text: e.stop.Text, ExitCode: e.stop.Reason.ExitCode(), Iterations: e.count}
	}
	d.Tree = nil // which was then
	c.hear(event.Event{Type: event.LoopFinished, Time: at.LastEvent, LoopID: e.id, Iteration: at.Iteration, Candidate: e.number, Data: d})
	return loop.Outcome{LoopID: e.id, Dir: e.dir(), Stop: e.stop}, ledger.RemoveTree(c.place(e.number))
}
