package judge

import (
	"slices"
	"testing"

	"supervise/internal/ledger"
	"supervise/metric"
)

// TestDifferencesByTest: the same totals are not the same results.
func TestDifferencesByTest(t *testing.T) {
	set := func(status ...metric.Status) metric.Set {
		var list []metric.Test
		for i, s := range status {
			if s != 0 {
				list = append(list, metric.Test{ID: metric.ID{Suite: "m", Name: string(rune('A' + i))}, Status: s})
			}
		}
		return metric.Set{Tests: metric.NewTests(list)}
	}
	const pass, skip, fail, errored = metric.Passed, metric.Skipped, metric.Failed, metric.Errored
	for _, tt := range []struct {
		name      string
		old, now  metric.Set
		flaky     string
		variation metric.Delta
		want      []string
	}{
		{"the same", set(pass, fail, skip), set(pass, errored, skip), "", nil, []string{}},
		{"the other one passes", set(pass, fail), set(fail, pass), "", nil, []string{"m: A passed and now fails", "m: B failed and now passes"}},
		{"which are flaky", set(pass, fail), set(fail, pass), "AB", nil, []string{}},
		{"one is flaky", set(pass, fail), set(fail, pass), "B", nil, []string{"m: A passed and now fails"}},
		{"the other one is there", set(pass, 0), set(0, pass), "", nil, []string{"m: A passed and now is absent", "m: B was absent and now passes"}},
		{"the number varies", set(pass, 0), set(pass, pass), "", metric.Delta{metric.TestCount: 1}, []string{}},
		{"skips vary", set(pass, skip), set(skip, pass), "", metric.Delta{metric.TestsSkipped: 1}, []string{"m: A passed and now is skipped", "m: B was skipped and now passes"}},
		{"many", set(pass, pass, pass, pass, pass, pass, pass), set(fail, fail, fail, fail, fail, fail, fail), "ABC", nil, []string{
			"m: D passed and now fails", "m: E passed and now fails", "m: F passed and now fails", "m: G passed and now fails",
		}},
		{"no tests", metric.Set{}, set(pass), "", nil, []string{"tests were measured once only"}},
	} {
		h := NewHistory()
		h.Iterations = []ledger.Iteration{{Set: metric.Set{Variation: tt.variation}}}
		for _, name := range tt.flaky {
			h.Flaky[metric.ID{Suite: "m", Name: string(name)}] = true
		}
		if got := h.differences(tt.old, tt.now); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
