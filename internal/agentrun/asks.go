package agentrun

import (
	"sync"
	"time"

	"supervise/internal/agent"
)

// questionPatience is how long an unattended agent may print nothing after a question for a
// person. It may have printed the words for another reason.
const questionPatience = 5 * time.Minute

// questionError is the question of an unattended agent that was stopped for it.
type questionError string

// Error quotes the question.
func (e questionError) Error() string { return "it waits for a person: " + string(e) }

// questionWatcher stops an unattended agent that waits for a person. It keeps the last output,
// and looks for a question when the agent has printed nothing for a while.
type questionWatcher struct {
	after time.Duration // how long the agent must print nothing
	end   func(error)   // stops the agent

	mu    sync.Mutex
	tail  []byte      // the last output
	timer *time.Timer // calls checkScreen; nil until the agent prints something
}

// screenSize is how much of the last output is searched for a question, in bytes.
const screenSize = 8 << 10

// Write keeps the last output of the agent. It never fails.
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

// checkScreen stops the agent if its last output is a question. It is called when nothing was
// printed for a while.
func (a *questionWatcher) checkScreen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := agent.FindQuestion(string(a.tail)); q != "" {
		a.end(questionError(shortLine(q)))
	}
}

// stop ends the watch.
func (a *questionWatcher) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// isUnattended reports whether no person can answer the agent.
func (r *run) isUnattended() bool { return r.Terminal == nil || r.Terminal.In == nil }

// watchQuestions returns a writer for the agent's output, nil if a person sees the output.
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
