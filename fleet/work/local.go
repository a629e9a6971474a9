package work

import (
	"context"

	"supervise/fleet/flow"
	"supervise/fleet/taskfile"
)

// Local does on this machine, without a server, what a server would have workers do. Its
// results are in the repository, as with a server, so that the steps of a task may be jobs of
// a CI service on different machines.
type Local struct {
	*Worker
	OnProgress func(flow.Progress) // called with each step; must not be nil
}

// Prepare measures the baseline of a task; if that is done already, it returns what it was.
func (h Local) Prepare(ctx context.Context, at flow.Place, task taskfile.Task) (flow.Prepared, error) {
	return h.prepare(ctx, h.OnProgress, at, task)
}

// Candidate runs all iterations of a candidate.
func (h Local) Candidate(ctx context.Context, p flow.Prepared, candidate int) (it flow.Iteration, err error) {
	for n := 1; err == nil && !it.Over && it.Waiting == ""; n = it.Number + 1 {
		it, err = h.iterate(ctx, h.OnProgress, flow.IterateInput{Prepared: p, Candidate: candidate, Iteration: n})
	}
	return it, err
}

// Choose compares the candidates of a task, publishes the best tree, and removes intermediate
// states.
func (h Local) Choose(ctx context.Context, p flow.Prepared, candidates int) (flow.Choice, error) {
	ends, err := h.ends(ctx, p, candidates)
	if err != nil {
		return flow.Choice{}, err
	}
	c, err := h.choose(ctx, h.OnProgress, flow.ChooseInput{Prepared: p, Ends: ends})
	if err == nil && c.Candidate > 0 {
		err = h.publish(ctx, p.Place, c)
	}
	if err == nil {
		err = h.drop(ctx, p, candidates)
	}
	return c, err
}

// ends is how the candidates ended. One that is not there, or not over, counts as one that
// did not begin.
func (h Local) ends(ctx context.Context, p flow.Prepared, candidates int) (out []flow.Iteration, err error) {
	for n := range candidates {
		c := &candidate{Worker: h.Worker, IterateInput: flow.IterateInput{Prepared: p, Candidate: n + 1}, onProgress: h.OnProgress, place: h.place(p.Place, "end")}
		it, err := c.end(ctx)
		if err != nil {
			return nil, err
		}
		if !it.Over {
			it.Reason = flow.WorkerFailed
		}
		out = append(out, it)
	}
	return out, nil
}
