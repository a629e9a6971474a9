package ledger_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"

	"github.com/google/go-cmp/cmp"
)

// finishedLoop makes a loop with two iterations and a selection, as a supervisor does.
func finishedLoop(t *testing.T, home, id string) *ledger.Ledger {
	t.Helper()
	l := create(t, home, id)
	s := ledger.State{
		LoopID: id, Workspace: workspace, Status: ledger.Running, StartedAt: noon, UpdatedAt: noon,
		History: []ledger.HistoryEntry{}, Regressions: []ledger.Regression{},
	}
	tests := metric.NewTests([]metric.Test{{ID: metric.ID{Name: "T"}, Status: metric.Passed}})
	for n := range 3 {
		it := ledger.Iteration{
			Number: n, EndedAt: noon, Set: metric.Set{Tests: tests}, Score: selector.Score{Value: .5, Measured: true},
			Assessment: detector.Assessment{Class: detector.Forward}, Snapshot: "7", Level: "MINIMAL", BaselineRuns: 2,
		}
		if n > 0 {
			it.Decision = &ledger.Decision{Move: "continue", Attempts: n}
			it.Best = &ledger.BestIteration{Iteration: n, QualityScore: .5, Snapshot: "7", SnapshotPath: l.SnapshotDir()}
		}
		if n == 1 {
			it.Rejected, it.Regression = true, &ledger.Regression{ID: "reg-001", Iteration: 1, Tests: []string{"T"}}
		}
		if err := l.Append(it, nil, false); err != nil {
			t.Fatal(err)
		}
		s.Add(it)
	}
	s.Status, s.StopReason, s.Selected = ledger.Completed, "done", s.Best
	if err := l.Save(s); err != nil {
		t.Fatal(err)
	}
	return l
}

// The state is a cache: without it, and when it is damaged, it is rebuilt from the
// log and the iterations.
func TestStateIsRebuilt(t *testing.T) {
	home := t.TempDir()
	l := finishedLoop(t, home, "ralph-a-00000001")
	want, err := ledger.ReadState(l.Dir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Dir(), "state.json")
	for name, spoil := range map[string]func() error{
		"gone":   func() error { return os.Remove(path) },
		"empty":  func() error { return os.WriteFile(path, nil, 0o600) },
		"broken": func() error { return os.WriteFile(path, []byte(`{"version": 1, "loop_id": "ral`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			got, err := ledger.ReadState(l.Dir())
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("ReadState: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// What a killed supervisor left is swept, damage is reported, and the chain continues
// after it.
func TestOpenAfterDeath(t *testing.T) {
	home := t.TempDir()
	l := finishedLoop(t, home, "ralph-a-00000001")
	for range 3 {
		if err := l.Log(noon, "x", 1, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	dir, scratch := l.Dir(), l.ScratchDir()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "hook-log.jsonl")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[1] = []byte("{\"seq\": 2, \x00\n")
	text = append(bytes.Join(lines, nil), `{"seq":99,"ti`...)
	temps := []string{filepath.Join(dir, ".tmp-1"), filepath.Join(dir, "progress", ".tmp-2"), filepath.Join(scratch, "report.xml")}
	agents := filepath.Join(dir, "iterations", "iteration-001", "artifacts", ".tmp-of-the-project")
	for _, path := range append(temps, agents) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var names []string
	l, state, err := ledger.Open("", home, "ralph-a-00000001", func(e ledger.Event) { names = append(names, e.Name) })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if want := []string{"loop_created", "state_changed", "x", "x", "x"}; !slices.Equal(names, want) || len(state.History) != 3 {
		t.Errorf("the log has %v and the history %d entries, want %v and 3", names, len(state.History), want)
	}
	problems := strings.Join(l.Problems(), "\n")
	for _, want := range []string{"hook-log.jsonl:2: not readable", "the last line was torn by a crash; its 13 bytes are cut off"} {
		if !strings.Contains(problems, want) {
			t.Errorf("problems %q, want %q among them", problems, want)
		}
	}
	for _, path := range temps {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there", path)
		}
	}
	if _, err := os.Stat(agents); err != nil {
		t.Errorf("a file of the agent's was swept: %v", err)
	}
	if err := l.Log(noon, "y", 2, 0, nil); err != nil {
		t.Fatal(err)
	}
	events, _, err := ledger.Audit(dir)
	if last := events[len(events)-1]; err != nil || last.Name != "y" || last.Prev != events[len(events)-2].Hash {
		t.Errorf("the last event is %+v, %v; want y, chained to the one before", last, err)
	}
}

// A record that was damaged on the disk comes from its checkpoint.
func TestDamagedIteration(t *testing.T) {
	l := finishedLoop(t, t.TempDir(), "ralph-a-00000001")
	want, err := ledger.ReadIterations(l.Dir())
	if err != nil || len(want) != 3 {
		t.Fatal(err, len(want))
	}
	path := filepath.Join(l.Dir(), "iterations", "iteration-001", "metrics.json")
	if err := os.WriteFile(path, []byte("\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ledger.ReadIterations(l.Dir())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("from the checkpoint: %v (-want +got):\n%s", err, diff)
	}
	if err := os.WriteFile(filepath.Join(l.Dir(), "checkpoints", "iteration-001.json.gz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.ReadIterations(l.Dir()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("without its checkpoint: %v, want an error that names %s", err, path)
	}
}
