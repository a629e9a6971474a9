package ledger

import (
	"encoding/json"
	"sync"
	"time"

	"supervise/detector"
)

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
