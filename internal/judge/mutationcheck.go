package judge

import (
	"context"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/mutationcheck"
)

// checkMutants runs tests that were changed, or are gone, over mutants of the product code, as
// they were at the base and as they are. It reads the change since the base, and adds
// which mutants they notice.
// Nothing is run for an iteration that touches no test, and
// where tests were only added.
func checkMutants(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	old, before := c.baseTree(v)
	if c.Judge.MutationCheck.Off || c.GoalTests.Never || old == "" || before == nil || v.Set.Tests == nil || isBuildBroken(v.Set) || !v.Evidence.TouchesTests() {
		return v, nil
	}
	s, err := c.changeSinceBase(ctx, v, old, before)
	if err != nil {
		return v, err
	}
	t := mutationcheck.Trial{
		Workspace: c.Workspace, Options: c.Judge.MutationCheck, Base: old, Current: v.Snapshot, RestoredFiles: c.originalTrial(old, before, v.Iteration, s).RestoredFiles(),
		Evidence: *s.evidence, BaseTests: before, CurrentTests: v.Set.Tests, Coverage: v.Set.Coverage, Flaky: c.flakyTests(v.Iteration), Cost: c.trialCost(v),
	}
	switch {
	case !t.IsNeeded(ctx):
	case c.isUndoneAnyway(v):
		v.MutationCheck = t.RefusedRecord("the iteration is undone in any case")
	case v.Goals != nil && v.Goals.Rewritten != "":
		v.MutationCheck = t.RefusedRecord("the checks change the original of " + v.Goals.Rewritten)
	default:
		v.MutationCheck, err = c.runMutationCheck(ctx, t, string(old)+" "+v.Tree)
	}
	return v, err
}

// trialCost estimates the time that a trial takes from what already ran in the iteration. One run
// of the tests takes as long as the test checks, or as the first run of the original tests if that
// was shorter.
func (c Case) trialCost(v Verdict) (out mutationcheck.Cost) {
	tests := map[string]bool{}
	for _, check := range c.Workspace.Plan.Checks {
		tests[check.Name] = check.Kind == measure.Test
	}

	for _, r := range v.Checks {
		if tests[r.Name] {
			out.SuiteRun += r.Duration
		}
	}

	g := v.Goals
	if g == nil || len(g.Runs) == 0 {
		return out
	}

	var total, first time.Duration
	ran := map[string]bool{}
	for _, r := range g.Runs {
		total += r.Duration
		if !ran[r.Name] {
			first += r.Duration
		}
		ran[r.Name] = true
	}

	if g.Passed > 0 && (out.SuiteRun == 0 || first < out.SuiteRun) {
		out.SuiteRun = first
	}
	out.Copy, out.Overhead = max(0, g.Took-total), max(0, g.Took-out.SuiteRun)
	if g.Passed > 0 && !g.FullSuite { // else it is the run of other tests
		out.FirstRun = first
	}
	return out
}

// runMutationCheck runs a trial and masks secrets in its record. It reuses the record of an earlier
// trial with the same key. A fault of the machine is no error: the findings count without the
// trial then.
func (c Case) runMutationCheck(ctx context.Context, t mutationcheck.Trial, key string) (*ledger.MutationCheck, error) {
	if known := c.History.mutationChecks[key]; known != nil {
		again := *known
		again.Reused, again.Took, again.Budget, again.Runs, again.CodeSnapshot = true, 0, 0, 0, t.Current
		return c.markAcceptedGroups(&again), nil
	}

	c.progress("running changed tests over mutants of the code")
	out, err := t.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		c.problem("run changed tests over mutants", err)
		return t.RefusedRecord(c.Mask.String(err.Error())), nil
	}
	out.Key = key
	for i := range out.Results {
		p := &out.Results[i]
		p.Why = c.Mask.String(p.Why)
		for k := range p.Survivors {
			c.maskSurvivor(&p.Survivors[k])
		}
	}

	for i := range out.Mutants {
		c.maskSurvivor(&out.Mutants[i].Survivor)
	}

	return c.markAcceptedGroups(out), nil
}

// maskSurvivor masks secrets in the code of a mutant.
func (c Case) maskSurvivor(s *detector.Survivor) {
	s.Original, s.Mutated = c.Mask.String(s.Original), c.Mask.String(s.Mutated)
}

// markAcceptedGroups marks the groups of tests that an earlier, accepted iteration weakened.
func (c Case) markAcceptedGroups(p *ledger.MutationCheck) *ledger.MutationCheck {
	p.Results = slices.Clone(p.Results)
	for i, r := range p.Results {
		p.Results[i].AcceptedBefore = slices.ContainsFunc(c.History.startIteration().Open, func(o ledger.OpenFinding) bool {
			return o.Rule == detector.MutationScoreDropped && slices.Equal(o.Files, r.Files)
		})
	}
	return p
}

// stillDropped reports whether the tests of a finding still kill fewer mutants than before.
func stillDropped(o ledger.OpenFinding, p *ledger.MutationCheck) bool {
	return !slices.ContainsFunc(p.Results, func(r detector.MutationResult) bool { return slices.Equal(o.Files, r.Files) && r.ScoreKept() })
}
