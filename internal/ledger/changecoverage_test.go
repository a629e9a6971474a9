package ledger_test

import (
	"testing"

	"supervise/detector"
	"supervise/internal/ledger"
)

func TestChangeCoverage(t *testing.T) {
	tested := detector.ChangedLines{Path: "a.go", Lines: "3-6", Executed: "3-4,6"}
	untested := detector.ChangedLines{Path: "b.go", Lines: "9"}
	unlisted := detector.ChangedLines{Path: "c.sh", Unknown: "not in the coverage report"}
	unmeasured := detector.ChangedLines{Path: "a.go", Unknown: "coverage is not measured"}
	for _, tt := range []struct {
		name                  string
		files                 []detector.ChangedLines
		unknown               string
		least                 float64
		text, cell, shortfall string
	}{
		{"no minimum", []detector.ChangedLines{tested, untested}, "", 0, "3 of 5 lines tested", "3/5", ""},
		{"enough", []detector.ChangedLines{tested, untested}, "", 60, "3 of 5 lines tested", "3/5", ""},
		{"too few", []detector.ChangedLines{tested, untested}, "", 60.5, "3 of 5 lines tested", "3/5", "3 of 5 lines tested, and at least 60.5 % is required: test a.go:5, b.go:9"},
		{"a file is unknown", []detector.ChangedLines{tested, unlisted}, "", 75, "3 of 4 lines tested; unknown: c.sh (not in the coverage report)", "3/4", ""},
		{"files are unknown", []detector.ChangedLines{unlisted, unlisted}, "", 75, "unknown: c.sh and 1 more (not in the coverage report)", "n/a", ""},
		{"nothing is known", []detector.ChangedLines{unmeasured}, "coverage is not measured", 0, "tested lines unknown: coverage is not measured", "n/a", ""},
		{"nothing is known, which is not enough", []detector.ChangedLines{unmeasured}, "coverage is not measured", 1, "tested lines unknown: coverage is not measured", "n/a", "tested lines unknown: coverage is not measured, and at least 1 % is required: measure the lines that all suites execute"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := ledger.NewChangeCoverage(tt.files, tt.unknown, tt.least)
			if c.String() != tt.text || c.Cell() != tt.cell || c.Shortfall() != tt.shortfall {
				t.Errorf("text %q, cell %q, shortfall %q", c, c.Cell(), c.Shortfall())
			}
		})
	}
	if c := ledger.NewChangeCoverage(nil, "coverage is not measured", 80); c != nil || c.Cell() != "" || c.Shortfall() != "" {
		t.Errorf("without a change: %+v", c)
	}
}
