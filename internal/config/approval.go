package config

import (
	"net/url"

	"supervise/internal/agentrun"
	"supervise/internal/approval"
)

// Notify says who is notified of events of a loop.
type Notify struct {
	// URL that receives a JSON [notification](approval.md#notifications) by POST, in the form that Slack shows: approvals, CRITICAL findings, the end
	Webhook string `yaml:"webhook" range:"https://… or http://…"`
	// shell command that receives the same on standard input
	Command string `yaml:"command"`
}

// Alarm says what happens when tests vanish while the agent works.
type Alarm struct {
	// what happens when tests vanish [while the agent works](recovery.md#alarm)
	Action string `yaml:"action" range:"off|warn|stop"`
}

// approvalConditions returns the conditions for approvals, alarms and notifications.
func (s Settings) approvalConditions() []condition {
	return []condition{
		{!approval.Policy(s.Approval).Valid(), "approval", "approval must be reject, abort or wait, not " + s.Approval},
		{!agentrun.AlarmAction(s.Alarm.Action).Valid(), "alarm.action", "alarm.action must be off, warn or stop, not " + s.Alarm.Action},
		{s.ApprovalTimeout < 0, "approval_timeout", "approval_timeout must not be negative"},
		{!isWebhook(s.Notify.Webhook), "notify.webhook", "notify.webhook must be an address that starts with https:// or http://"},
	}
}

// isWebhook reports whether a text is an HTTP address or empty.
func isWebhook(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	isHTTP := u.Scheme == "https" || u.Scheme == "http"
	return text == "" || isHTTP && u.Host != ""
}
