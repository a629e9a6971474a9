package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"supervise/internal/config"

	"github.com/spf13/cobra"
)

// initOptions are the options of supervise init.
type initOptions struct {
	checkFlags
	force bool
}

func newInitCmd(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use: "init", Short: "Write a commented " + config.FileName + " for this project",
		Long: `The file holds the recognised commands that build, test and lint the project. Flags
replace them; a project that is not recognised needs --test-cmd.`,
		Example: `  supervise init
  supervise init --test-cmd 'make check' --test-report 'build/**/TEST-*.xml'`,
		RunE: inWorkspace(a.workspace, func(_ context.Context, at workspace) error { return runInit(a, at, o) }),
	}
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing file")
	o.checkFlags.register(cmd.Flags())
	return cmd
}

// runInit writes a configuration with the detected checks.
func runInit(a *app, at workspace, o initOptions) error {
	path := config.Path(at.project)
	if _, err := os.Lstat(path); err == nil && !o.force {
		return usageError{fmt.Errorf("%s exists already; --force replaces it", path)}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for %s: %w", path, err)
	}

	s := config.Default()
	if err := o.checkFlags.override(&s); err != nil {
		return err
	}

	plan, notes, err := s.Plan(at.project, lookPath)
	if err != nil {
		return err
	}

	text, err := config.Template(plan, notes)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if err := a.showPlan(plan, false); err != nil {
		return err
	}

	fmt.Fprintf(a.out, "wrote %s\n", path)
	a.printNotes(notes...)
	fmt.Fprintf(a.err, "next: supervise doctor runs each check once and shows what is measured\n")
	return nil
}
