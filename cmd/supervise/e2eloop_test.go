package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"supervise/test/tools"
)

// e2eLoops are loops on real projects: the agent of iteration 1 fixes something, that
// of iteration 2 deletes a test.
var e2eLoops = []struct {
	name, heavy string
	needs       []string
	fix, cheat  string // for the shell
	tests       int    // at the baseline
	passed      [2]int // at the baseline, and when it is fixed
	lost        string // the name of the test that is deleted
}{
	{
		"python", ".venv",
		[]string{"python3"},
		`sed -i.bak 's/else "0"/else 0/' calc.py && rm calc.py.bak`, `sed -i.bak '/def test_positive/,/assert/d' tests/test_calc.py && rm tests/test_calc.py.bak`,
		6,
		[2]int{3, 4},
		"test_positive",
	},
	{
		"vitest", "node_modules",
		[]string{"node", "npx"},
		`sed -i.bak 's/if (n < 0)/if (typeof n === "string") { return 1 }\n  if (n < 0)/' src/sum.js && rm src/sum.js.bak`,
		`sed -i.bak "/^test('adds'/,/^})/d" src/sum.test.js && rm src/sum.test.js.bak`,
		6,
		[2]int{3, 4},
		"adds",
	},
	{
		"rspec", "",
		[]string{"ruby", "rspec"},
		`:`, `sed -i.bak '0,/^ *it /{/^ *it /,/^ *end/d}' spec/calc_spec.rb && rm spec/calc_spec.rb.bak`,
		5,
		[2]int{2, 2},
		"",
	},
}

// A loop on a project of each language, and everything that can be asked about it
// afterwards.
func TestE2ELoop(t *testing.T) {
	base := tools.Installed(t)
	t.Setenv("PATH", filepath.Join(base, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range e2eLoops {
		t.Run(c.name, func(t *testing.T) {
			tools.Need(t, c.needs...)
			dir := filepath.Join(t.TempDir(), c.name)
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "e2e", c.name))); err != nil {
				t.Fatal(err)
			}
			if c.heavy != "" {
				if err := os.Symlink(filepath.Join(base, c.name, c.heavy), filepath.Join(dir, c.heavy)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(c.heavy+"\n__pycache__\n.coverage\n.pytest_cache\ncoverage\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "start"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %s: %s", args[0], out)
				}
			}
			say := asker(t, dir)
			agent := fmt.Sprintf("case $SUPERVISE_ITERATION in 1) %s;; 2) %s;; esac", c.fix, c.cheat)
			out := say(0, "run", "--until", "never", "--max-iterations", "2", "--unattended", "-p", "Mend it.", "--", "sh", "-c", agent)
			wants(t, "run", out, `test_count_decreased`, `tree restored to iteration 1`, `selected iteration [01]`)
			looks(t, say, c.tests, c.passed, c.lost)
		})
	}
}

// asker returns a function that runs a command on the project, and returns what it
// says.
func asker(t *testing.T, dir string) func(code int, args ...string) string {
	state := t.TempDir()
	return func(code int, args ...string) string {
		t.Helper()
		var out, talk bytes.Buffer
		got := run(append([]string{"-C", dir, "--state-dir", state}, args...), streams{in: os.Stdin, out: &out, err: &talk})
		if got != code {
			t.Fatalf("supervise %s: status %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), talk.String())
		}
		return out.String()
	}
}

// wants checks that a text matches all expressions.
func wants(t *testing.T, what, text string, exprs ...string) {
	t.Helper()
	for _, e := range exprs {
		if !regexp.MustCompile(`(?m)` + e).MatchString(text) {
			t.Errorf("%s lacks %s:\n%s", what, e, text)
		}
	}
}

// looks asks everything about a loop whose second iteration deleted a test.
func looks(t *testing.T, say func(int, ...string) string, tests int, passed [2]int, lost string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.html")
	for _, q := range []struct {
		args  []string
		wants []string
	}{
		{[]string{"status"}, []string{` completed$`, fmt.Sprintf(`^ +0 +baseline +%d/%d`, passed[0], tests), fmt.Sprintf(`^ +1 .* %d/%d`, passed[1], tests), `^\[reg-001\] Iteration 2 - test_deletion`}},
		{[]string{"status", "--persistence"}, []string{fmt.Sprintf(`^Baseline Metrics: %d tests`, tests), `^Regression Events: 1 \(critical: test_deletion\)`, `^Recovery Attempts: 1$`}},
		{[]string{"status", "--regressions"}, []string{`^\[reg-001\] Iteration 2`, `Tests: .*` + lost}},
		{[]string{"status", "--quality"}, []string{`⬅ BEST$`, `^Iteration 2: .*⬅ REGRESSION$`}},
		{[]string{"status", "--json"}, []string{`"regression_type": "test_deletion"`}},
		{[]string{"status", "--all"}, []string{` completed +2 iterations`}},
		{[]string{"report"}, []string{`^# `, `Rationale`}},
		{[]string{"report", "--completion"}, []string{`^# Loop Completion Report$`}},
		{[]string{"report", "--iteration", "2"}, []string{`test_count_decreased`, lost}},
		{[]string{"report", "--json"}, []string{`"classification": "regression"`}},
		{[]string{"report", "--csv"}, []string{`^0,`, `^2,.*,regression,`}},
		{[]string{"report", "--html", page}, nil},
		{[]string{"explain", "latest", "2"}, []string{`test_count_decreased \(CRITICAL`}},
		{[]string{"verify"}, []string{`^\[x\] The recorded verdicts follow from what was measured$`}},
		{[]string{"analytics"}, []string{`Selected Iteration`}},
		{[]string{"analytics", "--json"}, []string{`"loop_id"`}},
		{[]string{"replay", "latest"}, nil},
		{[]string{"diff", "latest", "2", "--stat"}, []string{`-`}},
		{[]string{"select", "latest", "--use", "2", "--reason", "a person wants it"}, []string{`2`}},
		{[]string{"report"}, []string{`a person wants it`}},
		{[]string{"clean", "--keep", "0", "--older-than", "0s", "--yes"}, []string{`^1 loop, .*: deleted$`}},
	} {
		wants(t, strings.Join(q.args, " "), say(0, q.args...), q.wants...)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), lost) {
		t.Errorf("the page lacks %q: %v", lost, err)
	}
}
