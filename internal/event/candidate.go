package event

import "supervise/internal/ledger"

// Candidate is the data of candidate_started: one of several loops on the same task.
type Candidate struct {
	Candidate int      `json:"candidate"`
	LoopID    string   `json:"candidate_loop"`
	Dir       string   `json:"dir"`
	Agent     []string `json:"agent"`
}

// CandidateEnd is the data of candidate_finished.
type CandidateEnd struct {
	Candidate  int    `json:"candidate"`
	LoopID     string `json:"candidate_loop"`
	Reason     Reason `json:"reason"` // why its loop ended
	Text       string `json:"text"`
	Iteration  int    `json:"iteration"`  // that its loop selected; 0: none
	Iterations int    `json:"iterations"` // that its loop did
}

// Compared is the data of candidates_compared.
type Compared struct {
	Ranking []ledger.Rank `json:"ranking"` // the best first
	// WhyNotApplied is why the tree is left as it was although a candidate was chosen; "" where it is
	// put into it.
	WhyNotApplied string `json:"kept,omitempty"`
}
