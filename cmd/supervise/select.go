package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/selector"
	"supervise/snapshot"

	"github.com/spf13/cobra"
)

// selectFlags are the flags of select.
type selectFlags struct {
	mode                  string
	threshold             float64
	weights               []string
	useBest, useFinal     bool
	use                   int
	reason                string
	apply, noApply        bool
	dryRun, json, cleanup bool
	csv                   string
}

func (a *app) selectCmd() *cobra.Command {
	f := &selectFlags{}
	cmd := &cobra.Command{
		Use:   "select [LOOP]",
		Short: "Choose the best iteration of a loop anew, or by hand",
		Long: `Select chooses among the recorded iterations of a loop, the latest without a
name. Without flags it prints what was selected and what would be, and changes
nothing. With a mode, a threshold, weights, or an iteration of your own (which
needs a reason), the choice is written down: in the log with your name, in the
state, in best-output-tracking.json, in the selection report and in
final-output/. The working tree stays as it is, unless --apply puts the selected
tree back, as supervise rollback does: the present one is kept first.`,
		Example: `  supervise select
  supervise select fix-tests --mode highest_quality
  supervise select fix-tests --use 3 --reason "2 renamed the public API" --apply
  supervise select latest --csv -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.selectBest(cmd, first(args), f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.mode, "mode", "", "how to choose: highest_quality_verified, highest_quality, most_recent_above_threshold (default as the loop did)")
	flags.Float64Var(&f.threshold, "threshold", 70, "acceptable quality in [0,100] (default as in the loop)")
	flags.StringSliceVar(&f.weights, "weights", nil, "weights of dimensions, like validation=.5,efficiency=0; those not named stay")
	flags.BoolVar(&f.useBest, "use-best", false, "confirm the automatic choice (needs --reason)")
	flags.BoolVar(&f.useFinal, "use-final", false, "take the last iteration (needs --reason)")
	flags.IntVar(&f.use, "use", 0, "take this iteration, 0 for the baseline (needs --reason)")
	flags.StringVar(&f.reason, "reason", "", "why, for the log")
	flags.BoolVar(&f.apply, "apply", false, "put the selected tree into the working tree")
	flags.BoolVar(&f.noApply, "no-apply", false, "leave the working tree as it is (the default)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the choice and write nothing down")
	flags.BoolVar(&f.cleanup, "cleanup", false, "drop the snapshots of a loop that is over, but for the baseline, the selected, the best and the last good one")
	flags.StringVar(&f.csv, "csv", "", "write one row for each iteration to this file, - for standard output")
	flags.BoolVar(&f.json, "json", false, "print the choice as JSON")
	return cmd
}

// exclusive refuses flags of which only one can be given.
func exclusive(cmd *cobra.Command, groups ...[]string) error {
	for _, group := range groups {
		var given []string
		for _, name := range group {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return fmt.Errorf("give one of %s", strings.Join(given, " and "))
		}
	}
	return nil
}

// wish is what the flags ask for.
func (f *selectFlags) wish(cmd *cobra.Command) (record.Wish, error) {
	w := record.Wish{Mode: selector.Mode(f.mode)}
	if err := exclusive(cmd, []string{"use-best", "use-final", "use"}, []string{"apply", "no-apply"}, []string{"apply", "dry-run"}); err != nil {
		return w, err
	}
	if f.mode != "" && !w.Mode.Valid() {
		return w, fmt.Errorf("--mode is highest_quality_verified, highest_quality or most_recent_above_threshold, not %s", f.mode)
	}
	if cmd.Flags().Changed("threshold") {
		if !(f.threshold >= 0 && f.threshold <= 100) {
			return w, fmt.Errorf("--threshold is %v: give a number from 0 to 100", f.threshold)
		}
		share := f.threshold / 100
		w.Threshold = &share
	}
	var err error
	if w.Weights, err = named("--weights", f.weights); err != nil {
		return w, err
	}
	w.Override, err = f.override(cmd)
	return w, err
}

func (f *selectFlags) override(cmd *cobra.Command) (*selector.Override, error) {
	o := &selector.Override{Reason: strings.TrimSpace(f.reason), By: userName()}
	switch {
	case f.useBest:
		o.Kind = selector.UseBest
	case f.useFinal:
		o.Kind = selector.UseFinal
	case cmd.Flags().Changed("use"):
		o.Kind, o.Iteration = selector.UseSpecific, f.use
	case o.Reason != "":
		return nil, errors.New("--reason belongs to --use-best, --use-final or --use N")
	default:
		return nil, nil //nolint:nilnil // nobody overrides
	}
	if o.Reason == "" {
		return nil, errors.New("a choice by hand needs a reason: add --reason TEXT")
	}
	return o, nil
}

// named reads pairs like validation=.5.
func named(flag string, pairs []string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !found || err != nil {
			return nil, fmt.Errorf("%s: %q is no pair of a dimension and a number, like validation=.5", flag, pair)
		}
		out[strings.TrimSpace(name)] = v
	}
	return out, nil
}

// userName is who works here, for the log.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return os.Getenv("USER")
}

func (a *app) selectBest(cmd *cobra.Command, name string, f *selectFlags) error {
	w, err := f.wish(cmd)
	if err != nil {
		return usageError{err}
	}
	v, err := a.view(cmd, name)
	if err != nil {
		return err
	}
	state := v.State
	v, choice, err := v.Choose(w)
	if err != nil {
		return selectError(err)
	}
	if err := a.exportCSV(f, v, choice); err != nil {
		return err
	}
	sel := record.Selection{View: v, Choice: choice}
	if !f.dryRun && (!w.Plain() || f.apply) {
		if sel, err = a.reselect(cmd, v, choice, w, f); err != nil {
			return err
		}
	}
	if f.csv != "-" {
		if err := a.showSelection(sel, state, f); err != nil {
			return err
		}
	}
	if f.cleanup {
		return a.cleanup(cmd, state.LoopID, f)
	}
	return nil
}

// cleanup drops the trees that nobody needs any more, and says which.
func (a *app) cleanup(cmd *cobra.Command, id string, f *selectFlags) error {
	home, err := a.homeOf(cmd)
	if err != nil {
		return err
	}
	c, err := record.Cleanup(cmd.Context(), home, id, f.dryRun, time.Now())
	if errors.Is(err, record.ErrNotOver) || errors.Is(err, ledger.ErrLocked) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	to, what := a.out, "dropped"
	if f.json || f.csv == "-" {
		to = a.err
	}
	if f.dryRun {
		what = "would be dropped"
	}
	fmt.Fprintf(to, "%s %s (%s freed): %s\nkept: %s\n", report.Count(len(c.Dropped), "snapshot", "snapshots"), what, report.Bytes(c.Freed),
		orNothing(strings.Join(c.Dropped, " ")), orNothing(strings.Join(c.Kept, " ")))
	return nil
}

// selectError marks what another command line would mend.
func selectError(err error) error {
	for _, usage := range []error{selector.ErrNoIteration, selector.ErrNoCandidates, selector.ErrWeights, selector.ErrMode, selector.ErrNoReason, selector.ErrNoEligible} {
		if errors.Is(err, usage) {
			return usageError{err}
		}
	}
	return err
}

// reselect writes the choice down, and puts its tree back if that is asked for.
// What would keep the tree from being put back is found out first.
func (a *app) reselect(cmd *cobra.Command, v record.View, c selector.Choice, w record.Wish, f *selectFlags) (sel record.Selection, err error) {
	home, err := a.homeOf(cmd)
	if err != nil {
		return sel, err
	}
	write := func() (err error) {
		sel, err = record.Select(cmd.Context(), home, v.State.LoopID, w, userName(), time.Now())
		if errors.Is(err, ledger.ErrLocked) {
			err = fmt.Errorf("%w; wait for the loop to end, or interrupt it first", err)
		}
		return selectError(err)
	}
	if !f.apply {
		return sel, write()
	}
	it, err := v.Iteration(c.Iteration)
	if err != nil {
		return sel, err
	}
	if it.Snapshot == "" {
		return sel, usageError{fmt.Errorf("iteration %d of loop %s was recorded without a snapshot, so there is no tree to put back; without --apply its artifacts are copied to final-output/", it.Number, v.State.LoopID)}
	}
	data := event.Applied{By: userName()}
	talk := *a
	if f.json || f.csv == "-" {
		talk.out = a.err
	}
	err = talk.putBack(cmd, v.State.LoopID, func(t *trees) (string, snapshot.Restored, error) {
		id, err := t.existing(it.Snapshot)
		if err == nil {
			err = write()
		}
		if err != nil {
			return "", snapshot.Restored{}, err
		}
		res, err := t.store.Rollback(cmd.Context(), id)
		data.Snapshot, data.Kept = "s"+string(res.Target), "s"+string(res.Safety)
		return "put back", res, err
	})
	a.code = talk.code
	if err != nil {
		return sel, err
	}
	return sel, record.NoteApplied(home, v.State.LoopID, it.Number, data, time.Now())
}

// homeOf returns the folder of the loops of the working tree.
func (a *app) homeOf(cmd *cobra.Command) (string, error) {
	at, err := a.place(cmd.Context())
	if err != nil {
		return "", err
	}
	return a.home(at.root)
}

func (a *app) exportCSV(f *selectFlags, v record.View, c selector.Choice) error {
	switch f.csv {
	case "":
		return nil
	case "-":
		return report.CSV(a.out, v.Report(c, time.Now()))
	}
	var b bytes.Buffer
	if err := report.CSV(&b, v.Report(c, time.Now())); err != nil {
		return err
	}
	return ledger.WriteFile(f.csv, b.Bytes())
}

func (a *app) showSelection(sel record.Selection, before ledger.State, f *selectFlags) error {
	doc, err := sel.View.Document(sel.Choice, sel.Path, sel.Files)
	if err != nil {
		return err
	}
	doc.Before = nil
	if before.Selected != nil {
		doc.Before = &before.Selected.Iteration
	}
	if f.json {
		return a.encode(doc)
	}
	paint := a.paint(a.out)
	if before.Selected != nil {
		fmt.Fprintf(a.out, "%s %s: %s\n", paint(report.Faint, "was     "), iterationWords(before.Selected.Iteration), before.Selected.Reason)
	}
	what := "would be"
	if sel.Path != "" {
		what = "selected"
	}
	fmt.Fprintf(a.out, "%s %s: %s\n", paint(report.Strong, what), paint(report.Good, iterationWords(doc.Selected)), doc.Reason)
	for _, r := range doc.Rationale {
		fmt.Fprintf(a.out, "         %s\n", r)
	}
	if len(doc.Flags) > 0 {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Warn, "note    "), strings.Join(doc.Flags, ", "))
	}
	for _, line := range report.Table(sel.View.Iterations, doc.Selected, paint) {
		fmt.Fprintln(a.out, line)
	}
	a.selectionEnd(sel, paint)
	if it, err := sel.View.Iteration(doc.Selected); err == nil && sel.Path != "" && !f.apply && it.Snapshot != "" {
		fmt.Fprintf(a.out, "%s left as it is; to put the selected one there: %s rollback %s %d\n", paint(report.Faint, "tree    "), a.self(), sel.View.State.LoopID, doc.Selected)
	}
	return nil
}

func (a *app) selectionEnd(sel record.Selection, paint report.Paint) {
	s := selector.Summarize(ledger.Candidates(sel.View.Iterations, nil))
	text := report.Count(s.Iterations, "iteration", "iterations") + ", " + string(s.Trend)
	if s.Duration != nil {
		text += ", " + report.Duration(*s.Duration)
	}
	if s.Tokens != nil {
		text += fmt.Sprintf(", %d tokens", *s.Tokens)
	}
	if s.CostUSD != nil {
		text += fmt.Sprintf(", $%.4f", *s.CostUSD)
	}
	fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "in all  "), text)
	if d := sel.Choice.Diminishing; d != nil {
		fmt.Fprintf(a.out, "%s diminishing returns since iteration %d\n", paint(report.Faint, "note    "), d.Since)
	}
	for _, n := range sel.Notes {
		fmt.Fprintf(a.err, "note: %s\n", n)
	}
	if sel.Path != "" {
		fmt.Fprintf(a.out, "%s %s\n", paint(report.Faint, "report  "), sel.Path)
	}
}

func iterationWords(n int) string {
	if n == 0 {
		return "the baseline"
	}
	return fmt.Sprintf("iteration %d", n)
}
