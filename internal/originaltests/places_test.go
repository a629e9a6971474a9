package originaltests

import (
	"strings"
	"testing"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/metric"
)

// A changed file that tests depend on is cleared by these tests alone, where each of them
// passes with the file as it was.
func TestPlacesThatTestsLeanOn(t *testing.T) {
	reads := func(name, file string) string {
		return "package shop\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc " + name + "(t *testing.T) {\n\twant, _ := os.ReadFile(\"spec/" + file + "\")\n\tif got := fmt.Sprintln(Half(8)); got != string(want) {\n\t\tt.Errorf(\"got %s\", got)\n\t}\n}\n"
	}
	ended := func(half, other metric.Status) metric.Set {
		suite := "example.com/shop"
		return metric.Set{Tests: metric.NewTests([]metric.Test{{ID: metric.ID{Suite: suite, Name: "TestHalf"}, Status: half}, {ID: metric.ID{Suite: suite, Name: "TestOther"}, Status: other}})}
	}
	const failed, passed = metric.Failed, metric.Passed
	for _, tt := range []struct {
		name     string
		code     string
		before   metric.Set
		now      metric.Set
		held     int
		why      string
		expected string // what is in the file, in place of 4
	}{
		{"the code was mended", shopRight, ended(failed, passed), ended(passed, passed), 1, "", "04\n"},
		{"the file was adapted", "package shop\n\nfunc Half(n int) int { return n + 0 }\n", ended(failed, passed), ended(passed, passed), 0, "the original test fails on the new code", "8\n"},
		{"its test fails in any case", shopRight, ended(failed, passed), ended(failed, passed), 0, "no test is known", "04\n"},
		{"its test was skipped", shopRight, ended(metric.Skipped, passed), ended(passed, passed), 0, "no test is known", "04\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := goShop(shopBroken, reads("TestHalf", "half.txt"))
			start["other_test.go"], start["spec/half.txt"] = "package shop\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n", "4\n"
			w := newTrialWorld(t, start, goCheck(t))
			out, _ := w.trySets(tt.before, tt.now, files{"shop.go": tt.code, "spec/half.txt": tt.expected})
			if len(out.Dependencies) != 1 || out.Dependencies[0].File != "spec/half.txt" || out.Dependencies[0].Passed != tt.held || !strings.Contains(out.Dependencies[0].Why, tt.why) {
				t.Errorf("%+v, want %d held, %q", out.Dependencies, tt.held, tt.why)
			}
		})
	}
}

// What a flaky test depends on alone is proven by nothing; where all tests depend on a file,
// the others are enough.
func TestFlakyTestsOfAPlace(t *testing.T) {
	id := func(name string) metric.ID { return metric.ID{Suite: "pytest", Class: "test_a", Name: name} }
	r := &trialRun{verdicts: map[metric.ID]verdict{id("test_two"): {outcome: detector.Passed}}}
	r.BaseTests = metric.NewTests([]metric.Test{{ID: id("test_one"), Status: metric.Passed, Flaky: true}, {ID: id("test_two"), Status: metric.Passed}})
	r.CurrentTests = r.BaseTests
	base := evidence.TestDependencies{"test_a.py": []byte("import helper\n\n\ndef test_one():\n    assert helper\n\n\ndef test_two():\n    assert helper\n")}
	if got := r.dependencyResult(t.Context(), "tests/helper.py", base); got.Passed != 0 || !strings.Contains(got.Why, "test_one") {
		t.Errorf("one of two is flaky: %+v", got)
	}
	if got := r.dependencyResult(t.Context(), "pytest.ini", base); got.Passed != 1 || got.Why != "" {
		t.Errorf("all lean on it: %+v", got)
	}
}
