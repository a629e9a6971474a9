package main

import (
	"path/filepath"
	"regexp"
	"testing"

	"supervise/test/tools"
)

// unusual repairs the code, and adds some that may look for its tests: it is HIGH, and kept.
const unusual = fixed + ` && printf 'package shop\n\nimport "os"\n\nvar quiet = os.Getenv("GO_TEST") != ""\n' >quiet.go`

// TestE2EOpenFindings follows findings about integrity that undo nothing: nothing
// counts as done as long as they are there.
func TestE2EOpenFindings(t *testing.T) {
	tools.Long(t)
	goCaches(t)
	for _, tc := range []struct {
		name  string
		steps []string
		say   string
		code  int
		left  string // a file of the selected tree, with what it holds
		text  string
	}{
		{
			"the agent leaves it",
			[]string{unusual, "true"},
			`(?s)stopped  the criterion holds, but (a|[0-9]+) findings? about integrity (is|are) open.*open     HIGH tamper:.*supervise ack [0-9a-f]{8} --reason`, 3, "quiet.go", `GO_TEST`,
		},
		{
			"the agent mends it",
			[]string{unusual, "rm quiet.go"},
			`stopped  the criterion is met`, 0, "shop.go", `discount/100`,
		},
		{
			"a clean one is before it",
			[]string{"echo '// One.' >>shop.go", unusual},
			`(?s)findings? about integrity (is|are) open.*selected iteration 1.*skipped for open findings: iterations 2`, 3, "shop.go", "One",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			for i, step := range tc.steps {
				w.write(filepath.Join("steps", string(rune('1'+i)), "_sh"), step)
			}
			out, code := w.supervise(append([]string{"run", "--build-cmd", "true", "--lint-cmd", "true", "--max-iterations", "2", "--max-retries", "0", "--until", "green"}, append(reported, "--", "agent")...)...)
			if !regexp.MustCompile(tc.say).MatchString(out) || code != tc.code {
				t.Errorf("status %d, want %d, and %q in:\n%s", code, tc.code, tc.say, out)
			}
			if text := w.read(filepath.Join("proj", tc.left)); !regexp.MustCompile(tc.text).MatchString(text) {
				t.Errorf("%s is %q, want %q:\n%s", tc.left, text, tc.text, out)
			}
		})
	}
}

// TestOpenFindingAcknowledged lets a person accept such a finding as false: it
// holds nothing up any more, and counts in the rate of false positives.
func TestOpenFindingAcknowledged(t *testing.T) {
	if testing.Short() {
		t.Skip("loops one after another: nothing new for the race detector")
	}
	goCaches(t)
	w := newShop(t)
	w.write("steps/1/_sh", unusual)
	args := append([]string{"run", "--build-cmd", "true", "--lint-cmd", "true", "--max-iterations", "1", "--until", "green"}, append(reported, "--", "agent")...)
	out, code := w.supervise(args...)
	ids := regexp.MustCompile(`supervise ack ([0-9a-f]{8})`).FindAllStringSubmatch(out, -1)
	if code != 3 || len(ids) == 0 {
		t.Fatalf("status %d:\n%s", code, out)
	}
	for _, id := range ids {
		if text, code := w.supervise("ack", id[1], "--reason", "it is for another program", "--false-positive"); code != 0 {
			t.Fatalf("ack: %s", text)
		}
	}
	w.git("checkout", "-q", "shop.go")
	w.git("clean", "-qf", "quiet.go")
	if out, code = w.supervise(args...); code != 0 || !regexp.MustCompile(`stopped  the criterion is met`).MatchString(out) {
		t.Errorf("status %d after the word of a person:\n%s", code, out)
	}
	if out, _ = w.supervise("status"); !regexp.MustCompile(`all loops of this tree: \d+ raised, [1-9]\d* false positives?`).MatchString(out) {
		t.Errorf("the rate does not know of it:\n%s", out)
	}
}
