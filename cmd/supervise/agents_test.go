//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/test/mockllm"
)

// TestAgents supervises real agent programs, which talk to a scripted model
// server. SUPERVISE_AGENTS names them, or is "all"; .ci/e2e-agents installs them
// and starts this where there is no network but the loopback, so that no real
// service can be reached. SUPERVISE_AGENTS_DIR is where they are installed;
// SUPERVISE_AGENTS_LOG is a file to which a row of each case is added.
func TestAgents(t *testing.T) {
	names := os.Getenv("SUPERVISE_AGENTS")
	if names == "" {
		t.Skip("SUPERVISE_AGENTS is not set: make e2e-agents installs agent programs and runs this")
	}
	if other := networks(t); other != "" {
		t.Fatalf("there is the network %s: real agents are run where the loopback is all there is; see .ci/e2e-agents", other)
	}
	known := 0
	for _, c := range agentClients {
		if names != "all" && !slices.Contains(strings.Split(names, ","), c.name) {
			continue
		}
		known++
		t.Run(c.name, func(t *testing.T) {
			program := filepath.Join(os.Getenv("SUPERVISE_AGENTS_DIR"), c.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("%s is not installed: %v", c.name, err)
			}
			for _, a := range slices.Concat(agentCases, briefCases(), failureCases()) {
				t.Run(a.name, func(t *testing.T) {
					if a.without != nil && a.without(c) {
						t.Skipf("%s: not with %s", a.why, c.name)
					}
					began := time.Now()
					said := ""
					defer func() { logRow(t, c, a.name, said, time.Since(began)) }()
					said = a.run(newAgentWorld(t, c, program, a.host))
				})
			}
		})
	}
	if known == 0 {
		t.Errorf("SUPERVISE_AGENTS=%s names none of the agents: all, or a list with commas", names)
	}
}

// networks names a network that is no loopback.
func networks(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			return i.Name
		}
	}
	return ""
}

// logRow adds a row to the log of the suite.
func logRow(t *testing.T, c agentClient, name, said string, took time.Duration) {
	path := os.Getenv("SUPERVISE_AGENTS_LOG")
	if path == "" || t.Skipped() {
		return
	}
	result := "ok"
	if t.Failed() {
		result = "**failed**"
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "| %s | %s | %s | %s | %s | %.0f |\n", c.name, c.version, name, result, said, took.Seconds())
}

// agentWorld is a small Go project, a home for an agent, and its model.
type agentWorld struct {
	*world
	client agentClient
	home   string
	addr   string // of the model
	model  *mockllm.Server
	state  string // outside of every folder that others can write to: gemini reads no hooks there
	mark   string // in the environment of everything that supervise starts
}

