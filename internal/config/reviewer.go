package config

import (
	"strings"

	"supervise/internal/agent"
	"supervise/internal/protect"
	"supervise/internal/review"
)

// options returns the options of the reviewer. The zero value means no reviewer.
func (r Reviewer) options(p protect.Settings) review.Options {
	if r.Agent == "" {
		return review.Options{}
	}
	p.Sandbox = false // the reviewer is another agent, which does not write
	return review.Options{Agent: r.Agent, Model: r.Model, Timeout: r.Timeout, Protect: p}
}

// conditions returns the conditions for the reviewer.
func (r Reviewer) conditions() []condition {
	_, known := review.Options{Agent: r.Agent}.Preset()
	return []condition{
		{r.Agent != "" && strings.TrimSpace(r.Agent) == "", "reviewer.agent", "reviewer.agent must be a known agent program or a command"},
		{r.Model != "" && !known, "reviewer.model", "reviewer.model goes with a known agent program in reviewer.agent: " + strings.Join(agent.Names(), ", ")},
		{r.Timeout < 0, "reviewer.timeout", "reviewer.timeout must not be negative"},
	}
}
