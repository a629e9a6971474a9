package loop

import (
	"testing"
	"time"

	"supervise/internal/event"
	"supervise/internal/ledger"
)

// What people do with a loop afterwards takes none of its time.
func TestTimeSpent(t *testing.T) {
	began := time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)
	trail := newTrail()
	for _, e := range []ledger.Event{
		{Name: string(event.LoopStarted), Time: began},
		{Name: string(event.LoopFinished), Time: began.Add(time.Hour)},
		{Name: string(event.SelectionChanged), Time: began.Add(10 * time.Hour)},
		{Name: "state_changed", Time: began.Add(time.Hour)},
		{Name: string(event.SelectionApplied), Time: began.Add(11 * time.Hour)},
		{Name: string(event.SnapshotsDropped), Time: began.Add(12 * time.Hour)},
	} {
		trail.read(e)
	}
	if got := trail.spent(); got != time.Hour {
		t.Errorf("the loop was at work for %s, want an hour", got)
	}
	trail.read(ledger.Event{Name: string(event.LoopResumed), Time: began.Add(20 * time.Hour)})
	trail.read(ledger.Event{Name: string(event.IterationStarted), Time: began.Add(21 * time.Hour)})
	if got := trail.spent(); got != 2*time.Hour {
		t.Errorf("after it was resumed it was at work for %s, want two hours", got)
	}
}
