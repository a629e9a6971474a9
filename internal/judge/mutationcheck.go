package judge

import (
	"context"
	"fmt"
	"slices"

	"supervise/detector"
	"supervise/internal/ledger"
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
		Evidence: *s.evidence, BaseTests: before, CurrentTests: v.Set.Tests, Flaky: c.flakyTests(v.Iteration),
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

// runMutationCheck runs a trial and masks secrets in its record. It reuses the record of an earlier
// trial with the same key. A fault of the machine is no error: the findings count without the
// trial then.
func (c Case) runMutationCheck(ctx context.Context, t mutationcheck.Trial, key string) (*ledger.MutationCheck, error) {
	if known := c.History.mutationChecks[key]; known != nil {
		again := *known
		again.Reused, again.Took, again.Budget, again.Runs, again.CodeSnapshot = true, 0, 0, 0, t.Current
		return c.markAcceptedGroups(&again), nil
	}

	n, budget := t.Limits()
	c.progress(fmt.Sprintf("running changed tests on up to %d mutants of the code (at most %s)", n, budget))
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
