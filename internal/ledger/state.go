package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"supervise/detector"
	"supervise/metric"
	"supervise/snapshot"
)

// Status is the stage of a loop.
type Status string

// The statuses of a loop.
const (
	Running    Status = "running"
	Paused     Status = "paused"
	Completing Status = "completing"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Aborted    Status = "aborted"
	Crashed    Status = "crashed"
)

// Kind is who runs the iterations of a loop. It is empty for those that supervise
// runs.
type Kind string

// KindRecorded is a loop whose iterations another orchestrator runs and reports.
const KindRecorded Kind = "recorded"

// KindWatched is a session of the user's own with an agent: each of its iterations ends
// when the agent rests, and none is rolled back.
const KindWatched Kind = "watched"

// KindCandidates is a loop whose iterations are candidates: each is what a loop of its own came
// to, in a tree of its own, from the same baseline.
const KindCandidates Kind = "candidates"

// State is the state of a loop, as state.json holds it.
type State struct {
	Version    int           `json:"version"`
	LoopID     string        `json:"loop_id"`
	Kind       Kind          `json:"kind,omitempty"`
	Status     Status        `json:"status"`
	StopReason string        `json:"stop_reason,omitempty"` // why it ended: criterion_met, interrupted, …
	StopText   string        `json:"stop_text,omitempty"`   // the same for people
	TreeText   string        `json:"tree,omitempty"`        // what the tree was found to be at the end, for people
	ExitCode   int           `json:"exit_code"`             // of supervise
	Iteration  int           `json:"iteration"`             // the last one that began
	Task       string        `json:"task"`
	Agent      []string      `json:"agent"`
	Criterion  string        `json:"completion_criteria"`
	Workspace  string        `json:"workspace"`
	PID        int           `json:"pid"`
	StartedAt  time.Time     `json:"started_at"`
	UpdatedAt  time.Time     `json:"last_updated"`
	Config     Configuration `json:"configuration"`

	BaselineMetrics  *metric.Record     `json:"baseline_metrics,omitempty"`
	BaselineSnapshot snapshot.ID        `json:"baseline_snapshot,omitempty"`
	BaselineRuns     int                `json:"baseline_runs,omitempty"`
	History          []HistoryEntry     `json:"iteration_history"`
	Best             *BestIteration     `json:"best_iteration,omitempty"`
	Selected         *BestIteration     `json:"selected_iteration,omitempty"`
	Regressions      []Regression       `json:"regression_events"`
	Level            string             `json:"reinforcement_level"`
	RecoveryAttempts int                `json:"recovery_attempts"`
	Spending         *Spending          `json:"spending,omitempty"` // of the agent; nil where it reported none
	Review           *SelectionReview   `json:"review,omitempty"`   // of the selected tree; nil where nobody was asked
	Waiting          string             `json:"waiting,omitempty"`  // for the agent's service: why, and until when
	Recoveries       []Incident         `json:"recovery_history,omitempty"`
	Levels           []LevelChange      `json:"reinforcement_history,omitempty"`
	Blocked          []BlockedIteration `json:"blocked,omitempty"` // what agents said that they cannot do
	Extension
}

// Configuration is what the loop was started with.
type Configuration struct {
	MaxIterations  int      `json:"max_iterations"`
	TimeoutMinutes float64  `json:"timeout_minutes,omitempty"`
	MaxRetries     int      `json:"max_retries"`
	OnStall        string   `json:"on_stall"`
	Mode           string   `json:"detection_mode,omitempty"`
	PlanHash       string   `json:"plan_hash"`
	Checks         []string `json:"checks"`
}

// HistoryEntry is one iteration in the state.
type HistoryEntry struct {
	Iteration    int            `json:"iteration"`
	QualityScore *float64       `json:"quality_score"`
	Class        detector.Class `json:"classification"`
	Rejected     bool           `json:"rejected,omitempty"`
	Interrupted  bool           `json:"interrupted,omitempty"`
	Snapshot     snapshot.ID    `json:"snapshot"`
}

// BestIteration names an iteration and why it was chosen.
type BestIteration struct {
	Iteration    int         `json:"iteration"`
	QualityScore float64     `json:"quality_score"`
	Snapshot     snapshot.ID `json:"snapshot"`
	SnapshotPath string      `json:"snapshot_path"`
	Reason       string      `json:"selection_reason,omitempty"`
}

