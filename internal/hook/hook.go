// Package hook judges one tool call of an agent before it happens, and the changed files
// after it. It reads the input that each agent program gives its hooks, and answers in the
// form that the program expects.
//
// It is pure: callers pass what it needs to know about the project as a [Tree].
package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/metric"
)

// Client is an agent program with hooks that supervise understands.
type Client string

// The clients.
const (
	Claude   Client = "claude"
	Codex    Client = "codex"
	Gemini   Client = "gemini"
	Qwen     Client = "qwen"
	OpenCode Client = "opencode"
	Pi       Client = "pi"
)

// Clients lists them.
func Clients() []Client { return []Client{Claude, Codex, Gemini, Qwen, OpenCode, Pi} }

// ParseClient returns the client with that name.
func ParseClient(name string) (Client, error) {
	if c := Client(strings.ToLower(name)); slices.Contains(Clients(), c) {
		return c, nil
	}
	names := make([]string, 0, len(Clients()))
	for _, c := range Clients() {
		names = append(names, string(c))
	}
	return "", fmt.Errorf("no hooks for %q; supported are %s", name, strings.Join(names, ", "))
}

// Event is when a hook is called, independent of the client.
type Event string

// The events.
const (
	SessionStart Event = "session_start"
	PreTool      Event = "pre_tool"
	PostTool     Event = "post_tool"
	Stop         Event = "stop"
	OtherEvent   Event = "other" // known to the client, ignored
)

// Kind is what a tool does.
type Kind string

// The kinds of tools. OtherTool only reads, or is unknown, and is not judged.
const (
	Shell     Kind = "shell"
	Write     Kind = "write"
	Edit      Kind = "edit"
	Patch     Kind = "patch"
	OtherTool Kind = "other"
)

// Call is a tool call, or another event, that an agent passed to a hook.
type Call struct {
	Client Client `json:"client"`
	Event  Event  `json:"event"`
	// Name is the client's name for the event: an answer repeats it.
	Name    string `json:"name"`
	Session string `json:"session,omitempty"`
	Dir     string `json:"cwd,omitempty"` // absolute
	// Attended reports whether a person may be there to answer.
	Attended bool `json:"attended,omitempty"`

	Tool    string        `json:"tool,omitempty"` // the client's name
	Kind    Kind          `json:"kind,omitempty"`
	Command string        `json:"command,omitempty"` // of a Shell
	Path    string        `json:"path,omitempty"`    // of a Write or Edit, as given
	Content string        `json:"content,omitempty"` // of a Write; the text of a Patch
	Edits   []Replacement `json:"edits,omitempty"`   // of an Edit, one after another

	// StopActive reports whether the client already continues because a Stop hook
	// asked it to. Qwen always sets it.
	StopActive bool `json:"stop_hook_active,omitempty"`
}

// Replacement is one change of an Edit.
type Replacement struct {
	Old string `json:"old"`
	New string `json:"new"`
	All bool   `json:"all,omitempty"`
}

// Verdict is the decision on a call.
type Verdict string

// The verdicts, from mild to strict.
const (
	Allow Verdict = "allow"
	Warn  Verdict = "warn" // it happens, and the agent reads why it is risky
	Ask   Verdict = "ask"  // a person decides; without one it is denied
	Deny  Verdict = "deny"
)

// Risk is one finding about a call.
type Risk struct {
	Rule     string          `json:"rule"`
	Severity metric.Severity `json:"severity"`
	// Target is the file, folder or text that it is about.
	Target string `json:"target,omitempty"`
	// Why is the message to the agent, a sentence without a full stop.
	Why string `json:"why"`
	// Destroys reports whether it can lose something: a checkpoint is needed.
	Destroys bool `json:"destroys,omitempty"`
}

// Decision is the answer to a call.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Reason is why a call is denied, a person is asked, the agent is warned, or the
	// agent must continue instead of stopping.
	Reason string `json:"reason,omitempty"`
	// Context is a further message to the agent.
	Context string `json:"context,omitempty"`
	Risks   []Risk `json:"risks,omitempty"`
	// Checkpoint reports whether to take a snapshot before the call happens.
	Checkpoint bool `json:"checkpoint,omitempty"`
}

// joinPath is a path below dir, unless it is absolute.
func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
