package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"supervise/internal/checkout"
	"supervise/internal/measure"
	"supervise/internal/secrets"
	"supervise/metric"
)

// measureAll measures the commits, several at a time, each worker in a checkout of
// its own. The first error ends all.
func (h *history) measureAll(ctx context.Context, list []Commit) error {
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := make(chan Commit, len(list))
	for _, c := range list {
		waiting <- c
	}
	close(waiting)
	var workers sync.WaitGroup
	var told sync.Mutex
	done := 0
	finished := func(e entry, c Commit, took time.Duration) {
		told.Lock()
		defer told.Unlock()
		done++
		h.entries[c.tree] = e
		h.opts.OnProgress(Progress{Done: done, Total: len(list), Commit: c, Took: took, Why: e.Why})
	}
	for i := range min(max(1, h.opts.Jobs), len(list)) {
		workers.Go(func() {
			if err := h.work(ctx, i, waiting, finished); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// work measures commits until none is waiting.
func (h *history) work(ctx context.Context, i int, waiting <-chan Commit, finished func(entry, Commit, time.Duration)) (err error) {
	t, err := checkout.New(ctx, h.repo.dir, h.base(i))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Remove()) }()
	for c := range waiting {
		began := time.Now()
		e, err := h.measureOne(ctx, t, c)
		if err != nil {
			return fmt.Errorf("measure commit %s: %w", c.Short(), err)
		}
		finished(e, c, time.Since(began))
	}
	return nil
}

func (h *history) base(worker int) string {
	return filepath.Join(h.opts.Checkout, strconv.Itoa(worker+1))
}

// measureOne measures one commit by itself, whatever stood before it, so that the
// numbers can be used wherever the same tree occurs again.
func (h *history) measureOne(ctx context.Context, t *checkout.Tree, c Commit) (entry, error) {
	e := entry{Tree: c.tree, Commit: c.ID}
	meter, why, err := h.ready(ctx, t, c)
	if err != nil {
		return e, err
	}
	if why != "" { // the machine may be the reason: it is tried again next time
		e.Why = why
		return e, nil
	}
	res, err := meter.Run(ctx, nil)
	if err != nil {
		return e, err
	}
	set := res.Set
	if set.Tests == nil {
		set.Tests = res.Read // what carries over depends on the commit before
	}
	e.Set = secrets.MaskOf(h.opts.Env).Set(set).Slim()
	e.Why = unmeasured(e.Set)
	return e, h.cache.put(e)
}

// ready checks a commit out and prepares it. why is the reason where there is nothing to
// measure.
func (h *history) ready(ctx context.Context, t *checkout.Tree, c Commit) (m *measure.Meter, why string, err error) {
	if err := t.CheckOut(ctx, c.ID); err != nil {
		return nil, "", err
	}
	root, err := h.root(t)
	if err != nil {
		return nil, "", err
	}
	if _, err := os.Stat(root); err != nil {
		return nil, "the folder of the project is not there", nil //nolint:nilerr // that is the finding
	}
	if why, err := t.Prepare(ctx, h.opts.Setup, root); why != "" || err != nil {
		return nil, why, err
	}
	plan, err := moved(h.opts.Plan, h.opts.Plan.Root, root)
	if err != nil {
		return nil, "", err
	}
	return measure.New(plan, measure.Options{Scratch: filepath.Join(t.Base, "reports"), Hold: []*os.File{t.Lock}}), "", nil
}

// confirm runs the tests again that fail in a commit and passed in the one before,
// as a loop does before it accuses anybody.
func (h *history) confirm(ctx context.Context) (err error) {
	var t *checkout.Tree
	defer func() {
		if t != nil {
			err = errors.Join(err, t.Remove())
		}
	}()
	for p := range h.steps() {
		suspects := ids(p.suspects) // none where nothing was measured
		if len(suspects) == 0 || slices.Equal(suspects, p.entry.Suspects) {
			continue
		}
		if t == nil {
			if t, err = checkout.New(ctx, h.repo.dir, h.base(0)); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := h.confirmOne(ctx, t, p, suspects); err != nil {
			return fmt.Errorf("run failing tests of commit %s again: %w", p.commit.Short(), err)
		}
		h.opts.OnProgress(Progress{Commit: p.commit, Took: time.Since(began), Again: true})
	}
	return nil
}

func (h *history) confirmOne(ctx context.Context, t *checkout.Tree, p step, suspects []metric.ID) error {
	meter, why, err := h.ready(ctx, t, p.commit)
	if err != nil || why != "" {
		return err
	}
	found, err := meter.Confirm(ctx, p.before, p.set)
	if err != nil {
		return err
	}
	e := p.entry
	e.Suspects, e.Flaky = suspects, found.Flaky
	h.entries[p.commit.tree] = e
	return h.cache.put(e)
}

func ids(tests []metric.Test) []metric.ID {
	var out []metric.ID
	for _, t := range tests {
		out = append(out, t.ID)
	}
	return out
}
