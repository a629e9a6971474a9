package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// Open lists the open findings about the tree of an accepted iteration: its findings about
// integrity, and those of earlier iterations as long as what they found is still in the tree.
func (j Judge) Open(ctx context.Context, it ledger.Iteration, h *History) ([]ledger.OpenFinding, error) {
	out := integrityFindings(it)
	for _, o := range h.startIteration().Open {
		if slices.ContainsFunc(out, func(x ledger.OpenFinding) bool { return x.ID == o.ID }) {
			continue
		}
		exists, known := outcomeOf(o, it, h)
		if !known {
			var err error
			if exists, err = j.isStillInTree(ctx, o, it.Snapshot, h); err != nil {
				return nil, err
			}
		}
		if exists {
			out = append(out, o)
		}
	}
	return out, nil
}

// WithoutAcknowledged returns the open findings that no acknowledgement covers, nor one of at least
// their severity about the same tests.
func WithoutAcknowledged(open []ledger.OpenFinding, list []detector.Acknowledgement) []ledger.OpenFinding {
	isCovered := func(o ledger.OpenFinding) bool {
		return slices.ContainsFunc(list, func(a detector.Acknowledgement) bool {
			return a.CoversRecorded(detector.Alert{Rule: o.Rule, Tests: o.Tests, Files: o.Files}, o.ID)
		})
	}
	isOfCovered := func(o ledger.OpenFinding, name string) bool {
		return slices.ContainsFunc(open, func(x ledger.OpenFinding) bool {
			return x.Severity >= o.Severity && isCovered(x) && slices.ContainsFunc(x.Tests, func(id metric.ID) bool { return id.Name == name })
		})
	}
	return slices.DeleteFunc(slices.Clone(open), func(o ledger.OpenFinding) bool {
		return isCovered(o) || len(o.Tests) > 0 && !slices.ContainsFunc(o.Tests, func(id metric.ID) bool { return !isOfCovered(o, id.Name) })
	})
}

// outcomeOf reports whether an earlier finding still holds, as far as the runs of an iteration show
// it. known is false if they show nothing about it.
func outcomeOf(o ledger.OpenFinding, it ledger.Iteration, h *History) (holds, known bool) {
	switch {
	case o.Rule == detector.TestsWeakened && it.Goals != nil && it.Goals.NotRunReason == "":
		return stillWeakened(o, it.Goals), true
	case o.Rule == detector.MutationScoreDropped && it.MutationCheck != nil && it.MutationCheck.NotRunReason == "":
		return stillDropped(o, it.MutationCheck), true
	case o.Rule == detector.ChecksChangedTree: // the checks ran again
		return false, true
	case o.Rule == detector.RewriteNotDecided && it.MutationCheck != nil:
		return false, slices.ContainsFunc(it.MutationCheck.Results, func(r detector.MutationResult) bool { return slices.Equal(o.Files, r.Files) && r.Clears() })
	case o.Rule == detector.ReliesOn:
		return stillRelies(o, it.CleanRoom)
	case isAboutGuard(o.Rule):
		return stillNoticesNothing(o, it.ChangeMutants)
	case o.Rule == detector.TestRunnerChanged:
		return false, isRunnerComparable(it, h)
	}
	return false, isCleared(o, it)
}

// isCleared reports whether the runs of an iteration show that a finding no longer holds.
func isCleared(o ledger.OpenFinding, it ledger.Iteration) bool {
	return o.Rule == detector.PassesOnlyUnderTest && noLongerDetectsTests(it) || dependentsPass(o, it.Goals)
}

// stillRelies reports whether a run in a clean copy needs the files of a finding again; known is false if
// there was none.
func stillRelies(o ledger.OpenFinding, r *ledger.CleanRoom) (relies, known bool) {
	if r == nil || r.NotRunReason != "" {
		return false, false
	}
	return slices.ContainsFunc(r.Reliances, func(x detector.Reliance) bool { return slices.Equal(x.Files, o.Files) }), true
}

// isIntegrityRule reports whether a rule is about integrity.
func isIntegrityRule(rule string) bool {
	return strings.HasPrefix(rule, detector.TamperPrefix) || slices.Contains([]string{
		detector.TestsWeakened, detector.MutationScoreDropped, detector.RewriteNotDecided,
		detector.TestRunnerChanged, detector.PassesOnlyUnderTest, detector.ChecksChangedTree, detector.ReliesOn,
		detector.TestsNoticeNothing, detector.GoalNoticesNothing,
	}, rule)
}

