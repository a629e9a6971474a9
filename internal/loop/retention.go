package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// keptIterations is how many of the latest iterations retention never drops.
const keptIterations = 3

// retain keeps the store within its limit: over it, the oldest snapshots go that
// nobody is likely to ask for. That it does not succeed is no reason to end.
func (s *session) retain(ctx context.Context) error {
	if s.opts.MaxStore <= 0 {
		return nil
	}
	use, err := s.store.Usage()
	if err == nil && use.Bytes <= s.opts.MaxStore {
		return nil
	}
	if err == nil {
		use, err = s.drop(ctx, enough(use.Bytes-s.opts.MaxStore))
	}
	switch {
	case interrupted(ctx):
		return nil
	case err != nil:
		return s.overLimit(use, err.Error())
	case use.Bytes > s.opts.MaxStore:
		return s.overLimit(use, "what is left is kept: the baseline, the best, the latest iterations and those with findings")
	}
	return nil
}

// overLimit warns once.
func (s *session) overLimit(use snapshot.Usage, why string) error {
	if s.warned {
		return nil
	}
	s.warned = true
	return s.event(event.StoreOverLimit, s.state.Iteration, event.OverLimit{Bytes: use.Bytes, Limit: s.opts.MaxStore, Snapshots: use.Snapshots, Why: why})
}

// enough returns how many snapshots have to go so that need bytes come back; all,
// when that does not do.
func enough(need int64) func(weights []int64) int {
	return func(weights []int64) int {
		n, _ := slices.BinarySearch(weights, need)
		return min(n+1, len(weights))
	}
}

// half lets the older half go.
func half(weights []int64) int { return (len(weights) + 1) / 2 }

// drop drops the oldest of the snapshots that may go, as many as count says of
// the bytes that come back with the first, the first two, and so on.
func (s *session) drop(ctx context.Context, count func(weights []int64) int) (snapshot.Usage, error) {
	order, err := s.droppable()
	if err != nil || len(order) == 0 {
		return s.usage(err)
	}
	weights, err := s.store.Weigh(ctx, order)
	if err != nil {
		return s.usage(err)
	}
	n := count(weights)
	list, err := s.store.List()
	if err != nil {
		return s.usage(err)
	}
	var keep []snapshot.ID
	for _, i := range list {
		if !slices.Contains(order[:n], i.ID) {
			keep = append(keep, i.ID)
		}
	}
	done, err := s.store.Prune(ctx, keep)
	use, err := s.usage(err)
	if len(done.Dropped) == 0 {
		return use, err
	}
	data := event.SnapshotsGone{Freed: done.Freed, Bytes: use.Bytes, Limit: s.opts.MaxStore}
	for _, id := range done.Dropped {
		data.Snapshots = append(data.Snapshots, "s"+string(id))
		s.dropped[id] = true
	}
	return use, errors.Join(err, s.event(event.SnapshotsDropped, s.state.Iteration, data))
}

func (s *session) usage(err error) (snapshot.Usage, error) {
	use, errUse := s.store.Usage()
	return use, errors.Join(err, errUse)
}

// droppable lists the snapshots that retention may drop, oldest first. The store
// itself keeps those by which the last restore can be undone.
func (s *session) droppable() ([]snapshot.ID, error) {
	list, err := s.store.List()
	if err != nil {
		return nil, err
	}
	keep := s.protected()
	var out []snapshot.ID
	for _, i := range list {
		if !keep[i.ID] {
			out = append(out, i.ID)
		}
	}
	return out, nil
}

// protected are the snapshots that are kept whatever the limit is: the baseline,
// the best iteration, the tree to go on from, the latest iterations with their
// starts, those with findings that weigh, and what somebody had put into the
// tree while the loop did not run.
func (s *session) protected() map[snapshot.ID]bool {
	keep := map[snapshot.ID]bool{s.state.BaselineSnapshot: true, s.safe: true, s.start: true}
	if s.state.Best != nil {
		keep[s.state.Best.Snapshot] = true
	}
	for _, id := range s.foreign {
		keep[id] = true
	}
	for n, it := range s.history {
		latest := n >= len(s.history)-keptIterations
		if latest || weighs(it) {
			keep[it.Snapshot] = true
		}
		if latest {
			keep[it.Start] = true
		}
		if latest && it.Decision != nil {
			keep[it.Decision.Restore] = true
		}
	}
	return keep
}

func weighs(it ledger.Iteration) bool {
	return slices.ContainsFunc(it.Assessment.Alerts, func(a detector.Alert) bool { return a.Severity >= detector.High })
}

// withRoom does what needs room in the store, and does it again after some old
// snapshots have been dropped when there was none.
func (s *session) withRoom(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, snapshot.ErrNoSpace) {
			return err
		}
		before := len(s.dropped)
		if _, errDrop := s.drop(context.WithoutCancel(ctx), half); errDrop != nil || len(s.dropped) == before {
			return errors.Join(err, errDrop)
		}
	}
}

// shortfall tells what a restore could not bring back, each path once.
func (s *session) shortfall(res snapshot.Restored) error {
	data := event.Shortfall{Displaced: res.Displaced, DisplacedTo: res.DisplacedTo}
	for _, p := range res.Gone {
		if !s.missed[p] {
			data.Gone = append(data.Gone, p)
			s.missed[p] = true
		}
	}
	for _, p := range res.Left {
		if !s.missed["left "+p] {
			data.Left = append(data.Left, p)
			s.missed["left "+p] = true
		}
	}
	if len(data.Gone)+len(data.Left)+len(data.Displaced) > 0 {
		if err := s.event(event.RestoreIncomplete, s.state.Iteration, data); err != nil {
			return err
		}
	}
	if len(res.Shared) == 0 {
		return nil
	}
	return s.event(event.SharedPutBack, s.state.Iteration, event.SharedRefs{Names: res.Shared})
}

// sharedLost tells, each once, what is gone of that which linked worktrees share. It
// is no finding: somebody else may have done it, in another worktree.
func (s *session) sharedLost(now snapshot.ID) error {
	lost, err := s.store.SharedLost(s.state.BaselineSnapshot, now)
	if err != nil {
		return fmt.Errorf("compare what the worktrees share with the baseline: %w", err)
	}
	lost = slices.DeleteFunc(lost, func(name string) bool { return s.missed["shared "+name] })
	for _, name := range lost {
		s.missed["shared "+name] = true
	}
	if len(lost) == 0 {
		return nil
	}
	return s.event(event.SharedLost, s.state.Iteration, event.SharedRefs{Names: lost})
}

// skipped lists what of the tree of an iteration is in no snapshot, and why.
func (s *session) skipped(n int) []string {
	info, err := s.store.Info(s.history[n].Snapshot)
	if err != nil {
		return nil
	}
	return skips(info)
}

func skips(info snapshot.Info) []string {
	out := make([]string, 0, len(info.Skipped))
	for _, skip := range info.Skipped {
		out = append(out, skip.Path+": "+string(skip.Reason))
	}
	return out
}

func (s *session) droppedNames() []string {
	ids := slices.Collect(maps.Keys(s.dropped))
	slices.SortFunc(ids, func(a, b snapshot.ID) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = "s" + string(id)
	}
	return out
}
