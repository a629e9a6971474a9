package agentrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"supervise/integrity"
	"supervise/internal/event"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/internal/rpc"
	"supervise/internal/textstream"
	"supervise/runner"
)

// hooks answers the hooks of one iteration of the agent. A hook is a call of supervise by the
// agent, for example before it uses a tool, or when it wants to stop. A nil *hooks answers
// none.
type hooks struct {
	*run
	server    *rpc.Server
	installed hook.Installation // zero if no hooks were installed
	options   hook.Options

	mu          sync.Mutex       // guards the fields below
	calls       int              // how many hooks were called
	stops       int              // how often the agent was made to continue
	startSizes  map[string]int64 // sizes of the files at the agent's start, by path
	warnedRisks map[string]bool  // risks that the agent knows already, by rule and target
	statements  []ledger.Block   // the agent's statements that it cannot continue
}

// maxStops is how often an agent may be made to continue in one run.
const maxStops = 3

// errOtherUser says why hooks of another user's agent are not answered.
var errOtherUser = errors.New("the agent runs as another user (protect.user), who cannot reach the supervisor")

// newSocketDir creates a folder for a socket if the path in the folder of the loop is too long.
func newSocketDir() (dir string, remove func() error, err error) {
	return ledger.NewScratchDir("socket")
}

// openHooks starts to answer hooks and statements of the agent. If hooks cannot be installed,
// it records why in the journal, and the run continues without them. The result is nil if the
// agent cannot reach the supervisor at all.
func (r *run) openHooks() (*hooks, error) {
	if r.User != nil {
		if r.Hooks.Disabled || r.Hooks.Client == "" {
			return nil, nil //nolint:nilnil // there is no client that could call them
		}
		return nil, r.reportHooksBroken(r.task.Iteration, errOtherUser)
	}
	h := &hooks{run: r, warnedRisks: map[string]bool{}}
	var err error
	if h.server, err = rpc.Listen(r.Ledger.Dir(), newSocketDir, h.answer); err != nil {
		return nil, r.reportHooksBroken(r.task.Iteration, err)
	}
	if r.Hooks.Disabled {
		return h, nil
	}
	if h.options, err = h.hookOptions(); err == nil {
		h.installed, err = r.installHooks(h.server)
	}
	if err != nil {
		return h, r.reportHooksBroken(r.task.Iteration, err)
	}
	return h, nil
}

// reportHooksBroken records in the journal why hooks are not installed.
func (a *Agent) reportHooksBroken(iteration int, why error) error {
	return a.Journal.Write(event.HooksBroken, iteration, event.HookFailure{Client: string(a.Hooks.Client), Why: why.Error()})
}

// reportHooksSilent records in the journal that hooks were installed, but none was called.
func (a *Agent) reportHooksSilent(iteration int) error {
	return a.Journal.Write(event.HooksSilent, iteration, event.HookFailure{Client: string(a.Hooks.Client), Why: hook.SilentReason(a.Hooks.Client)})
}

// installHooks writes the files by which the agent's hooks call the server, and returns the
// arguments and variables that make the agent use them. The result is the zero value if the
// program has no hooks.
func (a *Agent) installHooks(server *rpc.Server) (in hook.Installation, err error) {
	if a.Hooks.Client == "" || a.Self == "" {
		return in, nil
	}
	env := a.allowedEnv(a.Env)
	getenv := func(name string) string { return runner.Getenv(env, name) }
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if why := hook.InstallProblem(a.Hooks.Client, getenv, exists); why != "" {
		return in, errors.New(why)
	}

	dir := filepath.Join(a.Ledger.Dir(), "hooks")
	in, err = hook.Install(hook.InstallRequest{
		Client: a.Hooks.Client, Binary: a.Self, Socket: server.Path(), FailClosed: a.Hooks.FailClosed, Dir: dir, Getenv: getenv, ReadFile: readSettings,
	})
	if err == nil && len(in.Files) > 0 {
		err = os.MkdirAll(dir, 0o700)
	}
	for name, text := range in.Files {
		if err == nil {
			err = ledger.WriteFile(filepath.Join(dir, name), text)
		}
	}
	if err != nil {
		return hook.Installation{}, err
	}
	return in, nil
}

// env returns the additional variables of the agent, nil without a server.
func (h *hooks) env() []string {
	if h == nil {
		return nil
	}
	out := []string{SocketEnv + "=" + h.server.Path()}
	if h.Hooks.Disabled {
		return out
	}
	return append(append(out, hook.SocketEnv+"="+h.server.Path()), h.installed.Env...)
}

