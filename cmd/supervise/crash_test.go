//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/internal/ledger"
	"supervise/snapshot"

	"golang.org/x/sys/unix"
)

// TestCrash kills supervise with SIGKILL at random moments, resumes the loop,
// and kills it again, as often as wanted ("make crash"). Nothing that was
// reported may be missing, no file of the user lost, no process left, and every resume
// continues.
func TestCrash(t *testing.T) {
	t.Parallel()
	want, seed := crashes(t, 0, 2)
	sideBySide(t, want, min(4, 1+want/50), func(stream int) func(*testing.T, int) int { // they wait for their agents
		random := rand.New(rand.NewPCG(seed, uint64(stream))) //nolint:gosec // it has to be repeatable
		return func(t *testing.T, _ int) int {
			c := newCrashWorld(t, random)
			c.run()
			return c.kills
		}
	})
}

// sideBySide lets some streams of rounds continue at a time until supervise was killed as
// often as wanted. A round returns how often that was.
func sideBySide(t *testing.T, want, streams int, begin func(stream int) func(t *testing.T, round int) (kills int)) {
	t.Helper()
	for stream := range streams {
		t.Run(strconv.Itoa(stream), func(t *testing.T) {
			t.Parallel()
			round, kills, rounds := begin(stream), 0, 0
			for ; kills < (want+streams-1)/streams && !t.Failed(); rounds++ {
				kills += round(t, rounds)
			}
			t.Logf("%d kills in %d rounds", kills, rounds)
		})
	}
}

// crashes returns how often one of the tests kills supervise, a share in thirds of
// SUPERVISE_CRASHES, and the seed of its random decisions. Without the variable it returns
// the default, or skips the test if that is 0.
func crashes(t *testing.T, normal, share int) (kills int, seed uint64) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills processes of one goroutine each: nothing for the race detector")
	}
	if n, err := strconv.Atoi(os.Getenv("SUPERVISE_CRASHES")); err == nil {
		normal = (share*n + 2) / 3
	}
	if normal == 0 {
		t.Skip("SUPERVISE_CRASHES is not set: make crash runs this test")
	}
	return normal, seedOf(t)
}

// crashWorld is a project, its loop, and the events that the loop has printed so far.
type crashWorld struct {
	*world
	random  *rand.Rand
	mark    string // in the command line of every process of the agent
	loop    string
	printed []printed
	kills   int
	meddled bool // a process changed the tree since the last restore that was given up
	orphan  bool // the watcher of the agent's processes was killed as well, and no process came after it yet
}

// printed is an event as it was printed.
type printed struct {
	Type      string          `json:"type"`
	Time      time.Time       `json:"time"`
	LoopID    string          `json:"loop_id"`
	Iteration int             `json:"iteration"`
	Data      json.RawMessage `json:"data"`
}

const crashIterations = 5

// newCrashWorld makes a project with the user's work in it, a fast check, and an
// agent that is destructive in iteration 2: it takes a test away before it
// deletes anything else, so that no part of that may be accepted.
func newCrashWorld(t *testing.T, random *rand.Rand) *crashWorld {
	t.Helper()
	c := &crashWorld{world: newWorld(t), random: random}
	c.mark = strconv.Itoa(1_000_000 + random.IntN(1_000_000))
	for name, text := range map[string]string{
		"proj/check.sh": checkOfFiles,
		"proj/t-1.txt":  "ok\n", "proj/t-2.txt": "fails\n", "proj/.gitignore": "*.log\n",
		"proj/tracked.txt": "one\n", "proj/deep/file.txt": "deep\n",
		"agent.sh": fmt.Sprintf(`n=$SUPERVISE_ITERATION
setsid sleep %s & sleep %s &
case $n in
2) rm -f t-1.txt; sleep .1; rm -rf deep untracked.txt; sleep .1; echo agent > tracked.txt; git add -A; git commit -qm agent; git checkout -q -b agent; git stash clear ;;
3) echo ok > fixed.log; mv fixed.log t-2.txt ;; # in one step: half of it counts as done
*) for i in 1 2 3 4 5 6 7 8 9; do echo "$n $i" > new-$n-$i.txt; sleep .03; done; echo ok > t-new-$n.txt; git commit -qam "agent $n" ;;
esac
`, c.mark, c.mark),
	} {
		c.write(name, text)
	}
	c.git("init", "-q")
	c.git("add", ".")
	c.git("commit", "-qm", "start")
	c.write("proj/tracked.txt", "stashed\n")
	c.git("stash", "push", "-q", "-m", "the user's own")
	c.write("proj/tracked.txt", "two\n")
	c.git("add", "tracked.txt")
	c.write("proj/tracked.txt", "three\n")
	c.write("proj/untracked.txt", "mine\n")
	c.write("proj/mine.log", "ignored\n")
	return c
}

