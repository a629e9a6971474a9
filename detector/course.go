package detector

import (
	"supervise/detector/internal/course"
)

// Stall is a run of iterations without progress.
type Stall = course.Stall

// Cycle is a confirmed repetition of the metrics, or of the tree.
type Cycle = course.Cycle

// Stuck is one error again and again.
type Stuck = course.Stuck

// aCycle is how often a loop comes to one tree until that is a cycle. The second time is
// a revert.
const aCycle = 3

// path is the end of the way of the loop, up to the current iteration.
func (j *judge) path() course.Path {
	p := course.Path{
		Wobble: j.in.Baseline.Set.Varies, StallWindow: j.opts.StallWindow, StallRange: j.opts.StallRange,
		CycleWindow: j.opts.CycleWindow, StuckCount: j.opts.StuckCount,
	}
	earlier := j.in.History[max(0, len(j.in.History)-p.Need()+1):]
	for _, o := range append(earlier[:len(earlier):len(earlier)], j.in.Current) {
		p.Points = append(p.Points, course.Point{
			Set: o.Set, Plateau: o.Class == Plateau || o.Class == Stalled, Score: o.Score, Scored: o.Scored,
			Idle: o.AgentExit != 0 && !o.Changed && o.Iteration > 0,
		})
	}
	p.Points[len(p.Points)-1].Set = j.now
	return p
}

// follow looks for what the way of the loop adds up to. An iteration that is undone takes
// no part in cycles.
func (j *judge) follow(undone bool) {
	p := j.path()
	j.stuck = p.Stuck(j.in.Errors, j.in.KnownErrors)
	if undone {
		return
	}
	h := j.in.History
	times, ago := course.Visits(len(h)+1, func(i int) string {
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
