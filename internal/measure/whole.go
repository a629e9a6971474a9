package measure

import (
	"cmp"
	"context"
	"time"

	"supervise/metric"
)

// Whole is what the test checks said of another tree. Tests is nil where they could
// not be read as a whole, and Why says so.
type Whole struct {
	Tests *metric.Tests
	Runs  []Run
	Why   string
}

// Whole runs all tests of another tree: with the project's own checks, those that
// build first, or with own alone where it is not nil. limit bounds all of it; 0
// leaves the limits of the checks. What is read teaches the meter nothing. The
// error is ctx's, or a fault of the machine.
func (m *Meter) Whole(ctx context.Context, root string, own *Check, limit time.Duration) (Whole, error) {
	e := m.elsewhere(root, limit)
	checks := e.there.plan.Checks
	if own != nil {
		checks = Plan{Root: m.plan.Root, Checks: []Check{*own}}.in(root).Checks
	}
	var out Whole
	for _, kind := range []Kind{Build, Test} {
		for _, c := range checks {
			if c.Kind != kind {
				continue
			}
			run, err := e.run(ctx, c)
			out.Runs = e.runs
			if err != nil {
				return out, err
			}
			if out.Why = unfit(run); out.Why != "" {
				out.Tests = nil
				return out, nil
			}
			out.Tests = joinTests(out.Tests, run.tests)
		}
	}
	if out.Tests == nil {
		out.Why = "no check ran them"
	}
	return out, nil
}

// unfit says why nothing can be made of a run, "" where something can.
func unfit(r Run) string {
	switch {
	case r.Check.Kind == Build && (r.killed || r.ExitCode != 0):
		return "the build fails there: " + cmp.Or(r.Why, firstError(r))
	case r.Check.Kind == Test && r.state != metric.Measured:
		return cmp.Or(r.Why, "nothing of "+r.Check.Name+" could be read")
	}
	return ""
}
