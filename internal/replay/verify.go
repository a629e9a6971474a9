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
	Pending  bool     `json:"pending,omitempty"` // the loop has not ended
	Note     string   `json:"note,omitempty"`    // what the check proves or cannot prove
	Head     string   `json:"head,omitempty"`    // hash of the last entry of the log
	Intact   []string `json:"intact,omitempty"`  // snapshots that are intact
	Damaged  []string `json:"damaged,omitempty"` // the others
}

// checklist lists the checks of a loop's folder, in the order of the report. run returns the
// problems, nil if there are none.
var checklist = []struct {
	name string // as users see it
	end  bool   // only for a loop that ended with a selection
	run  func(*verifier) []string
}{
	{"Baseline captured at iteration 0", false, (*verifier).checkBaseline},
	{"Metrics captured for each iteration", false, (*verifier).checkMetrics},
	{"Quality score calculated per iteration", false, (*verifier).checkScores},
	{"Deltas computed (from previous and baseline)", false, (*verifier).checkDeltas},
	{"Classification assigned (forward/plateau/regression/stalled)", false, (*verifier).checkClasses},
	{"Best iteration tracker updated", false, (*verifier).checkTracker},
	{"Alerts generated for regressions", false, (*verifier).checkAlerts},
	{"Iteration report stored", false, (*verifier).checkReports},
	{"All iteration outputs preserved", false, (*verifier).checkSnapshots},
	{"The recorded verdicts follow from what was measured", false, (*verifier).checkVerdicts},
	{"Best output selected on loop completion", true, (*verifier).checkSelection},
	{"Selection based on quality, not recency", true, (*verifier).checkChoice},
	{"Selection rationale documented", true, (*verifier).checkRationale},
	{"Degradation analysed", true, (*verifier).checkDegradation},
}

// verifier checks the folder of one loop. Its check methods return the problems that they find.
type verifier struct {
	dir        string
	loop       *Recorded
	iterations []ledger.Iteration

	stored []snapshot.ID // all snapshots, damaged or not
}

// checkFile reads a JSON file in the folder of the loop into the value that content points to. It
// returns a problem if the file is missing, empty, or not JSON of that form. If content is nil,
// the file may have any content.
func (v *verifier) checkFile(content any, name ...string) []string {
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
	if content == nil {
		return nil
	}
	if err := json.Unmarshal(text, content); err != nil {
		return []string{fmt.Sprintf("%s: %v", rel, err)}
	}
	return nil
}

// checkBaseline checks that there is a baseline with tests. Another orchestrator may omit it.
func (v *verifier) checkBaseline() []string {
	recorded := v.loop.State.Kind == ledger.KindRecorded
	if first := v.iterations[0]; first.Number != 0 {
		if recorded {
			return nil // other orchestrators may not record it
		}
		return []string{fmt.Sprintf("the first iteration is %d", first.Number)}
	}
	problems := v.checkFile(new(ledger.Progress), "progress", ledger.IterationName(0)+"-baseline.json")
	if v.iterations[0].Set.Tests == nil && !recorded && !v.loop.Settings.AllowUntested {
		problems = append(problems, "it has no tests")
	}
	return problems
}

// checkEach calls check for all iterations except the baseline, and returns their problems with
// the number of the iteration in front.
func (v *verifier) checkEach(check func(it ledger.Iteration) []string) []string {
	var out []string
	for _, it := range v.iterations {
		if it.Number == 0 {
			continue
		}
		for _, p := range check(it) {
			out = append(out, fmt.Sprintf("iteration %d: %s", it.Number, p))
		}
	}
	return out
}

// findEach returns the problem for each iteration, except the baseline, that has it.
func (v *verifier) findEach(problem string, hasProblem func(it ledger.Iteration) bool) []string {
	return v.checkEach(func(it ledger.Iteration) []string {
		if hasProblem(it) {
			return []string{problem}
		}
		return nil
	})
}

// checkMetrics checks that each iteration in the state has a record and a file of metrics.
func (v *verifier) checkMetrics() []string {
	var out []string
	for _, h := range v.loop.State.History {
		if !slices.ContainsFunc(v.iterations, func(it ledger.Iteration) bool { return it.Number == h.Iteration }) {
			out = append(out, fmt.Sprintf("iteration %d: its record is missing", h.Iteration))
		}
	}
	return append(out, v.checkEach(func(it ledger.Iteration) []string {
		return v.checkFile(new(ledger.Progress), "progress", ledger.IterationName(it.Number)+"-metrics.json")
	})...)
}

// checkScores checks that each iteration with results has a score.
func (v *verifier) checkScores() []string {
	return v.findEach("no score", func(it ledger.Iteration) bool { return !it.Interrupted && !it.Score.Measured && !it.Set.IsEmpty() })
}

// equalTolerance is the rounding error of numbers that should be equal.
const equalTolerance = 1e-9

// percentTolerance is the rounding error if one of them is stored as a percentage.
const percentTolerance = 1e-3

