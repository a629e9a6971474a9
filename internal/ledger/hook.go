package ledger

import (
	"encoding/json"
	"sync"
	"time"

	"supervise/detector"
)

// eventHookCalled is the event of a tool call that an agent's hook reported.
const eventHookCalled = "hook_called"

// hooks are the points of a loop at which things happen, by the events.
var hooks = map[string]string{
	eventCreated: "loop_start", "loop_started": "loop_start", "loop_resumed": "loop_start", "loop_recorded": "loop_start", "baseline_measured": "loop_start",
	"iteration_started": "pre_iteration", "iteration_finished": "post_iteration", "iteration_recorded": "post_iteration", "iteration_replaced": "post_iteration",
	"rollback_started": "regression_detected", "iteration_rejected": "regression_detected", "approval_requested": "regression_detected",
	"approval_answered": "regression_detected", "tree_alarm": "regression_detected",
	"agent_retrying": "on_error", "agent_waiting": "on_error", "iteration_interrupted": "on_error",
	"reinforcement_changed": "reinforcement_escalation",
	"loop_stopping":         "loop_complete", "output_selected": "loop_complete", "output_verified": "loop_complete", "output_reviewed": "loop_complete",
	"selection_changed": "loop_complete", "selection_applied": "loop_complete", "loop_finished": "loop_complete",
}

// HookName is the point of the loop at which an event happens, "" where it is none.
func HookName(event string, data json.RawMessage) string {
	if event != eventHookCalled {
		return hooks[event]
	}
	var c ToolCall
	if json.Unmarshal(data, &c) == nil && (c.Event == "PostToolUse" || c.Event == "AfterTool") {
		return "post_tool_call"
	}
	return "pre_tool_call"
}

// ToolCall is what an agent wanted to do, as its hook reported it.
type ToolCall struct {
	Timestamp time.Time  `json:"timestamp"`
	Iteration int        `json:"iteration"`
	Event     string     `json:"event"` // as the agent calls it
	Tool      string     `json:"tool,omitempty"`
	Target    string     `json:"target,omitempty"`
	Decision  string     `json:"decision"`
	Risks     []ToolRisk `json:"risks,omitempty"`
}

// ToolRisk is why a call is risky.
type ToolRisk struct {
	Rule     string            `json:"rule"`
	Severity detector.Severity `json:"severity"`
}

// calls are the latest calls in a log. Hooks report them while the loop works.
type calls struct {
	mu          sync.Mutex
	list, risky []ToolCall
}

// read takes in an event.
func (c *calls) read(e Event) {
	var call ToolCall
	if e.Name != eventHookCalled || json.Unmarshal(e.Data, &call) != nil {
		return
	}
	call.Timestamp, call.Iteration = e.Time, e.Iteration
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = latest(append(c.list, call))
	if len(call.Risks) > 0 {
		c.risky = latest(append(c.risky, call))
	}
}

// into sets what the state says of the calls.
func (c *calls) into(s *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.ToolCalls, s.Risky = append([]ToolCall{}, c.list...), append([]ToolCall{}, c.risky...)
}

func latest[T any](list []T) []T { return list[max(0, len(list)-keptHistory):] }

// Failure is an error in an iteration.
type Failure struct {
	Timestamp time.Time `json:"timestamp"`
	Iteration int       `json:"iteration"`
	Type      string    `json:"error_type"` // agent, build, reported
	Message   string    `json:"error_message"`
}

// CompletionCheck is whether the criterion held after an iteration.
type CompletionCheck struct {
	Timestamp time.Time `json:"timestamp"`
	Iteration int       `json:"iteration"`
	Met       bool      `json:"met"`
}

// Extension is the part of a state about errors, tool calls and detection.
type Extension struct {
	Detection  bool              `json:"detection_enabled"` // the loop goes on, and rules apply
	Recovering bool              `json:"recovery_in_progress"`
	Stuck      bool              `json:"stuck_loop_detected"`
	ErrorCount int               `json:"error_count"`
	LastError  *Failure          `json:"last_error"`
	Errors     []Failure         `json:"error_history"`
	Completion []CompletionCheck `json:"completion_checks"`
	Risky      []ToolCall        `json:"risky_actions"`
	ToolCalls  []ToolCall        `json:"tool_call_history"`
	ReportPath string            `json:"completion_report_path,omitempty"`
}

// add takes an iteration in.
func (x *Extension) add(it Iteration) {
	x.Stuck = x.Stuck || it.Assessment.Stuck != nil
	if kind, text := it.failure(); text != "" {
		x.ErrorCount++
		x.LastError = &Failure{it.EndedAt, it.Number, kind, text}
		x.Errors = append(x.Errors, *x.LastError)
	}
	if d := it.Decision; d != nil && d.Criterion != nil {
		x.Completion = append(x.Completion, CompletionCheck{it.EndedAt, it.Number, *d.Criterion})
	}
}

// failure is what went wrong in the iteration, with its kind.
func (it Iteration) failure() (kind, text string) {
	switch b := it.Set.Build; {
	case it.Recorded != nil && it.Recorded.Error != "":
		return "reported", it.Recorded.Error
	case it.Agent != nil && it.Agent.failed() != 0:
		return "agent", it.Agent.LastWords
	case b != nil && b.FirstError != "":
		return "build", b.FirstError
	}
	return "", ""
}

// settled sets what follows from the rest of the state. report is the path of the
// completion report, "" where there is none.
func (s State) settled(report string) State {
	over := s.Status.Over()
	s.Detection = !over && s.Config.Mode != string(detector.ModeOff)
	n := len(s.History)
	s.Recovering = !over && n > 0 && s.History[n-1].Rejected
	s.ReportPath = ""
	if over {
		s.ReportPath = report
	}
	s.Errors, s.Completion = append([]Failure{}, latest(s.Errors)...), append([]CompletionCheck{}, latest(s.Completion)...)
	return s
}
