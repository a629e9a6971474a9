package candidate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// testOutcomes says for tests that a candidate added whether they pass on the code of another
// candidate. Tests that could not be run are left out.
type testOutcomes map[metric.ID]bool

// authorResults are the outcomes of one author's tests by the number of the candidate whose code
// they ran on. Code 0 is the baseline.
type authorResults map[int]testOutcomes

// crossResults has the results by the number of the author of the tests.
type crossResults map[int]authorResults

// crossCheck runs the tests that each candidate added on the code of every other candidate, and
// on the baseline.
func (c *competition) crossCheck(ctx context.Context) (crossResults, error) {
	meter, err := c.newMeter()
	if err != nil {
		return nil, err
	}

	w := treecopy.Workspace{Store: c.tree.Store, Meter: meter, Plan: c.Loop.Plan, Root: c.Loop.Root, Scratch: c.ledger.ScratchDir()}
	out := crossResults{}
	for _, e := range c.entries[1:] {
		if !e.succeeded() {
			continue
		}
		if err := c.findAddedTests(ctx, e); err != nil {
			return nil, err
		}
		out[e.number] = authorResults{}
	}

	var all errgroup.Group
	all.SetLimit(min(c.Jobs, cap(c.checkSlots)))
	var mu sync.Mutex // guards out
	for _, author := range c.entries[1:] {
		for _, code := range c.entries {
			hasCode := code.number == 0 || code.succeeded()
			if len(author.addedTests) == 0 || code == author || !hasCode {
				continue
			}
			all.Go(func() error {
				res, err := c.runTestsOn(ctx, w, author, code)
				mu.Lock()
				defer mu.Unlock()
				out[author.number][code.number] = res
				return err
			})
		}
	}

	return out, all.Wait()
}

// newMeter returns a meter for the checks of the plan, with what the baseline learned about them.
func (c *competition) newMeter() (*measure.Meter, error) {
	var learnt measure.Memory
	if err := ledger.ReadMeasureState(c.entries[0].dir(), &learnt); err != nil {
		return nil, err
	}
	env, _ := c.Loop.Protect.ForChecks(c.Loop.Env)
	return measure.New(c.Loop.Plan, measure.Options{Env: append(slices.Clone(env), NumberEnv+"=0"), Scratch: c.ledger.ScratchDir(), Memory: learnt, Hold: c.ledger.TreeLocks()}), nil
}

// findAddedTests sets e.addedTests to the tests that a candidate added and that pass in its tree.
// It also sets e.testFiles to the changed test files, and e.codeHash to the hash of all other
// changes.
func (c *competition) findAddedTests(ctx context.Context, e *entry) error {
	e.addedTests, e.testFiles = map[metric.ID]bool{}, nil
	sum := sha256.New()
	for _, change := range e.changes {
		if isTestFile(change.Path) {
			e.testFiles = append(e.testFiles, change.Path)
			continue
		}
		text, err := c.tree.Store.ReadFile(ctx, e.best.Snapshot, change.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintf(sum, "%s %s %q\n", change.Path, change.Kind, text)
	}

	e.codeHash = hex.EncodeToString(sum.Sum(nil))
	if e.best.Set.Tests == nil {
		return ctx.Err()
	}

	for _, t := range e.best.Set.Tests.Cases {
		if _, known := c.baseIteration.Set.Tests.Lookup(t.ID); !known && t.Status == metric.Passed {
			e.addedTests[t.ID] = true
		}
	}
	return ctx.Err()
}

// testDirs are the usual names of folders with tests or their data.
var testDirs = []string{"test", "tests", "testdata", "__tests__", "spec", "fixtures"}

// isTestFile reports whether a file contains tests by its name, or is in a folder for tests.
func isTestFile(file string) bool {
	if source.IsTestFile(file, source.DetectLanguage(file, nil)) {
		return true
	}
	parts := strings.Split(file, "/")
	return slices.ContainsFunc(parts[:len(parts)-1], func(dir string) bool { return slices.Contains(testDirs, dir) })
}

// runTestsOn runs the tests that author added on the code of another candidate. In a copy of that
// candidate's tree, its changed test files are replaced by those of the baseline, and the test
// files of the author are added.
func (c *competition) runTestsOn(ctx context.Context, w treecopy.Workspace, author, code *entry) (testOutcomes, error) {
	id := code.best.Snapshot
	if code.number == 0 {
		id = c.state.BaselineSnapshot
	}

	out := testOutcomes{}
	err := w.WithCopy(ctx, id, func(t treecopy.Tree) error {
		for _, side := range []struct {
			files []string
			from  snapshot.ID
		}{{code.testFiles, c.state.BaselineSnapshot}, {author.testFiles, author.best.Snapshot}} {
			if err := t.Restore(ctx, side.from, side.files...); err != nil {
				return err
			}
		}
		res, err := t.Meter.FullRun(ctx, t.CheckPlan(ctx, t.Meter), 0)
		if err != nil || res.Tests == nil {
			return err
		}
		for _, test := range res.Tests.Cases {
			if author.addedTests[test.ID] && (test.Failed() || test.Status == metric.Passed) {
				out[test.ID] = !test.Failed()
			}
		}
		return nil
	})
	return out, err
}
