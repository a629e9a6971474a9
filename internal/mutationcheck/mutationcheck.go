// Package mutationcheck compares what changed tests notice with what they noticed before: small
// faults are put into the product code, and the tests run over them as they were and as
// they are.
package mutationcheck

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/mutation"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// The limits where the options have none.
const (
	DefaultMutants = 30
	DefaultBudget  = 20 * time.Second // or twice [Cost].Once, where that is more
)

// Options limit a trial.
type Options struct {
	Off        bool          `json:"off,omitempty"`
	MaxMutants int           `json:"max_mutants,omitempty"` // 0: [DefaultMutants]
	Budget     time.Duration `json:"budget_ns,omitempty"`   // of the trial as a whole, with [Cost].Beyond; 0: [DefaultBudget]
}

// Cost is what the iteration has shown of the time that a trial takes; 0: not known.
type Cost struct {
	SuiteRun time.Duration // one run of the tests
	Overhead time.Duration // what running them as they were took beyond that: it is part of the budget
	Copy     time.Duration // a copy of the tree
	FirstRun time.Duration // the first run of the tests in a copy, where they may have to be built
}

// Trial runs changed tests over mutants of the product code, as they were and as they
// are.
type Trial struct {
	treecopy.Workspace
	Options

	Base, Current snapshot.ID        // the trees with the tests as they were, and as they are
	RestoredFiles []string           // changed files that belong to tests: as in Was for the tests as they were
	Evidence      ledger.Evidence    // of the change from Was to Is
	BaseTests     *metric.Tests      // as they were measured in Was
	CurrentTests  *metric.Tests      // as they were measured in Is
	Coverage      *metric.Coverage   // of Is; nil: not known
	Flaky         map[metric.ID]bool // whose results prove nothing
	Cost          Cost
}

// allowedTime is what the trial may take, not positive where nothing is left.
func (t Trial) allowedTime() time.Duration {
	budget := t.Budget
	if budget <= 0 {
		budget = max(DefaultBudget, 2*t.Cost.SuiteRun)
	}
	return budget - t.Cost.Overhead
}

// RefusedRecord is the record of a trial that is not run.
func (t Trial) RefusedRecord(why string) *ledger.MutationCheck {
	return &ledger.MutationCheck{TestsSnapshot: t.Base, CodeSnapshot: t.Current, Results: []detector.MutationResult{}, NotRunReason: why}
}

// IsNeeded reports whether tests were changed, or are gone: those that were only added
// have nothing to be compared with.
func (t Trial) IsNeeded(ctx context.Context) bool {
	return !t.Off && t.BaseTests != nil && t.CurrentTests != nil && len(t.groups(ctx)) > 0
}

// Run runs the trial. The error is that of ctx, or a fault of the machine. What it may
// take is known before: when that time is over, what still runs is ended, and where it
// cannot suffice for a mutant, nothing is run.
func (t Trial) Run(ctx context.Context) (*ledger.MutationCheck, error) {
	r := &trialRun{Trial: t, out: t.RefusedRecord(""), began: time.Now(), groups: t.groups(ctx)}
	r.out.Budget = t.allowedTime()
	r.until = r.began.Add(r.out.Budget - r.out.Budget/reservedShare)
	none := fmt.Sprintf("there was no time for a mutant in %s", roundDuration(r.out.Budget))
	var err error
	if minTime := 2*t.Cost.Copy + t.Cost.FirstRun; r.timeLeft() > minTime {
		err = r.runInTime(ctx)
	} else {
		none = fmt.Sprintf("there is no time for a mutant: copies and a run without a fault take %s or more, and %s are left", roundDuration(minTime), roundDuration(r.out.Budget))
	}
	for _, g := range r.groups {
		if g.result.Why == "" && g.result.Mutants == 0 {
			g.result.Why, g.result.OutOfTime = none, g.result.OutOfTime || r.timeLeft() <= 0 || r.out.Runs == 0
		}
		r.out.Results = append(r.out.Results, g.result)
	}
	if r.out.Took = time.Since(r.began); err != nil {
		err = fmt.Errorf("run the tests over mutants: %w", err)
	}
	return r.out, err
}

// reservedShare is the part of the time that is left for ending what runs and removing the
// copies: one in that many.
const reservedShare = 20

func roundDuration(d time.Duration) time.Duration { return max(0, d).Round(100 * time.Millisecond) }

// runInTime runs the groups until the time is over.
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

// trialRun is a trial under way.
type trialRun struct {
	Trial
	out     *ledger.MutationCheck
	groups  []*group
	began   time.Time
	until   time.Time
	lastRun time.Duration // of the last runs with a fault
}

// timeLeft is the time that is left, not positive where it is over.
func (r *trialRun) timeLeft() time.Duration { return time.Until(r.until) }

// mutantPair is one fault in the code of both sides, which are the same but where the tests as
// they were do not fit the new code.
type mutantPair struct{ old, new mutantSource }

// mutantSource is a mutant with the text that it was made of.
type mutantSource struct {
	mutation.Mutant
	src  []byte
	exec bool
}

