package metric_test

import (
	"testing"

	"supervise/metric"
)

func TestBriefKeepsTheErrorLine(t *testing.T) {
	for why, want := range map[string]string{
		"":          "",
		"timed out": "timed out",
		"collection failure\nx.py:2: in <module>\n    raise ImportError(\nE   ModuleNotFoundError: No module named 'y'\n": "ModuleNotFoundError: No module named 'y'",
		"# m/a\n./a.go:3:1: syntax error: non-declaration statement\n./a.go:9:1: too many errors\n":                       "./a.go:3:1: syntax error: non-declaration statement",
		"build failed\nexit status 2\n\n": "exit status 2",
	} {
		if got := (metric.Suite{Why: why}).MainError(); got != want {
			t.Errorf("%q: %q, want %q", why, got, want)
		}
	}
}
