package measure

import (
	"context"
	"fmt"
	"path"
	"slices"

	"supervise/metric"
)

// Default limits for confirming failures.
const (
	DefaultMaxTests = 20 // more failures are not a matter of chance
	DefaultReruns   = 2
)

// Reruns configures how failures are confirmed.
type Reruns struct {
	MaxTests int `json:"max_tests"` // with more suspects nothing runs again
	Reruns   int `json:"reruns"`    // how often a suspect runs again at most; 0: never
}

// Confirmation is the result of rerunning the tests that passed before and fail now.
type Confirmation struct {
	Suspects []metric.ID
	Flaky    []metric.ID // the suspects that passed when run again
	Runs     []Run       // the reruns, in order
	Refused  string      // why nothing ran again, "" if something did
}

// Confirm reruns the tests that passed in before and fail in now: only those if their
// framework supports it, otherwise the complete command, once. A suspect is flaky only if
// it explicitly passes; one that is missing from the rerun has not recovered. Nothing runs
// again if chance is not the reason: the build is broken, a suite could not run, or there
// are too many suspects.
func (m *Meter) Confirm(ctx context.Context, before, now metric.Set) (Confirmation, error) {
	suspects := newFailures(before.Tests, now.Tests)
	var c Confirmation
	for _, s := range suspects {
		c.Suspects = append(c.Suspects, s.ID)
	}
	if c.Refused = m.whyNotRerun(suspects, now); c.Refused != "" || len(suspects) == 0 {
		return c, nil
	}
	rounds := &rerunRounds{meter: m, incomplete: map[int]bool{}, finished: map[int]bool{}}
	for range m.rerunLimits().Reruns {
		passed, err := rounds.rerunAll(ctx, suspects)
		c.Flaky, c.Runs = append(c.Flaky, passed...), rounds.runs
		if err != nil {
			return c, err
		}
		suspects = slices.DeleteFunc(suspects, func(t metric.Test) bool { return slices.Contains(passed, t.ID) })
		if len(suspects) == 0 {
			break
		}
	}
	slices.SortFunc(c.Flaky, metric.ID.Compare)
	return c, nil
}

// rerunLimits returns how many tests run again and how often, by the options or the defaults.
func (m *Meter) rerunLimits() Reruns {
	if m.opts.Reruns != nil {
		return *m.opts.Reruns
	}
	return Reruns{DefaultMaxTests, DefaultReruns}
}

// whyNotRerun returns why the suspects do not run again, "" if they do.
func (m *Meter) whyNotRerun(suspects []metric.Test, now metric.Set) string {
	limits := m.rerunLimits()
	switch {
	case len(suspects) == 0:
		return ""
	case limits.Reruns <= 0:
		return "reruns of failed tests are turned off"
	case now.Build != nil && now.Build.Status == metric.BuildFailure:
		return "the build is broken: " + now.Build.FirstError
	case len(now.Tests.Broken) > 0:
		b := now.Tests.Broken[0]
		return fmt.Sprintf("%s did not run: %s", b.Name, b.Why)
	case len(suspects) > limits.MaxTests:
		return fmt.Sprintf("%d tests fail that passed before, more than the %d that may be a matter of chance", len(suspects), limits.MaxTests)
	}
	return ""
}

// NewFailures returns the tests that passed in before and fail in now. It returns none if a
// suite could not run, since the failures are then not a matter of chance.
func NewFailures(before, now *metric.Tests) []metric.Test {
	if now == nil || len(now.Broken) > 0 {
		return nil
	}
	return newFailures(before, now)
}

// newFailures is NewFailures whether or not a suite could not run.
func newFailures(before, now *metric.Tests) []metric.Test {
	if before == nil || now == nil {
		return nil
	}
	var out []metric.Test
	for _, t := range now.Cases {
		if !t.Failed() || t.Status == metric.NotRun {
			continue
		}
		if was, ok := before.Lookup(t.ID); ok && was.Status == metric.Passed {
			out = append(out, t)
		}
	}
	return out
}

