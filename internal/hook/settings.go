package hook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"supervise/internal/regexp"
)

// Settings is a file of a client's own configuration that can hold hooks.
type Settings struct {
	Path string // absolute
	// Plugin is a file beside it that is ours alone; "" for none.
	Plugin string
	// Note is what the user has to know.
	Note string
}

// settingsPlace is where a client has its configuration: below the project, and
// below the home of the user.
type settingsPlace struct{ project, user, plugin, note string }

var settingsPlaces = map[Client]settingsPlace{
	Claude:   {".claude/settings.json", ".claude/settings.json", "", ""},
	Codex:    {".codex/hooks.json", ".codex/hooks.json", "", "codex runs hooks only once you have trusted them: type /hooks in it, or start it with --dangerously-bypass-hook-trust"},
	Gemini:   {".gemini/settings.json", ".gemini/settings.json", "", "gemini reads the settings of a project only in a folder that you trust"},
	Qwen:     {".qwen/settings.json", ".qwen/settings.json", "", ""},
	OpenCode: {"opencode.json", ".config/opencode/opencode.json", "supervise-hook.js", "opencode fetches @opencode-ai/plugin from the network when it first loads a plugin"},
	Pi:       {"", "", "supervise-hook.ts", ""},
}

// piFolders are where pi looks for extensions, below the project and the home.
var piFolders = [2]string{".pi/extensions", ".pi/agent/extensions"}

// SettingsOf returns where a client has its hooks: of a project, or of the user
// where home is given.
func SettingsOf(c Client, project, home string) (Settings, error) {
	p, ok := settingsPlaces[c]
	if !ok {
		return Settings{}, fmt.Errorf("there is no way to install hooks for %q", c)
	}
	base, name, folder := project, p.project, piFolders[0]
	if home != "" {
		base, name, folder = home, p.user, piFolders[1]
	}
	s := Settings{Note: p.note}
	switch {
	case c == Pi:
		s.Plugin = filepath.Join(base, filepath.FromSlash(folder), p.plugin)
		return s, nil
	case c == OpenCode && home == "":
		s.Plugin = filepath.Join(base, ".opencode", p.plugin)
	case p.plugin != "":
		s.Plugin = filepath.Join(base, filepath.FromSlash(filepath.Dir(name)), p.plugin)
	}
	s.Path = filepath.Join(base, filepath.FromSlash(name))
	return s, nil
}

// PluginText is the file that is ours alone, nil for clients without one.
func PluginText(r Request) []byte {
	switch r.Client {
	case OpenCode:
		return plugin(opencodePlugin, r)
	case Pi:
		return plugin(piExtension, r)
	case Claude, Codex, Gemini, Qwen:
	}
	return nil
}

// Merge adds our hooks to the text of a client's settings and keeps everything else.
// Hooks of ours that are in it are replaced, so that doing it twice changes nothing.
func (s Settings) Merge(text []byte, r Request) ([]byte, error) {
	if r.Client != OpenCode {
		return merge(text, r)
	}
	o, err := parseObject(text)
	if err != nil {
		return nil, notJSON(err)
	}
	o.appendTo("plugin", "file://"+s.Plugin)
	return o.indented(), nil
}

// geminiFlags are the settings without which gemini calls no hook.
var geminiFlags = [][2]string{{"hooksConfig", "enabled"}, {"tools", "enableHooks"}}

func notJSON(err error) error {
	return fmt.Errorf("it is no plain JSON (%w): comments have to go, or add the hooks by hand as docs/hooks.md shows", err)
}

