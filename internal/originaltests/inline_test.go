package originaltests

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
)

const (
	rustManifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
	rustBroken   = "pub fn half(n: u32) -> u32 {\n    n\n}\n"
	rustRight    = "pub fn half(n: u32) -> u32 {\n    n / 2\n}\n"
	rustOther    = "pub fn half(n: u32, of: u32) -> u32 {\n    n / of\n}\n"
	rustExact    = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn halves() {\n        assert_eq!(half(8), 4);\n    }\n}\n"
)

// Rust tests in a file of code are put into the new code as they were.
func TestInlineTestsAsTheyWere(t *testing.T) {
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("cargo is not on PATH")
	}
	few := testing.Short() || os.Getenv("SUPERVISE_E2E") == "" // .ci/e2e runs all: cargo takes long
	weak := strings.Replace(rustExact, "assert_eq!(half(8), 4)", "assert!(half(8) > 0)", 1)
	for _, tt := range []struct {
		name    string
		code    string // before, with the exact test
		change  string
		outcome detector.Outcome
		want    detector.Severity // of the alert; 0: there is none
	}{
		{"weakened over broken code", rustBroken, rustBroken + weak, detector.Broke, detector.Critical},
		{"the code was mended as well", rustBroken, rustRight + weak, detector.Held, 0},
		{"the code is broken, too", rustRight, rustBroken + weak, detector.Broke, detector.High},
		{"it does not compile any more", rustRight, rustOther + strings.Replace(weak, "half(8)", "half(8, 2)", 1), detector.Unbuilt, detector.High},
	} {
		if few && tt.name != "weakened over broken code" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			check := measure.Check{Kind: measure.Test, Name: "cargo test", Runner: "cargo", Command: []string{"cargo", "test", "--offline", "--lib", "--color=never"}, Timeout: 5 * time.Minute}
			w := newTrialWorldInGit(t, files{"Cargo.toml": rustManifest, "src/lib.rs": tt.code + rustExact, ".gitignore": "target\nCargo.lock\n"}, check)
			out, verdict := w.tryRust(tt.change)
			if got := outcomes(out)["tests::halves"]; got != tt.outcome || len(out.PutInto) != 1 || out.PutInto[0] != "src/lib.rs" {
				t.Fatalf("outcome %q, want %q: %+v", got, tt.outcome, out)
			}
			var got detector.Severity
			for _, a := range verdict.Alerts {
				if a.Rule == detector.TestsGaveWay || strings.HasPrefix(a.Rule, detector.TamperPrefix) {
					got = max(got, a.Severity)
				}
			}
			if got != tt.want {
				t.Errorf("severity %v, want %v: %+v", got, tt.want, verdict.Alerts)
			}
		})
	}
}

// tryRust changes src/lib.rs, whose test is weaker and passes then, and runs it as it
// was.
func (w *trialWorld) tryRust(text string) (ledger.Goals, detector.Assessment) {
	w.t.Helper()
	res, err := w.meter.Run(context.Background(), nil)
	if err != nil || res.Set.Tests == nil || len(res.Set.Tests.Cases) != 1 {
		w.t.Fatalf("%v, %+v", err, res)
	}
	now := res.Set.Tests.Cases[0]
	now.Status, now.Message = metric.Passed, ""
	return w.trySets(metric.Set{Tests: res.Set.Tests}, metric.Set{Tests: metric.NewTests([]metric.Test{now})}, files{"src/lib.rs": text})
}
