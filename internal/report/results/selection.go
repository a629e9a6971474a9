package results

import (
	"fmt"
	"strings"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/record"
	"supervise/internal/report"
	"supervise/selector"
)

// PrintSelection prints what a loop selected before and what is selected now. before is the state
// before the selection. applied says that the selected tree is in the working tree.
func (t Printer) PrintSelection(sel record.Selection, doc record.BestIterationSelection, before ledger.State, self string, applied bool) {
	if before.Selected != nil {
		t.printRow(document.Faint, "was     ", "%s: %s", report.IterationName(before.Selected.Iteration), before.Selected.Reason)
	}
	t.printRow(document.Strong, report.Either(sel.Path != "", "selected", "would be"), "%s: %s", t.Paint(document.Good, report.IterationName(doc.Selected)), doc.Reason)
	for _, r := range doc.Rationale {
		t.printLine("         %s", r)
	}
	if len(doc.Flags) > 0 {
		t.printRow(document.Warn, "note    ", "%s", strings.Join(doc.Flags, ", "))
	}
	t.printLine("%s", report.IterationTable(sel.View.Iterations, doc.Selected, t.Paint))
	t.printSummary(sel)
	if it, err := sel.View.Iteration(doc.Selected); err == nil && sel.Path != "" && !applied && it.Snapshot != "" {
		t.printRow(document.Faint, "tree    ", "left as it is; to restore the selected one: %s rollback %s %d", self, sel.View.State.LoopID, doc.Selected)
	}
}

// printSummary prints the totals of the loop.
func (t Printer) printSummary(sel record.Selection) {
	s := selector.Summarize(ledger.Candidates(sel.View.Iterations, nil))
	text := report.Pluralize(s.Iterations, "iteration", "iterations") + ", " + string(s.Trend)
	if s.Duration != nil {
		text += ", " + report.FormatDuration(*s.Duration)
	}
	if s.Tokens != nil {
		text += fmt.Sprintf(", %d tokens", *s.Tokens)
	}
	if s.CostUSD != nil {
		text += fmt.Sprintf(", $%.4f", *s.CostUSD)
	}
	t.printRow(document.Faint, "in all  ", "%s", text)
	if d := sel.Choice.DiminishingReturns; d != nil {
		t.printRow(document.Faint, "note    ", "diminishing returns since iteration %d", d.Since)
	}
	if sel.Path != "" {
		t.printRow(document.Faint, "report  ", "%s", sel.Path)
	}
}
