// Package record works on loops as they are recorded: it chooses the best
// iteration anew, takes in iterations that another orchestrator ran, and says
// what should follow.
//
// It judges by the same detector and selector as a loop that supervise runs.
package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"supervise/detector"
	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/selector"
	"supervise/snapshot"
)

// View is a loop as it is recorded.
type View struct {
	Dir        string
	State      ledger.State
	Iterations []ledger.Iteration // by number; the baseline first, if there is one
	Settings   Settings
	Dropped    map[snapshot.ID]bool // snapshots that are gone
}

// Read reads the loop in dir, which state belongs to.
func Read(dir string, state ledger.State) (View, error) {
	h := newHistory()
	if _, err := ledger.ReadLog(dir, h.read); err != nil {
		return View{}, err
	}
	return view(dir, state, h)
}

// view puts together what the files of a loop and its log say. Loops of older
// versions have no settings: those of a user who sets nothing stand in.
func view(dir string, state ledger.State, h *history) (View, error) {
	v := View{Dir: dir, State: state, Dropped: h.dropped, Settings: Defaults()}
	var err error
	if v.Iterations, err = ledger.Iterations(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return v, err
	}
	if h.settings == "" {
		return v, nil
	}
	v.Settings = Settings{}
	if err := ledger.ReadSettings(dir, h.settings, &v.Settings); err != nil {
		return v, err
	}
	v.Settings.Select.Mode = cmp.Or(v.Settings.Select.Mode, selector.HighestQualityVerified)
	return v, nil
}

// Settings are those of a loop that matter here.
type Settings struct {
	judge.Settings
	Snapshot snapshot.Options `json:"snapshot"`
}

// Defaults are the settings of a user who sets nothing, as far as verdict and choice
// depend on them.
func Defaults() Settings {
	return Settings{Settings: judge.Settings{Rules: detector.DefaultOptions(), Weights: selector.DefaultWeights(), Select: selector.DefaultOptions()}}
}

// Iteration returns the iteration with the number.
func (v View) Iteration(n int) (ledger.Iteration, error) {
	for _, it := range v.Iterations {
		if it.Number == n {
			return it, nil
		}
	}
	return ledger.Iteration{}, fmt.Errorf("loop %s: %w: %d", v.State.LoopID, selector.ErrNoIteration, n)
}

// candidates are the iterations as the selector sees them.
func (v View) candidates() []selector.Candidate { return ledger.Candidates(v.Iterations, v.Dropped) }

// history is what only the log of a loop tells.
type history struct {
	settings string // hash of what the loop was asked to do
	dropped  map[snapshot.ID]bool
}

func decode[T any](e ledger.Event) (v T) {
	_ = json.Unmarshal(e.Data, &v) // our own writing, under a hash
	return v
}

// snapshotNamed is the snapshot that events call sN.
func snapshotNamed(name string) snapshot.ID { return snapshot.ID(strings.TrimPrefix(name, "s")) }

func newHistory() *history { return &history{dropped: map[snapshot.ID]bool{}} }

func (h *history) read(e ledger.Event) {
	switch event.Type(e.Name) {
	case event.LoopStarted, event.LoopRecorded:
		h.settings = decode[event.Started](e).Settings
	case event.SnapshotsDropped:
		for _, name := range decode[event.SnapshotsGone](e).Snapshots {
			h.dropped[snapshotNamed(name)] = true
		}
	default:
	}
}

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
