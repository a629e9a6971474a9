package loop

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
	"supervise/internal/evidence"
	"supervise/internal/hook"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/internal/rpc"
	"supervise/metric"
)

// Hooks say how an agent's own hooks are used.
type Hooks struct {
	Off    bool `json:"off,omitempty"`
	Closed bool `json:"closed,omitempty"` // an error of a hook denies the call
	// Stop has the tree measured when the agent wants to stop, and sends it back
	// where the criterion is not met.
	Stop bool `json:"stop,omitempty"`
	// Client is whose hooks are installed for each run; "" is none: hooks that the
	// user installed are answered all the same.
	Client hook.Client `json:"client,omitempty"`
}

// hookRun answers the hooks of one run of the agent.
type hookRun struct {
	session   *session
	work      *work
	server    *rpc.Server
	installed hook.Installed
	options   hook.Options

	mu    sync.Mutex
	calls int
	stops int
	sizes map[string]int64 // of the files that the agent started with
	seen  map[string]bool  // what the agent was told already
}

// maxStops is how often an agent is sent back in one run.
const maxStops = 3

// openHooks begins to answer hooks; nil where they are off. What keeps hooks from
// being answered is told, and the run goes on without them.
func (s *session) openHooks(w *work) (*hookRun, error) {
	if s.opts.Hooks.Off {
		return nil, nil //nolint:nilnil // no hooks are wanted
	}
	if s.user != nil {
		if s.opts.Hooks.Client == "" {
			return nil, nil //nolint:nilnil // nobody could call them
		}
		return nil, s.event(event.HooksBroken, w.it.Number, event.Silence{Client: string(s.opts.Hooks.Client), Why: errUnheard.Error()})
	}
	h := &hookRun{session: s, work: w, seen: map[string]bool{}}
	var err error
	if h.server, err = rpc.Listen(s.ledger.Dir(), h.answer); err != nil {
		return nil, s.event(event.HooksBroken, w.it.Number, event.Silence{Client: string(s.opts.Hooks.Client), Why: err.Error()})
	}
	if h.options, err = h.circumstances(); err == nil {
		err = h.install()
	}
	if err != nil {
		return h, s.event(event.HooksBroken, w.it.Number, event.Silence{Client: string(s.opts.Hooks.Client), Why: err.Error()})
	}
	return h, nil
}

// install prepares what the agent is started with, so that its hooks call us.
func (h *hookRun) install() error {
	o := h.session.opts
	if o.Hooks.Client == "" || o.Self == "" {
		return nil
	}
	getenv := lookup(o.Protect.ForAgent(o.Env))
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if why := hook.Ready(o.Hooks.Client, getenv, exists); why != "" {
		return errors.New(why)
	}
	dir := filepath.Join(h.session.ledger.Dir(), "hooks")
	in, err := hook.Install(hook.Request{
		Client: o.Hooks.Client, Binary: o.Self, Socket: h.server.Path(), Closed: o.Hooks.Closed, Dir: dir, Getenv: getenv, ReadFile: os.ReadFile,
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
		return err
	}
	h.installed = in
	return nil
}

func lookup(env []string) func(string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(env) {
			if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
				return kv[len(name)+1:]
			}
		}
		return ""
	}
}

// env is what is added to the agent's environment.
func (h *hookRun) env() []string {
	if h == nil {
		return nil
	}
	return append([]string{hook.SocketEnv + "=" + h.server.Path()}, h.installed.Env...)
}

// args are added to the arguments of a known program.
func (h *hookRun) args() []string {
	if h == nil {
		return nil
	}
	return h.installed.Args
}

// close ends the answering, and says when no hook was called although they were
// installed.
func (h *hookRun) close() error {
	if h == nil {
		return nil
	}
	err := h.server.Close()
	s, installed := h.session, len(h.installed.Args)+len(h.installed.Env) > 0
	if agent := h.work.it.Agent; !installed || h.calls > 0 || agent == nil || agent.ExitCode != 0 || s.hooksSilent {
		return err
	}
	s.hooksSilent = true
	return errors.Join(err, s.event(event.HooksSilent, h.work.it.Number, event.Silence{Client: string(s.opts.Hooks.Client), Why: hook.Silent(s.opts.Hooks.Client)}))
}

