package measure

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"supervise/metric"
)

// alone runs tests again that failed beside other checks, with nothing beside them: on a
// busy machine a test with a limit of time fails for that. Those that pass are flaky. Where
// tests are known already, [Meter.Confirm] runs those again that passed before.
func (m *measurement) rerunIsolated(ctx context.Context, runs []Run, known *metric.Tests) error {
	if known != nil || m.reruns().Reruns <= 0 || runtime.GOMAXPROCS(0) >= enoughCPUs {
		return nil
	}
	for i, r := range runs {
		at := slices.IndexFunc(m.plan.Checks, func(c Check) bool { return c.ID() == r.Check.ID() })
		failed := m.failedUnderContention(r, runs)
		if at < 0 || len(failed) == 0 {
			continue
		}
		again, err := (&rounds{meter: m.Meter, lost: map[int]bool{}, done: map[int]bool{}}).run(ctx, at, failed)
		if err != nil {
			return fmt.Errorf("run failed tests alone: %w", err)
		}
		markFlaky(&runs[i], outcomes(again, failed))
	}
	return nil
}

// disturbed returns the tests of a run that failed while others ran, none where they are
// too many for that to be the reason.
func (m *measurement) failedUnderContention(r Run, runs []Run) []metric.Test {
	if r.Tests == nil || len(r.Tests.Broken) > 0 || r.Duration <= 0 || contention(r, runs) == 0 {
		return nil
	}
	failed := slices.DeleteFunc(slices.Clone(r.Tests.Cases), func(t metric.Test) bool { return !t.Failed() || t.Status == metric.NotRun })
	if len(failed) > m.reruns().MaxTests {
		return nil
	}
	return failed
}

// pass has those tests pass that did so alone.
func markFlaky(r *Run, alone map[metric.ID]metric.Status) {
	tests := *r.Tests
	tests.Cases = slices.Clone(tests.Cases)
	n, first := 0, ""
	for i, t := range tests.Cases {
		if status, ok := alone[t.ID]; !ok || status != metric.Passed {
			continue
		}
		tests.Cases[i].Status, tests.Cases[i].Flaky, tests.Cases[i].Message = metric.Passed, true, ""
		if n++; first == "" {
			first = t.ID.String()
		}
	}
	if n > 0 {
		r.Tests = &tests
		r.Problems = append(r.Problems, fmt.Sprintf("%d tests failed beside other checks and passed alone; they count as passed and flaky, the first: %s", n, first))
	}
}
