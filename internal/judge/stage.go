package judge

import (
	"context"

	"supervise/internal/remeasure"
	"supervise/metric"
	"supervise/snapshot"
)

// Stage is one step of judging. Apply returns the verdict with what it adds; it changes
// nothing that c or v refers to.
type Stage interface {
	About() About
	Apply(ctx context.Context, c Case, v Verdict) (Verdict, error)
}

// About describes a stage: what it reads, and what it adds to the verdict.
type About struct{ Name, Reads, Adds string }

// Case is what the stages of one verdict read.
type Case struct {
	Judge
	Tree    Tree
	History *History
}

// stages are all stages in the order in which they are applied. Those that correct measurements
// come first, then those that run tests again, then the rules.
var stages = []Stage{Mask{}, Confirm{}, Count{}, Compare{}, Unsilence{}, Unexclude{}, Grade{}, Goals{}, MutationCheck{}, Conceal{}, Hidden{}, Review{}, Assess{}}

// recordedStages are the stages for a recorded iteration, whose measurements are settled.
var recordedStages = []Stage{Grade{}, Assess{}}

// progress reports that a step starts that takes long.
func (c Case) progress(what string) {
	if c.OnProgress != nil {
		c.OnProgress(what)
	}
}

// problem reports what the machine could not do, and the verdict does without.
func (c Case) problem(what string, err error) {
	if c.OnProblem != nil {
		c.OnProblem(what, err)
	}
}

// isUndone reports whether the facts so far already undo the iteration.
func (c Case) isUndone(v Verdict) bool {
	return c.Subject == Iteration && c.assess(v).HasCritical()
}

// isUnbuiltChange reports whether a merge request does not build, so that nothing more is run.
func (c Case) isUnbuiltChange(v Verdict) bool { return c.Subject == Change && isBuildBroken(v.Set) }

func isBuildBroken(s metric.Set) bool { return s.Build != nil && s.Build.Status == metric.BuildFailure }

// remeasurement returns the remeasurement of the change since a snapshot.
func (c Case) remeasurement(v Verdict, since snapshot.ID, changes []snapshot.Change) remeasure.Remeasurement {
	return remeasure.Remeasurement{
		Workspace: c.Workspace, Base: since, Current: v.Snapshot, Changes: changes, Rules: c.Integrity, Variation: c.History.variation(metric.CoveragePct),
		Measured: v.Set.Coverage, Before: c.History.Previous.Set.Coverage,
	}
}
