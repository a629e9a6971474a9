// Package record works on recorded loops, whose iterations another orchestrator runs.
//
// [NewMessages] and [ReadMetrics] parse what the orchestrator reports. [Record] judges a reported
// iteration and adds it to the folder of the loop, [View.Decide] recommends what to do next, and
// [Select] selects the best iteration again. [Service.Answer] combines them to answer one message
// with others. The detector and the selector are those of a loop that supervise runs.
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

// View is a recorded loop in memory.
type View struct {
	Dir        string
	State      ledger.State
	Iterations []ledger.Iteration // sorted by number; the baseline first, if there is one
	Settings   Settings
	Dropped    map[snapshot.ID]bool // snapshots that were dropped
}

// ReadView reads the loop with the given state in dir.
func ReadView(dir string, state ledger.State) (View, error) {
	p := event.NewPosition()
	if _, err := ledger.ReadLog(dir, p.Apply); err != nil {
		return View{}, err
	}
	return buildView(dir, state, p)
}

// openView opens a loop for writing, without its tree, and reads it. The caller closes the ledger.
func openView(home, id string) (*ledger.Ledger, View, error) {
	p := event.NewPosition()
	l, state, err := ledger.OpenWithoutTree(home, id, p.Apply)
	if err != nil {
		return nil, View{}, err
	}
	v, err := buildView(l.Dir(), state, p)
	if err != nil {
		return nil, v, errors.Join(err, l.Close())
	}
	return l, v, nil
}

// buildView combines the files of a loop with its log, which was read into p. Missing settings
// get their defaults.
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

// Settings are the settings of a loop that this package needs.
type Settings struct {
	judge.Settings
	Snapshot snapshot.Options `json:"snapshot"`
}

// Defaults returns the default settings for verdict and selection.
func Defaults() Settings {
	return Settings{Settings: judge.Settings{Rules: detector.DefaultOptions(), Weights: selector.DefaultWeights(), Select: selector.DefaultOptions()}}
}

// Iteration returns the iteration with the number n. The error wraps [selector.ErrNoIteration].
func (v View) Iteration(n int) (ledger.Iteration, error) {
	for _, it := range v.Iterations {
		if it.Number == n {
			return it, nil
		}
	}
	return ledger.Iteration{}, fmt.Errorf("loop %s: %w: %d", v.State.LoopID, selector.ErrNoIteration, n)
}

// candidates converts the iterations for the selector.
func (v View) candidates() []selector.Candidate { return ledger.Candidates(v.Iterations, v.Dropped) }

// roundTo4 rounds to four decimals, for messages.
func roundTo4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
