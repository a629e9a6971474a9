package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/agent"
	"supervise/internal/agentrun"
	"supervise/internal/criterion"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/prompt"
	"supervise/internal/recovery"
	"supervise/runner"
	"supervise/selector"
	"supervise/snapshot"
)

// agentWorld is a project of named tests that pass where their file exists, and a program that plays an agent: its
// Nth run is the Nth step, a text for the shell.
type agentWorld struct {
	t      *testing.T
	opts   Options
	fake   string
	events []event.Event
}

// doneCheck runs them.
const doneCheck = `n=0; for t in $(cat tests); do n=$((n + 1)); if [ -e $t.done ]; then echo "ok $n - $t"; else echo "not ok $n - $t"; fi; done; echo 1..$n`

func newAgentWorld(t *testing.T, program string, steps ...string) *agentWorld {
	t.Helper()
	w := &agentWorld{t: t, fake: t.TempDir()}
	root := t.TempDir()
	w.put(filepath.Join(root, "tests"), "a b\n")
	w.put(filepath.Join(root, "a.done"), "")
	for i, step := range steps {
		w.put(filepath.Join(w.fake, fmt.Sprintf("%d.sh", i+1)), step+"\n")
	}
	bin := filepath.Join(w.fake, program)
	w.put(bin, `#!/bin/sh
n=$(($(cat "$FAKE/n" 2>/dev/null || echo 0) + 1))
echo $n >"$FAKE/n"
for arg; do printf '%s\n' "$arg"; done >"$FAKE/args$n"
[ -t 0 ] || cat >"$FAKE/stdin$n"
[ ! -f "$FAKE/$n.sh" ] || . "$FAKE/$n.sh"
`)
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	off := prompt.Off
	w.opts = Options{
		Settings: Settings{
			Setup:         agentrun.Setup{Root: root, Task: "Make b pass.", Program: agentrun.Program{Name: program}, FirstWait: time.Millisecond, Pty: agentrun.PtyNever},
			MaxIterations: 1, Until: criterion.Criterion{Kind: criterion.Never}, Level: &off, NoRepeat: true,
			Settings: judge.Settings{
				Plan:     measure.Plan{Root: root, Checks: []measure.Check{{Kind: measure.Test, Name: "test", Command: []string{"/bin/sh", "-c", doneCheck}}}},
				Recovery: recovery.Options{MaxRetries: 3}, Rules: detector.DefaultOptions(), Weights: selector.DefaultWeights(),
				Select: selector.Options{Mode: selector.HighestQualityVerified, Threshold: .7},
			},
			Snapshot: snapshot.Options{MinFree: -1},
		},
		Home:    t.TempDir(),
		Env:     append(os.Environ(), "FAKE="+w.fake, "PATH="+w.fake+":"+os.Getenv("PATH")),
		Grace:   runner.Grace{Interrupt: time.Second, Terminate: -1},
		OnEvent: func(e event.Event) { w.events = append(w.events, e) },
	}
	return w
}

