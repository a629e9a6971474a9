package record

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

// Kind is the type of a message.
type Kind string

// The kinds of messages: first the requests, then the answers.
const (
	KindBaseline  Kind = "BaselineRequest"
	KindIteration Kind = "IterationComplete"
	KindDecision  Kind = "LoopDecisionRequest"

	KindProgress  Kind = "ProgressReport"
	KindAlert     Kind = "RegressionAlert"
	KindSelection Kind = "BestIterationSelection"
	KindError     Kind = "Error"
)

// ProgressReport answers an iteration, a baseline, or a request for a decision. Scores are in
// [0,1], and null if unknown.
type ProgressReport struct {
	Type     Kind             `json:"type"`
	LoopID   string           `json:"loop_id"`
	Metrics  IterationMetrics `json:"iteration_metrics"`
	Best     BestTracker      `json:"best_iteration_tracker"`
	Advice   Recommendation   `json:"recommendation"`
	Baseline bool             `json:"baseline_stored"` // the loop has a baseline
	Next     string           `json:"next_action"`     // see nextAction
}

// IterationMetrics are the metrics of one iteration and their assessment.
type IterationMetrics struct {
	Iteration int            `json:"iteration"`
	Timestamp time.Time      `json:"timestamp"`
	Class     detector.Class `json:"classification"`
	metric.Record
	Deltas       Deltas             `json:"deltas"`
	Quality      *float64           `json:"quality_score"`
	Dimensions   map[string]float64 `json:"dimensions,omitempty"`
	Best         bool               `json:"is_best_iteration"`
	Alerts       []AlertNote        `json:"alerts"`
	Verified     bool               `json:"verified"`
	Rejected     bool               `json:"rejected"` // its tree has to be restored
	Verification string             `json:"verification_status"`
}

// Deltas are the changes of all metrics that were measured on both sides, by
// name: test_count_delta, pass_rate_delta, coverage_delta, ….
type Deltas struct {
	FromPrevious map[string]float64 `json:"from_previous"`
	FromBaseline map[string]float64 `json:"from_baseline"`
}

// AlertNote is an alert of the detector in a message.
type AlertNote struct {
	Severity    detector.Severity `json:"severity"`
	Basis       detector.Basis    `json:"basis"`
	Type        string            `json:"type"`
	Rule        string            `json:"rule"`
	Message     string            `json:"message"`
	TriggeredAt string            `json:"triggered_at"` // iteration_3
	Against     string            `json:"against"`      // what the iteration was compared with
	Action      detector.Action   `json:"action"`
	Values      detector.Values   `json:"values"`
	Tests       []string          `json:"tests,omitempty"`
}

// BestTracker compares the last iteration with the best one so far.
type BestTracker struct {
	Current *string  `json:"current_best"` // as in iteration_2; null if there is none
	Best    *float64 `json:"best_quality_score"`
	This    *float64 `json:"current_iteration_score"`
}

// Recommendation is the recommended next action. Confidence is in [0,1].
type Recommendation struct {
	Action       detector.RecommendedAction   `json:"action"`
	Target       *int                         `json:"target_iteration,omitempty"` // iteration to roll back to
	Reason       string                       `json:"reason"`
	Confidence   float64                      `json:"confidence"`
	Alternatives []string                     `json:"alternatives,omitempty"` // what to try instead, if the loop stalls
	Retry        int                          `json:"retry,omitempty"`        // number of this retry after a rollback, 0 for none
	MaxRetries   int                          `json:"max_retries,omitempty"`
	Diagnosis    string                       `json:"diagnosis,omitempty"`
	Advice       string                       `json:"advice,omitempty"` // text for the next prompt
	Diminishing  *selector.DiminishingReturns `json:"diminishing_returns,omitempty"`
}

// RegressionAlert follows a ProgressReport if an alert is HIGH or CRITICAL.
type RegressionAlert struct {
	Type      Kind              `json:"type"`
	LoopID    string            `json:"loop_id"`
	Iteration int               `json:"iteration"`
	Verdict   string            `json:"verdict"` // BLOCK: the tree has to be restored; otherwise WARN
	Regress   string            `json:"regression_type"`
	Severity  detector.Severity `json:"severity"`
	Details   AlertDetails      `json:"details"` // details of the worst alert
	Alerts    []AlertNote       `json:"alerts"`  // all alerts that are HIGH or CRITICAL
	Advice    Recommendation    `json:"recommendation"`
}

