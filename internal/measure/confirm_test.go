package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/metric"

	"github.com/google/go-cmp/cmp"
)

// A test that passes in a run that failed outside its tests has not recovered, unless the
// failure is a coverage limit that a few tests cannot reach.
func TestPassInAFailedRunClearsNothing(t *testing.T) {
	suspect := metric.Test{ID: metric.ID{Suite: "s", Name: "a"}, Status: metric.Passed}
	for _, tt := range []struct {
		runner, failure string
		broken          []metric.Suite
		want            int
	}{
		{want: 1},
		{failure: "ended with status 2 although no test failed"},
		{runner: "rspec", failure: "ended with status 2 although no test failed", want: 1},
		{broken: []metric.Suite{{Name: "s", Why: "panic"}}},
		{runner: "rspec", broken: []metric.Suite{{Name: "s", Why: "cannot be loaded"}}},
	} {
		tests := metric.NewTests([]metric.Test{suspect})
		tests.Failure, tests.Broken = tt.failure, tt.broken
		got := suspectOutcomes(Run{Check: Check{Runner: tt.runner}, State: metric.Measured, Tests: tests}, []metric.Test{suspect})
		if len(got) != tt.want {
			t.Errorf("%+v: %v, want %d", tt, got, tt.want)
		}
	}
}

func tap(passed bool, names ...string) metric.Set {
	var cases []metric.Test
	for _, n := range names {
		c := metric.Test{ID: metric.ID{Suite: "TAP", Name: n}, Status: metric.Failed}
		if passed {
			c.Status = metric.Passed
		}
		cases = append(cases, c)
	}
	return metric.Set{Tests: metric.NewTests(cases)}
}

// If chance is not the reason, nothing runs again.
func TestNothingIsRunAgainIfChanceIsNotTheReason(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*metric.Set)
		reruns  *Reruns
		refused string
		runs    int
	}{
		"as it is":              {runs: 2},
		"the build is broken":   {change: func(s *metric.Set) { s.Build = &metric.Build{Status: metric.BuildFailure, FirstError: "a.c:1"} }, refused: "the build is broken: a.c:1"},
		"the build succeeds":    {change: func(s *metric.Set) { s.Build = &metric.Build{Status: metric.BuildSuccess} }, runs: 2},
		"a suite panicked":      {change: func(s *metric.Set) { s.Tests.Broken = []metric.Suite{{Name: "m/b", Why: "panic"}} }, refused: "m/b did not run: panic"},
		"turned off":            {reruns: &Reruns{MaxTests: 20}, refused: "turned off"},
		"too many":              {reruns: &Reruns{MaxTests: 1, Reruns: 2}, refused: "2 tests fail that passed before, more than the 1"},
		"just not too many":     {reruns: &Reruns{MaxTests: 2, Reruns: 1}, runs: 1},
		"the check timed out":   {change: func(s *metric.Set) { s.Tests = nil }},
		"it did not run":        {change: func(s *metric.Set) { s.Tests = tap(true, "c").Tests }},
		"they had failed too":   {change: func(s *metric.Set) { *s = tap(true, "a", "b") }},
		"nothing failed at all": {change: func(s *metric.Set) { s.Tests = metric.NewTests(nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			check := Check{Kind: Test, Name: "t", Runner: "ctest", Command: []string{script(t, root, "ctest", `echo >>ran; printf '1..2\nnot ok 1 - a\nnot ok 2 - b\n'; exit 1`)}}
			now := tap(false, "a", "b")
			if tt.change != nil {
				tt.change(&now)
			}
			m := New(Plan{Root: root, Checks: []Check{check}}, Options{Scratch: t.TempDir(), Reruns: tt.reruns})
			got, err := m.Confirm(t.Context(), tap(true, "a", "b"), now)
			if err != nil || len(got.Flaky) > 0 || !strings.Contains(got.Refused, tt.refused) || (got.Refused == "") != (tt.refused == "") {
				t.Errorf("%v: %+v", err, got)
			}
			ran, _ := os.ReadFile(filepath.Join(root, "ran"))
			if len(got.Runs) != tt.runs || strings.Count(string(ran), "\n") != tt.runs {
				t.Errorf("%d runs, of which %q are there, want %d", len(got.Runs), ran, tt.runs)
			}
		})
	}
}

