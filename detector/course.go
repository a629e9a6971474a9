package detector

import (
	"supervise/detector/internal/trajectory"
)

// Stall is a run of iterations without progress.
type Stall = trajectory.Stall

// Cycle is a confirmed repetition of the metrics, or of the tree.
type Cycle = trajectory.Cycle

// Stuck is one error again and again.
type Stuck = trajectory.Stuck

// aCycle is how often a loop reaches one tree until that is a cycle. The second time is
// a revert.
const aCycle = 3

// path is the end of the way of the loop, up to the current iteration.
func (j *judge) path() trajectory.Path {
	p := trajectory.Path{
		Wobble: j.in.Baseline.Set.Variation, StallWindow: j.opts.StallWindow, StallRange: j.opts.StallRange,
		CycleWindow: j.opts.CycleWindow, StuckCount: j.opts.StuckCount,
	}
	earlier := j.in.History[max(0, len(j.in.History)-p.Need()+1):]
	for _, o := range append(earlier[:len(earlier):len(earlier)], j.in.Current) {
		p.Points = append(p.Points, trajectory.Point{
			Set: o.Set, Plateau: o.Class == Plateau || o.Class == Stalled, Score: o.Score, Scored: o.Scored,
			Idle: o.AgentExit != 0 && !o.Changed && o.Iteration > 0,
		})
	}
	p.Points[len(p.Points)-1].Set = j.now
	return p
}

// follow looks for what the trajectory of the loop adds up to. An iteration that is rolled back takes
// no part in cycles.
func (j *judge) follow(rolledBack bool) {
	p := j.path()
	j.stuck = p.Stuck(j.in.Errors, j.in.KnownErrors)
	if rolledBack {
		return
	}
	h := j.in.History
	times, ago := trajectory.Visits(len(h)+1, func(i int) string {
		if i == len(h) {
			return j.in.Current.Tree
		}
		return h[i].Tree
	})
	if ago > 0 {
		j.returned = &h[len(h)-ago].Iteration
	}
	if j.cycle = p.Cycle(); j.cycle == nil && times >= aCycle {
		j.cycle = &Cycle{Period: ago}
	}
	if j.cycle != nil {
		j.cycle.SameTree, j.cycle.Endless = times >= aCycle, j.in.Current.Iteration > j.opts.CycleMin
	}
}
