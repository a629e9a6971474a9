package ledger_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/selector"
	"supervise/snapshot"
)

func TestCandidates(t *testing.T) {
	tokens, ms := int64(5000), int64(1500)
	tests := metric.NewTests([]metric.Test{{ID: metric.ID{Name: "T"}, Status: metric.Passed}})
	got := ledger.Candidates([]ledger.Iteration{
		{Number: 0, Set: metric.Set{Tests: tests}},
		{Number: 1, Score: selector.Score{Value: .5, Measured: true}, Recorded: &ledger.Reported{Tokens: &tokens, TimeMS: &ms}},
		{Number: 2, Snapshot: "7", Set: metric.Set{Tests: tests}},
		{Number: 3, Recorded: &ledger.Reported{}, Set: metric.Set{Tests: tests}},
	}, map[snapshot.ID]bool{"7": true, "": true})
	if !got[0].Baseline || got[0].Rejected {
		t.Errorf("the baseline is %+v", got[0])
	}
	if c := got[1]; c.Set != nil || *c.Tokens != 5000 || c.Duration.Milliseconds() != 1500 || c.Rejected {
		t.Errorf("a score from elsewhere is %+v, want one without a set", c)
	}
	if !got[2].Rejected {
		t.Error("an iteration whose snapshot was dropped can be chosen")
	}
	if got[3].Set == nil || got[3].Duration != nil || got[3].Tokens != nil {
		t.Errorf("%+v: what nobody told is not zero", got[3])
	}
}

// Another orchestrator runs the iterations of a recorded loop, in whatever tree: only
// the loop itself is held.
func TestRecordedLoopLeavesTheTreeAlone(t *testing.T) {
	home := t.TempDir()
	running := create(t, home, "ralph-a-00000001")
	l, err := ledger.Create(home, ledger.State{LoopID: "elsewhere", Kind: ledger.KindRecorded, Workspace: workspace, Status: ledger.Running, StartedAt: noon})
	if err != nil {
		t.Fatalf("a recorded loop beside a running one: %v", err)
	}
	if _, _, err := ledger.OpenWithoutTree(home, "elsewhere", func(ledger.Event) {}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("two write in one loop: %v, want ErrLocked", err)
	}
	if _, _, err := ledger.OpenWithoutTree(home, "ralph-a-00000001", func(ledger.Event) {}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a loop is amended while it runs: %v, want ErrLocked", err)
	}
	if err := errors.Join(l.Close(), running.Close()); err != nil {
		t.Fatal(err)
	}
	if _, s, err := ledger.FindLoop(home, workspace, "elsewhere"); err != nil || s.Status != ledger.Running {
		t.Errorf("a recorded loop that nobody holds is %s, %v, want running: nobody was killed", s.Status, err)
	}
}

func TestCopyArtifacts(t *testing.T) {
	root := t.TempDir()
	l := create(t, filepath.Join(root, "state"), "ralph-a-00000001")
	for name, text := range map[string]string{"docs/a.md": "a", "out/b.md": "b", "out/sub/c.md": "c"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.CopyArtifacts(1, root, []string{"docs/a.md", filepath.Join(root, "out")}); err != nil {
		t.Fatal(err)
	}
	paths, err := l.OutputArtifacts(1)
	if want := []string{"b.md", "docs/a.md", "sub/c.md"}; err != nil || !slices.Equal(paths, want) {
		t.Errorf("artifacts %v, %v, want %v", paths, err, want)
	}
	if text, err := os.ReadFile(filepath.Join(l.Dir(), "final-output", "sub", "c.md")); err != nil || string(text) != "c" {
		t.Errorf("final output %q, %v", text, err)
	}
	for _, bad := range [][]string{{"nowhere"}, {"docs/a.md", "docs/a.md"}, {"."}} {
		if err := l.CopyArtifacts(1, root, bad); err == nil {
			t.Errorf("%v was copied", bad)
		}
	}
	if paths, err := l.OutputArtifacts(1); err != nil || len(paths) != 3 {
		t.Errorf("after failed copies: %v, %v, want the three from before", paths, err)
	}
	if err := l.CopyArtifacts(1, root, []string{"nowhere"}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("error %v, want one that names the file", err)
	}
	if err := l.CopyArtifacts(1, root, nil); err != nil {
		t.Fatal(err)
	}
	if paths, err := l.OutputArtifacts(1); err != nil || paths != nil {
		t.Errorf("%v, %v: nothing was to be kept", paths, err)
	}
}
