package agentrun

import (
	"sync"
	"time"

	"supervise/internal/agent"
)

// questionPatience is how long an agent that nobody sees may be silent behind a question that only
// a person answers: it may have printed the words for another reason.
const questionPatience = 5 * time.Minute

// questionError is why a run is ended that waits for a person where there is none: its question.
type questionError string

func (e questionError) Error() string { return "it waits for a person: " + string(e) }

// questionWatcher ends the run of an agent that nobody sees when it waits for a person.
type questionWatcher struct {
	after time.Duration
	end   func(error)

	mu    sync.Mutex
	tail  []byte
	timer *time.Timer
}

// screenSize is how much of the end of what was printed is looked at, in bytes.
const screenSize = 8 << 10

// Write notes what the agent prints. It never fails.
func (a *questionWatcher) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tail = append(a.tail, p[max(0, len(p)-screenSize):]...)
	a.tail = a.tail[max(0, len(a.tail)-screenSize):]
	if a.timer == nil {
		a.timer = time.AfterFunc(a.after, a.checkScreen)
	} else {
		a.timer.Reset(a.after)
	}
	return len(p), nil
}

// checkScreen is called when nothing was printed for a while.
func (a *questionWatcher) checkScreen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := agent.FindQuestion(string(a.tail)); q != "" {
		a.end(questionError(shortLine(q)))
	}
}

func (a *questionWatcher) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// isUnattended reports whether nobody can answer the agent.
func (r *run) isUnattended() bool { return r.Terminal == nil || r.Terminal.In == nil }

// watchQuestions returns a writer for what the agent prints, nil where a person sees it.
func (r *run) watchQuestions(end func(error)) *questionWatcher {
	if !r.isUnattended() {
		return nil
	}
	a := &questionWatcher{after: questionPatience, end: end}
	if r.IdleTimeout > 0 {
		a.after = min(a.after, r.IdleTimeout/2)
	}
	return a
}
