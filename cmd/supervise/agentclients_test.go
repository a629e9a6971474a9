//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/internal/agent"
)

// agentClient is a real agent program, and how it is configured to use the scripted model server.
// Everything that it reads and writes is in a separate home folder.
type agentClient struct {
	name    string
	version string // that .ci/e2e-agents installs
	program string // below the folder of installed programs
	flags   []string
	args    []string // arguments of the agent, after --
	env     func(url, home string) []string
	files   func(url, home, project string) map[string]string // below the home
	// retries says that it asks again and again by itself, for minutes, before it
	// gives up on a server that refuses.
	retries bool
	// noTools says that it reads edits from the text and runs nothing.
	noTools  bool
	noTokens bool // it does not report what it used
	survives bool // its commands have a parent of their own, and killing that leaves it alone
	hooks    bool // supervise installs hooks for it
	// window are the headers by which its service tells how much of five hours is used, and
	// login the variables of a subscription, which alone has such a window; nil: it tells none.
	window func(percent float64, reset time.Time) map[string]string
	login  []string
	// idle is a silence that means that it hangs, on a machine with much else to do.
	idle time.Duration
}

// agentClients are the programs of the suite; docs/agents.md has its log.
var agentClients = []agentClient{
	{
		name: "codex", version: "0.169.0", program: "codex/node_modules/.bin/codex", hooks: true, idle: 15 * time.Second,
		flags: []string{"--agent", "codex", "--yolo"},
		env: func(_, home string) []string {
			return []string{"CODEX_HOME=" + filepath.Join(home, ".codex"), "CODEX_MOCK_KEY=mock-key"}
		},
		window: func(percent float64, reset time.Time) map[string]string {
			return map[string]string{"x-codex-primary-used-percent": fmt.Sprint(percent), "x-codex-primary-window-minutes": "300", "x-codex-primary-reset-at": fmt.Sprint(reset.Unix())}
		},
		files: func(url, _, project string) map[string]string {
			return map[string]string{".codex/config.toml": strings.NewReplacer("URL", url, "PROJECT", project).Replace(codexConfig)}
		},
	},
	{
		name: "claude", version: "2.1.197", program: "claude/node_modules/.bin/claude", hooks: true, idle: 20 * time.Second,
		flags: []string{"--agent", "claude", "--yolo"},
		env: func(url, home string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=mock-key", "ANTHROPIC_MODEL=claude-sonnet-4-5", "ANTHROPIC_SMALL_FAST_MODEL=claude-haiku-4-5",
				"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "CLAUDE_CODE_MAX_RETRIES=1", "IS_SANDBOX=1",
			}
		},
		window: func(percent float64, reset time.Time) map[string]string {
			at := fmt.Sprint(reset.Unix())
			return map[string]string{
				"anthropic-ratelimit-unified-status": "allowed_warning", "anthropic-ratelimit-unified-representative-claim": "five_hour", "anthropic-ratelimit-unified-reset": at,
				"anthropic-ratelimit-unified-5h-utilization": fmt.Sprint(percent / 100), "anthropic-ratelimit-unified-5h-reset": at, "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.75",
			}
		},
		login: []string{"ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN=mock-token"},
		files: func(_, _, project string) map[string]string {
			return map[string]string{
				".claude/settings.json": "{}",
				".claude/.claude.json": object{
					"hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true,
					"customApiKeyResponses": object{"approved": []string{"mock-key"}, "rejected": []string{}},
					"projects":              object{project: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
				}.String(),
			}
		},
	},
	{
		name: "gemini", version: "0.61.0", program: "gemini/node_modules/.bin/gemini", retries: true, hooks: true, idle: 40 * time.Second,
		flags: []string{"--agent", "gemini", "--yolo", "--model", "gemini-2.5-pro"},
		env: func(url, _ string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=mock-key", "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		files: func(_, _, _ string) map[string]string {
			return map[string]string{".gemini/settings.json": object{
				"security": object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
				"privacy":  object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
				"general": object{"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false},
			}.String()}
		},
	},
	{
		name: "opencode", version: "1.18.33", program: "opencode/node_modules/.bin/opencode", retries: true, hooks: true, idle: 70 * time.Second,
		flags: []string{"--agent", "opencode", "--yolo"},
		env: func(_, _ string) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
		},
		files: func(url, _, _ string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": object{
				"model": "mock/mock-model", "small_model": "mock/mock-model", "autoupdate": false, "share": "disabled",
				"provider": object{"mock": object{
					"npm": "@ai-sdk/openai-compatible", "name": "Mock", "options": object{"baseURL": url + "/v1", "apiKey": "mock-key"},
					"models": object{"mock-model": object{
						"name": "mock-model", "tool_call": true, "limit": object{"context": 200000, "output": 8000},
						"cost": object{"input": 3, "output": 15, "cache_read": 0.3},
					}},
				}},
			}.String()}
		},
	},
	{
		name: "pi", version: "0.73.1", program: "pi/node_modules/.bin/pi", hooks: true, idle: 30 * time.Second,
		flags: []string{"--agent", "pi", "--model", "mock/mock-model"},
		env:   func(_, _ string) []string { return []string{"PI_OFFLINE=1"} },
		files: func(url, _, _ string) map[string]string {
			return map[string]string{".pi/agent/models.json": object{"providers": object{"mock": object{
				"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": "mock-key",
				"models": []object{{
					"id": "mock-model", "name": "mock-model", "reasoning": false, "input": []string{"text"}, "contextWindow": 128000, "maxTokens": 8000,
					"cost": object{"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 0},
				}},
			}}}.String()}
		},
	},
	{
		name: "qwen", version: "0.15.10", program: "qwen/node_modules/.bin/qwen", retries: true, hooks: true, idle: 70 * time.Second,
		flags: []string{"--agent", "qwen", "--yolo"},
		env: func(url, _ string) []string {
			return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=mock-key", "OPENAI_MODEL=mock-model"}
		},
		files: func(_, _, _ string) map[string]string {
			return map[string]string{".qwen/settings.json": object{
				"security": object{"auth": object{"selectedType": "openai"}, "folderTrust": object{"enabled": false}},
				"privacy":  object{"usageStatisticsEnabled": false}, "telemetry": object{"enabled": false},
				"general": object{"disableAutoUpdate": true, "enableAutoUpdate": false},
			}.String()}
		},
	},
	{
		name: "copilot", version: "1.0.102", program: "copilot/node_modules/.bin/copilot", noTokens: true, survives: true, retries: true, idle: 40 * time.Second,
		flags: []string{"--agent", "copilot", "--yolo"},
		env: func(url, _ string) []string {
			return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=mock-key", "COPILOT_MODEL=mock-model"}
		},
		files: func(_, _, _ string) map[string]string { return nil },
	},
	{
		name: "aider", version: "0.86.2", program: "aider/bin/aider", noTools: true, retries: true, idle: 70 * time.Second,
		flags: []string{"--agent", "aider", "--yolo", "--model", "openai/mock-model"},
		args:  []string{"calc.go", "calc_test.go"}, // else it asks for them first, and again for the edits
		env: func(url, _ string) []string {
			return []string{
				"OPENAI_API_BASE=" + url + "/v1", "OPENAI_API_KEY=mock-key", "LITELLM_LOCAL_MODEL_COST_MAP=True",
				"AIDER_EDIT_FORMAT=diff", "AIDER_SHOW_MODEL_WARNINGS=false", "AIDER_GITIGNORE=false",
			}
		},
		files: func(_, _, _ string) map[string]string { return nil },
	},
}

const codexConfig = `model = "gpt-5-mock"
model_provider = "mock"
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
[model_providers.mock]
name = "mock"
base_url = "URL/v1"
env_key = "CODEX_MOCK_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[projects."PROJECT"]
trust_level = "trusted"
`

// String returns it as JSON.
func (o object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // of constants
	}
	return string(data)
}

// TestTriedAgentsAreInTheSuite asks for a client of every preset that is not
// experimental, in the version that the preset names.
func TestTriedAgentsAreInTheSuite(t *testing.T) {
	for _, name := range agent.Names() {
		p, err := agent.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Observed.Supervised && !slices.ContainsFunc(agentClients, func(c agentClient) bool { return c.name == p.Name && c.version == p.Observed.Version }) {
			t.Errorf("agent preset %s %s is not run under supervise: add it to agentClients, or leave out observed.supervised", p.Name, p.Observed.Version)
		}
	}
}
