// Package detector judges an iteration. It compares the measurements with the previous
// iteration and with the baseline, raises alerts, classifies the iteration, looks for
// stalls, cycles and stuck loops, and recommends the next step.
//
// It is pure: the same [Input] always gives the same [Assessment]. It uses no clock,
// disk or process. A metric that was not measured never fires a rule.
//
// If the previous iteration did not measure a section, the latest accepted measurement of
// it is used, so that breaking a check for one iteration hides nothing from the next.
//
// The comparison with the baseline finds slow erosion. It alerts only in an iteration that
// made things worse, so that an accepted loss does not count against every later one.
//
// [Assess] makes a judge (judge.go), which compares the measurements and pairs the tests of both
// sides (testdiff.go). Each row of the table of rules (rules.go) has a function that returns
// findings; they become alerts (alert.go). Package detector/internal/loss explains lost tests.
// From the alerts follow the class (classify.go) and the recommendation (recommend.go).
package detector

import (
	"slices"
	"time"

	"supervise/detector/internal/testdiff"
	"supervise/metric"
)

// Observation is what the detector knows of one iteration.
type Observation struct {
	Iteration int // from 1; 0 is the baseline
	Set       metric.Set
	Tree      string  // content identity of the tree; "" when unknown
	Score     float64 // in [0,1]; valid when Scored
	Scored    bool
	Class     Class  // set for earlier iterations; not read for the current one
	Changed   bool   // the agent changed the tree
	Error     string // first error of the iteration, "" if there was none
	AgentExit int    // exit status of the agent
	// Settled are the lost tests that were explained or accepted, see
	// [Assessment.SettledLosses].
	Settled []Loss
	// Approved says that a person approved the iteration: the balance of later iterations
	// is taken against it, and not against the baseline.
	Approved bool
}

// Input is everything on which the verdict on one iteration is based. Only Current is
// required; what is missing is not compared.
type Input struct {
	Current  Observation
	Previous Observation // the tree from which the iteration started
	Baseline Observation

	// History holds the accepted earlier iterations, the baseline first and the latest
	// last. It should not hold iterations in which the agent could not work at all (rate
	// limit, login).
	History []Observation
	// Errors are the errors of the latest consecutive iterations, rejected ones included,
	// oldest first and the current one last. It is empty if the current iteration had none.
	Errors []string
	// KnownErrors are the errors of the baseline.
	KnownErrors []string
	// Best is the best iteration so far; nil if there is none.
	Best *Observation

	Evidence // about the change

	// CoverageLosses are the lines that lost their coverage, since the iterations for which they are
	// known. PlainCoverage says that another program recorded the iteration, and that percentages
	// are compared as they are.
	CoverageLosses []CoverageLoss
	PlainCoverage  bool
	// ChangedLines are the lines of product code that changed since the base, as far as they are known.
	ChangedLines []ChangedLines

	// Goals are the results of original tests, those of the base, on the current product code:
	// of tests that failed at the base, and of tests that the change touches.
	Goals []Goal
	// Dependencies are the changed files that tests depend on, with the results of these tests.
	Dependencies []DependencyResult
	// TestOnly are tests that pass, but fail when the test run is concealed from the code.
	TestOnly []TestOnly
	// Reliances are what became green relies on, besides the product code of the change.
	Reliances []Reliance
	// ProductUnchanged says that only tests, and what they depend on, differ from the base.
	ProductUnchanged bool
	// Granted are the tests that a person allowed the agent to change because they are wrong.
	Granted []Grant
	// Acknowledged are findings that a person accepted during the loop, besides those of Options.
	Acknowledged []Acknowledgement
	// Mutations are the results of the mutation check of changed tests.
	Mutations []MutationResult
	// Unguarded are the findings about mutants of the change.
	Unguarded []Unguarded
	// Hidden are the tests that the agent does not see; nil if they were not run.
	Hidden *Hidden
	// CheckChanges are the files that the checks changed in the tree that they measured.
	CheckChanges []CheckChange
	// ReviewFindings are the findings of a reviewer about the change; nil if none was asked.
	ReviewFindings []ReviewFinding
	// AddedByLoop are the tests that the baseline did not have.
	AddedByLoop map[metric.ID]bool

	// KnownFlaky maps the tests that were found to be flaky earlier to true. It maps those whose
	// file was changed since then to false, since it is unknown again whether they are flaky. For
	// other tests the baseline decides. See [Assessment.LearnFlaky].
	KnownFlaky map[metric.ID]bool
	// Now is when the iteration is judged; acknowledgements that expired before it do not count.
	// With the zero time none has expired.
	Now time.Time
	// SuiteUnread is the number of consecutive iterations directly before this one in which the
	// tests could not be read.
	SuiteUnread int
}

