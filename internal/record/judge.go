package record

import (
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
)

// judge compares an iteration with those recorded before it, and returns it with its verdict and
// its decision. The steps are those of a loop that supervise runs, without the ones that need a
// tree. An iteration that has to be rolled back counts as rejected. The baseline has no decision.
func (v View) judge(it ledger.Iteration) (ledger.Iteration, error) {
	before := v.until(it.Number)
	if it.Number == 0 {
		it.Assessment = detector.Assessment{Class: detector.Baseline, Alerts: []detector.Alert{}}
		it.Verified = verified(it)
		return it, nil
	}

	past, comparable := before.historyFor(it)
	found, err := judge.Judge{Settings: before.settingsFor(it)}.JudgeRecorded(comparable, past)
	if err != nil {
		return it, err
	}

	it.Assessment = found.Assessment
	if len(before.Iterations) == 0 && len(it.Assessment.Alerts) == 0 {
		it.Assessment.Recommendation.Reason = "The first iteration: there is nothing to compare it with"
	}

	step, next := before.nextStep(it, past.Previous.Iteration)
	it.Rejected, it.Verified = step.Reject, verified(it)
	it.Decision = &ledger.Decision{
		Move: string(step.Move), Target: step.Target, Retry: step.Retry, Reason: step.Reason, Advice: step.Advice,
		Retries: next.Retries, Attempts: next.Attempts, SameFinding: next.RepeatedFindings,
	}
	if step.Diagnosis != nil {
		it.Decision.Diagnosis = step.Diagnosis.String()
	}
	if target, err := v.Iteration(step.Target); err == nil && step.Reject {
		it.Decision.Restore = target.Snapshot
	}

	it.Best = before.with(it).bestSoFar()
	it.Regression = before.regression(it)
	return it, nil
}

// until returns a copy of the loop with only the iterations before n.
func (v View) until(n int) View {
	v.Iterations = slices.DeleteFunc(slices.Clone(v.Iterations), func(it ledger.Iteration) bool { return it.Number >= n })
	return v
}

// with returns a copy of the loop with an added or replaced iteration, sorted by number.
func (v View) with(it ledger.Iteration) View {
	v.Iterations = slices.DeleteFunc(slices.Clone(v.Iterations), func(o ledger.Iteration) bool { return o.Number == it.Number })
	v.Iterations = append(v.Iterations, it)
	slices.SortFunc(v.Iterations, func(a, b ledger.Iteration) int { return a.Number - b.Number })
	return v
}

// historyFor returns the history for judging an iteration, and the iteration itself. Both are reduced
// to the details that all their sets have; see [equalizeDetail].
func (v View) historyFor(it ledger.Iteration) (*judge.History, ledger.Iteration) {
	h := judge.NewHistory()
	for _, earlier := range v.Iterations {
		if earlier.Number == 0 {
			h.Baseline = earlier.Observation()
			h.Best = &h.Baseline
		}
		if !earlier.Rejected {
			h.Accepted = append(h.Accepted, earlier.Observation())
		}
	}
	if start := v.startIndex(it.Recorded); start >= 0 {
		h.Previous = v.Iterations[start].Observation()
	}
	if best := v.bestSoFar(); best != nil {
		if b, err := v.Iteration(best.Iteration); err == nil {
			h.Best = new(b.Observation())
		}
	}
	h.Errors, h.UnreadIterations = v.lastErrors(), v.countUnread()
	equalizeDetail(h, &it.Set)
	return h, it
}

// startIndex returns the index in v.Iterations of the iteration from whose tree the next one starts:
// the one that t reports, or else the last accepted one or the target of the last rollback. It
// returns -1 if there is none.
func (v View) startIndex(t *ledger.Reported) int {
	at := -1
	for i, it := range v.Iterations {
		switch {
		case t != nil && t.StartedFrom != nil:
			if it.Number == *t.StartedFrom {
				return i
			}
		case !it.Rejected:
			at = i
		case it.Decision != nil && it.Decision.Target > 0:
			at = slices.IndexFunc(v.Iterations, func(o ledger.Iteration) bool { return o.Number == it.Decision.Target })
		}
	}
	return at
}

// lastErrors returns the errors of the last iterations, up to the latest one without an error. It is
// nil if the last iteration has none.
func (v View) lastErrors() []string {
	var out []string
	for _, each := range v.Iterations {
		if each.Recorded == nil || each.Recorded.Error == "" {
			out = nil
			continue
		}
		out = append(out, each.Recorded.Error)
	}
	return out
}

