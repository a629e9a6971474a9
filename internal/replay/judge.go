package replay

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treediff"
	"supervise/internal/unstablenames"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

// step is a commit that was measured, with the last one measured before it.
type step struct {
	commit   Commit
	entry    entry
	set      metric.Set // with what carries over, and flaky tests settled
	before   metric.Set // of the commit before
	suspects []metric.Test
	flaky    []metric.ID
	why      string // it was not measured
}

// steps goes through the commits, the oldest first. The entry of a commit may be
// replaced while it is its turn.
func (h *history) steps() iter.Seq[step] {
	return func(yield func(step) bool) {
		var before metric.Set
		for _, c := range h.commits {
			p := h.step(c, before)
			if !yield(p) {
				return
			}
			if p.why == "" {
				p.settle(h.entries[c.tree].Flaky)
				before = p.set
			}
		}
	}
}

// step compares a commit with the known tests. Those of a suite that could not run
// keep their last state; if there are none at all, nothing was measured.
func (h *history) step(c Commit, before metric.Set) step {
	e, ok := h.entries[c.tree]
	p := step{commit: c, entry: e, set: e.Set, before: before, why: e.Why}
	if !ok {
		p.why = "it was not measured yet"
	}
	if p.why != "" {
		return p
	}
	p.set.Tests = unstablenames.MatchNames(e.Set.Tests, before.Tests).WithNotRun(before.Tests)
	if len(e.Set.Tests.Cases) == 0 {
		gap, _ := e.Set.Gap(metric.SectionTests)
		if len(p.set.Tests.Cases) == 0 {
			p.why = cmp.Or(firstLine(gap.Why), "there are no tests")
			return p
		}
		p.set.Gaps = slices.DeleteFunc(slices.Clone(p.set.Gaps), func(g metric.Gap) bool { return g == gap })
	}
	p.suspects = measure.NewFailures(before.Tests, p.set.Tests)
	return p
}

// settle marks the suspects that passed when run again as flaky.
func (p *step) settle(flaky []metric.ID) {
	for _, t := range p.suspects {
		if slices.Contains(flaky, t.ID) {
			p.flaky = append(p.flaky, t.ID)
		}
	}
	p.set = judge.CountFlakyAsPassed(p.set, p.flaky)
}

// pair is a commit and the one that it is compared with.
type pair struct {
	step
	from     Commit // no commit for the first that was measured
	changes  []snapshot.Change
	evidence *ledger.Evidence
	provable bool // see [judge.Provable]
	proof    proof
}

// unread is a commit that is judged by its texts alone, for the reason in why.
type unread struct{ pair }

// compare finds the evidence of all commits: of those that were measured, against the
// last one measured before, of the others against the commit before.
func (h *history) compare(ctx context.Context) error {
	i := -1
	for p := range h.steps() {
		i++
		x := pair{step: p}
		if n := len(h.measured); p.why == "" && n > 0 {
			x.from = h.measured[n-1].commit
		} else if i > 0 {
			x.from = h.commits[i-1]
		}
		if x.from.ID != "" {
			if err := h.evidence(ctx, &x); err != nil {
				return err
			}
		}
		if p.why == "" {
			h.measured = append(h.measured, x)
			if len(h.measured) == 1 {
				x.why = "no commit before it could be measured"
			}
		}
		if x.why != "" && i > 0 {
			h.left = append(h.left, unread{x})
		}
	}
	return nil
}

// evidence adds the evidence of a commit.
func (h *history) evidence(ctx context.Context, p *pair) error {
	d, err := h.repo.changes(ctx, p.from, p.commit)
	if err != nil {
		return fmt.Errorf("compare commit %s with the one before: %w", p.commit.Short(), err)
	}
	opt := h.opts.Settings.Integrity
	opt.Base = treediff.Repo{Dir: h.repo.dir}.BaseTree(ctx, p.from.ID)
	e, err := evidence.Collect(d.changes, opt, d.read)
	if err != nil {
		return err
	}
	e.JudgedAt, e.Flaky = h.opts.Now, p.flaky
	p.changes, p.evidence = d.changes, &e
	p.provable, err = judge.CanProve(&e, d.changes, d.read)
	return err
}

