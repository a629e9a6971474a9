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

// PrintSelection prints what a loop selected and what is selected now. before is the state
// that the loop had, applied says that the selected tree is in the working tree.
func (t Printer) PrintSelection(sel record.Selection, doc record.BestIterationSelection, before ledger.State, self string, applied bool) {
	if before.Selected != nil {
		t.row(document.Faint, "was     ", "%s: %s", iteration(before.Selected.Iteration), before.Selected.Reason)
	}
	what := "would be"
	if sel.Path != "" {
		what = "selected"
	}
	t.row(document.Strong, what, "%s: %s", t.Paint(document.Good, iteration(doc.Selected)), doc.Reason)
	for _, r := range doc.Rationale {
		t.line("         %s", r)
	}
	if len(doc.Flags) > 0 {
		t.row(document.Warn, "note    ", "%s", strings.Join(doc.Flags, ", "))
	}
	for _, line := range report.IterationTable(sel.View.Iterations, doc.Selected, t.Paint) {
		t.line("%s", line)
	}
	t.summary(sel)
	if it, err := sel.View.Iteration(doc.Selected); err == nil && sel.Path != "" && !applied && it.Snapshot != "" {
		t.row(document.Faint, "tree    ", "left as it is; to restore the selected one: %s rollback %s %d", self, sel.View.State.LoopID, doc.Selected)
	}
}

func (t Printer) summary(sel record.Selection) {
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
	t.row(document.Faint, "in all  ", "%s", text)
	if d := sel.Choice.DiminishingReturns; d != nil {
		t.row(document.Faint, "note    ", "diminishing returns since iteration %d", d.Since)
	}
	if sel.Path != "" {
		t.row(document.Faint, "report  ", "%s", sel.Path)
	}
}
