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

// Kind says who runs the iterations of a loop. It is empty if supervise runs them.
type Kind string

// The kinds of loops.
const (
	// KindRecorded is a loop whose iterations another orchestrator runs and reports.
	KindRecorded Kind = "recorded"
	// KindWatched is a session of the user with an agent. An iteration ends when the agent
	// goes idle, and none is rolled back.
	KindWatched Kind = "watched"
	// KindCandidates is a loop whose iterations are candidates: the results of separate
	// loops that start from the same baseline, each in a separate tree.
	KindCandidates Kind = "candidates"
)

// State is the state of a loop, stored in state.json.
type State struct {
	Version    int           `json:"version"`
	LoopID     string        `json:"loop_id"`
	Kind       Kind          `json:"kind,omitempty"`
	Status     Status        `json:"status"`
	StopReason string        `json:"stop_reason,omitempty"` // why it ended: criterion_met, interrupted, …
	StopText   string        `json:"stop_text,omitempty"`   // the same for people
	TreeText   string        `json:"tree,omitempty"`        // the verified state of the tree at the end, for people
	ExitCode   int           `json:"exit_code"`             // of supervise
	Iteration  int           `json:"iteration"`             // the last one that was started
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
	Spending         *Spending          `json:"spending,omitempty"` // of the agent; nil if it reported none
	Review           *SelectionReview   `json:"review,omitempty"`   // of the selected tree; nil if there was no review
	Proof            *Proof             `json:"proof,omitempty"`    // of the selected tree; nil if it was not measured again
	Waiting          string             `json:"waiting,omitempty"`  // why, and until when, it waits for the service of the agent
	Recoveries       []Incident         `json:"recovery_history,omitempty"`
	Levels           []LevelChange      `json:"reinforcement_history,omitempty"`
	Blocked          []BlockedIteration `json:"blocked,omitempty"` // what agents reported as impossible
	Extension
}

// Configuration is the configuration that the loop was started with.
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

// BestIteration is a selected iteration and the reason.
type BestIteration struct {
	Iteration    int         `json:"iteration"`
	QualityScore float64     `json:"quality_score"`
	Snapshot     snapshot.ID `json:"snapshot"`
	SnapshotPath string      `json:"snapshot_path"`
	Reason       string      `json:"selection_reason,omitempty"`
}

// withActualStatus corrects the status of a loop that no process has locked: it is no longer
// running, although that was written last. A loop that waited for the user stays paused.
func (s State) withActualStatus(dir string) State {
	if s.Status != Running && s.Status != Completing && s.Status != Paused || s.Kind == KindRecorded {
		return s
	}
	free, err := IsUnlocked(dir)
	switch {
	case err != nil || !free:
	case s.Status == Paused:
		if s.StopReason == "" {
			s.StopReason, s.StopText = reasonKilled, "supervise was killed while it waited for an answer about iteration "+strconv.Itoa(s.Iteration)
		}
	default:
		s.Status, s.StopReason, s.Waiting = Crashed, reasonKilled, ""
		s.StopText = "supervise was killed in iteration " + strconv.Itoa(s.Iteration)
	}
	return s
}

// reasonKilled is the stop reason of a crash that no later run has noticed yet.
const reasonKilled = "killed"

// IsUnnoticedCrash reports whether the loop was killed and no later run has noticed it.
func (s State) IsUnnoticedCrash() bool {
	return (s.Status == Crashed || s.Status == Paused) && s.StopReason == reasonKilled
}

// MarkCrashed records that the loop in dir was killed, and which loop noticed it.
func MarkCrashed(dir string, s State, by string) error {
	s.StopReason = reasonKilled + ", noticed by " + by
	return WriteJSON(filepath.Join(dir, "state.json"), s)
}

// Save writes the state. Changes that cannot be rebuilt from the iterations are first written
// to the log: state.json is a cache of the log.
func (l *Ledger) Save(s State) error {
	s.Version = Version
	if c := s.persistentPart(); c != l.state.persistentPart() {
		if err := l.Log(s.UpdatedAt, eventState, s.Iteration, 0, c); err != nil {
			return err
		}
	}
	l.state = s
	s = s.withDerived(completionReport(l.dir))
	l.log.calls.copyTo(&s)
	s.History, s.Recoveries, s.Levels = keepLatest(s.History), keepLatest(s.Recoveries), keepLatest(s.Levels)
	b, err := encodeJSON(s, "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", stateName, err)
	}
	l.rememberWritten(stateName, b)
	return WriteFile(filepath.Join(l.dir, stateName), b)
}

// completionReport returns the path of the completion report of a loop, "" if there is none.
func completionReport(dir string) string {
	path := filepath.Join(dir, "reports", "completion-report.md")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// ResetIterations removes all iterations from the state, before they are added again.
func (s *State) ResetIterations() {
	s.History, s.Regressions, s.Recoveries, s.Levels, s.Blocked = []HistoryEntry{}, []Regression{}, nil, nil, nil
	s.Spending, s.Best, s.Extension = nil, nil, Extension{}
}

// maxHistory is how many of the latest iterations, incidents and level changes are kept in
// state.json; progress/trajectory.json has all iterations.
const maxHistory = 50

const stateName = "state.json"

// ReadState reads the state of the loop in dir. It is rebuilt from the log if state.json is
// missing or damaged. The error wraps [ErrNoLoop] if there is no loop, [ErrVersion] if
// another version of supervise wrote it.
func ReadState(dir string) (State, error) {
	var s State
	err := readJSON(filepath.Join(dir, stateName), &s)
	if err != nil {
		if again, rebuildErr := rebuildState(dir); rebuildErr == nil || errors.Is(rebuildErr, ErrVersion) {
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

// versionError returns the error for a file of another version.
func versionError(what string, version int) error {
	return fmt.Errorf("read %s: %w (format %d, this one reads %d): use the supervise that wrote it, or start a new loop", what, ErrVersion, version, Version)
}

// SelectedOrBest returns the selected iteration, or the best one so far; nil if there is none.
func (s State) SelectedOrBest() *BestIteration { return cmp.Or(s.Selected, s.Best) }

// IsOver reports whether the loop has ended.
func (s Status) IsOver() bool {
	switch s {
	case Completed, Failed, Aborted, Crashed:
		return true
	case Running, Paused, Completing:
	}
	return false
}
