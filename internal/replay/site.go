package replay

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"

	"supervise/internal/checkout"
	"supervise/snapshot"
)

// site is a checkout for commits, one after another.
type site struct {
	*history
	tree  *checkout.Tree
	store *snapshot.Store
}

// site makes the site with a number. It is to be closed.
func (h *history) site(ctx context.Context, i int) (*site, error) {
	tree, err := checkout.New(ctx, h.repo.dir, filepath.Join(h.opts.CheckoutDir, strconv.Itoa(i+1)))
	if err != nil {
		return nil, err
	}
	s := &site{history: h, tree: tree}
	if s.store, err = tree.OpenSnapshots(ctx); err != nil {
		return nil, errors.Join(err, tree.Remove())
	}
	return s, nil
}

// close removes the site, if there is one, and returns the error with its own.
func (s *site) close(err error) error {
	if s == nil {
		return err
	}
	return errors.Join(err, s.store.Close(), s.tree.Remove())
}

// finish takes in the result of a piece of work, by one at a time. done counts the
// pieces, with this one.
type finish func(done int)

// each does a piece of work for each of a list, several at a time, each worker on a separate site. The first error ends all.
func each[T any](ctx context.Context, h *history, list []T, work func(context.Context, *site, T) (finish, error)) error {
	if len(list) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := make(chan T, len(list))
	for _, x := range list {
		waiting <- x
	}
	close(waiting)
	var workers sync.WaitGroup
	var taken sync.Mutex
	done := 0
	worker := func(i int) (err error) {
		s, err := h.site(ctx, i)
		if err != nil {
			return err
		}
		defer func() { err = s.close(err) }()
		for x := range waiting {
			end, err := work(ctx, s, x)
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
		workers.Go(func() {
			if err := worker(i); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
