package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"supervise/fleet/export"
	"supervise/fleet/taskfile"

	"github.com/spf13/cobra"
)

func newExport(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "export", Short: "Write a fleet for other places"}
	var path string
	github := &cobra.Command{
		Use:   "github TASKS.yaml",
		Short: "Print a workflow of GitHub Actions that does the tasks without a server",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := taskfile.Read(args[0])
			if err != nil {
				return err
			}
			if !f.Named {
				return usageError{fmt.Errorf("%s: its jobs have to agree on a name: give it fleet", args[0])}
			}
			if path == "" {
				path = filepath.ToSlash(args[0])
			}
			text, err := export.GitHub(f, path)
			if err != nil {
				return usageError{err}
			}
			_, err = a.out.Write(text)
			return err
		},
	}
	github.Flags().StringVar(&path, "path", "", "of the task file in the repository (default as given)")
	w := export.Workers{}
	var dir string
	kubernetes := &cobra.Command{
		Use:   "kubernetes",
		Short: "Write a Kustomize folder with workers",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			files, err := export.Kubernetes(w)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil {
					return err
				}
				fmt.Fprintln(a.out, filepath.Join(dir, name))
			}
			return nil
		},
	}
	f := kubernetes.Flags()
	f.StringVar(&w.Image, "image", "supervise-fleet-worker:latest", "`image` with supervise, supervise-fleet, git, the agents and what the projects need")
	f.StringVar(&w.Queue, "task-queue", queue, "`queue` of the workers")
	f.StringVar(&w.Address, "temporal", "temporal-frontend:7233", "`address` of the server in the cluster")
	f.StringVar(&w.Namespace, "temporal-namespace", "default", "its `namespace`")
	f.IntVar(&w.Replicas, "replicas", 3, "how many workers")
	f.StringVar(&dir, "dir", "kubernetes", "`folder` that is written")
	cmd.AddCommand(github, kubernetes)
	return cmd
}
