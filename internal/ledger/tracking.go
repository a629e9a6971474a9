package ledger

import (
	"math"
	"path/filepath"
	"time"

	"supervise/detector"
	"supervise/selector"
)

// Tracking is the tracker file best-output-tracking.json: the scores of every
// iteration and which is the best so far. Scores are in [0,100], dimensions in
// [0,1].
type Tracking struct {
	LoopID      string             `json:"loop_id"`
	Config      TrackingConfig     `json:"config"`
	Iterations  []TrackedIteration `json:"iterations"`
	Best        *int               `json:"best_iteration_number"`
	LastUpdated time.Time          `json:"last_updated"`
}

// TrackingConfig is how the tracker chooses.
type TrackingConfig struct {
	StoragePath string           `json:"storage_path"`
	Selection   SelectionConfig  `json:"selection"`
	KeepAll     bool             `json:"keep_all_iterations"`
	Weights     selector.Weights `json:"quality_weights"`
}

// SelectionConfig names the selection mode and its threshold in [0,100].
type SelectionConfig struct {
	Mode      selector.Mode `json:"mode"`
	Threshold float64       `json:"threshold"`
	Verify    bool          `json:"require_verification"`
}

// TrackedIteration is one iteration in the tracker.
type TrackedIteration struct {
	Number       int                `json:"iteration_number"`
	Timestamp    time.Time          `json:"timestamp"`
	Quality      *float64           `json:"quality_score"`
	Delta        *float64           `json:"quality_delta"`
	Dimensions   map[string]float64 `json:"dimensions"`
	Tokens       *int64             `json:"tokens_used"`
	Cost         *float64           `json:"token_cost_usd"`
	TimeMS       int64              `json:"execution_time_ms"`
	Verification string             `json:"verification_status"` // passed, failed, skipped
	SnapshotPath string             `json:"snapshot_path"`
	Artifacts    []string           `json:"artifacts"`
	Reflections  []string           `json:"reflections"`
}

// TrajectoryPoint is one entry of progress/trajectory.json.
type TrajectoryPoint struct {
	Iteration int            `json:"iteration"`
	Quality   *float64       `json:"quality_score"`
	Class     detector.Class `json:"classification"`
	Rejected  bool           `json:"rejected"`
	Best      bool           `json:"best"`
}

// Track writes the tracker file and the trajectory from all iterations so far.
func (l *Ledger) Track(its []Iteration, config TrackingConfig, best *int, now time.Time) error {
	t := Tracking{LoopID: l.state.LoopID, Config: config, Best: best, LastUpdated: now, Iterations: []TrackedIteration{}}
	t.Config.StoragePath = l.dir
	points := []TrajectoryPoint{}
	var before *float64
	for _, it := range its {
		points = append(points, TrajectoryPoint{it.Number, it.Quality(), it.Assessment.Class, it.Rejected, best != nil && *best == it.Number})
		if it.Number == 0 {
			continue
		}
		row := l.tracked(it, before)
		t.Iterations = append(t.Iterations, row)
		before = row.Quality
	}
	if err := WriteJSON(filepath.Join(l.dir, "progress", "trajectory.json"), points); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(l.dir, "best-output-tracking.json"), t)
}

func (l *Ledger) tracked(it Iteration, before *float64) TrackedIteration {
	dir := filepath.Join(l.dir, "iterations", Name(it.Number))
	row := TrackedIteration{
		Number: it.Number, Timestamp: it.EndedAt, TimeMS: it.EndedAt.Sub(it.StartedAt).Milliseconds(),
		Dimensions: map[string]float64{}, Verification: verification(it), SnapshotPath: dir,
		Artifacts: []string{}, Reflections: []string{},
	}
	if q := it.Quality(); q != nil {
		points := round(100 * *q)
		row.Quality = &points
	}
	if row.Quality != nil && before != nil {
		delta := round(*row.Quality - *before)
		row.Delta = &delta
	}
	for _, d := range it.Score.Dimensions {
		if d.Measured {
			row.Dimensions[d.Name] = round(d.Score) / 100
		}
	}
	for _, c := range it.Changed {
		row.Artifacts = append(row.Artifacts, c.Path)
	}
	for _, a := range it.Assessment.Alerts {
		row.Reflections = append(row.Reflections, a.Message())
	}
	return row
}

func verification(it Iteration) string {
	switch {
	case it.Set.Tests == nil:
		return "skipped"
	case it.Verified:
		return "passed"
	}
	return "failed"
}

func round(v float64) float64 { return math.Round(v*100) / 100 }
