package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supervise/detector"
	"supervise/integrity"
	"supervise/internal/evidence"
	"supervise/metric"
	"supervise/snapshot"
)

func TestChangedLines(t *testing.T) {
	const python = "import os\n\n\ndef total(prices):\n    # all of them\n    out = 0\n    for p in prices:\n        out += p\n    return out\n"
	const rust = "pub fn add(a: i32) -> i32 {\n    a + 1\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(2, super::add(1));\n    }\n}\n"
	of := func(files ...metric.FileCoverage) *metric.Coverage {
		return &metric.Coverage{Unit: metric.Lines, Format: "coverage.py", Files: files, Total: 9}
	}
	goReport := func(files ...metric.FileCoverage) *metric.Coverage {
		c := of(files...)
		c.Format = "go"
		return c
	}
	file := func(path string, executed, missed metric.LineSet) metric.FileCoverage {
		return metric.FileCoverage{Path: path, Covered: executed.Count(), Total: executed.Count() + missed.Count(), Executed: executed, NotExecuted: missed}
	}
	type texts map[string][2]string // before and after, "" for none
	for _, tt := range []struct {
		name    string
		now     *metric.Coverage
		changes texts
		base    []string // other files of the project
		want    []detector.ChangedLines
	}{
		{
			name: "a modified line", now: of(file("shop.py", "1,4,6-9", "")),
			changes: texts{"shop.py": {python, "import os\n\n\ndef total(prices):\n    out = 0\n    for p in prices:\n        out += 2 * p\n    return out\n"}},
			want:    []detector.ChangedLines{{Path: "shop.py", Lines: "7", Executed: "7"}},
		},
		{
			name: "a new function without a test", now: of(file("shop.py", "1,4,6-9,12", "13-14")),
			changes: texts{"shop.py": {python, python + "\n\ndef tax(price):\n    rate = 0.2\n    return price * rate  # net\n"}},
			want:    []detector.ChangedLines{{Path: "shop.py", Lines: "12-14", Executed: "12"}},
		},
		{
			name: "moved, indented and commented lines", now: of(file("shop.py", "", "1-9")),
			changes: texts{"shop.py": {python, "# a shop\ndef total(prices):\n        out = 0  # nothing\n        for p in prices:\n            out += p\n        return out\n\nimport os\n"}},
		},
		{
			name: "moved with its file", now: of(file("lib/shop.py", "1,4,6-8", "9")),
			changes: texts{"shop.py": {python, ""}, "lib/shop.py": {"", python[:len(python)-4] + "total\n"}},
			want:    []detector.ChangedLines{{Path: "lib/shop.py", Lines: "9"}},
		},
		{
			name: "tests, generated, vendored and other files", now: of(file("shop.py", "1", "")),
			changes: texts{"test_shop.py": {"", python}, "api_pb2.py": {"", python}, "vendor/a/b.py": {"", python}, "README.md": {"", python}},
		},
		{
			name: "inline tests", now: of(file("src/lib.rs", "1-2,8-9", "")),
			changes: texts{"src/lib.rs": {"pub fn add(a: i32) -> i32 {\n    a\n}\n", rust}},
			want:    []detector.ChangedLines{{Path: "src/lib.rs", Lines: "2", Executed: "2"}},
		},
		{
			name: "a file that no test loads", now: of(file("lib/shop.py", "1", "")),
			changes: texts{"lib/tax.py": {"", "RATE = 2\n\n\ndef tax(p):\n    return RATE * p\n"}},
			want:    []detector.ChangedLines{{Path: "lib/tax.py", Lines: "1,4-5"}},
		},
		{
			name: "a file that may be excluded", now: of(file("lib/shop.py", "1", "")),
			changes: texts{"scripts/tax.py": {"", "def tax(p):\n    return p\n"}, "lib/old.py": {"", "RATE = 2\n"}},
			want:    []detector.ChangedLines{{Path: "lib/old.py", Unknown: "not in the coverage report"}, {Path: "scripts/tax.py", Unknown: "not in the coverage report"}},
		},
		{
			name: "a file of another system, and one of types", now: goReport(file("example.com/m/a.go", "1", "")),
			changes: texts{"a_windows.go": {"", "package m\n\nfunc A() int { return 1 }\n"}, "types.go": {"", "package m\n\ntype T struct{ A int }\n"}},
			want:    []detector.ChangedLines{{Path: "a_windows.go", Unknown: "not in the coverage report"}},
		},
		{
			name: "the name of another file", now: goReport(file("example.com/m/tax.go", "3", "")), base: []string{"tax.go"},
			changes: texts{"cmd/tax.go": {"", "package main\n\nfunc main() { println(1) }\n"}},
			want:    []detector.ChangedLines{{Path: "cmd/tax.go", Unknown: "not in the coverage report"}},
		},
		{
			name: "the name of two files", now: goReport(file("example.com/m/tax.go", "3", "")), base: []string{"web/tax.go"},
			changes: texts{"cmd/tax.go": {"", "package main\n\nfunc main() { println(1) }\n"}},
			want:    []detector.ChangedLines{{Path: "cmd/tax.go", Unknown: "not in the coverage report"}},
		},
		{
			name: "a moved file of a module in a folder", now: goReport(file("example.com/m/tax.go", "3", "")), base: []string{"cmd/tax.go"},
			changes: texts{"cmd/tax.go": {"package main\n\nfunc main() { println(1) }\n", ""}, "web/tax.go": {"", "package main\n\nfunc main() { println(2) }\n"}},
			want:    []detector.ChangedLines{{Path: "web/tax.go", Lines: "3", Executed: "3"}},
		},
		{
			name:    "no coverage",
			changes: texts{"shop.py": {"", python}},
			want:    []detector.ChangedLines{{Path: "shop.py", Unknown: "coverage is not measured"}},
		},
		{
			name: "a suite that did not run", now: &metric.Coverage{Files: []metric.FileCoverage{file("shop.py", "1", "4-9")}, MissingSuites: []string{"before", "now"}},
			changes: texts{"shop.py": {"", python}},
			want:    []detector.ChangedLines{{Path: "shop.py", Unknown: "not all suites ran"}},
		},
		{
			name: "a suite that never ran", now: &metric.Coverage{Files: []metric.FileCoverage{file("shop.py", "1", "4-9")}, MissingSuites: []string{"before"}},
			changes: texts{"shop.py": {"", python}},
			want:    []detector.ChangedLines{{Path: "shop.py", Lines: "1,4,6-9", Executed: "1"}},
		},
		{
			name: "an older record", now: &metric.Coverage{Files: []metric.FileCoverage{{Path: "shop.py", Covered: 1, Total: 6, Executed: "1"}}},
			changes: texts{"shop.py": {"", python}},
			want:    []detector.ChangedLines{{Path: "shop.py", Unknown: "lines that are not executed are not recorded"}},
		},
		{
			name: "totals", now: &metric.Coverage{Covered: 5, Total: 9},
			changes: texts{"shop.py": {"", python}},
			want:    []detector.ChangedLines{{Path: "shop.py", Unknown: "the coverage report names no lines"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := evidence.CoverageChange{Before: &metric.Coverage{MissingSuites: []string{"before"}}, Now: tt.now, Base: integrity.Tree{Paths: func() []string { return tt.base }, Texts: func([]string) map[string][]byte { return nil }}}
			c.Read = func(path string, after bool) ([]byte, error) {
				if after {
					return []byte(tt.changes[path][1]), nil
				}
				return []byte(tt.changes[path][0]), nil
			}
			for path, text := range tt.changes {
				kind := snapshot.Modified
				switch "" {
				case text[0]:
					kind = snapshot.Added
				case text[1]:
					kind = snapshot.Deleted
				}
				c.Changes = append(c.Changes, snapshot.Change{Path: path, Kind: kind})
			}
			got, err := c.ChangedLines()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(detector.ChangedLines{}, "Changed")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
