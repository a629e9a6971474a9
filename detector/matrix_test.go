package detector_test

import (
	"slices"
	"testing"

	"supervise/detector"
	"supervise/metric"
)

// situations are the honest changes of tests by their names in the table of losses.
var situations = map[string]string{
	"renamed": "renamed", "moved": "moved to another package", "file moved": "its file moved",
	"merged three into one": "three merged into one", "parametrised": "a row renamed",
}

// ending is the situation with its new tests ending in another way.
func ending(t *testing.T, situation string, s metric.Status) detector.Input {
	t.Helper()
	i := slices.IndexFunc(losses, func(l losing) bool { return l.name == situations[situation] })
	if i < 0 {
		t.Fatalf("there is no loss %q", situations[situation])
	}
	l := losses[i]
	l.is = slices.Clone(l.is)
	for k, c := range l.is {
		if !slices.ContainsFunc(l.was, func(old metric.Test) bool { return old.ID == c.ID }) {
			l.is[k].Status = s
		}
	}
	return l.input(t)
}

// The rules about tests let an honest change pass, and nothing hides behind it.
func TestOnlyDishonestLossesFire(t *testing.T) {
	about := []string{"test_count_decreased", "working_tests_failing", "tests_replaced", "tests_newly_skipped"}
	for situation := range situations {
		for status, rule := range map[metric.Status]string{
			metric.Passed: "", metric.Failed: "working_tests_failing", metric.Skipped: "tests_newly_skipped",
		} {
			t.Run(situation+", "+status.String(), func(t *testing.T) {
				in := ending(t, situation, status)
				a := detector.Assess(in, detector.DefaultOptions())
				for _, name := range about {
					if alert, ok := alertOf(a, name); ok != (name == rule) {
						t.Errorf("%s fired: %v %+v", name, ok, alert)
					}
				}
				if status != metric.Failed {
					return
				}
				for _, c := range in.Current.Set.Tests.Cases { // chance, then
					if c.Failed() {
						in.Flaky = append(in.Flaky, c.ID)
					}
				}
				want(t, detector.Assess(in, detector.DefaultOptions()), flakyOfNew(in)...)
			})
		}
	}
}

// flakyOfNew is the alert about new tests that failed and then passed: their file was
// changed where its source is known.
func flakyOfNew(in detector.Input) []string {
	if len(in.After) > 0 {
		return []string{"HIGH flaky_test"}
	}
	return []string{"MEDIUM flaky_test"}
}

// A suite that could not be built is no deletion, no skip and no exchange.
func TestASuiteThatDidNotBuildIsNoDeletion(t *testing.T) {
	for situation := range situations {
		in := ending(t, situation, metric.Passed)
		broken := &metric.Tests{Broken: []metric.Suite{}}
		for _, c := range in.Previous.Set.Tests.Cases {
			if !slices.ContainsFunc(broken.Broken, func(s metric.Suite) bool { return s.Name == c.Suite }) {
				broken.Broken = append(broken.Broken, metric.Suite{Name: c.Suite, Why: "build failed"})
			}
		}
		in.Current.Set.Tests = broken.WithNotRun(in.Previous.Set.Tests)
		a := detector.Assess(in, detector.DefaultOptions())
		want(t, a, "CRITICAL working_tests_failing")
		if len(a.Changes.Gone) > 0 || len(a.Changes.NotRun) != len(in.Previous.Set.Tests.Cases) {
			t.Errorf("%s: gone %v, not run %v", situation, a.Changes.Gone, a.Changes.NotRun)
		}
	}
}
