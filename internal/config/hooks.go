package config

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
