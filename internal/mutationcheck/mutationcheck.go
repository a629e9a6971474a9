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

// allowed is what the trial may take, not positive where nothing is left.
func (t Trial) allowed() time.Duration {
	budget := t.Budget
	if budget <= 0 {
		budget = max(DefaultBudget, 2*t.Cost.SuiteRun)
	}
	return budget - t.Cost.Overhead
}

// Refused is the record of a trial that is not run.
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
	r.out.Budget = t.allowed()
	r.until = r.began.Add(r.out.Budget - r.out.Budget/reserve)
	none := fmt.Sprintf("there was no time for a mutant in %s", short(r.out.Budget))
	var err error
	if least := 2*t.Cost.Copy + t.Cost.FirstRun; r.left() > least {
		err = r.within(ctx)
	} else {
		none = fmt.Sprintf("there is no time for a mutant: copies and a run without a fault take %s or more, and %s are left", short(least), short(r.out.Budget))
	}
	for _, g := range r.groups {
		if g.result.Why == "" && g.result.Mutants == 0 {
			g.result.Why, g.result.OutOfTime = none, g.result.OutOfTime || r.left() <= 0 || r.out.Runs == 0
		}
		r.out.Results = append(r.out.Results, g.result)
	}
	if r.out.Took = time.Since(r.began); err != nil {
		err = fmt.Errorf("run the tests over mutants: %w", err)
	}
	return r.out, err
}

// reserve is the part of the time that is left for ending what runs and removing the
// copies: one in that many.
const reserve = 20

func short(d time.Duration) time.Duration { return max(0, d).Round(100 * time.Millisecond) }

