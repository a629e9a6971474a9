package hook

import (
	"encoding/json"
	"strings"
)

// FormatAnswer returns what a client expects to read from its hook, nil for nothing. If the client
// does not support an answer, the nearest one is used: a question that cannot be asked is a
// denial.
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
	if out == nil {
		return nil
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// hookOutput is hookSpecificOutput.
type hookOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

type claudeAnswer struct {
	Specific *hookOutput `json:"hookSpecificOutput,omitempty"`
	Decision string      `json:"decision,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Message  string      `json:"systemMessage,omitempty"`
}

// pluginAnswer is what our plugins for opencode and pi read.
type pluginAnswer struct {
	Decision Verdict `json:"decision"`
	Reason   string  `json:"reason,omitempty"`
	Context  string  `json:"context,omitempty"`
}

// canAsk lists the clients whose hooks can ask a person.
var canAsk = map[Client]bool{Claude: true, Qwen: true}

func preToolAnswer(c Call, d Decision) any {
	verdict := d.Verdict
	if verdict == Ask && !(canAsk[c.Client] && c.Attended) {
		verdict = Deny
	}
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return pluginAnswer{verdict, d.Reason, d.Context}
	case verdict == Allow:
		return nil // the client decides, as it would without us
	case verdict == Warn && (c.Client == Codex || c.Client == Gemini):
		return claudeAnswer{Message: d.Reason} // the agent reads it after the call
	case verdict == Warn:
		return claudeAnswer{Specific: &hookOutput{Event: c.clientEventName(), Context: d.Reason}}
	case c.Client == Gemini:
		return claudeAnswer{Decision: string(Deny), Reason: d.Reason}
	}
	return claudeAnswer{Specific: &hookOutput{Event: c.clientEventName(), Decision: string(verdict), Reason: d.Reason}}
}

// contextAnswer passes a message to the agent.
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

// stopAnswer lets the agent stop, or makes it continue.
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

// clientEventName is the name of the event for the client, which ignores answers under another
// name.
func (c Call) clientEventName() string {
	for _, name := range clientConfigs[c.Client].events {
		if eventNames[name] == c.Event {
			return name
		}
	}
	return c.Name
}
