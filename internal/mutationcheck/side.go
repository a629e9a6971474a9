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

// side is a private copy of a tree, in which tests run over mutants.
type side struct {
	meter   *measure.Meter
	tree    treecopy.Tree
	tests   []metric.Test
	passing map[metric.ID]bool // over the code without a fault
	why     string             // none passes
	fullRun bool               // the command cannot run some tests alone
	took    time.Duration      // of the tests without a fault
	limit   time.Duration      // of the next run; 0: the limits of the checks

	mutant mutantSource // that is put in next
	result mutantResult
	stamp  time.Time // of the file that was written last
}

// mutantResult is how the tests ended over a mutant.
type mutantResult struct {
	unbuilt bool // it does not build
	aborted bool // the tests were stopped, or died
	killers map[metric.ID]bool
}

// isKilledBy reports whether the mutant dies by one of the tests.
func (e mutantResult) isKilledBy(tests []metric.Test) bool {
	return e.aborted || slices.ContainsFunc(tests, func(t metric.Test) bool { return e.killers[t.ID] })
}

// side returns the side in a copy. Python keeps no compiled files there: one of another
// mutant with the same size and time would be taken for this one's.
func (r *trialRun) side(t treecopy.Tree) *side {
	return &side{meter: t.Meter.Clone("PYTHONDONTWRITEBYTECODE=1"), tree: t, passing: map[metric.ID]bool{}}
}

// runControl runs the tests over the code as it is. One that does not pass proves nothing.
func (s *side) runControl(ctx context.Context) error {
	started := time.Now()
	clear(s.passing)
	ends, err := s.meter.RunInTree(ctx, measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Limit: s.limit, Adapt: s.directly})
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

// directly starts the tests without a package manager. Tests that need what it adds fail
// without a fault already, and are left out.
func (s *side) directly(c measure.Check) (measure.Check, bool) {
	return startDirectly(s.tree.ProjectDir(), s.meter.Getenv("PATH"), c), true
}

// keepPassing leaves the tests of the groups that pass without a fault.
func (s *side) keepPassing(groups []*group, testsOf func(*group) []metric.Test) {
	s.tests = nil
	for _, g := range groups {
		s.tests = append(s.tests, testsOf(g)...)
	}
	s.tests = slices.DeleteFunc(s.tests, func(t metric.Test) bool { return !s.passing[t.ID] })
}

// timeoutSlack is added to the time that tests may take over a mutant: a fault may make a loop
// endless, and a machine be busy.
const timeoutSlack = 2 * time.Second

// runMutant runs the tests over the next mutant, and takes it out again.
func (s *side) runMutant(ctx context.Context) error {
	f := s.mutant
	if err := s.writeFile(f.File, f.ApplyTo(f.src), f.exec); err != nil {
		return err
	}
	ends, err := s.meter.RunInTree(ctx, measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Full: s.fullRun, NoRetry: true, Limit: s.limit, Adapt: s.directly})
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

// writeFile writes a file of the copy. Each text has a time that is separate, in whole seconds:
// tools that build go by it.
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
