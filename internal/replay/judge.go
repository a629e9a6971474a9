package replay

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treediff"
	"supervise/metric"
	"supervise/runner"
)

// step is a commit that was measured, beside the one before it that was.
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
// carry over; where there are none at all, nothing was measured.
func (h *history) step(c Commit, before metric.Set) step {
	e, ok := h.entries[c.tree]
	p := step{commit: c, entry: e, set: e.Set, before: before, why: e.Why}
	if !ok {
		p.why = "it was not measured yet"
	}
	if p.why != "" {
		return p
	}
	p.set.Tests = e.Set.Tests.CarryOver(before.Tests)
	if len(e.Set.Tests.Cases) == 0 {
		gap, _ := e.Set.Gap(metric.SectionTests)
		if len(p.set.Tests.Cases) == 0 {
			p.why = cmp.Or(firstLine(gap.Why), "there are no tests")
			return p
		}
		p.set.Gaps = slices.DeleteFunc(slices.Clone(p.set.Gaps), func(g metric.Gap) bool { return g == gap })
	}
	p.suspects = measure.Suspects(before.Tests, p.set.Tests)
	return p
}

// settle marks the suspects that passed when run again as flaky.
func (p *step) settle(flaky []metric.ID) {
	for _, t := range p.suspects {
		if slices.Contains(flaky, t.ID) {
			p.flaky = append(p.flaky, t.ID)
		}
	}
	p.set = judge.Settled(p.set, p.flaky)
}

// record puts the measured commits together as the iterations of a loop in which
// everything was accepted, the first as its baseline.
func (h *history) record(ctx context.Context) (rec judge.Record, measured []Commit, left []Unmeasured, err error) {
	rec.Commits = true
	for p := range h.steps() {
		if p.why != "" {
			left = append(left, Unmeasured{p.commit, p.why})
			continue
		}
		p.settle(p.entry.Flaky)
		it := ledger.Iteration{
			Number: len(measured), StartedAt: p.commit.Time, EndedAt: p.commit.Time, Set: p.set, Tree: p.commit.tree,
			Agent: &ledger.AgentRun{Cause: runner.Exited.String()}, Decision: &ledger.Decision{},
		}
		if n := len(measured); n > 0 {
			if err := h.compare(ctx, measured[n-1], p, &it); err != nil {
				return rec, nil, nil, err
			}
		}
		rec.Iterations = append(rec.Iterations, it)
		measured = append(measured, p.commit)
	}
	return rec, measured, left, nil
}

// compare finds the evidence of a commit.
func (h *history) compare(ctx context.Context, before Commit, p step, it *ledger.Iteration) error {
	d, err := h.repo.changes(ctx, before, p.commit)
	if err != nil {
		return fmt.Errorf("compare commit %s with the one before: %w", p.commit.Short(), err)
	}
	opt := integrity.Options{Base: treediff.Repo{Dir: h.repo.dir}.Base(ctx, before.ID)}
	e, err := evidence.Of(d.changes, opt, d.read)
	if err != nil {
		return err
	}
	e.Judged, e.Flaky = h.opts.Now, p.flaky
	it.Evidence = &e
	for _, c := range d.changes {
		it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
	}
	return nil
}

// judge judges all commits that were measured, by the user's settings and once
// more by those that are tried.
func (h *history) judge(ctx context.Context) (Report, error) {
	rec, commits, left, err := h.record(ctx)
	if err != nil {
		return Report{}, err
	}
	out := h.report(commits, left)
	if len(commits) < 2 {
		return out, fmt.Errorf("%w: %s", ErrNothing, h.whyNothing(out))
	}
	res, err := judge.Rejudge(rec, h.opts.Settings)
	if err != nil {
		return out, err
	}
	out.Commits = verdicts(commits, res)
	out.Rules = rates(out.Commits, h.opts.Sensitivity)
	out.Moved = movedTests(res)
	if h.opts.WhatIf == nil {
		return out, nil
	}
	if res, err = judge.Rejudge(rec, *h.opts.WhatIf); err != nil {
		return out, err
	}
	tried := verdicts(commits, res)
	out.WhatIf = &WhatIf{Changes: differences(out.Commits, tried), Rules: rates(tried, h.opts.Sensitivity)}
	return out, nil
}

func (h *history) whyNothing(r Report) string {
	switch {
	case len(r.Unmeasured) > 0 && h.opts.Recorded:
		return "these commits were not measured yet: run the same without --what-if first"
	case len(r.Unmeasured) > 0:
		return fmt.Sprintf("%d of %d commits could not be measured, the last one because %s", len(r.Unmeasured), len(h.commits), r.Unmeasured[len(r.Unmeasured)-1].Why)
	}
	return "a history has at least two commits"
}
