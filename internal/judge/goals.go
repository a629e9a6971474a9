package judge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/internal/originaltests"
	"supervise/metric"
	"supervise/snapshot"
)

// checkGoals runs original tests, those of the base, on the new code, with all files on which they
// depended. It runs tests that failed there and do not fail now, and tests that the change
// touches. It reads the change since the base, and adds the results of these tests.
// It runs nothing if nothing about the tests changed since the base, or if
// an iteration touches no test and no failing test of the base passes now.
func checkGoals(ctx context.Context, c Case, v Verdict) (Verdict, error) {
	old, before := c.baseTree(v)
	if c.GoalTests.Never || old == "" || before == nil || c.isUnbuiltChange(v) {
		return v, nil
	}

	s, err := c.changeSinceBase(ctx, v, old, before)
	if err != nil || !s.evidence.TouchesTests() {
		return v, err
	}

	t := c.originalTrial(old, before, v.Iteration, s)
	if !t.IsNeeded() {
		return v, nil
	}
	if why := whyNotRun(v, c.isUndoneAnyway(v)); why != "" {
		v.Goals = t.RefusedRecord(why)
		return v, nil
	}
	v.Goals, err = c.runOriginals(ctx, t)
	return v, err
}

// baseTree returns the base, whose tests are the original ones, and their results there. It is the
// tree before the loop, or for a history of commits the previous commit.
func (c Case) baseTree(v Verdict) (snapshot.ID, *metric.Tests) {
	id, set := c.measuredBase(v)
	return id, set.Tests
}

// measuredBase returns the base, and what was measured of it.
func (c Case) measuredBase(v Verdict) (snapshot.ID, metric.Set) {
	if v.Start == "" || c.History.Commits {
		return v.Start, c.History.Previous.Set
	}
	return c.History.baselineIteration().Snapshot, c.History.Baseline.Set
}

// baseChange is what changed since the base.
type baseChange struct {
	changes  []snapshot.Change
	evidence *ledger.Evidence
}

// changeSinceBase returns the change since the base. It is empty if no original test has to run.
func (c Case) changeSinceBase(ctx context.Context, v Verdict, old snapshot.ID, before *metric.Tests) (baseChange, error) {
	touches := v.Evidence.TouchesTests()
	switch {
	case v.Start == old:
		return baseChange{c.Tree.Changes, v.Evidence}, nil
	case !touches && !stoppedFailing(before, v.Set.Tests) && !hasWeakenedFinding(c.History.startIteration().Open):
		return baseChange{}, nil
	}
	return c.compareTrees(ctx, old, v.Snapshot)
}

// compareTrees returns the change between two snapshots, with its evidence.
func (j Judge) compareTrees(ctx context.Context, old, current snapshot.ID) (baseChange, error) {
	changes, err := j.Store.Changes(ctx, old, current)
	if err != nil {
		return baseChange{}, fmt.Errorf("compare with the base: %w", err)
	}
	e, err := evidence.CompareSnapshots(ctx, j.Store, old, current, changes, j.Integrity)
	if err != nil {
		return baseChange{}, fmt.Errorf("read what changed since the base: %w", err)
	}
	return baseChange{changes, &e}, nil
}

// stoppedFailing reports whether a test or a suite that failed no longer fails.
func stoppedFailing(before, now *metric.Tests) bool {
	for _, t := range before.Cases {
		if !t.Failed() {
			continue
		}
		if current, exists := now.Lookup(t.ID); !exists || !current.Failed() {
			return true
		}
	}
	return now != nil && slices.ContainsFunc(before.Broken, func(s metric.Suite) bool { return !now.IsBroken(metric.ID{Suite: s.Name}) })
}

// hasWeakenedFinding reports whether a finding about tests that were weakened is open.
func hasWeakenedFinding(open []ledger.OpenFinding) bool {
	return slices.ContainsFunc(open, func(o ledger.OpenFinding) bool { return o.Rule == detector.TestsWeakened })
}

// isUndoneAnyway reports whether the iteration is undone whatever its original tests show.
func (c Case) isUndoneAnyway(v Verdict) bool {
	return c.Subject == Iteration && slices.ContainsFunc(c.assess(v).Alerts, func(a detector.Alert) bool {
		return a.Severity >= detector.Critical && a.Action == detector.AlertAndRollback && !a.CanBeCleared()
	})
}

// originalTrial returns the trial of original tests, whose results at the base are before, on the
// tree of an iteration.
func (c Case) originalTrial(base snapshot.ID, before *metric.Tests, it ledger.Iteration, s baseChange) originaltests.Trial {
	return originaltests.Trial{
		Workspace: c.Workspace, Base: base, Current: it.Snapshot, Changes: s.changes, Evidence: *s.evidence,
		BaseTests: before, CurrentTests: it.Set.Tests, Flaky: c.flakyTests(it), Limit: c.GoalTests.Timeout,
	}
}

// runOriginals runs a trial and masks secrets in its record. It reuses the record of an earlier
// trial with the same key. A fault of the machine, such as a full disk, is no error: the findings
// count without the trial then.
func (c Case) runOriginals(ctx context.Context, t originaltests.Trial) (*ledger.Goals, error) {
	key, err := t.Key()
	if known := c.History.goals[key]; err == nil && known != nil {
		again := *known
		again.Reused, again.Took, again.Runs, again.CodeSnapshot = true, 0, nil, t.Current
		return c.markAccepted(&again), nil
	}

	c.progress("running tests as they were over the new code")
	out, err := t.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil && c.Subject == Change:
		c.problem("tests could not be run as they were", err)
		return nil, nil //nolint:nilnil // the change is judged without it
	case err != nil:
		c.problem("run tests as they were", err)
		return t.RefusedRecord(c.Mask.String(err.Error())), nil
	}
	out.Key = key
	for i, r := range out.Results {
		out.Results[i].Why = c.Mask.String(r.Why)
		for _, x := range []*detector.Excerpt{r.Before, r.After} {
			if x != nil {
				x.Text = c.Mask.String(x.Text)
			}
		}
	}

	out.Runs = c.Mask.Checks(out.Runs)
	return c.markAccepted(&out), nil
}

// markAccepted marks the tests that an earlier, accepted iteration weakened.
func (c Case) markAccepted(g *ledger.Goals) *ledger.Goals {
	g.Results = slices.Clone(g.Results)
	for i, r := range g.Results {
		g.Results[i].AcceptedBefore = c.History.weakened[c.History.Previous.Iteration][r.ID]
	}
	return g
}

// learnTrials remembers the trials of an iteration and, if it was accepted, which tests are
// weakened in its tree.
func (h *History) learnTrials(it ledger.Iteration) {
	if g := it.Goals; g != nil && g.Key != "" && g.NotRunReason == "" {
		h.goals[g.Key] = g
	}
	if p := it.MutationCheck; p != nil && p.Key != "" && p.NotRunReason == "" {
		h.mutationChecks[p.Key] = p
	}
	h.learnChangeMutants(it.ChangeMutants)
	if it.Rejected {
		return
	}

	now := map[metric.ID]bool{}
	maps.Copy(now, h.weakened[h.Previous.Iteration])
	for _, a := range it.Assessment.Alerts {
		if a.Rule == detector.TestsWeakened {
			for _, id := range a.Tests {
				now[id] = true
			}
		}
	}
	if it.Goals != nil {
		for _, g := range it.Goals.Results {
			if g.Outcome == detector.Passed {
				delete(now, g.ID)
			}
		}
	}
	h.weakened[it.Number] = now
}
