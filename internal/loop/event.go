package loop

import "supervise/internal/event"

// event writes an event that something depends on.
func (s *session) event(t event.Type, iteration int, data any) error {
	return s.journal.Write(t, iteration, data)
}

// note writes an event that nothing depends on.
func (s *session) note(t event.Type, iteration int, data any) { s.journal.Note(t, iteration, data) }
