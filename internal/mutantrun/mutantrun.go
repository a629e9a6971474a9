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
	OneAtATime  bool      // Load prepares nothing
}

// Result is how tests ended on a mutant. If Unbuilt is set, nothing is known.
type Result struct {
	Unbuilt bool                 // the mutant does not build
	Aborted bool                 // the tests were stopped or crashed, which counts as killed
	Killers map[metric.ID]bool   // the tests that failed
	Said    map[metric.ID]string // the messages of their failures
	Ran     []metric.Test        // the tests that ran: those that may reach the mutant

	Equivalent bool // it compiles to the same code, so that no test ran; false where that is unknown
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
	tree      treecopy.Tree
	meter     *measure.Meter
	fullRun   bool          // the command cannot run single tests
	took      time.Duration // how long the tests took without a fault
	durations map[metric.ID]time.Duration
	passing   []metric.Test // in the last Control
	stamp     time.Time     // modification time of the file that was written last

	checks  map[string]measure.Check // that ran tests in the last Control, by folder and name
	engine  engine                   // of the loaded mutants; nil: each mutant runs alone
	numbers map[mutation.Mutant]int
}

// engine runs tests on mutants that are prepared together, by numbers from 1.
type engine interface {
	// runMutant returns the result of a mutant. It is false if the mutant has to run alone.
	runMutant(ctx context.Context, number int, tests []metric.Test) (Result, bool, error)
	isUnbuilt(number int) bool
	isTogether(number int) bool
	restore() error // the copy without mutants
}

// New returns a runner in a copy. Python writes no compiled files there: it would use that of
// another mutant if the sources have the same size and time.
func New(t treecopy.Tree, o Options) *Runner {
	return &Runner{Options: o, tree: t, numbers: map[mutation.Mutant]int{}, meter: t.Meter.Clone("PYTHONDONTWRITEBYTECODE=1")}
}

// Close releases what the runner holds, and restores the copy.
func (r *Runner) Close() error { return r.unload() }

// Control runs the tests without a fault. It may be called again, for other tests. The error is
// that of ctx, or a failure of the machine.
func (r *Runner) Control(ctx context.Context, tests []metric.Test) (Control, error) {
	if err := r.unload(); err != nil {
		return Control{}, err
	}
	r.checks = map[string]measure.Check{}
	adapt := func(c measure.Check) (measure.Check, bool) {
		r.checks[c.Dir+": "+c.Name] = c // the last one is that of the plan
		return r.directly(c)
	}
	started := time.Now()
	out := Control{Passing: map[metric.ID]bool{}}
	ends, err := r.meter.RunInTree(ctx, measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.meter), Tests: tests, Limit: r.limit(0), Adapt: adapt})
	if err != nil {
		return out, err
	}

	out.Took = time.Since(started)
	r.took, r.durations = out.Took, map[metric.ID]time.Duration{}
	ran := map[string]bool{}
	for _, run := range ends.Runs {
		r.fullRun = r.fullRun || ran[run.Check.Name] // it ran twice: first some tests, then all
		ran[run.Check.Name] = true
	}

	for id, e := range ends.ByTest {
		switch {
		case e.Test.Status == metric.Passed && !e.Test.Flaky:
			out.Passing[id], r.durations[id] = true, e.Test.Duration
		case e.Why != "":
			out.Why = e.Why
		default:
			out.Why = e.Test.Message
		}
	}

	r.passing = out.Keep(tests)
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

// Load prepares mutants for [Runner.Run] with the tests that passed in the last Control, all at once
// if the language and the project's command allow it. It replaces the mutants that were loaded
// before, which [Runner.Control] drops. It returns those that do not build, for which Run
// returns the same without a run.
func (r *Runner) Load(ctx context.Context, mutants []Mutant) (unbuilt []Mutant, err error) {
	if err := r.unload(); err != nil || r.OneAtATime || len(mutants) < minTogether {
		return nil, err
	}
	for _, load := range []func(context.Context, []Mutant) error{r.loadGo, r.loadPytest} {
		if err := load(ctx, mutants); err != nil {
			return nil, err
		}
	}
	if r.engine == nil {
		return nil, nil
	}
	for i, m := range mutants {
		r.numbers[m.Mutant] = i + 1
		if r.engine.isUnbuilt(i + 1) {
			unbuilt = append(unbuilt, m)
		}
	}
	return unbuilt, nil
}

// minTogether is the number of mutants below which preparing them takes longer than it saves.
const minTogether = 3

// unload restores the copy and forgets the loaded mutants.
func (r *Runner) unload() error {
	if r.engine == nil {
		return nil
	}
	err := r.engine.restore()
	r.engine, r.numbers = nil, map[mutation.Mutant]int{}
	return err
}

