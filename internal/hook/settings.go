package hook

import (
	"fmt"
	"path/filepath"
	"strings"

	"supervise/internal/regexp"

	"github.com/tailscale/hujson"
)

// Settings is a client's configuration file that can contain hooks.
type Settings struct {
	Path string // absolute
	// Plugin is a file of ours next to it; "" for none.
	Plugin string
	// Note is a hint for the user.
	Note string
}

// settingsLocation is where a client keeps its configuration, relative to the project and to the
// user's home.
type settingsLocation struct{ project, user, plugin, note string }

var settingsLocations = map[Client]settingsLocation{
	Claude:   {".claude/settings.json", ".claude/settings.json", "", ""},
	Codex:    {".codex/hooks.json", ".codex/hooks.json", "", "codex runs hooks only once you have trusted them: type /hooks in it, or start it with --dangerously-bypass-hook-trust"},
	Gemini:   {".gemini/settings.json", ".gemini/settings.json", "", "gemini reads the settings of a project only in a folder that you trust"},
	Qwen:     {".qwen/settings.json", ".qwen/settings.json", "", ""},
	OpenCode: {"opencode.json", ".config/opencode/opencode.json", "supervise-hook.js", "opencode fetches @opencode-ai/plugin from the network when it first loads a plugin"},
	Pi:       {"", "", "supervise-hook.ts", ""},
}

// piFolders are where pi looks for extensions, relative to the project and to the home.
var piFolders = [2]string{".pi/extensions", ".pi/agent/extensions"}

// LocateSettings returns where a client keeps its hooks: those of a project, or of the user if home
// is given.
func LocateSettings(c Client, project, home string) (Settings, error) {
	p, ok := settingsLocations[c]
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

// PluginText is the text of our plugin file, nil for clients without one.
func PluginText(r InstallRequest) []byte {
	switch r.Client {
	case OpenCode:
		return fillPlugin(opencodePlugin, r)
	case Pi:
		return fillPlugin(piExtension, r)
	case Claude, Codex, Gemini, Qwen:
	}
	return nil
}

// Merge adds our hooks to the text of a client's settings and keeps everything else. It
// replaces our hooks that are there, so a second Merge changes nothing.
func (s Settings) Merge(text []byte, r InstallRequest) ([]byte, error) {
	if r.Client != OpenCode {
		return mergeHooks(text, r)
	}
	d, err := parseDocument(text)
	if err != nil {
		return nil, invalidJSON(err)
	}
	if err := d.addUnique("plugin", "file://"+s.Plugin); err != nil {
		return nil, err
	}
	return d.text(), nil
}

// geminiFlags are the settings without which gemini calls no hook.
var geminiFlags = [][2]string{{"hooksConfig", "enabled"}, {"tools", "enableHooks"}}

func invalidJSON(err error) error {
	return fmt.Errorf("not valid JSON (%w): fix it, or add the hooks manually as docs/hooks.md shows", err)
}

// mergeHooks implements Merge for clients whose settings list commands.
func mergeHooks(text []byte, r InstallRequest) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, invalidJSON(err)
	}
	if _, over := d.removeOwnHooks(r.Client); over {
		if d, err = parseDocument(d.originalText()); err != nil {
			return nil, err
		}
	}
	hooks, err := d.object(d.root, 0, "hooks")
	if err != nil {
		return nil, err
	}
	h := clientConfigs[r.Client]
	for _, event := range h.events {
		list, err := d.list(hooks, 1, event)
		if err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
		item, err := d.formatValue(h.entry(r, event), 3)
		if err != nil {
			return nil, err
		}
		d.appendElement(list, 2, item)
	}
	if r.Client == Gemini {
		for _, flag := range geminiFlags {
			if err := d.setFlag(flag[0], flag[1]); err != nil {
				return nil, err
			}
		}
	}
	return d.text(), nil
}

// Remove removes our hooks from the text of a client's settings. The text is nil if the file
// was made for them. found is false if there were none.
func (s Settings) Remove(c Client, text []byte) (left []byte, found bool, err error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, false, invalidJSON(err)
	}
	over := false
	if c == OpenCode {
		found, over = d.removeFromList(d.root, "plugin", func(v *hujson.Value) bool { return stringValue(v) == "file://"+s.Plugin })
	} else {
		found, over = d.removeOwnHooks(c)
	}
	if !found {
		return text, false, nil
	}
	if c == Gemini {
		for _, flag := range geminiFlags {
			over = d.restoreFlag(flag[0], flag[1]) || over
		}
	}
	if over {
		return d.originalText(), true, nil
	}
	return d.text(), true, nil
}

