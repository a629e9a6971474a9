package main

import (
	"fmt"

	"supervise/internal/ledger"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

func (a *app) diffCmd() *cobra.Command {
	var namesOnly bool
	cmd := &cobra.Command{
		Use:   "diff LOOP N [M]",
		Short: "Show what iteration N changed, or what differs between N and M",
		Long: `Diff prints the changes of iteration N against the tree that it started from, or
between the trees that N and M left (0 is the baseline), as a unified diff.`,
		Example: "  supervise diff fix-tests 3\n  supervise diff fix-tests 0 5 --name-only",
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd, args, namesOnly)
		},
	}
	cmd.Flags().BoolVar(&namesOnly, "name-only", false, "only the names of changed files")
	return cmd
}

func (a *app) diff(cmd *cobra.Command, args []string, namesOnly bool) error {
	dir, state, err := a.find(cmd, args[0])
	if err != nil {
		return err
	}
	store, err := snapshot.Open(cmd.Context(), state.Workspace, ledger.SnapshotDir(dir), snapshot.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	from, to, err := ends(dir, state, store, args[1:])
	if err != nil {
		return err
	}
	if !namesOnly {
		return store.Patch(cmd.Context(), a.out, from, to)
	}
	changes, err := store.Changes(cmd.Context(), from, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Fprintf(a.out, "%s\t%s\n", c.Kind, c.Path)
	}
	return nil
}

// ends finds the two snapshots to compare.
func ends(dir string, state ledger.State, store *snapshot.Store, args []string) (from, to snapshot.ID, err error) {
	if from, err = snapshotOf(dir, state, store, args[0]); err != nil {
		return "", "", err
	}
	if len(args) == 2 {
		to, err = snapshotOf(dir, state, store, args[1])
		return from, to, err
	}
	its, err := ledger.Iterations(dir)
	if err != nil {
		return "", "", err
	}
	for _, it := range its {
		if it.Snapshot == from {
			return it.Start, it.Snapshot, nil
		}
	}
	return state.BaselineSnapshot, from, nil
}