func (w *agentWorld) put(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *agentWorld) run() Outcome {
	w.t.Helper()
	out, err := Run(context.Background(), w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// runs is how often the agent was started.
func (w *agentWorld) runs() int {
	b, err := os.ReadFile(filepath.Join(w.fake, "n"))
	if err != nil {
		return 0
	}
	var n int
	_, _ = fmt.Sscan(string(b), &n)
	return n
}

// received is what the agent got in a run: its arguments, or its standard input.
func (w *agentWorld) received(kind string, run int) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.fake, fmt.Sprint(kind, run)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func has[T any](w *agentWorld, t event.Type) (list []T) {
	for _, e := range w.events {
		if d, ok := e.Data.(T); ok && e.Type == t {
			list = append(list, d)
		}
	}
	return list
}

// say is a step that prints events, and then does something.
func say(then string, events ...string) string {
	return "cat <<'EVENTS'\n" + strings.Join(events, "\n") + "\nEVENTS\n" + then
}

const (
	doWork      = "echo 1 >b.done"
	hang        = "while :; do sleep 600; done"
	codexLimit  = `{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`
	codexKey    = `{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized: invalid api key"}}`
	codexServer = `{"type":"turn.failed","error":{"message":"stream disconnected before completion"}}`
)

func codexOK(total int) string {
	return fmt.Sprintf(`{"type":"thread.started","thread_id":"T"}
{"type":"item.completed","item":{"type":"agent_message","text":"Done, DONE."}}
{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":0}}`, total)
}

// The service fails, and comes back: the iteration is repeated, and counts once.
func TestServiceComesBack(t *testing.T) {
	w := newAgentWorld(t, "codex", say("echo 1 >half; exit 1", codexLimit), say("exit 1", codexServer), say(doWork, codexOK(100)))
	out := w.run()
	if len(out.History) != 2 || out.Stop.Reason != event.Done || w.runs() != 3 {
		t.Fatalf("%d iterations, %d runs, %+v", len(out.History)-1, w.runs(), out.Stop)
	}
	run := out.History[1].Agent
	if run.Outcome != string(agent.OK) || run.Runs != 3 || run.Waited <= 0 || *run.Usage.Tokens() != 100 {
		t.Errorf("it is recorded as %+v", run)
	}
	if out.History[1].Assessment.Class != detector.Forward {
		t.Errorf("it counts as %v", out.History[1].Assessment.Class)
	}
	if n := len(out.History[1].Changed); n != 2 {
		t.Errorf("%d files changed, want what the run that broke off did as well", n)
	}
	waits := has[event.Waiting](w, event.AgentWaiting)
	if len(waits) != 2 || waits[0].Outcome != string(agent.RateLimit) || waits[1].Outcome != string(agent.ServerError) || waits[1].DelayMS != 2*waits[0].DelayMS {
		t.Errorf("it reported these waits: %+v", waits)
	}
	if _, err := os.Stat(filepath.Join(out.Dir, "iterations", "iteration-001", "transcript.run2.cast")); err != nil {
		t.Errorf("the transcript of the second run is gone: %v", err)
	}
	state, err := ledger.ReadState(out.Dir)
	if err != nil || state.Waiting != "" || state.Spending == nil || *state.Spending.Tokens != 100 || state.Spending.Improvements != 1 {
		t.Errorf("the state says %+v, %v", state.Spending, err)
	}
	b, err := os.ReadFile(filepath.Join(out.Dir, "best-output-tracking.json"))
	var tracked ledger.Tracking
	if err == nil {
		err = json.Unmarshal(b, &tracked)
	}
	if err != nil || len(tracked.Iterations) != 1 || tracked.Iterations[0].Tokens == nil || *tracked.Iterations[0].Tokens != 100 || tracked.Iterations[0].Cost != nil {
		t.Errorf("the tracker says %s, %v", b, err)
	}
}

// The service does not come back, or says when, or there is no time to wait.
func TestServiceStaysAway(t *testing.T) {
	limits := slices.Repeat([]string{say("exit 1", codexLimit)}, 40)
	for _, tt := range []struct {
		name   string
		steps  []string
		change func(*Options)
		want   event.Reason
		text   string
		runs   int // 0: more than one
	}{
		{"for longer than is waited", limits, func(o *Options) { o.MaxWait = 20 * time.Millisecond }, event.Unavailable, "limits.max_wait (20ms)", 0},
		{"it is not waited at all", limits, func(o *Options) { o.MaxWait = -1 }, event.Unavailable, "429", 1},
		{"it says how long", []string{say("exit 1", `{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again in 2 days."}}`)}, nil, event.Unavailable, "48h", 1},
		{"no time is left", limits, func(o *Options) { o.MaxTime, o.FirstWait = time.Hour, 2*time.Hour }, event.TimeLimit, "1h0m0s", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newAgentWorld(t, "codex", tt.steps...)
			if tt.change != nil {
				tt.change(&w.opts)
			}
			out := w.run()
			if out.Stop.Reason != tt.want || !strings.Contains(out.Stop.Text, tt.text) || out.Stop.Reason.ExitCode() != 4 {
				t.Errorf("it ended by %+v, want %s and %q", out.Stop, tt.want, tt.text)
			}
			if len(out.History) != 1 || out.Choice == nil || !out.Choice.BaselineChosen {
				t.Errorf("%d iterations were counted", len(out.History)-1)
			}
			if n := w.runs(); tt.runs != 0 && n != tt.runs || tt.runs == 0 && n < 2 {
				t.Errorf("%d runs", n)
			}
		})
	}
}

// What only the user can fix ends the loop at once, and resume continues.
func TestRefused(t *testing.T) {
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		w := newAgentWorld(t, "codex", say("exit 1", codexKey), say(doWork, codexOK(1)))
		out := w.run()
		if out.Stop.Reason != event.Refused || len(out.History) != 1 || w.runs() != 1 || out.Stop.Reason.ExitCode() != 2 {
			t.Fatalf("%d runs, %+v", w.runs(), out.Stop)
		}
		for _, want := range []string{"invalid api key", "codex login", "supervise resume " + out.LoopID} {
			if !strings.Contains(out.Stop.Text, want) {
				t.Errorf("it does not say %q: %s", want, out.Stop.Text)
			}
		}
		again, err := Resume(context.Background(), out.LoopID, Options{Home: w.opts.Home, Env: w.opts.Env}, false)
		if err != nil || again.Stop.Reason != event.Done || len(again.History) != 2 || again.History[1].Resumed {
			t.Errorf("resumed: %+v, %d iterations, %v", again.Stop, len(again.History)-1, err)
		}
	})
	t.Run("it would try for ever", func(t *testing.T) {
		t.Parallel()
		retry := func(n int) string {
			return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":%d,"retry_delay_ms":1.5,"error_status":401,"error":"authentication_failed"}`, n)
		}
		w := newAgentWorld(t, "claude", say(hang, retry(1), retry(2), retry(3)))
		out := w.run()
		if out.Stop.Reason != event.Refused || !strings.Contains(out.Stop.Text, "/login") {
			t.Errorf("%+v", out.Stop)
		}
		if list := has[event.Retrying](w, event.AgentRetrying); len(list) != 1 && len(list) != 3 || list[len(list)-1].Attempt != 3 {
			t.Errorf("reported %+v", list)
		}
	})
	t.Run("no such command", func(t *testing.T) {
		t.Parallel()
		w := newAgentWorld(t, "any", "exec no-such-agent")
		w.opts.Program, w.opts.Args = agentrun.Program{}, []string{"any"}
		out := w.run()
		if out.Stop.Reason != event.NoCommand || len(out.History) != 1 || !strings.Contains(out.Stop.Text, "no-such-agent") {
			t.Errorf("%+v", out.Stop)
		}
	})
}

