package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/seal"
	"supervise/internal/worktree"

	"github.com/spf13/cobra"
)

// sealOptions are the options of supervise seal.
type sealOptions struct {
	loop          string
	restore, json bool
}

func newSealCmd(a *app) *cobra.Command {
	var o sealOptions
	cmd := &cobra.Command{
		Use: "seal [LOOP]", Short: "Show the sealed tests of a loop, and restore them",
		Long: `Names the tests that run --seal took out of the tree, says which of their files have
them now, and compares the stored originals with the snapshot of the original tree.
Exits with 3 if an original differs.

Every end of a loop restores them. A loop that was killed, or that waits for resume,
has not ended: supervise resume continues it, the next supervise run restores them
first, and --restore does that at once.`,
		Example: `  supervise seal
  supervise seal fix-tests --restore`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSeal(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.restore, "restore", false, "restore the sealed tests in the working tree")
	cmd.Flags().BoolVar(&o.json, "json", false, "print them as JSON")
	return cmd
}

// sealedFile is a file with sealed tests, for output.
type sealedFile struct {
	Path    string   `json:"path"`
	State   string   `json:"state"`
	Tests   []string `json:"tests"`
	Damaged bool     `json:"damaged,omitempty"` // the stored original differs from the snapshot
}

// runSeal shows the sealed tests of a loop, after it has restored them if wanted.
func runSeal(ctx context.Context, a *app, o sealOptions) error {
	if insideAgent() {
		return usageError{errInside}
	}
	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}
	s, err := seal.Read(dir)
	if err != nil {
		return err
	}
	if s == nil {
		return usageError{fmt.Errorf("loop %s has no sealed tests", state.LoopID)}
	}
	if o.restore {
		err = a.lockAndRestoreSealed(s, state.Workspace)
	}
	if err != nil {
		return err
	}
	files, err := sealedFiles(ctx, s, dir, state)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Damaged {
			a.code = event.StoppedByRule.ExitCode()
		}
	}
	if o.json {
		return a.encode(map[string]any{"loop_id": state.LoopID, "share": s.Share, "seed": s.Seed, "failing": s.Failing, "in_history": s.InHistory, "restored": s.Restored, "files": files})
	}
	fmt.Fprintf(a.out, "loop %s: %d of %d failing tests sealed (seed %d)\n", state.LoopID, len(s.Tests), s.Failing, s.Seed)
	for _, f := range files {
		f.print(a.out, s)
	}
	if s.InHistory > 0 {
		fmt.Fprintf(a.out, "in git at HEAD when the loop started, where an agent can find them: %s\n", report.Pluralize(s.InHistory, "file", "files"))
	}
	return nil
}

// print prints a file with its tests.
func (f sealedFile) print(w io.Writer, s *seal.Sealed) {
	fmt.Fprintf(w, "  %s: %s\n", f.Path, f.State)
	for _, t := range f.Tests {
		fmt.Fprintf(w, "    %s\n", t)
	}
	if f.Damaged {
		fmt.Fprintf(w, "    the stored original differs from snapshot s%s\n", s.Snapshot)
	}
}

// sealedFiles returns the files with sealed tests.
func sealedFiles(ctx context.Context, s *seal.Sealed, dir string, state ledger.State) (out []sealedFile, err error) {
	trees, err := worktree.OpenTrees(ctx, dir, state)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	states, err := s.States(state.Workspace)
	if err != nil {
		return nil, err
	}
	for i, f := range s.Files {
		line := sealedFile{Path: f.Path, State: states[i].Text}
		kept, err := trees.Store.ReadFile(ctx, s.Snapshot, f.Path)
		line.Damaged = err != nil || !bytes.Equal(kept, states[i].Original)
		for _, t := range s.Tests {
			if t.File == f.Path {
				line.Tests = append(line.Tests, t.String())
			}
		}
		out = append(out, line)
	}
	return out, nil
}

// lockAndRestoreSealed is restoreSealed for a tree in which no loop runs.
func (a *app) lockAndRestoreSealed(s *seal.Sealed, root string) error {
	tree, err := ledger.LockTree(root)
	if err != nil {
		return fmt.Errorf("%w; interrupt the loop first", err)
	}
	return errors.Join(a.restoreSealed(s, root), tree.Close())
}

// restoreSealed restores sealed tests in a working tree, and prints where originals are kept.
func (a *app) restoreSealed(s *seal.Sealed, root string) error {
	out, err := s.Restore(root)
	if len(out.Kept) > 0 {
		fmt.Fprintln(a.err, "supervise: files with sealed tests were rewritten or deleted; the originals are in", strings.Join(out.Kept, ", "))
	}
	return err
}
