package cleanroom

import (
	"slices"
	"testing"

	"supervise/metric"
)

func TestLintGoals(t *testing.T) {
	find := func(list ...string) *metric.Lint {
		out := &metric.Lint{}
		for _, rule := range list {
			out.Findings = append(out.Findings, metric.Finding{Tool: "ruff", Rule: rule, File: "a.py", Level: metric.Error})
		}
		return out
	}
	for _, tt := range []struct {
		before, now *metric.Lint
		want        []LintGoal
	}{
		{nil, find(), nil},
		{find("F1"), nil, nil},
		{find("F1"), find("F1", "F2"), nil},
		{find("F1", "F2"), find("F2", "F3"), nil}, // not fewer
		{find("F1", "F2", "F1"), find("F1", "F3"), []LintGoal{{"ruff", "F1", "a.py", false, 2, 1}, {"ruff", "F2", "a.py", false, 1, 0}}},
	} {
		if got := LintGoals(tt.before, tt.now); !slices.Equal(got, tt.want) {
			t.Errorf("%+v", got)
		}
	}
}
