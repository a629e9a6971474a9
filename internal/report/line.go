package report

import (
	"fmt"
	"strings"
	"time"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/metric"
)

// classStyles maps classes to their styles on a terminal.
var classStyles = map[detector.Class]document.Style{
	detector.Baseline: document.Faint, detector.Forward: document.Good, detector.Plateau: document.Plain, detector.Regression: document.Bad, detector.Stalled: document.Warn,
}

// IterationLine returns an iteration in one line, with the columns of [IterationLineHeader] and the
// alerts at its end.
func IterationLine(it ledger.Iteration, paint document.Paint) string {
	number := fmt.Sprintf("%3d", it.Number)
	class := paint(classStyles[it.Assessment.Class], fmt.Sprintf("%-10s", classText(it)))
	alerts := alertTexts(it.Assessment.Alerts)
	tail := Either(alerts == "", "", "  "+paint(alertStyle(it.Assessment.Alerts), alerts))
	if it.Rejected && !it.Interrupted { // if another orchestrator ran it, only the advice is known
		tail += paint(document.Bad, Either(it.Recorded != nil, " → to be rolled back", " → rolled back"))
	}
	took := FormatDuration(it.EndedAt.Sub(it.StartedAt).Round(time.Millisecond))
	if it.Recorded != nil && it.Recorded.TimeMS == nil {
		took = notMeasuredText
	}
	return fmt.Sprintf("%s  %s  %s  %6s  %6s%s", paint(document.Strong, number), class, metricsText(it), qualityText(it), took, tail)
}

// metricsText returns the columns for tests, skipped tests, coverage, coverage of the change, errors
// and build.
func metricsText(it ledger.Iteration) string {
	s := it.Set
	return fmt.Sprintf("%9s  %4s  %6s  %6s  %4s  %5s", testsText(s), valueText(&s, metric.TestsSkipped, ""), coverageText(s), it.ChangeCoverage.Cell(), valueText(&s, metric.ErrorCount, ""), buildText(s.Build))
}

// metricHeader is the header of the columns of metricsText.
const metricHeader = "   passed  skip   cover  change  errs  build"

// buildText says in a word how the build ended. If its status is unknown, for instance because it
// was excluded after it had failed at the baseline, that is "excl.".
func buildText(b *metric.Build) string {
	switch {
	case b == nil:
		return notMeasuredText
	case b.Status == metric.BuildSuccess:
		return "ok"
	case b.Status == metric.BuildFailure:
		return "fails"
	}
	return "excl."
}

// coverageText returns the coverage in percent.
func coverageText(s metric.Set) string {
	if v := valueOf(&s, metric.CoveragePct); v != nil {
		return percentText(*v / 100)
	}
	return notMeasuredText
}

// IterationLineHeader returns the header of the columns of [IterationLine].
func IterationLineHeader(paint document.Paint) string {
	return paint(document.Faint, fmt.Sprintf("%3s  %-10s  %s  %6s  %6s  %s", "#", "class", metricHeader, "score", "time", "alerts"))
}

// classText returns the class of an iteration, "stopped" if it was not judged.
func classText(it ledger.Iteration) string {
	return Either(it.Interrupted, "stopped", it.Assessment.Class.String())
}

// alertTexts lists the alerts above INFO with their severities, "" for none.
func alertTexts(alerts []detector.Alert) string {
	var out []string
	for _, a := range alerts {
		if a.Severity > detector.Info {
			out = append(out, fmt.Sprintf("%s %s", a.Severity, a.Rule))
		}
	}
	return strings.Join(out, ", ")
}

// alertStyle returns the style of the most severe alert.
func alertStyle(alerts []detector.Alert) document.Style {
	worst := detector.Info
	for _, a := range alerts {
		worst = max(worst, a.Severity)
	}
	switch {
	case worst >= detector.Critical:
		return document.Bad
	case worst >= detector.Medium:
		return document.Warn
	}
	return document.Faint
}

// Trajectory returns a chart of the scores of all iterations, in which the selected iteration and
// the rejected ones are marked.
func Trajectory(its []ledger.Iteration, selected int) document.Chart {
	var out document.Chart
	for _, it := range its {
		name, note := barName(it.Number)+":", trajectoryNote(it, selected)
		out = append(out, document.Bar{Name: name, Share: scoreShare(it), Value: qualityText(it), Note: note})
	}
	return out
}

// barName names iteration n in a chart.
func barName(n int) string { return Either(n == 0, "Baseline", fmt.Sprintf("Iteration %d", n)) }

// scoreShare returns the score in [0,1], 0 if it was not measured.
func scoreShare(it ledger.Iteration) float64 {
	if !it.Score.Measured {
		return 0
	}
	return it.Score.Value
}

// trajectoryNote returns the mark of an iteration in the chart, "" for none.
func trajectoryNote(it ledger.Iteration, selected int) string {
	switch {
	case it.Number == selected:
		return " ← SELECTED"
	case it.Interrupted:
		return " ← INTERRUPTED"
	case it.Rejected:
		return " ← REJECTED"
	case it.Assessment.Class == detector.Regression:
		return " ← REGRESSION"
	}
	return ""
}

// IterationTable returns a table with a row for each iteration, one on each line. It shows the score as
// a bar. selected is the number of the selected iteration, -1 for none.
func IterationTable(its []ledger.Iteration, selected int, paint document.Paint) string {
	const width = 12
	out := []string{paint(document.Faint, fmt.Sprintf("%3s  %-10s  %s  %-*s %6s", "#", "class", metricHeader, width, "quality", "score"))}
	for _, it := range its {
		tone, note := document.Plain, ""
		switch {
		case it.Number == selected:
			tone, note = document.Good, " ← selected"
		case it.Interrupted:
			note = " interrupted"
		case it.Rejected:
			tone, note = document.Bad, " rejected"
		}
		out = append(out, fmt.Sprintf("%3d  %-10s  %s  %s %6s%s", it.Number, classText(it), metricsText(it),
			paint(tone, document.RenderMeter(scoreShare(it), width)), qualityText(it), paint(tone, note)))
	}
	return strings.Join(out, "\n")
}
