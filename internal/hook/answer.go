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
		out = preTool(c, d)
	case PostTool, SessionStart:
		out = contextAnswer(c, d)
	case Stop:
		out = stopped(c, d)
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

// specific is hookSpecificOutput.
type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

type claudeAnswer struct {
	Specific *specific `json:"hookSpecificOutput,omitempty"`
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"systemMessage,omitempty"`
}

// ourAnswer is what our plugins for opencode and pi read.
type ourAnswer struct {
	Decision Verdict `json:"decision"`
	Reason   string  `json:"reason,omitempty"`
	Context  string  `json:"context,omitempty"`
}

// asks lists the clients whose hooks can ask a person.
var asks = map[Client]bool{Claude: true, Qwen: true}

func preTool(c Call, d Decision) any {
	verdict := d.Verdict
	if verdict == Ask && !(asks[c.Client] && c.Attended) {
		verdict = Deny
	}
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return ourAnswer{verdict, d.Reason, d.Context}
	case verdict == Allow:
		return nil // the client decides, as it would without us
	case verdict == Warn && (c.Client == Codex || c.Client == Gemini):
		return claudeAnswer{Message: d.Reason} // the agent reads it after the call
	case verdict == Warn:
		return claudeAnswer{Specific: &specific{Event: c.clientName(), Context: d.Reason}}
	case c.Client == Gemini:
		return claudeAnswer{Decision: string(Deny), Reason: d.Reason}
	}
	return claudeAnswer{Specific: &specific{Event: c.clientName(), Decision: string(verdict), Reason: d.Reason}}
}

// contextAnswer passes a message to the agent.
func contextAnswer(c Call, d Decision) any {
	text := strings.TrimSpace(d.Context)
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return ourAnswer{Allow, "", text}
	case text == "":
		return nil
	}
	return claudeAnswer{Specific: &specific{Event: c.clientName(), Context: text}}
}

// stopped lets the agent stop, or makes it continue.
func stopped(c Call, d Decision) any {
	switch {
	case c.Client == OpenCode || c.Client == Pi:
		return ourAnswer{d.Verdict, d.Reason, d.Context}
	case d.Verdict != Deny:
		return nil
	case c.Client == Gemini:
		return claudeAnswer{Decision: string(Deny), Reason: d.Reason}
	}
	return claudeAnswer{Decision: "block", Reason: d.Reason}
}

// clientName is the name of the event for the client, which ignores answers under another
// name.
func (c Call) clientName() string {
	for _, name := range installers[c.Client].events {
		if eventNames[name] == c.Event {
			return name
		}
	}
	return c.Name
}
