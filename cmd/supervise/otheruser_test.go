//go:build linux || darwin

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestOtherUser runs an agent as another user, who works in the tree and reaches
// neither the state nor what root left in the tree an iteration before.
func TestOtherUser(t *testing.T) {
	if testing.Short() {
		t.Skip("a loop like others: nothing new for the race detector")
	}
	w := newWorld(t)
	w.write("proj/m_test.sh", "TestOne() { true; }\n")
	w.write("proj/keep.sh", "# mine\n")
	w.write("user.yaml", shellPlan+"protect: {user: nobody}\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	run := func(args ...string) (string, int) {
		t.Helper()
		return w.supervise(append([]string{"run", "--config", "../user.yaml", "--until", "never", "--max-iterations", "2", "--"}, args...)...)
	}
	refused := func(want string) {
		t.Helper()
		if out, code := run("true"); code != 2 || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("status %d, want 2 and %s:\n%s", code, want, out)
		}
	}
	if os.Geteuid() != 0 {
		refused(`protect\.user: only root may run a program as another user`)
		t.Skip("not tested here: only root can run an agent as another user")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("not tested here: %v", err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		t.Fatal(err)
	}
	refused(`nobody cannot write in .*/proj: .*chown -R nobody`)
	open(t, w.dir)
	refused(`proj/\S+ does not belong to nobody|nobody cannot write`)
	give(t, filepath.Join(w.dir, "proj"), uid)

	// The first iteration deletes a test and is undone, by root; the second changes
	// what was restored.
	out, code := run("sh", "-c", `id -u >who; echo "$HOME" >>who; cat "$SUPERVISE_PROMPT_FILE" >>who; for f in `+w.dir+`/state/supervise/*; do ls "$f" && echo reached >>who; done 2>/dev/null
if [ "$SUPERVISE_ITERATION" = 1 ]; then rm m_test.sh; echo changed >keep.sh; else echo '# more' >>keep.sh && echo '# more' >>m_test.sh; fi`)
	if code != 0 || !regexp.MustCompile(`rolled back`).MatchString(out) {
		t.Fatalf("status %d:\n%s", code, out)
	}
	who := w.read("proj/who")
	if !regexp.MustCompile(`^`+nobody.Uid+`\n`+nobody.HomeDir+`\n(?s:.+)`).MatchString(who) || regexp.MustCompile(`reached`).MatchString(who) {
		t.Errorf("the agent was, and saw: %s", who)
	}
	if got := w.read("proj/keep.sh") + w.read("proj/m_test.sh"); got != "# mine\n# more\nTestOne() { true; }\n# more\n" {
		t.Errorf("after the second iteration: %q\n%s", got, out)
	}
}

// open lets everybody enter the folders above a folder, and it.
func open(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Dir(dir) && dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func give(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, -1)
	})
	if err != nil {
		t.Fatal(err)
	}
}
