package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"supervise/internal/ledger"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// trees are the trees of one loop, by the names that users give them.
type trees struct {
	dir   string // of the loop
	state ledger.State
	store *snapshot.Store
	drop  []func() error // what was taken for a look alone
}

// treeNames is the part of a help text that says how a tree is named.
const treeNames = `A tree is
named by the number of an iteration, or best, baseline (or 0), now for the working
tree as it is, or sN for a snapshot by the name that supervise printed.`

func (a *app) trees(cmd *cobra.Command, loop string) (*trees, error) {
	dir, state, err := a.find(cmd, loop)
	if err != nil {
		return nil, err
	}
	return openTrees(cmd.Context(), dir, state)
}

func openTrees(ctx context.Context, dir string, state ledger.State) (*trees, error) {
	store, err := snapshot.Open(ctx, state.Workspace, ledger.SnapshotDir(dir), snapshot.Options{})
	if err != nil {
		return nil, err
	}
	return &trees{dir: dir, state: state, store: store}, nil
}

func (t *trees) close() error {
	var errs []error
	for _, drop := range t.drop {
		errs = append(errs, drop())
	}
	return errors.Join(append(errs, t.store.Close())...)
}

// ends finds the two snapshots to compare.
func (t *trees) ends(ctx context.Context, args []string) (from, to snapshot.ID, err error) {
	if from, err = t.find(ctx, args[0]); err != nil {
		return "", "", err
	}
	if len(args) == 2 {
		to, err = t.find(ctx, args[1])
		return from, to, err
	}
	its, err := ledger.Iterations(t.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", "", err
	}
	for _, it := range its {
		if it.Snapshot == from && it.Start != "" {
			return it.Start, it.Snapshot, nil
		}
	}
	return t.state.BaselineSnapshot, from, nil
}

// find finds a snapshot by any of its names.
func (t *trees) find(ctx context.Context, name string) (snapshot.ID, error) {
	id, isID := strings.CutPrefix(name, "s")
	switch {
	case name == "now":
		info, drop, err := t.store.Present(ctx, "now")
		if err == nil {
			t.drop = append(t.drop, drop)
		}
		return info.ID, err
	case name == "best" && chosen(t.state) == nil:
		return "", usageError{fmt.Errorf("loop %s has no best iteration", t.state.LoopID)}
	case name == "best":
		return t.existing(chosen(t.state).Snapshot)
	case name == "baseline":
		return t.existing(t.state.BaselineSnapshot)
	case isID:
		return t.existing(snapshot.ID(id))
	}
	n, err := iterationArg(name)
	if err != nil {
		return "", usageError{fmt.Errorf("%q names no tree: give the number of an iteration, best, baseline, now, or sN", name)}
	}
	if n == 0 {
		return t.existing(t.state.BaselineSnapshot)
	}
	its, err := ledger.Iterations(t.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, it := range its {
		if it.Number == n {
			return t.existing(it.Snapshot)
		}
	}
	return "", usageError{fmt.Errorf("loop %s has no iteration %d", t.state.LoopID, n)}
}

// existing refuses a snapshot that was never there, or was dropped.
func (t *trees) existing(id snapshot.ID) (snapshot.ID, error) {
	switch _, err := t.store.Info(id); {
	case id == "":
		return "", usageError{fmt.Errorf("loop %s ended before it had taken its first snapshot", t.state.LoopID)}
	case errors.Is(err, snapshot.ErrUnknown):
		return "", usageError{fmt.Errorf("loop %s: %w s%s", t.state.LoopID, snapshot.ErrUnknown, id)}
	case err != nil:
		return "", usageError{fmt.Errorf("loop %s: %w", t.state.LoopID, err)}
	}
	return id, nil
}
