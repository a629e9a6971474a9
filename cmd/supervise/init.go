package main

import (
	"errors"
	"fmt"
	"os"

	"supervise/internal/config"

	"github.com/spf13/cobra"
)

func (a *app) initCmd() *cobra.Command {
	f := &checkFlags{}
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented " + config.FileName + " for this project",
		Long: `Init recognises how the project is built, tested, covered and linted and writes
that as a commented ` + config.FileName + ` into the root of the working tree. What is
given by flags is written as given; a project that is not recognised needs --test-cmd.`,
		Example: "  supervise init\n  supervise init --test-cmd 'make check' --test-report 'build/**/TEST-*.xml'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.init(cmd, f, force) },
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func (a *app) init(cmd *cobra.Command, f *checkFlags, force bool) error {
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	path := config.Path(at.project)
	if _, err := os.Lstat(path); err == nil && !force {
		return usageError{fmt.Errorf("%s is there already; --force replaces it", path)}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for %s: %w", path, err)
	}
	s := config.Default()
	if err := f.override(&s); err != nil {
		return err
	}
	plan, notes, err := s.Plan(at.project, lookPath)
	if err != nil {
		return err
	}
	text, err := config.Write(plan, notes)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_ = a.showPlan(plan, false)
	fmt.Fprintf(a.out, "wrote %s\n", path)
	for _, n := range notes {
		fmt.Fprintf(a.err, "note: %s\n", n)
	}
	fmt.Fprintf(a.err, "next: supervise doctor runs each check once and says what is measured\n")
	return nil
}
