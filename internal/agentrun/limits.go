package agentrun

import (
	"fmt"
	"strings"

	"supervise/internal/agent"
	"supervise/internal/event"
)

// limitError is the reason for stopping a run that has reached a limit.
type limitError string

// The limits of what an agent may consume.
const (
	limitCost   limitError = "cost"
	limitTokens limitError = "tokens"
)

// Error names the limit.
func (o limitError) Error() string { return "the limit of " + string(o) + " is reached" }

// reachedLimit returns the limit that a usage has reached, "" for none.
func (s Setup) reachedLimit(u agent.Usage) limitError {
	if s.MaxCost > 0 && u.CostUSD != nil && *u.CostUSD >= s.MaxCost {
		return limitCost
	}
	if n := u.Tokens(); s.MaxTokens > 0 && n != nil && *n >= s.MaxTokens {
		return limitTokens
	}
	return ""
}

// LimitStop returns the stop of a loop that has reached a limit; the zero value for none.
func (s Setup) LimitStop(u agent.Usage) event.Stop {
	switch s.reachedLimit(u) {
	case limitCost:
		return event.Stop{Reason: event.CostLimit, Text: fmt.Sprintf("the limit of cost is reached: $%.4f of $%g", *u.CostUSD, s.MaxCost)}
	case limitTokens:
		return event.Stop{Reason: event.TokenLimit, Text: fmt.Sprintf("the limit of tokens is reached: %d of %d", *u.Tokens(), s.MaxTokens)}
	}
	return event.Stop{}
}

// windowError is the reason for stopping a run that has used too much of a window. limit is in
// percent.
type windowError struct {
	agent.Window
	limit float64
}

// Error says how much of which window is used.
func (e windowError) Error() string {
	return fmt.Sprintf("%s is used, and limits.max_window is %g%%", e.Window, e.limit)
}

// outcomeOf returns the outcome of a run that was stopped for the window. A final event takes
// precedence.
func (e windowError) outcomeOf(p agent.Preset, r agent.Report) (o agent.Outcome, message string) {
	if r.Final {
		return r.Outcome(p, agent.Ending{}, true), r.Message
	}
	return agent.RateLimit, e.Error()
}

// WindowNote returns a note about programs that limits.max_window cannot stop, since they do
// not report windows; "" if there are none.
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

// fullWindow returns the window that has reached the limit of the loop, and false if there is
// none.
func (a *Agent) fullWindow(r agent.Report) (e windowError, found bool) {
	w := r.Window(a.Now())
	if a.MaxWindow == 0 || w == nil || w.Used < a.MaxWindow {
		return windowError{}, false
	}
	return windowError{*w, a.MaxWindow}, true
}

// usedSoFar returns the usage of the loop, including earlier attempts of the iteration.
func (r *run) usedSoFar() agent.Usage {
	if r.record == nil || r.record.Usage == nil {
		return r.task.Spent
	}
	return r.task.Spent.Plus(*r.record.Usage)
}
