package reasoning

import (
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/metric"
)

// Extraction is what was read: the reports, and the results of each run. A section that is nil was
// not measured.
type Extraction struct {
	Agent         *ledger.AgentRun  `json:"agent,omitempty"`
	Changed       Names             `json:"changed_files"` // "modified m.go"
	Reused        bool              `json:"reused"`        // the very same tree had been measured before
	Checks        []ledger.CheckRun `json:"checks"`
	Confirmation  *Confirmation     `json:"confirmation,omitempty"`    // nil if no test failed that had passed before
	Goals         *Goals            `json:"goals,omitempty"`           // nil if no original test was to run
	CleanCopy     *CleanCopy        `json:"clean_room,omitempty"`      // nil if nothing became green, or only product code changed
	Concealed     *ConcealedRun     `json:"concealed_tests,omitempty"` // nil if no added code may detect its tests
	MutationCheck *MutationCheck    `json:"power,omitempty"`           // nil if no test was changed or deleted
	Hidden        *Hidden           `json:"hidden_tests,omitempty"`
	Silenced      *Silenced         `json:"lint_suppressed,omitempty"`   // nil if no added comment silences linters
	Excluded      *Excluded         `json:"coverage_excluded,omitempty"` // nil if nothing added excludes code from the coverage
	Tests         *Tests            `json:"tests,omitempty"`
	Coverage      *Coverage         `json:"coverage,omitempty"`
	Lint          *Lint             `json:"lint,omitempty"`
	Build         *metric.Build     `json:"build,omitempty"`
	Code          *metric.Code      `json:"code,omitempty"`
	Gaps          []metric.Gap      `json:"gaps"`
	OwnTime       time.Duration     `json:"own_time_ns"`
	Recorded      bool              `json:"recorded,omitempty"` // an orchestrator ran and measured it
}

// Confirmation is the confirmation of tests that failed although they had passed before:
// they were run again.
type Confirmation struct {
	Suspects Names             `json:"suspects"`
	Flaky    Names             `json:"flaky"` // those that passed then
	Runs     []ledger.CheckRun `json:"runs"`
	Refused  string            `json:"refused,omitempty"` // why nothing was run again
}

// Goals are the outcomes of the original tests on the new code.
type Goals struct {
	Passed         int               `json:"passed"`
	Outcomes       []GoalGroup       `json:"outcomes"`
	RestoredFiles  Names             `json:"restored_files"`        // tests, and their dependencies
	RestoredInline Names             `json:"restored_inline_tests"` // files of code whose test modules were restored
	Runs           []ledger.CheckRun `json:"runs"`
	Took           time.Duration     `json:"took_ns"`
	Reused         bool              `json:"reused,omitempty"`
	Refused        string            `json:"refused,omitempty"` // why nothing was run
}

// GoalGroup are the tests with one outcome, each with its message. Of those that passed,
// there may be more than are named.
type GoalGroup struct {
	Outcome detector.Outcome `json:"outcome"`
	Tests   Names            `json:"tests"`
}

// GoalsOf describes the run of original tests, nil if there was none to run.
func GoalsOf(h *ledger.Goals) *Goals {
	if h == nil {
		return nil
	}
	out := &Goals{
		Passed: h.Passed, Outcomes: []GoalGroup{}, RestoredFiles: NamesOf(h.RestoredFiles), RestoredInline: NamesOf(h.RestoredInlineTests), Runs: checkRuns(h.Runs),
		Took: h.Took, Reused: h.Reused, Refused: h.NotRunReason,
	}
	for _, outcome := range []detector.Outcome{detector.Failed, detector.Passed, detector.Unbuilt, detector.NotRun} {
		var tests []string
		for _, r := range h.Results {
			if r.Outcome == outcome {
				tests = append(tests, withMessage(r.ID, r.Why))
			}
		}
		if len(tests) > 0 {
			out.Outcomes = append(out.Outcomes, GoalGroup{outcome, NamesOf(tests)})
		}
	}
	return out
}

// MutationCheck is the mutation check of changed tests, before and after the change.
type MutationCheck struct {
	Groups  []MutationGroup `json:"groups"`
	Invalid int             `json:"invalid,omitempty"` // mutants that do not build
	Took    time.Duration   `json:"took_ns"`
	Reused  bool            `json:"reused,omitempty"`
	Refused string          `json:"refused,omitempty"` // why nothing was run
}

// MutationGroup are test files that were compared as one.
type MutationGroup struct {
	detector.MutationResult
	SurvivorNames Names `json:"survive"` // mutants that were killed and survive now
}

