package worktree

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// keptIterations is how many of the latest iterations retention never drops.
const keptIterations = 3

// EnforceLimit drops the oldest snapshots that are not protected while the store is over its
// limit. If that is not enough, it only warns.
func (t *Tree) EnforceLimit(ctx context.Context) error {
	if t.Limit <= 0 {
		return nil
	}
	use, err := t.Store.Usage()
	if err == nil && use.Bytes <= t.Limit {
		return nil
	}
	if err == nil {
		use, err = t.dropOldest(ctx, countFor(use.Bytes-t.Limit))
	}
	switch {
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the loop is being stopped
	case err != nil:
		return t.overLimit(use, err.Error())
	case use.Bytes > t.Limit:
		return t.overLimit(use, "what is left is kept: the baseline, the best, the latest iterations and those with findings")
	}
	return nil
}

// overLimit records in the journal, once, that the store is over its limit, and why.
func (t *Tree) overLimit(use snapshot.Usage, why string) error {
	if t.Warned {
		return nil
	}
	t.Warned = true
	return t.Journal.Write(event.StoreOverLimit, t.Iteration(), event.OverLimit{Bytes: use.Bytes, Limit: t.Limit, Snapshots: use.Snapshots, Why: why})
}

// countFor returns a function for dropOldest. It counts how many snapshots to drop to free
// need bytes, and drops all of them if that is not enough.
func countFor(need int64) func(weights []int64) int {
	return func(weights []int64) int {
		n, _ := slices.BinarySearch(weights, need)
		return min(n+1, len(weights))
	}
}

// countHalf is a function for dropOldest that drops the older half, rounded up.
func countHalf(weights []int64) int { return (len(weights) + 1) / 2 }

// dropOldest drops the oldest droppable snapshots, and returns the usage after that. count
// returns how many to drop; its argument has the number of bytes that are freed by dropping
// the first, the first two, and so on.
func (t *Tree) dropOldest(ctx context.Context, count func(weights []int64) int) (snapshot.Usage, error) {
	order, err := t.droppable()
	if err != nil || len(order) == 0 {
		return t.usage(err)
	}

	weights, err := t.Store.EstimateFreed(ctx, order)
	if err != nil {
		return t.usage(err)
	}
	n := count(weights)

	list, err := t.Store.List()
	if err != nil {
		return t.usage(err)
	}

	var keep []snapshot.ID
	for _, i := range list {
		if !slices.Contains(order[:n], i.ID) {
			keep = append(keep, i.ID)
		}
	}

	done, err := t.Store.Prune(ctx, keep)
	use, err := t.usage(err)
	if len(done.Dropped) == 0 {
		return use, err
	}

	data := event.DroppedSnapshots{Freed: done.Freed, Bytes: use.Bytes, Limit: t.Limit}
	for _, id := range done.Dropped {
		data.Snapshots = append(data.Snapshots, id.Name())
		t.Dropped[id] = true
	}
	return use, errors.Join(err, t.Journal.Write(event.SnapshotsDropped, t.Iteration(), data))
}

// usage returns the usage of the store. It adds its error to err.
func (t *Tree) usage(err error) (snapshot.Usage, error) {
	use, errUse := t.Store.Usage()
	return use, errors.Join(err, errUse)
}

// droppable lists the snapshots that may be dropped, oldest first. The store itself keeps those
// that are needed to undo the last restore.
func (t *Tree) droppable() ([]snapshot.ID, error) {
	list, err := t.Store.List()
	if err != nil {
		return nil, err
	}
	keep := t.Protected()
	keep[t.Start] = true
	for _, id := range t.Foreign {
		keep[id] = true
	}
	var out []snapshot.ID
	for _, i := range list {
		if !keep[i.ID] {
			out = append(out, i.ID)
		}
	}
	return out, nil
}

// ProtectedSnapshots returns the snapshots of iterations that are never dropped: those of the
// latest iterations, with their starts and the trees restored after them, and those of
// iterations with severe findings.
func ProtectedSnapshots(its []ledger.Iteration) map[snapshot.ID]bool {
	keep := map[snapshot.ID]bool{}
	for n, it := range its {
		late := n >= len(its)-keptIterations
		if late || hasSevereFinding(it) {
			keep[it.Snapshot] = true
		}
		if late {
			keep[it.Start] = true
		}
		if late && it.Decision != nil {
			keep[it.Decision.Restore] = true
		}
	}
	return keep
}

// hasSevereFinding reports whether an iteration has an alert of high severity.
func hasSevereFinding(it ledger.Iteration) bool {
	return slices.ContainsFunc(it.Assessment.Alerts, func(a detector.Alert) bool { return a.Severity >= detector.High })
}

// retryAfterDrop calls do. While the disk has no space, it drops old snapshots and calls do
// again.
func (t *Tree) retryAfterDrop(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, snapshot.ErrNoSpace) {
			return err
		}
		before := len(t.Dropped)
		if _, errDrop := t.dropOldest(context.WithoutCancel(ctx), countHalf); errDrop != nil || len(t.Dropped) == before {
			return errors.Join(err, errDrop)
		}
	}
}

// DroppedNames returns the names of the snapshots that were dropped, oldest first.
func (t *Tree) DroppedNames() []string {
	ids := slices.Collect(maps.Keys(t.Dropped))
	slices.SortFunc(ids, func(a, b snapshot.ID) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Name()
	}
	return out
}
