//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"supervise/fleet/flow"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// programs are what the tests start.
var programs struct{ supervise, fleet, server string }

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		panic(err)
	}
	programs.supervise, programs.fleet = filepath.Join(dir, "supervise"), filepath.Join(dir, "supervise-fleet")
	for _, b := range [][]string{{"../../..", programs.supervise, "./cmd/supervise"}, {".", programs.fleet, "."}} {
		cmd := exec.Command("go", "build", "-o", b[1], b[2])
		cmd.Dir, cmd.Stderr = b[0], os.Stderr
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
	programs.server = os.Getenv("SUPERVISE_FLEET_SERVER")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// fleet is a repository with tasks, and what runs for them.
type fleet struct {
	t       testing.TB
	dir     string
	address string
	mu      sync.Mutex
	running map[string]*exec.Cmd // by name
}

func newFleet(t testing.TB) *fleet {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, dir: dir, running: map[string]*exec.Cmd{}}
	t.Cleanup(f.stop)
	for name, text := range project {
		f.write(filepath.Join("project", name), text)
	}
	project := filepath.Join(dir, "project")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-qm", "start"}, {"clone", "-q", "--bare", project, filepath.Join(dir, "project.git")}} {
		f.command("git", append([]string{"-C", project}, args...)...)
	}
	return f
}

// project is what the agents work on: a shell script with tests, of which one fails.
var project = map[string]string{
	".supervise.yaml": "checks:\n  test: {command: 'sh run-tests.sh {{report_dir}}/junit.xml', reports: ['{{report_dir}}/junit.xml']}\n",
	"add.sh":          "echo $(($1 - $2))\n",
	"tests/small.sh":  "test \"$(sh add.sh 1 1)\" = 2\n",
	"tests/zero.sh":   "test \"$(sh add.sh 3 0)\" = 3\n",
	"tests/large.sh":  "test \"$(sh add.sh 40 2)\" = 42\n",
	"run-tests.sh": `bad=0
out='<testsuite name="s">'
for f in tests/*.sh; do
	name=$(basename "$f" .sh)
	if sh "$f"; then out="$out<testcase classname=\"tests\" name=\"$name\"/>"
	else bad=1; out="$out<testcase classname=\"tests\" name=\"$name\"><failure message=\"wrong sum\"/></testcase>"; fi
done
echo "$out</testsuite>" > "$1"
exit $bad
`,
}

// agentText is the agent: the candidate that the prompt names takes two iterations to do the
// task, and the others cheat, do nothing, or half of it.
const agentText = `prompt=$(cat "$SUPERVISE_PROMPT_FILE")
right=$(echo "$prompt" | sed -n 's/.*right is \([0-9]\).*/\1/p')
sleep "${AGENT_TAKES:-0}"
case $SUPERVISE_CANDIDATE in
$right)
	if [ "$SUPERVISE_ITERATION" = 1 ]; then echo '# Adds two numbers.' > notes.md
	else echo 'echo $(($1 + $2))' > add.sh; fi ;;
1) rm -f tests/small.sh tests/large.sh ;;
2) : ;;
3) echo 'if [ "$1" = 1 ]; then echo 2; else echo $(($1 - $2)); fi' > add.sh ;;
esac
`

