package parsers_test

import "testing"

func FuzzTAP(f *testing.F) {
	fuzz(f, "tap",
		"TAP version 14\n1..2\nok 1 - a # time=3ms {\n    not ok 1 - b\n      ---\n      duration_ms: 1.5\n      ...\n    1..1\n}\nnot ok 2 # TODO c\n",
		"# Subtest: x\n    # Subtest: y\n        ok\n    ok - y\n    1..1\nok - x\n1..1\n1..2\nok 1\n}\n{\n",
		"t/a.t ..\n1..2\nok 1\nDubious, test returned 255 (wstat 65280, 0xff00)\nt/b.t .. skipped: none\nFiles=2, Tests=1, 0 wallclock secs\n",
		"1..3 todo 2;\nok 1\nBail out! why\nok 2\n")
}

func FuzzGoTest(f *testing.F) {
	fuzz(f, "go-test",
		"=== RUN   TestA\n    a_test.go:1: x\n--- FAIL: TestA (0.00s)\nFAIL\nexit status 1\nFAIL\tp\t0.1s\nok  \tq\t0.1s [no tests to run]\nFAIL\n",
		"# p [p.test]\na.go:1:2: no\nFAIL\tp [build failed]\n?   \tq\t[no test files]\nFAIL\n",
		"=== RUN   TestA\npanic: x [recovered]\nFAIL\tp\t0.1s\n")
}

func FuzzCargoTest(f *testing.F) {
	fuzz(f, "cargo-test",
		"     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 2 tests\ntest a ... x\nok\ntest b - should panic ... ignored, why\n\nfailures:\n\n---- a stdout ----\nx\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.13s\n",
		"running 1 test\n     Running b (c)\nrunning 3 tests\ntest a ... bench:   1 ns/iter (+/- 0)\n")
}

func FuzzUnittest(f *testing.F) {
	fuzz(f, "unittest",
		"test_a (m.C.test_a)\nDoc. ... ok\ntest_b (m.C) ... x\nFAIL\n  test_c (m.C) (n=1) ... ERROR\nsetUpClass (m.D) ... ERROR\n\n====\nERROR: setUpClass (m.D)\n------\nx\n======\n\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n",
		"m (unittest.loader._FailedTest.m) ... ERROR\nRan 99999999999999999999 tests in 1s\n")
}

func FuzzMinitest(f *testing.F) {
	fuzz(f, "minitest",
		"A#test_a = x\n0.01 s = .\nA#test_b = 0.00 s = F\n\n  1) Failure:\nA#test_b [a.rb:3]:\nx\n\nError:\nA#test_b:\ny\n\n2 runs, 1 assertions, 1 failures, 0 errors, 0 skips\n")
}

func FuzzExUnit(f *testing.F) {
	fuzz(f, "exunit",
		"ATest [test/a_test.exs]\n  * test a [L#1]\r  * test a (0.1ms) [L#1]\n  * test b (excluded) [L#2]\n\n  1) test a (ATest)\n     x\n\n  0) ATest: failure on setup_all callback, x\n\n2 tests, 1 failure, 1 excluded\n")
}
