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

// Candidate is the state of one of several loops on the same task.
type Candidate struct {
	Number    int    `json:"candidate"`
	Agent     string `json:"agent"`
	State     State  `json:"state"`
	Outcome   string `json:"ended,omitempty"` // how it ended; "" while it runs
	Succeeded bool   `json:"did_the_task,omitempty"`
}

// boardCandidate is a candidate together with its board.
type boardCandidate struct {
	Candidate
	board *Board
}

// CandidateBoard returns the board of the loop of candidate n.
func (b *Board) CandidateBoard(n int) *Board {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.findOrAddCandidate(n).board
}

// findOrAddCandidate returns candidate n, which it adds if it is missing. The caller holds the
// lock.
func (b *Board) findOrAddCandidate(n int) *boardCandidate {
	byNumber := func(c *boardCandidate, n int) int { return cmp.Compare(c.Number, n) }
	i, found := slices.BinarySearchFunc(b.candidates, n, byNumber)
	if !found {
		c := &boardCandidate{Candidate: Candidate{Number: n}, board: NewBoard(b.now, b.mask)}
		c.board.listeners = b.listeners // subscribers of this board also see changes of that one
		b.candidates = slices.Insert(b.candidates, i, c)
	}
	return b.candidates[i]
}

// handleCandidateData records when candidates start and end. The caller holds the lock.
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

// statusLine says in one line what a candidate does at the moment, or how it ended.
func (c Candidate) statusLine(now time.Time) styledLine {
	l := styledLine{{document.Strong, fmt.Sprintf("     %d ", c.Number)}, {document.Faint, c.Agent + "  "}}
	switch work := c.State.workLines(now); {
	case c.Succeeded:
		return append(l, span{document.Good, c.Outcome})
	case c.Outcome != "":
		return append(l, span{document.Warn, c.Outcome})
	case c.State.IsOver() || len(work) == 0:
		return append(l, span{document.Faint, "begins"})
	default:
		l = append(l, span{document.Faint, c.State.title() + "  "})
		work[0][0].text = strings.TrimLeft(work[0][0].text, " ")
		return append(l, work[0]...)
	}
}
