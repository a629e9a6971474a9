package judge

import (
	"context"
	"slices"

	"supervise/detector"
	"supervise/internal/guard"
	"supervise/internal/ledger"
	"supervise/metric"
)

// checkChangeMutants runs the tests on mutants of the lines that changed since the base. It adds which
// mutants they notice. It runs nothing if a test fails, since the work is not finished then, and nothing
// for an iteration that changed neither product code nor tests; the results of a tree are reused.
func checkChangeMutants(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	old, before := c.baseTree(v)
	if c.Judge.ChangeMutants.Off || old == "" || before == nil {
		return v, nil
	}
	key := string(old) + " " + v.Tree
	if known := c.History.changeMutants[key]; known != nil && v.Tree != "" {
		again := *known
		again.Reused, again.Took = true, 0
		v.ChangeMutants = c.markAcceptedFindings(&again)
		return v, nil
	}
	lines := linesToGuard(v)
	if len(lines) == 0 || !c.mayRunChangeMutants(v) {
		return v, nil
	}
	s, err := c.wholeChange(ctx, v, old)
	if err != nil {
		return v, err
	}
	t := guard.Trial{
		Workspace: c.Workspace, Options: c.Judge.ChangeMutants, Current: v.Snapshot, Lines: lines,
		Defined: s.evidence.After, BaseTests: before, CurrentTests: v.Set.Tests, Flaky: c.flakyTests(v.Iteration),
	}
	v.ChangeMutants, err = c.runChangeMutants(ctx, t, key)
	return v, err
}

// JudgeMutants runs the tests on mutants of a change and judges nothing else.
func (j Judge) JudgeMutants(ctx context.Context, t Tree, m Measured, h *History) (Verdict, error) {
	v := Verdict{Iteration: t.Iteration, Measured: m.Set}
	v.Set = m.Set
	return j.apply(ctx, stagesNamed("mask", "compare", "change", "change mutants"), Case{j, t, h}, v)
}

// mayRunChangeMutants reports whether the tests are run on mutants of the change.
func (c Case) mayRunChangeMutants(v Verdict) bool {
	n := v.Set.Tests.Counts()
	switch {
	case c.IsWatching(), n.Passed == 0, isBuildBroken(v.Set):
		return false
	case c.Subject == Change:
		return true
	}
	return n.Failed == 0 && len(c.Tree.Changes) > 0 && !c.isUndoneAnyway(v)
}

// linesToGuard returns the changed lines that have mutants, by file.
func linesToGuard(v Verdict) map[string]metric.LineSet {
	out := map[string]metric.LineSet{}
	for _, l := range v.ChangeCoverage.Changed() {
		if lines := guard.Lines(l); lines != "" {
			out[l.Path] = lines
		}
	}
	return out
}

// runChangeMutants runs a trial and masks secrets in its record. A fault of the machine is no error: the
// change is judged without the trial then.
func (c Case) runChangeMutants(ctx context.Context, t guard.Trial, key string) (*ledger.ChangeMutants, error) {
	c.progress("running the tests on mutants of the changed lines")
	out, err := t.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		c.problem("run the tests on mutants of the changed lines", err)
		return t.Refused(c.Mask.String(err.Error())), nil
	case out == nil:
		return nil, nil //nolint:nilnil // there is nothing to run, as documented
	}
	out.Key = key
	for i := range out.Survivors {
		c.maskSurvivor(&out.Survivors[i].Survivor)
		for k, line := range out.Survivors[i].Code {
			out.Survivors[i].Code[k] = c.Mask.String(line)
		}
	}
	for i, x := range out.Findings {
		out.Findings[i].Why = c.Mask.String(x.Why)
	}
	return c.markAcceptedFindings(out), nil
}

// learnChangeMutants remembers the results for a tree.
func (h *History) learnChangeMutants(m *ledger.ChangeMutants) {
	if m != nil && m.Key != "" {
		h.changeMutants[m.Key] = m
	}
}

// markAcceptedFindings marks the findings that an earlier, accepted iteration has too.
func (c Case) markAcceptedFindings(m *ledger.ChangeMutants) *ledger.ChangeMutants {
	m.Findings = slices.Clone(m.Findings)
	for i, x := range m.Findings {
		m.Findings[i].AcceptedBefore = slices.ContainsFunc(c.History.startIteration().Open, func(o ledger.OpenFinding) bool { return isSameGuardFinding(o, x) })
	}
	return m
}

// stillNoticesNothing reports whether the tests of a finding notice nothing; known is false if no mutants
// were run.
func stillNoticesNothing(o ledger.OpenFinding, m *ledger.ChangeMutants) (holds, known bool) {
	if m == nil || m.NotRunReason != "" {
		return false, false
	}
	return slices.ContainsFunc(m.Findings, func(x detector.Unguarded) bool { return isSameGuardFinding(o, x) }), true
}

// isAboutGuard reports whether a rule is about mutants of the change.
func isAboutGuard(rule string) bool {
	return rule == detector.TestsNoticeNothing || rule == detector.GoalNoticesNothing
}

// isSameGuardFinding reports whether an open finding is about one of the same tests.
func isSameGuardFinding(o ledger.OpenFinding, x detector.Unguarded) bool {
	return o.Rule == x.Rule && slices.ContainsFunc(o.Tests, func(id metric.ID) bool { return slices.Contains(x.Tests, id) })
}
