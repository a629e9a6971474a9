package hook

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// The environment that a loop gives its agent, for hooks.
const (
	// SocketEnv names the socket of the supervisor that runs the agent.
	SocketEnv = "SUPERVISE_HOOK_SOCKET"
	// geminiEnv and qwenEnv name the settings file with the highest precedence.
	geminiEnv = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
	qwenEnv   = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	// opencodeEnv contains the configuration itself, as JSON.
	opencodeEnv = "OPENCODE_CONFIG_CONTENT"
)

// timeoutSeconds is how long a client waits for its hook before it continues without it.
const timeoutSeconds = 30

// opencodePlugin is the text of the plugin for opencode.
//
//go:embed plugins/opencode.js
var opencodePlugin string

//go:embed plugins/pi.ts
var piExtension string

// InstallRequest describes the hooks to install for one run.
type InstallRequest struct {
	Client     Client
	Binary     string // path of supervise, absolute
	Socket     string // path of the supervisor's socket; "" for none
	FailClosed bool   // an error of the hook denies the call
	Dir        string // folder for the installed files, absolute
	// Getenv returns a variable of the agent's environment.
	Getenv func(string) string
	// ReadFile reads a file of the user.
	ReadFile func(path string) ([]byte, error)
}

// Installation is how to start an agent so that its hooks are called. The user's own
// configuration does not change.
type Installation struct {
	// Args are inserted after the program and its subcommand, before the prompt.
	Args []string
	// Env are variables to add to the agent's environment: NAME=value.
	Env []string
	// Files are written below InstallRequest.Dir before the agent starts. The keys are their
	// names.
	Files map[string][]byte
}

// clientConfig describes how hooks are configured for one client.
type clientConfig struct {
	events  []string // client's names of the events that have hooks
	timeout int      // in the client's unit: seconds or milliseconds
}

// The events that have hooks, for the clients that use the names of Claude, and for the plugins.
var (
	claudeEvents = []string{"PreToolUse", "PostToolUse", "Stop", "SessionStart"}
	geminiEvents = []string{"BeforeTool", "AfterTool", "AfterAgent", "SessionStart"}
	pluginEvents = []string{"pre_tool", "post_tool", "stop", "session_start"}
)

// clientConfigs describes the clients that supervise can install hooks for.
var clientConfigs = map[Client]clientConfig{
	Claude:   {claudeEvents, timeoutSeconds},
	Codex:    {claudeEvents, timeoutSeconds},
	Gemini:   {geminiEvents, 1000 * timeoutSeconds},
	Qwen:     {claudeEvents, 1000 * timeoutSeconds},
	OpenCode: {pluginEvents, timeoutSeconds},
	Pi:       {pluginEvents, timeoutSeconds},
}

// silentReasons tell the user why hooks may not be called, the most likely reason first.
var silentReasons = map[Client]string{
	Claude:   "managed settings may disable hooks (disableAllHooks), and your own --settings replaces ours",
	Codex:    "codex silently ignores untrusted hooks: pass it --dangerously-bypass-hook-trust, and use a version with hooks",
	Gemini:   "gemini ignores a settings file below a folder that others can write to, such as /tmp: move the state with --state-dir",
	Qwen:     "qwen may have hooks disabled (disableAllHooks), or its version has none",
	OpenCode: "opencode loads plugins only if @opencode-ai/plugin is installed in ~/.config/opencode",
	Pi:       "pi loads extensions with -e: an older version may not support it",
}

// runInstallers are the functions that install hooks for one run.
var runInstallers = map[Client]func(InstallRequest, clientConfig) (Installation, error){
	Claude: installClaude, Codex: installCodex, Gemini: installSystemSettings(geminiEnv), Qwen: installSystemSettings(qwenEnv), OpenCode: installOpenCode, Pi: installPi,
}

// Install returns how to start the agent so that its hooks call supervise.
func Install(r InstallRequest) (Installation, error) {
	h, ok := clientConfigs[r.Client]
	if !ok {
		return Installation{}, fmt.Errorf("there is no way to install hooks for %q", r.Client)
	}
	in, err := runInstallers[r.Client](r, h)
	if err != nil {
		return Installation{}, fmt.Errorf("install the hooks of %s: %w", r.Client, err)
	}
	if r.Socket != "" {
		in.Env = append(in.Env, SocketEnv+"="+r.Socket)
	}
	return in, nil
}

// InstallProblem returns why hooks should not be installed for a run, or "" if they can be.
// opencode hangs if the package for plugins is missing and cannot be fetched.
func InstallProblem(c Client, getenv func(string) string, exists func(path string) bool) string {
	if _, ok := clientConfigs[c]; !ok {
		return "it has no hooks"
	}
	if c != OpenCode {
		return ""
	}
	base := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config"))
	if !exists(filepath.Join(base, "opencode", "node_modules", "@opencode-ai", "plugin")) {
		return "opencode would fetch @opencode-ai/plugin from the network first: npm install --prefix ~/.config/opencode @opencode-ai/plugin"
	}
	return ""
}

// SilentReason returns why no hook of a client may have been called although hooks were
// installed.
func SilentReason(c Client) string { return silentReasons[c] }

