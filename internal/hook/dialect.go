package hook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"supervise/internal/regexp"
)

// eventNames maps the clients' names of events, and those of supervise, to events.
var eventNames = map[string]Event{
	"PreToolUse": PreTool, "BeforeTool": PreTool, "tool.execute.before": PreTool, "tool_call": PreTool,
	"PostToolUse": PostTool, "AfterTool": PostTool, "tool.execute.after": PostTool, "tool_result": PostTool,
	"Stop": Stop, "AfterAgent": Stop, "session.idle": Stop, "agent_end": Stop,
	"SessionStart": SessionStart, "session.created": SessionStart,
	string(PreTool): PreTool, string(PostTool): PostTool, string(Stop): Stop, string(SessionStart): SessionStart,
	"UserPromptSubmit": OtherEvent, "SessionEnd": OtherEvent, "SubagentStop": OtherEvent, "SubagentStart": OtherEvent,
	"Notification": OtherEvent, "PreCompact": OtherEvent, "PreCompress": OtherEvent, "PermissionRequest": OtherEvent,
	"BeforeAgent": OtherEvent, "BeforeModel": OtherEvent, "AfterModel": OtherEvent, "BeforeToolSelection": OtherEvent,
}

// ParseEvent returns the event with a name. An unknown name is an error, since a hook with a
// misspelled event would never be called.
func ParseEvent(name string) (Event, error) {
	if e, ok := eventNames[name]; ok {
		return e, nil
	}
	return "", fmt.Errorf("no hook event %q; known are PreToolUse, PostToolUse, Stop, SessionStart (gemini: BeforeTool, AfterTool, AfterAgent), or pre_tool, post_tool, stop, session_start", name)
}

// toolKinds maps the names of tools, in lower case, to their kinds.
var toolKinds = map[string]Kind{
	"bash": Shell, "shell": Shell, "run_shell_command": Shell, "local_shell": Shell, "exec_command": Shell, "unified_exec": Shell, "container.exec": Shell,
	"write": Write, "write_file": Write, "create_file": Write,
	"edit": Edit, "replace": Edit, "multiedit": Edit, "str_replace": Edit, "edit_file": Edit,
	"apply_patch": Patch, "patch": Patch,
	"read": OtherTool, "read_file": OtherTool, "glob": OtherTool, "grep": OtherTool, "ls": OtherTool, "task": OtherTool, "todowrite": OtherTool, "webfetch": OtherTool,
}

// hookInput is the input of a hook. It contains the names that all clients use; the others are
// empty.
type hookInput struct {
	Session     string          `json:"session_id"`
	SessionID   string          `json:"sessionID"`
	Cwd         string          `json:"cwd"`
	Permissions string          `json:"permission_mode"`
	ToolName    string          `json:"tool_name"`
	ToolInput   json.RawMessage `json:"tool_input"`
	StopActive  bool            `json:"stop_hook_active"`
}

// toolInput is the input of a tool. It contains the names that all clients use; the others are
// empty.
type toolInput struct {
	Command   commandText `json:"command"`
	Cmd       commandText `json:"cmd"`
	Script    string      `json:"script"`
	FilePath  string      `json:"file_path"`
	FilePath2 string      `json:"filePath"`
	Path      string      `json:"path"`
	Absolute  string      `json:"absolute_path"`
	Content   string      `json:"content"`
	OldString string      `json:"old_string"`
	NewString string      `json:"new_string"`
	OldText   string      `json:"oldText"`
	NewText   string      `json:"newText"`
	OldCamel  string      `json:"oldString"`
	NewCamel  string      `json:"newString"`
	All       bool        `json:"replace_all"`
	AllCamel  bool        `json:"replaceAll"`
	Expected  int         `json:"expected_replacements"`
	Patch     string      `json:"patch"`
	PatchText string      `json:"patchText"`
	Input     string      `json:"input"`
	Dir       string      `json:"directory"` // of gemini, below cwd
	Workdir   string      `json:"workdir"`
	Edits     []toolInput `json:"edits"`
}

// commandText is a command line, which a client passes as a text or as a list of arguments.
type commandText string

// UnmarshalJSON reads a text, or a list of arguments, which it quotes for the shell. Anything
// else is no command.
func (c *commandText) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = commandText(text)
		return nil
	}
	var list []string
	if json.Unmarshal(b, &list) == nil {
		for i, word := range list {
			list[i] = quoteWord(word)
		}
		*c = commandText(strings.Join(list, " "))
	}
	return nil
}

// quoteWord returns a word in single quotes if the shell would change it otherwise.
func quoteWord(word string) string {
	if word != "" && !quotedRE.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// quotedRE matches a character because of which a word needs quotes, as in "a b".
var quotedRE = regexp.MustCompile(`[^-_./=:,+@%0-9A-Za-z]`)

// ReadCall reads what a client passed to its hook. clientName and name, the event, are on the command
// line of the hook.
func ReadCall(clientName, name string, raw []byte) (Call, error) {
	client, err := ParseClient(clientName)
	if err != nil {
		return Call{}, err
	}
	event, err := ParseEvent(name)
	if err != nil {
		return Call{}, err
	}

	call := Call{Client: client, Event: event, Name: name}
	var m hookInput
	if err := json.Unmarshal(raw, &m); err != nil {
		return call, fmt.Errorf("read the input of the %s hook %s: %w", client, name, err)
	}
	call.Session, call.Dir = cmp.Or(m.Session, m.SessionID), m.Cwd
	call.Attended = m.Permissions != "" && !slices.Contains([]string{"bypassPermissions", "yolo", "dontAsk"}, m.Permissions)
	call.StopActive = m.StopActive && client != Qwen

	if event == PreTool || event == PostTool {
		return call, call.readTool(m)
	}
	return call, nil
}

// readTool reads the input of the tool. A tool with an unknown name and a command counts as a
// shell, since the tools of MCP servers may be one.
func (c *Call) readTool(m hookInput) error {
	c.Tool, c.Kind = m.ToolName, toolKinds[strings.ToLower(m.ToolName)]
	var in toolInput
	if len(m.ToolInput) > 0 {
		if err := json.Unmarshal(m.ToolInput, &in); err != nil && c.Kind != "" && c.Kind != OtherTool {
			return fmt.Errorf("read the input of the %s tool %s: %w", c.Client, c.Tool, err)
		}
	}

	c.Command = cmp.Or(string(in.Command), string(in.Cmd), in.Script)
	switch {
	case c.Kind == "" && c.Command != "":
		c.Kind = Shell
	case c.Kind == "":
		c.Kind = OtherTool
	}
	if dir := cmp.Or(in.Workdir, in.Dir); c.Kind == Shell && dir != "" {
		c.Dir = joinPath(c.Dir, dir)
	}

	c.Path = cmp.Or(in.FilePath, in.FilePath2, in.Path, in.Absolute)
	c.Content = in.Content
	if c.Kind == Patch {
		c.Content, c.Command = cmp.Or(in.PatchText, in.Patch, in.Input, c.Command), ""
	}
	if c.Kind == Edit {
		c.Edits = in.replacements()
	}
	return nil
}

// replacements returns the changes of an edit tool.
func (in toolInput) replacements() []Replacement {
	if len(in.Edits) == 0 {
		return []Replacement{{
			Old: cmp.Or(in.OldString, in.OldCamel, in.OldText), New: cmp.Or(in.NewString, in.NewCamel, in.NewText),
			All: in.All || in.AllCamel || in.Expected > 1,
		}}
	}
	var out []Replacement
	for _, e := range in.Edits {
		out = append(out, e.replacements()...)
	}
	return out
}
