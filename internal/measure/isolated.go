package measure

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"supervise/metric"
)

// rerunIsolated reruns, one check at a time, the tests that failed while other checks ran: a
// test with a time limit may fail because the machine is busy. Those that pass are flaky. If
// tests are known, [Meter.Confirm] reruns those that passed before instead.
func (m *measurement) rerunIsolated(ctx context.Context, runs []Run, known *metric.Tests) error {
	if known != nil || m.rerunLimits().Reruns <= 0 || runtime.GOMAXPROCS(0) >= enoughCPUs {
		return nil
	}
	for i, r := range runs {
		at := slices.IndexFunc(m.plan.Checks, func(c Check) bool { return c.ID() == r.Check.ID() })
		failed := m.failedUnderContention(r, runs)
		if at < 0 || len(failed) == 0 {
			continue
		}
		again, err := (&rerunRounds{meter: m.Meter, incomplete: map[int]bool{}, finished: map[int]bool{}}).rerunCheck(ctx, at, failed)
		if err != nil {
			return fmt.Errorf("rerun failed tests in isolation: %w", err)
		}
		markFlaky(&runs[i], suspectOutcomes(again, failed))
	}
	return nil
}

// failedUnderContention returns the tests of a run that failed while other checks ran, and
// none if they are too many to be a matter of chance.
func (m *measurement) failedUnderContention(r Run, runs []Run) []metric.Test {
	if r.Tests == nil || len(r.Tests.Broken) > 0 || r.Duration <= 0 || contention(r, runs) == 0 {
		return nil
	}
	failed := slices.DeleteFunc(slices.Clone(r.Tests.Cases), func(t metric.Test) bool { return !t.Failed() || t.Status == metric.NotRun })
	if len(failed) > m.rerunLimits().MaxTests {
		return nil
	}
	return failed
}

// markFlaky marks the tests that passed in the isolated rerun as passed and flaky.
func markFlaky(r *Run, results map[metric.ID]metric.Status) {
	tests := *r.Tests
	tests.Cases = slices.Clone(tests.Cases)
	n, first := 0, ""
	for i, t := range tests.Cases {
		if status, ok := results[t.ID]; !ok || status != metric.Passed {
			continue
		}
		tests.Cases[i].Status, tests.Cases[i].Flaky, tests.Cases[i].Message = metric.Passed, true, ""
		if n++; first == "" {
			first = t.ID.String()
		}
	}
	if n > 0 {
		r.Tests = &tests
		r.Problems = append(r.Problems, fmt.Sprintf("%d tests failed while other checks ran and passed in an isolated rerun; they count as passed and flaky, the first: %s", n, first))
	}
}