// AlertDetails has the values of the worst alert, and the tests that changed in the iteration.
type AlertDetails struct {
	Baseline *float64 `json:"baseline_value"`
	Previous *float64 `json:"previous_value"`
	Current  *float64 `json:"current_value"`
	Diff     struct {
		Deleted []string `json:"deleted_tests"`
		Failing []string `json:"failing_tests"`
		Skipped []string `json:"skipped_tests"`
	} `json:"diff"`
}

// iterationLabel names an iteration in a message, as in "iteration_3".
func iterationLabel(n int) string { return fmt.Sprintf("iteration_%d", n) }

// BestIterationSelection reports a selection. Scores are in [0,1].
type BestIterationSelection struct {
	Type        Kind                         `json:"type"`
	LoopID      string                       `json:"loop_id"`
	Total       int                          `json:"total_iterations"` // without the baseline
	Selected    int                          `json:"selected_iteration"`
	Quality     *float64                     `json:"quality_score"`
	Reason      string                       `json:"reason"`
	Final       int                          `json:"final_iteration"` // the last iteration
	FinalScore  *float64                     `json:"final_quality"`
	Degraded    bool                         `json:"degradation_detected"`
	Flags       []string                     `json:"flags"`              // see flags
	Trajectory  map[string]*float64          `json:"quality_trajectory"` // scores by iteration label
	Criteria    Criteria                     `json:"selection_criteria"`
	Details     SelectedDetails              `json:"selected_iteration_details"`
	Comparison  *Comparison                  `json:"comparison_to_final,omitempty"`
	Rationale   []string                     `json:"selection_rationale"`
	Degradation *DegradationAnalysis         `json:"degradation_analysis,omitempty"`
	Diminishing *selector.DiminishingReturns `json:"diminishing_returns,omitempty"`
	Summary     selector.Summary             `json:"summary"`
	Superseded  []int                        `json:"superseded"`
	Ineligible  []int                        `json:"ineligible"`
	Tied        []int                        `json:"tied"`
	Costs       []string                     `json:"costs"`
	Worse       []selector.WorseIteration    `json:"worse_than_baseline"`
	Override    *selector.Override           `json:"override,omitempty"`
	Applied     []AppliedArtifacts           `json:"artifacts_applied"`
	Report      string                       `json:"report_generated,omitempty"` // path
	Before      *int                         `json:"selected_before"`            // null if nothing was selected before
	Rows        []ledger.TrackedIteration    `json:"iterations"`
}

// Criteria are the criteria of a selection.
type Criteria struct {
	Primary   string           `json:"primary"`
	Mode      selector.Mode    `json:"mode"`
	Threshold float64          `json:"threshold"`
	Verify    bool             `json:"verification_required"`
	Weights   selector.Weights `json:"quality_weights"`
}

// SelectedDetails are the metrics of the selected iteration.
type SelectedDetails struct {
	Iteration int       `json:"iteration"`
	Quality   *float64  `json:"quality_score"`
	Timestamp time.Time `json:"timestamp"`
	metric.Record
	Verified  bool   `json:"verified"`
	Artifacts string `json:"artifacts_path"`
	Snapshot  string `json:"snapshot,omitempty"` // as in s12
}

// Comparison compares the selected with the final iteration. Improvement is in percent of the
// final quality.
type Comparison struct {
	Final       float64  `json:"final_quality"` // score of the last iteration
	Selected    float64  `json:"selected_quality"`
	Delta       float64  `json:"delta"`
	Improvement *float64 `json:"improvement_percentage"`
	WhyNot      string   `json:"reason_final_not_selected,omitempty"`
}

// DegradationAnalysis describes a loss of quality after the peak, in percent of the peak.
type DegradationAnalysis struct {
	Started  string             `json:"degradation_started"` // as in iteration_4
	Pattern  string             `json:"pattern"`
	After    int                `json:"iterations_after_peak"`
	Loss     string             `json:"quality_loss"` // as in -7.95%
	Triggers []selector.Trigger `json:"triggers"`
}

// AppliedArtifacts lists copied artifacts.
type AppliedArtifacts struct {
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
	Files       []string `json:"files_copied"`
}

