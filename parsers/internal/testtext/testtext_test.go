package testtext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

func FuzzTAP(f *testing.F) {
	reports.Fuzz(f, "tap",
		"TAP version 14\n1..2\nok 1 - a # time=3ms {\n    not ok 1 - b\n      ---\n      duration_ms: 1.5\n      ...\n    1..1\n}\nnot ok 2 # TODO c\n",
		"# Subtest: x\n    # Subtest: y\n        ok\n    ok - y\n    1..1\nok - x\n1..1\n1..2\nok 1\n}\n{\n",
		"t/a.t ..\n1..2\nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nt/b.t .. skipped: none\nFiles=2, Tests=1, 0 wallclock secs\n",
		"1..3 todo 2;\nok 1\nBail out! why\nok 2\n")
}

func FuzzUnittest(f *testing.F) {
	reports.Fuzz(f, "unittest",
		"test_a (m.C.test_a)\nDoc. ... ok\ntest_b (m.C) ... x\nFAIL\n  test_c (m.C) (n=1) ... ERROR\nsetUpClass (m.D) ... ERROR\n\n====\nERROR: setUpClass (m.D)\n------\nx\n======\n\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n",
		"m (unittest.loader._FailedTest.m) ... ERROR\nRan 99999999999999999999 tests in 1s\n",
		"test_a (b) c (m.C.test_a (b) c) ... ok\nx ... FAIL\nRan 2 tests in 1s\n\nFAILED (errors=1)\n")
}

func FuzzMinitest(f *testing.F) {
	reports.Fuzz(f, "minitest",
		"A#test_a = x\n0.01 s = .\nA#test_b = 0.00 s = F\n\n  1) Failure:\nA#test_b [a.rb:3]:\nx\n\nError:\nA#test_b:\ny\n\n2 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n")
}

func FuzzAutomake(f *testing.F) {
	reports.Fuzz(f, "automake",
		"Making check in a\nmake  check-TESTS\nmake[3]: Entering directory '/a'\nPASS: x.sh\nXFAIL: p.tap 1 - b # TODO c\nFAIL: p.tap 2\n   calc 1.0: a/test-suite.log\nFAIL: x\n=======\n\nno\nFAIL x.sh (exit status: 1)\nTestsuite summary for calc 1.0\n====\n# TOTAL: 3\n# FAIL:  1\n# ERROR: 0\nmake[3]: Leaving directory '/a'\n")
}

func FuzzQtText(f *testing.F) {
	reports.Fuzz(f, "qttest-text", qtText+"FAIL!  : n::A::b(one (1)) no\n more\n   Loc: [a.cpp(3)]\nXFAIL  : n::A::c() known\nPASS   : n::A::c()\nBPASS  : n::A::d()\nTotals: 1 passed, 1 failed, 0 skipped, 1 blacklisted, 3ms\n")
}

const qtText = "********* Start testing of n::A *********\n"

func FuzzUnity(f *testing.F) {
	reports.Fuzz(f, "unity",
		"a.c:3:test_a:PASS\nC:\\b.c:4:test_b(1, 2):FAIL: Expected 1 Was 2: why\na.c:5:test_c:IGNORE: later\na.c:6:test_d:PASS (0 ms)\na.c:6:test_d:INFO: x\n\n-----\n4 Tests 1 Failures 1 Ignored \nFAIL\na.c:3:test_a:PASS\n",
		"TEST(g, a) PASS\nTEST(g, b)a.c:3::FAIL: no\nIGNORE_TEST(g, c)\n3 Tests 1 Failures 1 Ignored \n",
		"a.c:3:test_a:PASS\n99999999999999999999 Tests 0 Failures 0 Ignored \n")
}

func FuzzAcutest(f *testing.F) {
	reports.Fuzz(f, "acutest",
		"Test a...      [ OK ]\nTest b...   word\nmore[ OK ]  0.1 secs\nTest c...   [ FAILED ]\n  a.c:3: Check 1 == 2... failed\nTest d...   [ SKIPPED ]\n  a.c:4: no\nTest e...   \nFAILED: 2 of 4 unit tests have failed.\nTest a...   [ OK ]\n",
		"SUCCESS: All unit tests have passed.\nTest a...   [ OK ]\nFAILED: 99999999999999999999 of 1 unit tests has failed.\n")
}

func FuzzExUnit(f *testing.F) {
	reports.Fuzz(f, "exunit",
		"ATest [test/a_test.exs]\n  * test a [L#1]\r  * test a (0.1ms) [L#1]\n  * test b (excluded) [L#2]\n\n  1) test a (ATest)\n     x\n\n  0) ATest: failure on setup_all callback, x\n\n2 tests, 1 failure, 1 excluded\n")
}