// run starts the loop and resumes it until it ends by itself, killing it on the
// way, and then looks at what it left.
func (c *crashWorld) run() {
	for attempt := 0; !c.t.Failed(); attempt++ {
		args := []string{"resume", c.loop, "--json"}
		if c.loop == "" {
			args = []string{
				"run", "--json", "--until", "never", "--on-stall", "continue", "--max-retries", "9", "--max-iterations", strconv.Itoa(crashIterations),
				"--test-cmd", "sh check.sh {{report_dir}}", "--test-report", "{{report_dir}}/junit.xml", "--", "sh", filepath.Join(c.dir, "agent.sh"),
			}
		}
		if c.once(args, c.random.IntN(6) > 0) {
			break
		}
	}
	c.nothingMissing()
	c.nothingLost()
	if c.t.Failed() {
		c.story()
	}
}

// story logs what happened to a loop that came out wrong.
func (c *crashWorld) story() {
	events, _, _ := audit(c.folder())
	for _, e := range events {
		c.t.Logf("%s %d %s %.300s", e.Time.Format("05.000"), e.Iteration, e.Name, e.Data)
	}
}

// once runs supervise, kills it if it is to die, and reports whether the loop
// came to its end.
func (c *crashWorld) once(args []string, die bool) bool {
	cmd := c.command("supervise", args...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	died := func() (alone bool) { return true }
	if die {
		both, alone := c.random.IntN(3) == 0, make(chan bool, 1)
		killer := time.AfterFunc(time.Duration(c.random.IntN(500))*time.Millisecond, func() { alone <- kill(cmd.Process, both) })
		died = func() bool { return killer.Stop() || <-alone }
	}
	c.listen(bufio.NewReader(out))
	_ = cmd.Wait() // its status is looked at below
	if !died() {
		c.orphan = true
	}
	if !c.orphan {
		c.nobodyLeft()
	}
	status, _ := cmd.ProcessState.Sys().(interface{ Signaled() bool })
	if status.Signaled() {
		c.kills++
		if c.loop != "" && c.random.IntN(8) == 0 { // it is only a cache
			if err := os.Remove(filepath.Join(c.folder(), "state.json")); err != nil && !os.IsNotExist(err) {
				c.t.Error(err)
			}
		}
		c.meddle()
		return false
	}
	if c.meddled && c.followAdvice(talk.String()) {
		return false
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		c.t.Errorf("supervise %s: status %d, want 0\n%s", strings.Join(args, " "), code, talk.String())
	}
	return true
}

// givenUp finds the remedy in the message of a restore that was given up
// because another process changed the tree after it was interrupted.
var givenUp = regexp.MustCompile(`a restore was interrupted, and the tree has been changed since .*: nothing was touched, .* the target of the restore: supervise (rollback \S+ s\d+);`)

// followAdvice runs the remedy that supervise named, if it gave up a restore, as
// its user would.
func (c *crashWorld) followAdvice(message string) bool {
	found := givenUp.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	c.meddled = false
	if out, code := c.supervise(strings.Fields(found[1])...); code != 0 {
		c.t.Errorf("supervise %s: status %d, want 0\n%s", found[1], code, out)
	}
	return true
}

// kill kills supervise, and with it, where that is wanted and there are any, the
// watchers of its children's processes, as a machine that runs out of memory
// does. It reports whether supervise died alone.
func kill(p *os.Process, both bool) (alone bool) {
	list := watchers(p.Pid)
	if !both || len(list) == 0 {
		_ = p.Kill()
		return true
	}
	_ = p.Signal(unix.SIGSTOP) // or it would clear up after its watcher
	for _, pid := range list {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	_ = p.Kill()
	return false
}

// watchers returns the children of a process.
func watchers(pid int) []int {
	var text []byte
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		more, _ := os.ReadFile(path)
		text = append(append(text, ' '), more...)
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(field); err == nil && !slices.Contains(pids, n) {
			pids = append(pids, n)
		}
	}
	return pids
}

// listen notes what supervise tells. A last line may be torn by its death.
func (c *crashWorld) listen(r *bufio.Reader) {
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var e printed
		if err := json.Unmarshal(line, &e); err != nil {
			c.t.Errorf("supervise printed %q: %v", line, err)
		}
		c.loop = e.LoopID
		c.orphan = c.orphan && e.Type != "loop_resumed"
		c.printed = append(c.printed, e)
	}
}