// SelectionMessage returns the message about a selection. path is that of the selection report,
// "" if none was written; files are the copied artifacts.
func (v View) SelectionMessage(c selector.Selection, path string, files []string) (BestIterationSelection, error) {
	it, err := v.Iteration(c.Iteration)
	if err != nil {
		return BestIterationSelection{}, err
	}

	final := v.Iterations[len(v.Iterations)-1]
	folder := filepath.Join(v.Dir, "iterations", ledger.IterationName(it.Number))
	b := BestIterationSelection{
		Type: KindSelection, LoopID: v.State.LoopID, Selected: c.Iteration, Quality: it.Quality(), Reason: c.Reason,
		Final: c.Final, FinalScore: final.Quality(), Degraded: c.Degradation != nil, Flags: flags(c), Trajectory: map[string]*float64{},
		Criteria: Criteria{"highest_quality_score", c.Mode, c.Threshold, c.Mode == selector.HighestQualityVerified, v.Settings.Weights},
		Details: SelectedDetails{
			Iteration: it.Number, Quality: it.Quality(), Timestamp: it.EndedAt, Record: it.Set.Record(), Verified: it.Verified,
			Artifacts: folder,
		},
		Rationale: c.Rationale, Diminishing: c.DiminishingReturns, Superseded: append([]int{}, c.Superseded...), Ineligible: append([]int{}, c.Ineligible...),
		Tied: append([]int{}, c.Tied...), Costs: append([]string{}, c.Costs...), Worse: append([]selector.WorseIteration{}, c.Worse...), Override: c.Override,
		Report: path, Applied: []AppliedArtifacts{}, Summary: selector.Summarize(v.candidates()), Comparison: compare(it, final, c), Rows: ledger.TrackedIterations(v.Dir, v.Iterations),
	}

	b.Total = b.Summary.Iterations
	if it.Snapshot != "" {
		b.Details.Snapshot = it.Snapshot.Name()
	}
	if c.Mode == selector.MostRecentAboveThreshold {
		b.Criteria.Primary = "most_recent"
	}

	for _, each := range v.Iterations {
		b.Trajectory[iterationLabel(each.Number)] = each.Quality()
	}
	if d := c.Degradation; d != nil {
		b.Degradation = &DegradationAnalysis{iterationLabel(d.Started), d.Pattern, d.AfterPeak, fmt.Sprintf("%.2f%%", d.Loss), d.Triggers}
	}
	if len(files) > 0 {
		b.Applied = append(b.Applied, AppliedArtifacts{filepath.Join(folder, "artifacts"), filepath.Join(v.Dir, "final-output"), files})
	}
	if v.State.Selected != nil {
		b.Before = &v.State.Selected.Iteration
	}
	return b, nil
}

// flags returns the names of the warnings about a selection, an empty slice if there are none.
func flags(c selector.Selection) []string {
	out := []string{}
	for _, f := range []struct {
		on   bool
		name string
	}{
		{c.BelowThreshold, "below_threshold"},
		{!c.Verified, "unverified"},
		{c.Partial, "partial"},
		{c.Unscored, "unscored"},
		{c.BaselineChosen, "baseline"},
		{c.Override != nil, "override"},
	} {
		if f.on {
			out = append(out, f.name)
		}
	}
	return out
}

// compare compares the selected iteration with the final one. It returns nil if they are the
// same, or if one of them has no score.
func compare(it, final ledger.Iteration, c selector.Selection) *Comparison {
	if it.Number == final.Number || !it.Score.Measured || !final.Score.Measured {
		return nil
	}
	s, f := it.Score.Value, final.Score.Value
	out := &Comparison{Final: f, Selected: s, Delta: roundTo4(s - f), WhyNot: whyNot(final, c)}
	if f > 0 {
		out.Improvement = new(roundTo4(100 * (s - f) / f))
	}
	return out
}

// whyNot says why the final iteration was not selected, "" if only its score is lower.
func whyNot(final ledger.Iteration, c selector.Selection) string {
	switch {
	case c.Override != nil:
		return "Chosen manually: " + strings.TrimSpace(c.Override.Reason)
	case final.Rejected && final.Recorded == nil:
		return "It was rolled back"
	case c.Degradation != nil:
		return fmt.Sprintf("Quality degraded after iteration %d", c.Degradation.Peak)
	case final.Assessment.HasCritical():
		return "It has a CRITICAL finding"
	case !final.Verified && c.Verified:
		return "It is not verified"
	}
	return ""
}
