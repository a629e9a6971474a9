package results

import (
	"fmt"

	"supervise/integrity"
	"supervise/internal/document"
	"supervise/internal/report"
	"supervise/metric"
)

// severityTones maps severities to styles.
var severityTones = map[metric.Severity]document.Style{
	metric.Critical: document.Bad, metric.High: document.Bad, metric.Medium: document.Warn, metric.Low: document.Faint, metric.Info: document.Faint,
}

// PrintAudit prints the findings about a change of the given number of files. Unless all is set, it
// leaves out explained findings, and returns how many.
func (t Printer) PrintAudit(found []integrity.Finding, files int, all bool) (explained int) {
	shown := 0
	for _, x := range found {
		if x.Severity <= metric.Info && !all {
			explained++
			continue
		}
		shown++
		t.printLine("%s  %s %s  %s", t.Paint(severityTones[x.Severity], fmt.Sprintf("%-8s", x.Severity)), x.Rule, x.Type, auditLine(x))
	}
	if shown == 0 {
		t.printLine("nothing found in %s", report.Pluralize(files, "changed file", "changed files"))
	}
	return explained
}

// auditLine returns the location and the evidence of a finding in one line.
func auditLine(x integrity.Finding) string {
	line := x.File
	line += report.Either(x.Line > 0, fmt.Sprintf(":%d", x.Line), "")
	for _, part := range []string{x.Test, x.Evidence} {
		line += report.Either(part != "", "  "+part, "")
	}
	line += report.Either(x.ExplainedBy != "", " (explained: "+x.ExplainedBy+")", "")
	return line
}
