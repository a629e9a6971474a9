// Package worktree manages the working tree of a loop. It takes and restores snapshots,
// records that in the journal, and keeps the store of snapshots within its limit
// (retention.go). names.go finds the snapshots that a user names.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/snapshot"
)

// Options configure the tree of a loop.
type Options struct {
	Limit     int64 // size of the store in bytes over which old snapshots are dropped; 0: none
	Journal   *event.Journal
	Iteration func() int                  // the number of the current iteration
	Protected func() map[snapshot.ID]bool // the snapshots that are never dropped
	Dropped   map[snapshot.ID]bool        // the snapshots that were dropped; EnforceLimit adds to it
	Foreign   []snapshot.ID               // trees that were not made by the loop
	Warned    bool                        // the user knows that the store is over its limit
}

// Tree is a working tree while its loop runs.
type Tree struct {
	Options
	Store       *snapshot.Store
	Start       snapshot.ID        // start of the current iteration, which is never dropped
	reported    map[string]bool    // reason and name of each loss that was reported
	lastRestore *snapshot.Restored // the last restore; nil if the tree has changed since
}

// New returns a tree whose store is open.
func New(store *snapshot.Store, o Options) *Tree {
	return &Tree{Options: o, Store: store, reported: map[string]bool{}}
}

// Take takes a snapshot of iteration n, and records it in the journal.
func (t *Tree) Take(ctx context.Context, n int, moment event.Moment) (snapshot.Info, error) {
	var info snapshot.Info
	err := t.retryAfterDrop(ctx, func() (err error) {
		info, err = t.Store.Take(ctx, fmt.Sprintf("%s, %s", ledger.IterationName(n), moment))
		return err
	})
	t.lastRestore = nil
	if err != nil {
		return info, fmt.Errorf("snapshot of the tree (%s, %s): %w", ledger.IterationName(n), moment, err)
	}
	return info, t.Journal.Write(event.SnapshotTaken, n, event.TakenSnapshot{Moment: moment, ID: info.ID, Tree: info.Tree, Files: info.Files})
}

// ExcludeCheckFiles takes the snapshot after the checks of the baseline, and compares it with
// the one before. It returns known with the files that the checks made. These are no work of
// the agent: from now on they are neither captured nor deleted.
func (t *Tree) ExcludeCheckFiles(ctx context.Context, before snapshot.ID, known []string) ([]string, error) {
	after, err := t.Store.Take(ctx, ledger.IterationName(0)+", after the checks")
	if err != nil {
		return nil, fmt.Errorf("snapshot after the checks: %w", err)
	}

	changes, err := t.Store.Changes(ctx, before, after.ID)
	if err != nil {
		return nil, fmt.Errorf("compare the tree before and after the checks: %w", err)
	}
	for _, c := range changes {
		if c.Kind == snapshot.Added && !slices.Contains(known, c.Path) {
			known = append(known, c.Path)
		}
	}

	taken := event.TakenSnapshot{Moment: event.AfterChecks, ID: after.ID, Tree: after.Tree, Files: after.Files, CheckOutputs: known}
	ignored, err := t.Store.NewIgnored(before, after.ID)
	if err != nil {
		return nil, fmt.Errorf("compare the tree before and after the checks: %w", err)
	}

	if err := t.Journal.Write(event.SnapshotTaken, 0, taken); err != nil || len(known)+len(ignored) == 0 {
		return known, err
	}
	return known, t.Store.Exclude(append(ignored, known...))
}

// EnsureState restores a snapshot, and reports if the tree was different, because checks or
// the user may have changed it. The old state is kept. There is no report if the tree was
// equal to the snapshot before; "" is no snapshot.
func (t *Tree) EnsureState(ctx context.Context, id, before snapshot.ID) error {
	t.Store.OnRestore(func(b snapshot.PlannedRestore) error {
		if before != "" && b.IsSavedIn(before) {
			return nil
		}
		return t.reportChanged(b)
	})
	defer t.Store.OnRestore(nil)
	return t.Restore(ctx, id)
}

// ReportFound reports the snapshot of a tree that the loop has found.
func (t *Tree) ReportFound(id snapshot.ID) error {
	t.Foreign = append(t.Foreign, id)
	return t.Journal.Write(event.TreeChanged, t.Iteration(), event.TreeChange{Kept: id.Name()})
}

// reportChanged reports an unexpected tree before it is replaced.
func (t *Tree) reportChanged(b snapshot.PlannedRestore) error {
	t.Foreign = append(t.Foreign, b.Safety)
	return t.Journal.Write(event.TreeChanged, t.Iteration(), event.TreeChange{Kept: b.Safety.Name(), Restored: b.Target.Name(), Files: b.Files + b.Ignored})
}

