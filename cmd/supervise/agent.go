package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/ledger"
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
		out = append(out, p.Name+" is experimental: it was not tried in all respects under supervise")
	}
	switch {
	case p.Always:
		out = append(out, p.Name+" never asks before it edits or runs something")
	case !yolo:
		out = append(out, p.Name+" asks before it edits or runs something, as far as its own settings say so, and nobody is there to answer: --yolo lets it")
	}
	return out
}

// untried says of a program that it has another version than those that are known,
// "" otherwise.
func untried(run *ledger.AgentRun) string {
	if run == nil || run.Program == "" {
		return ""
	}
	p, err := agent.ByName(run.Program)
	if err != nil || p.Tried(run.Version) {
		return ""
	}
	versions := p.Min
	if p.Max != p.Min {
		versions += " to " + p.Max
	}
	return fmt.Sprintf("%s %s: tried with %s alone", p.Name, run.Version, versions)
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

// shownOf is what is shown of an agent's output where nothing is said: on a
// terminal what it prints, but of one that prints events for programs what it says.
func shownOf(tty bool, p loop.Program) string {
	switch {
	case !tty:
		return "none"
	case p.Name != "":
		return "lines"
	}
	return "raw"
}

// spoken shows what an agent says, of the events that it prints.
type spoken struct {
	*agent.Reader
	to      io.WriteCloser
	pending string // the last text, which may still be growing
}

func newSpoken(f agent.Format, to io.WriteCloser) *spoken {
	s := &spoken{to: to}
	s.Reader = agent.NewReader(f, func(r agent.Report) {
		if !strings.HasPrefix(r.Text, s.pending) {
			s.flush()
		}
		s.pending = r.Text
	})
	return s
}

func (s *spoken) flush() {
	if s.pending != "" {
		_, _ = io.WriteString(s.to, s.pending+"\n") // lines are never refused
	}
	s.pending = ""
}

// Close shows the last text, or what an agent printed that said nothing.
func (s *spoken) Close() error {
	err := s.Reader.Close()
	if r := s.Report(); r.Lines == 0 {
		s.pending = r.Words
	} else if r.Text != "" {
		s.pending = r.Text
	}
	s.flush()
	return errors.Join(err, s.to.Close())
}
