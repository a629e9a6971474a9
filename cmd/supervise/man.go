package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages into a folder",
		Long:  "Man writes a manual page for each command into a folder, as section 1.",
		Example: `  supervise man ~/.local/share/man/man1
  man supervise-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			day := time.Now().UTC().Truncate(24 * time.Hour)
			root := cmd.Root()
			root.DisableAutoGenTag = true
			err := doc.GenManTree(root, &doc.GenManHeader{Title: "SUPERVISE", Section: "1", Source: "supervise " + version(), Manual: "supervise", Date: &day}, args[0])
			if err != nil {
				return fmt.Errorf("write manual pages: %w", err)
			}
			return nil
		},
	}
	return cmd
}