// Every other outcome counts, is kept, and is no reason to say that all is done.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		program, step string
		want          agent.Outcome
	}{
		{"codex", say("", codexOK(1)), agent.OK},
		{"codex", "exit 3", agent.Crashed},
		{"codex", "kill -9 $$", agent.Crashed},
		{"codex", say("", `{"type":"thread.started","thread_id":"T"}`), agent.NoFinalEvent},
		{"codex", hang, agent.Timeout},
		{"claude", say("", `{"type":"result","subtype":"success","permission_denials":[{}]}`), agent.Denied},
		{"claude", say("exit 1", `{"type":"result","subtype":"error_max_turns","is_error":true}`), agent.TurnLimit},
		{"claude", say("exit 1", `{"type":"result","subtype":"error_max_budget_usd","is_error":true}`), agent.BudgetLimit},
	} {
		t.Run(string(tt.want)+" "+tt.program, func(t *testing.T) {
			t.Parallel()
			w := newAgentWorld(t, tt.program, tt.step)
			w.put(filepath.Join(w.opts.Root, "b.done"), "")
			w.opts.Until = criterion.Criterion{Kind: criterion.Idle}
			if tt.want == agent.Timeout {
				w.opts.IterationTimeout = time.Second
			}
			out := w.run()
			if len(out.History) != 2 || out.History[1].Agent.Outcome != string(tt.want) {
				t.Fatalf("%d iterations, the last ended as %+v", len(out.History)-1, out.History[len(out.History)-1].Agent)
			}
			if done := out.Stop.Reason == event.CriterionMet; done != (tt.want == agent.OK) {
				t.Errorf("the loop ended by %+v", out.Stop)
			}
		})
	}
}

