package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"supervise/detector"
	"supervise/selector"
	"supervise/snapshot"
)

// Tracking is the tracker file best-output-tracking.json: the scores of all iterations and the
// best one so far. Scores are in [0,100], dimensions in [0,1].
type Tracking struct {
	LoopID      string             `json:"loop_id"`
	Config      TrackingConfig     `json:"config"`
	Iterations  []TrackedIteration `json:"iterations"`
	Best        *int               `json:"best_iteration_number"`
	LastUpdated time.Time          `json:"last_updated"`
}

// TrackingConfig is the configuration of the selection.
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
	TimeMS       *int64             `json:"execution_time_ms"`   // null when not reported
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

// WriteTracking writes the tracker file and the trajectory from all iterations so far. Rows of
// earlier calls are reused.
func (l *Ledger) WriteTracking(its []Iteration, config TrackingConfig, best *int, now time.Time) error {
	if err := l.rows.add(l.dir, its); err != nil {
		return err
	}
	t := Tracking{LoopID: l.state.LoopID, Config: config, Best: best, LastUpdated: now, Iterations: []TrackedIteration{}}
	t.Config.StoragePath = l.dir
	text, err := encodeIndented(t, "")
	if err != nil {
		return fmt.Errorf("write the tracker: %w", err)
	}
	points := slices.Clone(l.rows.points)
	if i := slices.IndexFunc(its, func(it Iteration) bool { return best != nil && it.Number == *best }); i >= 0 {
		if points[i], err = encodeIndented(its[i].trajectoryPoint(true), "  "); err != nil {
			return fmt.Errorf("write the trajectory: %w", err)
		}
	}
	if err := WriteFile(filepath.Join(l.dir, "progress", "trajectory.json"), append(joinArray(points, ""), '\n')); err != nil {
		return err
	}
	none := []byte(`"iterations": []`) // unique: within strings the quotes are escaped
	text = bytes.Replace(text, none, append(none[:len(none)-2:len(none)-2], joinArray(l.rows.tracked, "  ")...), 1)
	return WriteFile(filepath.Join(l.dir, "best-output-tracking.json"), append(text, '\n'))
}

// trackingRows caches the encoded entries of both files, so that each is encoded only once.
type trackingRows struct {
	count           int // iterations
	points, tracked [][]byte
	quality         *float64 // of the last tracked iteration
}

// add encodes the iterations that have no rows yet.
func (r *trackingRows) add(dir string, its []Iteration) error {
	for _, it := range its[min(r.count, len(its)):] {
		point, err := encodeIndented(it.trajectoryPoint(false), "  ")
		if err != nil {
			return fmt.Errorf("write the trajectory: %w", err)
		}
		r.points = append(r.points, point)
		r.count++
		if it.Number == 0 {
			continue
		}
		row := it.trackedIteration(dir, r.quality)
		text, err := encodeIndented(row, "    ")
		if err != nil {
			return fmt.Errorf("write the tracker: %w", err)
		}
		r.tracked, r.quality = append(r.tracked, text), row.Quality
	}
	return nil
}

// trajectoryPoint returns the entry of the iteration in the trajectory; best marks the best one.
func (it Iteration) trajectoryPoint(best bool) TrajectoryPoint {
	return TrajectoryPoint{it.Number, it.Quality(), it.Assessment.Class, it.Rejected, best}
}

