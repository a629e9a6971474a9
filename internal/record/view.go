// Package record works on loops as they are recorded: it chooses the best
// iteration again, takes in iterations that another orchestrator ran, and returns what
// should follow.
//
// It judges by the same detector and selector as a loop that supervise runs.
package record

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"

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

// ReadView reads the loop in dir, which state belongs to.
func ReadView(dir string, state ledger.State) (View, error) {
	p := event.NewPosition()
	if _, err := ledger.ReadLog(dir, p.Apply); err != nil {
		return View{}, err
	}
	return buildView(dir, state, p)
}

// buildView joins the files of a loop and its log. Where settings are missing, the defaults
// apply.
func buildView(dir string, state ledger.State, p *event.Position) (View, error) {
	v := View{Dir: dir, State: state, Dropped: p.DroppedSnapshots, Settings: Defaults()}
	var err error
	if v.Iterations, err = ledger.ReadIterations(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return v, err
	}
	if p.Settings == "" {
		return v, nil
	}
	v.Settings = Settings{}
	if err := ledger.ReadSettings(dir, p.Settings, &v.Settings); err != nil {
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

func roundTo4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
