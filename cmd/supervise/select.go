package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/internal/worktree"
	"supervise/selector"
	"supervise/snapshot"
)

// selectOptions are the options of supervise select.
type selectOptions struct {
	loop                         string
	wish                         record.SelectionRequest // the selection that the flags ask for
	candidate                    int                     // 0 if the flag is not given
	apply, dryRun, json, cleanup bool
	csv                          string
}

// selectFlags are the flags that determine the selection.
type selectFlags struct {
	mode              string
	threshold         float64
	weights           []string
	useBest, useFinal bool
	use, candidate    int
	reason            string
}

func newSelectCmd(a *app) *cobra.Command {
	var o selectOptions
	var f selectFlags
	cmd := &cobra.Command{
		Use: "select [LOOP]", Short: "Select the best iteration of a loop again, or manually",
		Long: `Without a name this is the latest loop. Without flags the command prints what was
selected and what would be selected now, and changes nothing. A mode, a threshold,
weights or an iteration that you name (which needs a reason) make a new choice, which is
recorded in the log with your name, the state, best-output-tracking.json, the selection
report and final-output/. The working tree stays as it is, unless --apply restores the
selected tree like supervise rollback.`,
		Example: `  supervise select
  supervise select fix-tests --mode highest_quality
  supervise select fix-tests --use 3 --reason "2 renamed the public API" --apply
  supervise select fix-tests --candidate 2`,
		Args: optionalArg(&o.loop),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.wish, err = f.wish(cmd); err != nil {
				return usageError{err}
			}
			o.candidate = f.candidate
			o.apply = o.apply || f.candidate > 0 && !o.dryRun && !cmd.Flags().Changed("no-apply")
			return runSelect(cmd.Context(), a, o)
		},
	}

	addFlagSection(cmd.Flags(), "Choice", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.mode, "mode", "", "how to choose: highest_quality_verified, highest_quality, most_recent_above_threshold (default as the loop did)")
		flags.Float64Var(&f.threshold, "threshold", 70, "acceptable quality in [0,100] (default as in the loop)")
		flags.StringSliceVar(&f.weights, "weights", nil, "`weights` of dimensions, like validation=.5,efficiency=0; others stay")
		flags.BoolVar(&f.useBest, "use-best", false, "confirm the automatic choice (needs --reason)")
		flags.BoolVar(&f.useFinal, "use-final", false, "take the last iteration (needs --reason)")
		flags.IntVar(&f.use, "use", 0, "take this iteration, 0 for the baseline (needs --reason)")
		flags.IntVar(&f.candidate, "candidate", 0, "take this candidate, and restore its tree")
		flags.StringVar(&f.reason, "reason", "", "why, for the log")
	})

	addFlagSection(cmd.Flags(), "Result", func(flags *pflag.FlagSet) {
		flags.BoolVar(&o.apply, "apply", false, "restore the selected tree into the working tree")
		flags.Bool("no-apply", false, "leave the working tree as it is (the default)")
		flags.BoolVar(&o.dryRun, "dry-run", false, "print the choice and record nothing")
		flags.BoolVar(&o.cleanup, "cleanup", false, "drop the snapshots of a loop that is over, except the baseline, the selected, the best and the last good one")
		flags.StringVar(&o.csv, "csv", "", "write one row for each iteration to this `file`, - for standard output")
		flags.BoolVar(&o.json, "json", false, "print the choice as JSON")
	})
	return cmd
}

