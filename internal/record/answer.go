package record

import (
	"fmt"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// progress lays an iteration out. Where it belongs to a decision, d is that.
func (v View) progress(it ledger.Iteration, d Recommendation) ProgressReport {
	m := IterationMetrics{
		Iteration: it.Number, Timestamp: it.EndedAt, Class: it.Assessment.Class, Record: it.Set.Record(), Quality: it.Quality(),
		Deltas:   Deltas{deltas(it.Assessment.FromPrevious), deltas(it.Assessment.FromBaseline)},
		Alerts:   notes(it.Assessment.Alerts, 0),
		Verified: it.Verified, Rejected: it.Rejected, Verification: it.Verification(),
		Dimensions: it.Dimensions(),
	}
	r := ProgressReport{Type: KindProgress, LoopID: v.State.LoopID, Metrics: m, Advice: d, Next: next(it.Number, d)}
	r.Best.This = it.Quality()
	if b := v.State.Best; b != nil {
		label, score := iterationLabel(b.Iteration), b.QualityScore
		r.Best.Current, r.Best.Best, r.Metrics.Best = &label, &score, b.Iteration == it.Number
	}
	_, err := v.Iteration(0)
	r.Baseline = err == nil
	return r
}

// next names what an orchestrator does next.
func next(n int, d Recommendation) string {
	switch {
	case d.Action == detector.Rollback && d.Target != nil:
		return fmt.Sprintf("rollback_to_iteration_%d", *d.Target)
	case d.Action == detector.Continue:
		return fmt.Sprintf("await_iteration_%d", n+1)
	}
	return string(d.Action)
}

// deltas names the changes: those of percentages are known by a shorter name.
func deltas(d metric.Delta) map[string]float64 {
	out := map[string]float64{}
	for f, v := range d {
		name := string(f)
		if f == metric.CoveragePct {
			name = "coverage"
		}
		out[name+"_delta"] = round4(v)
	}
	return out
}

// notes lays out the alerts of at least a severity.
func notes(alerts []detector.Alert, least detector.Severity) []AlertNote {
	out := []AlertNote{}
	for _, a := range alerts {
		if a.Severity < least {
			continue
		}
		out = append(out, AlertNote{
			Severity: a.Severity, Basis: a.Basis, Type: a.Type, Rule: a.Rule, Message: a.Message(), TriggeredAt: iterationLabel(a.TriggeredAt),
			Against: a.Against, Action: a.Action, Values: a.Values, Tests: names(a.Tests),
		})
	}
	return out
}

func names(ids []metric.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}

// alert returns the RegressionAlert of an iteration, and false when nothing of it
// is HIGH or CRITICAL.
func (v View) alert(it ledger.Iteration, d Recommendation) (RegressionAlert, bool) {
	weighty := notes(it.Assessment.Alerts, detector.High)
	if len(weighty) == 0 {
		return RegressionAlert{}, false
	}
	worst, changes := weighty[0], it.Assessment.Changes
	r := RegressionAlert{
		Type: KindAlert, LoopID: v.State.LoopID, Iteration: it.Number, Verdict: "WARN", Regress: worst.Type,
		Severity: worst.Severity, Alerts: weighty, Advice: d,
		Details: AlertDetails{Baseline: worst.Values.Baseline, Previous: worst.Values.Prev, Current: worst.Values.Curr},
	}
	if it.Rejected {
		r.Verdict = "BLOCK"
	}
	r.Details.Diff.Deleted, r.Details.Diff.Failing, r.Details.Diff.Skipped = names(changes.Gone), names(changes.NewlyFailing), names(changes.NewlySkipped)
	return r, true
}
