package report

import (
	"slices"
	"strings"
	"testing"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/selector"
)

func TestQuality(t *testing.T) {
	var its []ledger.Iteration
	for n, v := range []float64{.60, .85, .83, .81, .79, .77, .70} {
		its = append(its, ledger.Iteration{Number: n + 1, Score: selector.Score{Value: v, Measured: true}})
	}
	want := []string{
		"Quality Trajectory:",
		"Iteration 1: 60% ░░░░░░░░░░░░",
		"Iteration 2: 85% ░░░░░░░░░░░░░░░░░ ⬅ BEST",
		"Iteration 3: 83% ░░░░░░░░░░░░░░░░",
		"Iteration 4: 81% ░░░░░░░░░░░░░░░░",
		"Iteration 5: 79% ░░░░░░░░░░░░░░░",
		"Iteration 6: 77% ░░░░░░░░░░░░░░░",
		"Iteration 7: 70% ░░░░░░░░░░░░░░ ⬅ REGRESSION",
	}
	if got := strings.Split(QualityChart(its, 2, document.NoPaint), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
