package record

import (
	"maps"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
	"supervise/selector"
)

// judge holds an iteration against those recorded before it and returns it with
// the verdict and what follows from that. It is the line of the loop from the
// measurement on; an iteration that is to be put back counts as put back.
func (v View) judge(it ledger.Iteration) ledger.Iteration {
	before := v.until(it.Number)
	if it.Number == 0 {
		it.Assessment = detector.Assessment{Class: detector.Baseline, Alerts: []detector.Alert{}}
		it.Verified = verified(it)
		return it
	}
	in := before.input(it)
	it.Assessment = detector.Assess(in, before.rules(it))
	if len(before.Iterations) == 0 && len(it.Assessment.Alerts) == 0 {
		it.Assessment.Recommendation.Reason = "The first iteration: there is nothing to compare it with"
	}
	step, next := recovery.Next(before.incident(), recovery.Case{Assessment: it.Assessment, Start: in.Previous.Iteration, Paused: it.EndedAt, Now: it.EndedAt}, v.Settings.Recovery)
	it.Rejected, it.Verified = step.Reject, verified(it)
	it.Decision = &ledger.Decision{
		Move: string(step.Move), Target: step.Target, Retry: step.Retry, Reason: step.Reason, Advice: step.Advice,
		Retries: next.Retries, Attempts: next.Attempts,
	}
	if step.Diagnosis != nil {
		it.Decision.Diagnosis = step.Diagnosis.String()
	}
	if target, err := v.Iteration(step.Target); err == nil && step.Reject {
		it.Decision.Restore = target.Snapshot
	}
	it.Best = before.with(it).running()
	if step.Reject {
		it.Regression = before.regression(it)
	}
	return it
}

// until is the loop as it was before iteration n.
func (v View) until(n int) View {
	v.Iterations = slices.DeleteFunc(slices.Clone(v.Iterations), func(it ledger.Iteration) bool { return it.Number >= n })
	return v
}

func (v View) with(it ledger.Iteration) View {
	v.Iterations = append(slices.Clone(v.Iterations), it)
	return v
}

// input gathers what the rules look at.
func (v View) input(it ledger.Iteration) detector.Input {
	in := detector.Input{Current: it.Observation(), Errors: v.errors(it), SuiteUnread: v.unread(it)}
	for _, earlier := range v.Iterations {
		if earlier.Number == 0 {
			in.Baseline = earlier.Observation()
		}
		if !earlier.Rejected {
			in.History = append(in.History, earlier.Observation())
		}
	}
	if start := v.start(it.Told); start >= 0 {
		in.Previous = v.Iterations[start].Observation()
	}
	if best := v.running(); best != nil {
		if b, err := v.Iteration(best.Iteration); err == nil {
			o := b.Observation()
			in.Best = &o
		}
	}
	if it.Evidence != nil {
		in.Now, in.GitLost = it.Evidence.Judged, it.Evidence.GitLost
	}
	in.AddedByLoop = addedByLoop(in.Previous.Set.Tests, in.Baseline.Set.Tests)
	level(&in)
	return in
}

// start is the index of the iteration whose tree the next one starts from: the
// one that is told, else the last that was not to be put back; -1 for none.
func (v View) start(t *ledger.Told) int {
	for i, it := range slices.Backward(v.Iterations) {
		if t != nil && t.From != nil {
			if it.Number == *t.From {
				return i
			}
			continue
		}
		if !it.Rejected {
			return i
		}
	}
	return -1
}

// errors are what went wrong in the latest iterations without a break.
func (v View) errors(it ledger.Iteration) []string {
	var out []string
	for _, each := range v.with(it).Iterations {
		if each.Told == nil || each.Told.Error == "" {
			out = nil
			continue
		}
		out = append(out, each.Told.Error)
	}
	return out
}

// unread counts the iterations right before this one whose tests could not be
// read.
func (v View) unread(it ledger.Iteration) int {
	n := 0
	for _, earlier := range slices.Backward(v.Iterations) {
		if earlier.Number == 0 || earlier.Set.Tests != nil || earlier.Set.Empty() {
			break
		}
		n++
	}
	if it.Set.Tests != nil {
		return 0
	}
	return n
}

