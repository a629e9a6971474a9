package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/ack"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report/live"
	"supervise/internal/report/results"
	"supervise/snapshot"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// statusOptions are the options of supervise status.
type statusOptions struct {
	loop             string
	views            results.Views
	json, all, watch bool
}

func newStatusCmd(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use: "status [LOOP]", Short: "Show the state of a loop",
		Long: `Without a name this is the latest loop of the working tree.`,
		Example: `  supervise status
  supervise status fix-tests --quality
  supervise status --watch`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a, o) },
	}

	addFlagSection(cmd.Flags(), "Parts", func(f *pflag.FlagSet) {
		f.BoolVar(&o.views.Persistence, "persistence", false, "only metrics, regressions, reinforcement level, recovery attempts, best iteration, false positives")
		f.BoolVar(&o.views.Regressions, "regressions", false, "only regressions and their outcome")
		f.BoolVar(&o.views.Quality, "quality", false, "only the scores of the iterations")
	})

	flags := cmd.Flags()
	flags.BoolVar(&o.watch, "watch", false, "print the status whenever it changes, until the loop is over; at a terminal also what it does now")
	flags.BoolVar(&o.all, "all", false, "all loops of this working tree")
	flags.BoolVar(&o.json, "json", false, "print the state as JSON")
	return cmd
}

// runStatus prints the status of one loop or of all, once or whenever it changes.
func runStatus(ctx context.Context, a *app, o statusOptions) error {
	switch {
	case o.watch && (o.json || o.all):
		return usageError{errors.New("--watch prints one loop as text: leave --json and --all out")}
	case o.watch:
		return a.watchStatus(ctx, o)
	case o.all:
		return a.statusAll(ctx, o)
	}
	_, err := a.status(ctx, o)
	return err
}

// status prints one loop and returns its state.
func (a *app) status(ctx context.Context, o statusOptions) (ledger.State, error) {
	d, err := a.readStatus(ctx, o.loop)
	if err != nil {
		return d.State, err
	}
	if d.Iterations, err = ledger.ReadIterations(d.Dir); err != nil {
		return d.State, err
	}
	d.SumExecuted()
	if o.json {
		verdicts, err := ledger.ReadVerdicts(d.Dir)
		if n := len(verdicts); n > 0 {
			d.Changes = verdicts[n-1].Changes
		}
		return d.State, errors.Join(err, a.encode(d))
	}
	if o.views != (results.Views{}) {
		a.text().PrintParts(d, o.views)
	} else {
		a.text().PrintStatus(d)
	}
	return d.State, nil
}

// readStatus collects everything that the status contains except the iterations.
func (a *app) readStatus(ctx context.Context, name string) (d results.Status, err error) {
	at, err := a.workspaceAndHome(ctx)
	if err == nil {
		d.Dir, d.State, err = ledger.FindLoop(at.home, at.root, name)
	}
	if err != nil {
		return d, err
	}
	kept, err := snapshot.Summarize(ledger.SnapshotDir(d.Dir))
	if err != nil {
		return d, err
	}
	d.Snapshots = results.NewSnapshots(kept)
	if d.Killed, err = event.KilledLoops(at.home, at.root, d.LoopID); err != nil {
		return d, err
	}
	d.Findings, err = a.countFindings(at, d.LoopID)
	return d, err
}

// countFindings counts the findings of the loop and of all loops of the working tree.
func (a *app) countFindings(at workspace, loopID string) (out results.LoopFindings, err error) {
	entries, err := ack.Load(ack.Path(at.project))
	if err != nil {
		a.printNotes(fmt.Sprintf("false positives are unknown: %v", err))
	}

	marked := map[string]bool{}
	for _, e := range entries {
		marked[e.ID()] = marked[e.ID()] || e.FalsePositive
	}

	loops, err := ledger.ListLoops(at.home, at.root)
	if err != nil {
		return out, err
	}

	for _, s := range loops {
		list, err := ledger.ReadFindings(ledger.LoopDir(at.home, s.LoopID))
		if err != nil {
			a.log().Warn(err)
			continue
		}
		out.Add(results.NewFindings(list, marked), s.LoopID == loopID)
	}
	return out, nil
}

// watchInterval is how often supervise status --watch looks for changes.
const watchInterval = time.Second

// watchStatus prints the status whenever it changes, until the loop is over or the user interrupts
// it.
func (a *app) watchStatus(ctx context.Context, o statusOptions) error {
	dir, state, err := a.find(ctx, o.loop)
	if err != nil {
		return err
	}

	o.loop = state.LoopID
	board := live.NewBoard(time.Now, a.mask.String)
	if a.hasRegion() {
		defer a.openRegion(board, false)()
	}

	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var printed time.Time // modification time of the printed state
	for {
		info, err := os.Stat(filepath.Join(dir, "state.json"))
		if err != nil {
			return fmt.Errorf("watch the loop: %w", err)
		}
		if !info.ModTime().Equal(printed) {
			printed = info.ModTime()
			if isTerminal(a.out) {
				fmt.Fprint(a.doc, "\x1b[H\x1b[2J")
			}
			if state, err := a.status(ctx, o); err != nil || state.Status.IsOver() {
				return err
			}
		}
		free, err := ledger.IsUnlocked(dir)
		board.LoadFile(dir, err == nil && !free)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// statusAll prints all loops of the working tree: a line each, or the requested parts.
func (a *app) statusAll(ctx context.Context, o statusOptions) error {
	at, err := a.workspaceAndHome(ctx)
	if err != nil {
		return err
	}

	loops, err := ledger.ListLoops(at.home, at.root)
	if err != nil {
		return err
	}
	if o.json {
		return a.encode(loops)
	}

	for i, s := range loops {
		if o.views == (results.Views{}) {
			a.text().PrintLoop(s)
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		fmt.Fprintf(a.out, "%s %s\n", s.LoopID, s.Status)
		o.loop = s.LoopID
		if _, err := a.status(ctx, o); err != nil {
			return err
		}
	}

	if len(loops) == 0 {
		fmt.Fprintf(a.err, "no loop has run in %s yet\n", at.root)
	}
	return nil
}
