package agent

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func show(u Usage) string {
	b, _ := json.Marshal(u)
	return string(b)
}

// same compares usages; a cache that was not written to may be reported or not.
func same(a, b Usage) bool {
	i := func(x, y *int64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	f := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || math.Abs(*x-*y) < 1e-9) }
	return i(a.Input, b.Input) && i(a.CacheRead, b.CacheRead) && i(a.Output, b.Output) && f(a.CostUSD, b.CostUSD) && i(a.Turns, b.Turns) && i(a.ToolCalls, b.ToolCalls) &&
		(a.CacheWrite == nil || *a.CacheWrite == 0)
}

func TestCommand(t *testing.T) {
	long := strings.Repeat("x", MaxArgument+1)
	tests := []struct {
		name, preset string
		launch       Launch
		want         string // the arguments, joined
		by           Delivery
	}{
		{"nothing asked", "claude", Launch{Prompt: "P"}, "claude -p --output-format stream-json --verbose P", ByArgument},
		{
			"all asked", "claude",
			Launch{Prompt: "P", Model: "opus", Session: "S", Budget: 1.5, Yolo: true, Extra: []string{"--add-dir", "d"}},
			"claude -p --output-format stream-json --verbose --dangerously-skip-permissions --model opus --max-budget-usd 1.5 --resume S --add-dir d P", ByArgument,
		},
		{"placeholders of the user's stay", "claude", Launch{Prompt: "{{model}} {{prompt_file}}", File: "F", Model: "m"}, "claude -p --output-format stream-json --verbose --model m {{model}} {{prompt_file}}", ByArgument},
		{"too long", "claude", Launch{Prompt: long}, "claude -p --output-format stream-json --verbose", ByStdin},
		{"like a flag", "claude", Launch{Prompt: "-v"}, "claude -p --output-format stream-json --verbose", ByStdin},
		{"with a zero byte", "pi", Launch{Prompt: "a\x00b"}, "pi --mode json -p", ByStdin},
		{"resumed by a subcommand", "codex", Launch{Prompt: "P", Session: "S", Yolo: true}, "codex exec resume S --json --skip-git-repo-check -c features.daemon_auto_start=false -c features.unbounded_connection_retries=false -c check_for_update_on_startup=false --dangerously-bypass-approvals-and-sandbox P", ByArgument},
		{"the flag of the prompt goes with it", "gemini", Launch{Prompt: long}, "gemini -o stream-json --skip-trust", ByStdin},
		{"a session that has no name", "gemini", Launch{Prompt: "P", Session: "S"}, "gemini -o stream-json --skip-trust --resume latest -p P", ByArgument},
		{"no standard input", "cline", Launch{Prompt: long, File: "/f"}, "cline --json Read the file /f and do all that it says.", ByFile},
		{"a subcommand", "opencode", Launch{Prompt: "P", Session: "S", Yolo: true}, "opencode run --format json --auto -s S P", ByArgument},
		{"consent by a flag", "qwen", Launch{Prompt: "P", Yolo: true}, "qwen -o stream-json --yolo -p P", ByArgument},
		{"no sessions", "cn", Launch{Prompt: "P", Session: "S", Yolo: true}, "cn --format json --auto -p P", ByArgument},
		{"consent by the environment", "goose", Launch{Prompt: "P", File: "/f", Yolo: true}, "goose run --no-session --output-format stream-json -i /f", ByFile},
		{"a session by its name", "cursor-agent", Launch{Prompt: "P", Session: "S"}, "cursor-agent -p --output-format stream-json --resume S P", ByArgument},
		{"a session that the flag makes or continues", "copilot", Launch{Prompt: "P", Session: "S", Yolo: true}, "copilot --output-format json --no-auto-update --no-ask-user --yolo --session-id S -p P", ByArgument},
		{"what it is like, and its own program", "kilo", Launch{Prompt: "P", Yolo: true}, "kilo run --format json --auto P", ByArgument},
		{"a long prompt that is a sentence about a file", "kimi", Launch{Prompt: long, File: "/f"}, "kimi --output-format stream-json -p Read the file /f and do all that it says.", ByFile},
		{"a session by subcommands", "amp", Launch{Prompt: "P", Session: "S", Yolo: true}, "amp threads continue S --dangerously-allow-all --stream-json -x P", ByArgument},
		{"a flag stays for standard input", "amp", Launch{Prompt: long}, "amp --stream-json -x", ByStdin},
		{"a file where it is long", "droid", Launch{Prompt: long, File: "/f"}, "droid exec -o stream-json -f /f", ByFile},
		{"no flag of consent", "auggie", Launch{Prompt: "P", Session: "S", Yolo: true}, "auggie --print --output-format json --resume S --instruction P", ByArgument},
		{"text alone", "crush", Launch{Prompt: "P", Session: "S"}, "crush run --quiet P", ByArgument},
		{"a limit of its own", "vibe", Launch{Prompt: "P", Budget: 2, Yolo: true}, "vibe --output streaming --trust --auto-approve --max-price 2 -p P", ByArgument},
		{"a task", "openhands", Launch{Prompt: "P", Yolo: true}, "openhands --headless --json --task P", ByArgument},
		{"always a file", "aider", Launch{Prompt: "P", File: "/f", Yolo: true}, "aider --no-auto-commits --no-check-update --no-pretty --yes-always --message-file /f", ByFile},
	}
	tried := map[string]bool{}
	for _, tt := range tests {
		tried[tt.preset] = true
		t.Run(tt.name, func(t *testing.T) {
			p, err := ByName(tt.preset)
			if err != nil {
				t.Fatal(err)
			}
			inv := p.Command(tt.launch)
			if got := strings.Join(inv.Args, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if fed := inv.Stdin == tt.launch.Prompt; fed != (tt.by == ByStdin) {
				t.Errorf("standard input holds %d bytes", len(inv.Stdin))
			}
		})
	}
	for _, name := range Load("").Names() {
		if !tried[name] {
			t.Errorf("agent preset %s has no case: add its command to the table of TestCommand", name)
		}
	}
}

// preset is the built-in agent of that name; "" knows nothing.
func preset(t *testing.T, name string) Preset {
	t.Helper()
	if name == "" {
		return Preset{}
	}
	p, err := Load("").ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConsent makes sure that no preset approves anything by itself.
func TestConsent(t *testing.T) {
	for _, name := range Load("").Names() {
		p := preset(t, name)
		args := p.Command(Launch{Prompt: "P", File: "F", Model: "m", Session: "s"}).Args
		for _, flag := range []string{"--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--auto", "--yes-always", "--force", "--allow-all", "--dangerously-allow-all", "--skip-permissions-unsafe", "--auto-approve"} {
			if slices.Contains(args, flag) {
				t.Errorf("%s has %s without consent", p.Name, flag)
			}
		}
		for _, flag := range p.Yolo {
			if slices.Contains(args, flag) {
				t.Errorf("%s has %s without consent", p.Name, flag)
			}
		}
	}
}

func TestRecognise(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"/usr/bin/claude -p", "claude"}, {"cn", "cn"}, {"./agent.sh claude", ""}, {"claude-wrapper", ""},
	} {
		p, ok := Recognize(strings.Fields(tt.command))
		if p.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s is taken for %q", tt.command, p.Name)
		}
	}
	if _, ok := Recognize(nil); ok {
		t.Error("no command at all is taken for one")
	}
	if _, err := ByName("cluade"); err == nil || !strings.Contains(err.Error(), "claude, codex, gemini, opencode, pi, qwen, copilot") {
		t.Errorf("the error does not name the presets: %v", err)
	}
}

