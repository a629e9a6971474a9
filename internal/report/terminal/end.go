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
	p.selection()
	p.verification()
	if text := report.Spent(d.Spending); text != "" {
		p.line("%s %s", p.Paint(report.Strong, "spent   "), text)
	}
	p.open()
	p.line("%s %s rollback %s 0", p.Paint(report.Strong, "undo all"), p.Self, p.id)
	if !p.choice.Applied && p.selected < len(p.history)-1 {
		p.line("%s %s rollback %s %d", p.Paint(report.Strong, "restore "), p.Self, p.id, p.selected)
	}
	if d.Reason == event.Interrupted && !p.Watched {
		p.line("%s %s resume %s", p.Paint(report.Strong, "continue"), p.Self, p.id)
	}
	p.line("%s %s", p.Paint(report.Strong, "report  "), d.Report)
}

// selection names the iteration that was selected, and why.
func (p *Printer) selection() {
	switch c := p.choice.Choice; {
	case c.BaselineChosen:
		p.line("%s: no iteration was acceptable.", p.Paint(report.Strong, "Kept the baseline"))
	case p.selected == 0:
		p.line("%s %s: %s", p.Paint(report.Strong, "selected"), p.Paint(report.Good, "the baseline"), c.Reason)
	default:
		p.line("%s %s: %s", p.Paint(report.Strong, "selected"), p.Paint(report.Good, fmt.Sprintf("iteration %d", p.selected)), c.Reason)
	}
}

// open names the findings that a person has to look at.
func (p *Printer) open() {
	for _, o := range ledger.OpenAt(p.history, p.selected) {
		p.line("%s %s", p.Paint(report.Strong, "open    "), p.Paint(report.Bad, o.String()))
		p.line("         see: %s explain %s %d; accept: supervise ack %s --reason …", p.Self, p.id, o.Iteration, o.ID)
	}
	if list := p.choice.Choice.PassedOver; len(list) > 0 {
		p.line("         passed over for it: iterations %s; to take one: %s select %s --use N --reason … --apply", strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", "), p.Self, p.id)
	}
}

func (p *Printer) verification() {
	switch {
	case !p.choice.Applied:
		p.line("         Not restored: the tree is as the last iteration left it.")
	case p.verified == nil:
		p.line("         Restored; not re-measured.")
	case p.verified.Holds:
		p.line("         Restored and re-measured: same results.")
	default:
		p.line("         %s", p.Paint(report.Bad, "Restored and re-measured: DIFFERENT results: "+strings.Join(p.verified.Differences, "; ")))
	}
	if v := p.verified; v != nil && len(v.Broken) > 0 {
		p.line("         %s", p.Paint(report.Warn, "the original tests fail on the new code, although they passed before the loop: "+strings.Join(report.Cut(v.Broken, 5), ", ")))
	}
}