// iteration is the commit as an iteration of a loop that was accepted.
func (p pair) iteration(number int) ledger.Iteration {
	it := ledger.Iteration{
		Number: number, StartedAt: p.commit.Time, EndedAt: p.commit.Time, Set: p.set, Tree: p.commit.tree,
		Agent: &ledger.AgentRun{Cause: runner.Exited.String()}, Decision: &ledger.Decision{},
	}
	if number > 0 {
		it.Evidence, it.Goals, it.MutationCheck, it.ConcealedRun = p.evidence, p.proof.Goals, p.proof.Power, p.proof.Disguised
		for _, c := range p.changes {
			it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
		}
	}
	return it
}

// record puts the measured commits together as the iterations of a loop in which
// everything was accepted, the first as its baseline.
func (h *history) record() judge.RecordedLoop {
	out := judge.RecordedLoop{Commits: true}
	for n, p := range h.measured {
		out.Iterations = append(out.Iterations, p.iteration(n))
	}
	return out
}

// record is a record of the commit alone, without any number.
func (u unread) record() judge.RecordedLoop {
	u.set = metric.Set{}
	is := u.iteration(1)
	return judge.RecordedLoop{Commits: true, Iterations: []ledger.Iteration{pair{}.iteration(0), is}}
}

// judge judges all commits, by the user's settings and again by those that are
// tried.
func (h *history) judge() (Report, error) {
	out := h.report()
	if len(h.measured) < 2 && (len(h.left) == 0 || h.opts.CachedOnly) {
		return out, fmt.Errorf("%w: %s", ErrNothingToJudge, h.whyNothing(out))
	}
	res, err := h.verdicts(h.opts.Settings)
	if err != nil {
		return out, err
	}
	out.Commits, out.Moved = res.all, res.moved
	out.Rules, out.TextRules = res.rates(h.opts.Sensitivity)
	if h.opts.WhatIf == nil {
		return out, nil
	}
	tried, err := h.verdicts(*h.opts.WhatIf)
	if err != nil {
		return out, err
	}
	out.WhatIf = &WhatIf{Changes: differences(res.all, tried.all)}
	out.WhatIf.Rules, out.WhatIf.TextRules = tried.rates(h.opts.Sensitivity)
	return out, nil
}

// outcome is the verdicts by one set of settings.
type outcome struct {
	all   []Verdict // in the order of the commits
	moved MovedTests
}

func (h *history) verdicts(by judge.Settings) (outcome, error) {
	out := outcome{moved: MovedTests{Tests: map[detector.Explanation]int{}}}
	if len(h.measured) > 1 {
		res, err := judge.Rejudge(h.record(), by)
		if err != nil {
			return out, err
		}
		for i, v := range res.Verdicts[1:] {
			out.all = append(out.all, h.measured[i+1].verdict(v))
		}
		out.moved = movedTests(res)
	}
	for _, u := range h.left {
		res, err := judge.Rejudge(u.record(), by.WithoutTests())
		if err != nil {
			return out, err
		}
		v := u.verdict(res.Verdicts[1])
		v.TextOnly = u.why
		out.all = append(out.all, v)
	}
	at := map[string]int{}
	for i, c := range h.commits {
		at[c.ID] = i
	}
	slices.SortFunc(out.all, func(a, b Verdict) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	for i := range out.all {
		out.all[i].Number = i + 1
	}
	return out, nil
}

// rates counts apart what ran, and what was judged by text alone.
func (j outcome) rates(sensitivity float64) (ran, text []Rate) {
	by := func(alone bool) []Verdict {
		return slices.DeleteFunc(slices.Clone(j.all), func(v Verdict) bool { return (v.TextOnly != "") != alone })
	}
	ran = rates(by(false), sensitivity)
	if list := by(true); len(list) > 0 {
		text = rates(list, sensitivity)
	}
	return ran, text
}

func (h *history) whyNothing(r Report) string {
	switch {
	case len(r.Unmeasured) > 0 && h.opts.CachedOnly:
		return "these commits were not measured yet: run it without --what-if first"
	case len(r.Unmeasured) > 0:
		return fmt.Sprintf("%d of %d commits could not be measured, the last one because %s", len(r.Unmeasured), len(h.commits), r.Unmeasured[len(r.Unmeasured)-1].Why)
	}
	return "a history has at least two commits"
}
