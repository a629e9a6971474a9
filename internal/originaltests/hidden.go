package originaltests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
)

// HiddenOptions are tests that the agent does not see: a folder outside the working tree,
// whose files are written into a copy of the tree, and run there.
type HiddenOptions struct {
	Dir     string         `json:"dir,omitempty"`        // absolute; "": there are none
	Check   *measure.Check `json:"check,omitempty"`      // nil: the checks of the plan
	AtEnd   bool           `json:"at_end,omitempty"`     // they run only on the selected tree, not after each iteration
	Timeout time.Duration  `json:"timeout_ns,omitempty"` // of one run; 0: the limits of the checks
	Seal    float64        `json:"seal,omitempty"`       // the share of the failing tests that are sealed; 0: none
	// Sealed are the sealed tests, with their files relative to the root of the tree. Dir then holds the
	// originals of these files.
	Sealed map[metric.ID]string `json:"-"`
	// Merge returns a changed version of such a file with its sealed tests, if they have a place in it.
	Merge func(path string, changed []byte) ([]byte, error) `json:"-"`
}

// HiddenRun runs tests that the agent does not see: the files of a folder, which are
// written into a copy of a tree.
type HiddenRun struct {
	treecopy.Workspace
	HiddenOptions
	Passed map[metric.ID]bool // whether each test passed in earlier runs
}

// Run runs the hidden tests on a snapshot. visible are the tests that were measured in it, and
// known the hidden tests of the tree before. If a test that passed before fails, it runs all again:
// a test that passes then is flaky and counts as passed.
func (h HiddenRun) Run(ctx context.Context, id snapshot.ID, visible, known *metric.Tests) (*ledger.Hidden, error) {
	out, err := h.run(ctx, id, visible, known)
	if err != nil {
		return nil, fmt.Errorf("run the hidden tests: %w", err)
	}
	return out, nil
}

// run is Run without context in its errors.
func (h HiddenRun) run(ctx context.Context, id snapshot.ID, visible, known *metric.Tests) (*ledger.Hidden, error) {
	files, err := ReadHiddenFiles(h.Dir)
	if err != nil {
		return nil, err
	}

	out := &ledger.Hidden{Files: files.Sum(), Sealed: len(h.Sealed) > 0}
	return out, h.ForOriginalTests().WithCopy(ctx, id, func(t treecopy.Tree) error {
		dir := t.ProjectDir()
		if out.Sealed {
			dir = t.Path
		}
		if err := treecopy.Files(files).Write(dir); err != nil {
			return err
		}
		plan := t.CheckPlan(ctx, t.Meter)
		if h.Check != nil {
			plan = t.PlanFor(ctx, t.Meter, *h.Check)
		}
		run := func() (*metric.Tests, error) {
			result, err := t.Meter.FullRun(ctx, plan, h.Timeout)
			out.Runs = append(out.Runs, treecopy.CheckRuns(result.Runs)...)
			out.Why = strings.ReplaceAll(result.Why, t.Path+"/", "")
			return h.hiddenTestsAmong(result.Tests.WithNotRun(known), files, visible), err
		}
		if out.Tests, err = run(); err == nil && h.mayNeedChanges(out.Tests) {
			var changed bool
			if changed, err = h.mergeChanges(ctx, t, id, files); err == nil && changed {
				out.Tests, err = run()
			}
		}
		if err != nil || !h.hasNewFailure(out.Tests) {
			return err
		}
		first, why := out.Tests, out.Why
		again, err := run()
		out.Tests, out.Flaky = passedOnRerun(first, again)
		out.Why = why
		return err
	})
}

// mayNeedChanges reports whether sealed tests did not run, which may need what the agent changed in
// their files.
func (h HiddenRun) mayNeedChanges(t *metric.Tests) bool {
	return h.Merge != nil && (t == nil || slices.ContainsFunc(t.Cases, func(c metric.Test) bool { return c.Status == metric.NotRun }))
}

