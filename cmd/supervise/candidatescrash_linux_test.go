//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"supervise/internal/event"
	"supervise/test/tools"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestCandidateCrash kills supervise with SIGKILL at random moments while it runs
// candidates, and resumes them, as often as wanted ("make crash"). Until a candidate is
// put into it, the user's tree is as it was; the same one is chosen as without a kill, and
// nothing is left.
func TestCandidateCrash(t *testing.T) {
	t.Parallel()
	want, seed := crashes(t, 2, 1)
	sideBySide(t, want, min(2, 1+want/50), func(stream int) func(*testing.T, int) int {
		random := rand.New(rand.NewPCG(seed, uint64(100+stream))) //nolint:gosec // it has to be repeatable
		return func(t *testing.T, _ int) int {
			c := newContestWorld(t, random)
			c.toItsEnd()
			c.chosen()
			return c.kills
		}
	})
}

// TestE2EStepCrash is the same with the loops of the candidates in steps, each a process of its
// own: a step that was killed is started again until it ends, and has done one
// iteration then.
func TestE2EStepCrash(t *testing.T) {
	tools.Long(t)
	t.Parallel()
	want, seed := crashes(t, 4, 1)
	sideBySide(t, want, min(2, 1+want/50), func(stream int) func(*testing.T, int) int {
		random := rand.New(rand.NewPCG(seed, uint64(200+stream))) //nolint:gosec // it has to be repeatable
		return func(t *testing.T, _ int) int {
			c := newContestWorld(t, random)
			c.most, c.iterations = 500*time.Millisecond, 3
			c.toItsEnd("--steps", "0")
			for open, n := []int{1, 2, 3}, 1; len(open) > 0 && !t.Failed(); n++ {
				random.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
				open = slices.DeleteFunc(open, func(k int) bool { return c.step(k, n) })
			}
			c.toItsEnd()
			c.chosen()
			return c.kills
		}
	})
}

// contestWorld is a project in which three candidates are at work: the second does the task.
type contestWorld struct {
	*world
	random *rand.Rand
	mark   string // in the command line of every process of the agents
	before map[string]string
	loop   string
	kills  int
	placed bool          // a candidate may be in the user's tree
	most   time.Duration // after which supervise is killed, if it is
	// Of each candidate. What an agent had done that was killed counts as an iteration.
	iterations int
	end        event.LoopEnd // of the latest loop_finished
}

// toItsEnd begins supervise until it is not killed.
func (c *contestWorld) toItsEnd(args ...string) {
	for ended := false; !ended && !c.t.Failed(); {
		ended = c.once(args...)
	}
}

// step does one iteration of a candidate, its n-th, and reports whether that was the last.
func (c *contestWorld) step(candidate, n int) (over bool) {
	c.toItsEnd("--candidate", strconv.Itoa(candidate), "--steps", "1")
	if c.end.Iterations != n || n > c.iterations {
		c.t.Errorf("candidate %d has done %d iterations in %d steps: %s", candidate, c.end.Iterations, n, c.end.Text)
	}
	return c.end.Reason != event.Stepped
}

func newContestWorld(t *testing.T, random *rand.Rand) *contestWorld {
	t.Helper()
	c := &contestWorld{world: newWorld(t), random: random, most: 2500 * time.Millisecond, iterations: 4, mark: strconv.Itoa(1_000_000 + random.IntN(1_000_000))}
	for name, text := range map[string]string{
		"proj/check.sh": checkOfFiles,
		"proj/t-1.txt":  "ok\n", "proj/t-2.txt": "fails\n", "proj/.gitignore": "*.log\n", "proj/deep/file.txt": "deep\n",
		"agent.sh": fmt.Sprintf(`setsid sleep %s & sleep %s &
case $SUPERVISE_CANDIDATE in
1) for i in 1 2 3 4 5; do echo $i >half-$i.txt; sleep .03; done ;;
2) for i in 1 2 3 4 5; do echo $i >new-$i.txt; sleep .03; done; echo ok >t.log; mv t.log t-2.txt; git add -A; git commit -qm done ;;
3) rm -f t-2.txt; sleep .1; rm -rf deep ;;
esac
`, c.mark, c.mark),
	} {
		c.write(name, text)
	}
	c.git("init", "-q")
	c.git("add", ".")
	c.git("commit", "-qm", "start")
	c.write("proj/untracked.txt", "mine\n")
	c.write("proj/mine.log", "ignored\n")
	c.before = c.picture()
	return c
}

func (c *contestWorld) cache() string { return filepath.Join(c.dir, "cache") }

