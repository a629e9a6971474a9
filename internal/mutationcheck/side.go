package mutationcheck

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// side is a private copy of a tree in which either the original or the current tests run on
// mutants.
type side struct {
	meter   *measure.Meter
	tree    treecopy.Tree
	tests   []metric.Test      // what the next run runs
	passing map[metric.ID]bool // tests that pass without a fault
	why     string             // why a test does not pass without a fault
	fullRun bool               // the command cannot run single tests
	took    time.Duration      // how long the tests took without a fault
	until   time.Time          // the end of the trial's time

	mutant mutantSource // the mutant of the next run
	result mutantResult // of the last run
	stamp  time.Time    // modification time of the file that was written last
}

// mutantResult is how the tests ended on a mutant.
type mutantResult struct {
	unbuilt bool               // the mutant does not build
	aborted bool               // the tests were stopped or crashed, which counts as killed
	killers map[metric.ID]bool // the tests that failed
}

// isKilledBy reports whether one of the tests kills the mutant.
func (e mutantResult) isKilledBy(tests []metric.Test) bool {
	return e.aborted || slices.ContainsFunc(tests, func(t metric.Test) bool { return e.killers[t.ID] })
}

// side returns the side that runs in a copy. Python writes no compiled files there: it would use
// that of another mutant if the sources have the same size and time.
func (r *trialRun) side(t treecopy.Tree) *side {
	return &side{meter: t.Meter.Clone("PYTHONDONTWRITEBYTECODE=1"), tree: t, passing: map[metric.ID]bool{}, until: r.until}
}

// runControl runs the tests without a fault and records which pass. A test that fails or is flaky
// here proves nothing about a mutant.
func (s *side) runControl(ctx context.Context) error {
	started := time.Now()
	clear(s.passing)
	ends, err := s.meter.RunInTree(ctx, measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Limit: max(time.Until(s.until), 1), Adapt: s.directly})
	if err != nil {
		return err
	}

	s.took = time.Since(started)
	ran := map[string]bool{}
	for _, r := range ends.Runs {
		s.fullRun = s.fullRun || ran[r.Check.Name] // it ran twice: first some tests, then all
		ran[r.Check.Name] = true
	}

	for id, e := range ends.ByTest {
		switch {
		case e.Test.Status == metric.Passed && !e.Test.Flaky:
			s.passing[id] = true
		case e.Why != "":
			s.why = e.Why
		default:
			s.why = e.Test.Message
		}
	}

	return nil
}

// directly returns a check that starts the tests without a package manager. Tests that need what
// the package manager sets up fail in runControl already, and do not count.
func (s *side) directly(c measure.Check) (measure.Check, bool) {
	return startDirectly(s.tree.ProjectDir(), s.meter.Getenv("PATH"), c), true
}

// keepPassing sets s.tests to the tests of the groups that pass without a fault. testsOf selects
// the original or the current tests of a group.
func (s *side) keepPassing(groups []*group, testsOf func(*group) []metric.Test) {
	s.tests = nil
	for _, g := range groups {
		s.tests = append(s.tests, testsOf(g)...)
	}
	s.tests = slices.DeleteFunc(s.tests, func(t metric.Test) bool { return !s.passing[t.ID] })
}

// A run on a mutant may take timeoutFactor times the time of the tests without a fault, and
// timeoutSlack more. The limit exists because a fault may make a loop endless.
const (
	timeoutFactor = 4
	timeoutSlack  = 2 * time.Second
)

// runMutant runs the tests on the mutant. If they are stopped at their time limit, it runs them
// without a fault again: if these take longer than before, the machine is busier, and the mutant
// runs again with more time.
func (s *side) runMutant(ctx context.Context) error {
	for {
		limit := timeoutFactor*s.took + timeoutSlack
		if err := s.runMutantWithin(ctx, limit); err != nil || !s.result.aborted {
			return err
		}
		started := time.Now()
		if _, err := s.meter.RunInTree(ctx, s.mutantRun(ctx, time.Until(s.until))); err != nil {
			return err
		}
		s.took = max(s.took, time.Since(started))
		if timeoutFactor*s.took+timeoutSlack <= limit*5/4 || time.Until(s.until) <= 0 {
			return nil
		}
	}
}

// mutantRun is a run of the tests on one mutant, or for comparison without one.
func (s *side) mutantRun(ctx context.Context, limit time.Duration) measure.TreeRun {
	return measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Full: s.fullRun, NoRetry: true, Limit: max(min(limit, time.Until(s.until)), 1), Adapt: s.directly}
}

// runMutantWithin writes the mutant into the copy, runs the tests, and restores the file.
func (s *side) runMutantWithin(ctx context.Context, limit time.Duration) error {
	f := s.mutant
	if err := s.writeFile(f.File, f.ApplyTo(f.src), f.exec); err != nil {
		return err
	}
	ends, err := s.meter.RunInTree(ctx, s.mutantRun(ctx, limit))
	if err != nil {
		return err
	}
	s.result = mutantResult{killers: map[metric.ID]bool{}}
	for id, e := range ends.ByTest {
		switch {
		case e.Unbuilt:
			s.result.unbuilt = true
		case e.Aborted:
			s.result.aborted = true
		case e.Test.Failed():
			s.result.killers[id] = true
		}
	}
	return s.writeFile(f.File, f.src, f.exec)
}

// writeFile writes a file of the copy. Each write gets a modification time at least one second
// after the last, since build tools use it to detect changes.
func (s *side) writeFile(name string, text []byte, exec bool) error {
	if err := (treecopy.Files{{Path: name, Text: text, Executable: exec}}).Write(s.tree.Path); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.tree.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	if now := time.Now(); s.stamp.Add(time.Second).Before(now) {
		s.stamp = now
	} else {
		s.stamp = s.stamp.Add(time.Second)
	}
	return root.Chtimes(filepath.FromSlash(name), s.stamp, s.stamp)
}
