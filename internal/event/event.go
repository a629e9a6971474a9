// Package event is the vocabulary of a loop's log: the types of its events, the
// data of each, and the reasons for which a loop ends. The loop writes them; the
// verbs that read a log or print its events share these types with it.
package event

import (
	"time"

	"supervise/internal/ledger"
)

// Event is one thing that happened in a loop. Data is one of the
// types of this package, by Type. It is written to the loop's log before
// anybody is notified of it.
type Event struct {
	Type      Type      `json:"type"`
	Time      time.Time `json:"time"`
	LoopID    string    `json:"loop_id"`
	Iteration int       `json:"iteration"`
	Candidate int       `json:"candidate,omitempty"` // of several, whose loop it is; 0: of the loop itself
	Data      any       `json:"data,omitempty"`
	Head      string    `json:"head,omitempty"` // of the log, with this event; of loop_finished alone
}

// Type names what happened.
type Type string

// The events of a loop, in the order in which they come.
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
	AgentIdle            Type = "agent_idle" // printed, and not in the log: nothing follows from it
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
	LoopFinished         Type = "loop_finished"

	// The events of a loop of candidates.
	CandidateStarted   Type = "candidate_started"
	CandidateFinished  Type = "candidate_finished"
	CandidatesCompared Type = "candidates_compared"

	// The events of the agent's own hooks.
	HookCalled  Type = "hook_called"
	HooksSilent Type = "hooks_silent"
	HooksBroken Type = "hooks_not_installed"

	// What people do with a loop afterwards.
	SelectionChanged Type = "selection_changed"
	SelectionApplied Type = "selection_applied"

	// The events of a loop whose iterations somebody else runs.
	LoopRecorded      Type = "loop_recorded"
	IterationRecorded Type = "iteration_recorded"
	IterationReplaced Type = "iteration_replaced"
)

// ownSteps are the events at the end of a step of supervise's own, which took the time
// since the event before.
var ownSteps = map[Type]bool{
	SnapshotTaken: true, SnapshotsDropped: true, BaselineMeasured: true, LevelChanged: true, IterationStarted: true, IterationRejected: true,
	IterationInterrupted: true, LoopStopping: true, OutputSelected: true, OutputVerified: true, LoopFinished: true,
}

// durationOf is how long an event took by its data, 0 where that does not say.
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
