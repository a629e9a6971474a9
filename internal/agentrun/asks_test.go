package agentrun

import (
	"errors"
	"testing"
	"time"
)

// Only silence behind a question ends a run.
func TestAsking(t *testing.T) {
	ended := make(chan error, 2)
	a := &questionWatcher{after: time.Millisecond, end: func(err error) { ended <- err }}
	a.Write([]byte("Press enter to continue\n"))
	if err := <-ended; !errors.Is(err, questionError("Press enter to continue")) {
		t.Errorf("ended by %v", err)
	}
	a.stop()
	b := &questionWatcher{after: time.Hour, end: func(err error) { t.Errorf("ended by %v", err) }}
	b.Write([]byte("Press enter to continue\n"))
	b.Write([]byte("and it goes on\n"))
	for range 50 {
		b.Write([]byte("more\n"))
	}
	b.checkScreen() // the question has left the screen
	b.stop()
}
