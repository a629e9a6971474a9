package mutantrun

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"supervise/internal/measure"
	"supervise/internal/mutation"
	"supervise/metric"
	"supervise/test/tools"
)

// benchmark runs 30 mutants of a file with 30 functions and 100 tests, which take 1 s together, one
// at a time and all at once. It reports seconds of both, and their ratio.
func benchmark(b *testing.B, files map[string]string, check measure.Check, mutated string) {
	b.Helper()
	var mutants []Mutant
	for _, m := range mutation.Sample(mutation.MutantsOf(mutated, []byte(files[mutated])), 30) {
		mutants = append(mutants, Mutant{Mutant: m, Source: []byte(files[mutated])})
	}
	took := map[bool]time.Duration{}
	for b.Loop() {
		for _, one := range []bool{true, false} {
			withRunner(b, files, check, Options{OneAtATime: one, FirstKiller: true}, func(r *Runner, tests []metric.Test) {
				control, err := r.Control(b.Context(), tests)
				if err != nil || len(control.Passing) != 100 {
					b.Fatalf("%v, %+v", err, control)
				}
				started := time.Now()
				if _, err := r.Load(b.Context(), mutants); err != nil {
					b.Fatal(err)
				}
				killed := 0
				for _, m := range mutants {
					result, err := r.Run(b.Context(), m, tests)
					if err != nil {
						b.Fatal(err)
					}
					if result.IsKilledBy(tests) {
						killed++
					}
				}
				if took[one] += time.Since(started); killed < 20 {
					b.Fatalf("%d of %d mutants are killed", killed, len(mutants))
				}
			})
		}
	}
	b.ReportMetric(took[true].Seconds()/float64(b.N), "one-s/op")
	b.ReportMetric(took[false].Seconds()/float64(b.N), "all-s/op")
	b.ReportMetric(took[true].Seconds()/took[false].Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// repeat returns texts for numbers from 0, joined.
func repeat(n int, text func(i int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(text(i))
	}
	return out.String()
}

func BenchmarkGo(b *testing.B) {
	tools.Need(b, "go")
	files := map[string]string{
		"go.mod": "module example.com/many\n\ngo 1.21\n",
		"many.go": "package many\n" + repeat(30, func(i int) string {
			return fmt.Sprintf("\nfunc F%d(n int) int {\n\tif n > %[1]d {\n\t\treturn n * 2\n\t}\n\treturn n + 3\n}\n", i)
		}),
		"many_test.go": "package many\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc spin() {\n\tfor began := time.Now(); time.Since(began) < 10*time.Millisecond; {\n\t}\n}\n" + repeat(100, func(i int) string {
			return fmt.Sprintf("\nfunc TestF%d(t *testing.T) {\n\tspin()\n\tif F%d(%[2]d) != %[3]d || F%[2]d(%[4]d) != %[5]d {\n\t\tt.Fail()\n\t}\n}\n", i, i%30, i%30+3, i%30+1, 2*(i%30+1))
		}),
	}
	check := measure.Check{Kind: measure.Test, Name: "go test", Runner: "go", Command: []string{"go", "test", "-json", "./..."}}
	benchmark(b, files, check, "many.go")
}

func BenchmarkPytest(b *testing.B) {
	tools.Need(b, "python3 -m pytest")
	files := map[string]string{
		"many.py": repeat(30, func(i int) string {
			return fmt.Sprintf("def f%d(n):\n    if n > %[1]d:\n        return n * 2\n    return n + 3\n\n\n", i)
		}),
		"test_many.py": "import time\n\nimport many\n\n\ndef spin():\n    began = time.monotonic()\n    while time.monotonic() - began < 0.01:\n        pass\n" + repeat(100, func(i int) string {
			return fmt.Sprintf("\n\ndef test_f%d():\n    spin()\n    assert many.f%d(%[2]d) == %[3]d and many.f%[2]d(%[4]d) == %[5]d\n", i, i%30, i%30+3, i%30+1, 2*(i%30+1))
		}),
	}
	check := measure.Check{
		Kind: measure.Test, Name: "pytest", Runner: "pytest", Command: []string{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml", "-o", "junit_family=xunit1"}, Reports: []string{"report.xml"},
	}
	benchmark(b, files, check, "many.py")
}
