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
		if d.Iteration > 0 {
			text += fmt.Sprintf("; iteration %d of %d", d.Iteration, d.Iterations)
		}
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

// printContestEnd prints the end of a loop of candidates. head is the hash of the last entry of the
// log, "" if it is unknown.
func (p *Printer) printContestEnd(d event.LoopEnd, head string) {
	p.printLine("\n%s %s", p.Paint(document.Strong, "stopped "), d.Text)
	if text := report.SpendingText(d.Spending); text != "" {
		p.printLine("%s %s", p.Paint(document.Strong, "spent   "), text)
	}
	p.printLine("%s %s compare %s; to take another: %[2]s select %[3]s --candidate N", p.Paint(document.Strong, "compare "), p.Self, p.id)
	if p.choice != nil && p.choice.Applied {
		p.printLine("%s %s rollback %s 0", p.Paint(document.Strong, "undo all"), p.Self, p.id)
	}
	p.printLine("%s %s", p.Paint(document.Strong, "report  "), d.Report)
	p.printLogHead(head)
	p.printTree(d.Tree)
}
