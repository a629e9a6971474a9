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

// compareWithList adds the tests that the framework lists and that did not run. It runs the
// inventory command only if tests may be missing: at the baseline, and if a known test is not
// in the report.
func (m *measurement) compareWithList(ctx context.Context, run *Run, known *metric.Tests) error {
	c := run.Check
	if len(c.Inventory) == 0 || !listing.CanRead(c.Runner) || run.State != metric.Measured || run.Tests == nil || run.DirMissing || !m.isMissingKnown(run, known) {
		return nil
	}

	list, err := m.listTests(ctx, c, run.Tests)
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
	list = dropProgramTests(run, list)
	run.Tests, run.Listed = listing.Reconcile(run.Tests, list), len(list)
	m.memory.LearnListed(c.ID(), len(run.Tests.Cases) > count)
	run.Problems = append(run.Problems, run.Tests.Problems[before:]...)
	return nil
}

// isMissingKnown reports whether a known test of the check is missing from the run, or no
// tests are known.
func (m *measurement) isMissingKnown(run *Run, known *metric.Tests) bool {
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

// runsModulesInOrder are the runners that test one module after another and stop at the first
// failure.
var runsModulesInOrder = map[string]bool{"maven": true, "gradle": true, "dotnet": true}

// markStoppedSuites marks known suites as broken if their check ran nothing because of a
// broken suite, or if a build tool stopped before them.
func (m *measurement) markStoppedSuites(run *Run, known *metric.Tests) {
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

// whyStopped returns why suites that the report does not name did not run, "" if all of them
// should have run.
func whyStopped(run Run) string {
	t := run.Tests
	switch {
	case len(t.Cases) == 0 && len(t.Broken) > 0:
		return t.Broken[0].Why
	case runsModulesInOrder[run.Check.Runner] && t.Failure != "", run.Check.Runner == "maven" && run.ExitCode != 0:
		return cmp.Or(t.Failure, fmt.Sprintf("%s ended with status %d before it ran", run.Check.Name, run.ExitCode))
	}
	return ""
}

// listTests returns the tests that the framework lists. For Go, packages whose tests in the
// sources all ran are not listed again.
func (m *measurement) listTests(ctx context.Context, c Check, ran *metric.Tests) ([]listing.Test, error) {
	if c.Runner != "go" {
		return m.runListCommand(ctx, c)
	}
	tagged := slices.ContainsFunc(append(m.commandRunner().Environ(), c.Env...), func(kv string) bool {
		return strings.HasPrefix(kv, "GOFLAGS=") && strings.Contains(kv, "-tags")
	})
	list, again, ok := gotests.ListFromSource(m.plan.Dir(c), c.Inventory, tagged, ran)
	switch {
	case !ok:
		return m.runListCommand(ctx, c)
	case len(again) == 0:
		return list, nil
	}
	some := c
	some.Inventory = again
	more, err := m.runListCommand(ctx, some) // also of packages below those
	if err != nil {                          // they may all be excluded
		return m.runListCommand(ctx, c)
	}
	return slices.Compact(slices.SortedFunc(slices.Values(append(list, more...)), listing.Test.Compare)), nil
}

// runListCommand runs the inventory command and reads its output.
func (m *measurement) runListCommand(ctx context.Context, c Check) (list []listing.Test, err error) {
	err = m.commandRunner().Query(ctx, c, c.Inventory, func(answer *os.File) (err error) {
		list, err = listing.Read(c.Runner, answer)
		return err
	})
	for i, listed := range list {
		if c.Runner != "go" && listed.Suite != "" {
			list[i].Suite = read.SuiteName(c, m.plan.Root, filepath.ToSlash(listed.Suite))
		}
	}
	return list, err
}