func TestTextTests(t *testing.T) {
	for _, tt := range []struct {
		name, format, report string
		want                 map[string]string
	}{
		{
			"go test -v of a package that panics", "go-test",
			"=== RUN   TestA\n--- PASS: TestA (0.01s)\n=== RUN   TestB\npanic: boom\n\ngoroutine 1 [running]:\nFAIL\tp\t0.1s\nok  \tq\t0.1s [no tests to run]\nFAIL\n",
			map[string]string{"p: TestA": "passed", "p: TestB": "failed", "broken p": "panic: boom"},
		},
		{
			"go test -v with spaces instead of tabs", "go-test",
			"# q\nq/a.go:3: undefined: x\n=== RUN TestA\n--- PASS: TestA (0.10 seconds)\nPASS\nok      p    0.1s\nFAIL    q [build failed]\nFAIL\n",
			map[string]string{"p: TestA": "passed", "broken q": "build failed: q/a.go:3: undefined: x"},
		},
		{
			"go test of what cannot be built", "go-test",
			"# p\na.go:1:2: undefined: x\nFAIL\tp [build failed]\n?   \tq\t[no test files]\nFAIL\n",
			map[string]string{"broken p": "build failed: a.go:1: undefined: x"},
		},
		{
			"a test of Rust whose outcome follows its output", "cargo-test",
			"     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 2 tests\ntest x ... it says test y ... ok\nok\ntest z - should panic ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
			map[string]string{"src/lib.rs (a): x": "passed", "src/lib.rs (a): z": "failed"},
		},
		{
			"a binary of Rust that aborts", "cargo-test",
			"     Running tests/a.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 2 tests\ntest x ... ok\nerror: test failed, to rerun pass `--test a`\n   Doc-tests a\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
			map[string]string{"tests/a.rs (a): x": "passed", "broken tests/a.rs (a)": "the test binary ended before its 2 tests had run"},
		},
		{
			"a report of Rust that ends between two binaries", "cargo-test",
			"running 1 test\ntest x ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n   Doc-tests a\n",
			map[string]string{"x": "passed", "broken doc-tests a": "the report ends before its tests: cargo was stopped, or its output was cut off"},
		},
		{
			"unittest of Python before 3.11", "unittest",
			"test_a (m.C) ... ok\ntest_b (m.C)\nWhat it is for. ... ok\ntest_c (m.C) ... printed\nFAIL\nsetUpClass (m.D) ... skipped 'no net'\nsetUpClass (m.E) ... ERROR\n\n----------------------------------------------------------------------\nRan 3 tests in 0.000s\n\nFAILED (failures=1, errors=1)\n",
			map[string]string{"m: C.test_a": "passed", "m: C.test_b": "passed", "m: C.test_c": "failed", "m: D.setUpClass": "skipped", "broken m": "setUpClass of m.E failed"},
		},
		{
			"unittest of Python 3.10 with names that are no identifiers", "unittest",
			"test_a (m.C) ... ok\ntest_Links,_inline (m.C) ... FAIL\ntest with spaces (m.C) ... ok\n\n======================================================================\nFAIL: test_Links,_inline (m.C)\n----------------------------------------------------------------------\nno\n\n----------------------------------------------------------------------\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n",
			map[string]string{"m: C.test_a": "passed", "m: C.test_Links,_inline": "failed", "test with spaces (m.C)": "passed"},
		},
		{
			"unittest that runs the same tests twice", "unittest",
			"test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... ok\nskip (m.D) ... ok\ntest_a (m.C.test_a) ... FAIL\ntest_b (m.C.test_b) ... skipped 'no'\n\nRan 5 tests in 0.1s\n\nFAILED (failures=1, skipped=1)\n",
			map[string]string{"m: C.test_a": "passed", "m: C.test_b": "passed", "m: D.skip": "passed", "m: C.test_a[2]": "failed", "m: C.test_b[2]": "skipped"},
		},
		{
			"unittest with a test that fails again as it cleans up", "unittest",
			"test_a (m.C.test_a) ... FAIL\ntest_a (m.C.test_a) ... ERROR\n\nRan 1 test in 0.1s\n\nFAILED (failures=1, errors=1)\n",
			map[string]string{"m: C.test_a": "error"},
		},
		{
			"unittest with an outcome that is missing", "unittest",
			"test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... \nRan 2 tests in 0.000s\n",
			map[string]string{"m: C.test_a": "passed", "m: C.test_b": "error"},
		},
		{
			"two programs of Qt, the second without totals", "qttest-text",
			qtText + "QDEBUG : n::A::b() FAIL!  : n::A::x()\nFAIL!  : n::A::b(one) no (x)\n   Loc: [a.cpp(3)]\nXFAIL  : n::A::c() known\nPASS   : n::A::c()\nBFAIL  : n::A::d() no\nPASS   : n::A::e(a) b)\nTotals: 2 passed, 1 failed, 0 skipped, 1 blacklisted, 3ms\n********* Finished testing of n::A *********\n********* Start testing of B *********\nPASS   : B::f()\nXFAIL  : B::g() known\n",
			map[string]string{
				"n::A: b(one)": "failed", "n::A: c": "passed", "n::A: d": "skipped", "n::A: e(a) b)": "passed", "B: f": "passed", "B: g": "error",
				"broken B": "there are no totals: the program crashed, or its output was cut off",
			},
		},
		{
			"minitest with output between", "minitest",
			"A#test_a = hello\n0.01 s = .\nB::C#test_b c = 0.00 s = S\n\n2 runs, 1 assertions, 0 failures, 0 errors, 1 skips\n",
			map[string]string{"A: test_a": "passed", "B::C: test_b c": "skipped"},
		},
		{
			"two programs of Unity, the first without totals", "unity",
			"a.c:3:test_a:PASS\nb.c:3:test_a:PASS\nb.c:4:test_b:FAIL: no\n\n-----------------------\n2 Tests 1 Failures 0 Ignored \nFAIL\n",
			map[string]string{"a.c: test_a": "passed", "b.c: test_a": "passed", "b.c: test_b": "failed", "broken a.c": "there are no totals: the program crashed, or its output was cut off"},
		},
		{
			"mix test with a module that could not be set up", "exunit",
			"ATest [test/a_test.exs]\n  * test a [L#1]\r  * test a (0.1ms) [L#1]\n  * test b (excluded) [L#2]\n\n  0) ATest: failure on setup_all callback, all tests have been invalidated\n     ** (RuntimeError) no\n\n2 tests, 0 failures, 1 excluded, 1 invalid\n",
			map[string]string{"test/a_test.exs: ATest.test a": "error", "test/a_test.exs: ATest.test b": "skipped", "broken test/a_test.exs": "setup_all of ATest failed: ** (RuntimeError) no"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "test")
			if err != nil || r.Format != tt.format {
				t.Fatal(r.Format, err)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTextWithoutNamesIsRefused reads what names none or not all of its tests: it is no
// report of fewer tests.
func TestTextWithoutNamesIsRefused(t *testing.T) {
	for report, want := range map[string]string{
		"ok  \tp\t0.1s\n": "with -v or -json only (p)",
		"--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\nFAIL\n":                                                                   "with -v or -json only (p)",
		"=== RUN   TestA\n--- PASS: TestA (4.0003ms)\nPASS\nok  \tp\t0.1s\n":                                                     "TestA began and has no result",
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n":                                                                       "ends before the result of a package",
		"=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\nok  \tq\t0.1s\n":                                         "ends before the result of a package",
		"\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n": "leave -q out",
		"..\n-----\nRan 2 tests in 0.000s\n\nOK\n":                                                                               "names its tests with -v only",
		"test_a (m.C.test_a) ... ok\n-----\nRan 2 tests in 0.000s\n\nOK\n":                                                       "2 tests ran, and 1 are named",
		"test_a (m.C.test_a) ... ok\n":                                                                                           "ends before the number of tests",
		"..\n2 runs, 1 assertions, 0 failures, 0 errors, 0 skips\n":                                                              "with --verbose only",
		"A#test_a = 0.00 s = .\n2 runs, 1 assertions, 0 failures, 0 errors, 0 skips":                                             "2 tests ran, and 1 are named",
		"A#test_a = 0.00 s = .\n":                                                                                                "ends before its totals",
		qtText + "FAIL!  : n::A::b() no\nTotals: 4 passed, 1 failed, 0 skipped, 0 blacklisted, 3ms\n":                            "run it without -silent",
		"..\n\nFinished in 0.05 seconds\n2 tests, 0 failures\n":                                                                  "with --trace only",
		"ATest [test/a_test.exs]\n  * test a (0.1ms) [L#1]\n":                                                                    "ends before its totals",
	} {
		if _, err := parsers.Parse(strings.NewReader(report), "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", report, err, want)
		}
	}
}

// TestOtherTextIsNoTestReport reads text that has some words of test runners.
func TestOtherTextIsNoTestReport(t *testing.T) {
	for _, text := range []string{
		"ok  done\n", "running 5 tests of the engine\n", "test of it ... ok\n", "failed (see log) ... ok\n", "a = 1.5 s = .\n", "see tests (a.b) for more\n",
		"2 tests were removed, 1 failure was fixed\n", "FAIL\n", "PASS\n",
		"7 tests, 2 failures, 2 skipped\n", "Finished in 0.001 seconds.\n5 tests, 5 assertions, 0 failures, 0 errors, 0 pendings\n",
	} {
		if r, err := parsers.Parse(strings.NewReader(text), "test"); err == nil && r.Tests != nil {
			t.Errorf("%q was read as %s: %+v", text, r.Format, r.Cases)
		}
	}
}
