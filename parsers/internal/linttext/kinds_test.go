package linttext

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"supervise/internal/textstream"
)

// capturedLines are all lines of captured reports in text, as they are and after what a
// build tool puts before them.
func capturedLines(t *testing.T) []string {
	t.Helper()
	var out []string
	paths, err := filepath.Glob("../../../testdata/lint/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(textstream.StripANSI(line), " \t\r\n")
			if _, inner := cutBuildPrefix(line); inner != "" {
				out = append(out, line, inner)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The set of all forms finds for every line what each form finds, and the quick way to
// read a line says what its full expression says.
func TestQuickReadingIsThatOfTheExpressions(t *testing.T) {
	lines := append(capturedLines(t), "", "a.c:1", "C:/a.c:1: m", `C:\a b\c.c:12:3: error: m`, "a.c:1234567890: m", "a.c:12x: m", "c:/:3: m", "a.c:1:2:3: m", "a (b).c:1:2: m",
		"  1:2  error  m  r", "  1:2  error  m  no, rule", "  1:2  error  rule", "  1:2  error  m    a/b.c  ", "  1:2  error  a  b  c\td", "a.go:1:2: m (b) (c)", "a.py:1: error: m   [r]", "a/b:", "/a:b.c:", "a.b.c")
	read := 0
	for _, line := range lines {
		quick, slow := kindsOf(line), kindsOneByOne(line)
		shifted := slices.Clone(slow.forms)
		for i := range shifted {
			shifted[i] += quick.first
		}
		if !slices.Equal(quick.forms, shifted) || !slices.Equal(quick.summaries, slow.summaries) || quick.ruler != slow.ruler {
			t.Errorf("%q: %+v, one by one %+v", line, quick, slow)
		}
		for _, i := range slow.forms {
			f := lineForms()[i]
			got := f.read(line)
			f.fast = fastPath{}
			if want := f.read(line); got != want {
				t.Errorf("%s on %q: got %+v, want %+v", f.pattern, line, got, want)
			}
			read++
		}
	}
	if len(lines) < 500 || read < 300 {
		t.Errorf("%d lines, %d read", len(lines), read)
	}
}

// A rule is taken off as the expression says.
func TestTrailingRule(t *testing.T) {
	for message, want := range map[string]string{
		"m [a]": "a|m", "m  \t(-Wx=2)": "-Wx=2|m", "m[a]": "|m[a]", "m [1]": "|m [1]", "m [-]": "|m [-]", "[a]": "|[a]", " [a]": "a|", "m [a)": "a|m", "m [a b]": "|m [a b]",
		"m [a] [b/c@d]": "b/c@d|m [a]", "m (x(y)": "|m (x(y)", "m [é]": "|m [é]", "": "|", "m [a": "|m [a", "m []": "|m []", "m [A_1.+:,]": "A_1.+:,|m",
	} {
		rule, before := trailingRule(message)
		if rule+"|"+before != want {
			t.Errorf("%q: %q and %q", message, rule, before)
		}
	}
}
