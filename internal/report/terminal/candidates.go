package terminal

import (
	"fmt"
	"strings"

	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/report"
)

// printCandidate prints an event of the loop of a candidate: its iterations, and why it waits.
func (p *Printer) printCandidate(e event.Event) {
	name := p.Paint(document.Faint, fmt.Sprintf("%d ", e.Candidate))
	switch d := e.Data.(type) {
	case event.IterationEnd:
		p.printLine("%s%s", name, report.IterationLine(d.Iteration, p.Paint))
	case event.Rejection:
		for _, why := range d.Reasons {
			p.printLine("%s     %s", name, p.Paint(document.Bad, why))
		}
	case event.Waiting:
		p.printLine("%s     %s", name, p.Paint(document.Warn, waitingText(d)))
	case event.Interruption:
		p.printLine("%s%s", name, report.IterationLine(d.Iteration, p.Paint))
	}
}

// printContest prints an event of a loop of candidates: their start, their end, and the ranking.
func (p *Printer) printContest(e event.Event) {
	switch d := e.Data.(type) {
	case event.Candidate:
		p.printLine("%s", p.Paint(document.Faint, fmt.Sprintf("candidate %d starts: %s", d.Candidate, strings.Join(d.Agent, " "))))
	case event.CandidateEnd:
		text := fmt.Sprintf("candidate %d: %s", d.Candidate, d.Text)
		text += report.Either(d.Iteration > 0, fmt.Sprintf("; iteration %d of %d", d.Iteration, d.Iterations), "")
		p.printLine("%s", p.Paint(styleOf(d.Reason), text))
	case event.Compared:
		p.printLine("\n%s", strings.TrimSpace(report.RankingDocument(d.Ranking).Terminal(p.Paint)))
		p.compared = true
	}
}

// styleOf returns the style for the end of a loop.
func styleOf(r event.Reason) document.Style {
	if r.ExitCode() == 0 {
		return document.Good
	}
	return document.Warn
}

// printContestEnd prints the commands for the end of a loop of candidates.
func (p *Printer) printContestEnd(d event.LoopEnd) {
	p.printRow("spent", report.SpendingText(d.Spending))
	p.printRow("compare", fmt.Sprintf("%s compare %s; to take another: %[1]s select %[2]s --candidate N", p.Self, p.id))
	if p.choice != nil && p.choice.Applied {
		p.printRow("undo all", fmt.Sprintf("%s rollback %s 0", p.Self, p.id))
	}
}