// args returns the additional arguments of a known program, nil if there are none.
func (h *hooks) args() []string {
	if h == nil {
		return nil
	}
	return h.installed.Args
}

// close closes the server, and reports if installed hooks were never called. run is the record
// of the agent, nil if it did not start.
func (h *hooks) close(run *ledger.AgentRun) error {
	if h == nil {
		return nil
	}
	err := h.server.Close()
	if !isInstalled(h.installed) || h.calls > 0 || run == nil || run.ExitCode != 0 || h.silenceReported {
		return err
	}
	h.silenceReported = true
	return errors.Join(err, h.reportHooksSilent(h.task.Iteration))
}

// isInstalled reports whether hooks were installed.
func isInstalled(in hook.Installation) bool { return len(in.Args)+len(in.Env) > 0 }

// hookOptions returns the options for judging calls, with the tree at the agent's start.
func (h *hooks) hookOptions() (hook.Options, error) {
	files, err := h.Store.Files(h.task.Start)
	if err != nil {
		return hook.Options{}, fmt.Errorf("list the files of the tree: %w", err)
	}
	names := make([]string, len(files))
	h.startSizes = make(map[string]int64, len(files))
	for i, f := range files {
		names[i] = f.Path
		h.startSizes[f.Path] = f.Size
	}
	home, _ := os.UserHomeDir() // without one no path is below it
	return hook.Options{
		Mode: h.Mode, Home: home, StateFiles: []string{filepath.Clean(h.Agent.Home)}, CheckFiles: h.Checks, Integrity: h.Integrity,
		Tree: hook.Tree{Root: h.Root, Files: func() []string { return names }, Read: h.readNow, Before: h.readBefore, ReadOutside: readShort},
	}, nil
}

// readSettings reads a settings file of the agent, which may be a link.
func readSettings(path string) ([]byte, error) {
	return projectfile.ReadAnywhere(path, projectfile.Manifest)
}

// maxText is the size of the largest file that is read, in bytes.
const maxText = 1 << 20

// readNow reads a file of the tree. rel is relative to the root.
func (h *hooks) readNow(rel string) ([]byte, bool) {
	return readShort(filepath.Join(h.Root, filepath.FromSlash(rel)))
}

// readShort reads a file of any folder. It returns false if the file is missing or too long.
func readShort(path string) ([]byte, bool) {
	text, err := projectfile.ReadAnywhere(path, maxText)
	return text, err == nil
}

// readBefore reads a file of the tree as it existed at the agent's start. It returns false if
// the file is missing or too long.
func (h *hooks) readBefore(rel string) ([]byte, bool) {
	if size, known := h.startSizes[rel]; !known || size > maxText {
		return nil, false
	}
	text, err := h.Store.ReadFile(context.Background(), h.task.Start, rel)
	return text, err == nil
}

// answer answers a hook or a statement of the agent. The function that it returns runs after
// the answer was sent.
//
// Refused calls and warnings are written to the journal before the answer, and synced after
// it; harmless calls are written after the answer. A permitted call that may destroy files
// waits for a snapshot. For a refused one the snapshot is taken after the answer.
func (h *hooks) answer(q rpc.Request) (rpc.Reply, func()) {
	switch {
	case q.Blocked != nil:
		return h.answerBlocked(*q.Blocked), nil
	case h.Hooks.Disabled:
		return rpc.Reply{Error: "hooks are off"}, nil
	}

	began := time.Now()
	h.mu.Lock()
	h.calls++
	note := event.HookCall{Client: q.Client, Event: q.Event, Decision: hook.Allow}
	call, err := hook.ReadCall(q.Client, q.Event, q.Input)
	if err != nil {
		note.Problem = h.shorten(err.Error())
		h.noteCall(note, began)
		return rpc.Reply{Error: err.Error()}, h.syncAndUnlock
	}

	call.Dir = cmp.Or(call.Dir, q.Dir)
	d := h.decide(call)
	note.Tool, note.Target = call.Tool, h.shorten(cmp.Or(call.Command, call.Path))
	note.Decision, note.Reason, note.Risks = d.Verdict, h.shorten(cmp.Or(d.Reason, d.Context)), h.maskRisks(d.Risks)
	refused := d.Verdict == hook.Deny || d.Verdict == hook.Ask
	if d.Checkpoint && !refused {
		note.Checkpoint, note.Problem = h.checkpoint()
	}

	took := time.Since(began)
	if refused || len(d.Risks) > 0 {
		h.noteCall(note, began)
	}

	return rpc.Reply{Output: hook.FormatAnswer(call, d)}, func() {
		if !refused && len(d.Risks) == 0 {
			h.noteCall(note, time.Now().Add(-took))
		}
		h.syncAndUnlock()
		if refused && d.Checkpoint {
			if _, problem := h.checkpoint(); problem != "" {
				h.Warn(problem, nil)
			}
		}
	}
}