// MutationCheckOf describes the mutation check of changed tests, nil if there were none.
func MutationCheckOf(p *ledger.MutationCheck) *MutationCheck {
	if p == nil {
		return nil
	}
	out := &MutationCheck{Groups: []MutationGroup{}, Invalid: p.Invalid, Took: p.Took, Reused: p.Reused, Refused: p.NotRunReason}
	for _, r := range p.Results {
		var lives []string
		for _, s := range r.Survivors {
			lives = append(lives, s.String())
		}
		out.Groups = append(out.Groups, MutationGroup{r, NamesOf(lives)})
	}
	return out
}

// ConcealedRun are the results of tests that ran concealed from the code.
type ConcealedRun struct {
	Files   Names             `json:"files"`  // with added code that may detect its tests
	Tests   int               `json:"tests"`  // that were run
	Failed  Names             `json:"failed"` // those that pass only under test, with their messages
	Runs    []ledger.CheckRun `json:"runs"`
	Took    time.Duration     `json:"took_ns"`
	Refused string            `json:"refused,omitempty"` // why nothing was run
}

// ConcealedRunOf describes tests that ran concealed from the code, nil if none did.
func ConcealedRunOf(d *ledger.ConcealedRun) *ConcealedRun {
	if d == nil {
		return nil
	}
	var files, failed []string
	for _, s := range d.Signs {
		files = append(files, s.File)
	}
	slices.Sort(files)
	for _, r := range d.Results {
		failed = append(failed, withMessage(r.ID, r.Why))
	}
	return &ConcealedRun{
		Files: NamesOf(slices.Compact(files)), Tests: d.Tests, Failed: NamesOf(failed), Runs: checkRuns(d.Runs), Took: d.Took, Refused: d.NotRunReason,
	}
}

// CleanCopy is the result of running what became green in a clean copy of the base.
type CleanCopy struct {
	Tests     int           `json:"tests"` // that were run
	Criterion string        `json:"criterion,omitempty"`
	ReliesOn  Names         `json:"relies_on"` // besides product code
	Took      time.Duration `json:"took_ns"`
	Refused   string        `json:"refused,omitempty"` // why nothing was run
}

// cleanCopyOf describes what ran in a clean copy, nil if nothing did.
func cleanCopyOf(r *ledger.CleanRoom) *CleanCopy {
	if r == nil {
		return nil
	}
	var on []string
	for _, x := range r.Reliances {
		on = append(on, x.String())
	}
	return &CleanCopy{r.Tests, r.Criterion, NamesOf(on), r.Took, r.NotRunReason}
}

// withMessage returns the name of a test, with its message if there is one.
func withMessage(id metric.ID, why string) string {
	if why == "" {
		return id.String()
	}
	return id.String() + ": " + why
}

// Silenced is what the linters find without the new suppression comments. It counts
// as if it were reported.
type Silenced struct {
	Files    Names             `json:"files"`
	Findings Names             `json:"findings"`
	Runs     []ledger.CheckRun `json:"runs"`
	Why      string            `json:"why,omitempty"` // it is not known
}

// Excluded is the coverage without the exclusions that are new in the loop.
type Excluded struct {
	Files   Names             `json:"files"`
	With    float64           `json:"reported_percent"` // percent, as reported
	Counted float64           `json:"counted_percent"`  // percent, as it counts
	Runs    []ledger.CheckRun `json:"runs"`
	Why     string            `json:"why,omitempty"`    // it is not known
	Reused  bool              `json:"reused,omitempty"` // none of the files changed since it was counted
}

// Hidden are the outcomes of the tests that the agent does not see.
type Hidden struct {
	Tests   *Tests            `json:"tests,omitempty"` // nil: not run, or not to be read
	Failing Names             `json:"failing"`         // with those that did not run
	Flaky   Names             `json:"flaky"`
	Broken  string            `json:"broken,omitempty"` // why some could not run
	Runs    []ledger.CheckRun `json:"runs"`
	Why     string            `json:"why,omitempty"`
	Refused string            `json:"refused,omitempty"`
	Reused  bool              `json:"reused,omitempty"`
	Later   bool              `json:"deferred,omitempty"` // they are run at the end of the loop
	Sealed  bool              `json:"sealed,omitempty"`   // they were taken out of the tree
}

// HiddenOf describes a run of hidden tests, nil if there are none.
func HiddenOf(h *ledger.Hidden) *Hidden {
	if h == nil {
		return nil
	}
	out := &Hidden{Tests: testCounts(h.Tests), Flaky: namesOfTests(h.Flaky), Runs: checkRuns(h.Runs), Why: h.Why, Refused: h.NotRunReason, Reused: h.Reused, Later: h.Deferred, Sealed: h.Sealed}
	var failing []string
	if h.Tests != nil {
		for _, c := range h.Tests.Cases {
			if c.Failed() {
				failing = append(failing, c.ID.String())
			}
		}
		if len(h.Tests.Broken) > 0 {
			out.Broken = h.Tests.Broken[0].Why
		}
	}
	out.Failing = NamesOf(failing)
	return out
}