// The project: one of two tests fails.
const (
	calcBefore = "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a + b }\n"
	calcTests  = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal(\"Add\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(\"Sub\")\n\t}\n}\n"
)

func newAgentWorld(t *testing.T, c agentClient, program, host string) *agentWorld {
	t.Helper()
	w := &agentWorld{world: newWorld(t), client: c}
	w.home, w.mark = filepath.Join(w.dir, "home"), "SUPERVISE_E2E_MARK="+w.dir
	w.addr, w.state = freeAddress(t, cmp.Or(host, "127.0.0.1")), stateFolder(t)
	w.write("proj/go.mod", "module calc\n\ngo 1.22\n")
	w.write("proj/calc.go", calcBefore)
	w.write("proj/calc_test.go", calcTests)
	w.write("proj/.gitignore", ".aider*\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	// opencode waits for ever for the library of its plugins where it is not there.
	if lib := filepath.Join(os.Getenv("SUPERVISE_AGENTS_DIR"), "opencode-plugin"); c.name == "opencode" {
		w.write("home/.config/opencode/.keep", "")
		for _, name := range []string{"node_modules", "package.json", "package-lock.json"} {
			if err := os.Symlink(filepath.Join(lib, name), filepath.Join(w.home, ".config/opencode", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range c.files("http://"+w.addr, w.home, w.root) {
		w.write(filepath.Join("home", name), text)
	}
	w.write("home/bin/.keep", "")
	if err := os.Symlink(program, filepath.Join(w.home, "bin", c.name)); err != nil {
		t.Fatal(err)
	}
	w.write("tmp/.keep", "")
	t.Cleanup(func() {
		if t.Failed() {
			w.showTranscripts()
		}
		w.nobodyLeft()
	})
	return w
}

// stateFolder is a folder below those that the user alone can write to.
func stateFolder(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "supervise-agents-state-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// freeAddress is one on which nothing listens.
func freeAddress(t *testing.T, host string) string {
	t.Helper()
	ln, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// serve starts the model.
func (w *agentWorld) serve(scenario mockllm.Scenario) {
	w.t.Helper()
	s, err := mockllm.Start(mockllm.Options{Addr: w.addr, Default: "task", Scenarios: map[string]mockllm.Scenario{"task": scenario}, Dir: w.root})
	if err != nil {
		w.t.Fatal(err)
	}
	w.model = s
	w.t.Cleanup(func() { s.Close() })
}

// env is that of a user who has nothing but the agent.
func (w *agentWorld) environ() []string {
	keep := map[string]bool{"GOCACHE": true, "GOMODCACHE": true, "GOPATH": true, "LANG": true, "SHELL": true}
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); keep[name] {
			env = append(env, kv)
		}
	}
	env = append(env, "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTELEMETRY=off", "TERM=xterm-256color", "HOME="+w.home, "TMPDIR="+filepath.Join(w.dir, "tmp"),
		"PATH="+filepath.Join(w.home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_STATE_HOME="+w.state,
		"GIT_CONFIG_GLOBAL="+filepath.Join(w.dir, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1", w.mark)
	return append(env, w.client.env("http://"+w.addr, w.home)...)
}

// agentEvent is an event of a run.
type agentEvent struct {
	Type      string
	Iteration int
	Data      json.RawMessage
}

// agentRun is a run of supervise.
type agentRun struct {
	w      *agentWorld
	cmd    *exec.Cmd
	talk   *safeBuffer
	seen   chan agentEvent // closed at the end
	events []agentEvent    // that were taken from seen
}

const agentTask = "[[mock:task]] Make all tests pass; add Mul with a test."

// start runs supervise with the agent. The limit is there so that a mistake ends.
func (w *agentWorld) start(flags ...string) *agentRun {
	w.t.Helper()
	args := slices.Concat([]string{"run", "--json", "--max-time", "10m", "-p", agentTask}, w.client.flags, flags, []string{"--"}, w.client.args)
	r := &agentRun{w: w, cmd: exec.Command("supervise", args...), talk: &safeBuffer{}, seen: make(chan agentEvent, 1000)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = w.root, w.environ(), r.talk
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(r.seen)
		for sc := bufio.NewReader(out); ; {
			line, err := sc.ReadBytes('\n')
			if err != nil {
				return
			}
			var e agentEvent
			if json.Unmarshal(line, &e) == nil {
				r.seen <- e
			}
		}
	}()
	return r
}

// until reads events up to the first that ok is true of.
func (r *agentRun) until(ok func(agentEvent) bool) bool {
	for e := range r.seen {
		r.events = append(r.events, e)
		if ok(e) {
			return true
		}
	}
	return false
}

// end waits for the end and returns the exit status.
func (r *agentRun) end() int {
	r.until(func(agentEvent) bool { return false })
	_ = r.cmd.Wait() // the status says it
	return r.cmd.ProcessState.ExitCode()
}

// find returns the data of the first event of a type in an iteration, -1 for any.
func (r *agentRun) find(kind string, iteration int) (json.RawMessage, bool) {
	for _, e := range r.events {
		if e.Type == kind && (iteration < 0 || e.Iteration == iteration) {
			return e.Data, true
		}
	}
	return nil, false
}

// word is a text field of the data of an event, "" where there is none.
func word(data json.RawMessage, name string) string {
	var fields map[string]any
	if json.Unmarshal(data, &fields) != nil || fields[name] == nil {
		return ""
	}
	return fmt.Sprint(fields[name])
}

// story is what happened, in a line, for the log.
func (r *agentRun) story() string {
	var out []string
	for _, e := range r.events {
		switch e.Type {
		case "agent_finished":
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%d: %s", e.Iteration, word(e.Data, "outcome")), ": "))
		case "iteration_rejected":
			out = append(out, "rejected")
		case "agent_waiting":
			out = append(out, "waits")
		case "loop_finished":
			out = append(out, word(e.Data, "reason"))
		}
	}
	return strings.Join(out, ", ")
}

// wants ends the test unless the run ended with a status and a reason.
func (r *agentRun) wants(status int, reason string) {
	r.w.t.Helper()
	code := r.end()
	data, _ := r.find("loop_finished", -1)
	if code == status && word(data, "reason") == reason {
		return
	}
	var kinds []string
	for _, e := range r.events {
		kinds = append(kinds, fmt.Sprintf("%s %d %.600s", e.Type, e.Iteration, e.Data))
	}
	r.w.t.Fatalf("status %d and reason %q, want %d and %q\n%s\n%s\n%s", code, word(data, "reason"), status, reason, strings.Join(kinds, "\n"), r.talk, r.w.asked())
}

// asked lists what the model was asked.
func (w *agentWorld) asked() string {
	if w.model == nil {
		return "the model is down"
	}
	var b strings.Builder
	for _, q := range w.model.Requests() {
		fmt.Fprintf(&b, "%s %s %s: %s part %d step %d, side %v, status %d, calls %v of %v\n", q.Time.Format("15:04:05.0"), q.Method, q.Path, q.Scenario, q.Part, q.Step, q.Side, q.Status, q.Calls, q.Tools)
	}
	return b.String()
}

// prompt is the prompt that the model received in an iteration.
func (w *agentWorld) prompt(part int) string {
	for _, q := range w.model.Requests() {
		if q.Part == part && !q.Side && q.Prompt != "" {
			return q.Prompt
		}
	}
	return ""
}

// heard says whether a text is in what the client sent in an iteration.
func (w *agentWorld) heard(part int, text string) bool {
	return slices.ContainsFunc(w.model.Requests(), func(q mockllm.Request) bool { return q.Part == part && bytes.Contains(q.Body, []byte(text)) })
}

// showTranscripts prints the ends of what the agent printed.
func (w *agentWorld) showTranscripts() {
	files, _ := filepath.Glob(filepath.Join(w.state, "supervise", "*", "loops", "*", "iterations", "*", "transcript.cast"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil {
			w.t.Logf("%s\n%s", f, data[max(0, len(data)-6000):])
		}
	}
}

// leftovers are the processes that supervise has started, and what they have.
func (w *agentWorld) leftovers() []string {
	var out []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(env, []byte(w.mark)) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		out = append(out, filepath.Base(filepath.Dir(f))+" "+strings.ReplaceAll(string(args), "\x00", " "))
	}
	return out
}

// nobodyLeft says what is still there, and ends it.
func (w *agentWorld) nobodyLeft() {
	w.t.Helper()
	for _, p := range w.leftovers() {
		w.t.Errorf("still there: %s", p)
		if pid, err := strconv.Atoi(strings.Fields(p)[0]); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
