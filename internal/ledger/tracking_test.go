package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"supervise/detector"
	"supervise/metric"
	"supervise/selector"
)

// The trackers are put together from entries that were made once; they are what
// the encoder makes of the complete.
func TestTrackersEqualTheEncodedValues(t *testing.T) {
	dir := t.TempDir()
	l := &Ledger{dir: dir, state: State{LoopID: `ralph-"iterations": []-00000000`}}
	if err := os.Mkdir(filepath.Join(dir, "progress"), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1, 0).UTC()
	var its []Iteration
	for n := range 4 {
		it := Iteration{Number: n, Score: selector.Score{Value: .1 * float64(n), Measured: n != 2}, EndedAt: now.Add(time.Minute), Rejected: n == 3}
		it.Changed = []FileChange{{Path: `a<b>"iterations": [].go`}}
		it.Set = metric.Set{}
		its = append(its, it)
		best := n - 1
		if err := l.WriteTracking(its, TrackingConfig{}, &best, now); err != nil {
			t.Fatal(err)
		}
		points := []TrajectoryPoint{}
		for _, it := range its {
			points = append(points, it.trajectoryPoint(it.Number == best))
		}
		complete := Tracking{LoopID: l.state.LoopID, Config: TrackingConfig{StoragePath: dir}, Iterations: TrackedIterations(dir, its), Best: &best, LastUpdated: now}
		for name, v := range map[string]any{"progress/trajectory.json": points, "best-output-tracking.json": complete} {
			if err := WriteJSON(filepath.Join(dir, "want.json"), v); err != nil {
				t.Fatal(err)
			}
			want, _ := os.ReadFile(filepath.Join(dir, "want.json"))
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s after %d iterations: %v\n%s\nwant\n%s", name, n, err, got, want)
			}
		}
	}
}

// A state of a long loop stays small; the complete history is in the trajectory.
func TestStateKeepsTheLatestHistory(t *testing.T) {
	l, err := Create(t.TempDir(), State{LoopID: "ralph-x-00000000", Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := State{LoopID: "ralph-x-00000000"}
	for n := range 300 {
		s.Add(Iteration{Number: n, Assessment: detector.Assessment{Class: detector.Plateau}})
	}
	if err := l.Save(s); err != nil {
		t.Fatal(err)
	}
	var back State
	text, _ := os.ReadFile(filepath.Join(l.Dir(), stateName))
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if n := len(back.History); n != maxHistory || back.History[n-1].Iteration != 299 || len(s.History) != 300 {
		t.Error(fmt.Sprint(n, " entries kept, want the latest of them, and those in memory untouched"))
	}
}
