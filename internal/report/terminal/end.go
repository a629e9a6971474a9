package terminal

import (
	"fmt"
	"slices"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/event"
	"supervise/internal/ledger"
	"supervise/internal/report"
	"supervise/selector"
)

func (p *Printer) finished(d event.LoopEnd, head string) {
	if p.compared {
		p.decided(d, head)
		return
	}
	if p.choice == nil {
		p.line("\n%s %s", p.Paint(document.Strong, "stopped "), d.Text)
		p.logHead(head)
		p.tree(d.Tree)
		return
	}
	p.line("")
	for _, line := range report.IterationTable(p.history, p.selected, p.Paint) {
		p.line("%s", line)
	}
	p.line("\n%s %s", p.Paint(document.Strong, "stopped "), d.Text)
	p.selection()
	p.verification()
	p.review()
	if text := report.SpendingText(d.Spending); text != "" {
		p.line("%s %s", p.Paint(document.Strong, "spent   "), text)
	}
	p.blocked(d.Reason)
	p.declared(d.Declared)
	p.open()
	p.line("%s %s rollback %s 0", p.Paint(document.Strong, "undo all"), p.Self, p.id)
	if !p.choice.Applied && p.selected < len(p.history)-1 {
		p.line("%s %s rollback %s %d", p.Paint(document.Strong, "restore "), p.Self, p.id, p.selected)
	}
	if d.Reason == event.Interrupted && !p.Watched {
		p.line("%s %s resume %s", p.Paint(document.Strong, "continue"), p.Self, p.id)
	}
	p.line("%s %s", p.Paint(document.Strong, "report  "), d.Report)
	p.logHead(head)
	p.tree(d.Tree)
}

// logHead prints the head of the log, so that the user can keep it on another machine.
func (p *Printer) logHead(hash string) {
	if hash != "" {
		p.line("%s %s; later: %s verify %s --head %[2]s", p.Paint(document.Strong, "log head"), hash, p.Self, p.id)
	}
}

// tree prints the state of the tree as the last line.
func (p *Printer) tree(t *event.TreeState) {
	if t != nil {
		p.line("%s", t)
	}
}

// selection names the iteration that was selected, and why.
func (p *Printer) selection() {
	switch c := p.choice.Choice; {
	case c.OnlyBaseline:
		p.line("%s: there is no iteration.", p.Paint(document.Strong, "Kept the baseline"))
	case c.BaselineChosen:
		p.line("%s: no iteration was acceptable.", p.Paint(document.Strong, "Kept the baseline"))
		p.worse(c.Worse)
	case p.selected == 0:
		p.line("%s %s: %s", p.Paint(document.Strong, "selected"), p.Paint(document.Good, "the baseline"), c.Reason)
	default:
		p.line("%s %s: %s", p.Paint(document.Strong, "selected"), p.Paint(document.Good, fmt.Sprintf("iteration %d", p.selected)), c.Reason)
	}
	p.asGood(p.choice.Choice.Tied)
}

// worse says why otherwise eligible iterations were not selected, the latest first, and how
// to restore them.
func (p *Printer) worse(list []selector.WorseIteration) {
	for i, w := range slices.Backward(list) {
		if len(list)-i > maxWorse {
			p.line("         and %d more", i+1)
			return
		}
		p.line("         iteration %d is worse: %s; to take it: %s rollback %s %d", w.Iteration, w.Why, p.Self, p.id, w.Iteration)
	}
}

const maxWorse = 3

// asGood names the other iterations that can be had for the one that was selected.
func (p *Printer) asGood(list []int) {
	for _, n := range list[max(0, len(list)-maxWorse):] {
		p.line("         iteration %d is as good by its score: %s rollback %s %d", n, p.Self, p.id, n)
	}
}

// open names the findings that a person has to look at.
func (p *Printer) open() {
	for _, o := range ledger.OpenFindingsAt(p.history, p.selected) {
		p.line("%s %s", p.Paint(document.Strong, "open    "), p.Paint(document.Bad, o.String()))
		p.line("         see: %s explain %s %d; accept: supervise ack %s --reason …", p.Self, p.id, o.Iteration, o.ID)
	}
	if list := p.choice.Choice.SkippedForOpenFindings; len(list) > 0 {
		p.line("         skipped for open findings: iterations %s; to take one: %s select %s --use N --reason … --apply", strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", "), p.Self, p.id)
	}
}

// blocked says what a person can do if the agent cannot continue.
func (p *Printer) blocked(why event.Reason) {
	if why != event.Blocked {
		return
	}
	last := p.history[len(p.history)-1]
	for _, s := range last.Blocks() {
		p.line("%s %s", p.Paint(document.Strong, "blocked "), p.Paint(document.Warn, s.String()))
	}
	p.line("         if that is so: change the test or the task yourself and run again, or let the agent change what tests expect with --tests change")
	p.line("         if not: %s resume %s --max-iterations N", p.Self, p.id)
}

// declared lists the changes of tests that the user allowed, for review.
func (p *Printer) declared(list []detector.Alert) {
	for _, a := range list {
		p.line("%s %s", p.Paint(document.Strong, "to read "), p.Paint(document.Warn, a.Severity.String()+" "+a.Rule+": "+a.Message()))
	}
	if len(list) > 0 {
		p.line("         the expectations of these tests changed, as tests: change allows; the report has both versions")
	}
}

func (p *Printer) verification() {
	switch {
	case !p.choice.Applied:
		p.line("         Not restored: the tree is as the last iteration left it.")
	case p.verified == nil:
		p.line("         Restored; not re-measured.")
	case p.verified.Confirmed:
		p.line("         Restored and re-measured: same results.")
	default:
		p.line("         %s", p.Paint(document.Bad, "Restored and re-measured: DIFFERENT results: "+strings.Join(p.verified.Differences, "; ")))
	}
	if v := p.verified; v != nil {
		for _, a := range v.Goals.Weakened() {
			p.line("         %s", p.Paint(document.Bad, a.Severity.String()+" "+a.Message()))
		}
	}
}

// review prints the second opinion on the selected tree.
func (p *Printer) review() {
	if p.reviewed == nil {
		return
	}
	p.line("%s %s", p.Paint(document.Strong, "reviewer"), p.reviewed.Review)
	for _, a := range p.reviewed.Alerts {
		p.line("         %s %s %s: %s", a.ID(), p.Paint(document.Warn, a.Severity.String()), a.Rule, a.Message())
	}
}
