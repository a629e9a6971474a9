package fileevents_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"supervise/internal/fileevents"

	"golang.org/x/sys/unix"
)

// TestMain is also a program that watches a tree and prints its events, for the
// tests that stop it or take its watches away.
func TestMain(m *testing.M) {
	if root := os.Getenv("WATCH_TREE"); root != "" {
		os.Exit(watchAndPrint(root))
	}
	os.Exit(m.Run())
}

func watchAndPrint(root string) int {
	if n := os.Getenv("WATCH_LIMIT"); n != "" {
		if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(n), 0); err != nil {
			fmt.Println("no limit:", err)
			return 0
		}
	}
	w, err := fileevents.Start(root, fileevents.Options{PollInterval: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("ready")
	for e := range w.Events() {
		fmt.Println(int(e.Op), e.Path, e.Why)
	}
	return 0
}

// tree is a folder and the events that a watch has reported for it.
type tree struct {
	t    *testing.T
	root string
	next func() (fileevents.Event, bool)
	last map[string]fileevents.Op
	seen map[fileevents.Op]bool // of events without a path
}

func watched(t *testing.T, o fileevents.Options) *tree {
	t.Helper()
	tr := &tree{t: t, root: t.TempDir(), last: map[string]fileevents.Op{}, seen: map[fileevents.Op]bool{}}
	tr.write("old/a.txt")
	tr.write(".git/index")
	w, err := fileevents.Start(tr.root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	tr.next = func() (fileevents.Event, bool) {
		e, ok := <-w.Events()
		return e, ok
	}
	return tr
}

func (tr *tree) write(name string) {
	tr.t.Helper()
	path := filepath.Join(tr.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(time.Now().String()), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

// until reads events until the path was last reported as one of ops. Without it the test
// hangs, and the time limit of go test shows where.
func (tr *tree) until(path string, ops ...fileevents.Op) {
	tr.t.Helper()
	for !slices.Contains(ops, tr.last[path]) {
		e, ok := tr.next()
		if !ok {
			tr.t.Fatalf("the events ended before %d of %s", ops[0], path)
		}
		tr.last[e.Path] = e.Op
		if e.Path == "" {
			tr.seen[e.Op] = true
		}
	}
}

func TestFilesComeAndGo(t *testing.T) {
	tr := watched(t, fileevents.Options{})
	tr.write("old/b.txt")
	tr.until("old/b.txt", fileevents.Created)
	tr.write("old/a.txt")
	tr.until("old/a.txt", fileevents.Modified)
	if err := os.Remove(filepath.Join(tr.root, "old/b.txt")); err != nil {
		t.Fatal(err)
	}
	tr.until("old/b.txt", fileevents.Removed)
	tr.write("new/deep/er/c.txt")
	tr.until("new/deep/er/c.txt", fileevents.Created)
	if err := os.Rename(filepath.Join(tr.root, "new"), filepath.Join(tr.root, "moved")); err != nil {
		t.Fatal(err)
	}
	tr.until("new/deep/er/c.txt", fileevents.Removed)
	tr.until("moved/deep/er/c.txt", fileevents.Created, fileevents.Modified) // the new one may have been read before
	tr.write("moved/deep/er/d.txt")                                          // the moved folder is still listened to
	tr.until("moved/deep/er/d.txt", fileevents.Created)
	tr.write(".git/HEAD")
	if err := os.RemoveAll(filepath.Join(tr.root, "moved")); err != nil {
		t.Fatal(err)
	}
	tr.write("moved/deep/er/e.txt") // another folder of the same name
	tr.until("moved/deep/er/c.txt", fileevents.Removed)
	tr.until("moved/deep/er/e.txt", fileevents.Created, fileevents.Modified)
	if op, reported := tr.last[".git/HEAD"]; reported {
		t.Errorf("a file of .git was reported as %d", op)
	}
}

// Folders that fill faster than they can be watched are reported completely.
func TestManyNewFolders(t *testing.T) {
	tr := watched(t, fileevents.Options{})
	for d := range 300 {
		for f := range 5 {
			tr.write(fmt.Sprintf("many/%d/deeper/%d.txt", d, f))
		}
	}
	for d := range 300 {
		for f := range 5 {
			tr.until(fmt.Sprintf("many/%d/deeper/%d.txt", d, f), fileevents.Created)
		}
	}
}

// program starts this test as a program that watches a tree.
func program(t *testing.T, limit string, attr *syscall.SysProcAttr) (*tree, *os.Process) {
	t.Helper()
	tr := &tree{t: t, root: t.TempDir(), last: map[string]fileevents.Op{}, seen: map[fileevents.Op]bool{}}
	tr.write("gone.txt")
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), "WATCH_TREE="+tr.root, "WATCH_LIMIT="+limit), attr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("the watching program cannot be started like that: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Skipf("the watching program says %q", lines.Text())
	}
	tr.next = func() (fileevents.Event, bool) {
		if !lines.Scan() {
			return fileevents.Event{}, false
		}
		number, rest, _ := strings.Cut(lines.Text(), " ")
		op, err := strconv.Atoi(number)
		if err != nil {
			t.Errorf("event %q: %v", lines.Text(), err)
		}
		path, why, _ := strings.Cut(rest, " ")
		return fileevents.Event{Op: fileevents.Op(op), Path: path, Why: why}, true
	}
	return tr, cmd.Process
}

// While the watcher is stopped more happens than the kernel keeps: it says so,
// and finds out all the same what has come and gone.
func TestOverflow(t *testing.T) {
	tr, p := program(t, "", nil)
	if err := p.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	const limit = 16384 // of /proc/sys/fs/inotify/max_queued_events, unless an administrator raised it
	if text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err != nil || strings.TrimSpace(string(text)) != fmt.Sprint(limit) {
		t.Skipf("the queue of events holds %s, %v; want %d", text, err, limit)
	}
	for f := range limit {
		tr.write(fmt.Sprintf("%d.txt", f)) // three events each
	}
	tr.write("late/folder.txt")
	if err := os.Remove(filepath.Join(tr.root, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	tr.until("", fileevents.EventsLost)
	tr.until("late/folder.txt", fileevents.Created)
	tr.until("gone.txt", fileevents.Removed)
	tr.until(fmt.Sprintf("%d.txt", limit-1), fileevents.Created)
	tr.write("late/later.txt") // a folder without an event is watched
	tr.until("late/later.txt", fileevents.Created)
}

// Where no more watches are allowed the tree is looked at now and then.
func TestNoWatchesLeft(t *testing.T) {
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	tr, _ := program(t, "3", &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: ids})
	for d := range 10 {
		tr.write(fmt.Sprintf("%d/file.txt", d))
	}
	for d := range 10 {
		tr.until(fmt.Sprintf("%d/file.txt", d), fileevents.Created)
	}
	if !tr.seen[fileevents.Polling] {
		t.Error("nobody was told that the tree is only looked at now and then")
	}
	if err := os.RemoveAll(filepath.Join(tr.root, "9")); err != nil {
		t.Fatal(err)
	}
	tr.until("9/file.txt", fileevents.Removed)
}
