package loop

import (
	"time"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/prompt"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// EventType names what happened.
type EventType string

// The events of a loop, in the order in which they come.
const (
	LoopStarted       EventType = "loop_started"
	LoopResumed       EventType = "loop_resumed"
	CrashFound        EventType = "crash_found"
	SurvivorsEnded    EventType = "survivors_ended"
	LogDamaged        EventType = "log_damaged"
	TreeChanged       EventType = "tree_changed"
	SnapshotTaken     EventType = "snapshot_taken"
	SnapshotsDropped  EventType = "snapshots_dropped"
	StoreOverLimit    EventType = "store_over_limit"
	RestoreIncomplete EventType = "restore_incomplete"
	SharedLost        EventType = "shared_lost"
	SharedPutBack     EventType = "shared_put_back"
	CheckStarted      EventType = "check_started"
	CheckFinished     EventType = "check_finished"
	BaselineMeasured  EventType = "baseline_measured"
	IterationStarted  EventType = "iteration_started"
	ChildStarting     EventType = "child_starting"
	AgentSpawned      EventType = "agent_spawned"
	AgentFinished     EventType = "agent_finished"
	AgentRetrying     EventType = "agent_retrying"
	AgentWaiting      EventType = "agent_waiting"
	IterationFinished EventType = "iteration_finished"
	RollbackStarted   EventType = "rollback_started"
	IterationRejected EventType = "iteration_rejected"
	IterationStopped  EventType = "iteration_interrupted"
	AgentRests        EventType = "agent_rests" // told, and not in the log: nothing follows from it
	MeasurementStale  EventType = "measurement_stale"
	TreeAlarmed       EventType = "tree_alarm"
	LevelChanged      EventType = "reinforcement_changed"
	GateOpened        EventType = "gate_opened"
	GateWasRefused    EventType = "gate_refused"
	GateAnswered      EventType = "gate_answered"
	LoopStopping      EventType = "loop_stopping"
	OutputSelected    EventType = "output_selected"
	OutputVerified    EventType = "output_verified"
	LoopFinished      EventType = "loop_finished"

	// What people do with a loop afterwards.
	SelectionChanged EventType = "selection_changed"
	SelectionApplied EventType = "selection_applied"

	// The events of a loop whose iterations somebody else runs.
	LoopRecorded      EventType = "loop_recorded"
	IterationRecorded EventType = "iteration_recorded"
	IterationReplaced EventType = "iteration_replaced"
)

// Event is one thing that happened in a loop. Data is one of the types below,
// by Type. It stands in the loop's log before anybody is told.
type Event struct {
	Type      EventType `json:"type"`
	Time      time.Time `json:"time"`
	LoopID    string    `json:"loop_id"`
	Iteration int       `json:"iteration"`
	Data      any       `json:"data,omitempty"`
}

// Started is the data of loop_started.
type Started struct {
	Dir           string       `json:"dir"`
	Plan          measure.Plan `json:"plan"`
	Agent         []string     `json:"agent"`
	MaxIterations int          `json:"max_iterations"`
	Settings      string       `json:"settings_sha256"` // of settings.json
}

// Resumed is the data of loop_resumed: the loop goes on after its supervisor
// ended.
type Resumed struct {
	Dir       string       `json:"dir"`
	Plan      measure.Plan `json:"plan"`
	Agent     []string     `json:"agent"`
	Iteration int          `json:"iteration"` // that it goes on with
	From      string       `json:"from"`      // what it does first
	Max       int          `json:"max_iterations"`

	History []ledger.Iteration `json:"-"`
}

// Survivors is the data of survivors_ended: what a dead supervisor had left
// running.
type Survivors struct {
	Names []string `json:"names"`
}

// Damage is the data of log_damaged.
type Damage struct {
	Problems []string `json:"problems"`
}

// TreeChange is the data of tree_changed: the tree was not what the loop had
// left, and is put back to Restored. What it was is kept.
type TreeChange struct {
	Kept     string `json:"kept_snapshot"`
	Restored string `json:"restored_snapshot"`
	Files    int    `json:"files"`
}

// Moment is when a snapshot is taken.
type Moment string

// The moments of an iteration at which snapshots are taken.
const (
	BeforeChecks Moment = "before_checks" // of the baseline
	AfterChecks  Moment = "after_checks"  // of the baseline
	BeforeAgent  Moment = "before_agent"
	AfterAgent   Moment = "after_agent"
	BeforeTool   Moment = "before_tool" // that the agent's hooks tell of, and that may destroy something
)

// Taken is the data of snapshot_taken.
type Taken struct {
	Moment    Moment      `json:"moment"`
	ID        snapshot.ID `json:"snapshot"`
	Tree      string      `json:"tree"`
	Files     int         `json:"files"`
	Artefacts []string    `json:"artefacts,omitempty"` // after_checks: files that the checks made
}

// SnapshotsGone is the data of snapshots_dropped: the store was over its limit,
// or the disk had too little room.
type SnapshotsGone struct {
	Snapshots []string `json:"snapshots"`
	Freed     int64    `json:"freed_bytes"`
	Bytes     int64    `json:"store_bytes"` // what is left
	Limit     int64    `json:"limit_bytes"`
}

// OverLimit is the data of store_over_limit: nothing is left that may be dropped.
// It is told once.
type OverLimit struct {
	Bytes     int64  `json:"store_bytes"`
	Limit     int64  `json:"limit_bytes"`
	Snapshots int    `json:"snapshots"`
	Why       string `json:"why"`
}

// Shortfall is the data of restore_incomplete: what was there, was not kept, and
// is gone; and what was in the way, is in no snapshot either, and was moved.
type Shortfall struct {
	Gone        []string `json:"gone"`
	Left        []string `json:"left,omitempty"` // new, in no snapshot, and so not deleted
	Displaced   []string `json:"displaced,omitempty"`
	DisplacedTo string   `json:"displaced_to,omitempty"`
}

// SharedRefs is the data of shared_lost and shared_put_back: branches, tags and
// entries of the stash that all worktrees of the repository share.
type SharedRefs struct {
	Names []string `json:"names"`
}

// Child is the data of child_starting: what is to run next, and the process that
// watches over it.
type Child struct {
	What string         `json:"what"` // agent, check, criterion
	Shim runner.Process `json:"shim"`
}

// The children of a loop.
const (
	childAgent     = "agent"
	childCheck     = "check"
	childCriterion = "criterion"
)

// Spawned is the data of agent_spawned.
type Spawned struct {
	Shim   runner.Process `json:"shim"` // which ends the agent's tree
	Leader runner.Process `json:"leader"`
}

// Retrying is the data of agent_retrying: the agent itself tries again to reach
// its service.
type Retrying struct {
	Outcome string `json:"outcome"` // rate_limit, server_error or auth
	Attempt int    `json:"attempt"`
	DelayMS int64  `json:"delay_ms,omitempty"`
	Message string `json:"message,omitempty"`
}

// Waiting is the data of agent_waiting: the agent is run again when its service
// may be asked again.
type Waiting struct {
	Outcome string    `json:"outcome"` // rate_limit or server_error
	Message string    `json:"message,omitempty"`
	Until   time.Time `json:"until"`
	DelayMS int64     `json:"delay_ms"`
	Told    bool      `json:"told"` // the service itself said how long
	Runs    int       `json:"runs"` // of the agent in this iteration so far
}

// RollingBack is the data of rollback_started.
type RollingBack struct {
	From snapshot.ID `json:"from_snapshot"`
	To   snapshot.ID `json:"to_snapshot"`
}

// Crash is the data of crash_found: an earlier loop of this tree was killed.
type Crash struct {
	LoopID    string `json:"loop_id"`
	Iteration int    `json:"iteration"`
	Restored  bool   `json:"restored"` // it was killed while it put the tree back, which is done now
}

// Interruption is the data of iteration_interrupted.
type Interruption struct {
	Kept    string           `json:"kept_snapshot"`
	Changed int              `json:"changed_files"`
	It      ledger.Iteration `json:"-"`
}

// Check is the data of check_started and check_finished.
type Check struct {
	Name       string `json:"name"`
	Command    string `json:"command"`
	Done       bool   `json:"done"`
	ExitCode   int    `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"`
	Why        string `json:"why,omitempty"` // why it counts as not measured
}

// Baseline is the data of baseline_measured.
type Baseline struct {
	Progress  ledger.Progress   `json:"metrics"`
	Criterion string            `json:"criterion"`
	Files     int               `json:"files"`           // in the snapshot
	Skipped   []string          `json:"skipped"`         // not in the snapshot, and why
	Artefacts []string          `json:"artefacts"`       // files that the checks themselves make
	Wobble    float64           `json:"coverage_wobble"` // points
	Flaky     []string          `json:"flaky"`           // tests with two outcomes
	Idle      []string          `json:"settings_without_effect"`
	Checks    []ledger.CheckRun `json:"checks"`
	It        ledger.Iteration  `json:"-"`
}

// LevelChange is the data of reinforcement_changed.
type LevelChange struct {
	From string `json:"from_level"` // "" before the first iteration
	To   string `json:"to_level"`
	Why  string `json:"reason"`
}

// AgentStart is the data of iteration_started.
type AgentStart struct {
	Max   int    `json:"max_iterations"`
	Level string `json:"reinforcement_level"`
	Why   string `json:"why"`
	// Points are what was said beside the task.
	Points []prompt.Point `json:"points"`
}

// Finish is the data of iteration_finished.
type Finish struct {
	Progress  ledger.Progress  `json:"metrics"`
	Rejected  bool             `json:"rejected"`
	Verified  bool             `json:"verified"`
	Changed   int              `json:"changed_files"`
	ElapsedMS int64            `json:"elapsed_ms"`
	Next      string           `json:"next"` // continue, retry, stop, escalate
	Reason    string           `json:"reason"`
	It        ledger.Iteration `json:"-"`
}

// Rejected is the data of iteration_rejected.
type Rejected struct {
	Reasons  []string `json:"reasons"`
	Tests    []string `json:"tests"`
	Kept     string   `json:"kept_snapshot"` // where the rejected tree can be found
	Restored int      `json:"restored_iteration"`
	Retry    int      `json:"retry"`
	Max      int      `json:"max_retries"`
	Cause    string   `json:"diagnosis"`
}

// Selected is the data of output_selected.
type Selected struct {
	Choice  selector.Choice `json:"choice"`
	Applied bool            `json:"applied"`
}

// Reselected is the data of selection_changed: somebody chose anew.
type Reselected struct {
	Choice selector.Choice `json:"choice"`
	Before *int            `json:"selected_before"` // nil when nothing was
	By     string          `json:"by"`              // user name
}

// Applied is the data of selection_applied: the tree of the selection was put
// back by hand.
type Applied struct {
	Snapshot string `json:"snapshot"`
	Kept     string `json:"kept_snapshot"` // the tree as it was
	By       string `json:"by"`
}

// Verification is the data of output_verified: whether the selected tree gave
// the same numbers when it was measured anew.
type Verification struct {
	Holds       bool     `json:"holds"`
	Differences []string `json:"differences"`
	// HoldOut is nil where the loop found nothing of the tests; Broken are the tests
	// that passed before the loop and fail as they were then.
	HoldOut *ledger.HoldOut `json:"hold_out,omitempty"`
	Broken  []string        `json:"broken,omitempty"`
	// Hidden is nil where the loop has no hidden tests.
	Hidden *ledger.Hidden `json:"hidden_tests,omitempty"`
}

// Finished is the data of loop_finished.
type Finished struct {
	Reason   Reason `json:"reason"`
	Text     string `json:"text"`
	ExitCode int    `json:"exit_code"`
	Report   string `json:"report,omitempty"`
	// Spending is nil where the agent told nothing of it.
	Spending *ledger.Spending `json:"spending,omitempty"`
}

// event writes the log and tells the caller. What the log does not have, nobody
// is told. Checks that run at the same time may have events at the same time.
func (s *session) event(t EventType, iteration int, data any) error {
	return s.tell(s.ledger.Log, t, iteration, data)
}

func (s *session) tell(log func(time.Time, string, int, time.Duration, any) error, t EventType, iteration int, data any) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	e := Event{Type: t, Time: s.opts.Now(), LoopID: s.id, Iteration: iteration, Data: data}
	if err := log(e.Time, string(t), iteration, took(data), data); err != nil {
		return err
	}
	s.opts.OnEvent(e)
	s.notify(e)
	return nil
}

// starting writes down what is about to be started, so that nothing of it can
// get lost when this process dies with its watchers.
func (s *session) starting(what string) func(runner.Process) error {
	return func(shim runner.Process) error { return s.event(ChildStarting, s.state.Iteration, Child{what, shim}) }
}

// note is an event that nothing depends on.
func (s *session) note(t EventType, iteration int, data any) {
	s.logged(s.event(t, iteration, data))
}

func (s *session) logged(err error) {
	if err != nil {
		s.opts.Log.WithError(err).Error("write the audit log")
	}
}

func took(data any) time.Duration {
	switch d := data.(type) {
	case Check:
		return time.Duration(d.DurationMS) * time.Millisecond
	case Finish:
		return time.Duration(d.ElapsedMS) * time.Millisecond
	case ledger.AgentRun:
		return d.Duration
	}
	return 0
}