// InstalledEvents returns the events for which the text of a client's settings has our hooks.
func (s Settings) InstalledEvents(c Client, text []byte) ([]string, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, invalidJSON(err)
	}
	if c == OpenCode {
		if found, _ := d.removeFromList(d.root, "plugin", func(v *hujson.Value) bool { return stringValue(v) == "file://"+s.Plugin }); found {
			return clientConfigs[c].events, nil
		}
		return nil, nil
	}
	v := findMember(d.root, "hooks")
	if v == nil {
		return nil, nil
	}
	hooks, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, nil
	}
	var out []string
	for _, event := range clientConfigs[c].events {
		if found, _ := d.removeFromList(hooks, event, func(v *hujson.Value) bool { return isOwnHook(v, c) }); found {
			out = append(out, event)
		}
	}
	return out, nil
}

// removeFromList removes matching elements from a list of an object, and the list itself if we made
// it. over reports whether that leaves an object that we made empty.
func (d *settingsDocument) removeFromList(in *hujson.Object, key string, match func(*hujson.Value) bool) (found, over bool) {
	v := findMember(in, key)
	if v == nil {
		return false, false
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return false, false
	}
	found, empty := removeElements(list, match)
	if empty {
		over = removeMember(in, key)
	}
	return found, over
}

// removeOwnHooks removes our entries from all hooks. over is as for dropFrom, for the entire file.
func (d *settingsDocument) removeOwnHooks(c Client) (found, over bool) {
	v := findMember(d.root, "hooks")
	if v == nil {
		return false, false
	}
	hooks, ok := v.Value.(*hujson.Object)
	if !ok {
		return false, false
	}
	var events []string
	for _, m := range hooks.Members {
		events = append(events, stringValue(&m.Name))
	}
	for _, event := range events {
		here, empty := d.removeFromList(hooks, event, func(v *hujson.Value) bool { return isOwnHook(v, c) })
		if found = found || here; empty {
			over = removeMember(d.root, "hooks")
		}
	}
	return found, over
}

// The white space before a flag that we set: one that was missing, and one that was false.
const (
	addedFlagSpace  = "  "
	raisedFlagSpace = "   "
)

// setFlag sets a flag.
func (d *settingsDocument) setFlag(key, flag string) error {
	in, err := d.object(d.root, 0, key)
	if err != nil {
		return err
	}
	switch v := findMember(in, flag); {
	case v == nil:
		d.addMember(in, 1, flag, hujson.Value{BeforeExtra: hujson.Extra(addedFlagSpace), Value: hujson.Bool(true)})
	case string(v.Pack()) != "true" && literalText(v) == "false":
		v.Value, v.BeforeExtra = hujson.Bool(true), hujson.Extra(raisedFlagSpace+string(v.BeforeExtra))
	}
	return nil
}

// restoreFlag restores a flag that we set. over is as for dropFrom.
func (d *settingsDocument) restoreFlag(key, flag string) (over bool) {
	outer := findMember(d.root, key)
	if outer == nil {
		return false
	}
	in, ok := outer.Value.(*hujson.Object)
	if !ok {
		return false
	}
	v := findMember(in, flag)
	if v == nil {
		return false
	}
	switch before := string(v.BeforeExtra); {
	case strings.HasPrefix(before, raisedFlagSpace):
		v.Value, v.BeforeExtra = hujson.Bool(false), hujson.Extra(before[len(raisedFlagSpace):])
	case before == addedFlagSpace:
		if removeMember(in, flag) {
			over = removeMember(d.root, key)
		}
	}
	return over
}

// literalText returns a literal as it is written, "" for anything else.
func literalText(v *hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok {
		return string(l)
	}
	return ""
}

var ownCommandRE = regexp.MustCompile(`(^|[/\\'"])supervise(\.exe)?['"]? hook (\w+) \w+( --\S+ \S+)*\s*$`)

// isOwnHook reports whether supervise wrote an entry: its only command is a hook of the program, in
// any folder.
func isOwnHook(v *hujson.Value, c Client) bool {
	m, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	of := findMember(m, "hooks")
	if of == nil {
		return false
	}
	list, ok := of.Value.(*hujson.Array)
	if !ok || len(list.Elements) != 1 {
		return false
	}
	in, ok := list.Elements[0].Value.(*hujson.Object)
	if !ok {
		return false
	}
	found := ownCommandRE.FindStringSubmatch(stringValue(findMember(in, "command")))
	return found != nil && strings.EqualFold(found[3], string(c))
}