// within runs the groups until the time is over.
func (r *trialRun) within(ctx context.Context) error {
	inTime, cancel := context.WithDeadlineCause(ctx, r.until, errSpent)
	defer cancel()
	err := r.over(inTime, r.Current)
	if err == nil && r.left() > 0 && slices.ContainsFunc(r.groups, (*group).unfit) {
		err = r.over(inTime, r.Base)
	}
	if ctx.Err() == nil && (errors.Is(err, errSpent) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

// trialRun is a trial under way.
type trialRun struct {
	Trial
	out    *ledger.MutationCheck
	groups []*group
	began  time.Time
	until  time.Time
	last   time.Duration // of the last runs with a fault
}

// left is the time that is left, not positive where it is over.
func (r *trialRun) left() time.Duration { return time.Until(r.until) }

// pair is one fault in the code of both sides, which are the same but where the tests as
// they were do not fit the new code.
type pair struct{ old, is change }

// change is a mutant with the text that it was made of.
type change struct {
	mutation.Mutant
	src  []byte
	exec bool
}

// over runs the groups that have no result yet, with the tests as they were over the
// code of a tree.
func (r *trialRun) over(ctx context.Context, code snapshot.ID) error {
	open := slices.DeleteFunc(slices.Clone(r.groups), func(g *group) bool { return !g.open() })
	pairs, err := r.pairs(ctx, open, code)
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
	return r.WithCopy(ctx, r.Current, func(is treecopy.Tree) error {
		return r.ForOriginalTests().WithCopy(ctx, code, func(was treecopy.Tree) error {
			if code == r.Current {
				if err := was.Restore(ctx, r.Base, r.RestoredFiles...); err != nil {
					return err
				}
			}
			d := &duel{trialRun: r, groups: open, apart: code != r.Current, old: r.side(was), is: r.side(is)}
			return d.run(ctx, pairs)
		})
	})
}

// duel runs both sides over the same faults.
type duel struct {
	*trialRun
	groups  []*group
	apart   bool
	old, is *side
}

func (d *duel) run(ctx context.Context, pairs []pair) error {
	if d.left() <= d.Cost.FirstRun {
		d.stop()
		return nil
	}
	unfit := func(g *group) bool { return g.narrowed() && g.unfit() }
	all := d.groups
	err := d.control(ctx)
	if err == nil && slices.ContainsFunc(all, unfit) {
		for _, g := range all {
			g.widen()
		}
		d.groups = all
		err = d.control(ctx)
	}
	switch {
	case errors.Is(err, errSpent):
		d.stop()
		return nil
	case err != nil || len(d.groups) == 0:
		return err
	}
	return d.mutants(ctx, pairs)
}

// control runs the tests of the groups without a fault, and leaves the groups with tests
// that pass on both sides.
func (d *duel) control(ctx context.Context) error {
	d.old.tests, d.is.tests = nil, nil
	for _, g := range d.groups {
		d.old.tests, d.is.tests = append(d.old.tests, g.before...), append(d.is.tests, g.now...)
	}
	d.old.limit, d.is.limit = d.left(), d.left()
	if err := d.both((*side).control)(ctx); err != nil {
		return err
	}
	if d.left() <= 0 || d.Cost.FirstRun > 0 && d.left() <= d.Cost.SuiteRun {
		return errSpent
	}
	d.groups = slices.DeleteFunc(slices.Clone(d.groups), func(g *group) bool { return !g.ready(d.old, d.is, d.apart) })
	d.old.keep(d.groups, func(g *group) []metric.Test { return g.before })
	d.is.keep(d.groups, func(g *group) []metric.Test { return g.now })
	return nil
}

// both returns what does a step on both sides, at the same time where the machine has
// the cores for it.
func (d *duel) both(step func(*side, context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if runtime.NumCPU() < 2 {
			if err := step(d.old, ctx); err != nil {
				return err
			}
			return step(d.is, ctx)
		}
		var first error
		var done sync.WaitGroup
		done.Go(func() { first = step(d.old, ctx) })
		second := step(d.is, ctx)
		done.Wait()
		if first != nil {
			return first
		}
		return second
	}
}

// mutants runs the tests over one mutant after the other, until there are enough or the
// time is over.
func (d *duel) mutants(ctx context.Context, pairs []pair) error {
	limit := d.MaxMutants
	if limit <= 0 {
		limit = DefaultMutants
	}
	for i, n := 0, 0; i < len(pairs) && n < limit; i++ {
		valid, err := d.mutant(ctx, pairs[i])
		if errors.Is(err, errSpent) {
			d.stop()
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

// stop notes that the time is over.
func (d *duel) stop() {
	for _, g := range d.groups {
		g.result.OutOfTime = true
	}
}

// errSpent says that the time is over: what was running counts for nothing.
var errSpent = errors.New("the time for mutants is over")

// mutant runs the tests over one mutant, and reports whether it builds.
func (d *duel) mutant(ctx context.Context, p pair) (bool, error) {
	first, err := d.fates(ctx, p)
	if err != nil || first == nil {
		return false, err
	}
	if slices.ContainsFunc(first, fate.survives) { // that is said of nobody by one run
		if slices.ContainsFunc(d.groups, (*group).narrowed) {
			return d.wider(ctx, p)
		}
		again, err := d.fates(ctx, p)
		if err != nil || !slices.Equal(first, again) {
			return false, err
		}
	}
	before, now := false, false
	for i, f := range first {
		d.groups[i].count(p.is.Mutant, f)
		before, now = before || f.before, now || f.now
	}
	d.out.Mutants = append(d.out.Mutants, ledger.Mutant{Survivor: survivor(p.is.Mutant), KilledByOld: before, KilledByNew: now})
	return true, nil
}

// wider runs a mutant that survives over all tests of the files, and so those that follow:
// an unchanged test may notice it.
func (d *duel) wider(ctx context.Context, p pair) (bool, error) {
	for _, g := range d.groups {
		g.widen()
	}
	if err := d.control(ctx); err != nil || len(d.groups) == 0 {
		return false, err
	}
	return d.mutant(ctx, p)
}

// fate says whether a mutant dies by the tests of a group.
type fate struct{ before, now bool }

func (f fate) survives() bool { return f.before && !f.now }

// fates runs both sides over a mutant. It returns what each group makes of it, nil where
// the mutant does not build.
func (d *duel) fates(ctx context.Context, p pair) ([]fate, error) {
	left := d.left()
	if left <= d.last { // it would be cut off
		return nil, errSpent
	}
	began := time.Now()
	defer func() { d.last = time.Since(began) }()
	d.old.fault, d.is.fault = p.old, p.is
	d.old.limit, d.is.limit = min(left, 3*d.old.took+slack), min(left, 3*d.is.took+slack)
	if err := d.both((*side).overFault)(ctx); err != nil {
		return nil, err
	}
	d.out.Runs += 2
	if d.left() <= 0 {
		return nil, errSpent
	}
	if d.old.ended.invalid || d.is.ended.invalid {
		d.out.Invalid++
		return nil, nil
	}
	var out []fate
	for _, g := range d.groups {
		out = append(out, fate{d.old.ended.by(g.before), d.is.ended.by(g.now)})
	}
	return out, nil
}

func survivor(m mutation.Mutant) detector.Survivor {
	return detector.Survivor{File: m.File, Line: m.Line, Function: m.Function, Operator: string(m.Operator), Original: m.Original, Mutated: m.Mutated}
}
