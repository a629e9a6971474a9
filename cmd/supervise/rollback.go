package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"supervise/internal/ledger"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

func (a *app) rollbackCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "rollback LOOP N",
		Short: "Put the tree of an iteration back, rejected or not",
		Long: `Rollback puts the working tree back to what iteration N of the loop left, 0 for
the tree before any agent ran. The present tree is kept as a snapshot first and
its name (s and a number) is printed; give that instead of N to undo the rollback.`,
		Example: "  supervise rollback ralph-fix-tests-1a2b3c4d 3\n  supervise rollback fix-tests 0\n  supervise rollback latest 0",
		Args:    cobra.ExactArgs(2),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.rollback(cmd, args[0], args[1]) },
	}
}

func (a *app) rollback(cmd *cobra.Command, loop, target string) error {
	dir, state, err := a.find(cmd, loop)
	if err != nil {
		return err
	}
	tree, err := ledger.HoldTree(state.Workspace)
	if err != nil {
		return fmt.Errorf("%w; interrupt the loop first", err)
	}
	defer tree.Close()
	store, err := snapshot.Open(cmd.Context(), state.Workspace, ledger.SnapshotDir(dir), snapshot.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	id, err := snapshotOf(dir, state, store, target)
	if err != nil {
		return err
	}
	res, err := store.Restore(cmd.Context(), id)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "put back s%s: %d files written, %d deleted\n", id, len(res.Written), len(res.Deleted))
	fmt.Fprintf(a.out, "undo with: supervise rollback %s s%s\n", state.LoopID, res.Safety)
	for _, m := range res.Mismatches {
		fmt.Fprintf(a.err, "differs: %s: %s\n", m.Path, m.Why)
		a.code = 1
	}
	return nil
}

// snapshotOf finds a snapshot by the number of an iteration or by its name.
func snapshotOf(dir string, state ledger.State, store *snapshot.Store, target string) (snapshot.ID, error) {
	if id, ok := strings.CutPrefix(target, "s"); ok {
		info, err := store.Info(snapshot.ID(id))
		if err != nil {
			return "", usageError{fmt.Errorf("loop %s: %w %s", state.LoopID, err, target)}
		}
		return info.ID, nil
	}
	n, err := iterationArg(target)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return state.BaselineSnapshot, nil
	}
	its, err := ledger.Iterations(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, it := range its {
		if it.Number == n {
			return it.Snapshot, nil
		}
	}
	return "", usageError{fmt.Errorf("loop %s has no iteration %d", state.LoopID, n)}
}
