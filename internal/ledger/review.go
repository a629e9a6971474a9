package ledger

import (
	"encoding/json"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// Review is a second opinion on a change, by a program that has read it.
type Review struct {
	Reviewer string          `json:"reviewer"`          // a known agent program, or a command
	Verdict  ReviewVerdict   `json:"verdict,omitempty"` // "": there is no opinion
	Why      string          `json:"why,omitempty"`     // there is no opinion
	Findings []ReviewFinding `json:"findings,omitempty"`
	Duration time.Duration   `json:"duration_ns"`
	Usage    *metric.Usage   `json:"usage,omitempty"` // nil where the program reported none
}

// ReviewVerdict is what a reviewer says of a change as a whole.
type ReviewVerdict string

// The verdicts.
const (
	ReviewOK       ReviewVerdict = "ok"
	ReviewConcerns ReviewVerdict = "concerns"
	ReviewGaming   ReviewVerdict = "gaming" // of the tests
)

// ReviewFinding is one place that a reviewer names.
type ReviewFinding struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1; 0 is the file as a whole
	Reason string `json:"reason"`
}

// String says the outcome in one line.
func (r Review) String() string {
	if r.Verdict == "" {
		return "no opinion: " + r.Why
	}
	return string(r.Verdict)
}

// eventReviewed is the event of a review of the selected tree, with a [SelectionReview].
const eventReviewed = "output_reviewed"

// SelectionReview is the second opinion on what a loop did, and the findings in it.
type SelectionReview struct {
	Review
	Iteration int              `json:"iteration"` // that was selected
	Alerts    []detector.Alert `json:"alerts"`
}

// AddReview takes in a review of the selected tree, with what it cost.
func (s *State) AddReview(r SelectionReview) {
	s.Review = &r
	if r.Usage == nil {
		return
	}
	sum := Spending{}
	if s.Spending != nil {
		sum = *s.Spending
	}
	sum.Usage = sum.Plus(*r.Usage)
	sum.share()
	s.Spending = &sum
}

// reviewOf reads the data of an event, nil where it is no review.
func reviewOf(e Event) *SelectionReview {
	var r SelectionReview
	if e.Name != eventReviewed || json.Unmarshal(e.Data, &r) != nil {
		return nil
	}
	return &r
}
