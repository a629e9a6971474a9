package hook

import (
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
	// geminiEnv and qwenEnv name the settings with the highest precedence.
	geminiEnv   = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
	qwenEnv     = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	opencodeEnv = "OPENCODE_CONFIG_CONTENT"
)

// seconds is how long a client waits for its hook before it continues without it.
const seconds = 30

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
	// Getenv returns a variable of the agent's environment; nil means that there are none.
	Getenv func(string) string
	// ReadFile reads a file of the user; nil means that there are none.
	ReadFile func(path string) ([]byte, error)
}

// Installation is how to start an agent so that its hooks are called. The user's own
// configuration does not change.
type Installation struct {
	// Args are inserted after the program and its subcommand, before the prompt.
	Args []string
	// Env is added to the agent's environment, NAME=value.
	Env []string
	// Files are written below [Request].Dir before the agent starts, by name.
	Files map[string][]byte
}

// clientHooks is how one client configures hooks.
type clientHooks struct {
	events  []string // events to subscribe to, by the client's names
	timeout int      // in the client's unit
	// silent lists why hooks may not be called, most likely reason first.
	silent string
}

var installers = map[Client]clientHooks{
	Claude: {
		[]string{"PreToolUse", "PostToolUse", "Stop", "SessionStart"},
		seconds,
		"managed settings may disable hooks (disableAllHooks), and your own --settings replaces ours",
	},
	Codex: {
		[]string{"PreToolUse", "PostToolUse", "Stop", "SessionStart"},
		seconds,
		"codex silently ignores untrusted hooks: pass it --dangerously-bypass-hook-trust, and use a version with hooks",
	},
	Gemini: {
		[]string{"BeforeTool", "AfterTool", "AfterAgent", "SessionStart"},
		1000 * seconds,
		"gemini ignores a settings file below a folder that others can write to, such as /tmp: move the state with --state-dir",
	},
	Qwen: {
		[]string{"PreToolUse", "PostToolUse", "Stop", "SessionStart"},
		1000 * seconds,
		"qwen may have hooks disabled (disableAllHooks), or its version has none",
	},
	OpenCode: {
		[]string{"pre_tool", "post_tool", "stop", "session_start"},
		seconds,
		"opencode loads plugins only if @opencode-ai/plugin is installed in ~/.config/opencode",
	},
	Pi: {
		[]string{"pre_tool", "post_tool", "stop", "session_start"},
		seconds,
		"pi loads extensions with -e: an older version may not support it",
	},
}

// perRun are the functions that install hooks for one run.
var perRun = map[Client]func(InstallRequest, clientHooks) (Installation, error){
	Claude: claudeRun, Codex: codexRun, Gemini: systemRun(geminiEnv), Qwen: systemRun(qwenEnv), OpenCode: opencodeRun, Pi: piRun,
}

// Install returns how to start the agent so that its hooks call supervise.
func Install(r InstallRequest) (Installation, error) {
	h, ok := installers[r.Client]
	if !ok {
		return Installation{}, fmt.Errorf("there is no way to install hooks for %q", r.Client)
	}
	if r.Getenv == nil {
		r.Getenv = func(string) string { return "" }
	}
	if r.ReadFile == nil {
		r.ReadFile = func(path string) ([]byte, error) { return nil, fmt.Errorf("%s is not read", path) }
	}
	in, err := perRun[r.Client](r, h)
	if err != nil {
		return Installation{}, fmt.Errorf("install the hooks of %s: %w", r.Client, err)
	}
	if r.Socket != "" {
		in.Env = append(in.Env, SocketEnv+"="+r.Socket)
	}
	return in, nil
}

// InstallProblem returns why hooks should not be installed for a run, "" if they can be. opencode
// hangs if the package for plugins is missing and cannot be fetched.
func InstallProblem(c Client, getenv func(string) string, exists func(path string) bool) string {
	if _, ok := installers[c]; !ok {
		return "it has no hooks"
	}
	if c != OpenCode {
		return ""
	}
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	if !exists(filepath.Join(base, "opencode", "node_modules", "@opencode-ai", "plugin")) {
		return "opencode would fetch @opencode-ai/plugin from the network first: npm install --prefix ~/.config/opencode @opencode-ai/plugin"
	}
	return ""
}

// SilentReason returns why no hook of a client was called although they were installed.
func SilentReason(c Client) string { return installers[c].silent }

// command is the command line that a client calls for an event.
func (r InstallRequest) command(event string) string {
	words := []string{quoted(r.Binary), "hook", string(r.Client), event}
	if r.Socket != "" {
		words = append(words, "--socket", quoted(r.Socket))
	}
	if r.FailClosed {
		words = append(words, "--on-error", "closed")
	}
	return strings.Join(words, " ")
}

