package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"supervise/integrity"
	"supervise/snapshot"
)

// BenchmarkEvidence reads and judges a change of 200 files: what an iteration costs
// in addition to its agent and its checks, but for reading the files. Half of them are
// tests; each is about 8 KB before and after. The aim is less than 200 ms at the
// 95th percentile on two quiet cores, which is printed as well.
func BenchmarkEvidence(b *testing.B) {
	var changes []snapshot.Change
	texts := map[string][2][]byte{}
	for i := range 100 {
		for _, name := range []string{fmt.Sprintf("pkg%d/shop.py", i), fmt.Sprintf("tests/test_shop%d.py", i)} {
			before := benchmarkFile(i, strings.HasPrefix(name, "tests/"))
			after := strings.Replace(before, "== 7", "== 8", 1) + "\n\ndef last_added():\n    return None\n"
			texts[name] = [2][]byte{[]byte(before), []byte(after)}
			changes = append(changes, snapshot.Change{Path: name, Kind: snapshot.Modified})
		}
	}
	read := func(path string, after bool) ([]byte, error) {
		if after {
			return texts[path][1], nil
		}
		return texts[path][0], nil
	}
	var times []time.Duration
	for b.Loop() {
		began := time.Now()
		e, err := Collect(changes, integrity.Options{}, read)
		if err != nil || len(e.Tampering) == 0 {
			b.Fatalf("found %d, %v", len(e.Tampering), err)
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
