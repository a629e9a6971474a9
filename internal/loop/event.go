package loop

import (
	"time"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/selector"
)

// EventType names what happened.
type EventType string

// The events of a loop, in the order in which they come.
const (
	LoopStarted       EventType = "loop_started"
	CrashFound        EventType = "crash_found"
	CheckStarted      EventType = "check_started"
	CheckFinished     EventType = "check_finished"
	BaselineMeasured  EventType = "baseline_measured"
	IterationStarted  EventType = "iteration_started"
	AgentFinished     EventType = "agent_finished"
	IterationFinished EventType = "iteration_finished"
	IterationRejected EventType = "iteration_rejected"
	IterationStopped  EventType = "iteration_interrupted"
	OutputSelected    EventType = "output_selected"
	OutputVerified    EventType = "output_verified"
	LoopFinished      EventType = "loop_finished"
)

// Event is one thing that happened in a loop. Data is one of the types below,
// by Type.
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
	Checks    []ledger.CheckRun `json:"checks"`
	It        ledger.Iteration  `json:"-"`
}

// AgentStart is the data of iteration_started.
type AgentStart struct {
	Max   int    `json:"max_iterations"`
	Level string `json:"reinforcement_level"`
	Why   string `json:"why"`
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

// Verification is the data of output_verified: whether the selected tree gave
// the same numbers when it was measured anew.
type Verification struct {
	Holds       bool     `json:"holds"`
	Differences []string `json:"differences"`
}

// Finished is the data of loop_finished.
type Finished struct {
	Reason   Reason `json:"reason"`
	Text     string `json:"text"`
	ExitCode int    `json:"exit_code"`
	Report   string `json:"report,omitempty"`
}

// event tells the caller and the audit log.
func (s *session) event(t EventType, iteration int, data any) {
	e := Event{Type: t, Time: s.opts.Now(), LoopID: s.id, Iteration: iteration, Data: data}
	s.opts.OnEvent(e)
	if err := s.ledger.Log(e.Time, string(t), iteration, took(data), data); err != nil {
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
