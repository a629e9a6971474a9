package main

import (
	"fmt"

	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/report"
)

// hooked keeps what the agent's hooks told, to be printed when the agent has left
// the terminal, and reports whether the event was one of those.
func (p *printer) hooked(e event.Event) bool {
	if e.Type == event.IterationStarted {
		p.calls = nil
	}
	d, ok := e.Data.(event.HookCall)
	if ok {
		p.calls = append(p.calls, d)
	}
	return ok
}

// hookCalls prints what was refused.
func (p *printer) hookCalls() {
	const most = 3
	refused := 0
	for _, c := range p.calls {
		if c.Decision != hook.Deny && c.Decision != hook.Ask || len(c.Risks) == 0 {
			continue
		}
		if refused++; refused <= most {
			p.warn(fmt.Sprintf("refused: %s %s: %s", c.Tool, oneLine(c.Target), c.Risks[0].Why))
		}
	}
	if refused > most {
		p.warn(fmt.Sprintf("refused: %s more", report.Count(refused-most, "call", "calls")))
	}
}

func oneLine(s string) string {
	const width = 60
	for i, r := range s {
		if r == '\n' || i >= width {
			return s[:i] + " …"
		}
	}
	return s
}

// silent says why hooks did not help.
func silent(t event.Type, d event.Silence) string {
	if t == event.HooksBroken {
		return fmt.Sprintf("hooks of %s are not installed: %s", orAgent(d.Client), d.Why)
	}
	return fmt.Sprintf("hooks did not fire: %s was started with hooks and called none of them; most likely: %s", d.Client, d.Why)
}

func orAgent(client string) string {
	if client == "" {
		return "the agent"
	}
	return client
}
