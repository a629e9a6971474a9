package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/internal/record"
)

// named is an IterationComplete with the names of its tests.
func named(n, tests, failing int) string {
	var list []string
	for i := range tests {
		status := "passed"
		if i < failing {
			status = "failed"
		}
		list = append(list, fmt.Sprintf(`{"suite": "example.org/project/pkg%02d", "name": "TestNumber%04d", "status": %q}`, i%20, i, status))
	}
	return fmt.Sprintf(`{"type": "IterationComplete", "loop_id": "l", "iteration": %d, "testing": {"tests": [%s], "coverage_percentage": %v}, "quality": {"lint_errors": 0}}`,
		n, strings.Join(list, ", "), 80+float64(n%7)/10)
}

// BenchmarkRecord is what taking in one iteration of a hundred tests costs when so
// many stand before it: the whole of a record, with everything that it writes and
// syncs. It reads the iterations before it, and so grows with their number.
func BenchmarkRecord(b *testing.B) {
	const tests = 100
	for _, before := range []int{10, 100} {
		b.Run(fmt.Sprintf("after-%d", before), func(b *testing.B) {
			p := place(b)
			n := 0
			record := func() time.Duration {
				start := time.Now()
				if _, err := record.Record(b.Context(), p, message(b, named(n, tests, n%3))); err != nil {
					b.Fatal(err)
				}
				n++
				return time.Since(start)
			}
			for n < before {
				record()
			}
			var took []time.Duration
			for b.Loop() {
				took = append(took, record())
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
		})
	}
}
