package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
	"supervise/snapshot"
)

// Check is one line of the checklist of a loop's folder.
type Check struct {
	Name     string   `json:"check"`
	OK       bool     `json:"ok"`
	Problems []string `json:"problems,omitempty"`
	Pending  bool     `json:"pending,omitempty"` // the loop is not over
	Note     string   `json:"note,omitempty"`    // what the check proves, or cannot
	Head     string   `json:"head,omitempty"`    // hash of the last entry of the log
	Intact   []string `json:"intact,omitempty"`  // snapshots that are intact
	Damaged  []string `json:"damaged,omitempty"` // the others
}

// checklist are the checks, as people read them.
var checklist = []struct {
	name string
	end  bool // only of a loop that is over and has selected
	run  func(*verifier) []string
}{
	{"Baseline captured at iteration 0", false, (*verifier).baseline},
	{"Metrics captured for each iteration", false, (*verifier).metrics},
	{"Quality score calculated per iteration", false, (*verifier).scores},
	{"Deltas computed (from previous and baseline)", false, (*verifier).deltas},
	{"Classification assigned (forward/plateau/regression/stalled)", false, (*verifier).classes},
	{"Best iteration tracker updated", false, (*verifier).tracker},
	{"Alerts generated for regressions", false, (*verifier).alerts},
	{"Iteration report stored", false, (*verifier).reports},
	{"All iteration outputs preserved", false, (*verifier).outputs},
	{"The recorded verdicts follow from what was measured", false, (*verifier).verdicts},
	{"Best output selected on loop completion", true, (*verifier).selected},
	{"Selection based on quality, not recency", true, (*verifier).choice},
	{"Selection rationale documented", true, (*verifier).rationale},
	{"Degradation analysed", true, (*verifier).degradation},
}

// verifier is what is checked.
type verifier struct {
	dir string
	rec *Recorded
	its []ledger.Iteration

	there []snapshot.ID // in the store, damaged or not
}

// missing names the files of the loop's folder that are missing, or cannot be decoded
// into into, if that is not nil.
func (v *verifier) missing(into any, name ...string) []string {
	path := filepath.Join(append([]string{v.dir}, name...)...)
	text, err := os.ReadFile(path)
	rel := filepath.Join(name...)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []string{rel + " is missing"}
	case err != nil:
		return []string{err.Error()}
	case len(text) == 0:
		return []string{rel + " is empty"}
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			return []string{fmt.Sprintf("%s: %v", rel, err)}
		}
	}
	return nil
}

func (v *verifier) baseline() []string {
	recorded := v.rec.State.Kind == ledger.KindRecorded
	if first := v.its[0]; first.Number != 0 {
		if recorded {
			return nil // orchestrators may leave it out
		}
		return []string{fmt.Sprintf("the first iteration is %d", first.Number)}
	}
	var p ledger.Progress
	problems := v.missing(&p, "progress", ledger.IterationName(0)+"-baseline.json")
	if v.its[0].Set.Tests == nil && !recorded && !v.rec.Settings.AllowUntested {
		problems = append(problems, "it has no tests")
	}
	return problems
}

// each collects the problems of the iterations after the baseline.
func (v *verifier) each(check func(n int, it ledger.Iteration) []string) []string {
	var out []string
	for n, it := range v.its {
		if it.Number == 0 {
			continue
		}
		for _, p := range check(n, it) {
			out = append(out, fmt.Sprintf("iteration %d: %s", it.Number, p))
		}
	}
	return out
}

func (v *verifier) metrics() []string {
	var out []string
	for _, h := range v.rec.State.History {
		if !slices.ContainsFunc(v.its, func(it ledger.Iteration) bool { return it.Number == h.Iteration }) {
			out = append(out, fmt.Sprintf("iteration %d: its record is missing", h.Iteration))
		}
	}
	return append(out, v.each(func(_ int, it ledger.Iteration) []string {
		var p ledger.Progress
		return v.missing(&p, "progress", ledger.IterationName(it.Number)+"-metrics.json")
	})...)
}

func (v *verifier) scores() []string {
	return v.each(func(_ int, it ledger.Iteration) []string {
		if !it.Interrupted && !it.Score.Measured && !it.Set.IsEmpty() {
			return []string{"no score"}
		}
		return nil
	})
}

// almost is the tolerance for numbers that should be equal.
const almost = 1e-9

// nearly is the tolerance if one of them was given as a percentage.
const nearly = 1e-3

