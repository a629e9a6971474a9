//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestOtherUser runs an agent and the checks as another user, who works in the tree,
// also with what root restored there, and does not reach the state.
func TestOtherUser(t *testing.T) {
	if testing.Short() {
		t.Skip("a loop like others: nothing new for the race detector")
	}
	w := newWorld(t)
	own := fmt.Sprintf("[ $(id -u) = %d ]", otherUID(t))
	w.write("proj/m_test.sh", "TestOne() { "+own+"; }\n")
	w.write("hidden/h_test.sh", "TestHidden() { "+own+"; }\n")
	w.write("proj/keep.sh", "# mine\n")
	w.write("user.yaml", "checks: {test: sh "+filepath.Join(w.dir, "check.sh")+"}\nprotect: {user: nobody}\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-qm", "start")
	t.Setenv("TMPDIR", filepath.Join(w.dir, "tmp"))
	if err := os.MkdirAll(filepath.Join(w.dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, int) {
		t.Helper()
		return w.supervise(append([]string{"run", "--config", "../user.yaml", "--until", own, "--hidden-tests", "../hidden", "--max-iterations", "2", "--"}, args...)...)
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
	refused(`nobody cannot write in .*/proj: .*chown -R nobody`)
	open(t, w.dir)
	refused(`proj/\S+ does not belong to nobody|nobody cannot write`)
	give(t, filepath.Join(w.dir, "proj"), otherUID(t))
	refused(`dubious ownership in repository`)
	w.git("config", "--global", "--add", "safe.directory", w.root)
	refused(`nobody can access the folder of the hidden tests .*: chmod 700`)
	if err := os.Chmod(filepath.Join(w.dir, "hidden"), 0o700); err != nil {
		t.Fatal(err)
	}

	// The first iteration deletes a test and is undone, by root; the second changes
	// what was restored.
	out, code := run("sh", "-c", own+` || exit; cat "$SUPERVISE_PROMPT_FILE" >who; for f in `+w.dir+`/state/supervise/*/loops; do ls "$f" && echo reached >>who; done 2>/dev/null
if [ "$SUPERVISE_ITERATION" = 1 ]; then rm m_test.sh; echo "lesson: it stays" >>"$SUPERVISE_NOTES"; echo changed >keep.sh; else echo '# more' >>keep.sh && echo '# more' >>m_test.sh; fi`)
	if code != 0 || !regexp.MustCompile(`rolled back`).MatchString(out) {
		t.Fatalf("status %d:\n%s", code, out)
	}
	who := w.read("proj/who")
	if left, err := filepath.Glob(filepath.Join(w.dir, "tmp", "supervise-*")); err != nil || len(left) > 0 {
		t.Errorf("left among the temporary files: %v, %v", left, err)
	}
	if !regexp.MustCompile(`(?s)lesson: it stays.*iteration`).MatchString(who) || regexp.MustCompile(`reached`).MatchString(who) {
		t.Errorf("the agent learned of, and reached: %s", who)
	}
	if got := w.read("proj/keep.sh") + w.read("proj/m_test.sh"); got != "# mine\n# more\nTestOne() { "+own+"; }\n# more\n" {
		t.Errorf("after the second iteration: %q\n%s", got, out)
	}
}

// otherUID is the number of an unprivileged user; 0 if this process cannot change its user.
func otherUID(t *testing.T) int {
	t.Helper()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skipf("not tested here: %v", err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

// open lets everybody enter the folders above a folder, and it.
func open(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Dir(dir) && dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o005 == 0o005 { // the folder for temporary files, which is not ours
			continue
		}
		if err := os.Chmod(dir, info.Mode()|0o055); err != nil {
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
