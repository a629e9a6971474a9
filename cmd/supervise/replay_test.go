//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// The user interrupts a replay while a check hangs: nothing of it is left, neither
// process nor checkout, the user's tree and git are as they were, and what was
// measured until then is not measured again.
func TestReplayInterrupted(t *testing.T) {
	w := newWorld(t)
	w.write("proj/report.xml", `<testsuite name="s"><testcase classname="c" name="n"/></testsuite>`)
	w.git("init", "-q")
	for _, text := range []string{"one", "two", "three"} {
		w.write("proj/a.txt", text)
		w.git("add", ".")
		w.git("commit", "-qm", text)
	}
	w.write("proj/a.txt", "uncommitted")
	w.write("proj/untracked", "untracked")
	fifo := filepath.Join(w.dir, "ids")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	w.write("hang", "")
	script := `if grep -q two a.txt && test -e ` + w.dir + `/hang; then sleep 1000 & echo "$$ $!" >` + fifo + `; wait; fi; cat report.xml`
	args := []string{"replay", "HEAD~2..HEAD", "--test-cmd", script}
	before := w.picture()
	cmd := w.command("supervise", args...)
	screen := &safeBuffer{}
	cmd.Stdout, cmd.Stderr = screen, screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ids := awaitIDs(t, fifo)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	waitInterrupted(t, cmd, screen)
	gone(t, ids)
	if left := checkouts(t, w); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if diff := cmp.Diff(before, w.picture()); diff != "" {
		t.Errorf("the user's tree is not as it was:\n%s", diff)
	}
	if err := os.Remove(filepath.Join(w.dir, "hang")); err != nil {
		t.Fatal(err)
	}
	out, code := w.supervise(args...)
	if code != 0 || !strings.Contains(out, "2 commits, 2 judged, each against the one before; 2 measured now") {
		t.Errorf("status %d:\n%s", code, out)
	}
}

// checkouts lists what replays have left of their checkouts.
func checkouts(t *testing.T, w *world) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "checkout" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
