package parsers_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/metric"
	"supervise/parsers"
)

// numbers is what the reports of one run should agree on.
type numbers struct{ count, passed, failed, skipped, flaky, broken int }

// plus returns the sums of both.
func (v numbers) plus(o numbers) numbers {
	return numbers{v.count + o.count, v.passed + o.passed, v.failed + o.failed, v.skipped + o.skipped, v.flaky + o.flaky, v.broken + o.broken}
}

// sameRuns are runs of one tool with several of its reporters at once. Each
// report must say the same as the first one, or differ by what is listed, for
// the reason that is listed.
var sameRuns = []struct {
	reports string // patterns of files below testdata/tests/samerun
	want    numbers
	differs map[string]difference
}{
	{"allure/pytest.xml allure/results.json", numbers{10, 4, 4, 2, 0, 0}, nil},
	{"bats/bats.junit.xml bats/bats.tap", numbers{7, 3, 2, 2, 0, 1}, map[string]difference{
		"bats/bats.tap": {numbers{broken: 1}, "a set-up that failed is written, and fewer points than planned"},
	}},
	{"behave/behave.json behave/TESTS-*.xml", numbers{12, 3, 6, 3, 0, 0}, nil},
	{"boost/log.xml boost/report.xml boost/junit.xml", numbers{15, 6, 7, 2, 0, 0}, map[string]difference{
		"boost/report.xml": {numbers{count: -1, passed: 1, failed: -1, skipped: -1}, "it has no disabled test, and knows that a failure was expected"},
	}},
	{"busted/busted.junit.xml", numbers{7, 3, 2, 2, 0, 1}, nil},
	{"catch2/catch2.xml catch2/catch2.junit.xml", numbers{10, 5, 5, 0, 0, 0}, map[string]difference{
		"catch2/catch2.junit.xml": {numbers{2, 1, 1, 0, 0, 0}, "each section is a case, a case without assertions is none, and a failure that may be is one"},
	}},
	{"ctest/Test.xml ctest/ctest.junit.xml", numbers{12, 4, 6, 2, 0, 0}, nil},
	{"cucumber/cucumber.ndjson cucumber/cucumber.json cucumber/cucumber.junit.xml", numbers{12, 5, 4, 3, 1, 0}, map[string]difference{
		"cucumber/cucumber.json":      {numbers{flaky: -1}, "the JSON holds the last attempt alone"},
		"cucumber/cucumber.junit.xml": {numbers{failed: 2, skipped: -2, flaky: -1}, "undefined and pending are written as failures, and only the last attempt"},
	}},
	{"ginkgo/ginkgo.json ginkgo/ginkgo.junit.xml", numbers{13, 4, 6, 3, 1, 1}, map[string]difference{
		"ginkgo/ginkgo.junit.xml": {numbers{flaky: -1}, "attempts are not written"},
	}},
	{"doctest/doctest.xml doctest/doctest.junit.xml", numbers{13, 7, 5, 1, 0, 0}, map[string]difference{
		"doctest/doctest.junit.xml": {numbers{1, 1, 1, -1, 0, 0}, "each subcase is a case, a skipped test is none, and a failure that may be, or a warning, is one"},
	}},
	{"gotestsum/gotest.jsonl gotestsum/gotestsum.junit.xml gotestsum/go-junit-report.junit.xml", numbers{15, 9, 4, 2, 0, 3}, map[string]difference{
		"gotestsum/gotestsum.junit.xml":       {numbers{broken: -1}, "a panic is the failure of the test that ran"},
		"gotestsum/go-junit-report.junit.xml": {numbers{broken: -1}, "a panic is the failure of the test that ran"},
	}},
	{"gotestsum/rerun.jsonl gotestsum/rerun.junit.xml", numbers{3, 2, 1, 0, 1, 0}, nil},
	{"gtest/gtest.json gtest/gtest.junit.xml", numbers{13, 5, 5, 3, 0, 0}, nil},
	{"jest/jest.json jest/jest.ctrf.json jest/jest.junit.xml", numbers{20, 10, 6, 4, 1, 3}, map[string]difference{
		"jest/jest.ctrf.json": {numbers{broken: -3}, "files that could not be loaded are not written"},
		"jest/jest.junit.xml": {numbers{passed: 1, skipped: -1, flaky: -1, broken: -2}, "neither test.todo, attempts nor files that could not be loaded are written"},
	}},
	{"mocha/mocha.json mocha/mocha.xunit.xml mocha/mocha.junit.xml mocha/mocha.tap", numbers{16, 9, 3, 4, 1, 1}, map[string]difference{
		"mocha/mocha.tap":       {numbers{flaky: -1, broken: 1}, "each hook that failed is written, and attempts are not"},
		"mocha/mocha.xunit.xml": {numbers{flaky: -1}, "attempts are not written"},
		"mocha/mocha.junit.xml": {numbers{count: -4, skipped: -4, flaky: -1}, "mocha-junit-reporter leaves pending tests out, and attempts"},
	}},
	{"nextest/nextest.jsonl nextest/nextest.junit.xml", numbers{15, 8, 4, 3, 1, 0}, map[string]difference{
		"nextest/nextest.junit.xml": {numbers{count: -3, skipped: -3}, "ignored tests are not written"},
	}},
	{"node/node.junit.xml node/node.tap", numbers{20, 9, 6, 5, 0, 1}, nil},
	{"node24/node.junit.xml node24/node.tap", numbers{19, 9, 5, 5, 0, 1}, nil},
	{"playwright/playwright.json playwright/playwright.junit.xml", numbers{20, 10, 7, 3, 1, 0}, map[string]difference{
		"playwright/playwright.junit.xml": {numbers{failed: -1, skipped: 1, flaky: -1}, "a test behind a broken beforeAll is written as skipped, and only the last attempt"},
	}},
	{"pytest/pytest.jsonl pytest/pytest.json pytest/pytest.junit.xml", numbers{22, 9, 8, 5, 1, 1}, map[string]difference{
		"pytest/pytest.junit.xml": {numbers{flaky: -1}, "attempts are not written"},
	}},
	{"qttest/shop.xml qttest/shop.txt qttest/light.xml qttest/junit.xml", numbers{12, 8, 3, 1, 0, 0}, map[string]difference{
		"qttest/junit.xml": {numbers{count: -2, passed: -1, skipped: -1}, "the rows of a function are one case, and a skipped one reads as passed"},
	}},
	{"robot/robot.xml robot/robot.xunit.xml", numbers{13, 4, 7, 2, 0, 1}, map[string]difference{
		"robot/robot.xunit.xml": {numbers{broken: -1}, "the set up of a suite is not written"},
	}},
	{"rspec/rspec.json rspec/rspec.junit.xml", numbers{20, 8, 8, 4, 0, 1}, map[string]difference{
		"rspec/rspec.junit.xml": {numbers{broken: -1}, "errors outside of examples are not written"},
	}},
	{"vitest/vitest.json vitest/vitest.junit.xml vitest/vitest.tap", numbers{20, 9, 5, 6, 1, 3}, map[string]difference{
		"vitest/vitest.tap":       {numbers{flaky: -1, broken: 1}, "each group that failed is written, and attempts are not"},
		"vitest/vitest.junit.xml": {numbers{flaky: -1}, "attempts are not written"},
	}},
	{"vitest5/vitest.json vitest5/vitest.junit.xml vitest5/vitest.tap", numbers{20, 9, 5, 6, 1, 3}, map[string]difference{
		"vitest5/vitest.tap":       {numbers{flaky: -1, broken: 1}, "each group that failed is written, and attempts are not"},
		"vitest5/vitest.junit.xml": {numbers{flaky: -1}, "attempts are not written"},
	}},
}

