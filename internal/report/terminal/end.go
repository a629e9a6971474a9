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

// printEnd prints the end of a loop: the table of iterations, why it ended, what was selected, and
// which commands a user may want next. head is the hash of the last entry of the log.
func (p *Printer) printEnd(d event.LoopEnd, head string) {
	hasSelection := p.choice != nil || p.compared
	if hasSelection && !p.compared {
		p.printLine("\n%s", report.IterationTable(p.history, p.selected, p.Paint))
	}
	p.printLine("")
	p.printRow("stopped", d.Text)
	switch {
	case p.compared:
		p.printContestEnd(d)
	case hasSelection:
		p.printOutcome(d)
	}
	if hasSelection {
		p.printRow("report", d.Report)
	}
	if head != "" { // a user can keep it on another machine and verify the log later
		p.printRow("log head", fmt.Sprintf("%s; later: %s verify %s --head %[1]s", head, p.Self, p.id))
	}
	if d.Tree != nil {
		p.printLine("%s", d.Tree)
	}
}

// printOutcome prints the selection of a loop, its problems, and commands to continue or undo.
func (p *Printer) printOutcome(d event.LoopEnd) {
	p.printSelection()
	p.printVerification()
	p.printReview()
	p.printRow("spent", report.SpendingText(d.Spending))
	if d.Reason == event.Blocked {
		p.printBlocked()
	}
	p.printDeclared(d.Declared)
	for _, line := range p.history[0].Uncommitted.Lines() {
		p.printRow("tests", p.Paint(document.Warn, line))
	}
	p.printOpen()
	p.printRow("undo all", fmt.Sprintf("%s rollback %s 0", p.Self, p.id))
	if !p.choice.Applied && p.selected < len(p.history)-1 {
		p.printRow("restore", fmt.Sprintf("%s rollback %s %d", p.Self, p.id, p.selected))
	}
	if d.Reason == event.Interrupted && !p.Watched {
		p.printRow("continue", fmt.Sprintf("%s resume %s", p.Self, p.id))
	}
}

// printRow prints a text after a label, unless it is empty.
func (p *Printer) printRow(label, text string) {
	if text != "" {
		p.printLine("%s %s", p.Paint(document.Strong, fmt.Sprintf("%-8s", label)), text)
	}
}

// printSelection names the iteration that was selected, and why.
func (p *Printer) printSelection() {
	switch c := p.choice.Choice; {
	case c.OnlyBaseline:
		p.printLine("%s: there is no iteration.", p.Paint(document.Strong, "Kept the baseline"))
	case c.BaselineChosen:
		p.printLine("%s: no iteration was acceptable.", p.Paint(document.Strong, "Kept the baseline"))
		p.printWorse(c.Worse)
	default:
		p.printRow("selected", p.Paint(document.Good, report.IterationName(p.selected))+": "+c.Reason)
	}
	p.printTied(p.choice.Choice.Tied)
}

// printWorse says why otherwise eligible iterations were not selected, and how to restore them. The
// latest one comes first.
func (p *Printer) printWorse(list []selector.WorseIteration) {
	for i, w := range slices.Backward(list) {
		if len(list)-i > maxWorse {
			p.printLine("         and %d more", i+1)
			return
		}
		p.printLine("         iteration %d is worse: %s; to take it: %s rollback %s %d", w.Iteration, w.Why, p.Self, p.id, w.Iteration)
	}
}

// maxWorse is the maximum number of alternatives to the selection that are named.
const maxWorse = 3

// printTied names the latest iterations that are as good as the selected one.
func (p *Printer) printTied(list []int) {
	for _, n := range list[max(0, len(list)-maxWorse):] {
		p.printLine("         iteration %d is as good by its score: %s rollback %s %d", n, p.Self, p.id, n)
	}
}

// printOpen names the findings that a person has to check, and how to accept them.
func (p *Printer) printOpen() {
	for _, o := range ledger.OpenFindingsAt(p.history, p.selected) {
		p.printRow("open", p.Paint(document.Bad, o.String()))
		p.printLine("         see: %s explain %s %d; accept: supervise ack %s --reason …", p.Self, p.id, o.Iteration, o.ID)
	}
	if list := p.choice.Choice.SkippedForOpenFindings; len(list) > 0 {
		p.printLine("         skipped for open findings: iterations %s; to take one: %s select %s --use N --reason … --apply", strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", "), p.Self, p.id)
	}
}

// printBlocked says what a person can do if the agent cannot continue.
func (p *Printer) printBlocked() {
	last := p.history[len(p.history)-1]
	for _, s := range last.Blocks() {
		p.printRow("blocked", p.Paint(document.Warn, s.String()))
	}
	p.printLine("         if that is so: change the test or the task yourself and run again, or let the agent change what tests expect with --tests change=PATTERN")
	p.printLine("         if not: %s resume %s --max-iterations N", p.Self, p.id)
}

// printDeclared lists the changes of tests that the user allowed, for review.
func (p *Printer) printDeclared(list []detector.Alert) {
	for _, a := range list {
		p.printRow("to read", p.Paint(document.Warn, a.Severity.String()+" "+a.Rule+": "+a.Message()))
		for _, v := range a.Versions {
			p.printLine("         %s", report.VersionLine(v))
		}
	}
	if len(list) > 0 {
		p.printLine("         the expectations of these tests changed, as tests: change allows; the report has both versions in full")
	}
}

// printVerification says whether the selected tree was restored, and whether measuring it again
// gave the same results.
func (p *Printer) printVerification() {
	switch {
	case !p.choice.Applied:
		p.printLine("         Not restored: the tree is as the last iteration left it.")
	case p.verified == nil:
		p.printLine("         Restored; not re-measured.")
	case p.verified.Confirmed:
		p.printLine("         Restored and re-measured: same results.")
	default:
		p.printLine("         %s", p.Paint(document.Bad, "Restored and re-measured: DIFFERENT results: "+strings.Join(p.verified.Differences, "; ")))
	}
	if p.verified == nil {
		return
	}
	for _, r := range report.ProofRows(p.verified.Proof) {
		p.printRow(r[0], r[1])
	}
	for _, a := range p.verified.Goals.Weakened() {
		p.printLine("         %s", p.Paint(document.Bad, a.Severity.String()+" "+a.Message()))
	}
}

// printReview prints the second opinion on the selected tree.
func (p *Printer) printReview() {
	if p.reviewed == nil {
		return
	}
	p.printRow("reviewer", p.reviewed.Review.String())
	for _, a := range p.reviewed.Alerts {
		p.printLine("         %s %s %s: %s", a.ID(), p.Paint(document.Warn, a.Severity.String()), a.Rule, a.Message())
	}
}
