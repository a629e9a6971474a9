package detector_test

import (
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// A finding about what tests depend on is settled by these tests, run with it as it was.
func TestFindingsAboutPlaces(t *testing.T) {
	const crit, high, medium, info = detector.Critical, detector.High, detector.Medium, detector.Info
	for _, tt := range []struct {
		name, pattern, file, test string
		severity                  detector.Severity
		held                      int
		want                      detector.Severity
		on                        detector.Basis
	}{
		{"expected output", "TP-16", "spec/golden.txt", "", high, 2, info, detector.Executed},
		{"its tests were not run", "TP-16", "spec/golden.txt", "", high, 0, high, detector.Text},
		{"of another file", "TP-16", "spec/other.txt", "", high, 2, high, detector.Text},
		{"a transform", "TP-21", "spec/golden.txt", "", high, 2, info, detector.Executed},
		{"a hook that forces the outcome", "TP-21", "spec/golden.txt", "", crit, 2, crit, detector.Text},
		{"a helper that checks less", "TP-10", "spec/golden.txt", "same", high, 2, medium, detector.Text},
		{"a helper that checks nothing", "TP-10", "spec/golden.txt", "", crit, 2, high, detector.Text},
		{"fewer tests are looked for", "TP-26", "spec/golden.txt", "", high, 2, high, detector.Text},
		{"a test that is separate", "TP-11", "shop/parse_test.go", "TestParse", high, 2, high, detector.Text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := goalCase{"TP-11", metric.Passed, metric.Passed, "", false, false}.input()
			in.Tampering = []detector.Tampering{{Pattern: tt.pattern, Type: "found", Severity: tt.severity, File: tt.file, Test: tt.test}}
			in.Dependencies = []detector.DependencyResult{{File: "spec/golden.txt", Passed: tt.held}, {File: "shop/parse_test.go", Passed: 1}}
			a, ok := alertOf(detector.Assess(in, detector.Options{Mode: detector.ModeAggressive}), "tamper:found")
			if !ok || a.Severity != tt.want || a.Basis != tt.on {
				t.Fatalf("%v by %s, want %v by %s", a.Severity, a.Basis, tt.want, tt.on)
			}
			if says := strings.HasSuffix(a.Message(), "; with the original file, the 2 tests that depend on it pass on the new code"); says != (tt.held > 0 && tt.file == "spec/golden.txt" && tt.pattern != "TP-26") {
				t.Errorf("it says %q", a.Message())
			}
		})
	}
}
