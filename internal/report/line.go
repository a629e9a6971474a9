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

var classTones = map[detector.Class]document.Style{
	detector.Baseline: document.Faint, detector.Forward: document.Good, detector.Plateau: document.Plain, detector.Regression: document.Bad, detector.Stalled: document.Warn,
}

// IterationLine sums an iteration up in one line: number, class, tests passed of all,
// coverage, errors, build, score, time and alerts.
func IterationLine(it ledger.Iteration, paint document.Paint) string {
	number := fmt.Sprintf("%3d", it.Number)
	class := paint(classTones[it.Assessment.Class], fmt.Sprintf("%-10s", className(it)))
	tail := ""
	if list := alertNames(it.Assessment.Alerts); list != "" {
		tail = "  " + paint(alertTone(it.Assessment.Alerts), list)
	}
	if it.Rejected && !it.Interrupted {
		tail += paint(document.Bad, rolledBack(it))
	}
	took := FormatDuration(it.EndedAt.Sub(it.StartedAt).Round(time.Millisecond))
	if it.Recorded != nil && it.Recorded.TimeMS == nil {
		took = notMeasured
	}
	return fmt.Sprintf("%s  %s  %s  %6s  %6s%s", paint(document.Strong, number), class, columns(it.Set), quality(it), took, tail)
}

// rolledBack says what became of a rejected iteration. If another orchestrator ran it, only
// the advice is known.
func rolledBack(it ledger.Iteration) string {
	if it.Recorded != nil {
		return " → to be rolled back"
	}
	return " → rolled back"
}

// columns are the values for tests, skipped tests, coverage, errors and build.
func columns(s metric.Set) string {
	return fmt.Sprintf("%9s  %4s  %6s  %4s  %5s", tests(s), value(&s, metric.TestsSkipped, ""), coverage(s), value(&s, metric.ErrorCount, ""), build(s.Build))
}

const columnsHead = "   passed  skip   cover  errs  build"

func buildOf(s *metric.Set) string {
	if s == nil {
		return notMeasured
	}
	return build(s.Build)
}

// build says in a word how the build ended.
func build(b *metric.Build) string {
	switch {
	case b == nil:
		return notMeasured
	case b.Status == metric.BuildSuccess:
		return "ok"
	case b.Status == metric.BuildFailure:
		return "fails"
	}
	return "excl."
}

func coverage(s metric.Set) string {
	v, ok := s.Value(metric.CoveragePct)
	if !ok {
		return notMeasured
	}
	return percent(v / 100)
}

// IterationLineHeader names the columns of [Line].
func IterationLineHeader(paint document.Paint) string {
	return paint(document.Faint, fmt.Sprintf("%3s  %-10s  %s  %6s  %6s  %s", "#", "class", columnsHead, "score", "time", "alerts"))
}

// className is the class of an iteration, or that it was not judged.
func className(it ledger.Iteration) string {
	if it.Interrupted {
		return "stopped"
	}
	return it.Assessment.Class.String()
}

func alertNames(alerts []detector.Alert) string {
	var out []string
	for _, a := range alerts {
		if a.Severity > detector.Info {
			out = append(out, fmt.Sprintf("%s %s", a.Severity, a.Rule))
		}
	}
	return strings.Join(out, ", ")
}

func alertTone(alerts []detector.Alert) document.Style {
	tone := document.Faint
	for _, a := range alerts {
		switch {
		case a.Severity >= detector.Critical:
			return document.Bad
		case a.Severity >= detector.Medium:
			tone = document.Warn
		}
	}
	return tone
}

// Trajectory draws the scores of all iterations, and marks the selected and the rejected
// ones.
func Trajectory(its []ledger.Iteration, selected int) document.Chart {
	var out document.Chart
	for _, it := range its {
		b := document.Bar{Name: fmt.Sprintf("Iteration %d:", it.Number), Value: quality(it), Note: flags(it, selected)}
		if it.Number == 0 {
			b.Name = "Baseline:"
		}
		if it.Score.Measured {
			b.Share = it.Score.Value
		}
		out = append(out, b)
	}
	return out
}

func flags(it ledger.Iteration, selected int) string {
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

// IterationTable draws all iterations, a line each, with the trajectory as bars.
func IterationTable(its []ledger.Iteration, selected int, paint document.Paint) []string {
	const width = 20
	out := []string{paint(document.Faint, fmt.Sprintf("%3s  %-10s  %s  %-*s %6s", "#", "class", columnsHead, width, "quality", "score"))}
	for _, it := range its {
		share, tone := 0.0, document.Plain
		if it.Score.Measured {
			share = it.Score.Value
		}
		note := ""
		switch {
		case it.Number == selected:
			tone, note = document.Good, " ← selected"
		case it.Interrupted:
			note = " interrupted"
		case it.Rejected:
			tone, note = document.Bad, " rejected"
		}
		out = append(out, fmt.Sprintf("%3d  %-10s  %s  %s %6s%s", it.Number, className(it), columns(it.Set),
			paint(tone, document.RenderMeter(share, width)), quality(it), paint(tone, note)))
	}
	return out
}
