package ledger

import (
	"strings"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// AgentRun is what the agent did in an iteration: its process, and what it reported.
// Its exit code is a fact about the agent, never a verdict. If the service failed, it
// was run more than once: numbers are sums over all its runs, the rest is of the
// last.
type AgentRun struct {
	ExitCode int           `json:"exit_code"`
	Signal   string        `json:"signal,omitempty"`
	Cause    string        `json:"cause"`
	Duration time.Duration `json:"duration_ns"`
	// Containment is what held its tree, like "cgroup".
	Containment string   `json:"containment,omitempty"`
	Leftovers   []string `json:"leftovers,omitempty"` // processes it left behind, which were ended
	// RefusedHosts are those that the sandbox kept it from, with their ports.
	RefusedHosts []string `json:"refused_hosts,omitempty"`
	LastOutput   string   `json:"last_words,omitempty"`
	Alarm        string   `json:"alarm,omitempty"` // why it was stopped while it worked: tests vanished

	Program string `json:"program,omitempty"` // which known one it is; "" for another
	Outcome string `json:"outcome,omitempty"` // ok, rate_limit, …; "" in old records
	Message string `json:"message,omitempty"` // its own error message
	Session string `json:"session,omitempty"`
	Model   string `json:"model,omitempty"`
	Version string `json:"agent_version,omitempty"`
	// Usage is nil where the agent reported none.
	Usage *metric.Usage `json:"usage,omitempty"`
	// Window is the one of which most was used, nil where the agent told none.
	Window            *metric.Window `json:"window,omitempty"`
	LimitReached      string         `json:"limit_reached,omitempty"`      // of supervise that ended it: cost, tokens
	CompletionClaimed bool           `json:"completion_claimed,omitempty"` // it printed the completion promise
	Runs              int            `json:"runs,omitempty"`               // how often it was run, where more than once
	Waited            time.Duration  `json:"waited_ns,omitempty"`          // for the service, between the runs
	Blocked           []Block        `json:"blocked,omitempty"`            // what it said that it cannot do
	Notes             string         `json:"notes,omitempty"`              // its notes as it left them, at most [MaxNotes] bytes
}

// Block is what an agent said that it cannot do. It is nothing but the agent's word: in
// one line, shortened, without secrets.
type Block struct {
	Tests   []string    `json:"tests,omitempty"` // that it calls wrong; none: it means the whole task
	Known   []metric.ID `json:"known_tests,omitempty"`
	Unknown []string    `json:"unknown_tests,omitempty"` // no test is known by these names
	Reason  string      `json:"reason"`
	At      time.Time   `json:"at"`
}

// NewBlock returns a statement about the tests that names mean, without its reason.
func NewBlock(tests *metric.Tests, names []string) Block {
	var b Block
	for _, name := range names {
		id, known := tests.Find(name)
		if known {
			b.Known = append(b.Known, id)
			name = id.String()
		} else {
			b.Unknown = append(b.Unknown, name)
		}
		b.Tests = append(b.Tests, name)
	}
	return b
}

// String returns the statement in one line.
func (b Block) String() string {
	what := "the task cannot be done"
	if len(b.Tests) > 0 {
		what = strings.Join(b.Tests, ", ") + " is wrong"
		if len(b.Tests) > 1 {
			what = strings.Join(b.Tests, ", ") + " are wrong"
		}
	}
	return what + ": " + b.Reason
}

// CauseIdle is the cause by which an iteration ends whose agent goes on.
const CauseIdle = "at_rest"

// Succeeded reports whether the agent ended without any sign of failure.
func (a AgentRun) Succeeded() bool {
	if a.Outcome == "" {
		return a.ExitCode == 0 && a.Signal == ""
	}
	return a.Outcome == "ok"
}

// effectiveExitCode is the exit code by which a run counts: agents end with 0 after
// failures, too. One that was ended did not fail.
func (a AgentRun) effectiveExitCode() int {
	switch a.Outcome {
	case "ok", "stopped", "timeout", "":
		return a.ExitCode
	}
	return max(a.ExitCode, 1)
}

// Spending is what the agent, and the reviewer, consumed in a loop.
type Spending struct {
	metric.Usage
	Tokens *int64 `json:"tokens,omitempty"` // all kinds
	// Improvements are the iterations that were kept and led forward. The numbers per
	// improvement are nil where there is none.
	Improvements         int      `json:"improvements"`
	TokensPerImprovement *float64 `json:"tokens_per_improvement,omitempty"`
	CostPerImprovement   *float64 `json:"cost_usd_per_improvement,omitempty"`
	WaitedMS             int64    `json:"waited_ms,omitempty"` // for the service
}

// plus is the sum with one iteration more.
func (s *Spending) plus(it Iteration) *Spending {
	run := it.Agent
	if run == nil || s == nil && run.Usage == nil && run.Waited == 0 {
		return s
	}
	sum := Spending{}
	if s != nil {
		sum = *s
	}
	if run.Usage != nil {
		sum.Usage = sum.Plus(*run.Usage)
	}
	sum.WaitedMS += run.Waited.Milliseconds()
	if !it.Rejected && !it.Interrupted && it.Assessment.Class == detector.Forward {
		sum.Improvements++
	}
	sum.share()
	return &sum
}

// share works out the numbers that follow from the others.
func (s *Spending) share() {
	s.Tokens = s.Usage.Tokens()
	if n := float64(s.Improvements); n > 0 && s.Tokens != nil {
		s.TokensPerImprovement = new(float64(*s.Tokens) / n)
	}
	if n := float64(s.Improvements); n > 0 && s.CostUSD != nil {
		s.CostPerImprovement = new(*s.CostUSD / n)
	}
}
