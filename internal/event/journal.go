package event

import (
	"sync"
	"time"

	"supervise/internal/ledger"
	"supervise/runner"
)

// Journal writes the events of a loop to its log and passes them on. Checks that run
// at the same time may have events at the same time.
type Journal struct {
	Ledger  *ledger.Ledger
	LoopID  string
	Now     func() time.Time
	OnEvent []func(Event) // called one event after another
	OnError func(error)   // of events that nothing depends on

	mu   sync.Mutex
	last time.Time // of the event before
}

// Write writes an event and waits until the disk has it. Nobody hears of an event
// that the log does not have.
func (j *Journal) Write(t Type, iteration int, data any) error {
	return j.pass(j.Ledger.Log, t, iteration, data)
}

// Note writes an event that nothing depends on.
func (j *Journal) Note(t Type, iteration int, data any) { j.failed(j.Write(t, iteration, data)) }

// NoteUnsynced is [Journal.Note] without waiting for the disk.
func (j *Journal) NoteUnsynced(t Type, iteration int, data any) {
	j.failed(j.pass(j.Ledger.LogUnsynced, t, iteration, data))
}

// Sync waits until the disk has what was written.
func (j *Journal) Sync() { j.failed(j.Ledger.SyncLog()) }

// Starting returns a function that writes which child is about to be started, so that
// nothing of it can get lost when this process dies with its watchers.
func (j *Journal) Starting(what string, iteration func() int) func(runner.Process) error {
	return func(shim runner.Process) error {
		return j.Write(ChildStarting, iteration(), Child{Process: what, Shim: shim})
	}
}

// Announce passes an event on that is not in the log.
func (j *Journal) Announce(t Type, iteration int, data any) {
	none := func(time.Time, string, int, time.Duration, any) error { return nil }
	j.failed(j.pass(none, t, iteration, data))
}

func (j *Journal) pass(log func(time.Time, string, int, time.Duration, any) error, t Type, iteration int, data any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := Event{Type: t, Time: j.Now(), LoopID: j.LoopID, Iteration: iteration, Data: data}
	took := durationOf(data)
	if took == 0 && ownSteps[t] && !j.last.IsZero() {
		took = max(0, e.Time.Sub(j.last))
	}
	j.last = e.Time
	if err := log(e.Time, string(t), iteration, took, data); err != nil {
		return err
	}
	if t == LoopFinished {
		e.Head = j.Ledger.HeadHash()
	}
	for _, hear := range j.OnEvent {
		hear(e)
	}
	return nil
}

func (j *Journal) failed(err error) {
	if err != nil && j.OnError != nil {
		j.OnError(err)
	}
}