// rejectTogether returns an error if several flags of one group were given.
func rejectTogether(cmd *cobra.Command, groups ...[]string) error {
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

// wish returns the selection that the flags ask for.
func (f *selectFlags) wish(cmd *cobra.Command) (record.SelectionRequest, error) {
	w := record.SelectionRequest{Mode: selector.Mode(f.mode)}
	if err := rejectTogether(cmd, []string{"use-best", "use-final", "use", "candidate"}, []string{"apply", "no-apply"}, []string{"apply", "dry-run"}); err != nil {
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
	if w.Weights, err = parsePairs("--weights", f.weights); err != nil {
		return w, err
	}
	w.Override, err = f.override(cmd)
	return w, err
}

// override returns the manual selection, nil if no flag asks for one.
func (f *selectFlags) override(cmd *cobra.Command) (*selector.Override, error) {
	o := &selector.Override{Reason: strings.TrimSpace(f.reason), User: userName()}
	switch {
	case f.useBest:
		o.Kind = selector.UseBest
	case f.useFinal:
		o.Kind = selector.UseFinal
	case cmd.Flags().Changed("candidate"):
		if f.candidate < 1 {
			return nil, fmt.Errorf("--candidate is %d: give the number of a candidate; --use 0 takes the baseline", f.candidate)
		}
		o.Kind, o.Iteration, o.Reason = selector.UseSpecific, f.candidate, cmp.Or(o.Reason, fmt.Sprintf("candidate %d was selected manually", f.candidate))
	case cmd.Flags().Changed("use"):
		o.Kind, o.Iteration = selector.UseSpecific, f.use
	case o.Reason != "":
		return nil, errors.New("--reason belongs to --use-best, --use-final, --use N or --candidate N")
	default:
		return nil, nil //nolint:nilnil // no flag overrides the choice
	}

	if o.Reason == "" {
		return nil, errors.New("a manual choice needs a reason: add --reason TEXT")
	}
	return o, nil
}

// parsePairs parses pairs of a dimension and a number, as in validation=.5. flag is for errors.
func parsePairs(flag string, pairs []string) (map[string]float64, error) {
	out := map[string]float64{}
	for _, pair := range pairs {
		name, text, found := strings.Cut(pair, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !found || err != nil {
			return nil, fmt.Errorf("%s: %q is not a pair of a dimension and a number, like validation=.5", flag, pair)
		}
		out[strings.TrimSpace(name)] = v
	}
	return out, nil
}

// runSelect prints the selection of a loop. If the flags change it, and without --dry-run, it
// records the new selection.
func runSelect(ctx context.Context, a *app, o selectOptions) error {
	v, err := a.view(ctx, o.loop)
	if err != nil {
		return err
	}

	state := v.State
	if o.candidate > 0 {
		if err := requireCandidates(state); err != nil {
			return err
		}
	}

	v, choice, err := v.Choose(o.wish)
	if err != nil {
		return err
	}
	if err := a.exportCSV(o, v, choice); err != nil {
		return err
	}

	sel := record.Selection{View: v, Choice: choice}
	if !o.dryRun && (!o.wish.IsEmpty() || o.apply) {
		if sel, err = a.reselect(ctx, v, choice, o); err != nil {
			return err
		}
	}

	if o.csv != "-" {
		if err := a.showSelection(sel, state, o); err != nil {
			return err
		}
	}

	if o.cleanup {
		a.noteUnfinishedRestore(state.LoopID, v.Dir)
		err = a.cleanup(ctx, state.LoopID, o)
	}

	if !o.json && o.csv != "-" {
		a.lastLine()
	}
	return err
}

// cleanup drops the snapshots of a loop that are not needed any more, and lists them.
func (a *app) cleanup(ctx context.Context, id string, o selectOptions) error {
	at, err := a.workspaceAndHome(ctx)
	if err != nil {
		return err
	}
	c, err := record.Cleanup(ctx, at.home, id, o.dryRun, time.Now())
	if err != nil {
		return err
	}
	out, action := a.out, "dropped"
	if o.json || o.csv == "-" {
		out = a.err
	}
	if o.dryRun {
		action = "would be dropped"
	}
	fmt.Fprintf(out, "%s %s (%s freed): %s\nkept: %s\n", report.Pluralize(len(c.Dropped), "snapshot", "snapshots"), action, report.FormatBytes(c.Freed),
		cmp.Or(strings.Join(c.Dropped, " "), "nothing"), cmp.Or(strings.Join(c.Kept, " "), "nothing"))
	return nil
}

// reselect records the new selection. With --apply it also restores the selected tree, after a
// check that this is possible.
func (a *app) reselect(ctx context.Context, v record.View, c selector.Selection, o selectOptions) (sel record.Selection, err error) {
	at, err := a.workspaceAndHome(ctx)
	if err != nil {
		return sel, err
	}

	write := func() (err error) {
		sel, err = record.Select(ctx, at.home, v.State.LoopID, o.wish, userName(), time.Now())
		if errors.Is(err, ledger.ErrLocked) {
			err = fmt.Errorf("%w; wait for the loop to end, or interrupt it first", err)
		}
		return err
	}

	if !o.apply {
		a.noteUnfinishedRestore(v.State.LoopID, v.Dir) // its output is read from the snapshots
		return sel, write()
	}

	it, err := v.Iteration(c.Iteration)
	if err != nil {
		return sel, err
	}
	if it.Snapshot == "" {
		return sel, usageError{fmt.Errorf("iteration %d of loop %s was recorded without a snapshot, so there is no tree to restore; without --apply its artifacts are copied to final-output/", it.Number, v.State.LoopID)}
	}

	data := event.AppliedSelection{By: userName()}
	talk := *a
	if o.json || o.csv == "-" {
		talk.out = a.err
	}

	err = talk.restoreTree(ctx, v.State.LoopID, func(t *worktree.Trees) (string, snapshot.Restored, error) {
		id, err := t.CheckExists(it.Snapshot)
		if err == nil {
			err = write()
		}
		if err != nil {
			return "", snapshot.Restored{}, err
		}
		res, err := t.Store.Rollback(ctx, id)
		data.Snapshot, data.Kept = res.Target.Name(), res.Safety.Name()
		return "restored", res, err
	})

	a.code, a.tree = talk.code, talk.tree
	if err != nil {
		return sel, err
	}
	return sel, record.LogApplied(at.home, v.State.LoopID, it.Number, data, time.Now())
}

// exportCSV writes the table of iterations to the file of --csv, if the flag is given.
func (a *app) exportCSV(o selectOptions, v record.View, c selector.Selection) error {
	switch o.csv {
	case "":
		return nil
	case "-":
		return report.WriteCSV(a.doc, v.Report(c, time.Now()))
	}
	var b bytes.Buffer
	if err := report.WriteCSV(&b, v.Report(c, time.Now())); err != nil {
		return err
	}
	return ledger.WriteFile(o.csv, b.Bytes())
}

// showSelection prints the selection, and the one before it.
func (a *app) showSelection(sel record.Selection, before ledger.State, o selectOptions) error {
	doc, err := sel.View.SelectionMessage(sel.Choice, sel.Path, sel.Files)
	if err != nil {
		return err
	}
	doc.Before = nil
	if before.Selected != nil {
		doc.Before = &before.Selected.Iteration
	}
	if o.json {
		return a.encode(doc)
	}
	a.text().PrintSelection(sel, doc, before, a.self(), o.apply)
	a.printNotes(sel.Notes...)
	return nil
}
