package terminal

import (
	"fmt"
	"strings"

	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
)

func (p *Printer) finished(d event.LoopEnd) {
	if p.choice == nil {
		p.line("\n%s %s", p.Paint(report.Strong, "stopped "), d.Text)
		return
	}
	p.line("")
	for _, line := range report.Table(p.history, p.selected, p.Paint) {
		p.line("%s", line)
	}
	p.line("\n%s %s", p.Paint(report.Strong, "stopped "), d.Text)
	name := fmt.Sprintf("iteration %d", p.selected)
	if p.selected == 0 {
		name = "the baseline"
	}
	p.line("%s %s: %s", p.Paint(report.Strong, "selected"), p.Paint(report.Good, name), p.choice.Choice.Reason)
	p.verification()
	if text := report.Spent(d.Spending); text != "" {
		p.line("%s %s", p.Paint(report.Strong, "spent   "), text)
	}
	p.open()
	p.line("%s %s rollback %s 0", p.Paint(report.Strong, "undo all"), p.Self, p.id)
	if !p.choice.Applied && p.selected < len(p.history)-1 {
		p.line("%s %s rollback %s %d", p.Paint(report.Strong, "have it "), p.Self, p.id, p.selected)
	}
	if d.Reason == event.Interrupted && !p.Watched {
		p.line("%s %s resume %s", p.Paint(report.Strong, "go on   "), p.Self, p.id)
	}
	p.line("%s %s", p.Paint(report.Strong, "report  "), d.Report)
}

// open names the findings that a person has to look at.
func (p *Printer) open() {
	for _, o := range ledger.OpenAt(p.history, p.selected) {
		p.line("%s %s", p.Paint(report.Strong, "open    "), p.Paint(report.Bad, o.String()))
		p.line("         look: %s explain %s %d; accept: supervise ack %s --reason …", p.Self, p.id, o.Iteration, o.ID)
	}
	if list := p.choice.Choice.PassedOver; len(list) > 0 {
		p.line("         passed over for it: iterations %s; to have one: %s select %s --use N --reason … --apply", strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", "), p.Self, p.id)
	}
}

func (p *Printer) verification() {
	switch {
	case !p.choice.Applied:
		p.line("         not applied: the tree is as the last iteration left it")
	case p.verified == nil:
		p.line("         restored; not measured again")
	case p.verified.Holds:
		p.line("         restored and measured again: the numbers hold")
	default:
		p.line("         %s", p.Paint(report.Bad, "restored and measured again: the numbers do NOT hold: "+strings.Join(p.verified.Differences, "; ")))
	}
	if v := p.verified; v != nil && len(v.Broken) > 0 {
		p.line("         %s", p.Paint(report.Warn, "as they were before the loop, tests fail that passed then, and that it changed: "+strings.Join(report.Cut(v.Broken, 5), ", ")))
	}
}
