package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// all is a usage with these numbers; cost, turns and tools below 0 were not reported.
func all(input, read, output int64, cost float64, turns, tools int64) Usage {
	u := Usage{Input: &input, CacheRead: &read, Output: &output}
	if tools >= 0 {
		u.ToolCalls = &tools
	}
	if cost >= 0 {
		u.CostUSD = &cost
	}
	if turns >= 0 {
		u.Turns = &turns
	}
	return u
}

const untold = -1

// TestSamples holds what is read from real runs against what is known of them.
// Exit is the code of the run, -9 for one that had to be ended by its time limit.
func TestSamples(t *testing.T) {
	none := Usage{}
	tests := []struct {
		name  string // without its ending
		agent string
		exit  int
		want  Outcome
		usage Usage
	}{
		{"claude-edit-ok", "claude", 0, OK, all(4600, 800, 200, .01704, 4, 3)},
		{"claude-json", "claude", 0, OK, all(4600, 800, 200, .01704, 4, untold)},
		{"claude-budget", "claude", 1, BudgetLimit, all(3300, 600, 150, .01233, 3, 3)},
		{"claude-maxturns", "claude", 1, TurnLimit, all(2100, 400, 100, .00792, 3, 2)},
		{"claude-tool-fail", "claude", 0, OK, all(2100, 400, 100, .00792, 2, 1)},
		{"claude-drop", "claude", 0, OK, all(1000, 200, 50, .00381, 1, 0)},
		{"claude-bad-key", "claude", -9, Auth, none},
		{"claude-rate-limit", "claude", -9, RateLimit, none},
		{"claude-server-error", "claude", -9, ServerError, none},
		{"claude-window", "claude", 0, OK, all(3300, 600, 150, .01233, 3, 2)},
		{"claude-unknown-model", "claude", 1, BadRequest, all(0, 0, 0, 0, 1, 0)},

		{"codex-edit-ok", "codex", 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"codex-file_change", "codex", 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"codex-tool-fail", "codex", 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"codex-bad-key", "codex", 1, Auth, none},
		{"codex-rate-limit", "codex", 1, RateLimit, none},
		{"codex-server-error", "codex", 1, ServerError, none},
		{"codex-drop", "codex", 1, ServerError, none},
		{"codex-usage-limit", "codex", 1, RateLimit, none},
		{"codex-long-prompt", "codex", 1, BadRequest, none},

		{"gemini-edit-ok", "gemini", 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"gemini-json", "gemini", 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"gemini-tool-fail", "gemini", 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"gemini-bad-key", "gemini", 145, Auth, all(0, 0, 0, untold, untold, 0)},
		{"gemini-rate-limit", "gemini", 173, RateLimit, none},
		{"gemini-server-error", "gemini", 244, ServerError, none},
		{"gemini-drop", "gemini", 1, ServerError, all(0, 0, 0, untold, untold, 0)},

		{"opencode-edit-ok", "opencode", 0, OK, all(3800, 800, 200, .01464, 4, 3)},
		{"opencode-tool-fail", "opencode", 0, OK, all(1700, 400, 100, .00672, 2, 1)},
		{"opencode-bad-key", "opencode", 1, Auth, none},
		{"opencode-rate-limit", "opencode", 1, RateLimit, none},
		{"opencode-server-error", "opencode", -9, Timeout, none}, // it says nothing at all
		{"opencode-drop", "opencode", -9, Timeout, none},

		{"pi-edit-ok", "pi", 0, OK, all(3800, 800, 200, .01464, 4, 3)},
		{"pi-tool-fail", "pi", 0, OK, all(1700, 400, 100, .00672, 2, 1)},
		{"pi-bad-key", "pi", 0, Auth, zero(1)},
		{"pi-rate-limit", "pi", 0, RateLimit, zero(4)},
		{"pi-server-error", "pi", 0, ServerError, zero(4)},
		{"pi-drop", "pi", 0, ServerError, zero(4)},

		{"qwen-edit-ok", "qwen", 0, OK, all(3800, 800, 200, untold, 4, 3)},
		{"qwen-tool-fail", "qwen", 0, OK, all(1700, 400, 100, untold, 2, 1)},
		{"qwen-bad-key", "qwen", 0, Auth, all(0, 0, 0, untold, 1, 0)},
		{"qwen-rate-limit", "qwen", -9, Timeout, none},
		{"qwen-server-error", "qwen", -9, Timeout, none},
		{"qwen-drop", "qwen", 0, ServerError, all(0, 0, 0, untold, 1, 0)},

		{"cline-edit-ok", "cline", 0, OK, all(3800, 800, 200, 0, 4, 3)},
		{"cline-tool-fail", "cline", 0, OK, all(1700, 400, 100, 0, 2, 1)},
		{"cline-bad-key", "cline", 1, Auth, zero(1)},
		{"cline-rate-limit", "cline", 1, RateLimit, zero(1)},
		{"cline-server-error", "cline", -9, Timeout, none},
		{"cline-drop", "cline", 1, ServerError, zero(1)},

		{"cn-edit-ok", "cn", 0, OK, none},
		{"cn-tool-fail", "cn", 0, OK, none},
		{"cn-bad-key", "cn", 1, Auth, none},
		{"cn-drop", "cn", -9, Timeout, none},

		{"aider-edit-ok", "aider", 0, OK, none},
		{"aider-bad-key", "aider", 0, Auth, none},
		{"aider-forbidden", "aider", 0, Crashed, none}, // it prints no status
		{"aider-rate-limit", "aider", 0, RateLimit, none},
		{"aider-overloaded", "aider", 0, ServerError, none},
		{"aider-drop", "aider", 0, ServerError, none},
		{"aider-no-model", "aider", 0, BadRequest, none},
		{"aider-too-long", "aider", 0, BadRequest, none},

		{"copilot-edit-ok", "copilot", 0, OK, calls(3, 2)},
		{"copilot-tool-fail", "copilot", 0, OK, calls(2, 1)},
		{"copilot-denied", "copilot", 0, Denied, calls(3, 2)},
		{"copilot-no-login", "copilot", 1, Auth, none},
		{"copilot-bad-key", "copilot", 1, Auth, none},
		{"copilot-forbidden", "copilot", 1, Auth, none},
		{"copilot-rate-limit", "copilot", -9, RateLimit, none},
		{"copilot-server-error", "copilot", 1, ServerError, none},
		{"copilot-no-model", "copilot", 1, BadRequest, none},
		{"copilot-too-long", "copilot", 1, BadRequest, none},
		{"copilot-too-long-code", "copilot", 1, BadRequest, none},
		{"copilot-drop", "copilot", 1, ServerError, none},
		{"copilot-down", "copilot", 1, ServerError, none},

		{"kilo-edit-ok", "kilo", 0, OK, all(3300, 600, 150, .01233, 3, 2)},
		{"kilo-tool-fail", "kilo", 0, OK, all(2100, 400, 100, .00792, 2, 1)},
		{"kilo-bad-key", "kilo", 1, Auth, none},
		{"kilo-server-error", "kilo", 1, ServerError, none},
		{"kilo-no-model", "kilo", 1, BadRequest, none},
		{"kilo-drop", "kilo", 1, ServerError, none},

		{"kimi-edit-ok", "kimi", 0, OK, calls(3, 2)},
		{"kimi-tool-fail", "kimi", 0, OK, calls(2, 1)},
		{"kimi-no-login", "kimi", 1, Auth, none},
		{"kimi-bad-key", "kimi", 1, Auth, none},
		{"kimi-forbidden", "kimi", 1, Auth, none},
		{"kimi-rate-limit", "kimi", -9, RateLimit, none},
		{"kimi-server-error", "kimi", -9, ServerError, none},
		{"kimi-overloaded", "kimi", -9, ServerError, none},
		{"kimi-no-model", "kimi", 1, BadRequest, none},
		{"kimi-too-long", "kimi", 1, BadRequest, none},
		{"kimi-drop", "kimi", -9, ServerError, none},

		{"droid-no-login", "droid", 1, Auth, none},
		{"auggie-no-login", "auggie", 1, Auth, none},
		{"amp-no-login", "amp", -9, Auth, none}, // it waits for a person
		{"amp-offline", "amp", 1, ServerError, none},
	}
	read := map[string]bool{}
	for _, tt := range tests {
		for _, out := range outputs(t, tt.name, read) {
			end := Ending{ExitCode: tt.exit, TimedOut: tt.exit == -9}
			t.Run(tt.name+out.kind, func(t *testing.T) {
				for _, size := range []int{len(out.text) + 1, 7} {
					r := preset(t, tt.agent).NewReader(nil)
					for part := range parts(out.text, size) {
						if _, err := r.Write(part); err != nil {
							t.Fatal(err)
						}
					}
					if err := r.Close(); err != nil {
						t.Fatal(err)
					}
					got := r.Report()
					if o := got.Outcome(preset(t, tt.agent), end, true); o != tt.want {
						t.Errorf("in parts of %d bytes: outcome %s, want %s; %+v", size, o, tt.want, got)
					}
					if !same(got.Usage, tt.usage) {
						t.Errorf("in parts of %d bytes: usage %s, want %s", size, show(got.Usage), show(tt.usage))
					}
				}
			})
		}
	}
	files, err := os.ReadDir("testdata/samples")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !read[f.Name()] {
			t.Errorf("sample %s is held against nothing", f.Name())
		}
	}
}

// calls is the usage of a program that reports no tokens.
func calls(turns, tools int64) Usage { return Usage{Turns: &turns, ToolCalls: &tools} }

// zero is the usage of calls that all failed.
func zero(turns int64) Usage { return all(0, 0, 0, 0, turns, untold) }

type output struct {
	kind string
	text []byte
}

// outputs are what there is of one run: on pipes standard output with standard
// error behind it, as far as they were kept, and what came from a terminal.
func outputs(t *testing.T, name string, read map[string]bool) []output {
	t.Helper()
	load := func(kind string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata/samples", name+kind))
		if err == nil {
			read[name+kind] = true
		}
		return b
	}
	pipes := append(load(".jsonl"), load(".json")...)
	out := []output{{"", append(append(pipes, load(".stdout")...), load(".stderr")...)}}
	if text := load(".pty"); text != nil {
		out = append(out, output{" pty", text})
	}
	return out
}

func parts(b []byte, size int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(bytes.Clone(b[:n])) {
				return
			}
			b = b[n:]
		}
	}
}
