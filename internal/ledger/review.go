package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// Review is a second opinion on a change, by a program that has read it.
type Review struct {
	Reviewer string          `json:"reviewer"`          // a known agent program, or a command
	Verdict  ReviewVerdict   `json:"verdict,omitempty"` // "" if there is no opinion
	Why      string          `json:"why,omitempty"`     // why there is no opinion
	Findings []ReviewFinding `json:"findings,omitempty"`
	Duration time.Duration   `json:"duration_ns"`
	Usage    *metric.Usage   `json:"usage,omitempty"` // nil if the program reported none
}

// ReviewVerdict is the verdict of a reviewer on a change.
type ReviewVerdict string

// The verdicts.
const (
	ReviewOK       ReviewVerdict = "ok"
	ReviewConcerns ReviewVerdict = "concerns"
	ReviewGaming   ReviewVerdict = "gaming" // of the tests
)

// ReviewFinding is one location that a reviewer criticizes.
type ReviewFinding struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1; 0 is the entire file
	Reason string `json:"reason"`
}

// String returns the outcome in one line.
func (r Review) String() string {
	if r.Verdict == "" {
		return "no opinion: " + r.Why
	}
	return string(r.Verdict)
}

// eventReviewed is the event of a review of the selected tree, with a [SelectionReview].
const eventReviewed = "output_reviewed"

// SelectionReview is the review of the selected tree, and the resulting alerts.
type SelectionReview struct {
	Review
	Iteration int              `json:"iteration"` // the selected iteration
	Alerts    []detector.Alert `json:"alerts"`
}

// Verification says whether measuring the selected tree again gave the same results. It is the data
// of output_verified.
type Verification struct {
	Confirmed   bool     `json:"confirmed"`
	Differences []string `json:"differences"`            // metrics that differ from the first measurement; never nil
	Goals       *Goals   `json:"goals,omitempty"`        // of the tests from before the loop; nil if nothing about tests changed
	Hidden      *Hidden  `json:"hidden_tests,omitempty"` // nil if the loop has no hidden tests
	Proof       *Proof   `json:"proof,omitempty"`        // nil if an earlier version of supervise wrote it

	CleanCopy *CleanCopy `json:"clean_copy,omitempty"` // nil if the tree was measured only where it is
}

// CleanCopy is the result of measuring the selected tree in a clean copy. If it differs, the tree was
// measured again where it is.
type CleanCopy struct {
	Differences []string            `json:"differences"`         // from the first measurement; never nil
	Reliances   []detector.Reliance `json:"relies_on,omitempty"` // what the tests need that pass only in the working tree
}

// Proof says what is known about the selected tree, by which run, and what is taken on trust.
type Proof struct {
	Iteration int      `json:"iteration"`
	Proven    []string `json:"proven"`
	Trusted   []string `json:"trusted"`
}

// AddProven adds a clause about n things, none for 0. noun is their singular.
func (p *Proof) AddProven(n int, noun, clause string) {
	if n != 1 {
		noun += "s"
	}
	if n > 0 {
		p.Proven = append(p.Proven, fmt.Sprintf("%d %s %s", n, noun, clause))
	}
}

// eventVerified is the event of a second measurement of the selected tree, with a [Verification].
const eventVerified = "output_verified"

// parseProof reads the proof of an event, nil if it has none.
func parseProof(e Event) *Proof {
	var v Verification
	if e.Name != eventVerified || json.Unmarshal(e.Data, &v) != nil {
		return nil
	}
	return v.Proof
}

// AddReview adds a review of the selected tree, and its cost, to the state.
func (s *State) AddReview(r SelectionReview) {
	s.Review = &r
	if r.Usage != nil {
		s.Spending = s.Spending.withUsage(r.Usage)
		s.Spending.computeDerived()
	}
}

// parseReview reads the review of an event, nil if it is another event.
func parseReview(e Event) *SelectionReview {
	var r SelectionReview
	if e.Name != eventReviewed || json.Unmarshal(e.Data, &r) != nil {
		return nil
	}
	return &r
}
