package ledger

import (
	"strings"
	"time"

	"supervise/detector"
	"supervise/metric"
)

// AgentRun records what the agent did in an iteration: its process, and what it
// reported. Its exit code is a fact about the agent, never a verdict. If the service
// failed, the agent was run more than once: counts and times are sums over all runs, the
// other fields describe the last run.
type AgentRun struct {
	ExitCode int           `json:"exit_code"`
	Signal   string        `json:"signal,omitempty"`
	Cause    string        `json:"cause"`
	Duration time.Duration `json:"duration_ns"`
	// Containment is the mechanism that contained its process tree, such as "cgroup".
	Containment string   `json:"containment,omitempty"`
	Leftovers   []string `json:"leftovers,omitempty"` // processes it left behind, which were killed
	// RefusedHosts are the hosts, with ports, that the sandbox refused.
	RefusedHosts []string `json:"refused_hosts,omitempty"`
	LastOutput   string   `json:"last_words,omitempty"`
	Alarm        string   `json:"alarm,omitempty"` // why it was stopped while it worked: tests disappeared

	Program string `json:"program,omitempty"` // a known agent program; "" for others
	Outcome string `json:"outcome,omitempty"` // ok, rate_limit, …; "" in old records
	Message string `json:"message,omitempty"` // its own error message
	Session string `json:"session,omitempty"`
	Model   string `json:"model,omitempty"`
	Version string `json:"agent_version,omitempty"`
	// Usage is nil if the agent reported none.
	Usage *metric.Usage `json:"usage,omitempty"`
	// Window is the usage window closest to its limit, nil if the agent reported none.
	Window            *metric.Window `json:"window,omitempty"`
	LimitReached      string         `json:"limit_reached,omitempty"`      // the limit of supervise that ended it: cost, tokens
	CompletionClaimed bool           `json:"completion_claimed,omitempty"` // it printed the completion promise
	Runs              int            `json:"runs,omitempty"`               // how often it was run, if more than once
	Waited            time.Duration  `json:"waited_ns,omitempty"`          // time spent waiting for the service between runs
	Blocked           []Block        `json:"blocked,omitempty"`            // what it reported as impossible
	Notes             string         `json:"notes,omitempty"`              // its notes after the run, at most [MaxNotes] bytes
}

// Block is a task or test that the agent reported as impossible. It is the agent's claim,
// not a fact: one line, shortened, with secrets removed.
type Block struct {
	Tests   []string    `json:"tests,omitempty"` // the tests it calls wrong; none means the entire task
	Known   []metric.ID `json:"known_tests,omitempty"`
	Unknown []string    `json:"unknown_tests,omitempty"` // names that match no known test
	Reason  string      `json:"reason"`
	At      time.Time   `json:"at"`
}

// NewBlock resolves the names of tests into a Block that has no reason yet.
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

// String returns the block in one line.
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

// CauseIdle is the cause of an iteration that ended because the agent went idle; the
// agent itself continues.
const CauseIdle = "at_rest"

// Succeeded reports whether the agent exited without any sign of failure.
func (a AgentRun) Succeeded() bool {
	if a.Outcome == "" {
		return a.ExitCode == 0 && a.Signal == ""
	}
	return a.Outcome == "ok"
}

// effectiveExitCode returns the exit code that the run counts with. Agents also exit with
// 0 after failures, and a run that supervise stopped did not fail.
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
	// Improvements counts the accepted iterations that made progress. The values per
	// improvement are nil if there is none.
	Improvements         int      `json:"improvements"`
	TokensPerImprovement *float64 `json:"tokens_per_improvement,omitempty"`
	CostPerImprovement   *float64 `json:"cost_usd_per_improvement,omitempty"`
	WaitedMS             int64    `json:"waited_ms,omitempty"` // for the service
}

// withIteration returns the spending with one more iteration added.
func (s *Spending) withIteration(it Iteration) *Spending {
	run := it.Agent
	if run == nil || s == nil && run.Usage == nil && run.Waited == 0 {
		return s
	}
	sum := s.withUsage(run.Usage)
	sum.WaitedMS += run.Waited.Milliseconds()
	if !it.Rejected && !it.Interrupted && it.Assessment.Class == detector.Forward {
		sum.Improvements++
	}
	sum.computeDerived()
	return sum
}

// withUsage returns a copy with a usage added, which may be nil. Its derived fields are not computed.
func (s *Spending) withUsage(usage *metric.Usage) *Spending {
	var sum Spending
	if s != nil {
		sum = *s
	}
	if usage != nil {
		sum.Usage = sum.Plus(*usage)
	}
	return &sum
}

// computeDerived sets the fields that follow from the others.
func (s *Spending) computeDerived() {
	s.Tokens = s.Usage.Tokens()
	if n := float64(s.Improvements); n > 0 && s.Tokens != nil {
		s.TokensPerImprovement = new(float64(*s.Tokens) / n)
	}
	if n := float64(s.Improvements); n > 0 && s.CostUSD != nil {
		s.CostPerImprovement = new(*s.CostUSD / n)
	}
}
