package coverage_test

import (
	"path/filepath"
	"testing"
)

// sameRun are the numbers of the reports that one run of one tool wrote.
// Reports that are not listed in others have the numbers of the set.
var sameRun = []struct {
	folder, want string
	others       map[string]otherwise
}{
	{"jest", "6/11 lines, 2/13 branches", byLine("6/11 lines, 2/12 branches")},
	{"nyc", "7/10 lines, 5/13 branches", byLine("7/10 lines, 5/12 branches")},
	{"vitest-v8", "4/9 lines, 2/13 branches", byLine("4/9 lines, 2/12 branches")},
	{"vitest-istanbul", "4/9 lines, 2/13 branches", byLine("4/9 lines, 2/12 branches")},
	{"c8", "18/23 lines, 4/9 branches", nil},
	{"phpunit", "3/7 lines", map[string]otherwise{
		"clover.xml": {"3/7 statements", "its unit is statements; each is on its own line"},
	}},
	{"go", "6/8 lines", map[string]otherwise{
		"cover.out": {"4/5 statements", "a profile counts statements, its conversion every line of their blocks"},
	}},
	{"gcovr", "18/25 lines, 13/22 branches", map[string]otherwise{
		"clover.xml":         {"20/27 statements", "gcovr counts a line once for each instance of a template, and gives no conditions here"},
		"jacoco.xml":         {"20/27 lines, 14/24 branches", "its lines do not say whether they were executed: its counters, by instance of a template"},
		"gcovr-summary.json": {"20/27 lines, 14/24 branches", "numbers alone, by instance of a template"},
		"lcov.info":          {"18/26 lines, 13/22 branches", "written by lcov, which has a line that gcovr leaves out"},
		"sample.gcov":        {"10/17 lines", "written by gcov, for one of the two files"},
		"sample.gcov.json":   {"10/17 lines", "written by gcov, for one of the two files"},
	}},
	{"gcov", "10/13 lines, 5/10 branches", map[string]otherwise{"lines.gcov": {"10/13 lines", "written without -b"}}},
	{"coverage-py", "16/23 lines, 4/10 branches", nil},
	{"llvm-cov", "13/22 lines, 10/18 branches", map[string]otherwise{
		"lcov.info": {"14/23 lines, 10/18 branches", "its DA records have the line of a macro that no function owns; its own LF and the JSON have not"},
	}},
}

// byLine is what istanbul's reports that give branches to lines do not have: a
// branch, such as a default value of a parameter, on a line without statement.
func byLine(want string) map[string]otherwise {
	const reason = "branches are at lines only, and one is on a line without statement"
	return map[string]otherwise{"clover.xml": {want, reason}, "cobertura-coverage.xml": {want, reason}}
}

type otherwise struct{ want, reason string }

// TestReportsOfOneRunAgree compares the reports that one run wrote in several formats.
func TestReportsOfOneRunAgree(t *testing.T) {
	for _, tt := range sameRun {
		seen := 0
		for _, path := range captured(t) {
			name, err := filepath.Rel(filepath.Join(fixtures, "samerun", tt.folder), path)
			if err != nil || filepath.Dir(name) != "." {
				continue
			}
			seen++
			r, err := readFile(path)
			want := tt.want
			if o, ok := tt.others[name]; ok {
				t.Logf("%s/%s has %s: %s", tt.folder, name, o.want, o.reason)
				t.Logf("%s/%s has %s: %s", tt.folder, name, o.want, o.reason)
				want = o.want
			}
			if got := summary(r); err != nil || got != want {
				t.Errorf("%s/%s: %s, %v; want %s", tt.folder, name, got, err, want)
			}
		}
		if seen < 2 {
			t.Errorf("%s has %d reports", tt.folder, seen)
		}
	}
}
