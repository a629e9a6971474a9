package detector

import (
	"supervise/detector/internal/trajectory"
)

// Stall is a run of iterations without progress.
type Stall = trajectory.Stall

// Cycle is a confirmed repetition of the metrics, or of the tree.
type Cycle = trajectory.Cycle

// Stuck is the same error in several iterations in a row.
type Stuck = trajectory.Stuck

// minVisits is how often a loop must reach the same tree for a cycle. The second time is a
// revert.
const minVisits = 3

// trajectoryPath returns the latest accepted iterations and the current one.
func (j *judge) trajectoryPath() trajectory.Path {
	p := trajectory.Path{
		Variation: j.in.Baseline.Set.Variation, StallWindow: j.opts.StallWindow, StallRange: j.opts.StallRange,
		CycleWindow: j.opts.CycleWindow, StuckCount: j.opts.StuckCount,
	}
	earlier := j.in.History[max(0, len(j.in.History)-p.Lookback()+1):]
	for _, o := range append(earlier[:len(earlier):len(earlier)], j.in.Current) {
		p.Points = append(p.Points, trajectory.Point{
			Set: o.Set, Plateau: o.Class == Plateau || o.Class == Stalled, Score: o.Score, Scored: o.Scored,
			Idle: o.AgentExit != 0 && !o.Changed && o.Iteration > 0,
		})
	}
	p.Points[len(p.Points)-1].Set = j.now
	return p
}

// findPatterns looks for cycles and stuck loops. An iteration that is rolled back is not
// part of a cycle.
func (j *judge) findPatterns(rolledBack bool) {
	p := j.trajectoryPath()
	j.stuck = p.FindStuck(j.in.Errors, j.in.KnownErrors)
	if rolledBack {
		return
	}
	history := j.in.History
	times, ago := trajectory.CountVisits(len(history)+1, func(i int) string {
		if i == len(history) {
			return j.in.Current.Tree
		}
		return history[i].Tree
	})
	if ago > 0 {
		j.returned = &history[len(history)-ago].Iteration
	}
	if j.cycle = p.FindCycle(); j.cycle == nil && times >= minVisits {
		j.cycle = &Cycle{Period: ago}
	}
	if j.cycle != nil {
		j.cycle.SameTree, j.cycle.Endless = times >= minVisits, j.in.Current.Iteration > j.opts.CycleMin
	}
}
