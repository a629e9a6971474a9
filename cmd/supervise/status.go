package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

func (a *app) statusCmd() *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "status [LOOP]",
		Short: "Show where a loop stands, the latest without a name",
		Example: `  supervise status
  supervise status --all
  supervise status fix-tests --quality
  supervise status --watch
  supervise status --json fix-tests`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.watch && (f.json || f.all):
				return usageError{errors.New("--watch is for one loop and for people: leave --json and --all out")}
			case f.watch:
				return a.watchStatus(cmd, args, f)
			case f.all:
				return a.statusAll(cmd, f)
			}
			return a.status(cmd, args, f)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.persistence, "persistence", false, "only: metrics, regressions, level, recovery attempts, best, false positives")
	flags.BoolVar(&f.regressions, "regressions", false, "only: what cost iterations, and what came of it")
	flags.BoolVar(&f.quality, "quality", false, "only: the scores of the iterations, the best and the regressions marked")
	flags.BoolVar(&f.watch, "watch", false, "print it anew whenever it changes, until the loop is over")
	flags.BoolVar(&f.json, "json", false, "print the state as JSON")
	flags.BoolVar(&f.all, "all", false, "all loops of this working tree")
	return cmd
}

// find returns the loop that is meant, by a part of its name or the latest.
func (a *app) find(cmd *cobra.Command, name string) (string, ledger.State, error) {
	at, err := a.place(cmd.Context())
	if err != nil {
		return "", ledger.State{}, err
	}
	home, err := a.home(at.root)
	if err != nil {
		return "", ledger.State{}, err
	}
	return ledger.Find(home, at.root, name)
}

// view reads the loop of that name whole.
func (a *app) view(cmd *cobra.Command, name string) (record.View, error) {
	dir, state, err := a.find(cmd, name)
	if err != nil {
		return record.View{}, err
	}
	return record.Read(dir, state)
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) status(cmd *cobra.Command, args []string, f statusFlags) error {
	dir, state, err := a.find(cmd, first(args))
	if err != nil {
		return err
	}
	kept, err := snapshot.Summarize(ledger.SnapshotDir(dir))
	if err != nil {
		return err
	}
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	found, err := a.findings(at, state.LoopID)
	if err != nil {
		return err
	}
	if f.json {
		doc := statusDoc{State: state, Snapshots: snapshotsOf(kept), Findings: found}
		verdicts, err := ledger.Verdicts(dir)
		if n := len(verdicts); n > 0 {
			doc.Changes = verdicts[n-1].Changes
		}
		return errors.Join(err, a.encode(doc))
	}
	its, err := ledger.Iterations(dir)
	if err != nil {
		return err
	}
	if f.views() {
		a.statusParts(f, state, its, found)
		return nil
	}
	paint := a.paint(a.out)
	a.statusHead(state, paint)
	selected := -1
	if best := chosen(state); best != nil {
		selected = best.Iteration
	}
	for _, line := range report.Table(its, selected, paint) {
		fmt.Fprintln(a.out, line)
	}
	for _, r := range state.Regressions {
		fmt.Fprintf(a.out, "%s\n", paint(report.Bad, fmt.Sprintf("[%s] Iteration %d - %s (%s): %s; %s", r.ID, r.Iteration, r.Type, r.Severity, r.Message, r.Outcome)))
	}
	a.printTests(its, paint)
	a.printFindings(found, paint)
	a.statusKept(kept, paint)
	fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "state    "), dir)
	return nil
}

// statusDoc is what status --json prints.
type statusDoc struct {
	ledger.State
	Snapshots snapshotsDoc   `json:"snapshots"`
	Findings  statusFindings `json:"findings"`
	// Changes says what became of which test in the last iteration.
	Changes detector.TestChanges `json:"test_changes,omitzero"`
}

// snapshotsDoc says what is kept, and what is not.
type snapshotsDoc struct {
	Count   int      `json:"count"`
	Bytes   int64    `json:"bytes"`
	Dropped int      `json:"dropped"` // by retention
	Skipped []string `json:"skipped"` // paths that are in no snapshot, and why
}

