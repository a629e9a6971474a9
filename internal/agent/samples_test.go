package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// all is a usage with these numbers; cost, turns and tools below 0 were not told.
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
		name   string // without its ending
		format Format
		exit   int
		want   Outcome
		usage  Usage
	}{
		{"claude-edit-ok", Claude, 0, OK, all(4600, 800, 200, .01704, 4, 3)},
		{"claude-json", Claude, 0, OK, all(4600, 800, 200, .01704, 4, untold)},
		{"claude-budget", Claude, 1, BudgetLimit, all(3300, 600, 150, .01233, 3, 3)},
		{"claude-maxturns", Claude, 1, TurnLimit, all(2100, 400, 100, .00792, 3, 2)},
		{"claude-tool-fail", Claude, 0, OK, all(2100, 400, 100, .00792, 2, 1)},
		{"claude-drop", Claude, 0, OK, all(1000, 200, 50, .00381, 1, 0)},
		{"claude-bad-key", Claude, -9, Auth, none},
		{"claude-rate-limit", Claude, -9, RateLimit, none},
		{"claude-server-error", Claude, -9, ServerError, none},
		{"claude-unknown-model", Claude, 1, BadRequest, all(0, 0, 0, 0, 1, 0)},

		{"codex-edit-ok", Codex, 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"codex-file_change", Codex, 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"codex-tool-fail", Codex, 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"codex-bad-key", Codex, 1, Auth, none},
		{"codex-rate-limit", Codex, 1, RateLimit, none},
		{"codex-server-error", Codex, 1, ServerError, none},
		{"codex-drop", Codex, 1, ServerError, none},
		{"codex-usage-limit", Codex, 1, RateLimit, none},
		{"codex-long-prompt", Codex, 1, BadRequest, none},

		{"gemini-edit-ok", Gemini, 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"gemini-json", Gemini, 0, OK, all(3800, 800, 200, untold, untold, 3)},
		{"gemini-tool-fail", Gemini, 0, OK, all(1700, 400, 100, untold, untold, 1)},
		{"gemini-bad-key", Gemini, 145, Auth, all(0, 0, 0, untold, untold, 0)},
		{"gemini-rate-limit", Gemini, 173, RateLimit, none},
		{"gemini-server-error", Gemini, 244, ServerError, none},
		{"gemini-drop", Gemini, 1, ServerError, all(0, 0, 0, untold, untold, 0)},

		{"opencode-edit-ok", OpenCode, 0, OK, all(3800, 800, 200, .01464, 4, 3)},
		{"opencode-tool-fail", OpenCode, 0, OK, all(1700, 400, 100, .00672, 2, 1)},
		{"opencode-bad-key", OpenCode, 1, Auth, none},
		{"opencode-rate-limit", OpenCode, 1, RateLimit, none},
		{"opencode-server-error", OpenCode, -9, Timeout, none}, // it says nothing at all
		{"opencode-drop", OpenCode, -9, Timeout, none},

		{"pi-edit-ok", Pi, 0, OK, all(3800, 800, 200, .01464, 4, 3)},
		{"pi-tool-fail", Pi, 0, OK, all(1700, 400, 100, .00672, 2, 1)},
		{"pi-bad-key", Pi, 0, Auth, zero(1)},
		{"pi-rate-limit", Pi, 0, RateLimit, zero(4)},
		{"pi-server-error", Pi, 0, ServerError, zero(4)},
		{"pi-drop", Pi, 0, ServerError, zero(4)},

		{"qwen-edit-ok", Qwen, 0, OK, all(3800, 800, 200, untold, 4, 3)},
		{"qwen-tool-fail", Qwen, 0, OK, all(1700, 400, 100, untold, 2, 1)},
		{"qwen-bad-key", Qwen, 0, Auth, all(0, 0, 0, untold, 1, 0)},
		{"qwen-rate-limit", Qwen, -9, Timeout, none},
		{"qwen-server-error", Qwen, -9, Timeout, none},
		{"qwen-drop", Qwen, 0, ServerError, all(0, 0, 0, untold, 1, 0)},

		{"cline-edit-ok", Cline, 0, OK, all(3800, 800, 200, 0, 4, 3)},
		{"cline-tool-fail", Cline, 0, OK, all(1700, 400, 100, 0, 2, 1)},
		{"cline-bad-key", Cline, 1, Auth, zero(1)},
		{"cline-rate-limit", Cline, 1, RateLimit, zero(1)},
		{"cline-server-error", Cline, -9, Timeout, none},
		{"cline-drop", Cline, 1, ServerError, zero(1)},

		{"cn-edit-ok", Continue, 0, OK, none},
		{"cn-tool-fail", Continue, 0, OK, none},
		{"cn-bad-key", Continue, 1, Auth, none},
		{"cn-drop", Continue, -9, Timeout, none},
	}
	read := map[string]bool{}
	for _, tt := range tests {
		for _, out := range outputs(t, tt.name, read) {
			end := Ending{ExitCode: tt.exit, TimedOut: tt.exit == -9}
			t.Run(tt.name+out.kind, func(t *testing.T) {
				for _, size := range []int{len(out.text) + 1, 7} {
					r := NewReader(tt.format, nil)
					for part := range parts(out.text, size) {
						if _, err := r.Write(part); err != nil {
							t.Fatal(err)
						}
					}
					if err := r.Close(); err != nil {
						t.Fatal(err)
					}
					got := r.Report()
					if o := got.Outcome(tt.format, end, true); o != tt.want {
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
