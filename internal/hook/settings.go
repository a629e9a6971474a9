package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/internal/regexp"

	"github.com/tailscale/hujson"
)

// Settings is a client's configuration file that can contain hooks.
type Settings struct {
	Path string // absolute; "" for clients that only need the plugin
	// Plugin is the path of the plugin of supervise that belongs to the file, or "".
	Plugin string
	// Note is a hint for the user.
	Note string
}

// settingsLocation is where a client keeps hooks: its configuration file and the plugin of
// supervise, each relative to the project and to the home of the user. A file may be "". note is
// for the user.
type settingsLocation struct {
	projectFile, userFile     string
	projectPlugin, userPlugin string
	note                      string
}

// settingsLocations are the locations of each client.
var settingsLocations = map[Client]settingsLocation{
	Claude: {projectFile: ".claude/settings.json", userFile: ".claude/settings.json"},
	Codex: {
		projectFile: ".codex/hooks.json", userFile: ".codex/hooks.json",
		note: "codex runs hooks only once you have trusted them: type /hooks in it, or start it with --dangerously-bypass-hook-trust",
	},
	Gemini: {
		projectFile: ".gemini/settings.json", userFile: ".gemini/settings.json",
		note: "gemini reads the settings of a project only in a folder that you trust",
	},
	Qwen: {projectFile: ".qwen/settings.json", userFile: ".qwen/settings.json"},
	OpenCode: {
		"opencode.json", ".config/opencode/opencode.json",
		".opencode/supervise-hook.js", ".config/opencode/supervise-hook.js",
		"opencode fetches @opencode-ai/plugin from the network when it first loads a plugin",
	},
	Pi: {projectPlugin: ".pi/extensions/supervise-hook.ts", userPlugin: ".pi/agent/extensions/supervise-hook.ts"},
}

// LocateSettings returns where a client keeps its hooks: in the project, or in home unless that
// is "".
func LocateSettings(c Client, project, home string) (Settings, error) {
	location, ok := settingsLocations[c]
	if !ok {
		return Settings{}, fmt.Errorf("there is no way to install hooks for %q", c)
	}
	base, file, plugin := project, location.projectFile, location.projectPlugin
	if home != "" {
		base, file, plugin = home, location.userFile, location.userPlugin
	}
	s := Settings{Note: location.note}
	if file != "" {
		s.Path = filepath.Join(base, filepath.FromSlash(file))
	}
	if plugin != "" {
		s.Plugin = filepath.Join(base, filepath.FromSlash(plugin))
	}
	return s, nil
}

// PluginText returns the text of the plugin, or nil for clients without one.
func PluginText(r InstallRequest) []byte {
	text, ok := map[Client]string{OpenCode: opencodePlugin, Pi: piExtension}[r.Client]
	if !ok {
		return nil
	}
	return fillPlugin(text, r)
}

// Merge returns the text of a client's settings with the hooks of supervise. Everything else is
// kept. Existing hooks of supervise are replaced, so a second Merge changes nothing.
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

// invalidJSON returns the error for settings that cannot be parsed.
func invalidJSON(err error) error {
	return fmt.Errorf("not valid JSON (%w): fix it, or add the hooks manually as docs/hooks.md shows", err)
}

// mergeHooks implements Merge for clients whose settings list commands.
func mergeHooks(text []byte, r InstallRequest) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, invalidJSON(err)
	}

	if _, isOurs := d.removeOwnHooks(r.Client); isOurs {
		if d, err = parseDocument(d.originalText()); err != nil {
			return nil, err
		}
	}

	hooks, err := d.object(d.root, 0, "hooks")
	if err != nil {
		return nil, err
	}
	config := clientConfigs[r.Client]
	for _, event := range config.events {
		list, err := d.list(hooks, 1, event)
		if err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
		item, err := d.formatValue(config.entry(r, event), 3)
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

// Remove returns the text of a client's settings without the hooks of supervise. left is nil if
// supervise created the file. found is false if the text has no such hooks.
func (s Settings) Remove(c Client, text []byte) (left []byte, found bool, err error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, false, invalidJSON(err)
	}

	isOurs := false
	if c == OpenCode {
		found, isOurs = removeFromList(d.root, "plugin", s.isOwnPlugin)
	} else {
		found, isOurs = d.removeOwnHooks(c)
	}
	if !found {
		return text, false, nil
	}

	if c == Gemini {
		for _, flag := range geminiFlags {
			isOurs = d.restoreFlag(flag[0], flag[1]) || isOurs
		}
	}
	if isOurs {
		return d.originalText(), true, nil
	}
	return d.text(), true, nil
}

