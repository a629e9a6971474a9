package metric_test

import (
	"testing"

	"supervise/metric"
)

func TestLineSets(t *testing.T) {
	for _, tt := range []struct {
		a, b, both, without metric.LineSet
		count               int64
	}{
		{"", "", "", "", 0},
		{"3-7,9", "", "3-7,9", "3-7,9", 6},
		{"3-7,9", "3-7,9", "3-7,9", "", 6},
		{"3-7,9", "5,8", "3-9", "3-4,6-7,9", 6},
		{"1", "2-3", "1-3", "1", 1},
		{"2-4,nonsense,1", "4", "1-4", "1-3", 4},
	} {
		if got := tt.a.Plus(tt.b); tt.b != "" && got != tt.both {
			t.Errorf("%q plus %q is %q, want %q", tt.a, tt.b, got, tt.both)
		}
		if got := tt.a.Minus(tt.b); got != tt.without {
			t.Errorf("%q minus %q is %q, want %q", tt.a, tt.b, got, tt.without)
		}
		if got := tt.a.Count(); got != tt.count {
			t.Errorf("%q has %d lines, want %d", tt.a, got, tt.count)
		}
	}
}
