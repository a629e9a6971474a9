package event

import (
	"time"

	"supervise/internal/hook"
	"supervise/runner"
)

// Child is the data of child_starting: the child that is about to start, and the shim that
// watches it.
type Child struct {
	Process string         `json:"process"` // agent, check, criterion, reviewer
	Shim    runner.Process `json:"shim"`
}

// The children of a loop.
const (
	ChildAgent     = "agent"
	ChildCheck     = "check"
	ChildCriterion = "criterion"
	ChildReviewer  = "reviewer"
)

// Spawned is the data of agent_spawned.
type Spawned struct {
	Shim   runner.Process `json:"shim"` // ends the agent's process tree
	Leader runner.Process `json:"leader"`
}

// Retrying is the data of agent_retrying: the running agent retries a request to its service.
type Retrying struct {
	Outcome string `json:"outcome"` // rate_limit, server_error or auth
	Attempt int    `json:"attempt"`
	DelayMS int64  `json:"delay_ms,omitempty"`
	Message string `json:"message,omitempty"`
}

// Waiting is the data of agent_waiting: the agent will run again when its service is
// available again.
type Waiting struct {
	Outcome   string    `json:"outcome"` // rate_limit or server_error
	Message   string    `json:"message,omitempty"`
	Until     time.Time `json:"until"`
	DelayMS   int64     `json:"delay_ms"`
	ByService bool      `json:"delay_from_service"` // the service named the delay
	Runs      int       `json:"runs"`               // of the agent in this iteration so far
	// Agent and Next are set if another program continues at once instead.
	Agent string `json:"agent,omitempty"`
	Next  string `json:"next_agent,omitempty"`
}

// HookCall is the data of hook_called: a tool call of the agent, and the decision about it.
type HookCall struct {
	Client     string       `json:"client"`
	Event      string       `json:"event"`
	Tool       string       `json:"tool,omitempty"`
	Target     string       `json:"target,omitempty"` // command or path, shortened
	Decision   hook.Verdict `json:"decision"`
	Reason     string       `json:"reason,omitempty"`
	Risks      []hook.Risk  `json:"risks,omitempty"`
	Checkpoint string       `json:"checkpoint,omitempty"` // name of the snapshot before it
	Problem    string       `json:"problem,omitempty"`
	DurationMS float64      `json:"duration_ms"`
}

// HookFailure is the data of hooks_silent and hooks_not_installed.
type HookFailure struct {
	Client string `json:"client"`
	Why    string `json:"why"`
}
