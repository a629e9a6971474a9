package loop

import (
	"errors"
	"path/filepath"
	"time"

	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
	"supervise/selector"
)

// reports writes the reports and trackers in the folder of a loop. The trackers are files for other
// programs, with the metrics of all iterations.
type reports struct {
	set         *Settings
	past        *judge.History
	ledger      *ledger.Ledger
	self        string // command line of supervise
	now         func() time.Time
	tracked     int          // number of iterations in the trackers
	finalReport *report.Loop // the data of the completion report, nil until it is written
}

// writeIteration writes the report of an iteration, the escalation report if a person has to
// decide, and the trackers.
func (w *reports) writeIteration(it ledger.Iteration, state ledger.State) error {
	v := report.Iteration{Iteration: it, Baseline: w.past.Iterations[0], Best: state.Best, Kept: w.ledger.SnapshotDir(), Criterion: state.Criterion, Rules: w.set.Rules}
	if n := reasoning.PreviousIteration(w.past.Iterations, it.Number); n >= 0 {
		v.Previous = &w.past.Iterations[n]
	}
	err := w.ledger.WriteReport(ledger.IterationName(it.Number)+"-report.md", report.IterationDocument(v))
	if d := it.Decision; d != nil && d.QuestionKind != "" {
		v := report.Escalation{State: state, Iterations: w.past.Iterations, Why: d.QuestionKind, Now: w.now(), Self: w.self}
		err = errors.Join(err, w.ledger.WriteReport(report.EscalationName, v.Document()))
	}
	return errors.Join(err, w.updateTrackers())
}

// alwaysTracked is the number of iterations up to which the trackers are written after each
// iteration.
const alwaysTracked = 200

// updateTrackers writes the trackers. Since each write contains all iterations, long loops write
// them only when the number of iterations has grown by a twentieth.
func (w *reports) updateTrackers() error {
	if n := len(w.past.Iterations); n > alwaysTracked && n < w.tracked+w.tracked/20 {
		return nil
	}
	return w.writeTrackers()
}

// writeTrackers writes the trackers with all iterations.
func (w *reports) writeTrackers() error {
	w.tracked = len(w.past.Iterations)
	var best *int
	if w.past.Best != nil {
		best = &w.past.Best.Iteration
	}
	return w.ledger.WriteTracking(w.past.Iterations, w.set.TrackingConfig(), best, w.now())
}

// completeTrackers writes the trackers if [reports.updateTrackers] left out iterations.
func (w *reports) completeTrackers() error {
	if w.tracked == 0 || w.tracked >= len(w.past.Iterations) {
		return nil
	}
	return w.writeTrackers()
}

// writeFinal writes the selection and completion reports and returns the path of the selection
// report. v has the results of the end of the loop; writeFinal adds the history.
func (w *reports) writeFinal(v report.Loop, verified *ledger.Verification) (string, error) {
	v.Iterations, v.Summary, v.Now = w.past.Iterations, selector.Summarize(w.past.Candidates()), w.now()
	v.Mode, v.Threshold, v.Open = w.set.Select.Mode, w.set.Select.Threshold, ledger.OpenFindingsAt(w.past.Iterations, v.Choice.Iteration)
	v.Verification = verified
	w.finalReport = &v
	err := errors.Join(w.ledger.WriteReport(report.SelectionName, report.SelectionDocument(v)), w.writeCompletion(v))
	return filepath.Join(w.ledger.Dir(), "reports", report.SelectionName), err
}

// writeCompletion writes the completion report and the analytics.
func (w *reports) writeCompletion(v report.Loop) error {
	return errors.Join(
		w.ledger.WriteReport(report.CompletionName, report.CompletionDocument(v)),
		w.ledger.WriteAnalytics(report.NewAnalytics(v), report.CompletionDocument(v)),
	)
}

// addLogHead writes the completion report again, with the hash of the last entry of the log. It
// must be called after that entry is written.
func (w *reports) addLogHead() error {
	if w.finalReport == nil {
		return nil
	}
	w.finalReport.Head = w.ledger.HeadHash()
	return w.writeCompletion(*w.finalReport)
}
