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
	meter *measure.Meter
	tree  treecopy.Tree
	tests []metric.Test
	pass  map[metric.ID]bool // over the code without a fault
	why   string             // none passes
	whole bool               // the command cannot run some tests alone
	took  time.Duration      // of the tests without a fault
	limit time.Duration      // of the next run; 0: the limits of the checks

	fault change // that is put in next
	ended ended
	stamp time.Time // of the file that was written last
}

// ended is how the tests ended over a mutant.
type ended struct {
	invalid bool // it does not build
	broke   bool // the tests were stopped, or died
	killers map[metric.ID]bool
}

// by reports whether the mutant dies by one of the tests.
func (e ended) by(tests []metric.Test) bool {
	return e.broke || slices.ContainsFunc(tests, func(t metric.Test) bool { return e.killers[t.ID] })
}

// side returns the side in a copy. Python keeps no compiled files there: one of another
// mutant with the same size and time would be taken for this one's.
func (r *trialRun) side(t treecopy.Tree) *side {
	return &side{meter: t.Meter.Clone("PYTHONDONTWRITEBYTECODE=1"), tree: t, pass: map[metric.ID]bool{}}
}

// control runs the tests over the code as it is. One that does not pass proves nothing.
func (s *side) control(ctx context.Context) error {
	began := time.Now()
	clear(s.pass)
	ends, err := s.meter.RunInTree(ctx, measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Limit: s.limit, Adapt: s.directly})
	if err != nil {
		return err
	}
	s.took = time.Since(began)
	ran := map[string]bool{}
	for _, r := range ends.Runs {
		s.whole = s.whole || ran[r.Check.Name] // it ran twice: first some tests, then all
		ran[r.Check.Name] = true
	}
	for id, e := range ends.ByTest {
		switch {
		case e.Test.Status == metric.Passed && !e.Test.Flaky:
			s.pass[id] = true
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
	return directly(s.tree.ProjectDir(), s.meter.Getenv("PATH"), c), true
}

// keep leaves the tests of the groups that pass without a fault.
func (s *side) keep(groups []*group, of func(*group) []metric.Test) {
	s.tests = nil
	for _, g := range groups {
		s.tests = append(s.tests, of(g)...)
	}
	s.tests = slices.DeleteFunc(s.tests, func(t metric.Test) bool { return !s.pass[t.ID] })
}

// slack is added to the time that tests may take over a mutant: a fault may make a loop
// endless, and a machine be busy.
const slack = 2 * time.Second

// overFault runs the tests over the next mutant, and takes it out again.
func (s *side) overFault(ctx context.Context) error {
	f := s.fault
	if err := s.write(f.File, f.ApplyTo(f.src), f.exec); err != nil {
		return err
	}
	ends, err := s.meter.RunInTree(ctx, measure.TreeRun{Plan: s.tree.CheckPlan(ctx, s.meter), Tests: s.tests, Full: s.whole, NoRetry: true, Limit: s.limit, Adapt: s.directly})
	if err != nil {
		return err
	}
	s.ended = ended{killers: map[metric.ID]bool{}}
	for id, e := range ends.ByTest {
		switch {
		case e.Unbuilt:
			s.ended.invalid = true
		case e.Aborted:
			s.ended.broke = true
		case e.Test.Failed():
			s.ended.killers[id] = true
		}
	}
	return s.write(f.File, f.src, f.exec)
}

// write writes a file of the copy. Each text has a time of its own, in whole seconds:
// tools that build go by it.
func (s *side) write(name string, text []byte, exec bool) error {
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
