package replay

import (
	"cmp"
	"encoding/json"
	"fmt"

	"supervise/internal/event"
	"supervise/internal/judge"
	"supervise/internal/ledger"
	"supervise/selector"
)

// Rejudger judges the iterations of a loop again by some settings. For loops that supervise runs
// it is [judge.Rejudge], and for recorded ones record.Rejudge.
type Rejudger func(judge.RecordedLoop, judge.Settings) (judge.Rejudgement, error)

// Loop identifies a loop to read.
type Loop struct {
	Dir     string
	State   ledger.State
	Rejudge Rejudger
}

// Recorded is a loop from its folder, with everything that its verdicts are based on.
type Recorded struct {
	State    ledger.State
	Settings judge.Settings

	rejudge Rejudger
	record  judge.RecordedLoop
	choice  *selector.Selection // nil if the loop ended before its selection
}

// LoopReport is the result of judging a recorded loop again.
type LoopReport struct {
	LoopID   string    `json:"loop_id"`
	Verdicts []Verdict `json:"verdicts"` // verdicts by the current rules
	Judged   int       `json:"judged"`
	Selected *int      `json:"selected_iteration"` // selection by the current rules, nil if nothing was selected

	Differences []Difference `json:"differences"`                 // verdicts that differ from the record, which is an error
	Selection   *Reselected  `json:"selection_differs,omitempty"` // nil if the same iteration is selected
	Best        []Reselected `json:"best_differs,omitempty"`      // iterations after which another one was the best so far; -1 is none
	WhatIf      *WhatIf      `json:"what_if,omitempty"`
}

// MatchesRecord reports whether every verdict matches the record.
func (r LoopReport) MatchesRecord() bool {
	return len(r.Differences) == 0 && r.Selection == nil && len(r.Best) == 0
}

// ReadLoop reads a loop from its folder. The error wraps [ledger.ErrNoSettings] if its settings are
// missing, [ledger.ErrChanged] if they are not those that it was started with, and
// [ErrNothingToJudge] if it has no iterations.
func ReadLoop(l Loop) (*Recorded, error) {
	dir, state := l.Dir, l.State
	r := &Recorded{State: state, rejudge: l.Rejudge, record: judge.RecordedLoop{Dropped: map[int][]string{}}}
	settings, err := r.readLog(dir)
	if err != nil {
		return nil, err
	}
	if settings == "" {
		return nil, fmt.Errorf("replay loop %s: %w", state.LoopID, ledger.ErrNoSettings)
	}
	if err := ledger.ReadSettings(dir, settings, &r.Settings); err != nil {
		return nil, fmt.Errorf("replay loop %s: %w", state.LoopID, err)
	}
	if s := r.Settings.Select; r.choice != nil && (r.choice.Mode != cmp.Or(s.Mode, selector.HighestQualityVerified) || r.choice.Threshold != s.Threshold) {
		r.choice = nil // selected by other settings than those of the loop
	}

	its, err := ledger.ReadIterations(dir)
	if err != nil {
		return nil, err
	}

	for _, it := range its {
		e, err := ledger.ReadEvidence(dir, it.Number)
		if err == nil {
			it.Evidence = &e
		} else if it.Number > 0 && !it.Interrupted {
			return nil, err
		}
		r.record.Iterations = append(r.record.Iterations, it)
	}

	if len(its) == 0 {
		return nil, fmt.Errorf("%w: loop %s ended before its baseline was measured", ErrNothingToJudge, state.LoopID)
	}
	return r, nil
}

// readLog reads from the log which snapshots were dropped and what the loop selected, and returns
// the hash of the settings. A selection by a user does not count, since no rule made it.
func (r *Recorded) readLog(dir string) (settings string, err error) {
	last := 0
	_, err = ledger.ReadLog(dir, func(e ledger.Event) {
		switch event.Type(e.Name) {
		case event.LoopStarted, event.LoopRecorded:
			var s event.Started
			if json.Unmarshal(e.Data, &s) == nil {
				settings = s.Settings
			}
		case event.IterationFinished, event.IterationRecorded:
			last, r.choice = e.Iteration, nil
		case event.SnapshotsDropped:
			var gone event.DroppedSnapshots
			if json.Unmarshal(e.Data, &gone) == nil {
				r.record.Dropped[last] = append(r.record.Dropped[last], gone.Snapshots...)
			}
		case event.OutputSelected:
			var s event.SelectedOutput
			if json.Unmarshal(e.Data, &s) == nil && s.Choice.Override == nil {
				r.choice = &s.Choice
			}
		case event.SelectionChanged:
			var s event.SelectionChange
			if r.State.Kind == ledger.KindRecorded && json.Unmarshal(e.Data, &s) == nil {
				r.choice = s.Automatic()
			}
		default:
		}
	})
	return settings, err
}

// Judge judges the loop again by its own settings, and by those of whatIf if that is not nil.
func (r *Recorded) Judge(whatIf *judge.Settings) (LoopReport, error) {
	out := LoopReport{LoopID: r.State.LoopID}
	res, err := r.rejudge(r.record, r.Settings)
	if err != nil {
		return out, fmt.Errorf("replay loop %s: %w", r.State.LoopID, err)
	}
	r.compareVerdicts(&out, res)
	if whatIf == nil {
		return out, nil
	}
	tried, err := r.rejudge(r.record, *whatIf)
	if err != nil {
		return out, fmt.Errorf("replay loop %s: %w", r.State.LoopID, err)
	}
	out.WhatIf = &WhatIf{Changes: differingVerdicts(out.Verdicts, judgedVerdicts(tried))}
	if was, is := res.Selection, tried.Selection; was != nil && is != nil && was.Iteration != is.Iteration {
		out.WhatIf.Selection = &Reselected{was.Iteration, is.Iteration}
	}
	return out, nil
}

// judgedVerdicts returns the verdicts on all iterations that can be judged again.
func judgedVerdicts(res judge.Rejudgement) []Verdict {
	out := []Verdict{}
	for _, v := range res.Verdicts {
		if !v.Skipped() {
			out = append(out, newVerdict(v))
		}
	}
	return out
}

// compareVerdicts adds to out how the new verdicts and the new selection differ from the record.
func (r *Recorded) compareVerdicts(out *LoopReport, res judge.Rejudgement) {
	out.Verdicts, out.Differences = judgedVerdicts(res), []Difference{}
	out.Judged = len(out.Verdicts)
	for i, v := range res.Verdicts {
		was := r.record.Iterations[i]
		if v.Skipped() {
			continue
		}
		if d := (Difference{newVerdict(judge.Verdict{Iteration: was}), newVerdict(v)}); !sameVerdict(d.Recorded, d.Replayed) {
			out.Differences = append(out.Differences, d)
		}
		if a, b := bestIteration(was), bestIteration(v.Iteration); a != b {
			out.Best = append(out.Best, Reselected{a, b})
		}
	}

	if r.choice == nil || res.Selection == nil {
		return
	}
	n := res.Selection.Iteration
	out.Selected = &n
	if n != r.choice.Iteration {
		out.Selection = &Reselected{r.choice.Iteration, n}
	}
}

// bestIteration returns the number of the best iteration up to this one, -1 for none.
func bestIteration(it ledger.Iteration) int {
	if it.Best == nil {
		return -1
	}
	return it.Best.Iteration
}
