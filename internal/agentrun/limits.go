package agentrun

import (
	"fmt"

	"supervise/internal/agent"
	"supervise/internal/event"
)

// overLimit is why a run is ended that has consumed what the loop may.
type overLimit string

// The limits of what an agent may consume.
const (
	limitCost   overLimit = "cost"
	limitTokens overLimit = "tokens"
)

// Error returns the limit for people.
func (o overLimit) Error() string { return "the limit of " + string(o) + " is reached" }

// over names the limit that a consumption reaches, "" for none.
func (s Setup) over(u agent.Usage) overLimit {
	if s.MaxCost > 0 && u.CostUSD != nil && *u.CostUSD >= s.MaxCost {
		return limitCost
	}
	if n := u.Tokens(); s.MaxTokens > 0 && n != nil && *n >= s.MaxTokens {
		return limitTokens
	}
	return ""
}

// Exhausted is the stop of a loop that has consumed what it may.
func (s Setup) Exhausted(u agent.Usage) event.Stop {
	switch s.over(u) {
	case limitCost:
		return event.Stop{Reason: event.CostLimit, Text: fmt.Sprintf("the limit of cost is reached: $%.4f of $%g", *u.CostUSD, s.MaxCost)}
	case limitTokens:
		return event.Stop{Reason: event.TokenLimit, Text: fmt.Sprintf("the limit of tokens is reached: %d of %d", *u.Tokens(), s.MaxTokens)}
	}
	return event.Stop{}
}

// consumed is what the agent consumed in the loop, with the earlier runs of the
// iteration.
func (r *run) consumed() agent.Usage {
	if r.record == nil || r.record.Usage == nil {
		return r.task.Spent
	}
	return r.task.Spent.Plus(*r.record.Usage)
}

func costOf(u agent.Usage) float64 {
	if u.CostUSD == nil {
		return 0
	}
	return *u.CostUSD
}
