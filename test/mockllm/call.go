package mockllm

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// call is a call of a tool of the client.
type call struct {
	id, name, kind string
	args           any // an object; a text for tools of kind "custom"
}

func (c call) arguments() string {
	data, _ := json.Marshal(c.args) // of texts and lists of texts: it cannot fail
	return string(data)
}

// The names that clients give to the same tool, the best first.
var (
	shellNames = []string{"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "run_commands", "execute_command", "local_shell"}
	writeNames = []string{"Write", "write", "write_file", "write_to_file", "create_file"}
	editNames  = []string{"Edit", "edit", "replace", "replace_in_file", "str_replace"}
)

func (c conversation) offered(names []string) (string, bool) {
	for _, n := range names {
		if _, ok := c.tools[n]; ok {
			return n, true
		}
	}
	return "", false
}

// calls turns the actions of a step into calls of the tools that the client has, and
// into text where it has none. Ids differ by the prefix.
func (c conversation) calls(st Step, prefix string) (calls []call, text string) {
	text = st.Text
	for _, a := range st.Do {
		if c.editsInText() && len(c.tools) == 0 {
			text += a.blocks()
			continue
		}
		calls = append(calls, c.call(a)...)
	}
	for i := range calls {
		calls[i].id = fmt.Sprintf("%s_%d", prefix, i)
	}
	return calls, text
}

func (c conversation) call(a Action) []call {
	if a.Raw != nil {
		var args any
		_ = json.Unmarshal(a.Raw.Args, &args) // what is no JSON is the script's wish as well
		return []call{{name: a.Raw.Name, kind: c.tools[a.Raw.Name].kind, args: args}}
	}
	_, shell := c.offered(shellNames)
	if a.Sh != "" && shell || a.Write == nil && len(a.Edits) == 0 {
		return []call{c.shell(a.Sh)}
	}
	var out []call
	for _, e := range a.Edits {
		out = append(out, c.edit(e))
	}
	if a.Write != nil {
		out = append(out, c.write(*a.Write))
	}
	return out
}

// shell calls the tool that runs a command. Without one the client is asked for
// "bash" all the same: its answer belongs to what is tried.
func (c conversation) shell(command string) call {
	name, ok := c.offered(shellNames)
	if !ok {
		name = "bash"
	}
	t := c.tools[name]
	out := call{name: name, kind: t.kind}
	args := map[string]any{}
	switch {
	case t.kind == "local_shell":
		args = map[string]any{"type": "exec", "command": []string{"bash", "-lc", command}, "env": map[string]any{}}
	case name == "exec_command":
		args["cmd"] = command
	case name == "shell":
		args["command"] = []string{"bash", "-lc", command}
	case t.params["commands"]:
		args["commands"] = []string{command}
	default:
		args["command"] = command
	}
	for name, value := range map[string]any{"description": "run a command", "requires_approval": false, "is_background": false} {
		if t.params[name] {
			args[name] = value
		}
	}
	out.args = args
	return out
}

func (c conversation) write(f File) call {
	name, ok := c.offered(writeNames)
	if !ok {
		return c.shell("cat > '" + f.Path + "' <<'MOCK_END'\n" + strings.TrimSuffix(f.Content, "\n") + "\nMOCK_END")
	}
	t := c.tools[name]
	return call{name: name, kind: t.kind, args: map[string]any{"content": f.Content, pathName(t): c.absolute(f.Path)}}
}

func (c conversation) edit(e Edit) call {
	if c.tools["apply_patch"].kind == "custom" {
		return call{name: "apply_patch", kind: "custom", args: e.patch()}
	}
	name, ok := c.offered(editNames)
	if !ok {
		return c.shell("apply_patch <<'MOCK_END'\n" + e.patch() + "MOCK_END")
	}
	t := c.tools[name]
	args := map[string]any{pathName(t): c.absolute(e.Path)}
	switch {
	case t.params["oldString"]:
		args["oldString"], args["newString"] = e.Old, e.New
	case t.params["edits"]:
		args["edits"] = []any{map[string]any{"oldText": e.Old, "newText": e.New}}
	case t.params["oldText"]:
		args["oldText"], args["newText"] = e.Old, e.New
	default:
		args["old_string"], args["new_string"] = e.Old, e.New
	}
	if t.params["instruction"] {
		args["instruction"] = "make this edit"
	}
	return call{name: name, kind: t.kind, args: args}
}

func (c conversation) absolute(path string) string {
	if c.dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.dir, path)
}

// pathName is how a tool calls the file that it writes.
func pathName(t tool) string {
	for _, name := range []string{"file_path", "filePath", "filepath", "path"} {
		if t.params[name] {
			return name
		}
	}
	return "file_path"
}

// patch writes the edit as codex reads it.
func (e Edit) patch() string {
	return "*** Begin Patch\n*** Update File: " + e.Path + "\n@@\n" + prefixed("-", e.Old) + prefixed("+", e.New) + "*** End Patch\n"
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix) + "\n"
}

// blocks writes the action as aider reads it. A command becomes a suggestion, which
// it asks the user about.
func (a Action) blocks() string {
	var b strings.Builder
	edits := a.Edits
	if a.Write != nil {
		edits = append(edits[:len(edits):len(edits)], Edit{Path: a.Write.Path, New: a.Write.Content})
	}
	for _, e := range edits {
		fmt.Fprintf(&b, "\n\n%s\n```\n<<<<<<< SEARCH\n%s=======\n%s>>>>>>> REPLACE\n```\n", e.Path, lines(e.Old), lines(e.New))
	}
	if len(edits) == 0 && a.Sh != "" {
		fmt.Fprintf(&b, "\n\n```bash\n%s```\n", lines(a.Sh))
	}
	return b.String()
}

// lines ends a text that is not empty with a line feed.
func lines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
