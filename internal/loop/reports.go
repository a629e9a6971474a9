package loop

import (
	"errors"
	"path/filepath"
	"time"

	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/reasoning"
	"supervise/internal/report"
	"supervise/selector"
)

// reports writes what people read in the folder of a loop.
type reports struct {
	set     *Settings
	past    *judge.History
	ledger  *ledger.Ledger
	self    string // how supervise is called
	now     func() time.Time
	tracked int // how many iterations the trackers have
	ended   *report.Loop
}

// iteration writes the report of an iteration, what a person has to know where it was
// for one to judge, and the trackers.
func (w *reports) iteration(it ledger.Iteration, state ledger.State) error {
	v := report.Iteration{Iteration: it, Baseline: w.past.Iterations[0], Best: state.Best, Kept: w.ledger.SnapshotDir(), Criterion: state.Criterion, Rules: w.set.Rules}
	if n := reasoning.PreviousIteration(w.past.Iterations, it.Number); n >= 0 {
		v.Previous = &w.past.Iterations[n]
	}
	err := w.ledger.WriteReport(ledger.IterationName(it.Number)+"-report.md", report.IterationDocument(v))
	if d := it.Decision; d != nil && d.QuestionKind != "" {
		v := report.Escalation{State: state, Iterations: w.past.Iterations, Why: d.QuestionKind, Now: w.now(), Self: w.self}
		err = errors.Join(err, w.ledger.WriteReport(report.EscalationName, v.Document()))
	}
	return errors.Join(err, w.track())
}

// trackedAtOnce is how many iterations a loop has whose trackers are always up to
// date.
const trackedAtOnce = 200

// track writes the trackers: after every iteration, and in a loop of many each
// time it has grown by a twentieth, since they are written whole.
func (w *reports) track() error {
	if n := len(w.past.Iterations); n > trackedAtOnce && n < w.tracked+w.tracked/20 {
		return nil
	}
	return w.trackNow()
}

func (w *reports) trackNow() error {
	w.tracked = len(w.past.Iterations)
	var best *int
	if w.past.Best != nil {
		best = &w.past.Best.Iteration
	}
	return w.ledger.WriteTracking(w.past.Iterations, w.set.TrackingConfig(), best, w.now())
}

// catchUp writes the trackers where they lack iterations.
func (w *reports) catchUp() error {
	if w.tracked == 0 || w.tracked >= len(w.past.Iterations) {
		return nil
	}
	return w.trackNow()
}

// final writes the selection and completion reports and returns the path of the one to
// read first. v is what only the end of the loop knows.
func (w *reports) final(v report.Loop, verified *event.Verification) (string, error) {
	v.Iterations, v.Summary, v.Now = w.past.Iterations, selector.Summarize(w.past.Candidates()), w.now()
	v.Mode, v.Threshold, v.Open = w.set.Select.Mode, w.set.Select.Threshold, ledger.OpenFindingsAt(w.past.Iterations, v.Choice.Iteration)
	if verified != nil {
		v.Verification = &report.Verification{Confirmed: verified.Confirmed, Differences: verified.Differences, Goals: verified.Goals, Hidden: verified.Hidden}
	}
	w.ended = &v
	err := errors.Join(w.ledger.WriteReport(report.SelectionName, report.SelectionDocument(v)), w.completion(v))
	return filepath.Join(w.ledger.Dir(), "reports", report.SelectionName), err
}

func (w *reports) completion(v report.Loop) error {
	return errors.Join(
		w.ledger.WriteReport(report.CompletionName, report.CompletionDocument(v)),
		w.ledger.WriteAnalytics(report.NewAnalytics(v), report.CompletionDocument(v)),
	)
}

// seal writes the head of the log, now that it has its last entry, into the completion
// report.
func (w *reports) seal() error {
	if w.ended == nil {
		return nil
	}
	w.ended.Head = w.ledger.HeadHash()
	return w.completion(*w.ended)
}
