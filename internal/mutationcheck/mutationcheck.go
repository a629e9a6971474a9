// Package mutationcheck compares changed tests with their original versions: which faults does
// each detect? It puts small faults (mutants) into copies of the product code, one at a time,
// and runs the original and the current tests on each. A mutant that the original tests kill and
// the current tests do not is a survivor: the change weakened the tests.
//
// A [Trial] works in these steps. It groups the test files that changed (group.go). It finds the
// mutants of the code that they test (target.go). It makes two copies of the tree, one with the
// original tests and one with the current ones, and runs both without a fault first, since only
// tests that pass there can kill a mutant. Then it runs one mutant after another until
// there are enough or the time is over. If no original test passes on the new code, both sides
// run again, the original tests then on the old code.
package mutationcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/mutantrun"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// The limits that apply if the options set none.
const (
	DefaultMutants = 20
	DefaultBudget  = 5 * time.Minute
)

// Options limit a trial.
type Options struct {
	Off        bool          `json:"off,omitempty"`
	MaxMutants int           `json:"max_mutants,omitempty"` // 0: [DefaultMutants]
	Budget     time.Duration `json:"budget_ns,omitempty"`   // time for the complete trial; 0: [DefaultBudget]
}

// Limits returns the number of mutants and the time that the trial is limited to.
func (o Options) Limits() (mutants int, budget time.Duration) {
	return cmp.Or(max(0, o.MaxMutants), DefaultMutants), cmp.Or(max(0, o.Budget), DefaultBudget)
}

// Trial runs changed tests on mutants of the product code, in their original and in their current
// versions. Base is the tree before the change and Current the tree after it.
type Trial struct {
	treecopy.Workspace
	Options

	Base, Current snapshot.ID        // the trees with the original and with the current tests
	RestoredFiles []string           // changed files that belong to tests; the original tests use those of Base
	Evidence      ledger.Evidence    // of the change from Base to Current
	BaseTests     *metric.Tests      // results measured in Base
	CurrentTests  *metric.Tests      // results measured in Current
	Flaky         map[metric.ID]bool // tests whose results prove nothing
}

// RefusedRecord returns the record of a trial that does not run, with the reason.
func (t Trial) RefusedRecord(why string) *ledger.MutationCheck {
	return &ledger.MutationCheck{TestsSnapshot: t.Base, CodeSnapshot: t.Current, Results: []detector.MutationResult{}, NotRunReason: why}
}

// IsNeeded reports whether tests changed or were deleted. Added tests have no original version to
// be compared with.
func (t Trial) IsNeeded(ctx context.Context) bool {
	return !t.Off && t.BaseTests != nil && t.CurrentTests != nil && len(t.groups(ctx)) > 0
}

// Run runs the trial on its number of mutants, however long the tests take, up to its budget. When
// the time is over, it stops the running tests, and the record explains this. The error is that of
// ctx, or a fault of the machine.
func (t Trial) Run(ctx context.Context) (*ledger.MutationCheck, error) {
	r := &trialRun{Trial: t, out: t.RefusedRecord(""), began: time.Now(), groups: t.groups(ctx)}
	_, r.out.Budget = t.Limits()
	r.until = r.began.Add(r.out.Budget - r.out.Budget/reservedShare)
	err := r.runInTime(ctx)
	for _, g := range r.groups {
		if g.result.Why == "" && g.result.Mutants == 0 {
			g.result.OutOfTime = g.result.OutOfTime || r.timeLeft() <= 0
			g.result.Why = "no mutant of the code that they test builds, or all vary between runs"
			if g.result.OutOfTime {
				g.result.Why = fmt.Sprintf("there was no time for a mutant in %s: raise mutation_check.budget", r.out.Budget)
			}
		}
		g.result.TooFew = r.whyTooFew(g.result)
		r.out.Results = append(r.out.Results, g.result)
	}
	if r.out.Took = time.Since(r.began); err != nil {
		err = fmt.Errorf("run the tests over mutants: %w", err)
	}
	return r.out, err
}

