package agentrun

import (
	"sync"
	"time"

	"supervise/internal/agent"
)

// patience is how long an agent that nobody sees may be silent behind a question that only
// a person answers: it may have printed the words for another reason.
const patience = 5 * time.Minute

// errAsks is why a run is ended that waits for a person where there is none: its question.
type errAsks string

func (e errAsks) Error() string { return "it waits for a person: " + string(e) }

// asking ends the run of an agent that nobody sees when it waits for a person.
type asking struct {
	after time.Duration
	end   func(error)

	mu    sync.Mutex
	tail  []byte
	timer *time.Timer
}

// screenful is how much of the end of what was printed is looked at, in bytes.
const screenful = 8 << 10

// Write notes what the agent prints. It never fails.
func (a *asking) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tail = append(a.tail, p[max(0, len(p)-screenful):]...)
	a.tail = a.tail[max(0, len(a.tail)-screenful):]
	if a.timer == nil {
		a.timer = time.AfterFunc(a.after, a.silent)
	} else {
		a.timer.Reset(a.after)
	}
	return len(p), nil
}

// silent is called when nothing was printed for a while.
func (a *asking) silent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := agent.FindQuestion(string(a.tail)); q != "" {
		a.end(errAsks(brief(q)))
	}
}

func (a *asking) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// unseen reports whether nobody can answer the agent.
func (r *run) unseen() bool { return r.Terminal == nil || r.Terminal.In == nil }

// watchQuestions returns a writer for what the agent prints, nil where a person sees it.
func (r *run) watchQuestions(end func(error)) *asking {
	if !r.unseen() {
		return nil
	}
	a := &asking{after: patience, end: end}
	if r.IdleTimeout > 0 {
		a.after = min(a.after, r.IdleTimeout/2)
	}
	return a
}
