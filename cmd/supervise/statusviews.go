package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/ledger"
	"supervise/internal/report"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// statusFlags are the flags of status.
type statusFlags struct {
	json, all, watch                  bool
	persistence, regressions, quality bool
}

// views reports whether only parts of the status are asked for.
func (f statusFlags) views() bool { return f.persistence || f.regressions || f.quality }

// statusParts prints the parts of the status that were asked for.
func (a *app) statusParts(f statusFlags, state ledger.State, its []ledger.Iteration, found statusFindings) {
	paint := a.paint(a.out)
	var parts [][]string
	if f.persistence {
		parts = append(parts, report.Persistence(state, its, found.Rate, paint))
	}
	if f.regressions {
		parts = append(parts, report.Regressions(state, paint))
	}
	if f.quality {
		selected := -1
		if best := chosen(state); best != nil {
			selected = best.Iteration
		}
		parts = append(parts, report.Quality(its, selected, paint))
	}
	for i, lines := range parts {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		for _, line := range lines {
			fmt.Fprintln(a.out, line)
		}
	}
}

// everySecond is how often status --watch looks.
const everySecond = time.Second

// watchStatus prints the status anew whenever it changes, until the loop is over or
// the user ends it.
func (a *app) watchStatus(cmd *cobra.Command, args []string, f statusFlags) error {
	ctx := cmd.Context()
	dir, _, err := a.find(cmd, first(args))
	if err != nil {
		return err
	}
	f.watch = false
	path := filepath.Join(dir, "state.json")
	tick := time.NewTicker(everySecond)
	defer tick.Stop()
	for last := (time.Time{}); ; {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("watch the loop: %w", err)
		}
		if !info.ModTime().Equal(last) {
			last = info.ModTime()
			state, err := a.statusAnew(cmd, filepath.Base(dir), f)
			if err != nil || over(state.Status) {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// statusAnew prints the status on a cleared screen, or below the last one where there
// is no screen.
func (a *app) statusAnew(cmd *cobra.Command, name string, f statusFlags) (ledger.State, error) {
	if file, ok := a.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		fmt.Fprint(a.out, "\x1b[H\x1b[2J")
	}
	if err := a.status(cmd, []string{name}, f); err != nil {
		return ledger.State{}, err
	}
	_, state, err := a.find(cmd, name)
	return state, err
}

// over reports whether nothing more happens in a loop by itself.
func over(s ledger.Status) bool {
	switch s {
	case ledger.Completed, ledger.Failed, ledger.Aborted, ledger.Crashed:
		return true
	case ledger.Running, ledger.Paused, ledger.Completing:
	}
	return false
}

// statusAllParts prints those parts of every loop.
func (a *app) statusAllParts(cmd *cobra.Command, f statusFlags, loops []ledger.State) error {
	for i, s := range loops {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "%s %s\n", s.LoopID, s.Status)
		if err := a.status(cmd, []string{s.LoopID}, f); err != nil {
			return err
		}
	}
	return nil
}
