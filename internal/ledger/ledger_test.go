package ledger_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// workspace is the tree that the loops of these tests are about.
const workspace = "testdata"

func create(t *testing.T, home, id string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(home, ledger.State{LoopID: id, Workspace: workspace, Status: ledger.Running, StartedAt: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestNewID(t *testing.T) {
	for task, want := range map[string]string{
		"Fix the tests!": "ralph-fix-the-tests-", "": "ralph-loop-", "///": "ralph-loop-",
		"a very long task that goes on and on until nobody reads it": "ralph-a-very-long-task-that-goes-on-",
	} {
		if got := ledger.NewID(task); !strings.HasPrefix(got, want) || len(got) != len(want)+8 {
			t.Errorf("NewID(%q) = %s, want %s and 8 hex digits", task, got, want)
		}
	}
	if a, b := ledger.NewID("x"), ledger.NewID("x"); a == b {
		t.Error("two loops have one name")
	}
}

func TestOneSupervisorPerTree(t *testing.T) {
	home, otherDir := t.TempDir(), t.TempDir()
	l := create(t, home, "ralph-a-00000001")
	if _, err := ledger.Create(otherDir, ledger.State{LoopID: "ralph-b-00000002", Workspace: workspace}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a second loop in the same tree: %v, want ErrLocked", err)
	}
	if left, _ := os.ReadDir(otherDir); len(left) > 0 {
		t.Errorf("the refused loop left %v behind", left)
	}
	if free, err := ledger.IsUnlocked(l.Dir()); free || err != nil {
		t.Errorf("Free of a running loop = %v, %v", free, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	create(t, home, "ralph-c-00000003")
}

func TestAuditChain(t *testing.T) {
	l := create(t, t.TempDir(), "ralph-a-00000001")
	for n := range 4 {
		if err := l.Log(noon, "iteration_finished", n, time.Second, map[string]string{"html": "<&>", "n": "x"}); err != nil {
			t.Fatal(err)
		}
	}
	events, problems, err := ledger.Audit(l.Dir())
	if err != nil || len(problems) > 0 || len(events) < 5 {
		t.Fatalf("Audit = %d events, %v, %v, want the beginning, 4 and no problem", len(events), problems, err)
	}
	if last := len(events) - 1; events[last].Duration != 1000 || events[last].Prev != events[last-1].Hash {
		t.Errorf("the last entry is %+v, want 1000 ms and the hash of the one before it", events[last])
	}
	path := filepath.Join(l.Dir(), "hook-log.jsonl")
	complete, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text []byte
		want string
	}{
		"changed": {bytes.Replace(complete, []byte(`"iteration":1`), []byte(`"iteration":7`), 1), "hook-log.jsonl:4: changed"},
		"removed": {bytes.Join(append(bytes.SplitAfter(complete, []byte("\n"))[:1:1], bytes.SplitAfter(complete, []byte("\n"))[2:]...), nil), "hook-log.jsonl:2: entries before it are missing"},
		"garbage": {append([]byte("{\n"), complete...), "hook-log.jsonl:1: not readable"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, problems, err := ledger.Audit(l.Dir())
			if err != nil || len(problems) == 0 || !strings.HasPrefix(problems[0], tt.want) {
				t.Errorf("problems %v, %v, want %s first", problems, err, tt.want)
			}
		})
	}
}

func TestStateOfOtherVersions(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{`{"loop_id": "ralph-old-00000001", "status": "completed", "iteration": 7}`, `{"version": 1}`, `{"version": 99}`} {
		write(text)
		if _, err := ledger.ReadState(dir); !errors.Is(err, ledger.ErrVersion) {
			t.Errorf("the state %s: %v, want ErrVersion", text, err)
		}
	}
	write(`{"version": `)
	if _, err := ledger.ReadState(dir); err == nil || !strings.Contains(err.Error(), "state.json") {
		t.Errorf("a damaged state: %v, want an error that names the file", err)
	}
	if _, err := ledger.ReadState(t.TempDir()); !errors.Is(err, ledger.ErrNoLoop) {
		t.Errorf("no state: %v, want ErrNoLoop", err)
	}
}

func TestIterationsRoundTrip(t *testing.T) {
	home := t.TempDir()
	l := create(t, home, "ralph-a-00000001")
	tests := metric.NewTests([]metric.Test{{ID: metric.ID{Suite: "p", Name: "T"}, Status: metric.Failed, Message: "no"}})
	it := ledger.Iteration{
		Number: 3, EndedAt: noon, Set: metric.Set{Tests: tests}, Score: selector.Score{Value: .5, Measured: true},
		Assessment: detector.Assessment{Class: detector.Forward}, Rejected: true,
	}
	files := ledger.Files{"a/b.go": []byte("package a")}
	if err := l.Append(it, files, true); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"iterations/iteration-003/metrics.json", "iterations/iteration-003/results.xml",
		"iterations/iteration-003/artifacts/a/b.go", "progress/iteration-003-metrics.json", "checkpoints/iteration-003.json.gz",
	} {
		if info, err := os.Stat(filepath.Join(l.Dir(), name)); err != nil || info.Size() == 0 {
			t.Errorf("%s was not written: %v", name, err)
		}
	}
	got, err := ledger.ReadIterations(l.Dir())
	if err != nil || len(got) != 1 {
		t.Fatalf("Iterations = %v, %v", got, err)
	}
	if g := got[0]; g.Number != 3 || !g.Rejected || g.Assessment.Class != detector.Forward || g.Set.Tests.Cases[0].Status != metric.Failed || !g.Score.Measured {
		t.Errorf("the iteration came back as %+v", g)
	}
}

func TestArtifactsStayInTheirFolder(t *testing.T) {
	l := create(t, t.TempDir(), "ralph-a-00000001")
	err := l.WriteOutput(map[string][]byte{"../../escape": []byte("x")})
	if err == nil {
		t.Error("a file was written outside the folder")
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	if _, _, err := ledger.FindLoop(home, workspace, ""); !errors.Is(err, ledger.ErrNoLoop) {
		t.Errorf("no loop: %v, want ErrNoLoop", err)
	}
	for i, id := range []string{"ralph-one-00000001", "ralph-two-00000002"} {
		l, err := ledger.Create(home, ledger.State{LoopID: id, Workspace: workspace, StartedAt: noon.Add(time.Duration(i) * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	for name, want := range map[string]string{"": "ralph-two-00000002", "one": "ralph-one-00000001", "ralph-two-00000002": "ralph-two-00000002"} {
		if _, s, err := ledger.FindLoop(home, workspace, name); err != nil || s.LoopID != want {
			t.Errorf("Find(%q) = %s, %v, want %s", name, s.LoopID, err, want)
		}
	}
	if _, _, err := ledger.FindLoop(home, "another tree", "one"); !errors.Is(err, ledger.ErrNoLoop) {
		t.Errorf("the loop of another tree: %v, want ErrNoLoop", err)
	}
	if _, _, err := ledger.FindLoop(home, workspace, "ralph"); !errors.Is(err, ledger.ErrNoLoop) {
		t.Errorf("an ambiguous name: %v, want ErrNoLoop", err)
	}
}

// A loop that is running by its state and that no process holds was killed.
func TestKilledLoop(t *testing.T) {
	home := t.TempDir()
	l := create(t, home, "ralph-a-00000001")
	if _, s, err := ledger.FindLoop(home, workspace, ""); err != nil || s.Status != ledger.Running {
		t.Errorf("while it is held: %s, %v, want running", s.Status, err)
	}
	l.Close()
	if _, s, err := ledger.FindLoop(home, workspace, ""); err != nil || s.Status != ledger.Crashed {
		t.Errorf("when nobody holds it: %s, %v, want crashed", s.Status, err)
	}
}

// TestSweepScratch removes what a killed supervisor left, also where a test made
// its folder read-only, and nothing that a link leads to.
func TestSweepScratch(t *testing.T) {
	home := t.TempDir()
	loop := filepath.Join(home, "loops", "ralph-x-1")
	tree := filepath.Join(home, "scratch", "ralph-x-1", "tree-1", "mod")
	kept := filepath.Join(home, "kept")
	for _, dir := range []string{loop, tree, kept} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(tree, "f"), nil, 0o400), os.WriteFile(filepath.Join(kept, "f"), nil, 0o600),
		os.Symlink(kept, filepath.Join(tree, "link")), os.Chmod(tree, 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := ledger.SweepScratch(loop); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(home, "scratch", "ralph-x-1")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(kept, "f")); err != nil {
		t.Error(err)
	}
}
