package judge

import (
	"fmt"
	"testing"

	"supervise/internal/ledger"
	"supervise/metric"
)

// tested is an iteration whose tests passed (.) or failed (F), by their letters.
func tested(n int, text string) ledger.Iteration {
	t := &metric.Tests{}
	for i, c := range text {
		test := metric.Test{ID: metric.ID{Suite: "s", Name: string(rune('a' + i))}, Status: metric.Passed}
		if c == 'F' {
			test.Status = metric.Failed
		}
		t.Cases = append(t.Cases, test)
	}
	return ledger.Iteration{Number: n, Set: metric.Set{Tests: t}}
}

// Tests that fail throughout, or go back and forth, are found in the latest iterations.
func TestRecoveryEvidenceFromHistory(t *testing.T) {
	for _, tt := range []struct {
		name            string
		history         []string // the baseline first
		flaky           string
		same, backForth string
	}{
		{"the first iterations", []string{"FF", "FF", "FF"}, "", "[]", "[]"},
		{"three of them", []string{"..", "FF", "F.", "FF"}, "", "[s: a]", "[]"},
		{"mended at last", []string{"F", "F", "F", "F", "."}, "", "[]", "[]"},
		{"back and forth", []string{"F", ".", "F", ".", "F"}, "", "[]", "[s: a]"},
		{"flaky", []string{"F", ".", "F", ".", "F"}, "a", "[]", "[]"},
		{"long ago", []string{"F", ".", "F", ".", ".", ".", ".", ".", "."}, "", "[]", "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := NewHistory()
			h.Flaky[metric.ID{Suite: "s", Name: tt.flaky}] = true
			for n, text := range tt.history {
				h.Iterations = append(h.Iterations, tested(n, text))
			}
			last := h.Iterations[len(h.Iterations)-1]
			h.Iterations = h.Iterations[:len(h.Iterations)-1]
			e := h.recoveryCase(last).Evidence
			if same, flips := fmt.Sprint(e.SameFailing), fmt.Sprint(e.Flipping); same != tt.same || flips != tt.backForth {
				t.Errorf("fail throughout: %s, go back and forth: %s, want %s and %s", same, flips, tt.same, tt.backForth)
			}
		})
	}
}
