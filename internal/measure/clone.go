package measure

import (
	"maps"
	"slices"
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
	return &Meter{
		plan: plan, opts: opts, code: codeCache{}, tested: maps.Clone(m.tested), formats: maps.Clone(m.formats), suites: maps.Clone(m.suites),
		listedOnly: maps.Clone(m.listedOnly), covers: maps.Clone(m.covers), excluded: m.excluded, deferred: maps.Clone(m.deferred), built: maps.Clone(m.built), durations: maps.Clone(m.durations),
	}
}

// With returns a meter for the same tree by another plan. Both share what they learn,
// which is kept by check.
func (m *Meter) With(plan Plan) *Meter {
	other := *m
	other.plan = plan
	return &other
}