// nobodyLeft waits until no process holds the tree, which is when the watcher of the
// dead run's processes has ended, and looks for what runs all the same.
func (c *crashWorld) nobodyLeft() {
	tree, err := os.Open(c.root)
	if err != nil {
		c.t.Fatal(err)
	}
	defer tree.Close()
	if err := unix.Flock(int(tree.Fd()), unix.LOCK_EX); err != nil {
		c.t.Fatal(err)
	}
	nothingRuns(c.t, c.mark)
}

// meddle changes the tree behind the loop's back, sometimes, where the loop knows
// what the tree has to be: not before it has seen it, and not while what the
// agent does is unknown.
func (c *crashWorld) meddle() {
	if c.loop == "" || c.random.IntN(2) == 0 {
		return
	}
	events, _, err := audit(c.folder())
	if err != nil {
		c.t.Fatal(err)
	}
	known := false
	for _, e := range events {
		switch e.Name {
		case "snapshot_taken", "iteration_rejected":
			known = true
		case "child_starting":
			known = known && !bytes.Contains(e.Data, []byte(`"agent"`))
		case "loop_finished":
			known = false // what is changed now is no business of the loop any more
		}
	}
	if known {
		c.meddled = true
		c.write("proj/stray.txt", "not of the loop\n")
		c.write("proj/deep/file.txt", "not of the loop\n")
	}
}

func (c *crashWorld) folder() string {
	dirs, _ := filepath.Glob(filepath.Join(c.dir, "state", "supervise", "*", "loops", c.loop))
	if len(dirs) != 1 {
		c.t.Fatalf("the loop %s has %d folders", c.loop, len(dirs))
	}
	return dirs[0]
}

