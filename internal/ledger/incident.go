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

// Approval is a question to the user about an iteration, and the answer.
type Approval struct {
	Kind   approval.Kind   `json:"kind"`
	Why    string          `json:"why"`
	Asked  time.Time       `json:"asked_at"`
	Answer approval.Answer `json:"answer"`
}

// Approved reports whether the user kept an iteration that the rules would have rolled
// back, or that looked like a cheat.
func (d *Decision) Approved() bool {
	return d != nil && d.Approval != nil && d.Approval.Answer.Choice == approval.Approve
}

// isAnsweredWith reports whether the user gave that answer. The default answer after a
// timeout does not count.
func (g *Approval) isAnsweredWith(c approval.Choice) bool {
	return g != nil && g.Answer.Choice == c && g.Answer.Channel != approval.ByTimeout
}

// Blocks returns what the agent reported as impossible.
func (it Iteration) Blocks() []Block {
	if it.Agent == nil {
		return nil
	}
	return it.Agent.Blocked
}

// AllowedTests returns the tests that the user allowed the agent to change after this
// iteration.
func (it Iteration) AllowedTests() []metric.ID {
	var out []metric.ID
	if it.Decision == nil || !it.Decision.UnblockApproval.isAnsweredWith(approval.Approve) {
		return nil
	}
	for _, b := range it.Blocks() {
		out = append(out, b.Known...)
	}
	return out
}

// StaysBlocked reports whether the loop cannot continue after this iteration, as the agent
// reported: no user was there to decide, or the user agrees and there is no test to change.
func (it Iteration) StaysBlocked() bool {
	if len(it.Blocks()) == 0 || it.Decision == nil {
		return false
	}
	g := it.Decision.UnblockApproval
	return !g.isAnsweredWith(approval.Reject) && !g.isAnsweredWith(approval.Abort) && len(it.AllowedTests()) == 0
}

// BlockedIteration is an iteration whose agent reported that it cannot continue.
type BlockedIteration struct {
	Iteration int     `json:"iteration"`
	Blocks    []Block `json:"said"`
	Answer    string  `json:"answer,omitempty"` // of the user; "" if no user was there
}

// Lines returns the blocks, one line each, with the answer.
func (b BlockedIteration) Lines() []string {
	answer := b.Answer
	if answer == "" {
		answer = "no user was there to decide"
	}
	var out []string
	for _, s := range b.Blocks {
		out = append(out, fmt.Sprintf("iteration %d: %s (%s)", b.Iteration, s, answer))
	}
	return out
}

// addBlocked adds the blocks of an iteration to the state.
func (s *State) addBlocked(it Iteration) {
	if b := it.BlockedIteration(); len(b.Blocks) > 0 {
		s.Blocked = append(s.Blocked, b)
	}
}

// BlockedIteration returns what the agent reported as impossible and what the user
// answered.
func (it Iteration) BlockedIteration() BlockedIteration {
	b := BlockedIteration{Iteration: it.Number, Blocks: it.Blocks()}
	if it.Decision != nil && it.Decision.UnblockApproval != nil {
		b.Answer = it.Decision.UnblockApproval.Answer.String()
	}
	return b
}

// Incident is a series of rejected iterations and its outcome.
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
	IncidentApproved  Outcome = "approved"  // the user kept an iteration
	IncidentEscalated Outcome = "escalated" // it ended the loop
)

// addRecovery adds an iteration to the recovery history.
func (s *State) addRecovery(it Iteration) {
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

// LevelChange is a change of the reinforcement level of prompts.
type LevelChange struct {
	Iteration int       `json:"iteration"`
	Timestamp time.Time `json:"timestamp"`
	From      string    `json:"from_level"`
	To        string    `json:"to_level"`
	Reason    string    `json:"reason"`
}

// addLevel adds the level of an iteration to the history of levels.
func (s *State) addLevel(it Iteration) {
	from := ""
	if n := len(s.Levels); n > 0 {
		from = s.Levels[n-1].To
	}
	if it.Level != "" && it.Level != from {
		s.Levels = append(s.Levels, LevelChange{it.Number, it.StartedAt, from, it.Level, it.LevelReason})
	}
}