// matched is an entry of a client's configuration of hooks.
type matched struct {
	Matcher string  `json:"matcher,omitempty"`
	Hooks   []entry `json:"hooks"`
}

type entry struct {
	Type    string `json:"type"`
	Name    string `json:"name,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// entryName is the name of our hooks, for clients with named hooks.
const entryName = "supervise"

func (h clientHooks) entry(r InstallRequest, event string) matched {
	m := matched{Hooks: []entry{{Type: "command", Command: r.command(event), Timeout: h.timeout}}}
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

func (h clientHooks) config(r InstallRequest) map[string][]matched {
	out := map[string][]matched{}
	for _, event := range h.events {
		out[event] = []matched{h.entry(r, event)}
	}
	return out
}

func claudeRun(r InstallRequest, h clientHooks) (Installation, error) {
	b, err := json.Marshal(map[string]any{"hooks": h.config(r)})
	return Installation{Args: []string{"--settings", string(b)}}, err
}

func codexRun(r InstallRequest, h clientHooks) (Installation, error) {
	in := Installation{Args: []string{"--dangerously-bypass-hook-trust"}}
	for _, event := range h.events {
		e := h.entry(r, event)
		matcher := ""
		if e.Matcher != "" {
			matcher = "matcher=" + tomlString(e.Matcher) + ","
		}
		in.Args = append(in.Args, "-c", fmt.Sprintf("hooks.%s=[{%shooks=[{type=\"command\",command=%s,timeout=%d}]}]",
			event, matcher, tomlString(e.Hooks[0].Command), h.timeout))
	}
	return in, nil
}

// tomlString is a basic TOML string. JSON strings are basic TOML strings.
func tomlString(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// systemRun installs hooks in the system settings, whose file a variable names. The
// system's own settings are kept.
func systemRun(variable string) func(InstallRequest, clientHooks) (Installation, error) {
	return func(r InstallRequest, h clientHooks) (Installation, error) {
		var before []byte
		if path := first(r.Getenv(variable), systemSettings[r.Client]); path != "" {
			before, _ = r.ReadFile(path)
		}
		text, err := merge(before, r)
		if err != nil {
			return Installation{}, err
		}
		name := string(r.Client) + "-settings.json"
		return Installation{
			Env:   []string{variable + "=" + filepath.Join(r.Dir, name)},
			Files: map[string][]byte{name: text},
		}, nil
	}
}

// systemSettings are the default files of the clients on Linux.
var systemSettings = map[Client]string{
	Gemini: "/etc/gemini-cli/settings.json",
	Qwen:   "/etc/qwen-code/settings.json",
}

func opencodeRun(r InstallRequest, _ clientHooks) (Installation, error) {
	const name = "supervise-opencode.js"
	config, err := parse([]byte(r.Getenv(opencodeEnv)))
	if err != nil {
		return Installation{}, fmt.Errorf("%s is not JSON: %w", opencodeEnv, err)
	}
	if err := config.once("plugin", "file://"+filepath.Join(r.Dir, name)); err != nil {
		return Installation{}, fmt.Errorf("%s: %w", opencodeEnv, err)
	}
	return Installation{
		Env:   []string{opencodeEnv + "=" + string(config.compact())},
		Files: map[string][]byte{name: plugin(opencodePlugin, r)},
	}, nil
}

func piRun(r InstallRequest, _ clientHooks) (Installation, error) {
	const name = "supervise-pi.ts"
	return Installation{
		Args:  []string{"-e", filepath.Join(r.Dir, name)},
		Files: map[string][]byte{name: plugin(piExtension, r)},
	}, nil
}

// plugin fills in the commands of a plugin.
func plugin(text string, r InstallRequest) []byte {
	args := []string{"hook", string(r.Client)}
	var more []string
	if r.Socket != "" {
		more = append(more, "--socket", r.Socket)
	}
	if r.FailClosed {
		more = append(more, "--on-error", "closed")
	}
	list := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			return "null"
		}
		return string(b)
	}
	if more == nil {
		more = []string{}
	}
	return []byte(strings.NewReplacer(
		`"{{binary}}"`, list(r.Binary), `"{{args}}"`, list(args), `"{{more}}"`, list(more), `"{{closed}}"`, list(r.FailClosed),
	).Replace(text))
}

// Events lists the client's names of the events that hooks are installed for.
func Events(c Client) []string { return installers[c].events }