// mergeChanges writes the agent's versions of the files, with the sealed tests, into the copy. It reports
// whether one of them differs from the original.
func (h HiddenRun) mergeChanges(ctx context.Context, t treecopy.Tree, id snapshot.ID, files HiddenFiles) (changed bool, err error) {
	for _, f := range files {
		current, err := t.Store.ReadFile(ctx, id, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		original := f.Text
		if err == nil {
			f.Text, err = h.Merge(f.Path, current)
		}
		if err == nil && !bytes.Equal(f.Text, original) {
			changed = true
			err = treecopy.Files{f}.Write(t.Path)
		}
		if err != nil {
			return false, err
		}
	}
	return changed, nil
}

// hasNewFailure reports whether a test fails that passed before.
func (h HiddenRun) hasNewFailure(t *metric.Tests) bool {
	return t != nil && slices.ContainsFunc(t.Cases, func(c metric.Test) bool { return c.Failed() && h.Passed[c.ID] })
}

// passedOnRerun returns the first results, in which tests that passed when run again count
// as passed and flaky.
func passedOnRerun(first, again *metric.Tests) (out *metric.Tests, flaky []metric.ID) {
	out = first
	for _, c := range first.Cases {
		if t, ran := again.Lookup(c.ID); c.Failed() && ran && t.Status == metric.Passed {
			t.Flaky = true
			out, flaky = out.WithTest(t), append(flaky, c.ID)
		}
	}
	return out, flaky
}

// hiddenTestsAmong returns the hidden tests among those that ran together with the tests of the
// tree: tests that the tree does not have, and tests that a hidden file defines.
func (h HiddenRun) hiddenTestsAmong(all *metric.Tests, files HiddenFiles, visible *metric.Tests) *metric.Tests {
	if all == nil || h.Check != nil {
		return all
	}
	if h.Sealed != nil {
		return h.sealedTestsAmong(all, visible, files.Tests())
	}

	hidden := map[metric.ID]bool{}
	defs := files.Tests()
	for _, d := range defs {
		for _, c := range (detector.Tampering{File: d.File, Test: d.Def.Name}).AffectedTests(all, defs, nil) {
			hidden[c.ID] = true
		}
	}

	out := *all
	out.Cases = slices.DeleteFunc(slices.Clone(all.Cases), func(c metric.Test) bool {
		_, seen := visible.Lookup(c.ID)
		return !hidden[c.ID] && (seen || h.HasOtherRunner()) // the earlier runner cannot run new tests
	})
	out.Broken, out.Failure = brokenExcept(all, visible), ""
	if h.HasOtherRunner() {
		out.Broken = slices.DeleteFunc(out.Broken, func(b metric.Suite) bool {
			return !slices.ContainsFunc(files, func(f treecopy.File) bool { return f.Path == b.Name })
		})
	}
	return &out
}

// sealedTestsAmong returns the sealed tests, with their files. Those that did not run are added. A test
// whose suite could not run when it was sealed is known by its definition alone.
func (h HiddenRun) sealedTestsAmong(all, visible *metric.Tests, defs []detector.TestSource) *metric.Tests {
	var cases []metric.Test
	for id, file := range h.Sealed {
		found := []metric.Test{{ID: id, Status: metric.NotRun, Message: "it did not run"}}
		if t, ran := all.Lookup(id); ran {
			found[0] = t
		} else if list := (detector.Tampering{File: file, Test: id.Name}).AffectedTests(all, defs, nil); len(list) > 0 {
			found = list
		}
		for _, t := range found {
			t.File = file
			cases = append(cases, t)
		}
	}
	return &metric.Tests{Cases: metric.NewTests(cases).Cases, Broken: brokenExcept(all, visible), Runner: all.Runner}
}

// brokenExcept returns the suites that could not run, without those that could not run in the tree.
func brokenExcept(all, visible *metric.Tests) []metric.Suite {
	return slices.DeleteFunc(slices.Clone(all.Broken), func(b metric.Suite) bool {
		return visible != nil && slices.ContainsFunc(visible.Broken, func(v metric.Suite) bool { return v.Name == b.Name })
	})
}