// checkDeltas checks that the deltas are the differences of the measured values.
func (v *verifier) checkDeltas() []string {
	return v.checkEach(func(it ledger.Iteration) []string {
		if it.Interrupted || v.iterations[0].Number != 0 {
			return nil
		}
		want, given := it.JudgedSet().Sub(v.iterations[0].Set), it.Assessment.FromBaseline
		same := maps.EqualFunc(given, want, func(a, b float64) bool { return math.Abs(a-b) < equalTolerance })
		if it.Recorded != nil { // only the fields that all iterations have
			same = !slices.ContainsFunc(slices.Collect(maps.Keys(given)), func(f metric.Field) bool { return math.Abs(given[f]-want[f]) > percentTolerance })
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

// checkClasses checks that each iteration has a class.
func (v *verifier) checkClasses() []string {
	return v.findEach("no class", func(it ledger.Iteration) bool {
		return !it.Interrupted && (it.Assessment.Class.String() == "" || it.Assessment.Class == detector.Baseline)
	})
}

// checkTracker checks that best-output-tracking.json agrees with the state.
func (v *verifier) checkTracker() []string {
	var t ledger.Tracking
	problems := v.checkFile(&t, "best-output-tracking.json")
	if len(problems) > 0 {
		return problems
	}
	best := v.loop.State.Best
	switch {
	case v.loop.State.Selected != nil: // the selection may be manual
	case (t.Best == nil) != (best == nil), best != nil && *t.Best != best.Iteration:
		problems = append(problems, "the tracker names another best iteration than the state")
	}
	n := len(v.iterations)
	if v.iterations[0].Number == 0 {
		n-- // the tracker has no baseline
	}
	if len(t.Iterations) < n {
		problems = append(problems, fmt.Sprintf("it has %d of %d iterations", len(t.Iterations), n))
	}
	return problems
}

// checkAlerts checks that each rejected iteration has a severe alert or a reason.
func (v *verifier) checkAlerts() []string {
	return v.findEach("it was rejected without an alert or a reason", func(it ledger.Iteration) bool {
		isSevere := func(a detector.Alert) bool { return a.Severity >= detector.High }
		hasReason := it.Decision == nil || it.Decision.Reason != ""
		return it.Rejected && !hasReason && !slices.ContainsFunc(it.Assessment.Alerts, isSevere)
	})
}

// checkReports checks that each iteration has a report.
func (v *verifier) checkReports() []string {
	var out []string
	for _, it := range v.iterations {
		if !it.Interrupted {
			out = append(out, v.checkFile(nil, "reports", ledger.IterationName(it.Number)+"-report.md")...)
		}
	}
	return out
}

// checkSnapshots checks that each iteration has its snapshot, unless it was dropped.
func (v *verifier) checkSnapshots() []string {
	dropped := map[string]bool{}
	for _, names := range v.loop.record.Dropped {
		for _, name := range names {
			dropped[strings.TrimPrefix(name, "s")] = true
		}
	}

	var missing []string
	expected := map[snapshot.ID]bool{}
	for _, it := range v.iterations {
		id := it.Snapshot
		if id == "" || dropped[string(id)] {
			continue
		}
		expected[id] = true
		if !slices.Contains(v.stored, id) {
			missing = append(missing, fmt.Sprintf("iteration %d: its snapshot s%s is missing", it.Number, id))
		}
	}

	if len(expected) <= len(v.stored) { // a user deleted snapshots
		return nil
	}
	return missing
}

// rejudge judges the loop again by its own settings.
func (v *verifier) rejudge() (LoopReport, error) { return v.loop.Judge(nil) }

// checkVerdicts checks that judging again gives the recorded verdicts.
func (v *verifier) checkVerdicts() []string {
	r, err := v.rejudge()
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, d := range r.Differences {
		out = append(out, fmt.Sprintf("iteration %d has a verdict that does not follow from its measurements", d.Recorded.Number))
	}
	return out
}

// checkSelection checks that an existing iteration was selected.
func (v *verifier) checkSelection() []string {
	if v.loop.State.Selected == nil {
		if v.loop.State.ExitCode != 0 {
			return nil // the loop failed before its selection
		}
		return []string{"nothing was selected"}
	}
	n := v.loop.State.Selected.Iteration
	if !slices.ContainsFunc(v.iterations, func(it ledger.Iteration) bool { return it.Number == n }) {
		return []string{fmt.Sprintf("iteration %d was selected and has no record", n)}
	}
	return nil
}

// checkChoice checks that selecting again gives the recorded selection.
func (v *verifier) checkChoice() []string {
	r, err := v.rejudge()
	if err != nil {
		return []string{err.Error()}
	}
	if r.Selection != nil {
		return []string{"the rules select another iteration: see supervise replay"}
	}
	return nil
}

// checkRationale checks that the selection has a reason and a report.
func (v *verifier) checkRationale() []string {
	if v.loop.State.Selected == nil {
		return nil
	}
	if v.loop.choice != nil && v.loop.choice.Reason == "" {
		return []string{"the selection has no reason"}
	}
	return v.checkFile(nil, "reports", "output-selection-report.md")
}

// checkDegradation checks that the analytics of a loop with a selection exist.
func (v *verifier) checkDegradation() []string {
	if v.loop.State.Selected == nil {
		return nil
	}
	return v.checkFile(new(map[string]any), "analytics", "analytics.json")
}
