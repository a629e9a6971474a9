package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"supervise/runner"
)

// TestLandlock keeps an agent from supervise's own files, and says so where it
// cannot.
func TestLandlock(t *testing.T) {
	if testing.Short() {
		t.Skip("a loop like others: nothing new for the race detector")
	}
	w := newWorld(t)
	w.write("proj/m_test.sh", "TestOne() { true; }\n")
	w.write("protect.yaml", shellPlan+"protect: {landlock: true}\n")
	w.write("steps/1/_sh", `for f in "$XDG_STATE_HOME"/supervise/*/loops/*/state.json ../outside; do echo forged 2>/dev/null >"$f" || echo refused; done; echo '# mine' >>m_test.sh; mktemp`)
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	run := func(tmp string) (string, int) {
		t.Helper()
		t.Setenv("TMPDIR", filepath.Join(w.dir, tmp))
		return w.supervise("run", "--config", "../protect.yaml", "--until", "never", "--max-iterations", "1", "--", "agent")
	}
	if err := runner.CheckLandlock(); err != nil {
		if out, code := run("tmp"); code != 2 || !regexp.MustCompile(`remove protect.landlock`).MatchString(out) {
			t.Errorf("status %d without Landlock:\n%s", code, out)
		}
		t.Skipf("not tested here: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	out, code := run("tmp")
	if code != 0 || regexp.MustCompile(`CRITICAL|HIGH`).MatchString(out) {
		t.Errorf("status %d, want 0 and nothing found:\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "outside")); err == nil {
		t.Error("the agent wrote beside the tree")
	}
	if text := w.read("proj/m_test.sh"); !regexp.MustCompile(`# mine`).MatchString(text) {
		t.Errorf("the agent could not write the tree:\n%s", out)
	}
	if out, code := run("."); code != 2 || !regexp.MustCompile(`state folder .* is in .*, which the agent may write`).MatchString(out) {
		t.Errorf("status %d with the state in the agent's reach:\n%s", code, out)
	}
}
