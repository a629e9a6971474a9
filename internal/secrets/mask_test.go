package secrets

import (
	"strings"
	"testing"

	"supervise/internal/ledger"
	"supervise/metric"
)

// What is masked is a copy: the set and the runs that were given stay as they are.
func TestMaskingLeavesItsArgumentsAlone(t *testing.T) {
	const secret = "hunter22hunter22"
	m := NewMask([]string{"API_TOKEN=" + secret})
	set := metric.Set{
		Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Name: "a"}, Message: secret}}),
		Lint:  &metric.Lint{Findings: []metric.Finding{{Message: secret}}}, Gaps: []metric.Gap{{Why: secret}},
	}
	runs := []ledger.CheckRun{{Output: secret, Problems: []string{secret}}}
	masked, printed := m.Set(set), m.Checks(runs)
	for _, text := range []string{masked.Tests.Cases[0].Message, masked.Lint.Findings[0].Message, masked.Gaps[0].Why, printed[0].Output, printed[0].Problems[0]} {
		if strings.Contains(text, secret) {
			t.Errorf("not masked: %s", text)
		}
	}
	for _, text := range []string{set.Tests.Cases[0].Message, set.Lint.Findings[0].Message, set.Gaps[0].Why, runs[0].Output, runs[0].Problems[0]} {
		if text != secret {
			t.Errorf("an argument was changed: %s", text)
		}
	}
}
