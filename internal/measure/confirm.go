package measure

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"supervise/metric"
)

// Limits of the confirmation of failures.
const (
	maxSuspects = 20 // more failures than that are no matter of chance
	maxReruns   = 2
)

// Confirm runs the tests again that failed although they passed before, and
// only those, and returns the ones that passed this time: they are flaky. It
// returns none where the framework cannot run single tests, where there are
// more than twenty suspects, or where a suite could not run at all.
func (m *Meter) Confirm(ctx context.Context, suspects []metric.Test) ([]metric.ID, error) {
	if len(suspects) == 0 || len(suspects) > maxSuspects {
		return nil, nil
	}
	var flaky []metric.ID
	for range maxReruns {
		passed, err := m.rerun(ctx, suspects)
		if err != nil {
			return flaky, err
		}
		flaky = append(flaky, passed...)
		suspects = slices.DeleteFunc(slices.Clone(suspects), func(t metric.Test) bool { return slices.Contains(flaky, t.ID) })
		if len(suspects) == 0 {
			break
		}
	}
	return flaky, nil
}

func (m *Meter) rerun(ctx context.Context, suspects []metric.Test) ([]metric.ID, error) {
	var passed []metric.ID
	for _, c := range m.plan.Checks {
		if c.Kind != Test || c.Runner != "go" {
			continue
		}
		for _, again := range goReruns(c, suspects) {
			run, err := m.check(ctx, again)
			if err != nil {
				return nil, fmt.Errorf("run failing tests again: %w", err)
			}
			passed = append(passed, passes(run, suspects)...)
		}
	}
	return passed, nil
}

// passes lists the suspects that passed in the run. Only an explicit pass
// counts: a test that did not show up again has not recovered, nor has one
// whose run failed as a whole.
func passes(r Run, suspects []metric.Test) []metric.ID {
	if r.state != metric.Measured || r.tests == nil || len(r.tests.Broken) > 0 || r.tests.Failure != "" {
		return nil
	}
	var out []metric.ID
	for _, s := range suspects {
		if t, ok := r.tests.Lookup(s.ID); ok && t.Status == metric.Passed {
			out = append(out, s.ID)
		}
	}
	return out
}

// goReruns makes one command per package: the names of tests in two packages
// may be equal.
func goReruns(c Check, suspects []metric.Test) []Check {
	names := map[string][]string{}
	var packages []string
	for _, s := range suspects {
		root, _, _ := strings.Cut(s.Name, "/")
		if _, seen := names[s.Suite]; !seen {
			packages = append(packages, s.Suite)
		}
		if quoted := regexp.QuoteMeta(root); !slices.Contains(names[s.Suite], quoted) {
			names[s.Suite] = append(names[s.Suite], quoted)
		}
	}
	var out []Check
	for _, pkg := range packages {
		out = append(out, Check{
			Kind: Test, Name: c.Name + " (again)", Timeout: c.Timeout, Dir: c.Dir, Env: c.Env,
			Command: []string{"go", "test", "-json", "-count=1", "-run", "^(" + strings.Join(names[pkg], "|") + ")$", pkg},
		})
	}
	return out
}

// Suspects returns the tests that passed in before and fail in now, and none
// when a suite could not run: then chance is not the reason.
func Suspects(before, now *metric.Tests) []metric.Test {
	if before == nil || now == nil || len(now.Broken) > 0 {
		return nil
	}
	var out []metric.Test
	for _, t := range now.Cases {
		if was, ok := before.Lookup(t.ID); ok && was.Status == metric.Passed && t.Failed() && t.Status != metric.NotRun {
			out = append(out, t)
		}
	}
	return out
}
