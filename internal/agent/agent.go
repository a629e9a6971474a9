// Package agent knows coding agent programs: how each is started, how it is
// given its prompt, what it prints, and how its end is to be read. Everything it
// knows of a program is a row of data; a command that it does not know works as
// well, read by its exit code alone.
//
// Agents end with exit code 0 after failures, and with others after successes.
// What the last event on their output says counts first, therefore, and the exit
// code second.
package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"supervise/runner"
)

// Preset is what is known of one agent program.
//
// In Args, {{yolo}}, {{model}}, {{resume}}, {{budget}} and {{prompt}} that stand
// alone are replaced by the lists of the same name, or by nothing where they do
// not apply.
type Preset struct {
	Name     string
	Programs []string // base names of the command; the first is the one that is started
	// Experimental says that it was not run under supervise in all respects by our
	// authors, or not at all.
	Experimental bool
	// Min and Max are the versions it was tried with, "" for none.
	Min, Max string

	Args   []string
	Yolo   []string // has everything approved; only with the user's consent
	Always bool     // everything is approved anyway
	Model  []string // with {{model}}
	Resume []string // with {{session}}; none: a session cannot be continued
	Budget []string // with {{budget}}, in US dollars: the agent's own limit of its cost
	Prompt []string // with {{prompt}} or {{prompt_file}}
	// Large replaces Prompt where the text cannot be an argument. None: it comes on
	// standard input, which is closed behind it.
	Large []string

	Env     []string // NAME=value, where the user has not set NAME
	YoloEnv []string // the same, only with the user's consent
	Unset   []string // names that must not be inherited

	Grace  runner.Grace // how it is stopped; what it started is ended in any case
	Format Format       // of what it prints

	Install string // how one gets it
	Login   string // what helps when the service refuses
	Root    string // variable without which Yolo is refused to the superuser
}

