package detector_test

import (
	"strings"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// hiddenInput is an iteration after which tests that failed pass, with hidden tests
// that ended so; those that passed before are named.
func hiddenInput(now []metric.Test, passed ...string) detector.Input {
	was := metric.Set{Tests: suite(metric.Test{ID: metric.ID{Name: "TestA"}, Status: metric.Failed})}
	in := step(was, metric.Set{Tests: suite(metric.Test{ID: metric.ID{Name: "TestA"}, Status: metric.Passed})})
	in.Hidden = &detector.Hidden{Passed: map[metric.ID]bool{}}
	if now != nil {
		in.Hidden.Tests = suite(now...)
	}
	for _, name := range passed {
		in.Hidden.Passed[metric.ID{Name: name}] = true
	}
	return in
}

func hiddenTest(name string, s metric.Status) metric.Test {
	return metric.Test{ID: metric.ID{Name: name}, Status: s}
}

func TestHiddenTests(t *testing.T) {
	const secret = "TestSecret"
	visiblyFailing := hiddenInput([]metric.Test{hiddenTest(secret, metric.Failed)})
	visiblyFailing.Current.Set = metric.Set{Tests: suite(passing("TestA")[0], hiddenTest("TestB", metric.Failed))}
	sealed, sealedVisible := hiddenInput([]metric.Test{hiddenTest(secret, metric.Failed)}), visiblyFailing
	sealed.Hidden.Sealed, sealed.Previous = true, sealed.Current
	also := *visiblyFailing.Hidden
	also.Sealed = true
	sealedVisible.Hidden = &also
	noProgress := hiddenInput([]metric.Test{hiddenTest(secret, metric.Failed)})
	noProgress.Previous.Set, noProgress.Baseline.Set, noProgress.History[0].Set = noProgress.Current.Set, noProgress.Current.Set, noProgress.Current.Set
	for _, tt := range []struct {
		name string
		in   detector.Input
		want string // severity and rule; "" for nothing
	}{
		{"all pass", hiddenInput([]metric.Test{hiddenTest(secret, metric.Passed)}, secret), ""},
		{"one that passed fails", hiddenInput([]metric.Test{hiddenTest(secret, metric.Failed)}, secret), "CRITICAL hidden_tests_failing"},
		{"one that passed is not run", hiddenInput([]metric.Test{hiddenTest(secret, metric.NotRun)}, secret), "HIGH hidden_tests_failing"},
		{"one that passed is gone", hiddenInput([]metric.Test{hiddenTest("TestOther", metric.Passed)}, secret), "HIGH hidden_tests_failing"},
		{"nothing could be read", hiddenInput(nil, secret), "HIGH hidden_tests_failing"},
		{"one that never passed fails, all visible pass", hiddenInput([]metric.Test{hiddenTest(secret, metric.Failed)}), "HIGH tamper:hidden_test_failing"},
		{"a sealed one fails, all visible pass", sealed, "HIGH sealed_failed"},
		{"a visible one fails as well as a sealed one", sealedVisible, ""},
		{"a visible one fails as well", visiblyFailing, ""},
		{"no visible one was fixed", noProgress, ""},
		{"skipped", hiddenInput([]metric.Test{hiddenTest(secret, metric.Skipped)}, secret), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range detector.Assess(tt.in, detector.Options{}).Alerts {
				if !a.IsAboutHiddenTests() {
					continue
				}
				got = append(got, a.Severity.String()+" "+a.Rule)
				if strings.Contains(a.Message(), secret) {
					t.Errorf("the message names the test: %s", a.Message())
				}
				if len(a.Tests) != 1 || a.Tests[0].Name != secret {
					t.Errorf("the alert is about %v, want %s", a.Tests, secret)
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%v, want %q", got, tt.want)
			}
		})
	}
}
