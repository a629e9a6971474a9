package config

import (
	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/hook"
)

// Hooks configure the use of the agent's own hooks.
type Hooks struct {
	// whether [the agent's own hooks](hooks.md) ask supervise before each tool call
	Use string `yaml:"use" range:"on|off"`
	// what happens to a call when its hook fails: it passes, or it is denied
	OnError string `yaml:"on_error" range:"open|closed"`
	// `measure`: an agent that wants to stop before the criterion is met must continue
	Stop string `yaml:"stop" range:"off|measure"`
}

// The values of [Hooks].
const (
	hooksOn      = "on"
	hooksOff     = "off"
	hooksOpen    = "open"
	hooksClosed  = "closed"
	hooksMeasure = "measure"
)

// hooks returns the hooks of a loop. They are installed for each run of a known agent that has
// hooks.
func (s Settings) hooks() agentrun.Hooks {
	out := agentrun.Hooks{Disabled: s.Hooks.Use == hooksOff, FailClosed: s.Hooks.FailClosed(), Stop: s.Hooks.Stop == hooksMeasure}
	preset, _ := agent.ByName(s.firstProgram().Name) // the zero preset has no hooks
	if c, err := hook.ParseClient(preset.Hooks); err == nil {
		out.Client = c
	}
	return out
}

// FailClosed reports whether a call is denied when its hook fails.
func (h Hooks) FailClosed() bool { return h.OnError == hooksClosed }

// Disabled reports whether hooks are not used.
func (h Hooks) Disabled() bool { return h.Use == hooksOff }

// conditions returns the conditions for the hooks.
func (h Hooks) conditions() []condition {
	return []condition{
		{h.Use != hooksOn && h.Use != hooksOff, "hooks.use", "hooks.use must be on or off, not " + h.Use},
		{h.OnError != hooksOpen && h.OnError != hooksClosed, "hooks.on_error", "hooks.on_error must be open or closed, not " + h.OnError},
		{h.Stop != hooksMeasure && h.Stop != hooksOff, "hooks.stop", "hooks.stop must be measure or off, not " + h.Stop},
	}
}
