package live

import (
	"testing"
	"time"

	"supervise/internal/event"
	"supervise/internal/measure"
)

// Each candidate has a line: what it does, or how it ended.
func TestCandidatesAsTheyAreSeen(t *testing.T) {
	l := newLoop(t.TempDir())
	of := func(n int, typ event.Type, iteration int, data any) {
		l.HandleEvent(event.Event{Type: typ, LoopID: "x", Candidate: n, Iteration: iteration, Data: data})
	}
	l.event(event.CandidateStarted, 0, event.Candidate{Candidate: 2, Agent: []string{"claude", "-p"}})
	l.event(event.CandidateStarted, 0, event.Candidate{Candidate: 1, Agent: []string{"codex"}})
	of(2, event.LoopStarted, 0, event.Started{MaxIterations: 5, Plan: measure.Plan{Checks: make([]measure.Check, 1)}})
	of(2, event.IterationStarted, 1, event.IterationStart{Max: 5})
	of(2, event.AgentSpawned, 1, event.Spawned{})
	l.wait(63 * time.Second)
	l.shows(t, "     2 candidates, 1m03s in all", "     1 codex  begins", "     2 claude  iteration 1 of 5  the agent works  1m03s")
	check := l.CandidateBoard(2).StartCheck(measure.Check{Name: "go test"})
	_, _ = check.Write([]byte(twoTests))
	l.event(event.CandidateFinished, 0, event.CandidateEnd{Candidate: 1, Reason: event.Stuck, Text: "stuck"})
	l.shows(t, "     2 candidates, 1m03s in all", "     1 codex  stuck", "     2 claude  iteration 1 of 5  check 1 of 1  go test  0s  2 tests, 1 failed")
	_ = check.Close()
}
