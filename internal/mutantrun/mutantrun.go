// Package mutantrun runs chosen tests on mutants: code with one small fault each.
//
// A [Runner] works in a private copy of a tree. Its steps are:
//
//	r := mutantrun.New(tree, mutantrun.Options{Until: deadline})
//	defer r.Close()
//	control, err := r.Control(ctx, tests)   // without a fault: only tests that pass here can kill
//	unbuilt, err := r.Load(ctx, mutants)    // optional: prepares many mutants together
//	result, err := r.Run(ctx, mutant, control.Keep(tests))
//
// Without Load, and for mutants that Load could not prepare, Run writes the mutant into the copy,
// runs the tests, and restores the file.
package mutantrun

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"supervise/internal/measure"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// Mutant is a mutant with the file that it was made of.
type Mutant struct {
	mutation.Mutant
	Source     []byte // the text of the file without the fault
	Executable bool
}

// Options configure a runner.
type Options struct {
	Until       time.Time // every run is stopped then; zero: never
	FirstKiller bool      // a run may end at the first test that fails
}

// Result is how tests ended on a mutant. If Unbuilt is set, nothing is known.
type Result struct {
	Unbuilt bool               // the mutant does not build
	Aborted bool               // the tests were stopped or crashed, which counts as killed
	Killers map[metric.ID]bool // the tests that failed
	Ran     []metric.Test      // the tests that ran: those that may reach the mutant
}

// IsKilledBy reports whether one of the tests kills the mutant.
func (r Result) IsKilledBy(tests []metric.Test) bool {
	return r.Aborted || slices.ContainsFunc(tests, func(t metric.Test) bool { return r.Killers[t.ID] })
}

// Control is how tests end without a fault.
type Control struct {
	Passing map[metric.ID]bool // the tests that pass and are not flaky
	Why     string             // why a test does not pass, "" if all do
	Took    time.Duration
}

// Keep returns the tests that pass without a fault. The others prove nothing about a mutant.
func (c Control) Keep(tests []metric.Test) []metric.Test {
	return slices.DeleteFunc(slices.Clone(tests), func(t metric.Test) bool { return !c.Passing[t.ID] })
}

// Runner runs tests on mutants in a copy of a tree. It is not safe for concurrent use.
type Runner struct {
	Options
	tree    treecopy.Tree
	meter   *measure.Meter
	fullRun bool          // the command cannot run single tests
	took    time.Duration // how long the tests took without a fault
	stamp   time.Time     // modification time of the file that was written last
}

// New returns a runner in a copy. Python writes no compiled files there: it would use that of
// another mutant if the sources have the same size and time.
func New(t treecopy.Tree, o Options) *Runner {
	return &Runner{Options: o, tree: t, meter: t.Meter.Clone("PYTHONDONTWRITEBYTECODE=1")}
}

// Close releases what the runner holds. The copy stays.
func (r *Runner) Close() error { return nil }

// Control runs the tests without a fault. It may be called again, for other tests. The error is
// that of ctx, or a failure of the machine.
func (r *Runner) Control(ctx context.Context, tests []metric.Test) (Control, error) {
	started := time.Now()
	out := Control{Passing: map[metric.ID]bool{}}
	ends, err := r.meter.RunInTree(ctx, measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.meter), Tests: tests, Limit: r.limit(0), Adapt: r.directly})
	if err != nil {
		return out, err
	}

	out.Took = time.Since(started)
	r.took = out.Took
	ran := map[string]bool{}
	for _, run := range ends.Runs {
		r.fullRun = r.fullRun || ran[run.Check.Name] // it ran twice: first some tests, then all
		ran[run.Check.Name] = true
	}

	for id, e := range ends.ByTest {
		switch {
		case e.Test.Status == metric.Passed && !e.Test.Flaky:
			out.Passing[id] = true
		case e.Why != "":
			out.Why = e.Why
		default:
			out.Why = e.Test.Message
		}
	}

	return out, nil
}

