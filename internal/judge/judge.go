// Package judge turns what was measured of a tree into a verdict. Judging is a list of stages
// (stage.go), each a function in a file. A stage adds one fact to the verdict, such as
// which failures are flaky, and does not change the facts of earlier stages. The last stage,
// assess, applies the rules of package detector.
//
// [History] is what a tree is compared with. [History.Decide] derives the next step from a
// verdict. [Rejudge] judges recorded loops again, and [Judge.Verify] checks the selected tree. The
// loop, the merge gate, replay and record use the same stages; this package does not know them.
package judge

import (
	"context"
	"time"

	"supervise/detector"
	"supervise/internal/cleanroom"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/review"
	"supervise/internal/secrets"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// Subject is the kind of change that is judged.
type Subject int

// The subjects.
const (
	// Iteration is a run of an agent. Once it is certain that the iteration is undone, the
	// remaining stages run nothing.
	Iteration Subject = iota
	// Change is a merge request. Every stage runs, since people read all findings, unless the
	// build is broken.
	Change
)

// Judge judges trees of one project.
type Judge struct {
	Settings
	Subject Subject
	treecopy.Workspace
	Mask     secrets.Mask
	Now      func() time.Time
	Reviewer *review.Reviewer // nil: there is no second opinion

	Ending Ending // what ends a loop; zero: nothing

	OnProgress func(what string)            // may be nil; called before the stages that take long
	OnProblem  func(what string, err error) // may be nil; what the machine could not do, and the verdict does without
}

// Ending is what ends a loop, as far as the judge has to know.
type Ending struct {
	Criterion *cleanroom.Criterion                                  // a command; nil: none
	Met       func(context.Context, ledger.Iteration) (bool, error) // whether the working tree may meet the criterion; nil: none
	Since     time.Time                                             // when the loop began
}

// Tree is what is judged: an iteration without its verdict, and its change.
type Tree struct {
	ledger.Iteration                          // without the verdict
	StartTree           string                // content identity of the tree that the change started from
	Changes             []snapshot.Change     // from Start to Snapshot
	Lines               *evidence.LineCounter // of the change; nil: not counted
	EnvironmentFindings []detector.Tampering  // found outside the tree before the checks ran
}

// Measured is what the checks left of a tree.
type Measured struct {
	Set    metric.Set
	Checks []ledger.CheckRun
	Reused bool // the tree was measured and confirmed before

	CheckChanges []detector.CheckChange // made by the checks in the tree
}

// Verdict is an iteration with all that judging added. Later iterations are compared with its Set;
// rules and score use its JudgedSet. Steps are the stages that changed these.
type Verdict struct {
	ledger.Iteration
	Measured metric.Set // by the checks, with secrets masked
	Steps    []Step

	CleanMeasurement *cleanroom.Measurement // of the tree in a clean copy; nil if it was not measured there

	passing map[snapshot.ID]passingLines // what was found out about earlier trees
}

// Step is a stage that changed what counts as measured.
type Step struct {
	Stage string
	Set   metric.Set // after the stage
	Why   string
}

// withSet returns the verdict with another set, and with a step that says why.
func (v Verdict) withSet(stage string, set metric.Set, why string) Verdict {
	v.Set = set
	v.Steps = append(v.Steps[:len(v.Steps):len(v.Steps)], Step{stage, v.JudgedSet(), why})
	return v
}

// Skipped reports whether there was nothing to judge: the baseline, or an iteration
// that was interrupted.
func (v Verdict) Skipped() bool { return v.Number == 0 || v.Interrupted }

// Judge judges a tree by its measurements and its history. It changes neither; call
// [History.Learn] to add what the verdict found out about the tree.
func (j Judge) Judge(ctx context.Context, t Tree, m Measured, h *History) (Verdict, error) {
	v := Verdict{Iteration: t.Iteration, Measured: m.Set}
	v.Set, v.Checks, v.Reused, v.CheckChanges = m.Set, m.Checks, m.Reused, m.CheckChanges
	return j.apply(ctx, stages, Case{j, t, h}, v)
}

// JudgeRecorded judges an iteration only by its recorded measurements, which are settled, and its
// evidence. It runs nothing.
func (j Judge) JudgeRecorded(it ledger.Iteration, h *History) (Verdict, error) {
	return j.apply(context.Background(), stagesNamed("grade", "assess"), Case{j, Tree{Iteration: it}, h}, Verdict{Iteration: it, Measured: it.Set})
}

// apply applies stages in order, up to the first error, and records how long those took that ran
// something.
func (j Judge) apply(ctx context.Context, list []stage, c Case, v Verdict) (Verdict, error) {
	ran := false
	c.OnProgress = func(what string) {
		ran = true
		if j.OnProgress != nil {
			j.OnProgress(what)
		}
	}
	times := map[string]time.Duration{}
	for _, s := range list {
		started := time.Now()
		var err error
		if v, err = s.apply(ctx, c, v); err != nil {
			return v, err
		}
		if ran && s.asks != nil {
			times[s.name] = time.Since(started)
		}
		ran = false
	}
	if len(times) > 0 {
		v.RunTimes = times
	}
	return v, nil
}