// script writes a program.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Only an explicit pass clears a test: not a successful command, not a test that is
// missing or skipped, and not a pass that another check contradicts.
func TestOnlyAnExplicitPassClears(t *testing.T) {
	const fails = `printf '1..2\nnot ok 1 - a\nok 2 - b\n'; exit 1`
	const passes = `printf '1..2\nok 1 - a\nok 2 - b\n'`
	for name, tt := range map[string]struct {
		scripts []string // of the checks
		want    int
		runs    int
	}{
		"it passes":                       {[]string{passes}, 1, 1},
		"it fails":                        {[]string{fails}, 0, 2},
		"the command ends well":           {[]string{"exit 0"}, 0, 2},
		"it fails, the command ends well": {[]string{`printf '1..1\nnot ok 1 - a\n'`}, 0, 2},
		"it is missing":                   {[]string{`printf '1..1\nok 1 - b\n'`}, 0, 2},
		"it is skipped":                   {[]string{`printf '1..1\nok 1 - a # SKIP\n'`}, 0, 2},
		"another one passes":              {[]string{`printf '1..1\nok 1 - a b\n'`}, 0, 2},
		"the report breaks off":           {[]string{`printf '1..2\nok 1 - a\n'`}, 0, 2},
		"the run is killed":               {[]string{`printf '1..1\nok 1 - a\n'; kill -9 $$`}, 0, 1},
		"the first denies it":             {[]string{fails, passes}, 0, 4},
		"one of two denies it":            {[]string{passes, fails}, 0, 4},
		"two agree":                       {[]string{passes, passes}, 1, 2},
		"one of two is silent":            {[]string{passes, "exit 1"}, 1, 2},
		"the second time":                 {[]string{`echo >>ran; [ "$(wc -l <ran)" -gt 1 ] && { ` + passes + `; exit; }; ` + fails}, 1, 2},
		"the third time":                  {[]string{`echo >>ran; [ "$(wc -l <ran)" -gt 2 ] && { ` + passes + `; exit; }; ` + fails}, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Plan{Root: t.TempDir()}
			for i, text := range tt.scripts {
				dir := filepath.Join(plan.Root, string(rune('a'+i)))
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				plan.Checks = append(plan.Checks, Check{Kind: Test, Name: "t", Runner: "ctest", Command: []string{script(t, dir, "ctest", text)}})
			}
			m := New(plan, Options{Scratch: t.TempDir()})
			before := m.Memory()
			got, err := m.Confirm(t.Context(), tap(true, "a", "b"), tap(false, "a"))
			if err != nil || len(got.Flaky) != tt.want || len(got.Runs) != tt.runs {
				t.Errorf("%v: flaky %v, %d runs, want %d and %d", err, got.Flaky, len(got.Runs), tt.want, tt.runs)
			}
			if diff := cmp.Diff(before, m.Memory()); diff != "" {
				t.Errorf("the meter learnt of a few tests:\n%s", diff)
			}
		})
	}
}

// If tests cannot be selected, or not all of them ran, the complete command runs, once.
func TestWholeCommandRunsAgainOnce(t *testing.T) {
	for _, tt := range []struct {
		name, runner, text string
		want               []string // what the command is given in each run
	}{
		{"no runner", "", `printf '1..1\nnot ok 1 - a\n'; exit 1`, []string{""}},
		{"a runner without a way", "mix", `printf '1..1\nnot ok 1 - a\n'; exit 1`, []string{""}},
		{"it shows", "ctest", `printf '1..1\nnot ok 1 - a\n'; exit 1`, []string{" -R ^(a)$", " -R ^(a)$", " -R ^(a)$"}},
		{"it does not show", "ctest", `[ $# = 0 ] && printf '1..1\nnot ok 1 - a\n'; exit 1`, []string{" -R ^(a)$", ""}},
		{"it is not understood", "ctest", `[ $# = 0 ] || { echo "unknown option -R"; exit 2; }; printf '1..1\nok 1 - a\n'`, []string{" -R ^(a)$", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			program := script(t, root, "ctest", tt.text)
			plan := Plan{Root: root, Checks: []Check{{Kind: Test, Name: "t", Runner: tt.runner, Command: []string{program}}}}
			got, err := New(plan, Options{Scratch: t.TempDir(), Reruns: &Reruns{MaxTests: 1, Reruns: 3}}).Confirm(t.Context(), tap(true, "a"), tap(false, "a"))
			var lines []string
			for _, r := range got.Runs {
				lines = append(lines, strings.TrimPrefix(r.Check.CommandLine(), program))
			}
			if diff := cmp.Diff(tt.want, lines); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A test is rerun only by the checks that run its suite. A report in the tree is
// read again, and its coverage is not used.
func TestOnlyChecksOfTheSuiteRunAgain(t *testing.T) {
	root := t.TempDir()
	one := script(t, root, "ctest", `echo >>one; printf '<testsuite name="s1"><testcase name="a">' >r1.xml; [ "$(wc -l <one)" -gt 1 ] || printf '<failure/>' >>r1.xml; printf '</testcase></testsuite>' >>r1.xml; [ "$(wc -l <one)" -gt 1 ]`)
	if err := os.Mkdir(filepath.Join(root, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	two := script(t, filepath.Join(root, "other"), "ctest", `echo >>two; printf '<testsuite name="s2"><testcase name="a"/></testsuite>'`)
	plan := Plan{Root: root, Checks: []Check{
		{Kind: Test, Name: "one", Runner: "ctest", Command: []string{one}, Reports: []string{"r1.xml"}},
		{Kind: Test, Name: "two", Runner: "ctest", Command: []string{two}},
		{Kind: Lint, Name: "lint", Command: []string{"/bin/sh", "-c", "echo >>linted"}},
	}}
	m := New(plan, Options{Scratch: t.TempDir()})
	res, err := m.Run(t.Context(), nil)
	if err != nil || res.Set.Tests.Counts().Failed != 1 {
		t.Fatalf("%v: %+v", err, res)
	}
	before := metric.Set{Tests: metric.NewTests([]metric.Test{
		{ID: metric.ID{Suite: "s1", Name: "a"}, Status: metric.Passed}, {ID: metric.ID{Suite: "s2", Name: "a"}, Status: metric.Passed},
	})}
	learnt := m.Memory()
	got, err := m.Confirm(t.Context(), before, res.Set)
	if diff := cmp.Diff(learnt, m.Memory()); diff != "" {
		t.Errorf("the meter learnt of a few tests:\n%s", diff)
	}
	if err != nil || len(got.Flaky) != 1 || got.Flaky[0].Suite != "s1" || len(got.Runs) != 1 || got.Runs[0].Check.CommandLine() != one+" -R ^(a)$" {
		t.Errorf("%v: %+v", err, got)
	}
	for file, want := range map[string]int{"one": 2, "two": 1, "linted": 1} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if n := strings.Count(string(text), "\n"); err != nil || n != want {
			t.Errorf("%s ran %d times, want %d", file, n, want)
		}
	}
}
