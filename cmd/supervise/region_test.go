//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"

	"supervise/internal/textstream"
)

// At a terminal it is seen what a loop does: which check runs and for how long, that the
// baseline is measured twice, what the agent says, and what is left.
func TestSeenAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("proj/.supervise.yaml", "checks: {test: \"sleep 1.4; sh ../check.sh\", lint: sleep 0.5}\n")
	w.write("says", "printf 'I \\033]0;evil\\007think\\n'; sleep 0.5; touch a\n")
	w.write("proj/m_test.sh", "TestOne() { :; }\n")
	run := []string{"run", "--agent-output", "none", "--until", "never", "--max-iterations", "1"}
	seen := func(args ...string) string {
		screen, _ := onTerminal(t, w, nil, args...)
		return textstream.StripANSI(screen)
	}
	screen := seen(append(run, "--", "sh", "../says")...)
	for _, want := range []string{
		`baseline, \ds in all`, `check 1 of 2  test  0s`, `check 1 of 2  test  1s`, `check 2 of 2  lint  0s`,
		`baseline, measured again to find flaky tests, \ds in all`, `check 1 of 2  test  0s  \(last time 1s\)`,
		`iteration 1 of 1, prompt level minimal, \ds in all`, `the agent works  0s`, `│ I think`, `left: 0 iterations after this`, `the end, \ds in all`,
	} {
		if !regexp.MustCompile(want).MatchString(screen) {
			t.Errorf("%s is not seen:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "evil") || strings.Contains(screen, "test …") {
		t.Errorf("the screen:\n%q", screen)
	}
	screen = seen(append(run, "--", "true")...)
	if before, _, _ := strings.Cut(screen, "measured again"); !strings.Contains(before, "check 1 of 2  test  0s  (last time 1s)") {
		t.Errorf("a second loop does not know how long the first took:\n%s", screen)
	}
	if screen = seen("doctor"); !strings.Contains(screen, "check 1 of 2  test  0s") {
		t.Errorf("doctor shows:\n%s", screen)
	}
}
