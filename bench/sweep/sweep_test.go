package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table is whole: enough repositories of each language, and the last twenty.
func TestTable(t *testing.T) {
	table, err := load()
	if err != nil {
		t.Fatal(err)
	}
	languages, last, names := map[string]int{}, map[string]int{}, map[string]bool{}
	total, blind := 0, 0
	for _, r := range table.Repos {
		if names[r.Name] {
			t.Errorf("%s is there twice", r.Name)
		}
		names[r.Name] = true
		if r.of.Apart {
			continue
		}
		languages[r.Language]++
		total++
		if r.Last > 0 {
			last[r.Language]++
			blind++
		}
	}
	if total < 60 || blind != 100 {
		t.Errorf("%d repositories, %d of them last; want 60 or more, and 100", total, blind)
	}
	for _, l := range table.Languages {
		if !l.Apart && (languages[l.Name] < 8 || last[l.Name] < 2) {
			t.Errorf("%s: %d repositories, %d of them last; want 8 or more, and 2 or more", l.Name, languages[l.Name], last[l.Name])
		}
	}
}

// The closing lines are written in the form that each tool documents.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		reader, text string
		want         counts
	}{
		{"go test -json", "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"A\"}\n{\"Action\":\"skip\",\"Package\":\"p\",\"Test\":\"A/b\"}\n{\"Action\":\"fail\",\"Package\":\"q\",\"Test\":\"A\"}\n{\"Action\":\"fail\",\"Package\":\"q\"}\n", counts{3, 1, 1}},
		{"pytest", "=== 1 failed, 1400 passed, 9 skipped, 1 xfailed, 2 warnings in 40.42s ===\n", counts{1411, 1, 10}},
		{"pytest", "\x1b[32m1231 passed\x1b[0m\x1b[32m in 4.20s\x1b[0m\n", counts{1231, 0, 0}},
		{"unittest", "Ran 725 tests in 30.1s\n\nFAILED (failures=1, errors=1, skipped=4)\n", counts{725, 2, 4}},
		{"unittest", "Ran 9 tests in 0.1s\n\nOK (skipped=2, expected failures=1)\n", counts{9, 0, 3}},
		{"mocha", "  1256 passing (3s)\n  2 pending\n  1 failing\n", counts{1259, 1, 2}},
		{"jest", "Tests:       1 failed, 2 skipped, 300 passed, 303 total\n", counts{303, 1, 2}},
		{"vitest", " Test Files  1 passed (1)\n      Tests  1 failed | 110 passed | 2 skipped (113)\n", counts{113, 1, 2}},
		{"node", "ℹ tests 4\nℹ suites 1\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n", counts{4, 1, 1}},
		{"tape", "ok 1 a\nok 2 b # SKIP not here\n\n1..2\n# tests 2\n# pass  2\n\n# ok\n", counts{2, 0, 1}},
		{"tape", "1..5\n# tests 5\n# pass  4\n\n# fail  1\n", counts{5, 1, 0}},
		{"tap", "Suites:   \u200b51 passed\u200b, \u200b51 of 51 completed\u200b\nAsserts:  \u200b\u200b9182 passed\u200b, \u200bof 9182\u200b\n\u200bTime:\u200b   \u200b39s\u200b\n", counts{9182, 0, 0}},
		{"tap", "ok 1 - test/index.js # time=9ms\n\n# { total: 213, pass: 210, fail: 2, skip: 1 }\n# time=11ms\n", counts{213, 2, 1}},
		{"lab", "..........\n\n1818 tests complete\nTest duration: 3021 ms\n", counts{1818, 0, 0}},
		{"cargo", "test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n", counts{15, 1, 1}},
		{"maven", "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in a.B\n[INFO] Results:\n[INFO] \n[WARNING] Tests run: 30, Failures: 1, Errors: 2, Skipped: 4\n", counts{30, 3, 4}},
		{"ctest", "1/3 Test #1: a ....   Passed    0.01 sec\n2/3 Test #2: b ....***Skipped   0.00 sec\n3/3 Test #3: c ....***Failed    0.00 sec\n\n67% tests passed, 1 tests failed out of 3\n", counts{3, 1, 1}},
		{"ctest -V", "1: All tests passed (9 assertions in 3 test cases)\n1/3 Test #1: a ....   Passed    0.01 sec\n2: [doctest] test cases:  10 |  9 passed | 1 failed | 2 skipped\n2/3 Test #2: b ....***Failed    0.01 sec\n3/3 Test #3: c ....***Skipped   0.00 sec\n\n67% tests passed, 1 tests failed out of 3\n", counts{14, 1, 1}},
		{"gtest", "2: [==========] 1062 tests from 30 test suites ran. (50 ms total)\n2: [  PASSED  ] 1061 tests.\n2: [  SKIPPED ] 1 test, listed below:\n2:   YOU HAVE 8 DISABLED TESTS\n", counts{1070, 0, 9}},
		{"catch2", "All tests passed (123 assertions in 12 test cases)\n", counts{12, 0, 0}},
		{"doctest", "[doctest] test cases:  10 |  9 passed | 1 failed | 2 skipped\n", counts{10, 1, 0}},
		{"boost", "Running 58 test cases...\n\n*** 2 failures are detected in the test module \"m\"\n", counts{58, 2, 0}},
		{"automake", "# TOTAL: 10\n# PASS:  8\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  1\n# XPASS: 0\n# ERROR: 0\n", counts{10, 1, 1}},
		{"passed:", "\nPASSED: 8\nFAILED: 1\nTests failed: 0\nTests passed: 3\n", counts{12, 1, 0}},
		{"meson", "Ok:                 7   \nExpected Fail:      0   \nFail:               1   \nUnexpected Pass:    0   \nSkipped:            2   \nTimeout:            0   \n", counts{10, 1, 2}},
		{"rspec", "12 examples, 1 failure, 2 pending\n", counts{12, 1, 2}},
		{"minitest", "30 runs, 90 assertions, 1 failures, 2 errors, 3 skips\n", counts{30, 3, 3}},
		{"phpunit", "OK (50 tests, 100 assertions)\n", counts{50, 0, 0}},
		{"phpunit", "Tests: 50, Assertions: 99, Errors: 1, Failures: 2, Skipped: 3.\n", counts{50, 3, 3}},
		{"exunit", "4 doctests, 20 tests, 1 failure, 2 skipped\n", counts{24, 1, 2}},
	} {
		got, err := readers[c.reader]([]byte(c.text))
		if err != nil || got != c.want {
			t.Errorf("%s: %q is %v, %v; want %v", c.reader, c.text, got, err, c.want)
		}
	}
	for name, read := range readers {
		if got, err := read([]byte("make: *** No rule to make target 'test'.\n")); err == nil {
			t.Errorf("%s: read %v from the output of a tool that ran no tests", name, got)
		}
	}
}

