package integrity

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkAudit judges a change of 200 files, half of them tests, each about 8 KB
// before and after. The aim is less than 200 ms at the 95th percentile on two idle
// cores, which is printed as well.
func BenchmarkAudit(b *testing.B) {
	var files []File
	for i := range 100 {
		for _, name := range []string{fmt.Sprintf("pkg%d/shop.py", i), fmt.Sprintf("tests/test_shop%d.py", i)} {
			before := benchmarkFile(i, strings.HasPrefix(name, "tests/"))
			after := strings.Replace(before, "== 7", "== 8", 1) + "\n\ndef last_added():\n    return None\n"
			files = append(files, File{Path: name, Before: []byte(before), After: []byte(after)})
		}
	}
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		if len(Audit(files, Options{})) == 0 {
			b.Fatal("found nothing")
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[(len(times)*95+99)/100-1].Microseconds())/1000, "p95-ms")
}

func benchmarkFile(seed int, tests bool) string {
	var out strings.Builder
	out.WriteString("import shop\n")
	for n := range 40 {
		if tests {
			fmt.Fprintf(&out, "\n\ndef test_total_%d():\n    # of cents\n    got = shop.total_%d(%d, \"item %d\")\n    assert got == %d\n    assert str(got) != \"none\"\n", n, n, n, seed, n)
			continue
		}
		fmt.Fprintf(&out, "\n\ndef total_%d(cents, name):\n    \"\"\"Adds up.\"\"\"\n    if cents < 0:\n        raise ValueError(name)\n    return cents * %d + len(name)  # rounded\n", n, seed+n)
	}
	return out.String()
}
