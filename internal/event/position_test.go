package event

import (
	"testing"
	"time"

	"supervise/internal/ledger"
)

// What people do with a loop afterwards takes none of its time.
func TestPositionCountsTheTimeAtWorkAlone(t *testing.T) {
	began := time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)
	at := NewPosition()
	for _, e := range []ledger.Event{
		{Name: string(LoopStarted), Time: began},
		{Name: string(LoopFinished), Time: began.Add(time.Hour)},
		{Name: string(SelectionChanged), Time: began.Add(10 * time.Hour)},
		{Name: "state_changed", Time: began.Add(time.Hour)},
		{Name: string(SelectionApplied), Time: began.Add(11 * time.Hour)},
		{Name: string(SnapshotsDropped), Time: began.Add(12 * time.Hour)},
	} {
		at.Apply(e)
	}
	if got := at.Elapsed(); got != time.Hour {
		t.Errorf("the loop was at work for %s, want an hour", got)
	}
	at.Apply(ledger.Event{Name: string(LoopResumed), Time: began.Add(20 * time.Hour)})
	at.Apply(ledger.Event{Name: string(IterationStarted), Time: began.Add(21 * time.Hour)})
	if got := at.Elapsed(); got != 2*time.Hour {
		t.Errorf("after it was resumed it was at work for %s, want two hours", got)
	}
}
