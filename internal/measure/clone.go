package measure

import (
	"slices"

	"supervise/internal/measure/internal/codesize"
)

// Beside returns a meter that knows what m knows, for runs elsewhere at the same time as
// others: it reports no progress, and what it learns stays with it. Its checks have more
// environment variables.
func (m *Meter) Clone(env ...string) *Meter {
	plan := m.plan
	plan.Checks = slices.Clone(plan.Checks)
	for i, c := range plan.Checks {
		plan.Checks[i].Env = append(slices.Clone(c.Env), env...)
	}
	opts := m.opts
	opts.OnProgress, opts.Watch = func(Progress) {}, nil
	return &Meter{plan: plan, opts: opts, memory: m.memory.Clone(), code: codesize.Cache{}}
}

// With returns a meter for the same tree by another plan. Both share what they learn,
// which is kept by check.
func (m *Meter) With(plan Plan) *Meter {
	other := *m
	other.plan = plan
	return &other
}
