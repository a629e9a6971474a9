package agentrun

import (
	"strings"
	"testing"
	"time"

	"supervise/internal/agent"
	"supervise/internal/ledger"
)

func TestPassableRefusesWhatNoArgumentCanHold(t *testing.T) {
	if err := checkArgument("a\x00b"); err == nil {
		t.Error("no argument can hold a zero byte")
	}
	if err := checkArgument(strings.Repeat("x", agent.MaxArgument+1)); err == nil {
		t.Error("the argument is too long")
	}
}

// A service is believed when it says how long to wait, but not forever.
func TestDelayFollowsTheService(t *testing.T) {
	now := time.Unix(1000, 0)
	a := New(Options{Now: func() time.Time { return now }})
	for _, tt := range []struct {
		runs      int // so far
		reset     agent.Reset
		want      time.Duration
		byService bool
	}{
		{0, agent.Reset{}, 10 * time.Second, false},
		{3, agent.Reset{}, 40 * time.Second, false},
		{50, agent.Reset{}, 10 * time.Minute, false},
		{0, agent.Reset{After: time.Second}, time.Second, true},
		{2, agent.Reset{After: time.Second}, 20 * time.Second, false},
		{2, agent.Reset{After: time.Hour}, time.Hour, true},
		{2, agent.Reset{At: now.Add(5 * time.Hour)}, 5 * time.Hour, true},
		{0, agent.Reset{At: now.Add(-time.Hour)}, 10 * time.Second, false},
	} {
		if got, byService := a.waitTime(&ledger.AgentRun{Runs: tt.runs}, agent.Report{Reset: tt.reset}); got != tt.want || byService != tt.byService {
			t.Errorf("after %d runs, with %+v: %s, by the service %v; want %s", tt.runs, tt.reset, got, byService, tt.want)
		}
	}
}
