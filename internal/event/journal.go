package event

import (
	"sync"
	"time"

	"supervise/internal/ledger"
	"supervise/runner"
)

// Journal writes the events of a loop to its log and passes them to listeners. It may be used
// by several goroutines.
type Journal struct {
	Ledger  *ledger.Ledger
	LoopID  string
	Now     func() time.Time
	OnEvent []func(Event) // the listeners; they get one event at a time
	OnError func(error)   // for the errors of Note, NoteUnsynced, Sync and Announce; may be nil

	mu   sync.Mutex
	last time.Time // of the previous event
}

// Write writes an event and waits until it is on disk. Listeners do not get an event that
// could not be written.
func (j *Journal) Write(t Type, iteration int, data any) error {
	return j.deliver(j.Ledger.Log, t, iteration, data)
}

// Note is [Journal.Write] for an event that the loop does not depend on: an error is only
// reported.
func (j *Journal) Note(t Type, iteration int, data any) { j.reportError(j.Write(t, iteration, data)) }

// NoteUnsynced is [Journal.Note] without waiting for the disk.
func (j *Journal) NoteUnsynced(t Type, iteration int, data any) {
	j.reportError(j.deliver(j.Ledger.LogUnsynced, t, iteration, data))
}

// Sync waits until all written events are on disk.
func (j *Journal) Sync() { j.reportError(j.Ledger.SyncLog()) }

// Starting returns a function that logs the shim of a child before the child starts, so that
// the child is found even if this process and the shim die.
func (j *Journal) Starting(what string, iteration func() int) func(runner.Process) error {
	return func(shim runner.Process) error {
		return j.Write(ChildStarting, iteration(), Child{Process: what, Shim: shim})
	}
}

// Announce passes an event to the listeners without writing it to the log.
func (j *Journal) Announce(t Type, iteration int, data any) {
	skipLog := func(time.Time, string, int, time.Duration, any) error { return nil }
	j.reportError(j.deliver(skipLog, t, iteration, data))
}

// deliver writes an event with log and passes it to the listeners.
func (j *Journal) deliver(log func(time.Time, string, int, time.Duration, any) error, t Type, iteration int, data any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := Event{Type: t, Time: j.Now(), LoopID: j.LoopID, Iteration: iteration, Data: data}
	took := durationOf(data)
	if took == 0 && timedSteps[t] && !j.last.IsZero() {
		took = max(0, e.Time.Sub(j.last))
	}
	j.last = e.Time
	if err := log(e.Time, string(t), iteration, took, data); err != nil {
		return err
	}
	if t == LoopFinished {
		e.Head = j.Ledger.HeadHash()
	}
	for _, listener := range j.OnEvent {
		listener(e)
	}
	return nil
}

// reportError passes an error, unless it is nil, to OnError.
func (j *Journal) reportError(err error) {
	if err != nil && j.OnError != nil {
		j.OnError(err)
	}
}