// settle returns the state as it is: a loop that no process holds is not running any
// more, whatever was written last. One that waited for a person stays paused.
func (s State) settle(dir string) State {
	if s.Status != Running && s.Status != Completing && s.Status != Paused || s.Kind == KindRecorded {
		return s
	}
	free, err := IsUnlocked(dir)
	switch {
	case err != nil || !free:
	case s.Status == Paused:
		if s.StopReason == "" {
			s.StopReason, s.StopText = killed, "supervise was killed while it waited for an answer about iteration "+strconv.Itoa(s.Iteration)
		}
	default:
		s.Status, s.StopReason, s.Waiting = Crashed, killed, ""
		s.StopText = "supervise was killed in iteration " + strconv.Itoa(s.Iteration)
	}
	return s
}

// killed is the reason of a crash that no later run has noticed yet.
const killed = "killed"

// IsUnnoticedCrash reports whether the loop was killed and no later run knows of it.
func (s State) IsUnnoticedCrash() bool {
	return (s.Status == Crashed || s.Status == Paused) && s.StopReason == killed
}

// MarkCrashed writes that the loop in dir does not run any more, and which loop
// noticed it.
func MarkCrashed(dir string, s State, by string) error {
	s.StopReason = killed + ", noticed by " + by
	return WriteJSON(filepath.Join(dir, "state.json"), s)
}

// Save writes the state. What does not follow from the iterations goes into the
// log as well, before: state.json is a cache of the log.
func (l *Ledger) Save(s State) error {
	s.Version = Version
	if c := s.change(); c != l.state.change() {
		if err := l.Log(s.UpdatedAt, eventState, s.Iteration, 0, c); err != nil {
			return err
		}
	}
	l.state = s
	s = s.settled(completionReport(l.dir))
	l.log.calls.into(&s)
	s.History, s.Recoveries, s.Levels = latest(s.History), latest(s.Recoveries), latest(s.Levels)
	b, err := encoded(s, "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", stateName, err)
	}
	l.keep(stateName, b)
	return WriteFile(filepath.Join(l.dir, stateName), b)
}

// completionReport is the path of the report at the end of a loop, "" where there is none.
func completionReport(dir string) string {
	path := filepath.Join(dir, "reports", "completion-report.md")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// ResetIterations forgets the iterations of the state, which are about to be added anew.
func (s *State) ResetIterations() {
	s.History, s.Regressions, s.Recoveries, s.Levels, s.Blocked = []HistoryEntry{}, []Regression{}, nil, nil, nil
	s.Spending, s.Best, s.Extension = nil, nil, Extension{}
}

// keptHistory is of how many iterations, incidents and changes of the level, the
// latest ones, state.json has the history; progress/trajectory.json has it of all.
const keptHistory = 50

const stateName = "state.json"

// ReadState reads the state of the loop in dir; it is put together from the log
// where state.json is missing or damaged. The error wraps [ErrNoLoop] when there
// is none, [ErrVersion] if another version of supervise wrote it.
func ReadState(dir string) (State, error) {
	var s State
	err := readJSON(filepath.Join(dir, stateName), &s)
	if err != nil {
		if again, rebuildErr := rebuild(dir); rebuildErr == nil || errors.Is(rebuildErr, ErrVersion) {
			return again, rebuildErr
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s, fmt.Errorf("%w in %s", ErrNoLoop, dir)
	case err != nil:
		return s, err
	case s.Version != Version:
		return s, versionError("state of "+dir, s.Version)
	}
	return s, nil
}

// versionError is the error for a file of another version.
func versionError(what string, version int) error {
	return fmt.Errorf("read %s: %w (format %d, this one reads %d): use the supervise that wrote it, or start a new loop", what, ErrVersion, version, Version)
}

// SelectedOrBest returns the iteration that was selected, or the best one so far; nil for none.
func (s State) SelectedOrBest() *BestIteration { return cmp.Or(s.Selected, s.Best) }

// IsOver reports whether nothing more happens in a loop by itself.
func (s Status) IsOver() bool {
	switch s {
	case Completed, Failed, Aborted, Crashed:
		return true
	case Running, Paused, Completing:
	}
	return false
}