// Restore restores a snapshot and reports the paths that could not be restored. It returns an
// error if the tree still differs.
func (t *Tree) Restore(ctx context.Context, id snapshot.ID) error {
	var res snapshot.Restored
	err := t.retryAfterDrop(ctx, func() (err error) {
		res, err = t.Store.Restore(context.WithoutCancel(ctx), id)
		return err
	})
	if err == nil {
		t.lastRestore = &res
		err = t.reportShortfall(res)
	}
	if err == nil && len(res.Mismatches) > 0 {
		m := res.Mismatches[0]
		err = fmt.Errorf("the tree could not be restored completely, %d paths differ, the first is %s: %s; the current state is kept as snapshot s%s",
			len(res.Mismatches), m.Path, m.Why, res.Safety)
	}
	return err
}

// TreeState returns the state of the tree after the last restore; nil if nothing was restored
// since the last snapshot of an iteration. description says which tree was restored.
func (t *Tree) TreeState(description string) *event.TreeState {
	if t.lastRestore == nil {
		return nil
	}
	state := event.NewTreeState(*t.lastRestore, description)
	return &state
}

// RestoreAfterError restores a snapshot after an error, and returns the error with the result
// added. If the tree has changed, that includes the command by which the user can get the old
// state again.
func (t *Tree) RestoreAfterError(cause error, id snapshot.ID, loopID string) error {
	res, err := t.Store.Restore(context.Background(), id)
	switch {
	case err != nil:
		return fmt.Errorf("%w; and snapshot s%s could not be restored: %w; when that is fixed: supervise rollback %s s%s", cause, id, err, loopID, id)
	case len(res.Written)+len(res.Deleted)+len(res.Ignored)+res.GitFiles == 0 && event.NewShortfall(res).IsEmpty():
		return cause
	}
	state := event.NewTreeState(res, "restored to snapshot s"+string(id))
	return fmt.Errorf("%w; what was there is kept: supervise rollback %s s%s; %s", cause, loopID, res.Safety, state)
}

// reportShortfall reports the paths that a restore could not restore, each once.
func (t *Tree) reportShortfall(res snapshot.Restored) error {
	data := event.NewShortfall(res)
	data.Differs = nil // which is an error
	for reason, list := range map[string]*[]string{"gone": &data.Lost, "regenerable": &data.MissingRegenerable, "changed": &data.Changed, "used": &data.InUse, "new": &data.NewIgnored, "left": &data.NotDeleted, "owner": &data.OwnerOrLinksDiffer} {
		*list = t.unreported(reason, *list)
	}
	if !data.IsEmpty() {
		if err := t.Journal.Write(event.RestoreIncomplete, t.Iteration(), data); err != nil {
			return err
		}
	}
	if len(res.Shared) == 0 {
		return nil
	}
	return t.Journal.Write(event.SharedRefsRestored, t.Iteration(), event.SharedRefs{Names: res.Shared})
}

// ReportSharedLost reports, each once, refs that linked worktrees share and that were lost since
// a snapshot. That is not a finding, since a process in another worktree may have done it.
func (t *Tree) ReportSharedLost(since, now snapshot.ID) error {
	lost, err := t.Store.LostSharedState(since, now)
	if err != nil {
		return fmt.Errorf("compare what the worktrees share with the baseline: %w", err)
	}
	if lost = t.unreported("shared", lost); len(lost) == 0 {
		return nil
	}
	return t.Journal.Write(event.SharedLost, t.Iteration(), event.SharedRefs{Names: lost})
}

// unreported returns the names that were not reported for that reason yet, and counts
// them as reported.
func (t *Tree) unreported(reason string, names []string) (out []string) {
	for _, name := range names {
		if key := reason + "\x00" + name; !t.reported[key] {
			t.reported[key] = true
			out = append(out, name)
		}
	}
	return out
}

// SkippedPaths lists the paths that are not in a snapshot, and why; nil if unknown.
func (t *Tree) SkippedPaths(id snapshot.ID) []string {
	info, err := t.Store.Info(id)
	if err != nil {
		return nil
	}
	return SkippedPaths(info)
}

// SkippedPaths lists the paths that are not in a snapshot, and why, like "data.bin: too big".
func SkippedPaths(info snapshot.Info) []string {
	out := make([]string, 0, len(info.Skipped))
	for _, skip := range info.Skipped {
		out = append(out, skip.Path+": "+string(skip.Reason))
	}
	return out
}

// RegenerablePaths lists the ignored folders and files that no snapshot keeps, because tools can
// regenerate them; nil if unknown.
func (t *Tree) RegenerablePaths(id snapshot.ID) []string {
	list, err := t.Store.UnkeptIgnored(id)
	if err != nil {
		return nil
	}
	return list
}

// Open opens the snapshots of a tree in dir. If the state folder home is inside the tree, it
// is not captured.
func Open(ctx context.Context, root, home, dir string, o snapshot.Options) (*snapshot.Store, error) {
	store, err := snapshot.Open(ctx, root, dir, o)
	if err != nil {
		return nil, err
	}
	if rel, inside := ledger.PathInTree(home, root); inside {
		if err := store.Exclude([]string{rel}); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	return store, nil
}
