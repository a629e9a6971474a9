package loop

import (
	"strings"
	"testing"

	"supervise/internal/hook"
	"supervise/internal/prompt"
)

// The warning before a risky call says what the level adds to it; what is denied or
// harmless stays as it is.
func TestWarningsSayWhatTheLevelAddsToThem(t *testing.T) {
	texts, err := prompt.Parse(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &prompter{texts: texts}
	warned := hook.Decision{Verdict: hook.Warn, Reason: "r", Risks: []hook.Risk{{Target: "calc_test.go", Why: "It is a test"}}}
	for level, want := range map[string]string{
		"MINIMAL":    "r\nMake sure that this is a fix and not a deletion.",
		"AGGRESSIVE": "the entire iteration is rolled back",
		"OFF":        "r",
	} {
		if got := p.addReminder(1, level, warned); !strings.Contains(got.Reason, want) || got.Verdict != hook.Warn {
			t.Errorf("at %s the warning is %q, want %q", level, got.Reason, want)
		}
	}
	denied := warned
	denied.Verdict = hook.Deny
	if got := p.addReminder(1, "AGGRESSIVE", denied); got.Reason != "r" {
		t.Errorf("what is denied is explained as %q", got.Reason)
	}
}