// rules are those of the loop. Where an iteration is told of by scores alone,
// nobody tried to run its tests.
func (v View) rules(it ledger.Iteration) detector.Options {
	o := v.Settings.Rules
	if it.Set.Empty() {
		o.Rules = maps.Clone(o.Rules)
		if o.Rules == nil {
			o.Rules = map[string]detector.RuleOptions{}
		}
		o.Rules["suite_did_not_run"] = detector.RuleOptions{Off: true}
	}
	return o
}

// incident is the recovery's state after the last iteration.
func (v View) incident() recovery.State {
	for _, it := range slices.Backward(v.Iterations) {
		if it.Decision != nil {
			return recovery.State{Retries: it.Decision.Retries, Attempts: it.Decision.Attempts}
		}
	}
	return recovery.State{}
}

// running is the best iteration so far, nil when none is good enough to be.
func (v View) running() *ledger.BestIteration {
	choice, err := selector.Best(v.candidates(), v.Settings.Select)
	if err != nil || choice.BaselineChosen {
		return nil
	}
	return v.best(choice)
}

// verified reports whether an iteration is proven good: by what was told, which
// measurements must not deny, or by the measurements alone.
func verified(it ledger.Iteration) bool {
	measured := selector.Verified(it.Set, it.Assessment.Critical(), nil)
	switch {
	case it.Told == nil || it.Told.Verification == "":
		return measured
	case it.Told.Verification != ledger.VerifyPassed || it.Assessment.Critical():
		return false
	}
	broken := it.Set.Build != nil && it.Set.Build.Status == metric.BuildFailure
	return !broken && (it.Set.Tests == nil || measured)
}

func (v View) regression(it ledger.Iteration) *ledger.Regression {
	n := 1
	for _, earlier := range v.Iterations {
		if earlier.Regression != nil {
			n++
		}
	}
	r := &ledger.Regression{
		ID: regressionID(n), Timestamp: it.EndedAt, Iteration: it.Number,
		Outcome: "advised to go back to " + strings.ReplaceAll(iterationLabel(it.Decision.Target), "_", " ") + ", " + it.Decision.Move,
	}
	if it.Snapshot != "" {
		r.Kept = "s" + string(it.Snapshot)
	}
	var messages []string
	for _, a := range it.Assessment.Alerts {
		if a.Severity >= detector.High {
			messages = append(messages, a.Message())
			r.Tests = append(r.Tests, names(a.Tests)...)
		}
	}
	slices.Sort(r.Tests)
	r.Tests, r.Message = slices.Compact(r.Tests), strings.Join(messages, "; ")
	if len(it.Assessment.Alerts) > 0 {
		worst := it.Assessment.Alerts[0]
		r.Type, r.Severity = worst.Type, worst.Severity.String()
	}
	return r
}

// addedByLoop lists the tests of a tree that the baseline lacks.
func addedByLoop(now, baseline *metric.Tests) map[metric.ID]bool {
	out := map[metric.ID]bool{}
	if now == nil || baseline == nil {
		return out
	}
	for _, t := range now.Cases {
		if _, ok := baseline.Lookup(t.ID); !ok {
			out[t.ID] = true
		}
	}
	return out
}

// level brings what is compared to what is known of all of it: where one side
// has numbers of tests alone, names are left out on the others; where one has a
// percentage of coverage alone, so are lines.
func level(in *detector.Input) {
	sets := []*metric.Set{&in.Current.Set, &in.Previous.Set, &in.Baseline.Set}
	for i := range in.History {
		sets = append(sets, &in.History[i].Set)
	}
	byCount, byPercentage := false, false
	for _, s := range sets {
		byCount = byCount || s.Tests != nil && s.Tests.Format == Unnamed
		byPercentage = byPercentage || s.Coverage != nil && s.Coverage.Unit == metric.Percentage
	}
	for _, s := range sets {
		if byCount && s.Tests != nil && s.Tests.Format != Unnamed {
			s.Tests = unnamed(s.Tests.Counts())
		}
		if pct, ok := s.Coverage.Percent(); byPercentage && ok && s.Coverage.Unit != metric.Percentage {
			s.Coverage = percentage(pct)
		}
	}
	if byCount {
		in.AddedByLoop = nil // a number does not say which test is gone
	}
}
