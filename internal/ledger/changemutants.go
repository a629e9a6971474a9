package ledger

import (
	"fmt"
	"slices"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// ChangeMutants says which faults in the changed lines of the product code the tests notice.
type ChangeMutants struct {
	Key          string               `json:"key,omitempty"`         // names what was run: the same again ends the same
	Mutants      int                  `json:"mutants"`               // that tests ran on
	Noticed      int                  `json:"noticed"`               // how many of them make a test fail
	Survivors    []ChangeSurvivor     `json:"survivors"`             // the others
	NotDecided   int                  `json:"not_decided,omitempty"` // mutants for which there was no time
	Invalid      int                  `json:"invalid,omitempty"`     // mutants that do not build
	Findings     []detector.Unguarded `json:"findings,omitempty"`
	Took         time.Duration        `json:"took_ns,omitempty"`
	Reused       bool                 `json:"reused,omitempty"`  // nothing was run: the results are those of an earlier run
	NotRunReason string               `json:"refused,omitempty"` // why nothing was run
}

// ChangeSurvivor is a mutant of a changed line that no test notices.
type ChangeSurvivor struct {
	detector.Survivor
	Tests []metric.ID `json:"tests,omitempty"` // the first of the tests that ran on it
	Ran   int         `json:"tests_run"`       // how many ran on it
	Code  []string    `json:"code,omitempty"`  // the lines around it, from two before
}

// Around is how many lines before and after the line of a survivor its Code has.
const Around = 2

// DefaultNoticed is the share of the mutants of a change, in percent, that tests notice if they guard it.
const DefaultNoticed = 80

// GuardShortfall says what is missing for tests to guard the change of an iteration, "" if nothing is: they
// execute each changed line, and notice at least that share of its mutants, in percent. What a person
// accepted does not count.
func (it Iteration) GuardShortfall(least float64) string {
	open := func(rule string) bool {
		return slices.ContainsFunc(it.Assessment.Alerts, func(a detector.Alert) bool { return a.Rule == rule && a.Acknowledged == nil })
	}
	m := it.ChangeMutants
	switch {
	case open(detector.ChangeUntested):
		return "no test executes " + it.ChangeCoverage.Untested()
	case m == nil:
		return ""
	case m.NotRunReason != "", m.NotDecided > 0:
		return m.String()
	case 100*float64(m.Noticed) < least*float64(m.Mutants) && open(detector.ChangeUnguarded):
		return fmt.Sprintf("%s, and at least %g %% are required", m, least)
	}
	return ""
}

// Share returns the share of the mutants that tests notice, in [0,1]; nil if none were run.
func (m *ChangeMutants) Share() *float64 {
	if m == nil || m.Mutants == 0 {
		return nil
	}
	return new(float64(m.Noticed) / float64(m.Mutants))
}

// EmptyTests returns the number of the added tests of an iteration that notice nothing.
func (it Iteration) EmptyTests() int {
	n := 0
	if it.ChangeMutants != nil {
		for _, x := range it.ChangeMutants.Findings {
			if x.Rule == detector.TestsNoticeNothing {
				n += len(x.Tests)
			}
		}
	}
	return n
}

// String returns the result in words, as in "11 of 14 mutants noticed".
func (m ChangeMutants) String() string {
	text := fmt.Sprintf("%d of %d mutants noticed", m.Noticed, m.Mutants)
	switch {
	case m.NotRunReason != "":
		return "mutants not run: " + m.NotRunReason
	case m.NotDecided > 0:
		text += fmt.Sprintf(", %d not decided for lack of time", m.NotDecided)
	}
	return text
}
