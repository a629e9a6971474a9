package record

import (
	"fmt"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// progressReport returns the ProgressReport about an iteration: its metrics, the best iteration
// so far, and the recommendation d.
func (v View) progressReport(it ledger.Iteration, d Recommendation) ProgressReport {
	m := IterationMetrics{
		Iteration: it.Number, Timestamp: it.EndedAt, Class: it.Assessment.Class, Record: it.Set.Record(), Quality: it.Quality(),
		Deltas:   Deltas{formatDeltas(it.Assessment.FromPrevious), formatDeltas(it.Assessment.FromBaseline)},
		Alerts:   alertNotes(it.Assessment.Alerts, 0),
		Verified: it.Verified, Rejected: it.Rejected, Verification: it.Verification(),
		Dimensions: it.Dimensions(),
	}
	r := ProgressReport{Type: KindProgress, LoopID: v.State.LoopID, Metrics: m, Advice: d, Next: nextAction(it.Number, d)}
	r.Best.This = it.Quality()
	if b := v.State.Best; b != nil {
		label, score := iterationLabel(b.Iteration), b.QualityScore
		r.Best.Current, r.Best.Best, r.Metrics.Best = &label, &score, b.Iteration == it.Number
	}
	_, err := v.Iteration(0)
	r.Baseline = err == nil
	return r
}

// nextAction returns the next action of the orchestrator after iteration n, as in
// "rollback_to_iteration_2", "await_iteration_4", "stop" or "escalate".
func nextAction(n int, d Recommendation) string {
	switch {
	case d.Action == detector.Rollback && d.Target != nil:
		return fmt.Sprintf("rollback_to_iteration_%d", *d.Target)
	case d.Action == detector.Continue:
		return fmt.Sprintf("await_iteration_%d", n+1)
	}
	return string(d.Action)
}

// formatDeltas returns the changes by their names in a message, as in "test_count_delta". The
// coverage percentage has the short name "coverage_delta".
func formatDeltas(d metric.Delta) map[string]float64 {
	out := map[string]float64{}
	for f, v := range d {
		name := string(f)
		if f == metric.CoveragePct {
			name = "coverage"
		}
		out[name+"_delta"] = roundTo4(v)
	}
	return out
}

// alertNotes converts the alerts with at least the severity least. The result is never nil, so
// that its JSON is a list.
func alertNotes(alerts []detector.Alert, least detector.Severity) []AlertNote {
	out := []AlertNote{}
	for _, a := range alerts {
		if a.Severity < least {
			continue
		}
		out = append(out, AlertNote{
			Severity: a.Severity, Basis: a.Basis, Type: a.Type, Rule: a.Rule, Message: a.Message(), TriggeredAt: iterationLabel(a.TriggeredAt),
			Against: a.Against, Action: a.Action, Values: a.Values, Tests: testNames(a.Tests),
		})
	}
	return out
}

// testNames returns the names of tests as users see them. The result is never nil.
func testNames(ids []metric.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}

// regressionAlert returns the RegressionAlert of an iteration, and false if it has no alert of
// severity HIGH or CRITICAL.
func (v View) regressionAlert(it ledger.Iteration, d Recommendation) (RegressionAlert, bool) {
	serious := alertNotes(it.Assessment.Alerts, detector.High)
	if len(serious) == 0 {
		return RegressionAlert{}, false
	}
	worst, changes := serious[0], it.Assessment.Changes
	r := RegressionAlert{
		Type: KindAlert, LoopID: v.State.LoopID, Iteration: it.Number, Verdict: "WARN", Regress: worst.Type,
		Severity: worst.Severity, Alerts: serious, Advice: d,
		Details: AlertDetails{Baseline: worst.Values.Baseline, Previous: worst.Values.Prev, Current: worst.Values.Curr},
	}
	if it.Rejected {
		r.Verdict = "BLOCK"
	}
	r.Details.Diff.Deleted, r.Details.Diff.Failing, r.Details.Diff.Skipped = testNames(changes.Gone), testNames(changes.NewlyFailing), testNames(changes.NewlySkipped)
	return r, true
}