// difference is by what a report differs from the first one of its run, and why.
type difference struct {
	by     numbers
	reason string
}

func TestReportsOfOneRunAgree(t *testing.T) {
	for _, run := range sameRuns {
		for _, reports := range strings.Fields(run.reports) {
			t.Run(reports, func(t *testing.T) {
				d := run.differs[reports]
				if got, want := read(t, reports), run.want.plus(d.by); got != want {
					t.Errorf("got %+v, want %+v %s", got, want, d.reason)
				}
			})
		}
	}
}

// read returns what the reports that match the pattern say together.
func read(t *testing.T, pattern string) numbers {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, "tests", "samerun", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no report matches %s: %v", pattern, err)
	}
	var cases []metric.Test
	broken := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := parsers.Parse(bytes.NewReader(text), path)
		if err != nil || r.Tests == nil {
			t.Fatalf("%s is no test report: %v", path, err)
		}
		cases = append(cases, r.Tests.Cases...)
		broken += len(r.Tests.Broken)
	}
	n := metric.NewTests(cases).Counts()
	return numbers{n.Count, n.Passed, n.Failed, n.Skipped, n.Flaky, broken}
}

// TestReportsOfOneRunNameTestsAlike asserts that reports of one run that name tests in the same
// way give them the same identity.
func TestReportsOfOneRunNameTestsAlike(t *testing.T) {
	for _, tt := range []struct{ one, other string }{
		{"gotestsum/gotest.jsonl", "gotestsum/gotestsum.junit.xml"},
		{"gotestsum/gotest.jsonl", "gotestsum/go-junit-report.junit.xml"},
		{"gotestsum/rerun.jsonl", "gotestsum/rerun.junit.xml"},
		{"ctest/Test.xml", "ctest/ctest.junit.xml"},
		{"mocha/mocha.json", "mocha/mocha.xunit.xml"},
	} {
		t.Run(tt.other, func(t *testing.T) {
			one, other := identities(t, tt.one), identities(t, tt.other)
			for id := range other {
				if !one[id] {
					t.Errorf("%s is not in %s", id, tt.one)
				}
			}
		})
	}
}

func identities(t *testing.T, name string) map[metric.ID]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures, "tests", "samerun", name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := parsers.Parse(bytes.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[metric.ID]bool{}
	for _, c := range r.Tests.Cases {
		out[c.ID] = true
	}
	return out
}
