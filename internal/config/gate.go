package config

import (
	"net/url"

	"supervise/internal/agentrun"
	"supervise/internal/approval"
	"supervise/internal/loop"
	"supervise/internal/notify"
)

// Notify is who is told of what happens in a loop.
type Notify struct {
	// an address that gets JSON by POST, with the text that Slack shows, [when somebody should know](approval.md#notifications): questions, CRITICAL findings, the end
	Webhook string `yaml:"webhook" range:"https://… or http://…"`
	// for the shell; gets the same on its standard input
	Command string `yaml:"command"`
}

// Watch is what is done when tests vanish while the agent works.
type Watch struct {
	// what follows when tests vanish [while the agent works](recovery.md#alarm)
	Action string `yaml:"action" range:"off|warn|stop"`
}

// gateConditions are what the settings of the gate must not be.
func (s Settings) gateConditions() []condition {
	return []condition{
		{!approval.Policy(s.Gate).Valid(), "gate", "gate must be reject, abort or wait, not " + s.Gate},
		{!agentrun.AlarmAction(s.Watch.Action).Valid(), "watch.action", "watch.action must be off, warn or stop, not " + s.Watch.Action},
		{s.GateTimeout < 0, "gate_timeout", "gate_timeout must not be negative"},
		{!webhook(s.Notify.Webhook), "notify.webhook", "notify.webhook must be an address that begins with https:// or http://"},
	}
}

func webhook(text string) bool {
	u, err := url.Parse(text)
	return text == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// asking is how people are asked and told.
func (s Settings) asking() (loop.Gate, notify.Settings) {
	g := loop.Gate{Policy: approval.Policy(s.Gate), Unattended: s.Unattended, Timeout: s.GateTimeout}
	return g, notify.Settings{Webhook: s.Notify.Webhook, Command: s.Notify.Command}
}
