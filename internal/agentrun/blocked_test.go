package agentrun

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/protect"
	"supervise/internal/rpc"
	"supervise/internal/secrets"
	"supervise/metric"
)

// answering is a run whose agent can reach it, and the socket.
func answering(t *testing.T, setup Setup, env ...string) (*hooks, string) {
	t.Helper()
	l, err := ledger.Create(t.TempDir(), ledger.State{LoopID: "ralph-x-1", Status: ledger.Running})
	if err != nil {
		t.Fatal(err)
	}
	a := New(Options{
		Setup: setup, Ledger: l, Masker: secrets.NewMask(env).Masker, Now: time.Now,
		Journal: &event.Journal{Ledger: l, LoopID: "ralph-x-1", Now: time.Now},
	})
	known := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "calc", Name: "TestDiv"}, Status: metric.Failed}})
	r := &run{Agent: a, task: Task{Iteration: 1, FindTests: func(names []string) ledger.Block { return ledger.NewBlock(known, names) }}}
	h, err := r.openHooks()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.close(nil); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, strings.TrimPrefix(h.env()[0], SocketEnv+"=")
}

func say(t *testing.T, socket, reason string, tests ...string) rpc.Reply {
	t.Helper()
	reply, err := rpc.Ask(socket, rpc.Request{Blocked: &rpc.Blocked{Tests: tests, Reason: reason}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// What an agent says is kept as one line, bounded, without secrets, and not for ever.
func TestBlockedIsBounded(t *testing.T) {
	h, socket := answering(t, Setup{Hooks: Hooks{Disabled: true}}, "MY_SECRET_TOKEN=hunter2hunter2")
	for n := range 1000 {
		reply := say(t, socket, fmt.Sprintf("reason %d", n%500), "TestDiv")
		if !strings.HasPrefix(string(reply.Output), "noted: stop working on this test") {
			t.Fatalf("statement %d: %+v", n, reply)
		}
	}
	if got := h.blockedStatements(); len(got) != maxStatements || got[0].String() != "calc: TestDiv is wrong: reason 0" || got[0].Known[0].Name != "TestDiv" {
		t.Errorf("%d statements are kept, the first is %q", len(got), got[0])
	}
	lines := 0
	if _, err := ledger.ReadLog(h.Ledger.Dir(), func(e ledger.Event) {
		if e.Name == string(event.AgentBlocked) {
			lines++
		}
	}); err != nil || lines != maxStatements {
		t.Errorf("the log has %d statements, %v", lines, err)
	}
}

func TestBlockedIsOneLine(t *testing.T) {
	h, socket := answering(t, Setup{Hooks: Hooks{Disabled: true}}, "MY_SECRET_TOKEN=hunter2hunter2")
	many := make([]string, 500)
	for i := range many {
		many[i] = strings.Repeat("é", 999)
	}
	reason := "\x1b[2J\x1b]0;title\a one\r\ntwo\u202e hunter2\x00hunter2 \xff" + strings.Repeat("word ", 9000)
	if reply := say(t, socket, reason, many...); !strings.Contains(string(reply.Output), "no test is known as") {
		t.Errorf("the answer is %s", reply.Output)
	}
	b := h.blockedStatements()[0]
	if n := utf8.RuneCountInString(b.Reason); n > maxReason || n < maxReason-5 || !strings.HasPrefix(b.Reason, "one two [MY_SECRET_TOKEN] word ") {
		t.Errorf("%d characters are kept: %q", n, b.Reason)
	}
	if len(b.Tests) != maxNamed || len(b.Known) > 0 || len(b.Unknown) != maxNamed || utf8.RuneCountInString(b.Tests[0]) > maxTestName {
		t.Errorf("%d tests are kept, %d of them known", len(b.Tests), len(b.Known))
	}
	if reply := say(t, socket, " \x1b[0m\n"); reply.Error == "" {
		t.Errorf("nothing was said, and the answer is %s", reply.Output)
	}
}

// Where hooks are off, nothing else is answered at that socket.
func TestBlockedOpensNoHooks(t *testing.T) {
	_, socket := answering(t, Setup{Hooks: Hooks{Disabled: true}})
	reply, err := rpc.Ask(socket, rpc.Request{Client: "claude", Event: "PreToolUse", Input: []byte("{}")}, time.Minute)
	if err != nil || reply.Error != "hooks are off" {
		t.Errorf("the answer is %+v, %v", reply, err)
	}
}

func TestBlockedCommand(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	self := filepath.Join(dir, "supervise")
	for _, d := range []string{dir, other} {
		if err := os.WriteFile(filepath.Join(d, "supervise"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, self string
		setup      Setup
		path, want string
	}{
		{"on the path", self, Setup{}, other + "x:" + dir, "supervise blocked"},
		{"not on the path", self, Setup{}, "/usr/bin", self + " blocked"},
		{"behind another one", self, Setup{}, other + ":" + dir, self + " blocked"},
		{"another user", self, Setup{Protect: protect.Settings{User: "agent"}}, dir, ""},
		{"no program", "", Setup{}, dir, ""},
		{"a program that is gone", self + "x", Setup{}, dir, ""},
	} {
		if got := tt.setup.BlockedCommand(tt.self, []string{"PATH=" + tt.path}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
