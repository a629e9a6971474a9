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

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
	"supervise/snapshot"
	"supervise/source"
)

// result is how the tests that a candidate added end over the code of another: true where
// one passes. Those that could not be run are left out.
type result map[metric.ID]bool

// crossed are the results of the tests of one candidate, by whose code they ran over; 0 is
// the baseline.
type crossed map[int]map[int]result // author, code

// cross runs the tests that each candidate added over the code of every other, and over the
// baseline.
func (c *contest) cross(ctx context.Context) (crossed, error) {
	meter, err := c.meter()
	if err != nil {
		return nil, err
	}
	w := treecopy.Workspace{Store: c.tree.Store, Meter: meter, Plan: c.Loop.Plan, Root: c.Loop.Root, Scratch: c.ledger.ScratchDir()}
	out := crossed{}
	for _, e := range c.entries[1:] {
		if !e.done() {
			continue
		}
		if err := c.findOwn(ctx, e); err != nil {
			return nil, err
		}
		out[e.number] = map[int]result{}
	}
	var all sync.WaitGroup
	var mu sync.Mutex // of the results
	var errs []error
	slots := make(chan struct{}, min(c.Jobs, cap(c.turns)))
	for _, author := range c.entries[1:] {
		for _, code := range c.entries {
			if len(author.own) == 0 || code == author || code.number > 0 && !code.done() {
				continue
			}
			all.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				res, err := c.try(ctx, w, author, code)
				mu.Lock()
				defer mu.Unlock()
				out[author.number][code.number], errs = res, append(errs, err)
			})
		}
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// meter runs the checks of the plan as they were learnt at the baseline.
func (c *contest) meter() (*measure.Meter, error) {
	var learnt measure.Memory
	if err := ledger.ReadMeasureState(c.entries[0].dir(), &learnt); err != nil {
		return nil, err
	}
	env, _ := c.Loop.Protect.ForChecks(c.Loop.Env)
	return measure.New(c.Loop.Plan, measure.Options{Env: append(slices.Clone(env), NumberEnv+"=0"), Scratch: c.ledger.ScratchDir(), Memory: learnt, Hold: c.ledger.TreeLocks()}), nil
}

// findOwn finds the tests that a candidate added and that pass there, and the files of
// its changes that hold tests or what they lean on.
func (c *contest) findOwn(ctx context.Context, e *entry) error {
	e.own, e.tests = map[metric.ID]bool{}, nil
	sum := sha256.New()
	for _, change := range e.changes {
		if holdsTests(change.Path) {
			e.tests = append(e.tests, change.Path)
			continue
		}
		text, err := c.tree.Store.ReadFile(ctx, e.it.Snapshot, change.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fmt.Fprintf(sum, "%s %s %q\n", change.Path, change.Kind, text)
	}
	e.code = hex.EncodeToString(sum.Sum(nil))
	if e.it.Set.Tests == nil {
		return ctx.Err()
	}
	for _, t := range e.it.Set.Tests.Cases {
		if _, known := c.base.Set.Tests.Lookup(t.ID); !known && t.Status == metric.Passed {
			e.own[t.ID] = true
		}
	}
	return ctx.Err()
}

// holdsTests reports whether a file is of tests by its name, or lies in a folder of them.
func holdsTests(file string) bool {
	if source.IsTestFile(file, source.DetectLanguage(file, nil)) {
		return true
	}
	parts := strings.Split(file, "/")
	return slices.ContainsFunc(parts[:len(parts)-1], func(dir string) bool {
		return slices.Contains([]string{"test", "tests", "testdata", "__tests__", "spec", "fixtures"}, dir)
	})
}

// try runs the tests of a candidate over the code of another, from which its own tests are
// taken away.
func (c *contest) try(ctx context.Context, w treecopy.Workspace, author, code *entry) (result, error) {
	id := code.it.Snapshot
	if code.number == 0 {
		id = c.state.BaselineSnapshot
	}
	out := result{}
	err := w.WithCopy(ctx, id, func(t treecopy.Tree) error {
		for _, side := range []struct {
			files []string
			from  snapshot.ID
		}{{code.tests, c.state.BaselineSnapshot}, {author.tests, author.it.Snapshot}} {
			if err := t.Restore(ctx, side.from, side.files...); err != nil {
				return err
			}
		}
		whole, err := t.Meter.FullRun(ctx, t.CheckPlan(ctx, t.Meter), 0)
		if err != nil || whole.Tests == nil {
			return err
		}
		for _, test := range whole.Tests.Cases {
			if author.own[test.ID] && (test.Failed() || test.Status == metric.Passed) {
				out[test.ID] = !test.Failed()
			}
		}
		return nil
	})
	return out, err
}