func (f *fleet) write(name, text string) string {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f *fleet) environment() []string {
	return append(os.Environ(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"HOME="+f.dir, "PATH="+filepath.Join(f.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"), "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "TEMPORAL_ADDRESS="+f.address)
}

// command runs a command that has to succeed, and returns what it prints.
func (f *fleet) command(name string, args ...string) string {
	f.t.Helper()
	out, status := f.try(name, args...)
	if status != 0 {
		f.t.Fatalf("%s %v: status %d\n%s", filepath.Base(name), args, status, out)
	}
	return out
}

func (f *fleet) try(name string, args ...string) (out string, status int) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = f.dir, f.environment()
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if cmd.ProcessState == nil {
		f.t.Fatal(err)
	}
	return string(text) + said.String(), cmd.ProcessState.ExitCode()
}

// start starts a program that runs until it is killed.
func (f *fleet) start(name, program string, args ...string) {
	f.t.Helper()
	log, err := os.OpenFile(filepath.Join(f.dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.dir, f.environment(), log, log
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[name] = cmd
}

// kill kills a program, and with sig 9 nothing can be done about it.
func (f *fleet) kill(name string, sig syscall.Signal) {
	f.mu.Lock()
	cmd := f.running[name]
	delete(f.running, name)
	f.mu.Unlock()
	if cmd != nil {
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait()
	}
}

func (f *fleet) stop() {
	for name := range f.running {
		f.kill(name, syscall.SIGKILL)
	}
	if f.t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(f.dir, "*.log"))
		for _, path := range logs {
			text, _ := os.ReadFile(path)
			f.t.Logf("%s:\n%s", filepath.Base(path), text[max(0, len(text)-3000):])
		}
	}
}

// server starts the server, and waits until it answers.
func (f *fleet) server() {
	f.t.Helper()
	if programs.server == "" {
		f.t.Skip("no Temporal server: SUPERVISE_FLEET_SERVER names the program, which make fleet builds in some minutes")
	}
	if f.address == "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			f.t.Fatal(err)
		}
		f.address = l.Addr().String()
		_ = l.Close()
	}
	f.start("server", programs.server, "--address", f.address, "--data", filepath.Join(f.dir, "server.db"))
	f.until("the server answers", func() bool {
		_, status := f.try(programs.fleet, "status")
		return status == 0
	})
}

func (f *fleet) worker(n int) {
	f.t.Helper()
	name := "worker" + strconv.Itoa(n)
	f.start(name, programs.fleet, "worker", "--name", name, "--dir", filepath.Join(f.dir, name), "--supervise", programs.supervise, "--report-every", "500ms", "--dead-after", "4s", "--sticky=false")
}