// An agent that fails with status 0 again and again is stuck.
func TestStuckWithStatusZero(t *testing.T) {
	step := say("", `{"type":"result","subtype":"error_during_execution","is_error":true,"result":"it broke"}`)
	w := newAgentWorld(t, "claude", slices.Repeat([]string{step}, 6)...)
	w.opts.MaxIterations = 6
	if out := w.run(); out.Stop.Reason != event.Stuck || len(out.History) != 4 {
		t.Errorf("%d iterations, %+v", len(out.History)-1, out.Stop)
	}
}

// Limits end an agent while it runs, and what it did counts.
func TestLimits(t *testing.T) {
	step := func(then string) string {
		return doWork + "\n" + say(then, `{"type":"message_end","message":{"role":"assistant","usage":{"input":70,"output":30,"cost":{"total":0.6}}}}`, `{"type":"agent_end","messages":[{"role":"assistant","stopReason":"stop"}]}`)
	}
	for _, tt := range []struct {
		name   string
		steps  []string
		change func(*Options)
		want   event.Reason
		limit  string
		n      int // iterations
	}{
		{"cost, at once", []string{step(hang)}, func(o *Options) { o.MaxCost = .5 }, event.CostLimit, "cost", 1},
		{"tokens, in the second iteration", []string{step(""), step(hang)}, func(o *Options) { o.MaxTokens = 150 }, event.TokenLimit, "tokens", 2},
		{"neither", []string{step(""), step("")}, func(o *Options) { o.MaxTokens, o.MaxCost = 1000, 10 }, event.Done, "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newAgentWorld(t, "pi", tt.steps...)
			w.opts.MaxIterations = 2
			tt.change(&w.opts)
			out := w.run()
			if out.Stop.Reason != tt.want || len(out.History)-1 != tt.n {
				t.Fatalf("%d iterations, %+v", len(out.History)-1, out.Stop)
			}
			if run := out.History[tt.n].Agent; run.LimitReached != tt.limit {
				t.Errorf("the last run ended as %+v", run)
			}
			if out.Choice.Iteration != 1 {
				t.Errorf("iteration %d was chosen", out.Choice.Iteration)
			}
			if tt.want == event.Done {
				return
			}
			again, err := Resume(context.Background(), out.LoopID, Options{Settings: Settings{MaxIterations: 5}, Home: w.opts.Home, Env: w.opts.Env}, false)
			if err != nil || again.Stop.Reason != tt.want || len(again.History) != len(out.History) {
				t.Errorf("resumed with the same limit it ran on: %+v, %v", again.Stop, err)
			}
		})
	}
}

// A known program gets a separate limit, where it has one.
func TestBudget(t *testing.T) {
	w := newAgentWorld(t, "claude", say("", `{"type":"result","subtype":"success","total_cost_usd":0.25}`))
	w.opts.MaxCost, w.opts.MaxIterations = 2, 2
	w.run()
	for run, want := range []string{1: "--max-budget-usd\n2\n", 2: "--max-budget-usd\n1.75\n"} {
		if run > 0 && !strings.Contains(w.received("args", run), want) {
			t.Errorf("run %d got %q", run, w.received("args", run))
		}
	}
}

