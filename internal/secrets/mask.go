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

// Texts masks a list of texts.
func (m Mask) Texts(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = m.String(list[i])
	}
	return list
}

// Runs masks the output of check runs.
func (m Mask) Runs(list []measure.Run) []measure.Run {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.Output, r.Why, r.Problems = m.String(r.Output), m.String(r.Why), m.Texts(r.Problems)
	}
	return list
}

// Checks masks the output of recorded check runs.
func (m Mask) Checks(list []ledger.CheckRun) []ledger.CheckRun {
	list = slices.Clone(list)
	for i := range list {
		r := &list[i]
		r.Output, r.Why, r.Problems = m.String(r.Output), m.String(r.Why), m.Texts(r.Problems)
	}
	return list
}

// Set masks the free texts of a set. Names are identifiers and stay unchanged.
func (m Mask) Set(set metric.Set) metric.Set {
	if m.Masker == nil {
		return set
	}
	set.Gaps = slices.Clone(set.Gaps)
	for i := range set.Gaps {
		set.Gaps[i].Why = m.String(set.Gaps[i].Why)
	}
	set.Tests = m.tests(set.Tests)
	if set.Lint != nil {
		lint := *set.Lint
		lint.Findings = m.Findings(lint.Findings)
		set.Lint = &lint
	}
	return set
}

func (m Mask) tests(t *metric.Tests) *metric.Tests {
	if t == nil {
		return nil
	}
	out := *t
	out.Cases, out.Broken = slices.Clone(t.Cases), slices.Clone(t.Broken)
	for i := range out.Cases {
		out.Cases[i].Message = m.String(out.Cases[i].Message)
	}
	for i := range out.Broken {
		out.Broken[i].Why = m.String(out.Broken[i].Why)
	}
	out.Failure, out.Problems = m.String(t.Failure), m.Texts(t.Problems)
	return &out
}

// Findings masks the texts of lint findings.
func (m Mask) Findings(list []metric.Finding) []metric.Finding {
	list = slices.Clone(list)
	for i := range list {
		list[i].Message, list[i].Text = m.String(list[i].Message), m.String(list[i].Text)
	}
	return list
}
