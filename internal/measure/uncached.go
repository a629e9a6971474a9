package measure

import (
	"context"

	"supervise/metric"
)

// Run measures the present tree with everything run anew. known are the tests of the
// tree that the agent started from, nil for the baseline; those of a suite that could
// not run are carried over. The error is ctx's, or a failure of the machine. A failing
// check is not an error but part of the result.
func (m *Meter) Run(ctx context.Context, known *metric.Tests) (Result, error) {
	all := m.With(m.plan.Uncached())
	all.links = nil
	return all.measureAll(ctx, known)
}

// Quick is [Meter.Run] for an iteration: a tool may take from its own cache what the
// change does not touch, and integration tests that passed and did not change are not
// run. The verdicts of tests that were not run are marked as carried.
func (m *Meter) Quick(ctx context.Context, known *metric.Tests) (Result, error) {
	return m.With(m.deferTests(known)).measureAll(ctx, known)
}
