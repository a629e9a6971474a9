package main

import (
	"context"
	"errors"
	"fmt"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/seal"
	"supervise/internal/worktree"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// rollbackOptions are the options of supervise rollback.
type rollbackOptions struct {
	loop, tree string
	undo       bool
	force      bool // also restore into another repository
}

func newRollbackCmd(a *app) *cobra.Command {
	var o rollbackOptions
	cmd := &cobra.Command{
		Use:   "rollback [LOOP] N | rollback --undo [LOOP]",
		Short: "Restore the tree of an iteration, rejected or not",
		Long: `Restore the tree of an iteration, rejected or not, with git's state.

` + worktree.NamesHelp + `

The current tree is kept as a snapshot first. --undo restores the tree before the last
rollback, of the loop or of any loop of this working tree. An undo is a rollback too, so
a second one is a redo, and no work in between is lost.`,
		Example: `  supervise rollback 3
  supervise rollback fix-tests baseline
  supervise rollback --undo`,
		Args: func(c *cobra.Command, args []string) error {
			if o.undo {
				return cobra.MaximumNArgs(1)(c, args)
			}
			return loopAndTrees(1, 1)(c, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.undo {
				o.loop = firstArg(args)
			} else {
				args = loopFirst(args)
				o.loop, o.tree = args[0], args[1]
			}
			return runRollback(cmd.Context(), a, o)
		},
	}

	cmd.Flags().BoolVar(&o.force, "force", false, "restore even if the working tree is another repository now")
	cmd.Flags().BoolVar(&o.undo, "undo", false, "restore the tree before the last rollback")
	return cmd
}

// runRollback restores a tree of a loop into the working tree, or reverts the last rollback of the
// loop. Without the name of a loop it reverts the last rollback in the working tree. The last line
// that it prints is the state of the tree.
func runRollback(ctx context.Context, a *app, o rollbackOptions) error {
	switch {
	case o.undo && o.loop == "":
		at, err := a.workspaceAndHome(ctx)
		if err != nil {
			return err
		}
		if o.loop, err = worktree.LastRollback(at.home, at.root); err != nil {
			return err
		}
	case o.tree == "now":
		return usageError{errors.New("the working tree is as it is now: name another tree")}
	}

	err := a.restoreTree(ctx, o.loop, func(t *worktree.Trees) (what string, res snapshot.Restored, err error) {
		var id snapshot.ID
		if !o.undo {
			id, err = t.Resolve(ctx, o.tree)
		}
		if err == nil && o.force {
			err = t.Store.AdoptRepository()
		}
		switch {
		case err != nil:
			return "", res, err
		case o.undo:
			res, err = t.Undo(ctx)
			return "undo: restored", res, err
		}
		res, err = t.Store.Rollback(ctx, id)
		return "restored", res, err
	})
	a.lastLine()
	return err
}

// lastLine prints the state of the tree, if one was restored.
func (a *app) lastLine() {
	if a.tree != "" {
		fmt.Fprintln(a.out, a.tree)
	}
}

// restoreTree opens the trees of a loop, lets do restore one of them, and prints the result. do
// returns the first words of the line about it. The acknowledgements of the user stay unchanged.
func (a *app) restoreTree(ctx context.Context, loop string, do func(*worktree.Trees) (string, snapshot.Restored, error)) (err error) {
	dir, state, err := a.find(ctx, loop)
	if err != nil {
		return err
	}

	tree, err := ledger.LockTree(state.Workspace)
	if err != nil {
		return fmt.Errorf("%w; interrupt the loop first", err)
	}
	defer tree.Close()

	a.noteUnfinishedRestore(state.LoopID, dir)
	t, err := worktree.OpenTrees(ctx, dir, state)
	if unfinished := new(snapshot.UnfinishedError); errors.As(err, &unfinished) {
		fmt.Fprintln(a.err, "supervise:", unfinished) // this restore replaces the unfinished one
		t, err = worktree.OpenTrees(ctx, dir, state)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()

	keep, err := a.acksRestorer(ctx)
	if err != nil {
		return err
	}

	t.Store.OnRestore(func(b snapshot.PlannedRestore) error {
		a.text().PrintKeptTree(state.LoopID, b.Safety)
		return nil
	})
	what, res, err := do(t)
	if err != nil {
		return err
	}

	a.text().PrintRestored(what, res)
	for _, m := range res.Mismatches {
		fmt.Fprintf(a.err, "differs: %s: %s\n", m.Path, m.Why)
		a.code = 1
	}

	a.tree = event.NewTreeState(res, "that of s"+string(res.Target)).String()
	sealed, err := seal.Read(dir)
	if err == nil && sealed != nil {
		err = a.restoreSealed(sealed, state.Workspace)
	}
	return errors.Join(err, keep())
}