// Evidence is what the texts of a change, and the runs around it, show.
type Evidence struct {
	// Before and After are the test definitions of the changed files, before and after the
	// iteration. They explain lost tests.
	Before      []TestSource      `json:"before,omitempty"`
	After       []TestSource      `json:"after,omitempty"`
	Duplicates  []Duplicate       `json:"duplicates,omitempty"`   // tests that are gone, of which an identical one stays
	Renamed     map[string]string `json:"renamed,omitempty"`      // files, old path to new
	Removed     []string          `json:"removed,omitempty"`      // deleted source files
	GoneSymbols []string          `json:"gone_symbols,omitempty"` // names that product code defined before and no longer defines
	// GitLost is the state of git that the baseline had and that is missing now, in words such as
	// "branch topic".
	GitLost []string `json:"git_lost,omitempty"`
	// WorkLost is the user's work that was in no commit when the loop started, that existed when
	// the iteration started, and that is missing now.
	WorkLost  []LostWork  `json:"work_lost,omitempty"`
	Tampering []Tampering `json:"tampering,omitempty"`  // what the texts of the changed files say about integrity
	TestFiles []string    `json:"test_files,omitempty"` // changed tests, and files that belong to them: fixtures, snapshots, shared set-up
	AckFiles  []string    `json:"ack_files,omitempty"`  // acknowledgement files that the agent changed
	Flaky     []metric.ID `json:"flaky,omitempty"`      // failed in this iteration, and passed when run again on the same tree
}

// Assessment is the verdict on one iteration.
type Assessment struct {
	Iteration      int            `json:"iteration"`
	Class          Class          `json:"classification"`
	Alerts         []Alert        `json:"alerts"` // the most severe first
	FromPrevious   metric.Delta   `json:"from_previous"`
	FromBaseline   metric.Delta   `json:"from_baseline"`
	Changes        TestChanges    `json:"test_changes"`               // since the previous iteration
	Balance        *Balance       `json:"against_baseline,omitempty"` // nil if there is no baseline
	Stall          *Stall         `json:"stall,omitempty"`
	Cycle          *Cycle         `json:"cycle,omitempty"`
	Stuck          *Stuck         `json:"stuck,omitempty"`
	Returned       *int           `json:"returned_to,omitempty"` // the earlier iteration whose tree is back
	Recommendation Recommendation `json:"recommendation"`
}

// Recommendation is what the loop should do next, and why. Confidence is in
// [0,1].
type Recommendation struct {
	Action     RecommendedAction `json:"action"`
	Rule       string            `json:"rule,omitempty"`   // the rule about the loop that leads to it
	Target     int               `json:"target_iteration"` // whose tree to restore, for Rollback
	Reason     string            `json:"reason"`
	Confidence float64           `json:"confidence"`
	// Parts are the reasons for the confidence; their points sum to it.
	Parts []ConfidencePart `json:"confidence_parts,omitempty"`
}

// ConfidencePart is a reason for a confidence, with the points that it adds or, if they are
// negative, subtracts.
type ConfidencePart struct {
	Why    string  `json:"why"`
	Points float64 `json:"points"`
}

// TestChanges says test by test what happened between two measurements.
type TestChanges = testdiff.TestChanges

// HasCritical reports whether any alert is CRITICAL.
func (a Assessment) HasCritical() bool {
	return len(a.Alerts) > 0 && a.Alerts[0].Severity >= Critical
}

// SettledLosses returns the lost tests whose number does not count against the iteration: those
// that were explained or are not decided, and the tests of acknowledged alerts.
func (a Assessment) SettledLosses() []Loss {
	out := slices.Clone(a.Changes.Explained)
	for _, alert := range a.Alerts {
		if alert.Acknowledged == nil {
			continue
		}
		for _, id := range alert.Tests {
			if !slices.ContainsFunc(out, func(l Loss) bool { return l.ID == id }) {
				out = append(out, Loss{ID: id})
			}
		}
	}
	return out
}

// LearnFlaky updates known, see [Input.KnownFlaky]. now are the tests that failed in the
// iteration and passed on the same tree. If their file was changed, the change may be the
// reason and nothing is learned. Once such an iteration is accepted, it is unknown whether
// these tests are flaky.
func (a Assessment) LearnFlaky(known map[metric.ID]bool, now []metric.ID, rejected bool) {
	for _, id := range now {
		_, touched := slices.BinarySearchFunc(a.Changes.FlakyTouched, id, metric.ID.Compare)
		if _, seen := known[id]; !touched && !seen {
			known[id] = true
		}
	}
	if rejected {
		return
	}
	for _, id := range a.Changes.FlakyTouched {
		known[id] = false
	}
}

// Assess judges the current iteration by the given rules.
func Assess(in Input, o Options) Assessment {
	j := newJudge(in, o.WithDefaults())
	a := Assessment{
		Iteration:    in.Current.Iteration,
		FromPrevious: j.previous.delta,
		FromBaseline: j.baseline.delta,
		Changes:      j.previous.tests.Changes(),
	}
	a.Alerts = j.alerts(treeScope)
	if in.Current.Iteration > 0 {
		a.Balance = j.balance(a.SettledLosses())
		j.findPatterns(rollsBack(a.Alerts))
		a.Cycle, a.Stuck, a.Returned = j.cycle, j.stuck, j.returned
		a.Alerts = append(a.Alerts, j.alerts(loopScope)...)
	}
	sortAlerts(a.Alerts)
	a.Class, a.Stall = j.classify(a.Alerts)
	a.Recommendation = j.recommend(a)
	if in.Current.Iteration > 0 { // added last, since an opinion decides nothing
		a.Alerts = append(a.Alerts, j.reviews()...)
		sortAlerts(a.Alerts)
	}
	return a
}

// rollsBack reports whether one of the alerts rolls the iteration back.
func rollsBack(alerts []Alert) bool {
	return slices.ContainsFunc(alerts, func(a Alert) bool { return a.Severity == Critical && a.Action == AlertAndRollback })
}
