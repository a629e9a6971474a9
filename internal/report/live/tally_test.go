package live

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"supervise/parsers"
)

func counted(t *testing.T, path string, piece int) *testCounter {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &testCounter{cleanName: strings.TrimSpace}
	for len(text) > 0 {
		n := min(piece, len(text))
		c.countTests(text[:n])
		text = text[n:]
	}
	return c
}

// What was counted while a runner printed is what its output says in the end.
func TestTallyIsThatOfTheReport(t *testing.T) {
	for _, name := range []string{
		"gotest/outcomes.jsonl", "gotest/panics.jsonl", "gotest/noise.jsonl", "gotest/cached.jsonl", "gotest/buildfails.jsonl", "samerun/gotestsum/gotest.jsonl",
		"gotext/verbose.txt", "cargotest/all.txt", "cargotest/onethread.txt", "unittest/clean.txt",
	} {
		path := "../../../testdata/tests/" + name
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := parsers.Parse(bytes.NewReader(text), path)
		if err != nil {
			t.Fatal(err)
		}
		n := report.Tests.Counts()
		for _, piece := range []int{1, 100, len(text)} {
			c := counted(t, path, piece)
			if got := c.tally; got.Passed != n.Passed || got.Failed != n.Failed || got.Skipped != n.Skipped {
				t.Errorf("%s, %d bytes at a time: %+v, and the report has %+v", name, piece, got, n)
			}
		}
	}
}

// Runners that print no report: their own last lines say what is right.
func TestTallyIsThatOfTheSummary(t *testing.T) {
	const samerun = "../../../testdata/tests/samerun/"
	for _, tt := range []struct {
		path, hint string
		want       Tally
	}{
		// 7 failed, 8 passed, 3 skipped, 2 xfailed, 1 xpassed, 4 errors; of these one
		// skip and one error are of modules, which are no tests
		{"testdata/pytest.verbose.txt", ".py::", Tally{Passed: 9, Failed: 10, Skipped: 4, LastFailed: "test_sample.py::TestCase::test_subtests"}},
		// 6 failed, 10 passed, 3 skipped, 2 xfailed, 1 xpassed, 4 errors; as above, and the
		// failure of a subtest has no mark
		{samerun + "pytest/pytest.txt", "%]", Tally{Passed: 11, Failed: 8, Skipped: 4}},
		// 5 failed, 9 passed, 5 skipped, 1 todo
		{"testdata/vitest.default.txt", " test", Tally{Passed: 9, Failed: 5, Skipped: 6}},
		{"testdata/vitest.verbose.txt", " > ", Tally{Passed: 9, Failed: 5, Skipped: 6, LastFailed: "sample.test.js > is"}},
		// 5 passed, 3 failed, 2 skipped
		{samerun + "gtest/gtest.txt", "[ ", Tally{Passed: 5, Failed: 3, Skipped: 2, LastFailed: "SetUpBreaks.Never"}},
	} {
		c := counted(t, tt.path, 64)
		if c.shape == nil || c.shape.hint != tt.hint || c.tally != tt.want {
			t.Errorf("%s: %+v by %+v, want %+v by %s", tt.path, c.tally, c.shape, tt.want, tt.hint)
		}
	}
}

// A line of any length, and an output without end, take a bounded piece of memory.
func TestTallyIsBounded(t *testing.T) {
	c := testCounter{cleanName: strings.TrimSpace}
	for range 1000 {
		c.countTests(bytes.Repeat([]byte("x"), 1<<16))
	}
	if cap(c.pending) > 4*maxLineBytes {
		t.Errorf("%d bytes of a line are kept", cap(c.pending))
	}
	c.countTests([]byte("\n" + strings.Repeat("nothing\n", maxUnknownLines+1) + "--- FAIL: TestLate (0.00s)\n"))
	if c.tally.Count() != 0 {
		t.Errorf("%+v, and it was looked for long enough", c.tally)
	}
}