// once runs or resumes the candidates, kills supervise in most cases, and reports whether it
// came to its end.
func (c *contestWorld) once(more ...string) bool {
	args := append([]string{"resume", c.loop, "--json"}, more...)
	if c.loop == "" {
		args = append([]string{"run", "--json"}, more...)
		args = append(
			args, "--candidates", "3", "--jobs", "3", "-m", strconv.Itoa(c.iterations), "--test-cmd", "sh check.sh {{report_dir}}", "--test-report", "{{report_dir}}/junit.xml",
			"--", "sh", filepath.Join(c.dir, "agent.sh"),
		)
	}
	cmd := c.command("supervise", args...)
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+c.cache())
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if c.random.IntN(5) > 0 {
		killer := time.AfterFunc(time.Duration(c.random.Int64N(int64(c.most))), func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
	}
	_ = cmd.Wait() // its status is looked at below
	c.listen(out.String())
	if !c.placed {
		if now := c.picture(); !cmp.Equal(c.before, now) {
			c.t.Errorf("the user's tree has changed before a candidate was chosen: %s", cmp.Diff(c.before, now))
		}
	}
	status, _ := cmd.ProcessState.Sys().(interface{ Signaled() bool })
	if status.Signaled() {
		c.kills++
		return false
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 && (code != c.end.ExitCode || c.end.Reason == event.Broken) {
		c.t.Errorf("supervise %s: status %d, want 0\n%s\n%s", strings.Join(args, " "), code, out.String(), talk.String())
	}
	return true
}

func (c *contestWorld) listen(out string) {
	for line := range strings.Lines(out) {
		var e struct {
			Type      string
			LoopID    string `json:"loop_id"`
			Candidate int
		}
		c.ends(line)
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Candidate == 0 && !strings.HasSuffix(e.LoopID, "-c0") {
			c.loop = e.LoopID
			c.placed = c.placed || e.Type == "candidates_compared"
		}
	}
	if text, err := exec.Command("sh", "-c", "cat "+c.dir+"/state/supervise/*/loops/*/hook-log.jsonl").Output(); err == nil && bytes.Contains(text, []byte(`"candidates_compared"`)) {
		c.placed = true // the pipe was closed before it could be printed
	}
}

// ends keeps the end of a loop that a line tells.
func (c *contestWorld) ends(line string) {
	var e struct {
		Type string
		Data event.LoopEnd
	}
	if json.Unmarshal([]byte(line), &e) == nil && e.Type == string(event.LoopFinished) {
		c.end = e.Data
	}
}

// chosen looks that what candidate 2 did is in the tree with all that is the user's, and
// that neither processes nor folders are left.
func (c *contestWorld) chosen() {
	if c.t.Failed() {
		return
	}
	want := map[string]string{"t-1.txt": "ok\n", "t-2.txt": "ok\n", "new-5.txt": "5\n", "untracked.txt": "mine\n", "mine.log": "ignored\n", "deep/file.txt": "deep\n"}
	if text := fmt.Sprintf("candidate 2: all of %d iterations done", c.iterations); c.kills >= c.iterations && strings.Contains(c.end.Text, text) {
		c.t.Log("the agent of candidate 2 was killed in each iteration")
		if now := c.picture(); !cmp.Equal(c.before, now) {
			c.t.Errorf("the user's tree has changed and no candidate was chosen: %s", cmp.Diff(c.before, now))
		}
		want = nil
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(c.dir, "proj", name)); err != nil || string(got) != text {
			c.t.Errorf("%s is %q, %v, want %q", name, got, err, text)
		}
	}
	if c.t.Failed() {
		out, err := c.command("supervise", "compare", c.loop).CombinedOutput()
		c.t.Logf("%s\n%s%v", c.end.Text, out, err)
	}
	if log := c.git("log", "--oneline"); strings.Count(log, "\n") != 1 {
		c.t.Errorf("the user's history is %s", log)
	}
	folder := filepath.Join(c.cache(), "supervise", "candidates")
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		list, _ := exec.Command("find", folder).Output()
		c.t.Errorf("folders are left by %s: %s", c.loop, list)
	}
	homes, _ := filepath.Glob(filepath.Join(c.dir, "state", "supervise", "*", "candidates", "*", "*", "loops", "*"))
	for _, dir := range homes { // watchers of the dead hold the locks until all is ended
		lock, err := os.Open(filepath.Join(dir, "lock"))
		if err != nil {
			continue
		}
		_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		lock.Close()
	}
	nothingRuns(c.t, c.mark)
}
