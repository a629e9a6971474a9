package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/selector"
	"supervise/snapshot"
)

// SelectionRequest overrides how a loop selects. The zero value keeps the settings of the loop.
type SelectionRequest struct {
	Mode      selector.Mode      // "": the mode of the loop
	Threshold *float64           // in [0,1]; nil: the threshold of the loop
	Weights   map[string]float64 // by dimension; others are unchanged
	Override  *selector.Override
}

// IsEmpty reports whether nothing is overridden.
func (w SelectionRequest) IsEmpty() bool {
	return w.Mode == "" && w.Threshold == nil && len(w.Weights) == 0 && w.Override == nil
}

// Choose selects an iteration by the settings of the loop and the request. The returned view
// has the scores and settings that were used. The error wraps those of [selector.Best] and
// [selector.ErrWeights].
func (v View) Choose(w SelectionRequest) (View, selector.Selection, error) {
	if w.Mode != "" {
		v.Settings.Select.Mode = w.Mode
	}
	if w.Threshold != nil {
		v.Settings.Select.Threshold = *w.Threshold
	}

	if len(w.Weights) > 0 {
		var err error
		if v.Settings.Weights, err = v.Settings.Weights.Replace(w.Weights); err != nil {
			return v, selector.Selection{}, err
		}
		v.Iterations = append([]ledger.Iteration(nil), v.Iterations...)
		for i := range v.Iterations {
			v.Iterations[i].Score = v.Iterations[i].Score.Reweigh(v.Settings.Weights)
		}
	}

	o := v.Settings.Select
	o.Override = w.Override
	choice, err := selector.Best(v.candidates(), o)
	if err != nil {
		return v, choice, fmt.Errorf("select the best iteration of loop %s: %w", v.State.LoopID, err)
	}
	return v, choice, nil
}

// Report returns the data of the reports about the loop and the selection.
func (v View) Report(c selector.Selection, now time.Time) report.Loop {
	return report.Loop{
		State: v.State, Iterations: v.Iterations, Choice: c, Summary: selector.Summarize(v.candidates()), Now: now,
		Mode: v.Settings.Select.Mode, Threshold: v.Settings.Select.Threshold,
	}
}

// Selection is a recorded selection.
type Selection struct {
	View   View
	Choice selector.Selection
	Path   string   // path of the selection report
	Files  []string // files in final-output/, and deleted ones
	Notes  []string // what could not be done
}

// Select selects again and records the selection in the log, the state, the tracker, the
// selection report and final-output/. It does not change the working tree. by is the user. The
// error wraps [ledger.ErrLocked] while a supervisor works on the loop.
func Select(ctx context.Context, home, id string, w SelectionRequest, by string, now time.Time) (sel Selection, err error) {
	l, v, err := openView(home, id)
	if err != nil {
		return sel, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if sel.View, sel.Choice, err = v.Choose(w); err != nil {
		return sel, err
	}
	return sel, sel.save(ctx, l, w, by, now)
}

// save logs the selection, and writes the state, the reports and final-output/.
func (sel *Selection) save(ctx context.Context, l *ledger.Ledger, w SelectionRequest, by string, now time.Time) error {
	v, c := &sel.View, sel.Choice
	data := event.SelectionChange{Choice: c, By: by, Weights: w.Weights}
	if v.State.Selected != nil {
		data.Previous = &v.State.Selected.Iteration
	}
	if err := l.Log(now, string(event.SelectionChanged), c.Iteration, 0, data); err != nil {
		return err
	}

	v.State.Selected = v.bestIteration(c)
	if v.State.Kind == ledger.KindRecorded {
		v.State.Status, v.State.UpdatedAt = ledger.Completed, now
	} // otherwise the time stays that of the last iteration

	out, err := sel.writeOutput(ctx, l)
	if err != nil {
		return err
	}

	r := v.Report(c, now)
	r.Artifacts, r.Removed = out.Changed, out.Removed
	sel.Files = append(out.Changed, out.Removed...)
	if v.State.Kind == ledger.KindRecorded {
		err = errors.Join(
			l.WriteReport(report.CompletionName, report.CompletionDocument(r)),
			l.WriteAnalytics(report.NewAnalytics(r), report.CompletionDocument(r)),
		)
	}

	sel.Path = filepath.Join(l.Dir(), "reports", report.SelectionName)
	return errors.Join(err,
		l.WriteReport(report.SelectionName, report.SelectionDocument(r)),
		l.WriteTracking(v.Iterations, v.Settings.TrackingConfig(), &c.Iteration, now),
		l.Save(v.State),
	)
}

// writeOutput fills final-output/ from the snapshot of the selected iteration, or from its
// artifacts if it has no snapshot. If the files are missing, it adds a note and changes nothing.
func (sel *Selection) writeOutput(ctx context.Context, l *ledger.Ledger) (ledger.Output, error) {
	v := sel.View
	it, err := v.Iteration(sel.Choice.Iteration)
	if err != nil {
		return ledger.Output{}, err
	}

	if it.Recorded != nil && it.Snapshot == "" {
		paths, err := l.OutputArtifacts(it.Number)
		return ledger.Output{Changed: paths}, err
	}

	if _, err := os.Stat(l.SnapshotDir()); err != nil || v.State.BaselineSnapshot == "" {
		sel.Notes = append(sel.Notes, "final-output/ is unchanged: the loop has no snapshots to fill it from")
		return ledger.Output{}, nil
	}

	store, err := snapshot.Open(ctx, v.State.Workspace, l.SnapshotDir(), snapshot.Options{})
	if err != nil {
		return ledger.Output{}, err
	}
	defer store.Close()

	out, err := ledger.CompareOutput(ctx, store, v.State.BaselineSnapshot, it.Snapshot)
	if errors.Is(err, snapshot.ErrUnknown) || errors.Is(err, snapshot.ErrDropped) {
		sel.Notes = append(sel.Notes, fmt.Sprintf("final-output/ is unchanged: the tree of iteration %d was dropped to save space", it.Number))
		return ledger.Output{}, nil
	}
	if err != nil {
		return out, err
	}
	return out, l.WriteOutput(out.Files)
}

// bestIteration returns the selected iteration in the form of the state, nil if it is unknown.
func (v View) bestIteration(c selector.Selection) *ledger.BestIteration {
	it, err := v.Iteration(c.Iteration)
	if err != nil {
		return nil
	}
	return &ledger.BestIteration{
		Iteration: it.Number, QualityScore: it.Score.Value, Snapshot: it.Snapshot,
		SnapshotPath: ledger.SnapshotDir(v.Dir), Reason: c.Reason,
	}
}

// LogApplied logs that the user restored the tree of a selection.
func LogApplied(home, id string, n int, data event.AppliedSelection, now time.Time) (err error) {
	l, _, err := ledger.OpenWithoutTree(home, id, func(ledger.Event) {})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return l.Log(now, string(event.SelectionApplied), n, 0, data)
}
