package ledger

import (
	"encoding/json"
	"sync"
	"time"

	"supervise/detector"
)

// ToolCall is a tool call of an agent, reported by its hook.
type ToolCall struct {
	Timestamp time.Time  `json:"timestamp"`
	Iteration int        `json:"iteration"`
	Event     string     `json:"event"` // the agent's name of the hook event
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

// recentCalls are the latest tool calls in a log. Hooks add to the log while the loop runs.
type recentCalls struct {
	mu          sync.Mutex
	list, risky []ToolCall
}

// add adds the tool call of an event; other events are ignored.
func (c *recentCalls) add(e Event) {
	var call ToolCall
	if e.Name != eventHookCalled || json.Unmarshal(e.Data, &call) != nil {
		return
	}
	call.Timestamp, call.Iteration = e.Time, e.Iteration
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = keepLatest(append(c.list, call))
	if len(call.Risks) > 0 {
		c.risky = keepLatest(append(c.risky, call))
	}
}

// copyTo copies the calls into the state.
func (c *recentCalls) copyTo(s *State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.ToolCalls, s.Risky = append([]ToolCall{}, c.list...), append([]ToolCall{}, c.risky...)
}

func keepLatest[T any](list []T) []T { return list[max(0, len(list)-maxHistory):] }