// circumstances are what calls are judged by: the tree that the agent started
// from.
func (h *hookRun) circumstances() (hook.Options, error) {
	s := h.session
	files, err := s.store.Files(h.work.start.ID)
	if err != nil {
		return hook.Options{}, fmt.Errorf("list the files of the tree: %w", err)
	}
	names := make([]string, len(files))
	h.sizes = make(map[string]int64, len(files))
	for i, f := range files {
		names[i] = f.Path
		h.sizes[f.Path] = f.Size
	}
	home, _ := os.UserHomeDir() // without one nothing lies below it
	return hook.Options{
		Mode: hook.Mode(s.opts.Rules.Mode), Home: home, Own: []string{filepath.Clean(s.opts.Home)}, Checks: scripts(s.opts.Settings), Integrity: s.opts.Integrity,
		Tree: hook.Tree{Root: s.opts.Root, Files: func() []string { return names }, Read: h.read, Before: h.before, Outside: readShort},
	}, nil
}

// scripts are the files that the checks start, relative to the tree.
func scripts(o Settings) []string {
	var out []string
	for _, name := range o.Plan.Programs() {
		path := filepath.Join(o.Plan.Root, name)
		if rel, err := filepath.Rel(o.Root, path); err == nil && filepath.IsLocal(rel) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

func (h *hookRun) read(rel string) ([]byte, bool) {
	return readShort(filepath.Join(h.session.opts.Root, filepath.FromSlash(rel)))
}

// readShort reads a file; false where there is none, or it is long.
func readShort(path string) ([]byte, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > evidence.MaxText {
		return nil, false
	}
	text, err := os.ReadFile(path)
	return text, err == nil
}

func (h *hookRun) before(rel string) ([]byte, bool) {
	if size, known := h.sizes[rel]; !known || size > evidence.MaxText {
		return nil, false
	}
	text, err := h.session.store.ReadFile(context.Background(), h.work.start.ID, rel)
	return text, err == nil
}

// answer answers one hook. What is refused or warned of is written down before the
// agent is told, and reaches the disk behind the answer, where the tree is kept, too.
// What may destroy something and passes waits until the tree is kept. What is harmless
// is written down when the agent goes on already.
func (h *hookRun) answer(q rpc.Request) (rpc.Reply, func()) {
	began := time.Now()
	h.mu.Lock()
	h.calls++
	note := event.HookCall{Client: q.Client, Event: q.Event, Decision: hook.Allow}
	client, err := hook.ParseClient(q.Client)
	var call hook.Call
	if err == nil {
		call, err = hook.Read(client, q.Event, q.Input)
	}
	if err != nil {
		note.Problem = h.masked(err.Error())
		h.note(note, began)
		return rpc.Reply{Error: err.Error()}, h.synced
	}
	call.Dir = cmp.Or(call.Dir, q.Dir)
	d := h.decide(call)
	note.Tool, note.Target = call.Tool, h.masked(cmp.Or(call.Command, call.Path))
	note.Decision, note.Reason, note.Risks = d.Verdict, h.masked(cmp.Or(d.Reason, d.Context)), h.maskedRisks(d.Risks)
	refused := d.Verdict == hook.Deny || d.Verdict == hook.Ask
	if d.Checkpoint && !refused {
		note.Checkpoint, note.Problem = h.checkpoint()
	}
	took := time.Since(began)
	if refused || len(d.Risks) > 0 {
		h.note(note, began)
	}
	return rpc.Reply{Output: hook.Answer(call, d)}, func() {
		if !refused && len(d.Risks) == 0 {
			h.note(note, time.Now().Add(-took))
		}
		h.synced()
		if refused && d.Checkpoint {
			if _, problem := h.checkpoint(); problem != "" {
				h.session.opts.Log.Warn(problem)
			}
		}
	}
}

// synced ends what [hookRun.answer] began.
func (h *hookRun) synced() {
	h.session.logged(h.session.ledger.Sync())
	h.mu.Unlock()
}

func (h *hookRun) decide(call hook.Call) hook.Decision {
	switch call.Event {
	case hook.PreTool:
		return h.session.beware(h.work.it.Level, hook.Judge(call, h.options))
	case hook.PostTool:
		return h.after(call)
	case hook.Stop:
		return h.stop(call)
	case hook.SessionStart:
		n := h.session.previous.Set.Tests.Counts()
		return hook.Decision{Verdict: hook.Allow, Context: hook.Opening(n.Passed, n.Count)}
	case hook.OtherEvent:
	}
	return hook.Decision{Verdict: hook.Allow}
}

// checkpoint keeps the tree before something that may destroy a part of it.
func (h *hookRun) checkpoint() (name, problem string) {
	s, n := h.session, h.work.it.Number
	info, err := s.store.Take(context.Background(), fmt.Sprintf("%s, %s", ledger.Name(n), event.BeforeTool))
	if err != nil {
		return "", "no checkpoint: " + err.Error()
	}
	s.note(event.SnapshotTaken, n, event.Taken{Moment: event.BeforeTool, ID: info.ID, Tree: info.Tree, Files: info.Files})
	return "s" + string(info.ID), ""
}

// maxLooked is how many changed files are looked at after a call.
const maxLooked = 50

// after looks at the tests and settings that a call may have changed.
func (h *hookRun) after(call hook.Call) hook.Decision {
	var changed []string
	if call.Kind == hook.Shell {
		changed = h.changed()
	}
	var news []hook.Risk
	for _, r := range hook.After(call, h.options, changed) {
		if key := r.Rule + "\x00" + r.Target; !h.seen[key] {
			h.seen[key] = true
			news = append(news, r)
		}
	}
	text := strings.TrimSpace(hook.Later(call, h.options) + "\n" + hook.Warning(news))
	return hook.Decision{Verdict: hook.Allow, Context: text, Risks: news}
}

// changed lists the tests that are gone or were written since the agent started.
func (h *hookRun) changed() []string {
	var out []string
	for _, rel := range h.options.Tree.Files() {
		if len(out) == maxLooked || !integrity.BelongsToTests(rel) {
			continue
		}
		info, err := os.Lstat(filepath.Join(h.session.opts.Root, filepath.FromSlash(rel)))
		if err != nil || info.Size() != h.sizes[rel] || !info.ModTime().Before(h.work.it.StartedAt) {
			out = append(out, rel)
		}
	}
	return out
}

// stop measures the tree when the agent wants to stop, if that is asked for, and
// sends the agent back where the criterion is not met.
func (h *hookRun) stop(call hook.Call) hook.Decision {
	allow := hook.Decision{Verdict: hook.Allow}
	s := h.session
	if !s.opts.Hooks.Stop || h.stops >= maxStops || call.StopActive && h.stops == 0 {
		return allow
	}
	res, err := s.measureMasked(context.Background(), s.previous.Set.Tests)
	if err != nil {
		return allow
	}
	met, err := s.met(context.Background(), ledger.Iteration{Set: res.Set})
	if err != nil || met == nil || *met {
		return allow
	}
	h.stops++
	return hook.Decision{Verdict: hook.Deny, Reason: "supervise: it is not done: " + unmet(s.opts.Until, res.Set)}
}

// unmet says what is missing.
func unmet(u Until, set metric.Set) string {
	n := set.Tests.Counts()
	text := fmt.Sprintf("%d of %s pass", n.Passed, report.Count(n.Count, "test", "tests"))
	if list := failing(set.Tests); len(list) > 0 {
		text += "; failing: "
		for i, name := range list[:min(len(list), 5)] {
			if i > 0 {
				text += ", "
			}
			text += name
		}
	}
	return text + ". Done is when " + u.String() + "."
}

// note writes a call into the log, without waiting until the disk has it.
func (h *hookRun) note(c event.HookCall, began time.Time) {
	took := time.Since(began)
	c.DurationMS = float64(took.Microseconds()) / 1000
	h.session.logged(h.session.tell(h.session.ledger.Write, event.HookCalled, h.work.it.Number, c))
}

// maxTarget bounds what is kept of a command, in bytes.
const maxTarget = 500

// masked shortens a text, and masks the secrets in it. The environment of a hook is
// never looked at.
func (h *hookRun) masked(text string) string {
	text = h.session.masker.String(text)
	if len(text) > maxTarget {
		text = strings.ToValidUTF8(text[:maxTarget], "") + "…"
	}
	return text
}

func (h *hookRun) maskedRisks(list []hook.Risk) []hook.Risk {
	list = slices.Clone(list)
	for i := range list {
		list[i].Target, list[i].Why = h.masked(list[i].Target), h.masked(list[i].Why)
	}
	return list
}