// integrityFindings lists the findings of an iteration about integrity that are HIGH or CRITICAL.
// Hidden tests that fail are left out, since they run on each tree again, and so are
// suppressions and exclusions, which cost errors and coverage already.
func integrityFindings(it ledger.Iteration) []ledger.OpenFinding {
	var out []ledger.OpenFinding
	for _, a := range it.Assessment.Alerts {
		if a.CountsAtLeast(detector.High) && isIntegrityRule(a.Rule) && a.Rule != detector.HiddenTestFailing && !integrity.RuleHasID(a.Type, "TP-28", "TP-33") {
			out = append(out, ledger.OpenFinding{
				ID: a.ID(), Rule: a.Rule, Severity: a.Severity, Iteration: it.Number, Message: a.Message(), Files: a.Files, Tests: a.Tests,
			})
		}
	}
	return out
}

// noLongerDetectsTests reports whether an iteration changed the code so that no test passes only
// under test: no code may look for tests now, or the tests passed when concealed from it.
func noLongerDetectsTests(it ledger.Iteration) bool {
	if len(it.Changed) == 0 || it.Evidence == nil || it.Evidence.OnlyTestsChanged {
		return false
	}
	d := it.ConcealedRun
	return d == nil || d.NotRunReason == "" && len(d.Results) == 0
}

// isRunnerComparable reports whether the framework of the baseline runs the tests again, or a
// mutation check compared the tests with those of the baseline.
func isRunnerComparable(it ledger.Iteration, h *History) bool {
	old, current := h.Baseline.Set.Tests, it.Set.Tests
	return old != nil && current != nil && old.Runner == current.Runner ||
		it.MutationCheck != nil && slices.ContainsFunc(it.MutationCheck.Results, detector.MutationResult.IsKnown)
}

// stillWeakened reports whether the original version of a test of the finding still does not pass.
func stillWeakened(o ledger.OpenFinding, g *ledger.Goals) bool {
	return slices.ContainsFunc(g.Results, func(r detector.Goal) bool {
		return r.Outcome != detector.Passed && slices.Contains(o.Tests, r.ID)
	})
}

// dependentsPass reports whether all files of a finding have tests that depend on them, and these
// passed with the original files.
func dependentsPass(o ledger.OpenFinding, g *ledger.Goals) bool {
	return g != nil && o.Severity < detector.Critical && len(o.Files) > 0 && integrity.RuleHasID(strings.TrimPrefix(o.Rule, detector.TamperPrefix), detector.RunnerPatterns...) &&
		!slices.ContainsFunc(o.Files, func(file string) bool {
			return !slices.ContainsFunc(g.Dependencies, func(p detector.DependencyResult) bool { return p.File == file && p.Passed > 0 })
		})
}

// isStillInTree reports whether a tree still has what an earlier iteration was found to do. It is
// false if all files of the finding equal those before that iteration, or if the complete change
// since then does not show the finding. Findings outside the tree stay open, and so do findings
// whose snapshots no longer exist.
func (j Judge) isStillInTree(ctx context.Context, o ledger.OpenFinding, now snapshot.ID, h *History) (bool, error) {
	foundIn := h.Iterations[o.Iteration]
	ofTree := slices.ContainsFunc(foundIn.Changed, func(c ledger.FileChange) bool { return slices.Contains(o.Files, c.Path) })
	if !ofTree || h.Dropped[foundIn.Start] {
		return true, nil
	}
	changes, err := j.Store.Changes(ctx, foundIn.Start, now)
	if err != nil {
		return false, fmt.Errorf("compare with what iteration %d started from: %w", o.Iteration, err)
	}
	if !slices.ContainsFunc(changes, func(c snapshot.Change) bool { return slices.Contains(o.Files, c.Path) }) {
		return false, nil
	}
	e, err := evidence.CompareSnapshots(ctx, j.Store, foundIn.Start, now, changes, j.Integrity)
	if err != nil {
		return false, err
	}
	same := func(t detector.Tampering) bool {
		return detector.TamperPrefix+t.Type == o.Rule && slices.Contains(o.Files, t.File)
	}
	kind := strings.TrimPrefix(o.Rule, detector.TamperPrefix)
	textual := len(integrity.UnknownRules([]string{kind})) == 0 // otherwise it is not known whether it is gone
	return !textual || slices.ContainsFunc(e.Tampering, func(t detector.Tampering) bool { return same(t) && t.ExplainedBy == "" }), nil
}

// reopenedFindings lists the open findings of a recorded iteration that is judged again. Of the
// findings that were recorded as still open, it keeps those that the current rules raise too.
func (h *History) reopenedFindings(recorded, rejudged ledger.Iteration) []ledger.OpenFinding {
	out := integrityFindings(rejudged)
	for _, o := range recorded.Open {
		if o.Iteration != rejudged.Number && slices.ContainsFunc(h.startIteration().Open, func(x ledger.OpenFinding) bool { return x.ID == o.ID }) {
			out = append(out, o)
		}
	}
	return out
}
