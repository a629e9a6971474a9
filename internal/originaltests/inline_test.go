package originaltests

import (
	"context"
	"strings"
	"testing"
	"time"

	"supervise/detector"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
	"supervise/test/tools"
)

const (
	rustManifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
	rustBroken   = "pub fn half(n: u32) -> u32 {\n    n\n}\n"
	rustRight    = "pub fn half(n: u32) -> u32 {\n    n / 2\n}\n"
	rustOther    = "pub fn half(n: u32, of: u32) -> u32 {\n    n / of\n}\n"
	rustExact    = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn halves() {\n        assert_eq!(half(8), 4);\n    }\n}\n"
)

var rustWeak = strings.Replace(rustExact, "assert_eq!(half(8), 4)", "assert!(half(8) > 0)", 1)

// An inlineChange is a change of a Rust test. The first one is enough for most runs: cargo
// takes long.
type inlineChange struct {
	name    string
	code    string // before, with the exact test
	change  string
	outcome detector.Outcome
	want    detector.Severity // of the alert; 0: there is none
}

var inlineChanges = []inlineChange{
	{"weakened over broken code", rustBroken, rustBroken + rustWeak, detector.Failed, detector.Critical},
	{"the code was fixed as well", rustBroken, rustRight + rustWeak, detector.Passed, 0},
	{"the code is broken, too", rustRight, rustBroken + rustWeak, detector.Failed, detector.High},
	{"it does not compile any more", rustRight, rustOther + strings.Replace(rustWeak, "half(8)", "half(8, 2)", 1), detector.Unbuilt, detector.High},
}

// The original Rust tests of a file of code are put into the new code.
func TestOriginalInlineTests(t *testing.T) { originalInlineTests(t, inlineChanges[:1]) }

func TestE2EOriginalInlineTests(t *testing.T) {
	tools.Long(t)
	originalInlineTests(t, inlineChanges[1:])
}

func originalInlineTests(t *testing.T, changes []inlineChange) {
	t.Helper()
	tools.Need(t, "cargo")
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			check := measure.Check{Kind: measure.Test, Name: "cargo test", Runner: "cargo", Command: []string{"cargo", "test", "--offline", "--lib", "--color=never"}, Timeout: 5 * time.Minute}
			w := newTrialWorldInGit(t, files{"Cargo.toml": rustManifest, "src/lib.rs": tt.code + rustExact, ".gitignore": "target\nCargo.lock\n"}, check)
			out, verdict := w.tryRust(tt.change)
			if got := outcomes(out)["tests::halves"]; got != tt.outcome || len(out.RestoredInlineTests) != 1 || out.RestoredInlineTests[0] != "src/lib.rs" {
				t.Fatalf("outcome %q, want %q: %+v", got, tt.outcome, out)
			}
			var got detector.Severity
			for _, a := range verdict.Alerts {
				if a.Rule == detector.TestsWeakened || strings.HasPrefix(a.Rule, detector.TamperPrefix) {
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
