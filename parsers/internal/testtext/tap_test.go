package testtext_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/parsers"
	"supervise/test/reports"
)

func TestTAP(t *testing.T) {
	const brokeOff = ": the run broke off, or its output was cut off"
	for _, tt := range []struct {
		name, report string
		want         map[string]string
	}{
		{
			"directives", "1..6\nok 1 - a # SKIP no net\nnot ok 2 - b # todo later\nok 3 c # Skipped: too slow\nok 4 - d \\# SKIP\nnot ok 5 - e # time=2.5ms\nok 6 - f # 1\n",
			map[string]string{"TAP: a": "skipped", "TAP: b": "skipped", "TAP: c": "skipped", "TAP: d # SKIP": "passed", "TAP: e": "failed", "TAP: f # 1": "passed"},
		},
		{
			"points without a name are named by their number", "1..3\nok\nnot ok\nok 3\n",
			map[string]string{"TAP: test 1": "passed", "TAP: test 2": "failed", "TAP: test 3": "passed"},
		},
		{
			"points without a space before the dash", "1..3\nok-a\nnot ok 2-b\nok 3 -c\n",
			map[string]string{"TAP: a": "passed", "TAP: b": "failed", "TAP: -c": "passed"},
		},
		{
			"words of testem", "ok 1 Chrome - a\nskip 2 Chrome - b\ntodo 3 Chrome - c\n\n1..3\n",
			map[string]string{"TAP: Chrome - a": "passed", "TAP: Chrome - b": "skipped", "TAP: Chrome - c": "skipped"},
		},
		{
			"too few tests", "1..3\nok 1 a\n",
			map[string]string{"TAP: a": "passed", "broken TAP": "1 of 3 planned tests came" + brokeOff},
		},
		{
			"no plan", "TAP version 13\nok 1 a\n",
			map[string]string{"TAP: a": "passed", "broken TAP": "there is no plan" + brokeOff},
		},
		{
			"a plan and no test", "1..3\n", map[string]string{"broken TAP": "0 of 3 planned tests came" + brokeOff},
		},
		{
			"the end of the last line is missing", "1..2\nok 1 a\nok 2 b # SK",
			map[string]string{"TAP: a": "passed", "TAP: b # SK": "passed", "broken TAP": "the last line has no end: the output was cut off"},
		},
		{
			"bail out", "1..3\nok 1 a\nBail out! no database\nok 2 b\nok 3 c\n",
			map[string]string{"TAP: a": "passed", "broken TAP": "bailed out: no database"},
		},
		{
			"a block that looks like points", "1..2\nnot ok 1 a\n  ---\n  got: |\n    ok 2 x\n  1..9\n  ...\nok 2 b\n",
			map[string]string{"TAP: a": "failed", "TAP: b": "passed"},
		},
		{
			"a block without an end", "1..2\nnot ok 1 a\n  ---\n  got: x\nok 2 b\n",
			map[string]string{"TAP: a": "failed", "TAP: b": "passed"},
		},
		{
			"subtests before their point", "# Subtest: a\n    ok 1 - x\n    # Subtest: y\n        not ok 1 - z\n        1..1\n    not ok 2 - y\n    1..2\nnot ok 1 - a\n1..1\n",
			map[string]string{"TAP: a.x": "passed", "TAP: a > y.z": "failed"},
		},
		{
			"subtests in braces", "1..3\nok 1 - looks like {\nok 2 - a {\n    1..1\n    ok 1 - x\n}\nok 3 - e {\n}\n",
			map[string]string{"TAP: a.x": "passed", "TAP: looks like {": "passed", "TAP: e": "passed"},
		},
		{
			"cut off in braces", "1..1\nok 1 - a {\n    1..2\n    ok 1 - x\n",
			map[string]string{"TAP: a.x": "passed", "broken TAP": "the report ends in the subtests of a" + brokeOff},
		},
		{
			"a subtest fails although nothing in it does", "1..1\n# Subtest: a\n    ok 1 - x\n    1..1\nnot ok 1 - a\n  ---\n  error: hook\n  ...\n",
			map[string]string{"TAP: a.x": "passed", "broken a": "it failed although nothing in it did: error: hook"},
		},
		{
			"a failure in a subtest that is to do", "1..1\n    not ok 1 - x\n    1..1\nnot ok 1 - a # TODO\n",
			map[string]string{"TAP: a.x": "skipped"},
		},
		{
			"streams one after another", "1..1\nok 1 a\n1..2\nok 1 b\nok 2 c\nTAP version 13\nok 1 d\n1..2\n",
			map[string]string{"TAP: a": "passed", "TAP: b": "passed", "TAP: c": "passed", "TAP: d": "passed", "broken TAP": "1 of 2 planned tests came" + brokeOff},
		},
		{
			"tests of tape", "TAP version 13\n# one\nok 1 should be equal\nok 2 should be equal\n# two\nnot ok 3 should be equal\n\n1..3\n# tests 3\n",
			map[string]string{"TAP: one.should be equal": "passed", "TAP: one.should be equal (2)": "passed", "TAP: two.should be equal": "failed"},
		},
		{
			"files of prove", "t/a.t ..\n1..1\nok 1 - a\nok\nt/b.t .. skipped: no net\nt/c.t ..\nok 1 - c\nDubious, test returned 2 (wstat 512, 0x200)\nNo subtests run\nFiles=3, Tests=2,  1 wallclock secs\nResult: FAIL\n",
			map[string]string{"t/a.t: a": "passed", "t/b.t: t/b.t": "skipped", "t/c.t: c": "passed", "broken t/c.t": "there is no plan" + brokeOff + ": test returned 2 (wstat 512, 0x200)"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parsers.Parse(strings.NewReader(tt.report), "test")
			if err != nil || r.Format != "tap" {
				t.Fatal(r.Format, err)
			}
			if diff := cmp.Diff(tt.want, reports.Statuses(r.Tests)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTAPProblems reads streams whose plan or numbers contradict their points.
func TestTAPProblems(t *testing.T) {
	for report, want := range map[string]string{
		"1..1\nok 1 a\nok 2 b\n":        "TAP: 1 tests were planned, 2 came",
		"1..2\nok 1 a\nok 3 b\n":        "test point 3 is where 2 should be",
		"1..0 # SKIP no net\n":          "TAP: there are no tests in it no net",
		"TAP version 13\n1..1\nlog\nok": "1 lines are no TAP, the first: log",
		"1..1\nok 1 a\n# tests 3\n":     "TAP: the report says 3 tests and holds 1",

		"# Subtest: a\n    ok 1 - x\n    1..1\nok 1 - a\n1..1\n# tests 2\n": "TAP: the last lines count tests with others in them too, 1 here; in this report only the innermost count",

		"1..1\n# Subtest: a\n    ok 1 - x\n    1..1\nok 1 - a\n\n# { total: 2, pass: 2 }\n": "TAP: the last lines count tests with others in them too, 1 here; in this report only the innermost count",
	} {
		r, err := parsers.Parse(strings.NewReader(report), "test")
		if err != nil || len(r.Problems) != 1 || r.Problems[0] != want {
			t.Errorf("%q: error %v, problems %q, want %q", report, err, r.Problems, want)
		}
	}
}

// TestTruncatedProveIsRefused reads a run of prove that has no summary.
func TestTruncatedProveIsRefused(t *testing.T) {
	_, err := parsers.Parse(strings.NewReader("t/a.t ..\n1..1\nok 1 - a\nok\n"), "p.txt")
	if err == nil || !strings.Contains(err.Error(), "p.txt: the report ends before the summary of prove") {
		t.Error(err)
	}
}

// TestOtherTextIsNoTAP reads text that has some words of TAP.
func TestOtherTextIsNoTAP(t *testing.T) {
	for _, text := range []string{
		"ok\n", "ok  \texample.com/p\t0.012s\n", "ok 5 files were copied\n", "it is not ok 1 2 3\n", "range 1..5\nok\n", "done\n1..2.3\nok 1\n", "  ok 1 - a\n",
	} {
		if r, err := parsers.Parse(strings.NewReader(text), "test"); err == nil && r.Format == "tap" {
			t.Errorf("%q was read as TAP: %+v", text, r.Cases)
		}
	}
}
