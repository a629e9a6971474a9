package results

import (
	"fmt"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/record"
	"supervise/internal/report"
)

// PrintRecorded prints the verdict on an iteration that was recorded, and the advice.
func (t Printer) PrintRecorded(rec record.Result) {
	it := rec.Iteration
	if rec.Created {
		t.printRow(document.Faint, "new loop", "%s", rec.View.Dir)
	}
	t.printLine("%s\n%s", report.IterationLineHeader(t.Paint), report.IterationLine(it, t.Paint))
	for _, alert := range it.Assessment.Alerts {
		if alert.Severity >= detector.Medium {
			t.printLine("     %s", t.Paint(document.Bad, fmt.Sprintf("%s %s", alert.Severity, alert.Message())))
		}
	}
	if b := rec.View.State.Best; b != nil {
		t.printRow(document.Faint, "best    ", "iteration %d (%.1f%%)", b.Iteration, 100*b.QualityScore)
	}
	if len(rec.Rejudged) > 0 {
		t.printRow(document.Warn, "iterations", "%v have another verdict now", rec.Rejudged)
	}
	t.PrintAdvice(rec.View.Decide(record.Question{}))
}

// PrintAdvice prints what an orchestrator should do after the last iteration of a loop.
func (t Printer) PrintAdvice(r record.Recommendation) {
	what := string(r.Action)
	if r.Target != nil {
		what += " to " + report.IterationName(*r.Target)
	}
	t.printRow(document.Faint, "advice  ", "%s: %s (confidence %.2f)", t.Paint(document.Strong, what), r.Reason, r.Confidence)
	for _, line := range append([]string{r.Advice}, r.Alternatives...) {
		if line != "" {
			t.printLine("         %s", line)
		}
	}
	if r.Retry > 0 {
		t.printLine("         retry %d of %d", r.Retry, r.MaxRetries)
	}
	if d := r.Diminishing; d != nil {
		t.printRow(document.Faint, "note    ", "diminishing returns since iteration %d", d.Since)
	}
}
