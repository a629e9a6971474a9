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
	"supervise/internal/unstablenames"
	"supervise/metric"
	"supervise/runner"
	"supervise/snapshot"
)

// step is a commit, and the metrics of the last commit before it that was measured.
type step struct {
	commit      Commit
	measurement measurement
	set         metric.Set    // measurement.Set, with results that are carried over, and with flaky tests as passed
	before      metric.Set    // metrics of the last commit that was measured before it
	suspects    []metric.Test // tests that fail now and passed before
	flaky       []metric.ID   // suspects that passed in a rerun
	unmeasured  string        // why it was not measured, "" if it was
}

// steps iterates over the commits, the oldest first. The body of the loop may replace the entry
// of the commit in h.measurements; the next step then sees the new one.
func (h *historyReplay) steps() iter.Seq[step] {
	return func(yield func(step) bool) {
		var before metric.Set
		for _, c := range h.commits {
			s := h.compareStep(c, before)
			if !yield(s) {
				return
			}
			if s.unmeasured == "" {
				s.settleFlaky(h.measurements[c.tree].Flaky)
				before = s.set
			}
		}
	}
}

// compareStep returns the step for a commit, given the metrics of the last measured commit before
// it. Tests of a suite that could not run keep their last result. A commit without any test
// counts as not measured.
func (h *historyReplay) compareStep(c Commit, before metric.Set) step {
	m, ok := h.measurements[c.tree]
	s := step{commit: c, measurement: m, set: m.Set, before: before, unmeasured: m.Failure}
	if !ok {
		s.unmeasured = "it was not measured yet"
	}
	if s.unmeasured != "" {
		return s
	}
	s.set.Tests = unstablenames.MatchNames(m.Set.Tests, before.Tests).WithNotRun(before.Tests)
	if len(m.Set.Tests.Cases) == 0 {
		gap, _ := m.Set.Gap(metric.SectionTests)
		if len(s.set.Tests.Cases) == 0 {
			s.unmeasured = cmp.Or(firstLine(gap.Why), "there are no tests")
			return s
		}
		s.set.Gaps = slices.DeleteFunc(slices.Clone(s.set.Gaps), func(g metric.Gap) bool { return g == gap })
	}
	s.suspects = measure.NewFailures(before.Tests, s.set.Tests)
	return s
}

// settleFlaky marks the suspects that are in flaky, and counts them as passed.
func (s *step) settleFlaky(flaky []metric.ID) {
	for _, t := range s.suspects {
		if slices.Contains(flaky, t.ID) {
			s.flaky = append(s.flaky, t.ID)
		}
	}
	s.set = judge.CountFlakyAsPassed(s.set, s.flaky)
}

// pair is a commit and its base, which is the earlier commit that it is compared with.
type pair struct {
	step
	base     Commit // empty if there is no earlier commit
	changes  []snapshot.Change
	evidence *ledger.Evidence // nil for the first commit
	coverage *ledger.ChangeCoverage
	provable bool // original tests or mutants can be run, see [judge.CanProve]
	proof    proof
}

// collectEvidence fills h.pairs and h.textOnly with the commits and their evidence. The base of a
// measured commit is the last measured one before it. The base of any other commit, and of the
// first measured one, is the commit just before it.
func (h *historyReplay) collectEvidence(ctx context.Context) error {
	i := -1
	for s := range h.steps() {
		i++
		p := pair{step: s}
		isMeasured := s.unmeasured == ""
		if n := len(h.pairs); isMeasured && n > 0 {
			p.base = h.pairs[n-1].commit
		} else if i > 0 {
			p.base = h.commits[i-1]
		}
		if p.base.ID != "" {
			if err := h.addEvidence(ctx, &p); err != nil {
				return err
			}
		}
		if isMeasured {
			h.pairs = append(h.pairs, p)
		}
		if isMeasured && len(h.pairs) == 1 {
			p.unmeasured = "no commit before it could be measured"
		}
		if p.unmeasured != "" && i > 0 {
			h.textOnly = append(h.textOnly, p)
		}
	}
	return nil
}

// addEvidence compares a commit with its base and adds the evidence.
func (h *historyReplay) addEvidence(ctx context.Context, p *pair) error {
	d, err := h.repo.diff(ctx, p.base, p.commit)
	if err != nil {
		return fmt.Errorf("compare commit %s with the one before: %w", p.commit.Short(), err)
	}
	opt := h.opts.Settings.Integrity
	opt.Base = h.repo.BaseTree(ctx, p.base.ID)
	e, err := evidence.Collect(d.changes, opt, d.read)
	if err != nil {
		return err
	}
	e.JudgedAt, e.Flaky = h.opts.Now, p.flaky
	p.changes, p.evidence = d.changes, &e
	var lines *metric.Coverage
	if h.cache.load(coverageKey(p.commit), &lines) && lines != nil {
		c := evidence.CoverageChange{Before: p.before.Coverage, Now: lines, Changes: d.changes, Read: d.read, Base: opt.Base}
		files, err := c.ChangedLines()
		if err != nil {
			return fmt.Errorf("find the changed lines of commit %s: %w", p.commit.Short(), err)
		}
		p.coverage = ledger.NewChangeCoverage(files, c.UnknownLines(), 0)
	}
	p.provable, err = judge.CanProve(&e, d.changes, d.read)
	return err
}

