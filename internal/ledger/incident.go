package ledger

import (
	"fmt"
	"slices"
	"time"

	"supervise/internal/approval"
	"supervise/metric"
)

// Phase is a step of the recovery that was taken after an iteration.
type Phase struct {
	Phase string    `json:"phase"` // pause, diagnose, adapt, retry, escalate
	At    time.Time `json:"at"`
	Text  string    `json:"text"`
}

// Approval is the question to a person about an iteration, and the answer.
type Approval struct {
	Kind   approval.Kind   `json:"kind"`
	Why    string          `json:"why"`
	Asked  time.Time       `json:"asked_at"`
	Answer approval.Answer `json:"answer"`
}

// Approved reports whether a person has kept what the rules would have undone, or
// what looked like a cheat.
func (d *Decision) Approved() bool {
	return d != nil && d.Approval != nil && d.Approval.Answer.Choice == approval.Approve
}

// answered reports whether somebody gave that answer: an answer that comes with time is
// nobody's.
func (g *Approval) answered(c approval.Choice) bool {
	return g != nil && g.Answer.Choice == c && g.Answer.Channel != approval.ByTimeout
}

// Blocks are the statements of the agent that it cannot go on.
func (it Iteration) Blocks() []Block {
	if it.Agent == nil {
		return nil
	}
	return it.Agent.Blocked
}

// AllowedTests are the tests that a person let the agent change after this iteration.
func (it Iteration) AllowedTests() []metric.ID {
	var out []metric.ID
	if it.Decision == nil || !it.Decision.UnblockApproval.answered(approval.Approve) {
		return nil
	}
	for _, b := range it.Blocks() {
		out = append(out, b.Known...)
	}
	return out
}

// StaysBlocked reports whether the loop cannot go on after this iteration, as the agent
// said: nobody was there to decide, or a person agrees and there is no test to change.
func (it Iteration) StaysBlocked() bool {
	if len(it.Blocks()) == 0 || it.Decision == nil {
		return false
	}
	g := it.Decision.UnblockApproval
	return !g.answered(approval.Reject) && !g.answered(approval.Abort) && len(it.AllowedTests()) == 0
}

// BlockedIteration is an iteration whose agent said that it cannot go on.
type BlockedIteration struct {
	Iteration int     `json:"iteration"`
	Blocks    []Block `json:"said"`
	Answer    string  `json:"answer,omitempty"` // of a person; "" where nobody was there
}

// Lines are the statements, one line each, with the answer.
func (b BlockedIteration) Lines() []string {
	answer := b.Answer
	if answer == "" {
		answer = "nobody was there to decide"
	}
	var out []string
	for _, s := range b.Blocks {
		out = append(out, fmt.Sprintf("iteration %d: %s (%s)", b.Iteration, s, answer))
	}
	return out
}

// block takes what the agent said in an iteration into the state.
func (s *State) block(it Iteration) {
	if b := it.BlockedIteration(); len(b.Blocks) > 0 {
		s.Blocked = append(s.Blocked, b)
	}
}

// BlockedIteration is what the agent said in the iteration and what a person answered.
func (it Iteration) BlockedIteration() BlockedIteration {
	b := BlockedIteration{Iteration: it.Number, Blocks: it.Blocks()}
	if it.Decision != nil && it.Decision.UnblockApproval != nil {
		b.Answer = it.Decision.UnblockApproval.Answer.String()
	}
	return b
}

// Incident is a run of rejected iterations and what ended it.
type Incident struct {
	ID         string  `json:"id"` // inc-001
	Iterations []int   `json:"iterations"`
	Diagnosis  string  `json:"diagnosis,omitempty"` // the last one
	Phases     []Phase `json:"phases"`
	Outcome    Outcome `json:"outcome"`
}

// Outcome is how an incident ended.
type Outcome string

// The outcomes.
const (
	IncidentOpen      Outcome = "open"
	IncidentResolved  Outcome = "resolved"  // an iteration was accepted
	IncidentApproved  Outcome = "approved"  // a person kept an iteration
	IncidentEscalated Outcome = "escalated" // it ended the loop
)

// recover takes an iteration into the history of the recovery.
func (s *State) recover(it Iteration) {
	d := it.Decision
	if d == nil {
		return
	}
	last := len(s.Recoveries) - 1
	open := last >= 0 && s.Recoveries[last].Outcome == IncidentOpen
	if len(d.Phases) == 0 {
		if open && !it.Rejected {
			s.Recoveries[last].Outcome = IncidentResolved
		}
		return
	}
	if !open {
		s.Recoveries = append(s.Recoveries, Incident{ID: fmt.Sprintf("inc-%03d", len(s.Recoveries)+1)})
		last++
	}
	r := &s.Recoveries[last]
	r.Iterations = append(slices.Clone(r.Iterations), it.Number)
	r.Phases = append(slices.Clone(r.Phases), d.Phases...)
	if d.Diagnosis != "" {
		r.Diagnosis = d.Diagnosis
	}
	switch r.Outcome = IncidentOpen; {
	case d.Approved():
		r.Outcome = IncidentApproved
	case d.Move == "escalate", d.Move == "abort":
		r.Outcome = IncidentEscalated
	case !it.Rejected:
		r.Outcome = IncidentResolved
	}
}

// LevelChange is a change of how much the prompts say.
type LevelChange struct {
	Iteration int       `json:"iteration"`
	Timestamp time.Time `json:"timestamp"`
	From      string    `json:"from_level"`
	To        string    `json:"to_level"`
	Reason    string    `json:"reason"`
}

// reinforce takes the level of an iteration into the history of levels.
func (s *State) reinforce(it Iteration) {
	from := ""
	if n := len(s.Levels); n > 0 {
		from = s.Levels[n-1].To
	}
	if it.Level != "" && it.Level != from {
		s.Levels = append(s.Levels, LevelChange{it.Number, it.StartedAt, from, it.Level, it.LevelReason})
	}
}
