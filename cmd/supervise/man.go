package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newManCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages to a folder",
		Long: "Write manual pages to a folder: one for each command, in section 1.",
		Example: `  supervise man ~/.local/share/man/man1
  man supervise-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := runMan(cmd.Root(), args[0]); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
}

// runMan writes the manual pages of all commands into a folder.
func runMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	day := time.Now().UTC().Truncate(24 * time.Hour)
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "SUPERVISE", Section: "1", Source: "supervise " + version(), Manual: "supervise", Date: &day}, dir)
}