func (v *verifier) deltas() []string {
	return v.each(func(_ int, it ledger.Iteration) []string {
		if it.Interrupted || v.its[0].Number != 0 {
			return nil
		}
		want, given := it.JudgedSet().Sub(v.its[0].Set), it.Assessment.FromBaseline
		same := maps.EqualFunc(given, want, func(a, b float64) bool { return math.Abs(a-b) < almost })
		if it.Recorded != nil { // compared by what all iterations have
			same = !slices.ContainsFunc(slices.Collect(maps.Keys(given)), func(f metric.Field) bool { return math.Abs(given[f]-want[f]) > nearly })
		}
		if !same {
			return []string{"its deltas from the baseline are not the differences of what was measured"}
		}
		if it.Assessment.FromPrevious == nil {
			return []string{"no deltas from the previous iteration"}
		}
		return nil
	})
}

func (v *verifier) classes() []string {
	return v.each(func(_ int, it ledger.Iteration) []string {
		if !it.Interrupted && (it.Assessment.Class.String() == "" || it.Assessment.Class == detector.Baseline) {
			return []string{"no class"}
		}
		return nil
	})
}

func (v *verifier) tracker() []string {
	var t ledger.Tracking
	problems := v.missing(&t, "best-output-tracking.json")
	if len(problems) > 0 {
		return problems
	}
	best := v.rec.State.Best
	switch {
	case v.rec.State.Selected != nil: // the selection may be manual
	case (t.Best == nil) != (best == nil), best != nil && *t.Best != best.Iteration:
		problems = append(problems, "the tracker names another best iteration than the state")
	}
	n := len(v.its)
	if v.its[0].Number == 0 {
		n-- // the tracker has no baseline
	}
	if len(t.Iterations) < n {
		problems = append(problems, fmt.Sprintf("it has %d of %d iterations", len(t.Iterations), n))
	}
	return problems
}

func (v *verifier) alerts() []string {
	return v.each(func(_ int, it ledger.Iteration) []string {
		if it.Rejected && !slices.ContainsFunc(it.Assessment.Alerts, func(a detector.Alert) bool { return a.Severity >= detector.High }) && it.Decision != nil && it.Decision.Reason == "" {
			return []string{"it was rejected without an alert or a reason"}
		}
		return nil
	})
}

func (v *verifier) reports() []string {
	var out []string
	for _, it := range v.its {
		if !it.Interrupted {
			out = append(out, v.missing(nil, "reports", ledger.IterationName(it.Number)+"-report.md")...)
		}
	}
	return out
}

func (v *verifier) outputs() []string {
	gone := map[string]bool{}
	for _, list := range v.rec.record.Dropped {
		for _, name := range list {
			gone[strings.TrimPrefix(name, "s")] = true
		}
	}
	var out []string
	kept := map[snapshot.ID]bool{}
	for _, it := range v.its {
		if id := it.Snapshot; id != "" && !gone[string(id)] && !slices.Contains(v.there, id) {
			out = append(out, fmt.Sprintf("iteration %d: its snapshot s%s is missing", it.Number, id))
		}
		if it.Snapshot != "" && !gone[string(it.Snapshot)] {
			kept[it.Snapshot] = true
		}
	}
	if len(kept) <= len(v.there) { // dropped manually
		return nil
	}
	return out
}

func (v *verifier) judged() (LoopReport, error) { return v.rec.Judge(nil) }

func (v *verifier) verdicts() []string {
	r, err := v.judged()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, d := range r.Differences {
		out = append(out, fmt.Sprintf("iteration %d has a verdict that does not follow from its measurements", d.Recorded.Number))
	}
	return out
}

func (v *verifier) selected() []string {
	if v.rec.State.Selected == nil {
		if v.rec.State.ExitCode != 0 {
			return nil // it failed before there was anything to select
		}
		return []string{"nothing was selected"}
	}
	n := v.rec.State.Selected.Iteration
	if !slices.ContainsFunc(v.its, func(it ledger.Iteration) bool { return it.Number == n }) {
		return []string{fmt.Sprintf("iteration %d was selected and has no record", n)}
	}
	return nil
}

func (v *verifier) choice() []string {
	r, err := v.judged()
	if err != nil {
		return []string{err.Error()}
	}
	if r.Selection != nil {
		return []string{"the rules select another iteration: see supervise replay"}
	}
	return nil
}

func (v *verifier) rationale() []string {
	if v.rec.State.Selected == nil {
		return nil
	}
	if v.rec.choice != nil && v.rec.choice.Reason == "" {
		return []string{"the selection has no reason"}
	}
	return v.missing(nil, "reports", "output-selection-report.md")
}

func (v *verifier) degradation() []string {
	if v.rec.State.Selected == nil {
		return nil
	}
	var doc map[string]any
	return v.missing(&doc, "analytics", "analytics.json")
}
