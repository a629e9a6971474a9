package loop

import (
	"time"

	"supervise/internal/event"
	"supervise/runner"
)

// event writes the log and tells the caller. What the log does not have, nobody
// is told. Checks that run at the same time may have events at the same time.
func (s *session) event(t event.Type, iteration int, data any) error {
	return s.tell(s.ledger.Log, t, iteration, data)
}

func (s *session) tell(log func(time.Time, string, int, time.Duration, any) error, t event.Type, iteration int, data any) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	e := event.Event{Type: t, Time: s.opts.Now(), LoopID: s.id, Iteration: iteration, Data: data}
	if err := log(e.Time, string(t), iteration, event.Took(data), data); err != nil {
		return err
	}
	s.opts.OnEvent(e)
	s.notify(e)
	return nil
}

// starting writes down what is about to be started, so that nothing of it can
// get lost when this process dies with its watchers.
func (s *session) starting(what string) func(runner.Process) error {
	return func(shim runner.Process) error {
		return s.event(event.ChildStarting, s.state.Iteration, event.Child{What: what, Shim: shim})
	}
}

// note is an event that nothing depends on.
func (s *session) note(t event.Type, iteration int, data any) {
	s.logged(s.event(t, iteration, data))
}

func (s *session) logged(err error) {
	if err != nil {
		s.opts.Log.WithError(err).Error("write the audit log")
	}
}