// Results that were not looked at run only if asked, and a result is never that of
// another commit.
func TestLastTwentyWait(t *testing.T) {
	f, err := parse([]string{"-list", "-results", t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{Name: "a/b", Language: "Go", Commit: strings.Repeat("a", 40), Last: 1}
	if f.wants(r) {
		t.Error("one of the last twenty runs without being asked for")
	}
	f.last = 1
	if !f.wants(r) {
		t.Error("-last 1 does not run it")
	}
	if err := (&result{Commit: strings.Repeat("b", 40)}).write(f.file(r)); err != nil {
		t.Fatal(err)
	}
	if _, err := (&table{Repos: []*repo{r}}).measured(f); err == nil {
		t.Error("a result of another commit is reported")
	}
}

// What the page and the report say is what the kept results say.
func TestReportIsThatOfTheResults(t *testing.T) {
	table, err := load()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.measured(&flags{results: filepath.Join("..", "results", "sweep")})
	if err != nil || len(rows) == 0 {
		t.Fatal(err, len(rows))
	}
	for file, want := range map[string]string{
		filepath.Join("..", "results", "sweep.md"):       table.page(rows),
		filepath.Join("..", "..", "docs", "projects.md"): blockOpen + totals(rows) + blockEnd,
	} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is not what the results say; write it with: make sweep FLAGS=-list", file)
		}
	}
}

// An unexplained difference is distinguished from an explained one, and what could not be
// run natively counts nowhere.
func TestSums(t *testing.T) {
	l := &language{Name: "Go", Incremental: "cache"}
	of := &repo{Name: "a/b", of: l}
	rows := []*row{
		{of, &result{Recognised: true, Native: counts{5, 0, 0}, Ours: counts{5, 0, 0}, NativeFull: 2, OursFull: 3, NativeEdited: 1, OursEdited: 1.5}},
		{of, &result{Recognised: true, Native: counts{5, 0, 0}, Ours: counts{4, 0, 0}, Words: []string{"two have one name"}, NativeFull: 1, OursFull: 1}},
		{of, &result{Native: counts{5, 0, 0}}},
		{of, &result{Error: "no compiler"}},
	}
	got := sumUp("all", rows, func(*row) bool { return true }).line()
	if want := "| all | 3 | 2 (67 %) | 1 (33 %) | 1 | 1 | 1.25 | 1.50 | 50 % | 50 % |\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