// countUnread returns how many of the last iterations in a row have results, but none of tests.
func (v View) countUnread() int {
	n := 0
	for _, earlier := range slices.Backward(v.Iterations) {
		if earlier.Number == 0 || earlier.Set.Tests != nil || earlier.Set.IsEmpty() {
			break
		}
		n++
	}
	return n
}

// settingsFor returns the settings for judging an iteration. Tests are not required from an
// iteration that reports only scores.
func (v View) settingsFor(it ledger.Iteration) judge.Settings {
	if it.Set.IsEmpty() {
		return v.Settings.WithoutTests()
	}
	return v.Settings.Settings
}

// nextStep returns the step that follows the assessment of an iteration, and the state of the
// recovery after it. start is the number of the iteration from whose tree it started.
func (v View) nextStep(it ledger.Iteration, start int) (recovery.Step, recovery.State) {
	c := recovery.Case{Assessment: it.Assessment, Start: start, Paused: it.EndedAt, Now: it.EndedAt}
	if n := len(v.Iterations); n > 0 && v.Iterations[n-1].Rejected {
		c.Refused = v.Iterations[n-1].Assessment.Alerts
	}
	return recovery.Next(v.recoveryState(), c, v.Settings.Recovery)
}

// recoveryState returns the state of the recovery after the last iteration with a decision, the zero
// value if there is none.
func (v View) recoveryState() recovery.State {
	for _, it := range slices.Backward(v.Iterations) {
		if it.Decision != nil {
			return recovery.State{Retries: it.Decision.Retries, Attempts: it.Decision.Attempts, RepeatedFindings: it.Decision.SameFinding}
		}
	}
	return recovery.State{}
}

// bestSoFar returns the best iteration so far, nil if none is acceptable.
func (v View) bestSoFar() *ledger.BestIteration {
	choice, err := selector.Best(v.candidates(), v.Settings.Select)
	if err != nil || choice.BaselineChosen {
		return nil
	}
	return v.bestIteration(choice)
}

// verified reports whether an iteration is verified. If the orchestrator reports that it
// verified the iteration, that counts unless the measurements contradict it. Without a report,
// the measurements alone decide.
func verified(it ledger.Iteration) bool {
	measured := selector.IsVerified(it.Set, it.Assessment.HasCritical(), nil)
	switch {
	case it.Recorded == nil || it.Recorded.Verification == "":
		return measured
	case it.Recorded.Verification != ledger.VerifyPassed || it.Assessment.HasCritical():
		return false
	}
	broken := it.Set.Build != nil && it.Set.Build.Status == metric.BuildFailure
	return !broken && (it.Set.Tests == nil || measured)
}

// regression returns the regression in an iteration: the reason to roll it back, or what the user
// accepted. It returns nil if there is none.
func (v View) regression(it ledger.Iteration) *ledger.Regression {
	n := 1
	for _, earlier := range v.Iterations {
		if earlier.Regression != nil {
			n++
		}
	}
	outcome := "advised to go back to " + strings.ReplaceAll(iterationLabel(it.Decision.Target), "_", " ") + ", " + it.Decision.Move
	return ledger.NewRegression(it, n, outcome)
}

// equalizeDetail reduces all sets to the details that each of them has, so that they can be
// compared. If one set has only counts of tests, the others lose the names of their tests. If
// one has only a coverage percentage, the others lose their lines.
func equalizeDetail(h *judge.History, now *metric.Set) {
	sets := []*metric.Set{now, &h.Previous.Set, &h.Baseline.Set}
	for i := range h.Accepted {
		sets = append(sets, &h.Accepted[i].Set)
	}
	byCount, byPercentage := false, false
	for _, s := range sets {
		byCount = byCount || s.Tests != nil && s.Tests.Format == CountsOnly
		byPercentage = byPercentage || s.Coverage != nil && s.Coverage.Unit == metric.Percentage
	}
	for _, s := range sets {
		if byCount && s.Tests != nil && s.Tests.Format != CountsOnly {
			s.Tests = numberedTests(s.Tests.Counts())
		}
		if pct, ok := s.Coverage.Percent(); byPercentage && ok && s.Coverage.Unit != metric.Percentage {
			s.Coverage = percentageCoverage(pct)
		}
	}
	h.NamesIncomplete = byCount || h.Baseline.Set.Tests == nil // counts do not show which test is missing
}