// toIteration returns the commit as an accepted iteration of a loop. Number 0 is the baseline,
// which has no evidence.
func (p pair) toIteration(number int) ledger.Iteration {
	it := ledger.Iteration{
		Number: number, StartedAt: p.commit.Time, EndedAt: p.commit.Time, Set: p.set, Tree: p.commit.tree,
		Agent: &ledger.AgentRun{Cause: runner.Exited.String()}, Decision: &ledger.Decision{},
	}
	if number > 0 {
		it.ChangeCoverage = p.coverage
		it.Evidence, it.Goals, it.MutationCheck, it.ConcealedRun = p.evidence, p.proof.Goals, p.proof.MutationCheck, p.proof.Concealed
		for _, c := range p.changes {
			it.Changed = append(it.Changed, ledger.FileChange{Path: c.Path, Kind: string(c.Kind)})
		}
	}
	return it
}

// recordOf returns the record of a loop in which every iteration was accepted. The iterations are the
// commits, the first of which is the baseline.
func recordOf(commits ...pair) judge.RecordedLoop {
	out := judge.RecordedLoop{Commits: true}
	for n, p := range commits {
		out.Iterations = append(out.Iterations, p.toIteration(n))
	}
	return out
}

// judge judges all commits by the user's settings, and again by those of --what-if if there are
// any. It is an error if there are too few commits to judge.
func (h *historyReplay) judge() (Report, error) {
	out := h.newReport()
	if len(h.pairs) < 2 && (len(h.textOnly) == 0 || h.opts.CachedOnly) {
		return out, fmt.Errorf("%w: %s", ErrNothingToJudge, h.reasonNothing(out))
	}
	res, err := h.judgeAll(h.opts.Settings)
	if err != nil {
		return out, err
	}
	out.Commits, out.Moved = res.verdicts, res.moved
	out.Rules, out.TextRules = res.rates(h.opts.Sensitivity)
	if h.opts.WhatIf == nil {
		return out, nil
	}
	tried, err := h.judgeAll(*h.opts.WhatIf)
	if err != nil {
		return out, err
	}
	out.WhatIf = &WhatIf{Changes: differingVerdicts(res.verdicts, tried.verdicts)}
	out.WhatIf.Rules, out.WhatIf.TextRules = tried.rates(h.opts.Sensitivity)
	return out, nil
}

// verdictSet has the verdicts by one set of settings.
type verdictSet struct {
	verdicts []Verdict // in the order of the commits
	moved    MovedTests
}

// judgeAll judges the measured commits as one loop, and each of the others by its text alone.
func (h *historyReplay) judgeAll(by judge.Settings) (verdictSet, error) {
	out := verdictSet{moved: MovedTests{Tests: map[detector.Explanation]int{}}}
	if len(h.pairs) > 1 {
		res, err := judge.Rejudge(recordOf(h.pairs...), by)
		if err != nil {
			return out, err
		}
		for i, v := range res.Verdicts[1:] {
			out.verdicts = append(out.verdicts, h.pairs[i+1].toVerdict(v))
		}
		out.moved = countMovedTests(res)
	}

	for _, u := range h.textOnly {
		u.set = metric.Set{}
		res, err := judge.Rejudge(recordOf(pair{}, u), by.WithoutTests())
		if err != nil {
			return out, err
		}
		v := u.toVerdict(res.Verdicts[1])
		v.TextOnly = u.unmeasured
		out.verdicts = append(out.verdicts, v)
	}

	index := map[string]int{}
	for i, c := range h.commits {
		index[c.ID] = i
	}

	slices.SortFunc(out.verdicts, func(a, b Verdict) int { return cmp.Compare(index[a.ID], index[b.ID]) })
	for i := range out.verdicts {
		out.verdicts[i].Number = i + 1
	}
	return out, nil
}

// rates counts separately the commits whose tests ran and those that were judged by text alone.
// text is nil if there are none.
func (s verdictSet) rates(sensitivity float64) (ran, text []Rate) {
	by := func(alone bool) []Verdict {
		return slices.DeleteFunc(slices.Clone(s.verdicts), func(v Verdict) bool { return (v.TextOnly != "") != alone })
	}
	ran = countRates(by(false), sensitivity)
	if list := by(true); len(list) > 0 {
		text = countRates(list, sensitivity)
	}
	return ran, text
}

// reasonNothing says why there is nothing to judge.
func (h *historyReplay) reasonNothing(r Report) string {
	switch {
	case len(r.Unmeasured) > 0 && h.opts.CachedOnly:
		return "these commits were not measured yet: run it without --what-if first"
	case len(r.Unmeasured) > 0:
		return fmt.Sprintf("%d of %d commits could not be measured, the last one because %s", len(r.Unmeasured), len(h.commits), r.Unmeasured[len(r.Unmeasured)-1].Why)
	}
	return "a history has at least two commits"
}
