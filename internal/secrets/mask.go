package secrets

import (
	"slices"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/runner"
)

// Mask replaces secrets in texts. The zero value replaces nothing. Every method returns a
// copy and does not change its argument.
type Mask struct{ *runner.Masker }

// NewMask returns a mask for the secrets of an environment and for texts that look like keys.
func NewMask(env []string) Mask { return Mask{runner.NewMasker(FromEnv(env))} }

// mapCopy returns a copy of a list with each item changed.
func mapCopy[T any](list []T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range list {
		change(&list[i])
	}
	return list
}

// mask masks each of the texts.
func (m Mask) mask(texts ...*string) {
	for _, text := range texts {
		*text = m.String(*text)
	}
}

// Texts masks a list of texts.
func (m Mask) Texts(list []string) []string { return mapCopy(list, func(s *string) { m.mask(s) }) }

// Runs masks the output of check runs.
func (m Mask) Runs(list []measure.Run) []measure.Run {
	return mapCopy(list, func(r *measure.Run) {
		m.mask(&r.Output, &r.Why)
		r.Problems = m.Texts(r.Problems)
	})
}

// Checks masks the output of recorded check runs.
func (m Mask) Checks(list []ledger.CheckRun) []ledger.CheckRun {
	return mapCopy(list, func(r *ledger.CheckRun) {
		m.mask(&r.Output, &r.Why)
		r.Problems = m.Texts(r.Problems)
	})
}

// Set masks the free texts of a set. Names are identifiers and stay unchanged.
func (m Mask) Set(set metric.Set) metric.Set {
	if m.Masker == nil {
		return set
	}
	set.Gaps = mapCopy(set.Gaps, func(g *metric.Gap) { m.mask(&g.Why) })
	if set.Tests != nil {
		tests := *set.Tests
		tests.Cases = mapCopy(tests.Cases, func(c *metric.Test) { m.mask(&c.Message) })
		tests.Broken = mapCopy(tests.Broken, func(b *metric.Suite) { m.mask(&b.Why) })
		m.mask(&tests.Failure)
		tests.Problems = m.Texts(tests.Problems)
		set.Tests = &tests
	}
	if set.Lint != nil {
		lint := *set.Lint
		lint.Findings = m.Findings(lint.Findings)
		set.Lint = &lint
	}
	return set
}

// Findings masks the texts of lint findings.
func (m Mask) Findings(list []metric.Finding) []metric.Finding {
	return mapCopy(list, func(f *metric.Finding) { m.mask(&f.Message, &f.Text) })
}
