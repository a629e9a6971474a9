package report

import (
	"slices"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/selector"
)

// Analytics is the document analytics/analytics.json in the folder of a loop. Scores are in [0,1].
type Analytics struct {
	LoopID     string           `json:"loop_id"`
	Status     ledger.Status    `json:"status"`
	StopReason string           `json:"stop_reason"`
	Iterations int              `json:"total_iterations"`
	Rejected   int              `json:"rejected_iterations"`
	Selected   int              `json:"selected_iteration"`
	Best       *float64         `json:"best_quality"`
	Average    *float64         `json:"average_quality"`
	Worst      *float64         `json:"worst_quality"`
	TotalMS    int64            `json:"total_time_ms"`
	AgentMS    int64            `json:"agent_time_ms"`
	ChecksMS   int64            `json:"checks_time_ms"`
	GoalsMS    int64            `json:"goal_tests_time_ms"` // time of the original tests on the new code
	PowerMS    int64            `json:"power_time_ms"`      // time of changed tests on mutants
	OwnMS      int64            `json:"own_time_ms"`        // time of supervise itself
	Tokens     *int64           `json:"total_tokens"`       // null when not reported
	CostUSD    *float64         `json:"total_cost_usd"`     // null when not reported
	Trend      selector.Trend   `json:"trend"`
	Alerts     map[string]int   `json:"alerts_by_rule"`
	Classes    map[string]int   `json:"iterations_by_classification"`
	Trajectory []AnalyticsPoint `json:"trajectory"`
	Head       string           `json:"log_head,omitempty"` // hash of the last entry of the log
}

// AnalyticsPoint is one iteration in the analytics.
type AnalyticsPoint struct {
	Iteration int            `json:"iteration"`
	Quality   *float64       `json:"quality_score"`
	Class     detector.Class `json:"classification"`
}

// NewAnalytics summarizes a loop.
func NewAnalytics(v Loop) Analytics {
	a := Analytics{
		LoopID: v.State.LoopID, Status: v.State.Status, StopReason: v.State.StopReason, Iterations: v.iterationCount(),
		Rejected: v.State.Rejections(), Selected: v.Choice.Iteration, TotalMS: v.Now.Sub(v.State.StartedAt).Milliseconds(),
		Alerts: map[string]int{}, Classes: map[string]int{},
		Tokens: v.Summary.Tokens, CostUSD: v.Summary.CostUSD, Trend: v.Summary.Trend, Head: v.Head,
	}
	if v.State.Kind == ledger.KindRecorded {
		a.TotalMS = 0
		if took := v.Summary.Duration; took != nil {
			a.TotalMS = took.Milliseconds()
		}
	}
	var scores []float64
	for _, it := range v.Iterations {
		a.addIteration(it)
		if q := it.Quality(); q != nil && it.Number > 0 {
			scores = append(scores, *q)
		}
	}
	a.setScores(scores)
	return a
}

// addIteration adds the times, alerts and class of an iteration.
func (a *Analytics) addIteration(it ledger.Iteration) {
	a.Trajectory = append(a.Trajectory, AnalyticsPoint{it.Number, it.Quality(), it.Assessment.Class})
	a.Classes[it.Assessment.Class.String()]++
	a.OwnMS += it.OwnTime.Milliseconds()
	if it.Goals != nil {
		a.GoalsMS += it.Goals.Took.Milliseconds()
	}
	if it.MutationCheck != nil {
		a.PowerMS += it.MutationCheck.Took.Milliseconds()
	}
	if it.Agent != nil {
		a.AgentMS += it.Agent.Duration.Milliseconds()
	}
	for _, c := range it.Checks {
		if !it.Reused {
			a.ChecksMS += c.Duration.Milliseconds()
		}
	}
	for _, alert := range it.Assessment.Alerts {
		a.Alerts[alert.Rule]++
	}
}

// setScores sets the best, the worst and the average score. Without scores they stay nil.
func (a *Analytics) setScores(scores []float64) {
	if len(scores) == 0 {
		return
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	a.Best, a.Worst, a.Average = new(slices.Max(scores)), new(slices.Min(scores)), new(sum/float64(len(scores)))
}
