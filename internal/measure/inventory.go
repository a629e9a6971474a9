package measure

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/measure/internal/gotests"
	"supervise/internal/measure/internal/listing"
	"supervise/internal/measure/internal/read"
	"supervise/metric"
)

// inventory compares the tests that ran with the list of the framework, and adds those
// that did not run. It runs the inventory command only if tests may be missing: at the
// baseline, and if a known test is not in the report.
func (m *measurement) inventory(ctx context.Context, run *Run, known *metric.Tests) error {
	c := run.Check
	if len(c.Inventory) == 0 || !listing.CanRead(c.Runner) || run.State != metric.Measured || run.Tests == nil || run.DirMissing || !m.missesKnown(run, known) {
		return nil
	}
	list, err := m.listed(ctx, c, run.Tests)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if known == nil && len(run.Tests.Cases) == 0 && len(run.Tests.Broken) > 0 {
			return nil // the reason is known
		}
		why := fmt.Sprintf("the tests of %s could not be listed: %v", c.Name, err)
		run.Problems = append(run.Problems, why)
		if m.memory.ListedOnly.Has(c.ID()) { // without the list they would look deleted
			run.State, run.Why = metric.Partial, why
		}
		return nil
	}
	before, count := len(run.Tests.Problems), len(run.Tests.Cases)
	list = withoutPrograms(run, list)
	run.Tests, run.Listed = listing.Reconcile(run.Tests, list), len(list)
	m.memory.LearnListed(c.ID(), len(run.Tests.Cases) > count)
	run.Problems = append(run.Problems, run.Tests.Problems[before:]...)
	return nil
}

// missesKnown reports whether a known test of the check is missing from the run, or none
// is known.
func (m *measurement) missesKnown(run *Run, known *metric.Tests) bool {
	suites, learnt := m.memory.Suites[run.Check.ID()]
	if known == nil {
		return true
	}
	lost := false
	metric.Pair(known, run.Tests, func(was, is *metric.Test) {
		lost = lost || is == nil && (suites.Has(was.Suite) || !learnt)
	})
	return lost
}

// buildTools run the tests of one module after another.
var buildTools = map[string]bool{"maven": true, "gradle": true, "dotnet": true}

// markStopped marks known suites as broken if their check ran nothing because one of them
// is broken, or if a build tool stopped before them.
func (m *measurement) markStopped(run *Run, known *metric.Tests) {
	if run.State != metric.Measured || run.Tests == nil || known == nil {
		return
	}
	why := whyStopped(*run)
	if why == "" {
		return
	}
	t := run.Tests
	suites, learnt := m.memory.Suites[run.Check.ID()]
	seen := map[string]bool{}
	for _, c := range t.Cases {
		seen[c.Suite] = true
	}
	for _, b := range t.Broken {
		seen[b.Name] = true
	}
	for _, c := range known.Cases {
		ours := suites.Has(c.Suite) || !learnt && run.Check.Dir != "" && strings.HasPrefix(c.Suite, run.Check.Dir+"/")
		if ours && !seen[c.Suite] {
			seen[c.Suite] = true
			t.Broken = append(t.Broken, metric.Suite{Name: c.Suite, Why: why})
		}
	}
}

// whyStopped returns why suites did not run that the report does not name, "" if all of
// them should have run.
func whyStopped(run Run) string {
	t := run.Tests
	switch {
	case len(t.Cases) == 0 && len(t.Broken) > 0:
		return t.Broken[0].Why
	case buildTools[run.Check.Runner] && t.Failure != "", run.Check.Runner == "maven" && run.ExitCode != 0:
		return cmp.Or(t.Failure, fmt.Sprintf("%s ended with status %d before it ran", run.Check.Name, run.ExitCode))
	}
	return ""
}

// listed returns the list of the framework. Go does not list the packages of which all
// tests in the sources ran.
func (m *measurement) listed(ctx context.Context, c Check, ran *metric.Tests) ([]listing.Test, error) {
	if c.Runner != "go" {
		return m.list(ctx, c)
	}
	tagged := slices.ContainsFunc(append(m.commands().Environ(), c.Env...), func(kv string) bool {
		return strings.HasPrefix(kv, "GOFLAGS=") && strings.Contains(kv, "-tags")
	})
	list, again, ok := gotests.ListFromSource(m.plan.Dir(c), c.Inventory, tagged, ran)
	switch {
	case !ok:
		return m.list(ctx, c)
	case len(again) == 0:
		return list, nil
	}
	some := c
	some.Inventory = again
	more, err := m.list(ctx, some) // also of packages below those
	if err != nil {                // they may all be excluded
		return m.list(ctx, c)
	}
	return slices.Compact(slices.SortedFunc(slices.Values(append(list, more...)), listing.Test.Compare)), nil
}

// list runs the inventory command and reads its output.
func (m *measurement) list(ctx context.Context, c Check) (list []listing.Test, err error) {
	err = m.commands().Query(ctx, c, c.Inventory, func(answer *os.File) (err error) {
		list, err = listing.Read(c.Runner, answer)
		return err
	})
	for i, l := range list {
		if c.Runner != "go" && l.Suite != "" {
			list[i].Suite = read.SuiteName(c, m.plan.Root, filepath.ToSlash(l.Suite))
		}
	}
	return list, err
}
