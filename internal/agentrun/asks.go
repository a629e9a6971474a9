package agentrun

import (
	"errors"
	"strings"
	"sync"
	"time"

	"supervise/internal/agent"
	"supervise/internal/regexp"
	"supervise/internal/textstream"
)

// patience is how long an agent that nobody sees may be silent behind a question that only
// a person answers: it may have printed the words for another reason.
const patience = 5 * time.Minute

// questions are what programs draw before they wait for a person, see testdata.
var questions = regexp.MustCompile(`(?i)press (enter|return|any key) to (continue|sign in|log ?in)|do you trust (the files in )?this (folder|directory)|\bsign in with \w+|` +
	`how would you like to (authenticate|sign in|log ?in)|(select|choose) (a |your )?(login|auth\w*) method|(enter|paste) (the |your )?(authori[sz]ation|verification|device|one-time) code|waiting for (you to )?(login|log in|sign in|authenticat\w+|authori[sz]ation)`)

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
	}
	a.timer.Reset(a.after)
	return len(p), nil
}

// silent is called when nothing was printed for a while.
func (a *asking) silent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := question(string(a.tail)); q != "" {
		a.end(errAsks(q))
	}
}

func (a *asking) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// moves are the sequences by which programs leave gaps between words.
var moves = regexp.MustCompile(`\x1b\[\d*[CGd]|\x1b\[\d*;?\d*H`)

// question is the line with which a screen asks a person, "" where it asks none. What a
// known program tells as an event is no screen.
func question(screen string) string {
	const lines = 40
	all := strings.FieldsFunc(agent.StripEscapes(moves.ReplaceAllString(screen, " ")), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range all[max(0, len(all)-lines):] {
		line = strings.Join(strings.Fields(strings.Trim(line, " │|")), " ")
		if !strings.HasPrefix(line, "{") && questions.MatchString(line) {
			return textstream.Short(line, maxBrief)
		}
	}
	return ""
}

// unseen reports whether nobody can answer the agent.
func (r *run) unseen() bool { return r.Terminal == nil || r.Terminal.In == nil }

// watchQuestions returns a writer for what the agent prints, nil where a person sees it,
// and what stops it.
func (r *run) watchQuestions(end func(error)) (*asking, func()) {
	if !r.unseen() {
		return nil, func() {}
	}
	a := &asking{after: patience, end: end}
	if r.IdleTimeout > 0 {
		a.after = min(a.after, r.IdleTimeout/2)
	}
	return a, a.stop
}

// questionOf is the question by which a run was ended, "" for another reason.
func questionOf(cause error) string {
	var q errAsks
	if errors.As(cause, &q) {
		return q.Error()
	}
	return ""
}