// limit returns the time limit of a run: d, or 0 for none, but not longer than until [Options.Until].
func (r *Runner) limit(d time.Duration) time.Duration {
	switch left := time.Until(r.Until); {
	case r.Until.IsZero():
		return d
	case d == 0:
		return max(left, 1)
	default:
		return max(min(d, left), 1)
	}
}

// directly returns a check that starts the tests without a package manager. Tests that need what
// the package manager sets up fail in Control already, and do not count.
func (r *Runner) directly(c measure.Check) (measure.Check, bool) {
	return startDirectly(r.tree.ProjectDir(), r.meter.Getenv("PATH"), c), true
}

// Load prepares mutants for [Runner.Run], all at once if the language and the project's command
// allow it. It replaces the mutants that were loaded before. It returns those that do not build;
// Run does not need them to be left out.
func (r *Runner) Load(_ context.Context, _ []Mutant) (unbuilt []Mutant, err error) {
	return nil, nil
}

// A run on a mutant may take timeoutFactor times the time of the tests without a fault, and
// timeoutSlack more. The limit exists because a fault may make a loop endless.
const (
	timeoutFactor = 4
	timeoutSlack  = 2 * time.Second
)

// Run runs the tests on the mutant. If they are stopped at their time limit, it runs them
// without a fault again: if these take longer than before, the machine is busier, and the mutant
// runs again with more time. The error is that of ctx, or a failure of the machine; the caller
// ignores results after [Options.Until].
func (r *Runner) Run(ctx context.Context, m Mutant, tests []metric.Test) (Result, error) {
	for {
		limit := timeoutFactor*r.took + timeoutSlack
		result, err := r.runWithin(ctx, m, tests, limit)
		if err != nil || !result.Aborted {
			return result, err
		}
		started := time.Now()
		if _, err := r.meter.RunInTree(ctx, r.treeRun(ctx, tests, 0)); err != nil {
			return Result{}, err
		}
		r.took = max(r.took, time.Since(started))
		if timeoutFactor*r.took+timeoutSlack <= limit*5/4 || !r.Until.IsZero() && time.Until(r.Until) <= 0 {
			return result, nil
		}
	}
}

// treeRun is a run of the tests on one mutant, or for comparison without one.
func (r *Runner) treeRun(ctx context.Context, tests []metric.Test, limit time.Duration) measure.TreeRun {
	return measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.meter), Tests: tests, Full: r.fullRun, NoRetry: true, Limit: r.limit(limit), Adapt: r.directly}
}

// runWithin writes the mutant into the copy, runs the tests, and restores the file.
func (r *Runner) runWithin(ctx context.Context, m Mutant, tests []metric.Test, limit time.Duration) (Result, error) {
	if err := r.writeFile(m, m.ApplyTo(m.Source)); err != nil {
		return Result{}, err
	}
	ends, err := r.meter.RunInTree(ctx, r.treeRun(ctx, tests, limit))
	if err != nil {
		return Result{}, err
	}
	return resultOf(ends, tests), r.writeFile(m, m.Source)
}

// resultOf reads the result from the ends of the tests.
func resultOf(ends measure.TreeResults, ran []metric.Test) Result {
	out := Result{Killers: map[metric.ID]bool{}, Ran: ran}
	for id, e := range ends.ByTest {
		switch {
		case e.Unbuilt:
			out.Unbuilt = true
		case e.Aborted:
			out.Aborted = true
		case e.Test.Failed():
			out.Killers[id] = true
		}
	}
	return out
}

// writeFile writes the file of a mutant. Each write gets a modification time at least one second
// after the last, since build tools use it to detect changes.
func (r *Runner) writeFile(m Mutant, text []byte) error {
	if err := (treecopy.Files{{Path: m.File, Text: text, Executable: m.Executable}}).Write(r.tree.Path); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.tree.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	if now := time.Now(); r.stamp.Add(time.Second).Before(now) {
		r.stamp = now
	} else {
		r.stamp = r.stamp.Add(time.Second)
	}
	return root.Chtimes(filepath.FromSlash(m.File), r.stamp, r.stamp)
}
