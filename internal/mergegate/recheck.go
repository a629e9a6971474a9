package mergegate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/checkout"
	"supervise/internal/measure"
	"supervise/internal/report"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// FailingTest is a test that fails now, or a suite that cannot run.
type FailingTest struct {
	Name   string `json:"name"`
	AtBase bool   `json:"at_base,omitempty"` // it did not pass at the base either
}

// failingTests returns what fails now.
func failingTests(base, now *metric.Tests) []FailingTest {
	var out []FailingTest
	for _, t := range now.Cases {
		if was, known := base.Lookup(t.ID); t.Failed() {
			out = append(out, FailingTest{t.ID.String(), known && was.Failed()})
		}
	}
	for _, name := range brokenSuites(now) {
		out = append(out, FailingTest{name, slices.Contains(brokenSuites(base), name)})
	}
	return out
}

// brokenSuites returns the names of the suites that could not run.
func brokenSuites(t *metric.Tests) []string {
	out := slices.Clone(t.BrokenAtBaseline)
	for _, s := range t.Broken {
		out = append(out, s.Name)
	}
	return out
}

// oldFailures returns the tests that did not pass at the base: those that failed there, and those that
// fail now and whose suite may not have run there. full is true if single tests are not enough to
// run them.
func oldFailures(base, now *metric.Tests) (tests []metric.Test, full bool) {
	broken := brokenSuites(base)
	for _, t := range base.Cases {
		if t.Failed() {
			tests, full = append(tests, t), full || t.Status == metric.NotRun
		}
	}
	for _, t := range now.Cases {
		if _, known := base.Lookup(t.ID); t.Failed() && !known && len(broken) > 0 {
			tests, full = append(tests, t), true
		}
	}
	return tests, full || slices.ContainsFunc(now.Broken, func(s metric.Suite) bool { return slices.Contains(broken, s.Name) })
}

// recheckBase runs tests that failed at the base again there, with what the working tree has and a
// clean checkout lacks. Those that pass count as passed at the base. It changes no result to a worse
// one, because the author of the change controls the ignored files. Records were not measured in a
// clean checkout.
func (g *mergeGate) recheckBase(ctx context.Context) error {
	old, full := oldFailures(g.baseSet.Tests, g.measured.Set.Tests)
	if g.record != nil || len(old) == 0 && !full {
		return nil
	}

	g.OnProgress("running what failed at the base again, with the ignored files of the working tree")
	if err := treecopy.CopyIgnored(ctx, g.Root, g.tree.Dir); err != nil {
		return err
	}
	missing, err := g.copySubmodules(ctx)
	if err != nil {
		return err
	}
	res, err := g.baseMeter.RunInTree(ctx, measure.TreeRun{Plan: g.baseMeter.Plan(), Tests: old, Full: full})
	if err != nil {
		return err
	}

	tests := *g.baseSet.Tests
	tests.Broken = slices.DeleteFunc(slices.Clone(tests.Broken), func(s metric.Suite) bool {
		return full && !slices.ContainsFunc(res.Broken, func(b metric.Suite) bool { return b.Name == s.Name })
	})
	g.baseSet.Tests = &tests
	g.countRecheck(old, res, missing)
	g.measured.Set.Tests = g.measured.Set.Tests.WithNotRun(g.baseSet.Tests)
	return nil
}

// countRecheck counts the tests that passed as passed at the base. missing says what was missing
// there, "" if nothing was; then a test that did not pass is not decided.
func (g *mergeGate) countRecheck(old []metric.Test, res measure.TreeResults, missing string) {
	ran := slices.Clone(res.Others)
	for _, t := range res.Others {
		res.ByTest[t.ID] = measure.TestResult{Test: t}
	}
	var undecided []string
	for _, t := range old {
		is := res.ByTest[t.ID]
		ran = append(ran, is.Test)
		unclear := missing != "" || is.Test.Status == 0 && !is.Unbuilt
		if now, _ := g.measured.Set.Tests.Lookup(t.ID); now.Failed() && is.Test.Status != metric.Passed && unclear {
			undecided = append(undecided, fmt.Sprintf("%s (%s)", t.ID, cmp.Or(missing, is.Why)))
		}
	}

	passed := g.countPassed(ran)
	if len(passed) > 0 {
		g.addNote("run again at the base with the ignored files and submodules of the working tree, these pass and count as passed: %s", listFiles(passed))
	}
	if len(undecided) > 0 {
		g.undecided = report.Pluralize(len(undecided), "test fails", "tests fail") + " now and at the base, and could not be run there with what the working tree has: " + listFiles(undecided)
		g.addNote("not decided: %s", g.undecided)
	}
}

// countPassed counts those tests as passed at the base that passed and did not before, and returns their
// names.
func (g *mergeGate) countPassed(ran []metric.Test) (names []string) {
	cases := slices.Clone(g.baseSet.Tests.Cases)
	for _, t := range ran {
		was, known := g.baseSet.Tests.Lookup(t.ID)
		if t.Status != metric.Passed || known && !was.Failed() || slices.Contains(names, t.ID.String()) {
			continue
		}
		cases = append(slices.DeleteFunc(cases, func(c metric.Test) bool { return c.ID == t.ID }), t)
		names = append(names, t.ID.String())
	}
	g.baseSet.Tests.Cases = metric.NewTests(cases).Cases
	return names
}

// copySubmodules copies the submodules of the working tree to the checkout of the base, at the
// commits of the base. missing names one whose commit is not there, "" if there is none.
func (g *mergeGate) copySubmodules(ctx context.Context) (missing string, err error) {
	index, err := g.tree.Git(ctx, "ls-files", "-z", "--stage")
	for entry := range strings.SplitSeq(index, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		about, isSubmodule := strings.CutPrefix(about, "160000 ")
		commit, _, _ := strings.Cut(about, " ")
		path := filepath.Join(g.Root, filepath.FromSlash(name))
		if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil || !isSubmodule {
			continue // without .git, the working tree does not have its files either
		}
		if err := copySubmodule(ctx, path, commit, filepath.Join(g.tree.Dir, filepath.FromSlash(name))); err != nil {
			missing = fmt.Sprintf("the submodule %s: %v", name, err)
		}
	}
	return missing, errors.Join(err, ctx.Err())
}

// copySubmodule copies a submodule at a commit, with its ignored files if it is at that commit now.
func copySubmodule(ctx context.Context, from, commit, to string) (err error) {
	if (repo{dir: from}).commitID(ctx, "HEAD") == commit {
		return treecopy.CopyMissing(from, to)
	}
	t, err := checkout.New(ctx, from, to+".checkout")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Remove()) }()
	if err := t.CheckOut(ctx, commit); err != nil {
		return err
	}
	return treecopy.CopyMissing(t.Dir, to)
}
