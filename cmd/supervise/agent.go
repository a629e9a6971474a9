package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/loop"

	"github.com/spf13/cobra"
)

// ready refuses an agent that cannot be started before anything is measured, and
// says what should be known of it.
func (a *app) ready(cmd *cobra.Command, at place, opts loop.Options) error {
	if opts.Program.Name == "" {
		if len(opts.Args) == 0 {
			return usageError{errors.New("give the agent's command behind --, or a known one with --agent")}
		}
		return startable(at.here, opts.Args)
	}
	p, err := agent.ByName(opts.Program.Name)
	switch {
	case err != nil:
		return usageError{err}
	case opts.Task == "":
		return usageError{fmt.Errorf("%s needs a task: give it with -p or -P", p.Name)}
	case opts.Program.Yolo && !cmd.Flags().Changed("yolo") && a.config == "":
		return usageError{errors.New("yolo: true counts in a file that is named with --config, or give --yolo: the agent can write .supervise.yaml")}
	}
	if err := startable(at.here, p.Programs); err != nil {
		return err
	}
	if err := p.Refused(os.Environ(), opts.Program.Yolo); err != nil {
		return usageError{err}
	}
	for _, note := range notes(p, opts.Program.Yolo) {
		fmt.Fprintf(a.err, "note: %s\n", note)
	}
	return nil
}

// notes are what should be known of an agent before it is left alone.
func notes(p agent.Preset, yolo bool) []string {
	var out []string
	if p.Experimental {
		out = append(out, p.Name+" is experimental: it was not tried whole under supervise")
	}
	switch {
	case p.Always:
		out = append(out, p.Name+" never asks before it edits or runs something")
	case !yolo:
		out = append(out, p.Name+" asks before it edits or runs something, as far as its own settings say so, and nobody is there to answer: --yolo lets it")
	}
	return out
}

// startable refuses a program that is not there.
func startable(dir string, args []string) error {
	name := args[0]
	if strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if _, err := exec.LookPath(name); err != nil {
		err = fmt.Errorf("start the agent: %w", err)
		if p, known := agent.Recognise(args); known {
			err = fmt.Errorf("%w; to install it: %s", err, p.Install)
		}
		return usageError{err}
	}
	return nil
}
