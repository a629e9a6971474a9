package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"supervise/internal/worktree"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// diffOptions are the options of supervise diff. Without --stat, --name-only and --json, it
// prints a patch.
type diffOptions struct {
	loop                  string
	trees                 []string
	candidate             int // 0 if the flag is not given
	stat, namesOnly, json bool
}

func newDiffCmd(a *app) *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use: "diff [LOOP] N [M]", Short: "Show what iteration N changed, or what differs between N and M",
		Long: `The result is a unified diff. ` + worktree.NamesHelp + ` An iteration alone
is compared with the tree that it started from, any other tree with the baseline.`,
		Example: `  supervise diff 3
  supervise diff fix-tests baseline best --stat
  supervise diff latest now
  supervise diff fix-tests --candidate 2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("candidate") {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return loopAndTrees(1, 2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("candidate") {
				o.loop, o.trees = firstArg(args), []string{strconv.Itoa(o.candidate)}
				return runDiff(cmd.Context(), a, o)
			}
			args = loopFirst(args)
			o.loop, o.trees = args[0], args[1:]
			return runDiff(cmd.Context(), a, o)
		},
	}

	cmd.Flags().IntVar(&o.candidate, "candidate", 0, "what this candidate changed")
	cmd.Flags().BoolVar(&o.stat, "stat", false, "only the number of changed lines per file")
	cmd.Flags().BoolVar(&o.namesOnly, "name-only", false, "only the kind of change and the name of each file")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the changed files as JSON")
	return cmd
}

func runDiff(ctx context.Context, a *app, o diffOptions) (err error) {
	if o.stat && o.namesOnly || o.json && (o.stat || o.namesOnly) {
		return usageError{errors.New("give one of --stat, --name-only and --json")}
	}
	t, err := a.openTrees(ctx, o.loop)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()

	from, to, err := t.ResolvePair(ctx, o.trees)
	if err != nil {
		return err
	}

	switch {
	case o.stat:
		return t.Store.WriteStat(ctx, a.out, from, to)
	case o.json:
		return a.diffJSON(ctx, t.Store, from, to)
	case o.namesOnly:
		changes, err := t.Store.Changes(ctx, from, to)
		for _, c := range changes {
			fmt.Fprintf(a.out, "%s\t%s\n", c.Kind, c.Path)
		}
		return err
	}
	return t.Store.WritePatch(ctx, a.raw.out, from, to) // unmasked, so that it can be applied
}

// changedFile is a file in the output of diff --json.
type changedFile struct {
	Path    string              `json:"path"`
	Kind    snapshot.ChangeKind `json:"kind"`
	Added   int                 `json:"lines_added"`
	Deleted int                 `json:"lines_deleted"`
	Binary  bool                `json:"binary,omitempty"`
}

// diffJSON prints the changed files as JSON.
func (a *app) diffJSON(ctx context.Context, store *snapshot.Store, from, to snapshot.ID) error {
	changes, err := store.Changes(ctx, from, to)
	if err != nil {
		return err
	}
	lines, err := store.CountLines(ctx, from, to)
	if err != nil {
		return err
	}
	out := struct {
		From  string        `json:"from"`
		To    string        `json:"to"`
		Files []changedFile `json:"files"`
	}{from.Name(), to.Name(), make([]changedFile, 0, len(changes))}
	for _, c := range changes {
		l := lines[c.Path]
		out.Files = append(out.Files, changedFile{c.Path, c.Kind, l.Added, l.Deleted, l.Binary})
	}
	return a.encode(out)
}
