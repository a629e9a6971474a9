package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The events that the ledger itself writes. state.json can be rebuilt from them and from the
// iterations.
const (
	eventCreated = "loop_created"  // data is the first State
	eventState   = "state_changed" // data is a stateChange
)

// stateChange is the part of a state that does not follow from the iterations.
type stateChange struct {
	Status     Status `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	StopText   string `json:"stop_text,omitempty"`
	TreeText   string `json:"tree,omitempty"`
	ExitCode   int    `json:"exit_code"`
	PID        int    `json:"pid"`
	Criterion  string `json:"completion_criteria"`
	Workspace  string `json:"workspace,omitempty"`
	Selected   int    `json:"selected_iteration"` // -1: none
	Reason     string `json:"selection_reason,omitempty"`
	Iterations int    `json:"max_iterations"`
}

// persistentPart returns the part of the state that the log has to record.
func (s State) persistentPart() stateChange {
	c := stateChange{
		Status: s.Status, StopReason: s.StopReason, StopText: s.StopText, TreeText: s.TreeText, ExitCode: s.ExitCode, PID: s.PID,
		Criterion: s.Criterion, Workspace: s.Workspace, Selected: -1, Iterations: s.Config.MaxIterations,
	}
	if s.Selected != nil {
		c.Selected, c.Reason = s.Selected.Iteration, s.Selected.Reason
	}
	return c
}

// rebuildState rebuilds the state from the log and the iterations.
func rebuildState(dir string) (State, error) {
	var s State
	var change *stateChange
	var reviews []SelectionReview
	var proof *Proof
	var called recentCalls
	_, err := ReadLog(dir, func(e Event) {
		s.UpdatedAt = e.Time
		s.Iteration = max(s.Iteration, e.Iteration)
		if r := parseReview(e); r != nil {
			reviews = append(reviews, *r)
		}
		proof = cmp.Or(parseProof(e), proof)
		called.add(e)
		switch e.Name {
		case eventCreated:
			_ = json.Unmarshal(e.Data, &s) // checked below
		case eventState:
			var c stateChange
			if json.Unmarshal(e.Data, &c) == nil {
				change = &c
			}
		}
	})
	if err != nil {
		return s, err
	}
	if s.LoopID == "" {
		return s, fmt.Errorf("rebuild the state: %w", errNoFirstState)
	}
	if s.Version != Version {
		return s, versionError("log of "+dir, s.Version)
	}

	its, err := ReadIterations(dir)
	if err != nil {
		return s, err
	}

	s.ResetIterations()
	for _, it := range its {
		s.Add(it)
	}

	for _, r := range reviews {
		s.AddReview(r)
	}

	if change != nil {
		s.applyChange(*change, its, dir)
	}
	if s.Selected != nil && proof != nil && proof.Iteration == s.Selected.Iteration {
		s.Proof = proof
	}
	s = s.withDerived(completionReport(dir))
	called.copyTo(&s)
	return s, nil
}

// errNoFirstState means that the state cannot be rebuilt, since the log does not record its start.
var errNoFirstState = errors.New("the log has no event of the start of the loop")

// applyChange applies a recorded change to the state. its are the iterations, of which one may be
// selected, and dir is the folder of the loop.
func (s *State) applyChange(c stateChange, its []Iteration, dir string) {
	s.Status, s.StopReason, s.StopText, s.ExitCode = c.Status, c.StopReason, c.StopText, c.ExitCode
	s.TreeText, s.Workspace = c.TreeText, cmp.Or(c.Workspace, s.Workspace)
	s.PID, s.Criterion, s.Config.MaxIterations = c.PID, c.Criterion, c.Iterations
	i := slices.IndexFunc(its, func(it Iteration) bool { return it.Number == c.Selected })
	if i >= 0 {
		s.Selected = &BestIteration{
			Iteration: c.Selected, QualityScore: its[i].Score.Value, Snapshot: its[i].Snapshot,
			SnapshotPath: SnapshotDir(dir), Reason: c.Reason,
		}
	}
}

// Add adds an iteration and its consequences to the state.
func (s *State) Add(it Iteration) {
	if n := len(s.History); n > 0 && s.History[n-1].Iteration == it.Number {
		return // already added before a crash
	}

	s.Iteration = max(s.Iteration, it.Number)
	s.History = append(s.History, HistoryEntry{
		Iteration: it.Number, QualityScore: it.Quality(), Class: it.Assessment.Class,
		Rejected: it.Rejected, Interrupted: it.Interrupted, Snapshot: it.Snapshot,
	})
	if it.Number == 0 {
		s.BaselineMetrics, s.BaselineSnapshot = new(it.Set.Record()), it.Snapshot
		s.BaselineRuns = it.BaselineRuns
	}
	s.Spending = s.Spending.withIteration(it)
	s.addLevel(it)
	s.addRecovery(it)
	s.addBlocked(it)
	s.addIteration(it)
	if it.Level != "" {
		s.Level = it.Level
	}
	if it.Best != nil {
		s.Best = it.Best
	}
	if it.Regression != nil {
		s.Regressions = append(s.Regressions, *it.Regression)
	}
	if it.Decision != nil {
		s.RecoveryAttempts = it.Decision.Attempts
	}
}
