package hook

import (
	"encoding/json"
	"strings"
)

// FormatAnswer returns what a client expects to read from its hook, or nil for nothing. If the
// client does not support an answer, the closest stricter one is used: a question that cannot be
// asked becomes a denial.
func FormatAnswer(c Call, d Decision) []byte {
	var out any
	switch c.Event {
	case PreTool:
		out = preToolAnswer(c, d)
	case PostTool, SessionStart:
		out = contextAnswer(c, d)
	case Stop:
		out = stopAnswer(c, d)
	case OtherEvent:
	}
	if b, err := json.Marshal(out); out != nil && err == nil {
		return append(b, '\n')
	}
	return nil
}

// hookOutput is the member hookSpecificOutput of an answer.
type hookOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// claudeAnswer is the answer to Claude and to the clients that use its format.
type claudeAnswer struct {
	Specific *hookOutput `json:"hookSpecificOutput,omitempty"`
	Decision string      `json:"decision,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Message  string      `json:"systemMessage,omitempty"`
}

// pluginAnswer is the answer to the plugins of supervise for opencode and pi.
type pluginAnswer struct {
	Decision Verdict `json:"decision"`
	Reason   string  `json:"reason,omitempty"`
	Context  string  `json:"context,omitempty"`
}

// canAsk lists the clients whose hooks can ask a person.
var canAsk = map[Client]bool{Claude: true, Qwen: true}

// preToolAnswer returns the answer to a call that has not happened yet, or nil if the client
// decides.
func preToolAnswer(c Call, d Decision) any {
	verdict := d.Verdict
	if verdict == Ask && !(canAsk[c.Client] && c.Attended) {
		verdict = Deny
	}
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return pluginAnswer{verdict, d.Reason, d.Context}
	case verdict == Allow:
		return nil // the client decides as it would without supervise
	case verdict == Warn && (c.Client == Codex || c.Client == Gemini):
		return claudeAnswer{Message: d.Reason} // the agent reads it after the call
	case verdict == Warn:
		return claudeAnswer{Specific: &hookOutput{Event: c.clientEventName(), Context: d.Reason}}
	case c.Client == Gemini:
		return claudeAnswer{Decision: string(Deny), Reason: d.Reason}
	}
	return claudeAnswer{Specific: &hookOutput{Event: c.clientEventName(), Decision: string(verdict), Reason: d.Reason}}
}

// contextAnswer returns an answer with a message to the agent, or nil without a message.
func contextAnswer(c Call, d Decision) any {
	text := strings.TrimSpace(d.Context)
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return pluginAnswer{Allow, "", text}
	case text == "":
		return nil
	}
	return claudeAnswer{Specific: &hookOutput{Event: c.clientEventName(), Context: text}}
}

// stopAnswer returns an answer that makes the agent continue, or nil if it may stop.
func stopAnswer(c Call, d Decision) any {
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return pluginAnswer{d.Verdict, d.Reason, d.Context}
	case d.Verdict != Deny:
		return nil
	case c.Client == Gemini:
		return claudeAnswer{Decision: string(Deny), Reason: d.Reason}
	}
	return claudeAnswer{Decision: "block", Reason: d.Reason}
}

// clientEventName returns the client's name of the event. The client ignores answers with another
// name.
func (c Call) clientEventName() string {
	for _, name := range clientConfigs[c.Client].events {
		if eventNames[name] == c.Event {
			return name
		}
	}
	return c.Name
}
