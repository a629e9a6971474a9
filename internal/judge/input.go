package judge

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/runner"
)

// Input returns what the rules read of an iteration: its facts, its evidence and the history
// before it.
func (h *History) Input(it ledger.Iteration) detector.Input {
	var e ledger.Evidence
	if it.Evidence != nil {
		e = *it.Evidence
	}
	text := failureText(it)
	current := it.Observation()
	current.Set, current.Error = it.JudgedSet(), text // later iterations are compared with it.Set
	in := detector.Input{
		Current: current, Previous: h.Previous, Baseline: h.Baseline, History: h.Accepted, Best: h.Best,
		Errors: h.errorsWith(text), KnownErrors: h.baselineErrors(), SuiteUnread: max(0, h.unreadWith(it)-1),
		AddedByLoop: h.addedByLoop(), Evidence: e.Evidence, CoverageLosses: it.CoverageLosses, ChangedLines: it.ChangeCoverage.Changed(), PlainCoverage: it.Recorded != nil, Now: e.JudgedAt, KnownFlaky: h.learnedFlaky, Granted: h.Granted(),
		Acknowledged: slices.Concat(h.Acknowledged(), it.Acknowledged),
	}

	in.CheckChanges = h.compareCheckChanges(it.CheckChanges)
	if it.ConcealedRun != nil {
		in.TestOnly = it.ConcealedRun.Results
	}
	if it.CleanRoom != nil {
		in.Reliances = it.CleanRoom.Reliances
	}
	if it.Goals != nil {
		if it.Goals.Rewritten != "" {
			in.CheckChanges = append(in.CheckChanges, detector.CheckChange{Path: it.Goals.Rewritten, Original: true})
		}
		in.Goals, in.ProductUnchanged, in.Dependencies = it.Goals.Results, it.Goals.ProductSame, it.Goals.Dependencies
	}
	in.ReviewFindings = reviewFindings(it.Review, it.Goals)
	if it.MutationCheck != nil {
		in.Mutations = it.MutationCheck.Results
	}
	if it.ChangeMutants != nil {
		in.Unguarded = it.ChangeMutants.Findings
	}
	if x := it.Hidden; x != nil && x.NotRunReason == "" && !x.Reused && !x.Deferred {
		in.Hidden = &detector.Hidden{Tests: x.Tests, Sealed: x.Sealed, Passed: h.hiddenPassed}
	}
	return in
}

// compareCheckChanges returns what the checks changed, compared with what they change at the
// baseline.
func (h *History) compareCheckChanges(list []detector.CheckChange) []detector.CheckChange {
	out := slices.Clone(list)
	for i, c := range out {
		out[i].AtBase = slices.ContainsFunc(h.baselineIteration().CheckChanges, func(b detector.CheckChange) bool { return b.Path == c.Path && b.Kind == c.Kind })
	}
	return out
}

// CompareWithBaseline compares measurements with the baseline. losses are nil if the tree was not
// judged: then no line is known to have lost its coverage.
func (h *History) CompareWithBaseline(set metric.Set, losses []detector.CoverageLoss, o detector.Options) *detector.Balance {
	if losses == nil && set.Coverage.NamesLines() {
		for _, n := range h.comparedIterations() {
			losses = append(losses, detector.CoverageLoss{Since: n})
		}
	}
	current := detector.Observation{Iteration: len(h.Iterations), Set: set}
	return detector.CompareWithBaseline(detector.Input{Current: current, Previous: h.Previous, Baseline: h.Baseline, History: h.Accepted, KnownFlaky: h.learnedFlaky, CoverageLosses: losses}, o)
}

// errorsWith returns the consecutive errors including that of the next iteration; nil if that has
// none.
func (h *History) errorsWith(text string) []string {
	if text == "" {
		return nil
	}
	return append(h.Errors[:len(h.Errors):len(h.Errors)], text)
}

// baselineErrors returns the errors of the baseline. For a broken build these are all its errors,
// since another one may be the first later.
func (h *History) baselineErrors() []string {
	var out []string
	if h.Baseline.Error != "" {
		out = append(out, h.Baseline.Error)
	}
	set := h.Baseline.Set
	if !isBuildBroken(set) {
		return out
	}
	out = append(out, set.Build.FirstError)
	if set.Lint != nil {
		for _, f := range set.Lint.Findings {
			if f.Type {
				out = append(out, f.Diagnostic())
			}
		}
	}
	return out
}

// unreadWith returns the number of consecutive iterations without readable tests, including the
// next one.
func (h *History) unreadWith(it ledger.Iteration) int {
	if it.Set.Tests != nil {
		return 0
	}
	return h.UnreadIterations + 1
}

// addedByLoop returns the tests of the previous tree that the baseline does not have.
func (h *History) addedByLoop() map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if h.Previous.Set.Tests == nil || h.Commits || h.NamesIncomplete {
		return out
	}
	metric.Pair(h.Baseline.Set.Tests, h.Previous.Set.Tests, func(old, current *metric.Test) {
		if old == nil {
			out[current.ID] = true
		}
	})
	return out
}

// failureText returns the error of an iteration, "" if there is none. For an agent that failed and
// changed nothing it is what the agent printed last, otherwise the first error of the build. An
// agent that changed something, or ran out of turns or time, did not fail.
func failureText(it ledger.Iteration) string {
	if it.Recorded != nil {
		return it.Recorded.Error
	}
	idle := len(it.Changed) == 0 && it.Agent.Cause == runner.Exited.String()
	switch {
	case idle && it.Agent.Signal != "":
		return "agent ended by " + it.Agent.Signal
	case idle && it.Agent.ExitCode != 0:
		return fmt.Sprintf("agent ended with status %d: %s", it.Agent.ExitCode, it.Agent.LastOutput)
	case idle && !it.Agent.Succeeded():
		return fmt.Sprintf("agent ended without success (%s): %s", strings.ReplaceAll(it.Agent.Outcome, "_", " "), it.Agent.LastOutput)
	case isBuildBroken(it.Set):
		return it.Set.Build.FirstError
	}
	return ""
}
