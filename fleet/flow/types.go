// Package flow is what a fleet does, as workflows: nothing in it touches a machine. What
// does is behind the names of activities, which workers run. A history holds names and
// numbers; trees, ledgers and reports travel by git.
package flow

import (
	"time"

	"supervise/fleet/taskfile"
)

// The names of workflows, activities, signals and queries.
const (
	FleetName     = "Fleet"
	TaskName      = "Task"
	CandidateName = "Candidate"

	PrepareName = "Prepare"
	IterateName = "Iterate"
	ChooseName  = "Choose"
	PublishName = "Publish"
	DropName    = "Drop"

	AnswerSignal  = "answer"  // of a person, to a task or a candidate
	ReserveUpdate = "reserve" // of a worker, to the fleet
	SettleSignal  = "settle"  // of a candidate, to the fleet
	EndedSignal   = "ended"   // of a task, to the fleet
	BudgetQuery   = "budget"  // of the fleet
	WaitingQuery  = "waiting" // of a task or candidate: for whom it waits
)

// FleetID is the name of the workflow of a fleet.
func FleetID(fleet string) string { return "fleet/" + fleet }

// TaskID is the name of the workflow of a task.
func TaskID(fleet, task string) string { return FleetID(fleet) + "/" + task }

// Place names a task of a fleet, with what is needed to find its trees.
type Place struct {
	Fleet      string `json:"fleet"`
	Task       string `json:"task"`
	Repository string `json:"repository"`      // for git
	Commit     string `json:"commit"`          // with which all begin
	Store      string `json:"store,omitempty"` // bucket; "": the repository
}

// TaskInput is what a workflow Task begins with.
type TaskInput struct {
	Fleet  string        `json:"fleet"`
	Task   taskfile.Task `json:"task"`
	Budget bool          `json:"budget,omitempty"` // the fleet has one
}

// Prepared is what the candidates of a task begin with.
type Prepared struct {
	Place
	Loop  string  `json:"loop"`  // name of the loop of candidates
	Pack  string  `json:"pack"`  // commit of the state
	Score float64 `json:"score"` // of the baseline, in [0,1]
}

// CandidateInput is the input of a workflow Candidate, which restarts with it after some
// iterations.
type CandidateInput struct {
	Prepared
	Candidate int       `json:"candidate"`
	Next      int       `json:"next"` // iteration, from 1
	Budget    bool      `json:"budget,omitempty"`
	Answer    *Answer   `json:"answer,omitempty"` // for the next iteration
	Last      Iteration `json:"last,omitzero"`
}

// IterateInput is the input of the activity Iterate.
type IterateInput struct {
	Prepared
	Candidate int     `json:"candidate"`
	Iteration int     `json:"iteration"`
	Answer    *Answer `json:"answer,omitempty"`
	Budget    bool    `json:"budget,omitempty"` // the fleet has one
}

// Iteration is what an iteration came to.
type Iteration struct {
	Number  int     `json:"number"`
	Over    bool    `json:"over,omitempty"` // the loop of the candidate has ended
	Reason  string  `json:"reason,omitempty"`
	Status  int     `json:"status,omitempty"` // as that of supervise run
	Text    string  `json:"text,omitempty"`   // of the end, cut
	Waiting string  `json:"waiting,omitempty"`
	Later   bool    `json:"later,omitempty"` // nothing was done: the budget is reserved by others
	Score   float64 `json:"score"`           // in [0,1]
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Amount          // of the candidate so far
	Pack    string  `json:"pack"`
	Attempt int     `json:"attempt,omitempty"` // of the activity, if not the first
	Queue   string  `json:"queue,omitempty"`   // of the worker alone that did it, and has the tree
}

// Amount is what agents consumed.
type Amount struct {
	CostUSD float64 `json:"cost_usd,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"`
}

// Plus is the sum.
func (a Amount) Plus(b Amount) Amount { return Amount{a.CostUSD + b.CostUSD, a.Tokens + b.Tokens} }

// Minus is the difference, not below nothing.
func (a Amount) Minus(b Amount) Amount {
	return Amount{max(0, a.CostUSD-b.CostUSD), max(0, a.Tokens-b.Tokens)}
}

// Most is the greater of each.
func (a Amount) Most(b Amount) Amount {
	return Amount{max(a.CostUSD, b.CostUSD), max(a.Tokens, b.Tokens)}
}

// Fits reports whether the amount is within a limit; what is 0 there has none.
func (a Amount) Fits(limit Amount) bool {
	return (limit.CostUSD <= 0 || a.CostUSD <= limit.CostUSD) && (limit.Tokens <= 0 || a.Tokens <= limit.Tokens)
}

// None reports whether nothing is limited.
func (a Amount) None() bool { return a.CostUSD <= 0 && a.Tokens <= 0 }

// Answer is that of a person at a gate.
type Answer struct {
	Choice string `json:"choice"` // approve, reject or abort
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// ChooseInput is the input of the activity Choose.
type ChooseInput struct {
	Prepared
	Ends []Iteration `json:"ends"` // of the candidates, by number from 1
}

// Choice is which candidate was chosen.
type Choice struct {
	Candidate int     `json:"candidate"` // 0: none
	Reason    string  `json:"reason"`    // why the loop of candidates ended
	Text      string  `json:"text"`
	Status    int     `json:"status"` // as that of supervise run
	Score     float64 `json:"score"`
	Lines     int     `json:"lines"`  // changed
	Commit    string  `json:"commit"` // with the best tree, "" for none
	Pack      string  `json:"pack"`   // of the state
}

// Result is that of a task.
type Result struct {
	Choice
	Amount
	Task       string        `json:"task"`
	Candidates []Outcome     `json:"candidates"`
	Answer     *Answer       `json:"answer,omitempty"`  // at the gate
	Refused    string        `json:"refused,omitempty"` // why nothing was started
	Took       time.Duration `json:"took_ns"`
}

// Outcome is how a candidate ended.
type Outcome struct {
	Candidate  int     `json:"candidate"`
	Iterations int     `json:"iterations"`
	Reason     string  `json:"reason"`
	Text       string  `json:"text,omitempty"`
	Score      float64 `json:"score"`
	Amount
	Chosen bool `json:"chosen,omitempty"`
}

// Progress is what an activity reports while it runs.
type Progress struct {
	Phase     string `json:"phase"` // fetch, agent, checks, judge, push …
	Iteration int    `json:"iteration,omitempty"`
	Check     string `json:"check,omitempty"`
	Passed    int    `json:"passed,omitempty"`
	Failed    int    `json:"failed,omitempty"`
	Amount
	Worker string    `json:"worker,omitempty"`
	Since  time.Time `json:"since"`
}