// presets are the rows, the tried ones first.
var presets = []Preset{
	{
		Name: "claude", Programs: []string{"claude"}, Min: "2.1.197", Max: "2.1.197",
		Args:    []string{"-p", "--output-format", "stream-json", "--verbose", "{{yolo}}", "{{model}}", "{{budget}}", "{{resume}}", "{{prompt}}"},
		Yolo:    []string{"--dangerously-skip-permissions"},
		Model:   []string{"--model", "{{model}}"},
		Resume:  []string{"--resume", "{{session}}"},
		Budget:  []string{"--max-budget-usd", "{{budget}}"},
		Prompt:  []string{"{{prompt}}"},
		Env:     []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		Unset:   []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}, // it refuses to run inside itself
		Grace:   runner.Grace{Terminate: -1},                      // SIGTERM ends its tool, and it goes on with the next model call
		Format:  Claude,
		Install: "npm install -g @anthropic-ai/claude-code",
		Login:   "run claude and /login, or set ANTHROPIC_API_KEY",
		Root:    "IS_SANDBOX",
	},
	{
		Name: "codex", Programs: []string{"codex"}, Min: "0.169.0", Max: "0.169.0",
		// The daemon would outlive us, and without a server it would wait for ever. As
		// --disable these would be an error in versions that know them no more.
		Args:    []string{"exec", "{{resume}}", "--json", "--skip-git-repo-check", "-c", "features.daemon_auto_start=false", "-c", "features.unbounded_connection_retries=false", "-c", "check_for_update_on_startup=false", "{{yolo}}", "{{model}}", "{{prompt}}"},
		Yolo:    []string{"--dangerously-bypass-approvals-and-sandbox"},
		Model:   []string{"-m", "{{model}}"},
		Resume:  []string{"resume", "{{session}}"},
		Prompt:  []string{"{{prompt}}"},
		Large:   []string{"-"}, // with resume it takes no prompt from elsewhere without this argument
		Format:  Codex,
		Install: "npm install -g @openai/codex",
		Login:   "run codex login, or set the API key that its configuration names",
	},
	{
		Name: "gemini", Programs: []string{"gemini"}, Min: "0.61.0", Max: "0.61.0",
		Args:    []string{"-o", "stream-json", "--skip-trust", "{{yolo}}", "{{model}}", "{{resume}}", "{{prompt}}"},
		Yolo:    []string{"--yolo"},
		Model:   []string{"-m", "{{model}}"},
		Resume:  []string{"--resume", "latest"},
		Prompt:  []string{"-p", "{{prompt}}"},
		Env:     []string{"NO_BROWSER=1", "GEMINI_CLI_NO_RELAUNCH=true"}, // else its wrapper swallows signals
		Format:  Gemini,
		Install: "npm install -g @google/gemini-cli",
		Login:   "run gemini once and choose how to sign in, or set GEMINI_API_KEY",
	},
	{
		Name: "opencode", Programs: []string{"opencode"}, Min: "1.18.33", Max: "1.18.33",
		Args:    []string{"run", "--format", "json", "{{yolo}}", "{{model}}", "{{resume}}", "{{prompt}}"},
		Yolo:    []string{"--auto"},
		Model:   []string{"-m", "{{model}}"},
		Resume:  []string{"-s", "{{session}}"},
		Prompt:  []string{"{{prompt}}"},
		Env:     []string{"OPENCODE_DISABLE_AUTOUPDATE=1"},
		Format:  OpenCode,
		Install: "npm install -g opencode-ai",
		Login:   "run opencode auth login",
	},
	{
		Name: "pi", Programs: []string{"pi"}, Min: "0.73.1", Max: "0.73.1", Always: true,
		Args:    []string{"--mode", "json", "-p", "{{model}}", "{{resume}}", "{{prompt}}"},
		Model:   []string{"--model", "{{model}}"},
		Resume:  []string{"--session", "{{session}}"},
		Prompt:  []string{"{{prompt}}"},
		Env:     []string{"PI_SKIP_VERSION_CHECK=1"},
		Format:  Pi,
		Install: "npm install -g @mariozechner/pi-coding-agent",
		Login:   "run pi and /login, or set the API key of the provider",
	},
	{
		Name: "qwen", Programs: []string{"qwen"}, Min: "0.15.10", Max: "0.15.10",
		Args:    []string{"-o", "stream-json", "{{yolo}}", "{{model}}", "{{resume}}", "{{prompt}}"},
		Yolo:    []string{"--yolo"},
		Model:   []string{"-m", "{{model}}"},
		Resume:  []string{"--resume", "{{session}}"},
		Prompt:  []string{"-p", "{{prompt}}"},
		Format:  Qwen,
		Install: "npm install -g @qwen-code/qwen-code",
		Login:   "run qwen once and sign in, or set OPENAI_API_KEY and --auth-type",
	},
	{
		Name: "cline", Programs: []string{"cline"}, Experimental: true, Min: "3.0.65", Max: "3.0.65", Always: true,
		Args:    []string{"--json", "{{model}}", "{{prompt}}"},
		Model:   []string{"-m", "{{model}}"},
		Prompt:  []string{"{{prompt}}"},
		Large:   []string{"Read the file {{prompt_file}} and do all that it says."}, // it does not read standard input
		Env:     []string{"CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"},
		Grace:   runner.Grace{Terminate: -1}, // SIGTERM is not obeyed
		Format:  Cline,
		Install: "npm install -g cline",
		Login:   "run cline auth",
	},
	{
		Name: "cn", Programs: []string{"cn"}, Experimental: true, Min: "1.5.47", Max: "1.5.47",
		Args:    []string{"--format", "json", "{{yolo}}", "-p", "{{model}}", "{{prompt}}"},
		Yolo:    []string{"--auto"},
		Model:   []string{"--model", "{{model}}"},
		Prompt:  []string{"{{prompt}}"},
		Env:     []string{"CONTINUE_TELEMETRY_ENABLED=0", "CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE=1"},
		Format:  Continue,
		Install: "npm install -g @continuedev/cli",
		Login:   "run cn login, or put the API key into its configuration",
	},
	{
		Name: "aider", Programs: []string{"aider"}, Experimental: true, Min: "0.86.2", Max: "0.86.2",
		// What moves while it waits would hide from --idle-timeout that nothing happens.
		Args:    []string{"--no-auto-commits", "--no-check-update", "--no-pretty", "{{yolo}}", "{{model}}", "{{prompt}}"},
		Yolo:    []string{"--yes-always"},
		Model:   []string{"--model", "{{model}}"},
		Prompt:  []string{"--message-file", "{{prompt_file}}"},
		Env:     []string{"AIDER_ANALYTICS_DISABLE=true"},
		Format:  Aider,
		Install: "pip install aider-chat",
		Login:   "set the API key of the model, like OPENAI_API_KEY",
	},
	{
		Name: "goose", Programs: []string{"goose"}, Experimental: true,
		Args:    []string{"run", "--no-session", "--output-format", "stream-json", "{{model}}", "{{prompt}}"},
		Model:   []string{"--model", "{{model}}"},
		Prompt:  []string{"-i", "{{prompt_file}}"},
		YoloEnv: []string{"GOOSE_MODE=auto"},
		Format:  Goose,
		Install: "see https://github.com/block/goose",
		Login:   "run goose configure",
	},
	{
		Name: "cursor-agent", Programs: []string{"cursor-agent"}, Experimental: true,
		Args:    []string{"-p", "--output-format", "stream-json", "{{yolo}}", "{{model}}", "{{resume}}", "{{prompt}}"},
		Yolo:    []string{"--force"},
		Model:   []string{"--model", "{{model}}"},
		Resume:  []string{"--resume", "{{session}}"},
		Prompt:  []string{"{{prompt}}"},
		Format:  Claude,
		Install: "see https://cursor.com/cli",
		Login:   "run cursor-agent login, or set CURSOR_API_KEY",
	},
}

// Names returns the names of all presets, the tried ones first.
func Names() []string {
	out := make([]string, len(presets))
	for i, p := range presets {
		out[i] = p.Name
	}
	return out
}

// ByName returns the preset of that name. The error names those there are.
func ByName(name string) (Preset, error) {
	for _, p := range presets {
		if p.Name == name {
			return p, nil
		}
	}
	return Preset{}, fmt.Errorf("there is no agent %q; the agents are %s; any other command stands behind --", name, strings.Join(Names(), ", "))
}

// Recognise returns the preset of a plain command by the base name of its
// program, and false for a command that is not known.
func Recognise(args []string) (Preset, bool) {
	if len(args) == 0 {
		return Preset{}, false
	}
	base := filepath.Base(args[0])
	for _, p := range presets {
		if slices.Contains(p.Programs, base) {
			return p, true
		}
	}
	return Preset{}, false
}

// Tried reports whether a version lies within those that the preset was tried
// with. One that is not known, or cannot be compared, does.
func (p Preset) Tried(version string) bool {
	if version == "" || p.Min == "" {
		return true
	}
	low, ok := compare(version, p.Min)
	high, also := compare(version, p.Max)
	return !ok || !also || low >= 0 && high <= 0
}
