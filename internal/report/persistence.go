package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"supervise/detector"
	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/metric"
)

// regressionDrop is how far a score, in [0,1], may be below the best one before it. An iteration
// below that counts as a regression. It is the limit at which a loop would roll it back.
const regressionDrop = .1

// QualityChart returns the text of a bar chart of the scores. It marks the best iteration, whose
// number is selected (negative for none), and the regressions.
func QualityChart(its []ledger.Iteration, selected int, paint document.Paint) string {
	out := []string{paint(document.Strong, "Quality Trajectory:")}
	best, lost := math.Inf(-1), false
	for _, it := range its {
		q := it.Quality()
		if it.Number == 0 && (q == nil || it.Set.IsEmpty()) {
			continue
		}
		name := barName(it.Number)
		if q == nil {
			out = append(out, name+": "+notMeasuredText)
			continue
		}

		tone, mark := document.Plain, ""
		switch {
		case it.Number == selected:
			tone, mark = document.Good, " ⬅ BEST"
		case isRegression(it), *q < best-regressionDrop && !lost:
			tone, mark = document.Bad, " ⬅ REGRESSION"
		}
		if it.Number > 0 {
			lost = *q < best-regressionDrop
			best = max(best, *q)
		}
		out = append(out, paint(tone, fmt.Sprintf("%s: %s%% %s%s", name, FormatNumber(math.Round(1000**q)/10), strings.Repeat("░", int(20**q+1e-9)), mark)))
	}
	return strings.Join(out, "\n")
}

// isRegression reports whether an iteration was rejected or judged to be a regression.
func isRegression(it ledger.Iteration) bool {
	return it.Number > 0 && (it.Rejected || it.Assessment.Class == detector.Regression)
}

// RegressionText describes the regressions of a loop and what was done about each.
func RegressionText(s ledger.State, paint document.Paint) string {
	out := []string{paint(document.Strong, "Regression Events:")}
	for _, r := range s.Regressions {
		out = append(out, paint(document.Bad, fmt.Sprintf("[%s] Iteration %d - %s (%s)", r.ID, r.Iteration, r.Type, r.Severity)), "  - "+r.Message)
		if len(r.Tests) > 0 {
			out = append(out, "  - Tests: "+strings.Join(Truncate(r.Tests, 10), ", "))
		}
		if r.Outcome != "" {
			out = append(out, "  - Recovery: "+r.Outcome)
		}
		if r.RejectedSnapshot != "" {
			out = append(out, "  - The rejected tree is kept as s"+strings.TrimPrefix(r.RejectedSnapshot, "s"))
		}
	}

	if len(s.Regressions) == 0 {
		out = append(out, "none")
	}
	return strings.Join(out, "\n")
}

// PersistenceText summarizes the state of a loop. falsePositives is the share of
// findings that users marked as false, in [0,1], nil if there were no findings.
func PersistenceText(s ledger.State, its []ledger.Iteration, falsePositives *float64, paint document.Paint) string {
	out := []string{paint(document.Strong, "Persistence Metrics:")}
	add := func(name, text string) { out = append(out, name+": "+text) }
	if len(its) > 0 {
		add("Baseline Metrics", MetricsSummary(its[0].Set))
		add("Current Metrics", MetricsSummary(its[len(its)-1].Set))
	}
	add("Regression Events", regressionCounts(s.Regressions))
	add("Reinforcement Level", cmp.Or(s.Level, "none yet"))
	add("Recovery Attempts", fmt.Sprint(s.RecoveryAttempts))
	if best := s.SelectedOrBest(); best != nil {
		add("Best Iteration", fmt.Sprintf("%d (quality: %s)", best.Iteration, shareText(qualityOf(its, best.Iteration))))
	}
	if n := len(its) - 1; n > 0 {
		add("Current Iteration", fmt.Sprintf("%d (quality: %s)", its[n].Number, shareText(its[n].Quality())))
	}
	add("False Positive Rate", Either(falsePositives == nil, "no findings", shareText(falsePositives)))
	return strings.Join(out, "\n")
}

// qualityOf returns the score of iteration n, nil if it is unknown.
func qualityOf(its []ledger.Iteration, n int) *float64 {
	return cmp.Or(findIteration(its, n), &ledger.Iteration{}).Quality()
}

// shareText formats a share in [0,1] as a percentage.
func shareText(v *float64) string {
	if v == nil {
		return notMeasuredText
	}
	return FormatNumber(math.Round(1000**v)/10) + "%"
}

// MetricsSummary returns the main metrics in one line, as in "12 tests, 1 failed, 81.5% coverage".
func MetricsSummary(s metric.Set) string {
	var parts []string
	for _, f := range []struct {
		field     metric.Field
		one, many string
	}{{metric.TestCount, " test", " tests"}, {metric.TestsFailed, " failed", " failed"}, {metric.CoveragePct, "% coverage", "% coverage"}, {metric.TypeErrors, " type error", " type errors"}, {metric.LintErrors, " lint error", " lint errors"}, {metric.LintWarnings, " lint warning", " lint warnings"}} {
		v, ok := s.Value(f.field)
		if ok {
			parts = append(parts, FormatNumber(math.Round(10*v)/10)+Either(v == 1, f.one, f.many))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing measured")
}

// regressionCounts counts the regressions by severity and type, as in "1 (critical:
// test_deletion)".
func regressionCounts(list []ledger.Regression) string {
	count := map[string]int{}
	var order []string
	for _, r := range list {
		key := strings.ToLower(r.Severity) + ": " + r.Type
		if count[key] == 0 {
			order = append(order, key)
		}
		count[key]++
	}
	if len(order) == 0 {
		return "0"
	}
	for i, key := range order {
		if count[key] > 1 {
			order[i] = fmt.Sprintf("%s ×%d", key, count[key])
		}
	}
	return fmt.Sprintf("%d (%s)", len(list), strings.Join(order, ", "))
}