// encodeIndented encodes v as [WriteJSON] does; prefix is the indentation of its lines.
func encodeIndented(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// joinArray joins encoded entries to a JSON array; prefix is the indentation of its lines.
func joinArray(entries [][]byte, prefix string) []byte {
	if len(entries) == 0 {
		return []byte("[]")
	}
	between := []byte(",\n" + prefix + "  ")
	out := append([]byte("["), between[1:]...)
	out = append(out, bytes.Join(entries, between)...)
	return append(out, "\n"+prefix+"]"...)
}

// TrackedIterations returns the tracker entries of the iterations of the loop in dir, without
// the baseline.
func TrackedIterations(dir string, its []Iteration) []TrackedIteration {
	out := []TrackedIteration{}
	var before *float64
	for _, it := range its {
		if it.Number == 0 {
			continue
		}
		row := it.trackedIteration(dir, before)
		out = append(out, row)
		before = row.Quality
	}
	return out
}

// Dimensions returns the measured dimension scores in [0,1], by name.
func (it Iteration) Dimensions() map[string]float64 {
	out := map[string]float64{}
	for _, d := range it.Score.Dimensions {
		if d.Measured {
			out[d.Name] = roundCents(d.Score) / 100
		}
	}
	return out
}

// trackedIteration returns the entry of the iteration in the tracker. before is the score of the
// iteration before it, nil if unknown.
func (it Iteration) trackedIteration(loop string, before *float64) TrackedIteration {
	row := TrackedIteration{
		Number: it.Number, Timestamp: it.EndedAt,
		Dimensions: it.Dimensions(), Verification: it.Verification(), SnapshotPath: filepath.Join(loop, "iterations", IterationName(it.Number)),
		Artifacts: []string{}, Reflections: []string{},
	}

	if q := it.Quality(); q != nil {
		row.Quality = new(roundCents(100 * *q))
	}
	if row.Quality != nil && before != nil {
		row.Delta = new(roundCents(*row.Quality - *before))
	}

	for _, c := range it.Changed {
		row.Artifacts = append(row.Artifacts, c.Path)
	}

	var took *time.Duration
	took, row.Tokens, row.Cost = it.Cost()
	if took != nil {
		row.TimeMS = new(took.Milliseconds())
	}
	if it.Recorded != nil {
		row.Artifacts = append(row.Artifacts, it.Recorded.Artifacts...)
		row.Reflections = append(row.Reflections, it.Recorded.Reflections...)
	}

	for _, a := range it.Assessment.Alerts {
		row.Reflections = append(row.Reflections, a.Message())
	}

	return row
}

// The verification statuses of an iteration.
const (
	VerifyPassed  = "passed"
	VerifyFailed  = "failed"
	VerifySkipped = "skipped" // nothing to verify it with
)

// Verification returns the verification status: passed, failed, or skipped if nothing could be
// verified.
func (it Iteration) Verification() string {
	switch {
	case it.Verified:
		return VerifyPassed
	case it.Recorded != nil && it.Recorded.Verification != "" && it.Recorded.Verification != VerifyPassed:
		return it.Recorded.Verification
	case it.Set.Tests == nil:
		return VerifySkipped
	}
	return VerifyFailed
}

// Candidates converts the iterations for the selector. An iteration whose snapshot was dropped
// counts as rejected, because its tree cannot be restored.
func Candidates(its []Iteration, dropped map[snapshot.ID]bool) []selector.Candidate {
	out := make([]selector.Candidate, len(its))
	builtOn := map[int]bool{}
	for i := range its {
		if r := its[i].Recorded; r != nil && r.StartedFrom != nil {
			builtOn[*r.StartedFrom] = true
		}
	}

	for i, it := range its {
		c := selector.Candidate{
			Iteration: it.Number, Score: it.Score.Value, Scored: it.Score.Measured, Set: &its[i].Set,
			Verified: it.Verified, Critical: it.Assessment.HasCritical(), HasOpenFindings: len(it.Open) > 0, Partial: it.Set.IsPartial(),
			Rejected: it.Rejected || it.Snapshot != "" && dropped[it.Snapshot], Baseline: it.Number == 0, Tree: it.Tree,
			Guarded: it.ChangeMutants != nil && it.GuardShortfall(DefaultNoticed) == "", EmptyTests: it.EmptyTests(),
		}
		if it.Recorded != nil {
			c.StillInPlace = i == len(its)-1 || builtOn[it.Number]
		}
		if b := it.Assessment.Balance; b != nil {
			c.Balance = &selector.Balance{Passing: b.Passing, Failing: b.Failing, Settled: b.Settled, Costs: b.CostMessages(), Since: b.Since, Approved: b.Approved}
		}
		if it.Recorded != nil && it.Set.IsEmpty() {
			c.Set = nil // a reported score, which is compared directly
		}
		c.Duration, c.Tokens, c.CostUSD = it.Cost()
		out[i] = c
	}

	return out
}

// Cost returns the time, tokens and cost of the iteration; unknown values are nil.
func (it Iteration) Cost() (took *time.Duration, tokens *int64, usd *float64) {
	if t := it.Recorded; t != nil {
		if t.TimeMS != nil {
			took = new(time.Duration(*t.TimeMS) * time.Millisecond)
		}
		return took, t.Tokens, t.CostUSD
	}
	if it.Agent != nil && it.Agent.Usage != nil {
		tokens, usd = it.Agent.Usage.Tokens(), it.Agent.Usage.CostUSD
	}
	return new(it.EndedAt.Sub(it.StartedAt)), tokens, usd
}

// Observation converts the iteration for the detector.
func (it Iteration) Observation() detector.Observation {
	o := detector.Observation{
		Iteration: it.Number, Set: it.Set, Tree: it.Tree, Score: it.Score.Value, Scored: it.Score.Measured,
		Class: it.Assessment.Class, Changed: len(it.Changed) > 0, Settled: it.Assessment.SettledLosses(),
		Approved: it.Assessment.Balance != nil && it.Assessment.Balance.Approved,
	}
	if it.Agent != nil {
		o.AgentExit = it.Agent.effectiveExitCode()
	}
	if it.Recorded != nil {
		o.Changed, o.AgentExit, o.Error = !it.Recorded.Unchanged, it.Recorded.ExitCode, it.Recorded.Error
	}
	return o
}

// roundCents rounds a number to two decimals.
func roundCents(v float64) float64 { return math.Round(v*100) / 100 }
