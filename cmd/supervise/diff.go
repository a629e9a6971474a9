package main

import (
	"errors"
	"fmt"

	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// diffFlags choose the form of a diff; none of them is a patch.
type diffFlags struct{ stat, namesOnly, json bool }

func (a *app) diffCmd() *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff [LOOP] N [M]",
		Short: "Show what iteration N changed, or what differs between N and M",
		Long: `Diff prints the changes of iteration N against the tree that it started from, or
between the trees that N and M left, as a unified diff. ` + treeNames + `
Alone, a tree that no iteration left is compared with the baseline.`,
		Example: "  supervise diff 3\n  supervise diff fix-tests 3\n  supervise diff fix-tests baseline best --stat\n  supervise diff latest now",
		Args:    loopAndTrees(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.stat && f.namesOnly || f.json && (f.stat || f.namesOnly) {
				return usageError{errors.New("give one of --stat, --name-only and --json")}
			}
			return a.diff(cmd, treeOf(args), f)
		},
	}
	cmd.Flags().BoolVar(&f.stat, "stat", false, "only how many lines of which files")
	cmd.Flags().BoolVar(&f.namesOnly, "name-only", false, "only the kinds of change and the names of changed files")
	cmd.Flags().BoolVar(&f.json, "json", false, "the changed files as JSON")
	return cmd
}

func (a *app) diff(cmd *cobra.Command, args []string, f *diffFlags) (err error) {
	t, err := a.trees(cmd, args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	from, to, err := t.ends(cmd.Context(), args[1:])
	if err != nil {
		return err
	}
	switch {
	case f.stat:
		return t.store.Stat(cmd.Context(), a.out, from, to)
	case f.json:
		return a.diffJSON(cmd, t.store, from, to)
	case f.namesOnly:
		changes, err := t.store.Changes(cmd.Context(), from, to)
		for _, c := range changes {
			fmt.Fprintf(a.out, "%s\t%s\n", c.Kind, c.Path)
		}
		return err
	}
	return t.store.Patch(cmd.Context(), a.out, from, to)
}

// changedFile is one file of diff --json.
type changedFile struct {
	Path    string              `json:"path"`
	Kind    snapshot.ChangeKind `json:"kind"`
	Added   int                 `json:"lines_added"`
	Deleted int                 `json:"lines_deleted"`
	Binary  bool                `json:"binary,omitempty"`
}

func (a *app) diffJSON(cmd *cobra.Command, store *snapshot.Store, from, to snapshot.ID) error {
	changes, err := store.Changes(cmd.Context(), from, to)
	if err != nil {
		return err
	}
	lines, err := store.Lines(cmd.Context(), from, to)
	if err != nil {
		return err
	}
	out := struct {
		From  string        `json:"from"`
		To    string        `json:"to"`
		Files []changedFile `json:"files"`
	}{"s" + string(from), "s" + string(to), make([]changedFile, 0, len(changes))}
	for _, c := range changes {
		l := lines[c.Path]
		out.Files = append(out.Files, changedFile{c.Path, c.Kind, l.Added, l.Deleted, l.Binary})
	}
	return a.encode(out)
}
