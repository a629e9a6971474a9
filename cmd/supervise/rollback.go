package main

import (
	"errors"
	"fmt"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

func (a *app) rollbackCmd() *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "rollback [LOOP] N | rollback --undo [LOOP]",
		Short: "Put the tree of an iteration back, rejected or not; --undo takes that back",
		Long: `Rollback puts the working tree, and git's state with it, back to what iteration N
of the loop left. ` + treeNames + `

The tree as it was is kept as a snapshot first. --undo puts back what was there
before the last rollback, of the loop or of any loop of this working tree. An undo
is a rollback too: a second one does again what the first one undid, and nothing
that was done in between is lost.`,
		Example: "  supervise rollback ralph-fix-tests-1a2b3c4d 3\n  supervise rollback fix-tests baseline\n  supervise rollback latest best\n  supervise rollback --undo",
		Args: func(c *cobra.Command, args []string) error {
			if undo {
				return cobra.MaximumNArgs(1)(c, args)
			}
			return loopAndTrees(1, 1)(c, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				return a.undo(cmd, args)
			}
			args = treeOf(args)
			return a.rollback(cmd, args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "put back what was there before the last rollback")
	return cmd
}

func (a *app) rollback(cmd *cobra.Command, loop, target string) error {
	if target == "now" {
		return usageError{errors.New("the working tree is as it is now: give another tree to put back")}
	}
	return a.putBack(cmd, loop, func(t *trees) (string, snapshot.Restored, error) {
		id, err := t.find(cmd.Context(), target)
		if err != nil {
			return "", snapshot.Restored{}, err
		}
		res, err := t.store.Rollback(cmd.Context(), id)
		return "put back", res, err
	})
}

func (a *app) undo(cmd *cobra.Command, args []string) error {
	loop, err := a.lastRolledBack(cmd, args)
	if err != nil {
		return err
	}
	return a.putBack(cmd, loop, func(t *trees) (string, snapshot.Restored, error) {
		res, err := t.store.Undo(cmd.Context())
		if errors.Is(err, snapshot.ErrNoRollback) {
			err = usageError{fmt.Errorf("loop %s: %w", t.state.LoopID, snapshot.ErrNoRollback)}
		}
		return "undone: put back", res, err
	})
}

// lastRolledBack returns the loop that is meant: the one that is named, else the one of this tree's last rollback.
func (a *app) lastRolledBack(cmd *cobra.Command, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return "", err
	}
	home, err := a.home(at.root)
	if err != nil {
		return "", err
	}
	loops, err := ledger.Loops(home, at.root)
	if err != nil {
		return "", err
	}
	var latest snapshot.Rollback
	name := ""
	for _, s := range loops {
		r, err := snapshot.LastRollback(ledger.SnapshotDir(ledger.Dir(home, s.LoopID)))
		if err == nil && r.At.After(latest.At) {
			latest, name = r, s.LoopID
		}
	}
	if name == "" {
		return "", usageError{fmt.Errorf("undo in %s: %w", at.root, snapshot.ErrNoRollback)}
	}
	return name, nil
}

// putBack has do restore a tree of the loop, and says what came of it.
func (a *app) putBack(cmd *cobra.Command, loop string, do func(*trees) (string, snapshot.Restored, error)) (err error) {
	dir, state, err := a.find(cmd, loop)
	if err != nil {
		return err
	}
	tree, err := ledger.HoldTree(state.Workspace)
	if err != nil {
		return fmt.Errorf("%w; interrupt the loop first", err)
	}
	defer tree.Close()
	t, err := openTrees(cmd.Context(), dir, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	keep, err := a.keepAcks(cmd.Context())
	if err != nil {
		return err
	}
	what, res, err := do(t)
	if err != nil {
		return err
	}
	a.restored(t.state.LoopID, what, res)
	return keep()
}

func (a *app) restored(loop, what string, res snapshot.Restored) {
	git := ""
	if res.GitFiles > 0 {
		git = "; git's own state too"
	}
	fmt.Fprintf(a.out, "%s s%s: %s written, %d deleted%s\n", what, res.Target, report.Count(len(res.Written), "file", "files"), len(res.Deleted), git)
	if len(res.Shared) > 0 {
		fmt.Fprintf(a.out, "put back in the repository that the worktrees share: %s\n", strings.Join(report.Cut(res.Shared, 10), ", "))
	}
	if len(res.Gone) > 0 {
		fmt.Fprintf(a.out, "gone, and never kept, so that it cannot be put back: %s\n", strings.Join(report.Cut(res.Gone, 10), ", "))
	}
	if len(res.Left) > 0 {
		fmt.Fprintf(a.out, "new, and left there, too big or unreadable to be kept: %s\n", strings.Join(report.Cut(res.Left, 10), ", "))
	}
	if len(res.Displaced) > 0 {
		fmt.Fprintf(a.out, "moved out of the way, too big or unreadable to be kept: %s (in %s)\n", strings.Join(report.Cut(res.Displaced, 10), ", "), res.DisplacedTo)
	}
	fmt.Fprintf(a.out, "the tree as it was is kept as s%s; undo with: supervise rollback --undo %s\n", res.Safety, loop)
	for _, m := range res.Mismatches {
		fmt.Fprintf(a.err, "differs: %s: %s\n", m.Path, m.Why)
		a.code = 1
	}
}