// reservedShare is the divisor of the part of the budget, here 1/20, that is reserved for
// stopping the tests and removing the copies.
const reservedShare = 20

// whyTooFew returns why a result has fewer than [detector.MinMutants] mutants, and what changes
// that; "" if it has enough or none.
func (r *trialRun) whyTooFew(p detector.MutationResult) string {
	limit, budget := r.Limits()
	few := fmt.Sprintf("only %d of at least %d mutants", p.Mutants, detector.MinMutants)
	switch {
	case p.Why != "" || p.Mutants >= detector.MinMutants:
		return ""
	case p.OutOfTime:
		return fmt.Sprintf("%s ran in %s: raise mutation_check.budget", few, budget)
	case limit < detector.MinMutants:
		return few + " ran: raise mutation_check.max_mutants"
	}
	return few + " are possible in the code that they test, so a person has to decide"
}

// runInTime runs the groups on the new code, and those whose original tests do not fit it on the
// old code, until the time is over. That the time is over is no error.
func (r *trialRun) runInTime(ctx context.Context) error {
	inTime, cancel := context.WithDeadlineCause(ctx, r.until, errOutOfTime)
	defer cancel()
	err := r.runOn(inTime, r.Current)
	if err == nil && r.timeLeft() > 0 && slices.ContainsFunc(r.groups, (*group).isMisfit) {
		err = r.runOn(inTime, r.Base)
	}
	if ctx.Err() == nil && (errors.Is(err, errOutOfTime) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

// trialRun is the state of a running trial.
type trialRun struct {
	Trial
	out    *ledger.MutationCheck
	groups []*group
	began  time.Time
	until  time.Time
}

// timeLeft returns the remaining time. It is not positive if the time is over.
func (r *trialRun) timeLeft() time.Duration { return time.Until(r.until) }

// mutantPair is one fault in the code of both sides. The two are the same, unless the original
// tests run on the old code.
type mutantPair struct{ old, new mutantrun.Mutant }

// runOn runs the groups that have no result yet. code is the tree on whose code the original
// tests run: Current or Base. The current tests always run on Current.
func (r *trialRun) runOn(ctx context.Context, code snapshot.ID) error {
	open := slices.DeleteFunc(slices.Clone(r.groups), func(g *group) bool { return !g.isOpen() })
	pairs, err := r.mutantPairs(ctx, open, code)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		for _, g := range open {
			g.result.Why = "no code was found that they test"
			if code != r.Current {
				g.result.Why = "they do not fit the new code, which has too little in common with the old one"
			}
		}
		return nil
	}

	return r.WithCopy(ctx, r.Current, func(current treecopy.Tree) error {
		return r.ForOriginalTests().WithCopy(ctx, code, func(old treecopy.Tree) error {
			if code == r.Current {
				if err := old.Restore(ctx, r.Base, r.RestoredFiles...); err != nil {
					return err
				}
			}
			d := &comparison{trialRun: r, groups: open, onOldCode: code != r.Current, old: r.side(old), new: r.side(current)}
			return errors.Join(d.run(ctx, pairs), d.old.Close(), d.new.Close())
		})
	})
}

// side is a copy of the tree in which either the original or the current tests run on mutants.
type side struct {
	*mutantrun.Runner
	tests   []metric.Test // what the next run runs
	control mutantrun.Control
	mutant  mutantrun.Mutant // of the next run
	result  mutantrun.Result // of the last run
	next    []mutantrun.Mutant
	loaded  map[mutation.Mutant]bool
}

// side returns the side that runs in a copy.
func (r *trialRun) side(t treecopy.Tree) *side {
	return &side{Runner: mutantrun.New(t, mutantrun.Options{Until: r.until})}
}

// runControl runs the tests without a fault.
func (s *side) runControl(ctx context.Context) (err error) {
	s.control, err = s.Control(ctx, s.tests)
	s.loaded = nil
	return err
}

// runMutant runs the tests on the mutant. If it is not loaded, it is loaded with the next ones.
func (s *side) runMutant(ctx context.Context) (err error) {
	if !s.loaded[s.mutant.Mutant] {
		s.loaded = map[mutation.Mutant]bool{}
		for _, m := range s.next {
			s.loaded[m.Mutant] = true
		}
		if _, err := s.Load(ctx, s.next); err != nil {
			return err
		}
	}
	s.result, err = s.Run(ctx, s.mutant, s.tests)
	return err
}

// comparison runs the groups on both sides with the same faults. old has the original tests, new
// the current ones.
type comparison struct {
	*trialRun
	groups    []*group
	onOldCode bool // the original tests run on the old code
	old, new  *side
	next      []mutantPair // that will run next
}

// run runs the tests without a fault, and then on the mutants. If the changed tests of a group
// do not fit, it tries all tests of the group's files instead.
func (d *comparison) run(ctx context.Context, pairs []mutantPair) error {
	unfit := func(g *group) bool { return g.isNarrowed() && g.isMisfit() }
	groups := d.groups
	err := d.runControl(ctx)
	if err == nil && slices.ContainsFunc(groups, unfit) {
		for _, g := range groups {
			g.widen()
		}
		d.groups = groups
		err = d.runControl(ctx)
	}
	switch {
	case errors.Is(err, errOutOfTime):
		d.markStopped()
		return nil
	case err != nil || len(d.groups) == 0:
		return err
	}
	return d.runMutants(ctx, pairs)
}

// runControl runs the tests of the groups without a fault. It keeps only the groups that have
// passing tests on both sides; the others get the reason as their result.
func (d *comparison) runControl(ctx context.Context) error {
	d.setTests()
	if err := d.onBothSides((*side).runControl)(ctx); err != nil {
		return err
	}
	if d.timeLeft() <= 0 {
		return errOutOfTime
	}
	d.groups = slices.DeleteFunc(slices.Clone(d.groups), func(g *group) bool { return !g.keepPassing(d.old, d.new, d.onOldCode) })
	d.setTests()
	return nil
}

// setTests sets the tests of both sides to those of the groups.
func (d *comparison) setTests() {
	d.old.tests, d.new.tests = nil, nil
	for _, g := range d.groups {
		d.old.tests, d.new.tests = append(d.old.tests, g.oldTests...), append(d.new.tests, g.newTests...)
	}
}

// onBothSides returns a function that runs a step on both sides, in parallel if the machine has
// more than one core. Its error is that of the old side, if both fail.
func (d *comparison) onBothSides(step func(*side, context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if runtime.NumCPU() < 2 {
			if err := step(d.old, ctx); err != nil {
				return err
			}
			return step(d.new, ctx)
		}
		var first error
		var done sync.WaitGroup
		done.Go(func() { first = step(d.old, ctx) })
		second := step(d.new, ctx)
		done.Wait()
		if first != nil {
			return first
		}
		return second
	}
}

// runMutants runs the tests on one mutant after another until enough of them built, or until the
// time is over.
func (d *comparison) runMutants(ctx context.Context, pairs []mutantPair) error {
	limit, _ := d.Limits()
	for n := 0; len(pairs) > 0 && n < limit; pairs = pairs[1:] {
		d.next = pairs[:min(len(pairs), limit)]
		valid, err := d.runMutant(ctx, pairs[0])
		if errors.Is(err, errOutOfTime) {
			d.markStopped()
			return nil
		}
		if err != nil {
			return err
		}
		if valid {
			n++
		}
	}
	return nil
}

// markStopped records in the results of all groups that the time was over.
func (d *comparison) markStopped() {
	for _, g := range d.groups {
		g.result.OutOfTime = true
	}
}

// errOutOfTime means that the time is over. The results of the stopped run do not count.
var errOutOfTime = errors.New("the time for mutants is over")

// runMutant runs the tests on one mutant and adds the outcomes to the groups. It is false if the
// mutant does not count: it does not build, or two runs differ.
func (d *comparison) runMutant(ctx context.Context, p mutantPair) (bool, error) {
	first, err := d.outcomesOf(ctx, p)
	if err != nil || first == nil {
		return false, err
	}
	if slices.ContainsFunc(first, outcome.isSuspect) { // a second run must confirm it
		if slices.ContainsFunc(d.groups, (*group).isNarrowed) {
			return d.rerunWidened(ctx, p)
		}
		before := d.old.result
		again, err := d.outcomesOf(ctx, p)
		if err != nil || !slices.Equal(first, again) {
			if err == nil && again != nil {
				d.markFlaky(before, d.old.result)
			}
			return false, err
		}
	}
	before, now := false, false
	for i, f := range first {
		d.groups[i].addOutcome(p.new.Mutant, f)
		before, now = before || f.killedByOld, now || f.killedByNew
	}
	d.out.Mutants = append(d.out.Mutants, ledger.Mutant{Survivor: survivor(p.new.Mutant), KilledByOld: before, KilledByNew: now})
	return true, nil
}

// markFlaky records the original tests that had two outcomes on the same mutant. Of tests that were
// stopped nothing is known.
func (d *comparison) markFlaky(first, second mutantrun.Result) {
	if first.Aborted || second.Aborted {
		return
	}
	for _, g := range d.groups {
		for _, t := range g.oldTests {
			if first.Killers[t.ID] != second.Killers[t.ID] && !slices.Contains(g.result.Flaky, t.ID) {
				g.result.Flaky = append(g.result.Flaky, t.ID)
			}
		}
	}
}

// rerunWidened runs a survivor again with all tests of the files, since an unchanged test may kill
// it. The mutants after it run with all tests too.
func (d *comparison) rerunWidened(ctx context.Context, p mutantPair) (bool, error) {
	for _, g := range d.groups {
		g.widen()
	}
	if err := d.runControl(ctx); err != nil || len(d.groups) == 0 {
		return false, err
	}
	return d.runMutant(ctx, p)
}

// outcome says whether the original and the current tests of a group kill a mutant.
type outcome struct {
	killedByOld, killedByNew       bool
	killedByLost, notByReplacement bool // by changed or lost originals; not by changed or new tests
}

// survives reports whether only the original tests kill the mutant.
func (f outcome) survives() bool { return f.killedByOld && !f.killedByNew }

// isUnreplaced reports whether what replaces the lost tests does not kill a mutant that they kill.
func (f outcome) isUnreplaced() bool { return f.killedByLost && f.notByReplacement }

// isSuspect reports whether the outcome speaks against the change.
func (f outcome) isSuspect() bool { return f.survives() || f.isUnreplaced() }

// outcomesOf runs both sides on a mutant. It returns one outcome per group, in the order of
// d.groups, and nil if the mutant does not build.
func (d *comparison) outcomesOf(ctx context.Context, p mutantPair) ([]outcome, error) {
	d.old.mutant, d.new.mutant = p.old, p.new
	d.old.next, d.new.next = nil, nil
	for _, next := range d.next {
		d.old.next, d.new.next = append(d.old.next, next.old), append(d.new.next, next.new)
	}
	if err := d.onBothSides((*side).runMutant)(ctx); err != nil {
		return nil, err
	}

	d.out.Runs += 2
	if d.timeLeft() <= 0 {
		return nil, errOutOfTime
	}
	if d.old.result.Unbuilt || d.new.result.Unbuilt {
		d.out.Invalid++
		return nil, nil
	}

	var out []outcome
	for _, g := range d.groups {
		out = append(out, outcome{
			d.old.result.IsKilledBy(g.oldTests), d.new.result.IsKilledBy(g.newTests),
			d.old.result.IsKilledBy(g.lost), !d.new.result.IsKilledBy(g.replacing),
		})
	}

	return out, nil
}

// survivor returns what a report shows of a mutant.
func survivor(m mutation.Mutant) detector.Survivor {
	return detector.Survivor{File: m.File, Line: m.Line, Function: m.Function, Operator: string(m.Operator), Original: m.Original, Mutated: m.Mutated}
}