// until waits until something holds. The limit is for what hangs: a busy machine takes long.
func (f *fleet) until(what string, holds func() bool) {
	f.t.Helper()
	const limit = 20 * time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			f.t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// tasks writes a task file. right is which candidate of each does the task, 0 for none.
// Every second one has a bucket.
func (f *fleet) tasks(right ...int) string {
	var b strings.Builder
	agent := f.write("agent.sh", agentText)
	fmt.Fprintf(&b, "fleet: night\ndefaults:\n  repository: %s\n  commit: main\n  command: [sh, %s]\n  candidates: 3\n  max_iterations: 3\n  flags: [--max-retries, '1', --hooks, 'off']\ntasks:\n", filepath.Join(f.dir, "project.git"), agent)
	for i, n := range right {
		fmt.Fprintf(&b, "  - {id: t%d, prompt: right is %d%s}\n", i, n, map[bool]string{true: ", store: 'file://" + f.bucket() + "'"}[f.usesBucket(i)])
	}
	return f.write("night.yaml", b.String())
}

// bucket is the folder that stands for one.
func (f *fleet) bucket() string { return filepath.Join(f.dir, "bucket") }

// usesBucket reports whether a task has a bucket.
func (f *fleet) usesBucket(task int) bool { return task%2 == 1 }

// kept are the names of what is in the repository and in the bucket.
func (f *fleet) kept() (names []string) {
	f.t.Helper()
	refs := f.command("git", "--git-dir", filepath.Join(f.dir, "project.git"), "for-each-ref", "--format=%(refname)", "refs/supervise")
	names = strings.Fields(refs)
	files, err := filepath.Glob(filepath.Join(f.bucket(), "*", "*", "*", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Dir(file); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// results asks for the results.
func (f *fleet) results() (out fleetState) {
	f.t.Helper()
	text, _ := f.try(programs.fleet, "results", "night", "--json")
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		f.t.Fatalf("results: %v\n%s", err, text)
	}
	return out
}

// check compares what was chosen with what had to be.
func (f *fleet) check(right []int) {
	f.t.Helper()
	got := f.results()
	for i, s := range got.Tasks {
		n, err := strconv.Atoi(strings.TrimPrefix(s.Task, "t"))
		if err != nil || s.Result == nil || s.Result.Candidate != right[n] {
			f.t.Errorf("task %d: %+v, want candidate %d", i, s, right[n])
			continue
		}
		for _, c := range s.Result.Candidates {
			if c.Candidate == right[n] && c.Iterations != 2 {
				f.t.Errorf("task %s: candidate %d has %d iterations, want 2", s.Task, c.Candidate, c.Iterations)
			}
		}
	}
	if len(got.Tasks) != len(right) {
		f.t.Errorf("%d tasks, want %d", len(got.Tasks), len(right))
	}
	// Of each task nothing is left but the best tree and the result.
	for _, name := range f.kept() {
		if base := filepath.Base(name); base != "best" && base != "result" {
			f.t.Errorf("left behind: %s", name)
		}
	}
	f.fetched(right)
}

// fetched makes branches of the best trees, and runs the tests there.
func (f *fleet) fetched(right []int) {
	f.t.Helper()
	project := filepath.Join(f.dir, "project")
	for i, n := range right {
		if n == 0 {
			continue
		}
		from := []string{"--remote", filepath.Join(f.dir, "project.git")}
		if f.usesBucket(i) {
			from = []string{"--store", "file://" + f.bucket()}
		}
		f.command(programs.fleet, append([]string{"fetch", fmt.Sprintf("night/t%d", i), "-C", project}, from...)...)
		f.command("git", "-C", project, "checkout", "-q", fmt.Sprintf("supervise/night/t%d", i))
		if out, status := f.try("sh", "-c", "cd project && sh run-tests.sh /dev/null && git status --porcelain"); status != 0 || out != "" {
			f.t.Errorf("the best tree of t%d: status %d\n%s", i, status, out)
		}
	}
}

// TestJobs does tasks without a server, step by step, as jobs of a CI service do.
func TestJobs(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	tasks := f.tasks(2, 2)
	for _, args := range [][]string{{"prepare"}, {"candidate", "1"}, {"candidate", "2"}, {"candidate", "3"}, {"choose"}} {
		for _, task := range []string{"t0", "t1"} {
			line := append([]string{"job", args[0], tasks, task}, args[1:]...)
			// Each on a separate machine.
			line = append(line, "--dir", filepath.Join(f.dir, "machine"+task+strings.Join(args, "")), "--supervise", programs.supervise)
			t.Log(f.command(programs.fleet, line...))
		}
	}
	want := []string{
		"refs/supervise/fleet/night/t0/best", "refs/supervise/fleet/night/t0/result",
		filepath.Join(f.bucket(), "night", "t1", "best"), filepath.Join(f.bucket(), "night", "t1", "result"),
	}
	if kept := f.kept(); !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	f.fetched([]int{2, 2})
}

// TestFleet does tasks with a server and three workers.
func TestFleet(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.server()
	for n := range 3 {
		f.worker(n)
	}
	right := []int{1, 0, 3}
	out, status := f.try(programs.fleet, "run", f.tasks(right...), "--wait")
	if status != 4 { // one came to nothing
		t.Errorf("status %d\n%s", status, out)
	}
	f.check(right)
	if *record != "" {
		f.record(filepath.Join("..", "..", "flow", "testdata", "histories", *record), "fleet/night", "fleet/night/t0", "fleet/night/t1", "fleet/night/t0/1", "fleet/night/t1/3")
	}
}

var record = flag.String("record", "", "version whose histories TestFleet writes, for TestReplay")

// machine is how a client names itself: by its process and its machine.
var machine = regexp.MustCompile(`"\d+@[^"]*"`)

// record writes the histories of workflows.
func (f *fleet) record(dir string, ids ...string) {
	f.t.Helper()
	c, err := client.Dial(client.Options{HostPort: f.address})
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	for _, id := range ids {
		var h history.History
		for it := c.GetWorkflowHistory(context.Background(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
			e, err := it.Next()
			if err != nil {
				f.t.Fatal(err)
			}
			h.Events = append(h.Events, e)
		}
		text, err := protojson.MarshalOptions{Multiline: true}.Marshal(&h)
		text = machine.ReplaceAll(text, []byte(`"client"`))
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(id, "/", "-")+".json"), text, 0o644)
		}
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Logf("%s: %d events, %d bytes", id, len(h.Events), proto.Size(&h))
	}
}

// TestFleetCrash kills workers and the server at random moments, and starts them again.
// What is chosen is what had to be. With SUPERVISE_FLEET_KILLS twelve tasks after the other
// are done until so many were killed.
func TestFleetCrash(t *testing.T) {
	t.Parallel()
	kills, tasks, campaign := 6, 3, false
	if n, err := strconv.Atoi(os.Getenv("SUPERVISE_FLEET_KILLS")); err == nil {
		kills, tasks, campaign = n, 12, true
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("SUPERVISE_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("SUPERVISE_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // it has to be repeatable
	for kills > 0 && !t.Failed() {
		n := crash(t, random, kills, tasks)
		t.Logf("%d tasks, %d kills", tasks, n)
		if kills -= n; !campaign {
			return
		}
	}
}

// crash has a fleet do tasks, kills at most so many times while it does, and returns how
// often it has.
func crash(t *testing.T, random *rand.Rand, most, tasks int) (kills int) {
	f := newFleet(t)
	f.server()
	for n := range 3 {
		f.worker(n)
	}
	defer f.stop()
	var right []int
	for range tasks {
		right = append(right, random.IntN(4))
	}
	f.command(programs.fleet, "run", f.tasks(right...))
	for kills < most && !f.results().isOver() {
		pause := time.NewTimer(time.Duration(100+random.IntN(1500)) * time.Millisecond)
		<-pause.C
		if kills++; random.IntN(5) == 0 {
			f.kill("server", syscall.SIGKILL)
			f.server()
		} else {
			n := random.IntN(3)
			f.kill("worker"+strconv.Itoa(n), syscall.SIGKILL)
			f.worker(n)
		}
	}
	f.until("all tasks end", func() bool { return f.results().isOver() })
	f.check(right)
	return kills
}

// TestFleetGate has a person approve a choice when the worker that chose is gone.
func TestFleetGate(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.server()
	f.worker(0)
	tasks := f.tasks(2, 2)
	text, err := os.ReadFile(tasks)
	if err != nil {
		t.Fatal(err)
	}
	f.write("night.yaml", strings.Replace(string(text), "  candidates: 3\n", "  candidates: 3\n  gate: true\n", 1))
	f.command(programs.fleet, "run", tasks)
	f.until("both tasks wait for a person", func() bool {
		return strings.Count(f.command(programs.fleet, "status", "night"), "waiting") == 2
	})
	if out, status := f.try(programs.fleet, "fetch", "night/t0", "-C", "project", "--remote", filepath.Join(f.dir, "project.git")); status == 0 {
		t.Errorf("there is a tree before anybody approved it\n%s", out)
	}
	f.kill("worker0", syscall.SIGKILL)
	f.command(programs.fleet, "approve", "night/t0", "--reason", "looks right")
	f.command(programs.fleet, "reject", "night/t1")
	f.worker(1)
	if out, status := f.try(programs.fleet, "watch", "night"); status != 3 {
		t.Errorf("status %d\n%s", status, out)
	}
	f.fetched([]int{2})
	got := f.results()
	if a := got.Tasks[0].Result.Answer; a == nil || a.Reason != "looks right" || got.Tasks[1].State != "rejected" {
		t.Errorf("%+v", got)
	}
}

// TestFleetAsked has a person answer about an iteration, for which no worker waits.
func TestFleetAsked(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.server()
	f.worker(0)
	agent := f.write("hasty.sh", "if [ $SUPERVISE_ITERATION = 1 ]; then rm tests/small.sh; else echo 'echo $(($1 + $2))' > add.sh; fi\n")
	f.command(programs.fleet, "run", f.write("night.yaml", fmt.Sprintf("fleet: night\ntasks:\n  - {id: t0, repository: %s, prompt: work, command: [sh, %s], flags: [--approval, wait, --hooks, 'off']}\n", filepath.Join(f.dir, "project.git"), agent)))
	f.until("the candidate waits for a person", func() bool {
		return strings.Contains(f.command(programs.fleet, "status", "night"), "waits for a person")
	})
	f.kill("worker0", syscall.SIGKILL)
	f.worker(1)
	f.command(programs.fleet, "reject", "night/t0/1", "--reason", "keep the test")
	if out, status := f.try(programs.fleet, "watch", "night"); status != 0 {
		t.Fatalf("status %d\n%s", status, out)
	}
	f.fetched([]int{1})
	if c := f.results().Tasks[0].Result.Candidates[0]; c.Iterations != 2 || c.Reason != "criterion_met" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "project/tests/small.sh")); err != nil {
		t.Error(err)
	}
}

// spender is an agent that tells what it costs.
const spender = `#!/bin/sh
echo "iteration $SUPERVISE_ITERATION of $SUPERVISE_CANDIDATE" > notes.md
echo '{"type":"result","tokens":1000,"cost":0.5}'
`

// TestFleetBudget spends no more than the budget of the fleet and one iteration a worker,
// also when workers are killed.
func TestFleetBudget(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.write(".config/supervise/agents/spender.yaml", `programs: [spender]
observed: {what: this test}
install: nowhere
login: never
never_asks: true
arguments: ["{{prompt}}"]
prompt: ["{{prompt}}"]
events:
  - when: {type: result}
    usage: {input: tokens, cost: cost}
    ends: ok
`)
	if err := os.Chmod(f.write("bin/spender", spender), 0o755); err != nil {
		t.Fatal(err)
	}
	f.server()
	for n := range 3 {
		f.worker(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "fleet: night\nbudget: {cost: 4}\ndefaults: {repository: %s, agents: [spender], candidates: 2, max_iterations: 3, prompt: spend, flags: [--hooks, 'off']}\ntasks:\n", filepath.Join(f.dir, "project.git"))
	for n := range 6 {
		fmt.Fprintf(&b, "  - {id: t%d}\n", n)
	}
	f.command(programs.fleet, "run", f.write("night.yaml", b.String()))
	f.kill("worker0", syscall.SIGKILL)
	f.worker(0)
	out, status := f.try(programs.fleet, "watch", "night")
	if status != 4 {
		t.Fatalf("status %d\n%s", status, out)
	}
	got := f.results()
	sum, denied := 0.0, 0
	for _, s := range got.Tasks {
		sum += s.Result.CostUSD
		for _, c := range s.Result.Candidates {
			if c.Reason == flow.BudgetSpent {
				denied++
			}
		}
	}
	if got.Budget == nil || got.Budget.Spent.CostUSD < sum || sum < 4 || sum > 4+3*0.5 || denied == 0 {
		t.Errorf("the candidates spent %.2f, the budget says %+v, %d were denied", sum, got.Budget, denied)
	}
}

// TestCancel cancels a fleet while its agents work: nothing of them is left.
func TestCancel(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.server()
	f.worker(0)
	agent := f.write("sleeper.sh", "echo $$ >> "+filepath.Join(f.dir, "pids")+"\nexec sleep 600\n")
	tasks := f.write("night.yaml", fmt.Sprintf("fleet: night\ntasks:\n  - {id: t0, repository: %s, prompt: sleep, command: [sh, %s]}\n", filepath.Join(f.dir, "project.git"), agent))
	f.command(programs.fleet, "run", tasks)
	f.until("the agent runs", func() bool {
		_, err := os.Stat(filepath.Join(f.dir, "pids"))
		return err == nil
	})
	t.Log(f.command(programs.fleet, "cancel", "night"))
	text, err := os.ReadFile(filepath.Join(f.dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(line); err == nil && syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d still runs", pid)
		}
	}
	if refs := f.command("git", "--git-dir", filepath.Join(f.dir, "project.git"), "for-each-ref", "refs/supervise"); refs != "" {
		t.Errorf("left behind: %s", refs)
	}
	if left, _ := filepath.Glob(filepath.Join(f.dir, "worker0", "fleets", "night", "*", "*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}
