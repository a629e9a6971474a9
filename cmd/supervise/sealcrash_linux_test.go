package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCrashSealed kills or interrupts supervise at random moments of a loop with sealed tests, and lets any command follow
// that may: the loop is resumed, another one starts, or a person restores. At the end of each the tests are
// as they were, byte for byte, but for what the agent added.
func TestCrashSealed(t *testing.T) {
	t.Parallel()
	want, seed := crashes(t, 3, 1)
	sideBySide(t, want, min(4, 1+want/50), func(stream int) func(*testing.T, int) int {
		random := rand.New(rand.NewPCG(seed, uint64(stream))) //nolint:gosec // it has to be repeatable
		return func(t *testing.T, _ int) int {
			c := newSealWorld(t, random)
			c.run()
			return c.kills
		}
	})
}

// sealWorld is a project whose tests are functions of a file, and files.
type sealWorld struct {
	*world
	random    *rand.Rand
	loop      string // with sealed tests
	originals map[string]string
	kills     int
}

// checkOfFunctions is a fast check: each function TestX of calc_test.go and each file of tests is a test,
// which passes if done.txt names it.
const checkOfFunctions = `{
  echo '<testsuite name="s">'
  for name in $(sed -n 's/^func \(Test[A-Za-z]*\).*/\1/p' calc_test.go); do
    if grep -qx $name done.txt; then echo "<testcase classname=\"calc\" name=\"$name\" file=\"calc_test.go\"/>"
    else echo "<testcase classname=\"calc\" name=\"$name\" file=\"calc_test.go\"><failure message=\"no\"/></testcase>"; fi
  done
  for f in tests/*.sh; do
    n=$(basename $f .sh)
    if grep -qx $n done.txt; then echo "<testcase classname=\"files\" name=\"$n\" file=\"$f\"/>"
    else echo "<testcase classname=\"files\" name=\"$n\" file=\"$f\"><failure message=\"no\"/></testcase>"; fi
  done
  echo '</testsuite>'
} > "$1/junit.xml"
! grep -q '<failure' "$1/junit.xml"
`

func newSealWorld(t *testing.T, random *rand.Rand) *sealWorld {
	t.Helper()
	c := &sealWorld{world: newWorld(t), random: random, originals: map[string]string{}}
	text := "package calc\n\nimport (\n\t\"strings\"\n\t\"testing\"\n)\n"
	for _, name := range []string{"One", "Two", "Three", "Four", "Five"} {
		text += fmt.Sprintf("\n// Test%s is a test.\nfunc Test%s(t *testing.T) { _ = strings.ToUpper(%q) }\n", name, name, name)
	}
	c.originals["calc_test.go"] = text
	for _, name := range []string{"a", "b", "c"} {
		c.originals["tests/"+name+".sh"] = "# " + strings.Repeat(name, 3)
	}
	for name, text := range c.originals {
		c.write("proj/"+name, text)
	}
	c.write("proj/check.sh", checkOfFunctions)
	c.write("proj/done.txt", "TestOne\n")
	c.write("agent.sh", `case $SUPERVISE_ITERATION in
1) echo TestTwo >>done.txt; sleep .1; echo '// agent 1' >>calc_test.go; git commit -qam agent ;;
2) echo '// agent 2' >>calc_test.go; sleep .1; echo TestThree >>done.txt ;;
3) sed -i '/^import/i // agent 3' calc_test.go; sleep .1; echo TestFour >>done.txt ;;
esac
`)
	c.git("init", "-q")
	c.git("add", "check.sh", "done.txt")
	if random.IntN(2) == 0 {
		c.git("add", ".")
	}
	c.git("commit", "-qm", "start")
	return c
}

// run starts the loop, and other commands as long as they are killed.
func (c *sealWorld) run() {
	args := []string{
		"run", "--json", "--seal", "0.5", "--until", "never", "--on-stall", "continue", "--max-retries", "9", "--max-iterations", "3",
		"--test-cmd", "sh check.sh {{report_dir}}", "--test-report", "{{report_dir}}/junit.xml", "--", "sh", filepath.Join(c.dir, "agent.sh"),
	}
	var done []string
	for killed := true; killed && !c.t.Failed(); {
		var out string
		out, killed = c.once(args, c.random.IntN(8) > 0)
		done = append(done, fmt.Sprintf("%s, killed: %t\n%s", strings.Join(args, " "), killed, out))
		if c.loop == "" {
			continue
		}
		args = [][]string{
			{"resume", c.loop, "--json", "--force"},
			{"resume", c.loop, "--json", "--force"},
			{"run", "--json", "--until", "never", "--max-iterations", "1", "--test-cmd", "sh check.sh {{report_dir}}", "--test-report", "{{report_dir}}/junit.xml", "--", "true"},
			{"seal", c.loop, "--restore"},
			{"rollback", c.loop, "0"},
		}[c.random.IntN(5)]
	}
	for name, text := range c.originals {
		now, err := os.ReadFile(filepath.Join(c.root, name))
		kept, _ := os.ReadFile(filepath.Join(c.root, name+".sealed"))
		var lines []string
		for line := range strings.Lines(string(now)) {
			if !strings.Contains(line, "agent") {
				lines = append(lines, line)
			}
		}
		if got := strings.Join(lines, ""); got != text && string(kept) != text {
			c.t.Errorf("%s holds %q, %v; want %q\n%s", name, got, err, text, strings.Join(done, "\n"))
		}
		if len(kept) > 0 && err == nil {
			c.t.Errorf("%s was kept next to its file, which holds %q\n%s", name, now, strings.Join(done, "\n"))
		}
	}
}

// once runs supervise, kills it if it is to die, and waits until no process of it holds the tree. A command
// that fails was not killed either: the next one follows.
func (c *sealWorld) once(args []string, die bool) (output string, again bool) {
	cmd := c.command("supervise", args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	if die {
		how := []os.Signal{os.Kill, os.Kill, os.Kill, os.Interrupt}[c.random.IntN(4)]
		killer := time.AfterFunc(time.Duration(c.random.IntN(1500))*time.Millisecond, func() { _ = cmd.Process.Signal(how) })
		defer killer.Stop()
	}
	_ = cmd.Wait() // its status is looked at below
	tree, err := os.Open(c.root)
	if err != nil {
		c.t.Fatal(err)
	}
	defer tree.Close()
	if err := unix.Flock(int(tree.Fd()), unix.LOCK_EX); err != nil {
		c.t.Fatal(err)
	}
	var first struct {
		LoopID string `json:"loop_id"`
	}
	if line, _, _ := strings.Cut(out.String(), "\n"); c.loop == "" && json.Unmarshal([]byte(line), &first) == nil {
		c.loop = first.LoopID
	}
	status := cmd.ProcessState.ExitCode()
	if status == -1 {
		c.kills++
	}
	// A loop without a baseline cannot be rolled back, one without a record has no sealed tests.
	return talk.String(), status == -1 || status == 2 || args[0] == "rollback" && status != 0
}