// A session continues from one iteration to the next, but never over a rollback, and
// its usage, which grows, is counted once.
func TestSession(t *testing.T) {
	spoil := "echo a >tests"
	w := newAgentWorld(t, "codex", say(doWork, codexOK(100)), say("", codexOK(150)), say(spoil, codexOK(180)), say("", codexOK(40)))
	w.opts.MaxIterations, w.opts.Program.Continue, w.opts.Program.Model, w.opts.Program.Yolo = 4, true, "m", true
	out := w.run()
	if len(out.History) != 5 || !out.History[3].Rejected {
		t.Fatalf("%d iterations, %+v", len(out.History)-1, out.Stop)
	}
	for run, want := range []bool{1: false, 2: true, 3: true, 4: false} {
		if run == 0 {
			continue
		}
		args := w.received("args", run)
		if strings.HasPrefix(args, "exec\nresume\nT\n") != want {
			t.Errorf("run %d got %q", run, args)
		}
		if !strings.Contains(args, "-m\nm\n") || !strings.Contains(args, "--dangerously-bypass-approvals-and-sandbox\n") {
			t.Errorf("run %d got neither model nor consent: %q", run, args)
		}
	}
	for i, want := range []int64{0, 100, 50, 30, 40} {
		if i > 0 && *out.History[i].Agent.Usage.Tokens() != want {
			t.Errorf("iteration %d consumed %d, want %d", i, *out.History[i].Agent.Usage.Tokens(), want)
		}
	}
}

// The agent's claim counts together with green checks alone, and so does quality.
func TestPromise(t *testing.T) {
	w := newAgentWorld(t, "codex", say("", codexOK(1)), say(doWork, strings.Replace(codexOK(1), "DONE", "not yet", 1)), say("echo 1 >more", codexOK(1)))
	w.opts.MaxIterations, w.opts.Until = 5, criterion.Criterion{Promise: "DONE"}
	out := w.run()
	if out.Stop.Reason != event.CriterionMet || len(out.History) != 4 || !strings.Contains(out.Stop.Text, `the agent says "DONE"`) {
		t.Errorf("%d iterations, %+v", len(out.History)-1, out.Stop)
	}
	if !strings.Contains(w.received("args", 1), "text on a separate line: DONE") {
		t.Errorf("the prompt does not ask for the promise: %q", w.received("args", 1))
	}
}

// A prompt arrives byte for byte in each way, and is the same after a resumption.
func TestPromptArrives(t *testing.T) {
	task := "-x \"quoted\" 'text' $(touch pwned) `id` \\n \t%s {{model}}\n\x1b[31m\xff\xfe\r\nüñ; rm -rf *\n"
	for _, tt := range []struct {
		name string
		args []string
		kind string
		want string
	}{
		{"argument", []string{"any", "--say={{prompt}}"}, "args", "--say=" + task + "\n"},
		{"stdin", []string{"any"}, "stdin", task},
		{"preset", nil, "stdin", task},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newAgentWorld(t, map[bool]string{true: "codex", false: "any"}[tt.args == nil], "exit 127", `cat "$SUPERVISE_PROMPT_FILE" >"$FAKE/file2"`)
			w.opts.Task = task
			if tt.args != nil {
				w.opts.Program, w.opts.Args = agentrun.Program{}, tt.args
			}
			out := w.run()
			if _, err := Resume(context.Background(), out.LoopID, Options{Home: w.opts.Home, Env: w.opts.Env}, false); err != nil {
				t.Fatal(err)
			}
			for run := 1; run <= 2; run++ {
				if got := w.received(tt.kind, run); got != tt.want {
					t.Errorf("in run %d %q arrived", run, got)
				}
			}
			if got := w.received("file", 2); got != task {
				t.Errorf("the file holds %q", got)
			}
		})
	}
}
