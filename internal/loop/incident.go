package loop

import (
	"maps"
	"slices"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/recovery"
	"supervise/metric"
)

// caseOf is an iteration as the recovery sees it, from what is recorded alone.
func (s *session) caseOf(it ledger.Iteration) recovery.Case {
	c := recovery.Case{Assessment: it.Assessment, Start: s.previous.Iteration, Paused: it.StartedAt, Now: it.EndedAt}
	e := recovery.Evidence{Files: len(it.Changed), FailedBefore: s.failedBefore(it.Assessment)}
	if a := it.Agent; a != nil {
		c.Paused = it.StartedAt.Add(a.Duration)
		e.LastWords, e.AgentFailed = a.LastWords, a.ExitCode != 0 || a.Signal != ""
	}
	if code := it.Set.Code; code != nil && code.Added != nil && code.Deleted != nil {
		e.Lines = *code.Added + *code.Deleted
	}
	for _, check := range it.Checks {
		if check.Why != "" {
			e.NotMeasured = append(e.NotMeasured, check.Why)
		}
	}
	recent := s.recentTests(it)
	e.SameFailing, e.Flipping = sameFailing(recent), s.flipping(recent)
	c.Evidence = e
	return c
}

// failedBefore are the tests that findings say are gone, and that failed in the
// tree before.
func (s *session) failedBefore(a detector.Assessment) []string {
	var out []string
	for _, alert := range a.Alerts {
		if alert.Type != "test_deletion" || alert.Acknowledged != nil {
			continue
		}
		for _, id := range alert.Tests {
			if t, ok := s.previous.Set.Tests.Lookup(id); ok && t.Failed() && !slices.Contains(out, id.String()) {
				out = append(out, id.String())
			}
		}
	}
	return out
}

const (
	// sameFor is in how many iterations in a row a test fails that is too hard.
	sameFor = 3
	// flipsWithin is in how many of the latest iterations a test goes back and
	// forth, and flips how often it changes then.
	flipsWithin, flips = 6, 3
)

// recentTests are the tests of the latest iterations, the oldest first and those of
// it last, without the baseline and those whose tests could not be read.
func (s *session) recentTests(it ledger.Iteration) []*metric.Tests {
	var out []*metric.Tests
	if it.Set.Tests != nil {
		out = append(out, it.Set.Tests)
	}
	for _, earlier := range slices.Backward(s.history) {
		if len(out) >= flipsWithin || earlier.Number == 0 {
			break
		}
		if earlier.Set.Tests != nil && earlier.Number != it.Number {
			out = append(out, earlier.Set.Tests)
		}
	}
	slices.Reverse(out)
	return out
}

// sameFailing are the tests that fail in each of the latest iterations.
func sameFailing(recent []*metric.Tests) []string {
	if len(recent) < sameFor {
		return nil
	}
	same := map[string]bool{}
	for i, tests := range recent[len(recent)-sameFor:] {
		now := map[string]bool{}
		for _, name := range failing(tests) {
			now[name] = i == 0 || same[name]
		}
		same = now
	}
	maps.DeleteFunc(same, func(_ string, always bool) bool { return !always })
	return slices.Sorted(maps.Keys(same))
}

// flipping are the tests that go back and forth between passing and failing, but
// for those that do so by themselves.
func (s *session) flipping(recent []*metric.Tests) []string {
	was, changes := map[metric.ID]bool{}, map[metric.ID]int{}
	for _, tests := range recent {
		for _, t := range tests.Cases {
			if before, known := was[t.ID]; known && before != t.Failed() {
				changes[t.ID]++
			}
			was[t.ID] = t.Failed()
		}
	}
	var out []string
	for id, n := range changes {
		if n >= flips && !s.flaky[id] {
			out = append(out, id.String())
		}
	}
	slices.Sort(out)
	return out
}