func TestEnviron(t *testing.T) {
	p, _ := ByName("claude")
	got := p.Environ([]string{"A=1", "CLAUDECODE=1", "DISABLE_AUTOUPDATER=0"}, false)
	want := []string{"A=1", "DISABLE_AUTOUPDATER=0", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	g, _ := ByName("goose")
	if got := g.Environ(nil, false); len(got) != 0 {
		t.Errorf("without consent goose gets %q", got)
	}
	if got := g.Environ(nil, true); !slices.Equal(got, []string{"GOOSE_MODE=auto"}) {
		t.Errorf("with consent goose gets %q", got)
	}
}

func TestOutcome(t *testing.T) {
	tests := []struct {
		name   string
		agent  string
		text   string
		end    Ending
		strict bool
		want   Outcome
	}{
		{"custom, ends well", "", "429 rate limit\n", Ending{}, false, OK},
		{"custom, fails", "", "429 rate limit\n", Ending{ExitCode: 1}, false, Crashed},
		{"custom, refused", "", "{\n}\nError: 429 Too Many Requests\n", Ending{ExitCode: 1}, false, RateLimit},
		{"custom, in an object", "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, Ending{ExitCode: 1}, false, Auth},
		{"no such command", "", "sh: agent: not found\n", Ending{ExitCode: 127}, false, NotFound},
		{"by a signal", "claude", "", Ending{ExitCode: -1, Signal: "SIGSEGV"}, true, Crashed},
		{"stopped, and says success", "claude", `{"type":"result","subtype":"success"}`, Ending{Stopped: true}, true, Stopped},
		{"in time, and says success", "claude", `{"type":"result","subtype":"success"}`, Ending{TimedOut: true}, true, Timeout},
		{"denied", "claude", `{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash"}]}`, Ending{}, true, Denied},
		{"fails in its result", "claude", `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: slow down"}`, Ending{ExitCode: 1}, true, RateLimit},
		{"no money is no rate limit", "claude", `{"type":"result","is_error":true,"api_error_status":429,"result":"Credit balance is too low"}`, Ending{ExitCode: 1}, true, Auth},
		{"says success, whatever its code", "claude", `{"type":"result","subtype":"success"}`, Ending{ExitCode: 3}, true, OK},
		{"cut off", "codex", `{"type":"thread.started","thread_id":"t"}`, Ending{}, true, NoFinalEvent},
		{"printed text, as it was told", "codex", "Done.\n", Ending{}, false, OK},
		{"in text", "claude", "Invalid API key · Please run /login\n", Ending{ExitCode: 1}, false, Auth},
		{"long ago", "claude", "HTTP 500\na\nb\nc\n", Ending{ExitCode: 1}, false, Crashed},
		{"over, before it crashed", "codex", `{"type":"error","message":"Reconnecting... 2/5 (last status: 429)"}` + "\n" + `{"type":"item.started","item":{}}`, Ending{ExitCode: 1}, true, Crashed},
		{"answered, in text", "aider", "Aider v0.86.2\n{\n}\nTokens: 2.7k sent, 103 received.\nApplied edit to calc.go\n", Ending{}, true, OK},
		{"gave up, in text", "aider", "Tokens: 2 sent, 1 received.\nlitellm.InternalServerError: InternalServerError: OpenAIException - Connection\nerror.\nRetrying in 32.0 seconds...\n", Ending{}, true, ServerError},
		{"limited, in text", "aider", "litellm.RateLimitError: RateLimitError: OpenAIException - rate limit reached\n", Ending{}, true, RateLimit},
		{"refused, in text", "aider", "litellm.AuthenticationError: AuthenticationError: OpenAIException - invalid api key\n", Ending{}, true, Auth},
		{"refused behind a spinner", "aider", "░█\b\b  \b\blitellm.BadRequestError: OpenAIException - invalid api key\n", Ending{}, true, Auth},
		{"answered at last, in text", "aider", "litellm.RateLimitError: no\nRetrying in 0.2 seconds...\nTokens: 2 sent, 1 received.\n", Ending{}, true, OK},
		{"never asked, in text", "aider", "Aider v0.86.2\n", Ending{}, true, NoFinalEvent},
		{"too many turns", "gemini", "", Ending{ExitCode: 53}, true, TurnLimit},
		{"not signed in", "gemini", "Please set an Auth method\n", Ending{ExitCode: 41}, true, Auth},
		{"asks for rights", "opencode", `{"type":"tool_use","part":{"state":{"status":"error","error":"The user rejected permission to use this tool"}}}` + "\n" + `{"type":"step_finish","part":{"reason":"stop"}}`, Ending{}, true, Denied},
		{"waits for the server", "codex", `{"type":"error","message":"Reconnecting... 2/5 (unexpected status 503 Service Unavailable)"}`, Ending{TimedOut: true}, true, ServerError},
		{"waits for the network", "codex", `{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}`, Ending{TimedOut: true}, true, ServerError},
		{"got on since", "codex", `{"type":"error","message":"Reconnecting... 2/5 (stream disconnected)"}` + "\n" + `{"type":"item.completed","item":{"type":"agent_message","text":"x"}}`, Ending{TimedOut: true}, true, Timeout},
		{"another's events", "claude", "{\"type\":\"turn.completed\"}\n[1]\n{not json}\n{}", Ending{}, true, NoFinalEvent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := preset(t, tt.agent).NewReader(nil)
			_, _ = r.Write([]byte(tt.text))
			_ = r.Close()
			if got := r.Report().Outcome(preset(t, tt.agent), tt.end, tt.strict); got != tt.want {
				t.Errorf("%s, want %s; %+v", got, tt.want, r.Report())
			}
		})
	}
}

func TestResetIn(t *testing.T) {
	for text, want := range map[string]Reset{
		"Claude AI usage limit reached|1763804400":                            {At: time.Unix(1763804400, 0)},
		`retry-after: 12`:                                                     {After: 12 * time.Second},
		`retry-after-ms: 1500`:                                                {After: 1500 * time.Millisecond},
		`{"@type":"RetryInfo","retryDelay":"34.5s"}`:                          {After: 34500 * time.Millisecond},
		"Please try again in 1.2s. Visit":                                     {After: 1200 * time.Millisecond},
		"Rate limit reached. Please try again in 20ms.":                       {After: 20 * time.Millisecond},
		"You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.": {After: 51*time.Hour + 5*time.Minute},
		"You exceeded your capacity. Your quota will reset after 3h12m7s.":    {After: 3*time.Hour + 12*time.Minute + 7*time.Second},
		"429 mock: rate limit reached":                                        {},
		"try again later":                                                     {},
	} {
		if got := ParseReset(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// TestCumulative holds the usage of a session that was continued twice against
// what each run consumed.
func TestCumulative(t *testing.T) {
	var before Usage
	var got []int64
	for _, total := range []string{"4600", "5600", "6600", "1000"} {
		r := preset(t, "codex").NewReader(nil)
		_, _ = r.Write([]byte(`{"type":"turn.completed","usage":{"input_tokens":` + total + `,"cached_input_tokens":0,"output_tokens":0}}` + "\n"))
		now := r.Report().Usage
		got = append(got, *now.Since(before).Input)
		before = now
	}
	if want := []int64{4600, 1000, 1000, 1000}; !slices.Equal(got, want) { // the last thread is another one
		t.Errorf("consumed %v, want %v", got, want)
	}
	if !preset(t, "qwen").UsageGrows || preset(t, "claude").UsageGrows {
		t.Error("the agents whose numbers grow are codex and qwen")
	}
}

// TestWhileRunning wants the numbers that limits are compared with before the end.
func TestWhileRunning(t *testing.T) {
	var tokens []int64
	r := preset(t, "claude").NewReader(func(r Report) {
		if n := r.Usage.Tokens(); n != nil {
			tokens = append(tokens, *n)
		}
	})
	for _, line := range []string{
		`{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":100,"cache_read_input_tokens":20,"output_tokens":1}}}`,
		`{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use"}],"usage":{"input_tokens":100,"cache_read_input_tokens":20,"output_tokens":1}}}`,
		`{"type":"assistant","message":{"id":"b","content":[],"usage":{"input_tokens":200,"output_tokens":1}}}`,
		`{"type":"result","subtype":"success","usage":{"input_tokens":300,"cache_read_input_tokens":20,"output_tokens":60}}`,
	} {
		_, _ = r.Write([]byte(line + "\n"))
	}
	if want := []int64{121, 121, 322, 380}; !slices.Equal(tokens, want) {
		t.Errorf("%v tokens, want %v", tokens, want)
	}
}

// TestLongLines wants a line that no memory should hold to be passed over, and
// what follows to be read.
func TestLongLines(t *testing.T) {
	r := preset(t, "claude").NewReader(nil)
	part := []byte(strings.Repeat("x", 1<<20))
	_, _ = r.Write([]byte(`{"type":"`))
	for range maxLine>>20 + 1 {
		_, _ = r.Write(part)
	}
	_, _ = r.Write([]byte("\"}\n{\"type\":\"result\",\"subtype\":\"success\"}\n"))
	if got := r.Report(); !got.Final || got.Lines != 1 {
		t.Errorf("%d events, final %v", got.Lines, got.Final)
	}
}

// TestLongEvents wants an event that holds files to be passed over, where it would have to
// be taken apart into values.
func TestLongEvents(t *testing.T) {
	r := preset(t, "codex").NewReader(nil)
	_, _ = r.Write([]byte(`{"type":"turn.failed","list":[` + strings.Repeat("1,", maxEvent/2) + "1]}\n"))
	if got := r.Report(); got.Lines != 1 || got.Final {
		t.Errorf("it was read: %+v", got)
	}
	_, _ = r.Write([]byte(`{"type":"turn.completed","usage":{"input_tokens":1}}` + "\n"))
	if got := r.Report(); got.Lines != 2 || got.Verdict != OK || *got.Usage.Input != 1 {
		t.Errorf("what follows was not read: %+v", got)
	}
}

func TestTried(t *testing.T) {
	p := Preset{Observed: Observed{Version: "2.2.0"}}
	for version, want := range map[string]bool{"": true, "2.2.0": true, "2.2": true, "2.2.1": false, "2.1.99": false, "2.10.0": false, "v2.2.0": true, "dev": true} {
		if p.IsTestedVersion(version) != want {
			t.Errorf("%q: want %v", version, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("claude", []byte(`{"type":"result","usage":{"input_tokens":1}}`+"\r\n"))
	f.Add("gemini", []byte("{\n \"response\":\"x\"\n}\n"))
	f.Add("opencode", []byte(`{"type":"step_finish","part":{"tokens":{"input":1}}}`+"\n"))
	f.Add("", []byte(`{"error":{"code":429}}`+"\n"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		p, _ := ByName(name) // any other reads nothing
		atOnce, split := p.NewReader(nil), p.NewReader(nil)
		_, _ = atOnce.Write(text)
		for part := range parts(text, 3) {
			_, _ = split.Write(part)
		}
		_, _ = atOnce.Close(), split.Close()
		if a, b := show(atOnce.Report().Usage), show(split.Report().Usage); a != b {
			t.Errorf("atOnce %s, in parts %s", a, b)
		}
	})
}