// runOn runs the groups that have no result yet, with the tests as they were over the
// code of a tree.
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
			return d.run(ctx, pairs)
		})
	})
}

// comparison runs both sides over the same faults.
type comparison struct {
	*trialRun
	groups    []*group
	onOldCode bool
	old, new  *side
}

func (d *comparison) run(ctx context.Context, pairs []mutantPair) error {
	if d.timeLeft() <= d.Cost.FirstRun {
		d.markStopped()
		return nil
	}
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

// runControl runs the tests of the groups without a fault, and leaves the groups with tests
// that pass on both sides.
func (d *comparison) runControl(ctx context.Context) error {
	d.old.tests, d.new.tests = nil, nil
	for _, g := range d.groups {
		d.old.tests, d.new.tests = append(d.old.tests, g.oldTests...), append(d.new.tests, g.newTests...)
	}
	d.old.limit, d.new.limit = d.timeLeft(), d.timeLeft()
	if err := d.onBothSides((*side).runControl)(ctx); err != nil {
		return err
	}
	if d.timeLeft() <= 0 || d.Cost.FirstRun > 0 && d.timeLeft() <= d.Cost.SuiteRun {
		return errOutOfTime
	}
	d.groups = slices.DeleteFunc(slices.Clone(d.groups), func(g *group) bool { return !g.keepPassing(d.old, d.new, d.onOldCode) })
	d.old.keepPassing(d.groups, func(g *group) []metric.Test { return g.oldTests })
	d.new.keepPassing(d.groups, func(g *group) []metric.Test { return g.newTests })
	return nil
}

// onBothSides returns what does a step on both sides, at the same time where the machine has
// the cores for it.
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

// runMutants runs the tests over one mutant after the other, until there are enough or the
// time is over.
func (d *comparison) runMutants(ctx context.Context, pairs []mutantPair) error {
	limit := d.MaxMutants
	if limit <= 0 {
		limit = DefaultMutants
	}
	for i, n := 0, 0; i < len(pairs) && n < limit; i++ {
		valid, err := d.runMutant(ctx, pairs[i])
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

// markStopped notes that the time is over.
func (d *comparison) markStopped() {
	for _, g := range d.groups {
		g.result.OutOfTime = true
	}
}

// errOutOfTime says that the time is over: what was running counts for nothing.
var errOutOfTime = errors.New("the time for mutants is over")

// runMutant runs the tests over one mutant, and reports whether it builds.
func (d *comparison) runMutant(ctx context.Context, p mutantPair) (bool, error) {
	first, err := d.outcomesOf(ctx, p)
	if err != nil || first == nil {
		return false, err
	}
	if slices.ContainsFunc(first, outcome.survives) { // one run does not prove that
		if slices.ContainsFunc(d.groups, (*group).isNarrowed) {
			return d.rerunWidened(ctx, p)
		}
		again, err := d.outcomesOf(ctx, p)
		if err != nil || !slices.Equal(first, again) {
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

// rerunWidened runs a mutant that survives over all tests of the files, and so those that follow:
// an unchanged test may notice it.
func (d *comparison) rerunWidened(ctx context.Context, p mutantPair) (bool, error) {
	for _, g := range d.groups {
		g.widen()
	}
	if err := d.runControl(ctx); err != nil || len(d.groups) == 0 {
		return false, err
	}
	return d.runMutant(ctx, p)
}

// outcome says whether a mutant dies by the tests of a group.
type outcome struct{ killedByOld, killedByNew bool }

func (f outcome) survives() bool { return f.killedByOld && !f.killedByNew }

// outcomesOf runs both sides over a mutant. It returns what each group makes of it, nil where
// the mutant does not build.
func (d *comparison) outcomesOf(ctx context.Context, p mutantPair) ([]outcome, error) {
	timeLeft := d.timeLeft()
	if timeLeft <= d.lastRun { // it would be cut off
		return nil, errOutOfTime
	}

	started := time.Now()
	defer func() { d.lastRun = time.Since(started) }()
	d.old.mutant, d.new.mutant = p.old, p.new
	d.old.limit, d.new.limit = min(timeLeft, 3*d.old.took+timeoutSlack), min(timeLeft, 3*d.new.took+timeoutSlack)
	if err := d.onBothSides((*side).runMutant)(ctx); err != nil {
		return nil, err
	}

	d.out.Runs += 2
	if d.timeLeft() <= 0 {
		return nil, errOutOfTime
	}
	if d.old.result.unbuilt || d.new.result.unbuilt {
		d.out.Invalid++
		return nil, nil
	}

	var out []outcome
	for _, g := range d.groups {
		out = append(out, outcome{d.old.result.isKilledBy(g.oldTests), d.new.result.isKilledBy(g.newTests)})
	}

	return out, nil
}

func survivor(m mutation.Mutant) detector.Survivor {
	return detector.Survivor{File: m.File, Line: m.Line, Function: m.Function, Operator: string(m.Operator), Original: m.Original, Mutated: m.Mutated}
}
