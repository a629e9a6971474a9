package loop

import (
	"fmt"

	"supervise/internal/agent"
	"supervise/internal/event"
)

// The limits of what an agent may consume.
const (
	limitCost   overLimit = "cost"
	limitTokens overLimit = "tokens"
)

// over names the limit that a consumption reaches, "" for none.
func (o Settings) over(u agent.Usage) overLimit {
	if o.MaxCost > 0 && u.CostUSD != nil && *u.CostUSD >= o.MaxCost {
		return limitCost
	}
	if n := u.Tokens(); o.MaxTokens > 0 && n != nil && *n >= o.MaxTokens {
		return limitTokens
	}
	return ""
}

// consumed is what the agent consumed in the loop, with the earlier runs of the
// present iteration.
func (s *session) consumed(w *work) agent.Usage {
	var u agent.Usage
	if s.state.Spending != nil {
		u = s.state.Spending.Usage
	}
	if w != nil && w.it.Agent != nil && w.it.Agent.Usage != nil {
		u = u.Plus(*w.it.Agent.Usage)
	}
	return u
}

// spentCost is what the loop has cost up to the present iteration, in US dollars.
func (s *session) spentCost() float64 {
	if u := s.consumed(nil); u.CostUSD != nil {
		return *u.CostUSD
	}
	return 0
}

// spentOut is the stop of a loop that has consumed what it may.
func (s *session) spentOut(u agent.Usage) event.Stop {
	switch s.opts.over(u) {
	case limitCost:
		return event.Stop{Reason: event.CostLimit, Text: fmt.Sprintf("the limit of cost is reached: $%.4f of $%g", *u.CostUSD, s.opts.MaxCost)}
	case limitTokens:
		return event.Stop{Reason: event.TokenLimit, Text: fmt.Sprintf("the limit of tokens is reached: %d of %d", *u.Tokens(), s.opts.MaxTokens)}
	}
	return event.Stop{}
}