// commandLine returns the command line that a client runs for an event.
func (r InstallRequest) commandLine(event string) string {
	words := append([]string{r.Binary, "hook", string(r.Client), event}, r.options()...)
	for i, word := range words {
		words[i] = quoteWord(word)
	}
	return strings.Join(words, " ")
}

// options returns the options of the command line that a client runs.
func (r InstallRequest) options() []string {
	out := []string{}
	if r.Socket != "" {
		out = append(out, "--socket", r.Socket)
	}
	if r.FailClosed {
		out = append(out, "--on-error", "closed")
	}
	return out
}

// hookMatcher is an entry of a client's configuration of hooks: which tools it applies to, and
// what it runs.
type hookMatcher struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

// hookEntry is one command that a client runs.
type hookEntry struct {
	Type    string `json:"type"`
	Name    string `json:"name,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// entryName is the name of the hooks of supervise, for clients with named hooks.
const entryName = "supervise"

// entry returns the entry for an event.
func (h clientConfig) entry(r InstallRequest, event string) hookMatcher {
	m := hookMatcher{Hooks: []hookEntry{{Type: "command", Command: r.commandLine(event), Timeout: h.timeout}}}
	if e := eventNames[event]; e == PreTool || e == PostTool {
		m.Matcher = "*"
	}
	switch r.Client {
	case Codex:
		m.Matcher = strings.ReplaceAll(m.Matcher, "*", ".*")
	case Gemini, Qwen:
		m.Hooks[0].Name = entryName
	case Claude, OpenCode, Pi:
	}
	return m
}

// installClaude passes the hooks on the command line of claude.
func installClaude(r InstallRequest, h clientConfig) (Installation, error) {
	hooks := map[string][]hookMatcher{}
	for _, event := range h.events {
		hooks[event] = []hookMatcher{h.entry(r, event)}
	}
	b, err := json.Marshal(map[string]any{"hooks": hooks})
	return Installation{Args: []string{"--settings", string(b)}}, err
}

// installCodex passes the hooks on the command line of codex, as TOML.
func installCodex(r InstallRequest, h clientConfig) (Installation, error) {
	in := Installation{Args: []string{"--dangerously-bypass-hook-trust"}}
	for _, event := range h.events {
		e := h.entry(r, event)
		matcher := ""
		if e.Matcher != "" {
			matcher = "matcher=" + jsonText(e.Matcher) + ","
		}
		in.Args = append(in.Args, "-c", fmt.Sprintf("hooks.%s=[{%shooks=[{type=\"command\",command=%s,timeout=%d}]}]",
			event, matcher, jsonText(e.Hooks[0].Command), h.timeout))
	}
	return in, nil
}

// jsonText returns a value as JSON. Strings of JSON are basic strings of TOML as well.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// installSystemSettings returns a function that installs hooks in the system settings, whose file
// the given variable names. The entries of the original file are kept.
func installSystemSettings(variable string) func(InstallRequest, clientConfig) (Installation, error) {
	return func(r InstallRequest, h clientConfig) (Installation, error) {
		var before []byte
		if path := cmp.Or(r.Getenv(variable), systemSettings[r.Client]); path != "" {
			before, _ = r.ReadFile(path)
		}
		text, err := mergeHooks(before, r)
		if err != nil {
			return Installation{}, err
		}
		name := string(r.Client) + "-settings.json"
		setting := variable + "=" + filepath.Join(r.Dir, name)
		return Installation{Env: []string{setting}, Files: map[string][]byte{name: text}}, nil
	}
}

// systemSettings are the default files of the clients on Linux.
var systemSettings = map[Client]string{
	Gemini: "/etc/gemini-cli/settings.json",
	Qwen:   "/etc/qwen-code/settings.json",
}

// installOpenCode adds a plugin to the configuration that opencode reads from a variable.
func installOpenCode(r InstallRequest, _ clientConfig) (Installation, error) {
	const name = "supervise-opencode.js"
	config, err := parseDocument([]byte(r.Getenv(opencodeEnv)))
	if err != nil {
		return Installation{}, fmt.Errorf("%s is not JSON: %w", opencodeEnv, err)
	}
	if err := config.addUnique("plugin", "file://"+filepath.Join(r.Dir, name)); err != nil {
		return Installation{}, fmt.Errorf("%s: %w", opencodeEnv, err)
	}
	files := map[string][]byte{name: fillPlugin(opencodePlugin, r)}
	return Installation{Env: []string{opencodeEnv + "=" + string(config.compact())}, Files: files}, nil
}

// installPi passes an extension on the command line of pi.
func installPi(r InstallRequest, _ clientConfig) (Installation, error) {
	const name = "supervise-pi.ts"
	files := map[string][]byte{name: fillPlugin(piExtension, r)}
	return Installation{Args: []string{"-e", filepath.Join(r.Dir, name)}, Files: files}, nil
}

// fillPlugin returns the text of a plugin with the command lines of the hooks.
func fillPlugin(text string, r InstallRequest) []byte {
	return []byte(strings.NewReplacer(
		`"{{binary}}"`, jsonText(r.Binary), `"{{args}}"`, jsonText([]string{"hook", string(r.Client)}),
		`"{{more}}"`, jsonText(r.options()), `"{{closed}}"`, jsonText(r.FailClosed),
	).Replace(text))
}

// Events returns the client's names of the events that hooks are installed for.
func Events(c Client) []string { return clientConfigs[c].events }
