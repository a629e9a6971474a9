package terminal

import (
	"fmt"
	"strings"

	"supervise/internal/event"
	"supervise/internal/report"
	"supervise/internal/textstream"
)

// holdEvent keeps an event until the agent has left the terminal. It drops the progress of checks.
// In a watched session, the title of the terminal shows the last verdict meanwhile.
func (p *Printer) holdEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.Check:
		return
	case event.IterationEnd:
		p.headline = headline(d)
	}
	if e.Type == event.AgentIdle {
		p.printOnSession(report.SetTitle(p.headline))
		return
	}
	p.heldEvents = append(p.heldEvents, e)
}

// titleWidth is the maximum length of a title, in bytes.
const titleWidth = 122

// printOnSession prints an escape sequence on the terminal of a watched session that draws there.
func (p *Printer) printOnSession(sequence string) {
	if p.Watched && p.Raw {
		fmt.Fprint(p.Out, sequence)
	}
}

// headline describes an iteration in one line.
func headline(d event.IterationEnd) string {
	text := fmt.Sprintf("supervise %d: %s", d.Iteration.Number, d.Iteration.Assessment.Class)
	if d.Iteration.Set.Tests != nil {
		n := d.Iteration.Set.Tests.Counts()
		text += fmt.Sprintf(", %d/%d pass", n.Passed, n.Count)
	}
	for i, alert := range d.Iteration.Assessment.Alerts {
		if i == 2 {
			text += " …"
			break
		}
		text += ", " + alert.Severity.String() + " " + alert.Message()
	}
	return textstream.Truncate(strings.Map(printable, strings.ReplaceAll(text, "\n", " ")), titleWidth)
}