// merge is Merge for the clients whose settings list commands.
func merge(text []byte, r Request) ([]byte, error) {
	o, err := parseObject(text)
	if err != nil {
		return nil, notJSON(err)
	}
	dropOurs(o, r.Client)
	hooks, err := o.object("hooks")
	if err != nil {
		return nil, err
	}
	h := installers[r.Client]
	for _, event := range h.events {
		list, ok := hooks.get(event).([]any)
		if !ok && hooks.get(event) != nil {
			return nil, fmt.Errorf("hooks.%s is no list", event)
		}
		b, err := plain(h.entry(r, event))
		if err != nil {
			return nil, err
		}
		item, err := parseObject(b)
		if err != nil {
			return nil, err
		}
		hooks.set(event, append(list, item))
	}
	if r.Client == Gemini {
		for _, flag := range geminiFlags {
			in, err := o.object(flag[0])
			if err != nil {
				return nil, err
			}
			in.set(flag[1], json.RawMessage("true"))
		}
	}
	return o.indented(), nil
}

// Remove takes our hooks out of the text of a client's settings; nil where nothing
// is left of it. found is false where there were none.
func (s Settings) Remove(c Client, text []byte) (left []byte, found bool, err error) {
	o, err := parseObject(text)
	if err != nil {
		return nil, false, notJSON(err)
	}
	if c == OpenCode {
		found = o.drop("plugin", func(v any) bool { return textOf(v) == "file://"+s.Plugin })
	} else {
		found = dropOurs(o, c)
	}
	if c == Gemini && found && o.get("hooks") == nil {
		for _, flag := range geminiFlags {
			dropFlag(o, flag[0], flag[1])
		}
	}
	if !found {
		return text, false, nil
	}
	if len(o.keys) == 0 {
		return nil, true, nil
	}
	return o.indented(), true, nil
}

// Has reports whether our hooks are in the text of a client's settings, and for which
// events.
func (s Settings) Has(c Client, text []byte) ([]string, error) {
	o, err := parseObject(text)
	if err != nil {
		return nil, notJSON(err)
	}
	if c == OpenCode {
		if o.drop("plugin", func(v any) bool { return textOf(v) == "file://"+s.Plugin }) {
			return installers[c].events, nil
		}
		return nil, nil
	}
	var out []string
	hooks, _ := o.get("hooks").(*object)
	for _, event := range installers[c].events {
		if hooks != nil && hooks.drop(event, func(v any) bool { return ours(v, c) }) {
			out = append(out, event)
		}
	}
	return out, nil
}

// drop takes what matches out of a list, and the list where nothing is left.
func (o *object) drop(key string, match func(any) bool) bool {
	list, _ := o.get(key).([]any)
	var left []any
	for _, v := range list {
		if !match(v) {
			left = append(left, v)
		}
	}
	if len(left) == len(list) {
		return false
	}
	if o.set(key, left); len(left) == 0 {
		o.remove(key)
	}
	return true
}

func dropFlag(o *object, key, flag string) {
	if in, ok := o.get(key).(*object); ok {
		if in.remove(flag); len(in.keys) == 0 {
			o.remove(key)
		}
	}
}

func dropOurs(o *object, c Client) bool {
	hooks, ok := o.get("hooks").(*object)
	if !ok {
		return false
	}
	found := false
	for _, event := range append([]string(nil), hooks.keys...) {
		found = hooks.drop(event, func(v any) bool { return ours(v, c) }) || found
	}
	if len(hooks.keys) == 0 {
		o.remove("hooks")
	}
	return found
}

var ourCommand = regexp.MustCompile(`(^|[/\\'"])supervise(\.exe)?['"]? hook (\w+) \w+( --\S+ \S+)*\s*$`)

// ours reports whether an entry is one that supervise wrote: its only command is a
// hook of the program, wherever it lay then.
func ours(v any, c Client) bool {
	m, ok := v.(*object)
	if !ok {
		return false
	}
	list, _ := m.get("hooks").([]any)
	if len(list) != 1 {
		return false
	}
	in, ok := list[0].(*object)
	if !ok {
		return false
	}
	found := ourCommand.FindStringSubmatch(textOf(in.get("command")))
	return found != nil && strings.EqualFold(found[3], string(c))
}

// textOf returns a text of JSON, "" for anything else.
func textOf(v any) string {
	var s string
	if raw, ok := v.(json.RawMessage); ok && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return ""
}