// isOwnPlugin reports whether an element is the address of the plugin of supervise.
func (s Settings) isOwnPlugin(v hujson.Value) bool { return stringValue(&v) == "file://"+s.Plugin }

// InstalledEvents returns the events for which the text of a client's settings has hooks of
// supervise.
func (s Settings) InstalledEvents(c Client, text []byte) ([]string, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, invalidJSON(err)
	}
	if c == OpenCode {
		if found, _ := removeFromList(d.root, "plugin", s.isOwnPlugin); found {
			return clientConfigs[c].events, nil
		}
		return nil, nil
	}
	hooks, ok := memberAs[*hujson.Object](d.root, "hooks")
	if !ok {
		return nil, nil
	}
	var out []string
	for _, event := range clientConfigs[c].events {
		if found, _ := removeFromList(hooks, event, ownHookOf(c)); found {
			out = append(out, event)
		}
	}
	return out, nil
}

// removeFromList removes the elements that match from a list of an object, and the list itself if
// supervise added it. isOurs reports whether the object is then empty and was added by supervise.
func removeFromList(o *hujson.Object, key string, matches func(hujson.Value) bool) (found, isOurs bool) {
	list, ok := memberAs[*hujson.Array](o, key)
	if !ok {
		return false, false
	}
	found, isEmpty := removeElements(list, matches)
	return found, isEmpty && removeMember(o, key)
}

// removeOwnHooks removes the hooks of supervise. isOurs reports whether the file is then empty
// and was created by supervise.
func (d *settingsDocument) removeOwnHooks(c Client) (found, isOurs bool) {
	hooks, ok := memberAs[*hujson.Object](d.root, "hooks")
	if !ok {
		return false, false
	}
	for _, m := range slices.Clone(hooks.Members) {
		foundHere, isEmpty := removeFromList(hooks, stringValue(&m.Name), ownHookOf(c))
		found = found || foundHere
		if isEmpty {
			isOurs = removeMember(d.root, "hooks")
		}
	}
	return found, isOurs
}

// The white space before a flag that supervise set. It tells whether the flag was missing or false
// before.
const (
	addedFlagSpace  = "  "
	raisedFlagSpace = "   "
)

// setFlag sets a flag to true. The white space before the flag records its original value.
func (d *settingsDocument) setFlag(key, flag string) error {
	in, err := d.object(d.root, 0, key)
	if err != nil {
		return err
	}
	v := findMember(in, flag)
	if v == nil {
		d.addMember(in, 1, flag, hujson.Value{BeforeExtra: hujson.Extra(addedFlagSpace), Value: hujson.Bool(true)})
	} else if value, ok := v.Value.(hujson.Literal); ok && string(value) == "false" {
		v.Value, v.BeforeExtra = hujson.Bool(true), hujson.Extra(raisedFlagSpace+string(v.BeforeExtra))
	}
	return nil
}

// restoreFlag restores the original value of a flag. isOurs reports whether the file is then
// empty and was created by supervise.
func (d *settingsDocument) restoreFlag(key, flag string) (isOurs bool) {
	o, ok := memberAs[*hujson.Object](d.root, key)
	if !ok {
		return false
	}
	v := findMember(o, flag)
	if v == nil {
		return false
	}
	switch before := string(v.BeforeExtra); {
	case strings.HasPrefix(before, raisedFlagSpace):
		v.Value, v.BeforeExtra = hujson.Bool(false), hujson.Extra(before[len(raisedFlagSpace):])
	case before == addedFlagSpace:
		return removeMember(o, flag) && removeMember(d.root, key)
	}
	return false
}

// ownCommandRE matches a command line of a hook of supervise, as in "/usr/bin/supervise hook
// claude Stop". The third group is the client.
var ownCommandRE = regexp.MustCompile(`(^|[/\\'"])supervise(\.exe)?['"]? hook (\w+) \w+( --\S+ \S+)*\s*$`)

// ownHookOf returns a function that reports whether supervise wrote an entry for a client: its
// only command is a hook of supervise, in any folder.
func ownHookOf(c Client) func(hujson.Value) bool {
	return func(v hujson.Value) bool {
		if v.Find("/hooks/1") != nil {
			return false
		}
		m := ownCommandRE.FindStringSubmatch(stringValue(v.Find("/hooks/0/command")))
		return m != nil && strings.EqualFold(m[3], string(c))
	}
}
