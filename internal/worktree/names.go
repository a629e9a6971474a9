package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"supervise/internal/ledger"
	"supervise/snapshot"
)

// ErrUnknownTree marks names that match no tree of the loop.
var ErrUnknownTree = errors.New("no such tree")

// NamesHelp explains in a help text how a tree is named.
const NamesHelp = `A tree is named
by the number of an iteration, best, baseline (or 0), now for the working tree as it
is, or sN for a snapshot by its printed name.`

// Trees are the trees of one loop.
type Trees struct {
	Store    *snapshot.Store
	dir      string // folder of the loop
	state    ledger.State
	cleanups []func() error // delete snapshots that were taken only for a comparison
}

// OpenTrees opens the trees of the loop in a folder.
func OpenTrees(ctx context.Context, dir string, state ledger.State) (*Trees, error) {
	store, err := snapshot.Open(ctx, state.Workspace, ledger.SnapshotDir(dir), snapshot.Options{})
	if err != nil {
		return nil, err
	}
	return &Trees{dir: dir, state: state, Store: store}, nil
}

// Close deletes temporary snapshots and closes the store.
func (t *Trees) Close() error {
	var errs []error
	for _, drop := range t.cleanups {
		errs = append(errs, drop())
	}
	return errors.Join(append(errs, t.Store.Close())...)
}

// ResolvePair finds the two snapshots that one or two names compare. A single iteration is
// compared with the tree that it started from, and any other single tree with the baseline.
func (t *Trees) ResolvePair(ctx context.Context, names []string) (from, to snapshot.ID, err error) {
	if from, err = t.Resolve(ctx, names[0]); err != nil {
		return "", "", err
	}
	if len(names) == 2 {
		to, err = t.Resolve(ctx, names[1])
		return from, to, err
	}
	its, err := t.iterations()
	for _, it := range its {
		if it.Snapshot == from && it.Start != "" {
			return it.Start, it.Snapshot, nil
		}
	}
	return t.state.BaselineSnapshot, from, err
}

// iterations returns the iterations of the loop, none if it ended before its baseline.
func (t *Trees) iterations() ([]ledger.Iteration, error) {
	its, err := ledger.ReadIterations(t.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return its, err
}

// Resolve finds a snapshot by its name, see NamesHelp. For "now" it takes a snapshot, which
// Close deletes.
func (t *Trees) Resolve(ctx context.Context, name string) (snapshot.ID, error) {
	id, isID := strings.CutPrefix(name, "s")
	switch best := t.state.SelectedOrBest(); {
	case name == "now":
		info, drop, err := t.Store.TakeTemporary(ctx, "now")
		if err == nil {
			t.cleanups = append(t.cleanups, drop)
		}
		return info.ID, err
	case name == "best" && best == nil:
		return "", fmt.Errorf("%w: loop %s has no best iteration", ErrUnknownTree, t.state.LoopID)
	case name == "best":
		return t.CheckExists(best.Snapshot)
	case name == "baseline" || name == "0":
		return t.CheckExists(t.state.BaselineSnapshot)
	case isID:
		return t.CheckExists(snapshot.ID(id))
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%w: %q; give the number of an iteration, best, baseline, now, or sN", ErrUnknownTree, name)
	}
	its, err := t.iterations()
	if err != nil {
		return "", err
	}
	for _, it := range its {
		if it.Number == n {
			return t.CheckExists(it.Snapshot)
		}
	}
	return "", fmt.Errorf("%w: loop %s has no iteration %d", ErrUnknownTree, t.state.LoopID, n)
}

// CheckExists returns the ID of a snapshot that exists. The error wraps [ErrUnknownTree] if it
// does not.
func (t *Trees) CheckExists(id snapshot.ID) (snapshot.ID, error) {
	switch _, err := t.Store.Info(id); {
	case id == "":
		return "", fmt.Errorf("%w: loop %s ended before its first snapshot", ErrUnknownTree, t.state.LoopID)
	case errors.Is(err, snapshot.ErrUnknown):
		return "", fmt.Errorf("%w: loop %s: %w s%s", ErrUnknownTree, t.state.LoopID, snapshot.ErrUnknown, id)
	case err != nil:
		return "", fmt.Errorf("%w: loop %s: %w", ErrUnknownTree, t.state.LoopID, err)
	}
	return id, nil
}

// Undo restores the tree from before the last rollback of the loop.
func (t *Trees) Undo(ctx context.Context) (snapshot.Restored, error) {
	res, err := t.Store.Undo(ctx)
	if err != nil {
		err = fmt.Errorf("undo in loop %s: %w", t.state.LoopID, err)
	}
	return res, err
}

// LastRollback returns the loop from which the tree at root was restored last. The error wraps
// [snapshot.ErrNoRollback] if there is none.
func LastRollback(home, root string) (loop string, err error) {
	loops, err := ledger.ListLoops(home, root)
	if err != nil {
		return "", err
	}
	var latest snapshot.Rollback
	for _, s := range loops {
		r, err := snapshot.LastRollback(ledger.SnapshotDir(ledger.LoopDir(home, s.LoopID)))
		if err == nil && r.At.After(latest.At) {
			latest, loop = r, s.LoopID
		}
	}
	if loop == "" {
		return "", fmt.Errorf("undo in %s: %w", root, snapshot.ErrNoRollback)
	}
	return loop, nil
}