// A run on a mutant may take timeoutFactor times the time of the tests without a fault, and
// timeoutSlack more. The limit exists because a fault may make a loop endless.
const (
	timeoutFactor = 4
	timeoutSlack  = 2 * time.Second
)

// Run runs the tests on the mutant: of a loaded one those that may reach it. The tests must have
// passed in the last [Runner.Control]. The error is that of ctx, or a failure of the machine; the
// caller ignores results after [Options.Until].
func (r *Runner) Run(ctx context.Context, m Mutant, tests []metric.Test) (Result, error) {
	if number := r.numbers[m.Mutant]; number > 0 {
		if result, ok, err := r.engine.runMutant(ctx, number, tests); ok || err != nil {
			return result, err
		}
		if err := r.engine.restore(); err != nil {
			return Result{}, err
		}
	}
	result, err := r.runTimed(&r.took, timeoutSlack, func(mutated bool, limit time.Duration) (measure.TreeResults, error) {
		if !mutated {
			return r.meter.RunInTree(ctx, r.treeRun(ctx, tests, limit))
		}
		return r.runWithin(ctx, m, tests, limit)
	})
	result.Ran = tests
	return result, err
}

// runTimed runs tests on a mutant. If they are stopped at their time limit, it runs them
// without a fault again: if these take longer than before, the machine is busier, and the mutant
// runs again with more time. took is the time without a fault.
func (r *Runner) runTimed(took *time.Duration, slack time.Duration, run func(mutated bool, limit time.Duration) (measure.TreeResults, error)) (Result, error) {
	for {
		limit := timeoutFactor**took + slack
		ends, err := run(true, limit)
		result := resultOf(ends)
		if err != nil || !result.Aborted {
			return result, err
		}
		started := time.Now()
		if _, err := run(false, 0); err != nil {
			return Result{}, err
		}
		*took = max(*took, time.Since(started))
		if timeoutFactor**took+slack <= limit*5/4 || !r.Until.IsZero() && time.Until(r.Until) <= 0 {
			return result, nil
		}
	}
}

// treeRun is a run of the tests on one mutant, or for comparison without one.
func (r *Runner) treeRun(ctx context.Context, tests []metric.Test, limit time.Duration) measure.TreeRun {
	return measure.TreeRun{Plan: r.tree.CheckPlan(ctx, r.meter), Tests: tests, Full: r.fullRun, NoRetry: true, Limit: r.limit(limit), Adapt: r.directly}
}

// onlyCheck returns the check that runs the tests. It is false if there are several.
func (r *Runner) onlyCheck() (measure.Check, bool) {
	for _, c := range r.checks {
		return c, len(r.checks) == 1
	}
	return measure.Check{}, false
}

// reachLimit limits the time of running each test alone, which shows what it reaches: it must cost less
// than it saves. Tests that do not run by then may reach everything.
func (r *Runner) reachLimit(mutants int) time.Duration {
	return min(3, time.Duration(mutants)/2)*r.took + 5*time.Second
}

// scratch returns the folder of an engine, next to the copy.
func (r *Runner) scratch() string { return filepath.Join(filepath.Dir(r.tree.Path), "mutants") }

// writeScratch writes files into the folder of an engine, for the user of the checks.
func (r *Runner) writeScratch(files map[string][]byte) error {
	if err := os.MkdirAll(r.scratch(), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(r.scratch(), name), text, 0o600); err != nil {
			return err
		}
	}
	if r.tree.User == nil {
		return nil
	}
	return r.tree.User.Chown(r.scratch())
}

// runWithin writes the mutant into the copy, runs the tests, and restores the file.
func (r *Runner) runWithin(ctx context.Context, m Mutant, tests []metric.Test, limit time.Duration) (measure.TreeResults, error) {
	if err := r.writeFile(m, m.ApplyTo(m.Source)); err != nil {
		return measure.TreeResults{}, err
	}
	ends, err := r.meter.RunInTree(ctx, r.treeRun(ctx, tests, limit))
	if err != nil {
		return ends, err
	}
	return ends, r.writeFile(m, m.Source)
}

// resultOf reads the result from the ends of the tests.
func resultOf(ends measure.TreeResults) Result {
	out := Result{Killers: map[metric.ID]bool{}, Said: map[metric.ID]string{}}
	for id, e := range ends.ByTest {
		switch {
		case e.Unbuilt:
			out.Unbuilt = true
		case e.Aborted:
			out.Aborted = true
		case e.Test.Failed():
			out.Killers[id], out.Said[id] = true, e.Test.Message
		}
	}
	out.Unbuilt = out.Unbuilt && len(out.Killers) == 0 // a crash leaves tests without a result
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