// Tests are the counts of the test cases that were read.
type Tests struct {
	Count    int    `json:"count"`
	Passed   int    `json:"passed"`
	Failed   int    `json:"failed"` // with those that did not run
	Skipped  int    `json:"skipped"`
	NotRun   int    `json:"not_run"`
	Flaky    int    `json:"flaky"`
	Cached   int    `json:"cached,omitempty"` // not run, because their tool has their last result
	Format   string `json:"format,omitempty"`
	Producer string `json:"producer,omitempty"`
}

// Coverage is what was covered, in the unit of its report.
type Coverage struct {
	Percent float64     `json:"percent"`
	Covered int64       `json:"covered"`
	Total   int64       `json:"total"`
	Unit    metric.Unit `json:"unit"`
	Format  string      `json:"format,omitempty"`
	Files   int         `json:"files"`
}

// Lint are the findings by level, and who found them.
type Lint struct {
	Errors     int      `json:"errors"`
	Warnings   int      `json:"warnings"`
	TypeErrors int      `json:"type_errors"`
	Tools      []string `json:"tools,omitempty"`
}

// newExtraction returns what was read in an iteration.
func newExtraction(it ledger.Iteration) Extraction {
	e := Extraction{
		Agent: it.Agent, Reused: it.Reused, Tests: testCounts(it.Set.Tests),
		Coverage: coverageSummary(it.Set.Coverage), Lint: lintSummary(it.Set.Lint), Build: it.Set.Build, Code: it.Set.Code,
		Gaps: append([]metric.Gap{}, it.Set.Gaps...), OwnTime: it.OwnTime, Recorded: it.Recorded != nil,
	}

	changed := make([]string, len(it.Changed))
	for i, c := range it.Changed {
		changed[i] = c.Kind + " " + c.Path
	}

	e.Changed = NamesOf(changed)
	e.Checks = checkRuns(it.Checks)
	e.CleanCopy = cleanCopyOf(it.CleanRoom)
	e.Goals, e.MutationCheck, e.Concealed, e.Hidden = GoalsOf(it.Goals), MutationCheckOf(it.MutationCheck), ConcealedRunOf(it.ConcealedRun), HiddenOf(it.Hidden)
	if q := it.Silenced; q != nil {
		var found []string
		for _, f := range q.Findings {
			found = append(found, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
		}
		e.Silenced = &Silenced{NamesOf(q.Files), NamesOf(found), checkRuns(q.Runs), q.Why}
	}

	if x := it.Excluded; x != nil {
		with, _ := x.Measured.Percent()
		counted, _ := it.Set.Coverage.Percent()
		e.Excluded = &Excluded{NamesOf(x.Files), with, counted, checkRuns(x.Runs), x.Why, x.Reused}
	}

	if a := it.Confirmation; a != nil {
		e.Confirmation = &Confirmation{namesOfTests(a.Suspects), namesOfTests(a.Flaky), checkRuns(a.Runs), a.NotRunReason}
	}
	return e
}

// checkRuns returns the runs without their output.
func checkRuns(runs []ledger.CheckRun) []ledger.CheckRun {
	out := append([]ledger.CheckRun{}, runs...)
	for i := range out {
		out[i].Output = ""
	}
	return out
}

// testCounts returns the counts of the tests, nil if there are none.
func testCounts(t *metric.Tests) *Tests {
	if t == nil {
		return nil
	}
	n := t.Counts()
	out := &Tests{Count: n.Count, Passed: n.Passed, Failed: n.Failed, Skipped: n.Skipped, Flaky: n.Flaky, Cached: n.Cached, Format: t.Format, Producer: t.Producer}
	for _, c := range t.Cases {
		if c.Status == metric.NotRun {
			out.NotRun++
		}
	}
	return out
}

// coverageSummary returns the totals of a coverage, nil if it has no percentage.
func coverageSummary(c *metric.Coverage) *Coverage {
	percent, ok := c.Percent()
	if !ok {
		return nil
	}
	return &Coverage{percent, c.Covered, c.Total, c.Unit, c.Format, len(c.Files)}
}

// lintSummary returns the counts of the findings, nil if no linter was read.
func lintSummary(l *metric.Lint) *Lint {
	if l == nil {
		return nil
	}
	n := l.Counts()
	out := &Lint{Errors: n.Errors, Warnings: n.Warnings, TypeErrors: n.TypeErrors}
	for _, f := range l.Findings {
		if f.Tool != "" && !slices.Contains(out.Tools, f.Tool) {
			out.Tools = append(out.Tools, f.Tool)
		}
	}
	slices.Sort(out.Tools)
	return out
}
