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
	Iteration  int    `json:"iteration"`  // selected by its loop; 0 means none
	Iterations int    `json:"iterations"` // number of iterations of its loop
}

// Compared is the data of candidates_compared.
type Compared struct {
	Ranking []ledger.Rank `json:"ranking"` // the best first
	// WhyNotApplied is why the tree of the chosen candidate is not restored into the user's
	// tree. "" means that it is restored, or that no candidate was chosen.
	WhyNotApplied string `json:"kept,omitempty"`
}
