package agentrun

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"supervise/internal/agent"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/rpc"
	"supervise/runner"
)

// SocketEnv names the variable with the socket by which an agent reaches its
// supervisor, whether or not hooks are answered there.
const SocketEnv = "SUPERVISE_SOCKET"

// The limits of an agent's statements in one iteration, lengths in characters.
const (
	maxReason     = 2000
	maxTestName   = 300
	maxNamed      = 20 // tests of one statement
	maxStatements = 20 // statements
)

// answerBlocked records a statement that the agent cannot continue, and answers with further
// instructions. The statement does not affect the verdict.
func (h *hooks) answerBlocked(q rpc.Blocked) rpc.Reply {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for _, name := range q.Tests[:min(len(q.Tests), maxNamed)] {
		if name = h.oneLine(name, maxTestName); name != "" {
			names = append(names, name)
		}
	}
	b := h.task.FindTests(names)
	if b.Reason, b.At = h.oneLine(q.Reason, maxReason), h.Now(); b.Reason == "" {
		return rpc.Reply{Error: "say why, with --reason"}
	}
	if err := h.noteBlocked(b); err != nil {
		return rpc.Reply{Error: err.Error()}
	}
	return rpc.Reply{Output: []byte(blockedAnswer(b))}
}

// noteBlocked records a statement, unless it is a repetition or there are too many.
func (h *hooks) noteBlocked(b ledger.Block) error {
	again := func(x ledger.Block) bool { return x.Reason == b.Reason && slices.Equal(x.Tests, b.Tests) }
	if len(h.statements) >= maxStatements || slices.ContainsFunc(h.statements, again) {
		return nil
	}
	if err := h.Journal.Write(event.AgentBlocked, h.task.Iteration, b); err != nil {
		return fmt.Errorf("note it: %w", err)
	}
	h.statements = append(h.statements, b)
	return nil
}

// blockedAnswer returns the answer to a statement: what the agent should do now.
func blockedAnswer(b ledger.Block) string {
	text := "noted: a person decides whether the task can be done. Stop working on it, leave the tree as it is, and end your turn.\n"
	if len(b.Tests) > 0 {
		text = "noted: stop working on this test and leave it as it is; a person decides whether it is wrong. Finish what does not depend on it, then end your turn.\n"
	}
	for _, name := range b.Unknown {
		text += fmt.Sprintf("no test is known as %q: repeat it with the name in your prompt or in the report\n", name)
	}
	return text
}

// oneLine returns a text of the agent as one line without escapes, control characters
// and secrets.
func (a *Agent) oneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, agent.StripEscapes(strings.ToValidUTF8(text, "")))
	out := []rune(a.masked(strings.Join(strings.Fields(text), " ")))
	if len(out) > limit {
		return string(out[:limit-1]) + "…"
	}
	return string(out)
}

// blockedStatements returns the agent's statements in this iteration.
func (h *hooks) blockedStatements() []ledger.Block {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.statements)
}

// BlockedCommand returns the command by which the agent says that it cannot continue, "" if it
// cannot reach its supervisor. self is the path of supervise, and env the environment before
// protection.
func (s Setup) BlockedCommand(self string, env []string) string {
	if self == "" || s.Protect.User != "" {
		return ""
	}
	const name = "supervise"
	own, err := os.Stat(self)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(runner.Getenv(s.allowedEnv(env), "PATH")) {
		if found, err := os.Stat(filepath.Join(dir, name)); err == nil {
			if os.SameFile(found, own) {
				return name + " blocked"
			}
			break // another one comes first
		}
	}
	return runner.ShellQuote(self) + " blocked"
}
