// Package hook judges one tool call of an agent before it happens, and the changed files after
// it. It reads the input that each agent program gives its hooks, and answers in the form that
// the program expects.
//
// It is pure: callers pass what it needs to know about the project as a [Tree]. The steps of one
// call are:
//
//  1. [ReadCall] (dialect.go) reads the input of the client into a [Call].
//  2. [Judge] (risk.go) collects the risks of the call and decides. For a
//     command line, shell.go, words.go, wrap.go and scriptfile.go find out
//     which programs would run, without running anything. program.go and
//     git.go judge these programs, target.go the files that they would
//     delete, move or write, and edit.go the edits of tools.
//  3. [FormatAnswer] (answer.go) writes the answer for the client.
//
// [JudgeAfter] (after.go) judges the files after a call. install.go, settings.go and json.go
// install the hooks in the configuration of the clients.
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

// The clients whose hooks supervise understands.
const (
	Claude   Client = "claude"
	Codex    Client = "codex"
	Gemini   Client = "gemini"
	Qwen     Client = "qwen"
	OpenCode Client = "opencode"
	Pi       Client = "pi"
)

// Clients returns all clients.
func Clients() []Client { return []Client{Claude, Codex, Gemini, Qwen, OpenCode, Pi} }

// ParseClient returns the client with the name, in upper or lower case. The error lists the names
// that are known.
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

// Event is when a client calls a hook, independent of the client's name for it.
type Event string

// The events at which hooks are called.
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
	// Name is the client's name for the event. An answer repeats it.
	Name    string `json:"name"`
	Session string `json:"session,omitempty"`
	Dir     string `json:"cwd,omitempty"` // the current folder of the agent, absolute
	// Attended reports whether a person may be there to answer.
	Attended bool `json:"attended,omitempty"`

	Tool    string        `json:"tool,omitempty"` // the client's name of the tool
	Kind    Kind          `json:"kind,omitempty"`
	Command string        `json:"command,omitempty"` // of a Shell: the command line
	Path    string        `json:"path,omitempty"`    // of a Write or Edit: the path as the agent wrote it
	Content string        `json:"content,omitempty"` // of a Write: the new text; of a Patch: the patch
	Edits   []Replacement `json:"edits,omitempty"`   // of an Edit: the changes, in order

	// StopActive reports whether the agent already continues because a Stop hook asked it to. It
	// is false for Qwen, which always sets it.
	StopActive bool `json:"stop_hook_active,omitempty"`
}

// Replacement is one change of an Edit: it replaces the first Old, or every Old, by New.
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
	Warn  Verdict = "warn" // the call happens, and the agent reads why it is risky
	Ask   Verdict = "ask"  // a person decides; without a person the call is denied
	Deny  Verdict = "deny"
)

// Risk is one finding about a call.
type Risk struct {
	Rule     string          `json:"rule"`
	Severity metric.Severity `json:"severity"`
	// Target is the file, folder or text that the finding is about.
	Target string `json:"target,omitempty"`
	// Why is the message to the agent, a sentence without a full stop.
	Why string `json:"why"`
	// Destroys reports whether the call can lose something, so that a checkpoint is needed.
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

// joinPath returns a path below dir, or the cleaned path itself if it is absolute.
func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
