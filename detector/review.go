package detector

import (
	"fmt"
	"slices"
	"strings"
)

// ReviewPrefix starts the names of the rules about findings of a reviewer. The kind of
// finding follows.
const ReviewPrefix = "review:"

// The kinds of findings of a reviewer.
const (
	Concern = "concern"
	Gaming  = "gaming" // the change makes the tests easier instead of the code better
)

// ReviewFinding is one finding of a reviewer, a second program that has read the change. It
// is an opinion, whose basis is always the text.
type ReviewFinding struct {
	Kind        string // Concern or Gaming
	File        string
	Line        int // from 1; 0 is the entire file
	Reason      string
	TestsNotRun bool // original tests of the file could not be run
}

// Text returns the finding in words.
func (r ReviewFinding) Text() string {
	location := r.File
	if r.Line > 0 {
		location = fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	return fmt.Sprintf("The reviewer says of %s: %s", location, r.Reason)
}

// reviewRule returns the rule for one kind of finding of the reviewer.
func reviewRule(kind string) Rule {
	return Rule{
		Name: ReviewPrefix + kind, Type: "review", Severity: Medium, Action: AlertAndReview, Basis: Text,
		Condition: "the reviewer (reviewer.agent) reports " + spaced(kind) + "; HIGH if the original tests of the file could not run", Message: "{why}", Source: "a second opinion, docs/review.md",
	}
}

// ReviewAlerts returns only the alerts about findings of the reviewer.
func ReviewAlerts(in Input, o Options) []Alert {
	out := newJudge(in, o.WithDefaults()).reviews()
	sortAlerts(out)
	return out
}

// reviews raises one alert for each finding. None is CRITICAL or rolls anything back, since
// a change may contain text that manipulates the reviewer.
func (j *judge) reviews() []Alert {
	var out []Alert
	for _, f := range j.in.ReviewFindings {
		r := j.opts.apply(reviewRule(f.Kind), AgainstPrevious)
		if r.isOff() || j.opts.Mode == ModeOff {
			continue
		}
		found := finding{values: Values{Why: f.Text()}, files: []string{f.File}}
		if f.TestsNotRun {
			found.severity, found.action = High, AlertAndFlag
		}
		a := j.alert(r, AgainstPrevious, found)
		if a.Severity > High || a.Action == AlertAndRollback {
			a.Severity, a.Action = min(a.Severity, High), AlertAndFlag
		}
		out = append(out, j.acknowledge(a, j.acknowledgements)...)
	}
	return out
}

// reviewKind returns the kind of finding of a review rule, false for other rules.
func reviewKind(name string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(name, ReviewPrefix)
	return kind, ok && slices.Contains([]string{Concern, Gaming}, kind)
}
