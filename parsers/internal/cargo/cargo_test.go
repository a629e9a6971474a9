package cargo_test

import (
	"testing"

	"supervise/test/reports"
)

func FuzzLibtest(f *testing.F) {
	reports.Fuzz(f, "libtest-json", `{ "type": "suite", "event": "started", "test_count": 2 }
{ "type": "test", "event": "started", "name": "src\lib.rs - f (line 1)" }
{ "type": "test", "name": "src\lib.rs - f (line 1)", "event": "ok", "exec_time": "0.1s" }
{ "type": "suite", "event": "ok", "passed": 1, "failed": 0, "ignored": 0 }
`, `{"type":"suite","event":"started","test_count":1}
{"type":"test","event":"ok","name":"a::b$c#2"}
`)
}

func FuzzCargoTest(f *testing.F) {
	reports.Fuzz(f, "cargo-test",
		"     Running unittests src/lib.rs (target/debug/deps/a-0123456789abcdef)\n\nrunning 2 tests\ntest a ... x\nok\ntest b - should panic ... ignored, why\n\nfailures:\n\n---- a stdout ----\nx\n\nfailures:\n    a\n\ntest result: FAILED. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.13s\n",
		"running 1 test\n     Running b (c)\nrunning 3 tests\ntest a ... bench:   1 ns/iter (+/- 0)\n")
}

func FuzzCargo(f *testing.F) { reports.Fuzz(f, "cargo") }

func FuzzRustc(f *testing.F) { reports.Fuzz(f, "rustc") }
