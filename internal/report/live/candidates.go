package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/internal/document"
	"supervise/internal/event"
)

// Candidate is what one of several loops on the same task does.
type Candidate struct {
	Number    int    `json:"candidate"`
	Agent     string `json:"agent"`
	State     State  `json:"state"`
	Outcome   string `json:"ended,omitempty"` // how it ended; "" while it runs
	Succeeded bool   `json:"did_the_task,omitempty"`
}

// candidate is the same while it is gathered.
type candidate struct {
	Candidate
	board *Board
}

// CandidateBoard returns the board of a candidate's own loop.
func (b *Board) CandidateBoard(n int) *Board {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.findOrAddCandidate(n).board
}

// findOrAddCandidate returns a candidate, a new one the first time. The caller holds the lock.
func (b *Board) findOrAddCandidate(n int) *candidate {
	for _, c := range b.candidates {
		if c.Number == n {
			return c
		}
	}
	c := &candidate{Candidate: Candidate{Number: n}, board: NewBoard(b.now, b.mask)}
	c.board.listeners = b.listeners // who looks at this one is told of that one
	b.candidates = append(b.candidates, c)
	slices.SortFunc(b.candidates, func(x, y *candidate) int { return cmp.Compare(x.Number, y.Number) })
	return c
}

// handleCandidateData takes in when candidates begin and end. The caller holds the lock.
func (b *Board) handleCandidateData(e event.Event) {
	switch d := e.Data.(type) {
	case event.Candidate:
		c := b.findOrAddCandidate(d.Candidate)
		c.Outcome = ""
		if len(d.Agent) > 0 {
			c.Agent = d.Agent[0]
		}
	case event.CandidateEnd:
		c := b.findOrAddCandidate(d.Candidate)
		c.Outcome, c.Succeeded = d.Text, d.Reason.ExitCode() == 0
	}
}

// line says in one line what a candidate does, or how it ended.
func (c Candidate) line(now time.Time) line {
	l := line{{document.Strong, fmt.Sprintf("     %d ", c.Number)}, {document.Faint, c.Agent + "  "}}
	switch work := c.State.work(now); {
	case c.Succeeded:
		return append(l, part{document.Good, c.Outcome})
	case c.Outcome != "":
		return append(l, part{document.Warn, c.Outcome})
	case c.State.IsOver() || len(work) == 0:
		return append(l, part{document.Faint, "begins"})
	default:
		l = append(l, part{document.Faint, c.State.title() + "  "})
		work[0][0].text = strings.TrimLeft(work[0][0].text, " ")
		return append(l, work[0]...)
	}
}