// rerunRounds rerun suspects, check by check.
type rerunRounds struct {
	meter      *Meter
	runs       []Run
	incomplete map[int]bool // checks, by index in the plan, that did not run all requested tests
	finished   map[int]bool // checks that do not run again
}

// rerunAll reruns the suspects. It returns those that passed and did not fail in another check
// that also runs them.
func (r *rerunRounds) rerunAll(ctx context.Context, suspects []metric.Test) ([]metric.ID, error) {
	worst := map[metric.ID]metric.Status{}
	for i, c := range r.meter.plan.Checks {
		own := r.meter.testsOf(c, suspects)
		if c.Kind != Test || r.finished[i] || len(own) == 0 {
			continue
		}
		run, err := r.rerunCheck(ctx, i, own)
		if err != nil {
			return nil, fmt.Errorf("run failed tests again: %w", err)
		}
		for id, status := range suspectOutcomes(run, own) {
			worst[id] = max(worst[id], status)
		}
	}
	var passed []metric.ID
	for _, s := range suspects {
		if worst[s.ID] == metric.Passed {
			passed = append(passed, s.ID)
		}
	}
	return passed, nil
}

// rerunCheck reruns the suspects of the check with index i. If they cannot be selected, or that
// did not work, it runs the complete command, once.
func (r *rerunRounds) rerunCheck(ctx context.Context, i int, own []metric.Test) (Run, error) {
	c := r.meter.plan.Checks[i]
	chosen, selected := r.meter.selectTests(c, own)
	if !selected || r.incomplete[i] {
		chosen, selected, r.finished[i] = c, false, true
	}
	chosen.Name, chosen.Extra = c.Name+" (again)", true
	chosen.Coverage = false
	run, err := r.meter.rerun(ctx, chosen)
	r.runs = append(r.runs, run)
	r.incomplete[i] = selected && slices.ContainsFunc(own, func(s metric.Test) bool {
		t, ok := run.Tests.Lookup(s.ID)
		return !ok || t.Status == metric.Skipped
	})
	r.finished[i] = r.finished[i] || run.Killed // it would take as long again
	return run, err
}

// rerun runs a check without learning from it: a few tests show nothing about the others, and
// their coverage is meaningless.
func (m *Meter) rerun(ctx context.Context, c Check) (Run, error) {
	c = c.Uncached()
	m.opts.OnProgress(Progress{Check: c})
	other := &Meter{plan: m.plan, opts: m.opts, memory: (&Memory{}).Clone()}
	run, err := other.newMeasurement().runCheck(ctx, c)
	run.Coverage = nil
	if err == nil {
		m.opts.OnProgress(Progress{Check: c, Run: &run})
	}
	return run, err
}

// suspectOutcomes returns the results of the suspects in the run. Only an explicit pass clears
// a suspect, and a run that failed outside its tests clears none.
func suspectOutcomes(r Run, suspects []metric.Test) map[metric.ID]metric.Status {
	out := map[metric.ID]metric.Status{}
	if r.State != metric.Measured || r.Tests == nil {
		return out
	}
	complete := len(r.Tests.Broken) == 0 && (r.Tests.Failure == "" || rerunRule(r.Check).CoverageLimit)
	for _, s := range suspects {
		t, ok := r.Tests.Lookup(s.ID)
		switch {
		case !ok:
		case complete || t.Status != metric.Passed:
			out[s.ID] = t.Status
		}
	}
	return out
}

// testsOf returns the suspects in suites that the check has run, or all of them if its suites
// are unknown. A suite that no check has run, such as one that only the base has, belongs to the
// checks with suites of the same extension.
func (m *Meter) testsOf(c Check, suspects []metric.Test) []metric.Test {
	suites, learnt := m.memory.Suites[c.ID()]
	if !learnt {
		return suspects
	}
	return slices.DeleteFunc(slices.Clone(suspects), func(t metric.Test) bool {
		if suites.Has(t.Suite) {
			return false
		}
		for _, others := range m.memory.Suites {
			if others.Has(t.Suite) {
				return true
			}
		}
		return !slices.ContainsFunc(suites, func(s string) bool { return path.Ext(s) == path.Ext(t.Suite) })
	})
}
