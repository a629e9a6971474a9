// Package event defines the events of a loop's log: their types, the data of each, and the
// reasons why a loop ends.
//
// A loop writes events through a [Journal]. Commands that read a log use the same types; a
// [Position] tracks where a loop was when its log ends.
package event

import (
	"time"

	"supervise/internal/ledger"
)

// Event is one event of a loop. Type determines the type of Data. The event is in the log of
// the loop before any listener gets it.
type Event struct {
	Type      Type      `json:"type"`
	Time      time.Time `json:"time"`
	LoopID    string    `json:"loop_id"`
	Iteration int       `json:"iteration"`
	Candidate int       `json:"candidate,omitempty"` // the candidate whose loop it is; 0 for the loop itself
	Data      any       `json:"data,omitempty"`
	Head      string    `json:"head,omitempty"` // head of the log after this event; only for loop_finished
}

// Type names what happened.
type Type string

// The events of a loop, in the order in which they occur.
const (
	LoopStarted          Type = "loop_started"
	LoopResumed          Type = "loop_resumed"
	CrashFound           Type = "crash_found"
	OrphansKilled        Type = "orphans_killed"
	LogDamaged           Type = "log_damaged"
	TreeChanged          Type = "tree_changed"
	SnapshotTaken        Type = "snapshot_taken"
	SnapshotsDropped     Type = "snapshots_dropped"
	StoreOverLimit       Type = "store_over_limit"
	RestoreIncomplete    Type = "restore_incomplete"
	SharedLost           Type = "shared_lost"
	SharedRefsRestored   Type = "shared_refs_restored"
	CheckStarted         Type = "check_started"
	CheckFinished        Type = "check_finished"
	TestsSealed          Type = "tests_sealed"
	BaselineMeasured     Type = "baseline_measured"
	IterationStarted     Type = "iteration_started"
	ChildStarting        Type = "child_starting"
	AgentSpawned         Type = "agent_spawned"
	AgentBlocked         Type = "agent_blocked"
	AgentFinished        Type = "agent_finished"
	AgentRetrying        Type = "agent_retrying"
	AgentWaiting         Type = "agent_waiting"
	IterationFinished    Type = "iteration_finished"
	RollbackStarted      Type = "rollback_started"
	IterationRejected    Type = "iteration_rejected"
	IterationInterrupted Type = "iteration_interrupted"
	AgentIdle            Type = "agent_idle" // only printed, not in the log
	MeasurementStale     Type = "measurement_stale"
	TreeAlarmed          Type = "tree_alarm"
	LevelChanged         Type = "reinforcement_changed"
	ApprovalRequested    Type = "approval_requested"
	AnswerRefused        Type = "approval_answer_refused"
	ApprovalAnswered     Type = "approval_answered"
	LoopStopping         Type = "loop_stopping"
	OutputSelected       Type = "output_selected"
	OutputVerified       Type = "output_verified"
	OutputReviewed       Type = "output_reviewed"
	SealedRestored       Type = "sealed_restored"
	LoopFinished         Type = "loop_finished"

	// The events of a loop of candidates.
	CandidateStarted   Type = "candidate_started"
	CandidateFinished  Type = "candidate_finished"
	CandidatesCompared Type = "candidates_compared"

	// The events of the agent's own hooks.
	HookCalled  Type = "hook_called"
	HooksSilent Type = "hooks_silent"
	HooksBroken Type = "hooks_not_installed"

	// The events of commands on a finished loop.
	SelectionChanged Type = "selection_changed"
	SelectionApplied Type = "selection_applied"

	// The events of a loop that another orchestrator runs.
	LoopRecorded      Type = "loop_recorded"
	IterationRecorded Type = "iteration_recorded"
	IterationReplaced Type = "iteration_replaced"
)

// timedSteps are the events at the end of a step of supervise itself. Their duration is the
// time since the previous event.
var timedSteps = map[Type]bool{
	SnapshotTaken: true, SnapshotsDropped: true, BaselineMeasured: true, LevelChanged: true, IterationStarted: true, IterationRejected: true,
	IterationInterrupted: true, LoopStopping: true, OutputSelected: true, OutputVerified: true, LoopFinished: true,
}

// durationOf returns the duration in the data of an event, 0 if the data has none.
func durationOf(data any) time.Duration {
	switch d := data.(type) {
	case Check:
		return time.Duration(d.DurationMS) * time.Millisecond
	case IterationEnd:
		return time.Duration(d.ElapsedMS) * time.Millisecond
	case ledger.AgentRun:
		return d.Duration
	case HookCall:
		return time.Duration(d.DurationMS * float64(time.Millisecond))
	}
	return 0
}