// syncAndUnlock ends [hooks.answer] after the answer was sent.
func (h *hooks) syncAndUnlock() {
	h.Journal.Sync()
	h.mu.Unlock()
}

// decide returns the decision about a call, by the kind of the event.
func (h *hooks) decide(call hook.Call) hook.Decision {
	switch call.Event {
	case hook.PreTool:
		return h.task.AddWarning(hook.Judge(call, h.options))
	case hook.PostTool:
		return h.inspectChanges(call)
	case hook.Stop:
		return h.answerStop(call)
	case hook.SessionStart:
		return hook.Decision{Verdict: hook.Allow, Context: h.task.SessionContext}
	case hook.OtherEvent:
	}
	return hook.Decision{Verdict: hook.Allow}
}

// checkpoint takes a snapshot before a call that may destroy files. It returns the name of the
// snapshot, or the problem if there is none.
func (h *hooks) checkpoint() (name, problem string) {
	n := h.task.Iteration
	info, err := h.Store.Take(context.Background(), fmt.Sprintf("%s, %s", ledger.IterationName(n), event.BeforeTool))
	if err != nil {
		return "", "no checkpoint: " + err.Error()
	}
	h.Journal.Note(event.SnapshotTaken, n, event.TakenSnapshot{Moment: event.BeforeTool, ID: info.ID, Tree: info.Tree, Files: info.Files})
	return info.ID.Name(), ""
}

// maxInspected is how many changed files are inspected after a call.
const maxInspected = 50

// inspectChanges warns about tests and settings that a call has changed, each risk once.
func (h *hooks) inspectChanges(call hook.Call) hook.Decision {
	var changed []string
	if call.Kind == hook.Shell {
		changed = h.changedTests()
	}
	var news []hook.Risk
	for _, r := range hook.JudgeAfter(call, h.options, changed) {
		if key := r.Rule + "\x00" + r.Target; !h.warnedRisks[key] {
			h.warnedRisks[key] = true
			news = append(news, r)
		}
	}
	text := strings.TrimSpace(hook.DelayedWarning(call, h.options) + "\n" + hook.WarningMessage(news))
	return hook.Decision{Verdict: hook.Allow, Context: text, Risks: news}
}

// changedTests lists the tests that were deleted or written since the agent started, at most
// maxInspected of them.
func (h *hooks) changedTests() []string {
	var out []string
	for _, rel := range h.options.Tree.Files() {
		if len(out) == maxInspected || !integrity.BelongsToTests(rel) {
			continue
		}
		info, err := os.Lstat(filepath.Join(h.Root, filepath.FromSlash(rel)))
		if err != nil || info.Size() != h.startSizes[rel] || !info.ModTime().Before(h.task.StartedAt) {
			out = append(out, rel)
		}
	}
	return out
}

// answerStop answers an agent that wants to stop. If the settings ask for it and the criterion
// is not met, the agent has to continue, at most maxStops times.
func (h *hooks) answerStop(call hook.Call) hook.Decision {
	allow := hook.Decision{Verdict: hook.Allow}
	if !h.Hooks.Stop || len(h.statements) > 0 || h.stops >= maxStops || call.StopActive && h.stops == 0 {
		return allow
	}
	missing := h.task.FindUnmet(context.Background())
	if missing == "" {
		return allow
	}
	h.stops++
	return hook.Decision{Verdict: hook.Deny, Reason: "supervise: it is not done: " + missing}
}

// noteCall writes a call to the journal, without waiting for the disk.
func (h *hooks) noteCall(c event.HookCall, began time.Time) {
	took := time.Since(began)
	c.DurationMS = float64(took.Microseconds()) / 1000
	h.Journal.NoteUnsynced(event.HookCalled, h.task.Iteration, c)
}

// maxTarget is the length at which shorten cuts a text, in bytes.
const maxTarget = 500

// shorten masks the secrets in a text, and shortens it.
func (h *hooks) shorten(text string) string { return textstream.Truncate(h.masked(text), maxTarget) }

// maskRisks returns a copy of the risks with their texts shortened and masked.
func (h *hooks) maskRisks(list []hook.Risk) []hook.Risk {
	list = slices.Clone(list)
	for i := range list {
		list[i].Target, list[i].Why = h.shorten(list[i].Target), h.shorten(list[i].Why)
	}
	return list
}
