package agentrun

import (
	"fmt"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/event"
)

// limitError is why a run is ended that has consumed what the loop may.
type limitError string

// The limits of what an agent may consume.
const (
	limitCost   limitError = "cost"
	limitTokens limitError = "tokens"
)

// Error returns the limit for people.
func (o limitError) Error() string { return "the limit of " + string(o) + " is reached" }

// reachedLimit names the limit that a consumption reaches, "" for none.
func (s Setup) reachedLimit(u agent.Usage) limitError {
	if s.MaxCost > 0 && u.CostUSD != nil && *u.CostUSD >= s.MaxCost {
		return limitCost
	}
	if n := u.Tokens(); s.MaxTokens > 0 && n != nil && *n >= s.MaxTokens {
		return limitTokens
	}
	return ""
}

// LimitStop is the stop of a loop that has consumed what it may.
func (s Setup) LimitStop(u agent.Usage) event.Stop {
	switch s.reachedLimit(u) {
	case limitCost:
		return event.Stop{Reason: event.CostLimit, Text: fmt.Sprintf("the limit of cost is reached: $%.4f of $%g", *u.CostUSD, s.MaxCost)}
	case limitTokens:
		return event.Stop{Reason: event.TokenLimit, Text: fmt.Sprintf("the limit of tokens is reached: %d of %d", *u.Tokens(), s.MaxTokens)}
	}
	return event.Stop{}
}

// windowError is why a run is ended whose service has given the share that the loop may use.
type windowError struct {
	agent.Window
	limit float64
}

// Error says how much of which window is used.
func (e windowError) Error() string {
	return fmt.Sprintf("%s is used, and limits.max_window is %g%%", e.Window, e.limit)
}

// outcomeOf is how a run ended that is ended for it: one that was done already was done.
func (e windowError) outcomeOf(p agent.Preset, r agent.Report) (o agent.Outcome, message string) {
	if r.Final {
		return r.Outcome(p, agent.Ending{}, true), r.Message
	}
	return agent.RateLimit, e.Error()
}

// WindowNote says which programs the share of a window cannot stop, since they do not tell
// it; "" where none is limited so, or all tell.
func (s Setup) WindowNote() string {
	if s.MaxWindow == 0 {
		return ""
	}
	var names []string
	for _, p := range s.Programs() {
		if preset, err := agent.ByName(p.Name); err == nil && !preset.ReportsWindows() {
			names = append(names, p.Name)
		}
	}
	if preset, _ := s.Preset(); s.Program.Name == "" && !preset.ReportsWindows() {
		names = []string{"the agent's command"}
	}
	if len(names) == 0 {
		return ""
	}
	return "limits.max_window has no effect on " + strings.Join(names, ", ") + ": nothing tells how much of a window is used; use --max-tokens or --max-time"
}

// fullWindow finds the window of which the loop may use no more.
func (a *Agent) fullWindow(r agent.Report) (e windowError, found bool) {
	w := r.Window(a.Now())
	if a.MaxWindow == 0 || w == nil || w.Used < a.MaxWindow {
		return windowError{}, false
	}
	return windowError{*w, a.MaxWindow}, true
}

// usedSoFar is what the agent consumed in the loop, with the earlier runs of the
// iteration.
func (r *run) usedSoFar() agent.Usage {
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