// nothingMissing compares the printed events with the record.
func (c *crashWorld) nothingMissing() {
	dir := c.folder()
	events, problems, err := audit(dir)
	if err != nil || len(problems) > 0 {
		c.t.Errorf("the log: %v, problems %v", err, problems)
	}
	logged := map[string]bool{}
	for _, e := range events {
		logged[eventKey(e.Name, e.Iteration, e.Time, e.Data)] = true
	}
	its, err := ledger.ReadIterations(dir)
	if err != nil || len(its) != crashIterations+1 {
		c.t.Errorf("%d iterations are kept (%v), want %d and the baseline", len(its), err, crashIterations)
	}
	store, err := snapshot.Open(c.t.Context(), c.root, ledger.SnapshotDir(dir), snapshot.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer store.Close()
	for _, e := range c.printed {
		if !logged[eventKey(e.Type, e.Iteration, e.Time, e.Data)] {
			c.t.Errorf("%s of iteration %d was printed and is not in the log", e.Type, e.Iteration)
		}
		switch e.Type {
		case "snapshot_taken":
			c.snapshotKept(store, e)
		case "iteration_finished", "baseline_measured":
			c.metricsKept(its, e)
		}
	}
}

func eventKey(name string, iteration int, at time.Time, data json.RawMessage) string {
	var v any
	_ = json.Unmarshal(data, &v)
	if data, isMap := v.(map[string]any); isMap && name == "loop_finished" {
		delete(data, "tree") // is not reported again, for a loop that had ended
	}
	text, _ := json.Marshal(v) // keys sorted
	return fmt.Sprint(name, iteration, at.UnixNano(), string(text))
}

func (c *crashWorld) snapshotKept(store *snapshot.Store, e printed) {
	var d struct {
		Snapshot snapshot.ID
		Tree     string
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		c.t.Fatal(err)
	}
	if info, err := store.Info(d.Snapshot); err != nil || info.Tree != d.Tree {
		c.t.Errorf("snapshot s%s of iteration %d was printed with the tree %s and is %s, %v", d.Snapshot, e.Iteration, d.Tree, info.Tree, err)
	}
}

func (c *crashWorld) metricsKept(its []ledger.Iteration, e printed) {
	var d struct {
		Metrics ledger.Progress
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		c.t.Fatal(err)
	}
	i := slices.IndexFunc(its, func(it ledger.Iteration) bool { return it.Number == e.Iteration })
	if i < 0 {
		c.t.Errorf("iteration %d was printed and is not kept", e.Iteration)
		return
	}
	kept, was := its[i].Progress(false), d.Metrics
	if kept.Derived.Signature != was.Derived.Signature || *kept.Derived.QualityScore != *was.Derived.QualityScore {
		c.t.Errorf("iteration %d was printed as %+v and is kept as %+v", e.Iteration, was.Derived, kept.Derived)
	}
}

// nothingLost looks at the user's files and at git, and takes the loop back.
func (c *crashWorld) nothingLost() {
	for name, text := range map[string]string{
		"untracked.txt": "mine\n", "mine.log": "ignored\n", "deep/file.txt": "deep\n", "tracked.txt": "three\n", "t-1.txt": "ok\n", "t-2.txt": "ok\n",
	} {
		if got, err := os.ReadFile(filepath.Join(c.root, name)); err != nil || string(got) != text {
			c.t.Errorf("%s holds %q at the end, %v; want %q", name, got, err, text)
		}
	}
	if _, err := os.Stat(filepath.Join(c.root, "stray.txt")); !os.IsNotExist(err) {
		c.t.Errorf("what somebody laid into the tree was taken for the loop's: %v", err)
	}
	if list := c.git("stash", "list"); strings.Count(list, "\n") != 1 || !strings.Contains(list, "the user's own") {
		c.t.Errorf("the stash is %q", list)
	}
	c.git("fsck", "--no-dangling")
	if out, code := c.supervise("rollback", c.loop, "0"); code != 0 {
		c.t.Errorf("rollback to the baseline: status %d\n%s", code, out)
	}
	files := map[string]bool{}
	for line := range strings.Lines(c.git("--no-optional-locks", "status", "--porcelain")) {
		files[strings.TrimRight(line, "\n")] = true
	}
	if want := map[string]bool{"MM tracked.txt": true, "?? untracked.txt": true}; !maps.Equal(files, want) {
		c.t.Errorf("at the baseline git says %v, want %v", files, want)
	}
}

// checkOfFiles is a fast check: each t-*.txt is a test, which passes if it holds ok.
const checkOfFiles = `code=0
{
  echo '<testsuite name="s">'
  for f in t-*.txt; do
    if grep -q ok "$f"; then echo "<testcase classname=\"c\" name=\"$f\"/>"
    else echo "<testcase classname=\"c\" name=\"$f\"><failure message=\"no\"/></testcase>"; code=1; fi
  done
  echo '</testsuite>'
} > "$1/junit.xml"
exit $code
`

// nothingRuns looks for processes with a mark in their command line.
func nothingRuns(t *testing.T, mark string) {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(mark)) {
			t.Errorf("still running: %s (%s)", bytes.ReplaceAll(text, []byte{0}, []byte{' '}), path)
		}
	}
}

// audit returns the events of the log of the loop in dir, and the problems of its chain.
func audit(dir string) (events []ledger.Event, problems []string, err error) {
	problems, err = ledger.ReadLog(dir, func(e ledger.Event) { events = append(events, e) })
	return events, problems, err
}