func snapshotsOf(sum snapshot.Summary) snapshotsDoc {
	d := snapshotsDoc{Count: sum.Snapshots, Bytes: sum.Bytes, Dropped: sum.Dropped, Skipped: make([]string, 0, len(sum.Skipped))}
	for _, s := range sum.Skipped {
		d.Skipped = append(d.Skipped, s.Path+": "+string(s.Reason))
	}
	return d
}

func (a *app) statusKept(sum snapshot.Summary, paint report.Paint) {
	d := snapshotsOf(sum)
	text := fmt.Sprintf("%d, %s", d.Count, report.Bytes(d.Bytes))
	if d.Dropped > 0 {
		text += fmt.Sprintf("; %d dropped to save space", d.Dropped)
	}
	fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "snapshots"), text)
	if len(d.Skipped) > 0 {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "not kept "), strings.Join(report.Cut(d.Skipped, 10), ", "))
	}
}

// chosen is the iteration that was selected, or the best one so far.
func chosen(s ledger.State) *ledger.BestIteration {
	if s.Selected != nil {
		return s.Selected
	}
	return s.Best
}

func (a *app) statusHead(s ledger.State, paint report.Paint) {
	fmt.Fprintf(a.out, "%s %s\n", paint(report.Strong, s.LoopID), s.Status)
	rows := []struct{ name, text string }{
		{"task", s.Task},
		{"stopped", stopOf(s)},
		{"waiting", s.Waiting},
		{"go on", goOn(s)},
		{"criterion", s.Criterion},
		{"iteration", iterationOf(s)},
		{"started", s.StartedAt.Local().Format(time.DateTime) + ", " + report.Duration(s.UpdatedAt.Sub(s.StartedAt)) + " to the last change"},
		{"spent", report.Spent(s.Spending)},
		{"reminders", strings.ToLower(s.Level)},
		{"recovery", report.Count(s.RecoveryAttempts, "attempt", "attempts")},
	}
	for _, r := range rows {
		if r.text != "" {
			fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, fmt.Sprintf("%-9s", r.name)), r.text)
		}
	}
	fmt.Fprintln(a.out)
}

// stopOf is why a loop ended; what the criterion says has a line of its own.
func stopOf(s ledger.State) string {
	if s.Criterion == "" {
		return s.StopText
	}
	return strings.TrimSuffix(s.StopText, ": "+s.Criterion)
}

// iterationOf says how far the loop is; nobody told the limit of a recorded one.
func iterationOf(s ledger.State) string {
	if s.Config.MaxIterations == 0 {
		return strconv.Itoa(s.Iteration)
	}
	return fmt.Sprintf("%d of at most %d", s.Iteration, s.Config.MaxIterations)
}

// goOn is how a loop that was cut off is continued.
func goOn(s ledger.State) string {
	switch {
	case s.Status == ledger.Paused && s.StopReason == "":
		return "supervise approve|reject|abort " + s.LoopID
	case s.Kind == ledger.Watched && s.Status == ledger.Aborted:
		return ""
	case s.Status == ledger.Crashed, s.Status == ledger.Aborted, s.Status == ledger.Paused:
		return "supervise resume " + s.LoopID
	}
	return ""
}

func (a *app) statusAll(cmd *cobra.Command, f statusFlags) error {
	at, err := a.place(cmd.Context())
	if err != nil {
		return err
	}
	home, err := a.home(at.root)
	if err != nil {
		return err
	}
	loops, err := ledger.Loops(home, at.root)
	if err != nil {
		return err
	}
	if f.json {
		return a.encode(loops)
	}
	if f.views() {
		return a.statusAllParts(cmd, f, loops)
	}
	for _, s := range loops {
		fmt.Fprintf(a.out, "%s  %-10s %13s  %s  %s\n", s.StartedAt.Local().Format(time.DateTime), s.Status, report.Count(s.Iteration, "iteration", "iterations"), s.LoopID, s.StopReason)
	}
	if len(loops) == 0 {
		fmt.Fprintf(a.err, "nothing has been run in %s yet\n", at.root)
	}
	return nil
}

func (a *app) encode(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
