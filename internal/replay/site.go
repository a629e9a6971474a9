package replay

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"supervise/internal/checkout"
	"supervise/snapshot"
)

// site is a checkout with a store of snapshots, in which a worker measures one commit after
// another.
type site struct {
	*historyReplay
	tree  *checkout.Tree
	store *snapshot.Store
}

// newSite creates the site of worker i, counted from 0. The caller must close it.
func (h *historyReplay) newSite(ctx context.Context, i int) (*site, error) {
	tree, err := checkout.New(ctx, h.repo.Dir, filepath.Join(h.opts.CheckoutDir, strconv.Itoa(i+1)))
	if err != nil {
		return nil, err
	}
	s := &site{historyReplay: h, tree: tree}
	if s.store, err = tree.OpenSnapshots(ctx); err != nil {
		return nil, errors.Join(err, tree.Remove())
	}
	return s, nil
}

// close removes the site. It returns err joined with its own errors. The site may be nil.
func (s *site) close(err error) error {
	if s == nil {
		return err
	}
	return errors.Join(err, s.store.Close(), s.tree.Remove())
}

// recordResult records the result for one item. Calls do not overlap. done is the number of
// finished items, including this one.
type recordResult func(done int)

// runWorkers calls work for each item of a list, on up to h.opts.Jobs workers with separate
// sites. The first error stops all workers and is returned.
func runWorkers[T any](ctx context.Context, h *historyReplay, list []T, work func(context.Context, *site, T) (recordResult, error)) error {
	if len(list) == 0 {
		return nil
	}
	workers, workersCtx := errgroup.WithContext(ctx)
	waiting := make(chan T, len(list))
	for _, x := range list {
		waiting <- x
	}

	close(waiting)
	var taken sync.Mutex
	done := 0
	worker := func(i int) (err error) {
		s, err := h.newSite(workersCtx, i)
		if err != nil {
			return err
		}
		defer func() { err = s.close(err) }()
		for x := range waiting {
			end, err := work(workersCtx, s, x)
			if err != nil {
				return err
			}
			taken.Lock()
			done++
			end(done)
			taken.Unlock()
		}
		return nil
	}

	for i := range min(max(1, h.opts.Jobs), len(list)) {
		workers.Go(func() error { return worker(i) })
	}
	err := workers.Wait()
	return cmp.Or(context.Cause(ctx), err)
}
