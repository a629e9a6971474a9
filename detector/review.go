package detector

import (
	"fmt"
	"slices"
	"strings"
)

// ReviewPrefix begins the names of the rules about what a reviewer says. What kind of
// finding it is follows.
const ReviewPrefix = "review:"

// The kinds of findings of a reviewer.
const (
	Concern = "concern"
	Gaming  = "gaming" // the change makes the tests easier instead of the code better
)

// ReviewFinding is one finding of a reviewer, a second program that has read the change. It
// is an opinion: it rests on a text, whatever it says.
type ReviewFinding struct {
	Kind        string // Concern or Gaming
	File        string
	Line        int // from 1; 0 is the entire file
	Reason      string
	TestsNotRun bool // tests of the file could not be run as they were: nothing but texts is known there
}

// Text is the finding in words.
func (r ReviewFinding) Text() string {
	at := r.File
	if r.Line > 0 {
		at = fmt.Sprintf("%s:%d", r.File, r.Line)
	}
	return fmt.Sprintf("The reviewer says of %s: %s", at, r.Reason)
}

// reviewRule is the row of a kind of findings of the reviewer.
func reviewRule(kind string) Rule {
	return Rule{
		Name: ReviewPrefix + kind, Type: "review", Severity: Medium, Action: AlertAndReview, Basis: Text,
		Condition: "the reviewer (reviewer.agent) reports " + words(kind) + "; HIGH if the original tests of the file could not run", Message: "{why}", Source: "a second opinion, docs/review.md",
	}
}

// ReviewAlerts returns the alerts about what a reviewer says of the current tree, without
// those of all other rules.
func ReviewAlerts(in Input, o Options) []Alert {
	out := newJudge(in, o.WithDefaults()).reviews()
	sortAlerts(out)
	return out
}

// reviews raises one alert for each finding. None is CRITICAL, or undoes anything, for a
// change may hold texts that are meant for the reviewer.
func (j *judge) reviews() []Alert {
	var out []Alert
	for _, f := range j.in.ReviewFindings {
		r := j.opts.row(reviewRule(f.Kind), AgainstPrevious)
		if r.off() || j.opts.Mode == ModeOff {
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
		out = append(out, j.acknowledge(a)...)
	}
	return out
}

// isReview reports whether a rule is about what a reviewer says.
func isReview(name string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(name, ReviewPrefix)
	return kind, ok && slices.Contains([]string{Concern, Gaming}, kind)
}
