package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/detector"
	"supervise/internal/evidence"
	"supervise/metric"
	"supervise/snapshot"
)

const parserBefore = `func parse(text string) int {
	if text == "" {
		log("empty")
		return 0
	}
	n := read(text)
	check(n)
	return n
}
`

const parserMoved = `// parse reads a number.
func parse(text string) (int, error) {
	if text == "" {
		log("empty")
		return 0, errEmpty
	}
	if !valid(text) {
		return 0, errInvalid
	}
	if strict {
		n := read(text)
		check(n)
	}
	return n
}
`

func TestLostCoverage(t *testing.T) {
	of := func(format string, files ...metric.FileCoverage) *metric.Coverage {
		c := &metric.Coverage{Unit: metric.Lines, Format: format, Files: files}
		for _, f := range files {
			c.Covered, c.Total = c.Covered+f.Covered, c.Total+f.Total
		}
		return c
	}
	file := func(path string, lines metric.LineSet) metric.FileCoverage {
		return metric.FileCoverage{Path: path, Covered: lines.Count(), Total: 10, Executed: lines}
	}
	texts := map[string][2]string{
		"pkg/parse.go": {parserBefore, parserMoved}, "old/parse.go": {parserBefore, ""}, "new/parse.go": {"", parserMoved},
		"gone.go": {parserBefore, ""}, "parse.go": {parserBefore, parserMoved},
	}
	for _, tt := range []struct {
		name        string
		before, now *metric.Coverage
		changed     []snapshot.Change
		renamed     map[string]string
		passing     func(string, metric.LineSet) metric.LineSet
		want        []detector.LostLines
		unknown     bool
	}{
		{name: "no change", before: of("lcov", file("a.go", "1-8")), now: of("lcov", file("a.go", "1-8"))},
		{
			name: "an unchanged file", before: of("lcov", file("a.go", "1-8")), now: of("lcov", file("a.go", "1-2,6-9")),
			want: []detector.LostLines{{Path: "a.go", Lines: "3-5", Units: 3}},
		},
		{
			name: "a file that is not in the report any more", before: of("lcov", file("a.go", "1-8"), file("b.go", "1")), now: of("lcov", file("b.go", "1")),
			want: []detector.LostLines{{Path: "a.go", Lines: "1-8", Units: 8}},
		},
		{ // line 1 and the returns are other lines now; log, read, check and a return are the same ones, read and check in a new block
			name: "moved lines", before: of("lcov", file("pkg/parse.go", "1-4,6-8")), now: of("lcov", file("pkg/parse.go", "2-3,10,14")),
			changed: []snapshot.Change{{Path: "pkg/parse.go", Kind: snapshot.Modified}},
			want:    []detector.LostLines{{Path: "pkg/parse.go", Lines: "4,11-12", Units: 3}},
		},
		{
			name: "new lines that no test runs", before: of("lcov", file("pkg/parse.go", "1-4,6-8")), now: of("lcov", file("pkg/parse.go", "2-4,10-12,14")),
			changed: []snapshot.Change{{Path: "pkg/parse.go", Kind: snapshot.Modified}},
		},
		{
			name: "only a failing test ran them", before: of("lcov", file("pkg/parse.go", "1-4,6-8")), now: of("lcov", file("pkg/parse.go", "2-3,10,14")),
			changed: []snapshot.Change{{Path: "pkg/parse.go", Kind: snapshot.Modified}},
			passing: func(_ string, all metric.LineSet) metric.LineSet { return all.Minus("6-7") },
			want:    []detector.LostLines{{Path: "pkg/parse.go", Lines: "4", Units: 1}},
		},
		{
			name: "a module of Go", before: of("go", file("example.com/m/parse.go", "6-7"), file("example.com/m/pkg/parse.go", "6-7")), now: of("go", file("example.com/m/parse.go", "11-12"), file("example.com/m/pkg/parse.go", "6-7")),
			changed: []snapshot.Change{{Path: "parse.go", Kind: snapshot.Modified}},
		},
		{
			name: "a module of Go in a folder", before: of("go", file("example.com/m/parse.go", "6-7")), now: of("go", file("example.com/m/parse.go", "11-12")),
			changed: []snapshot.Change{{Path: "pkg/parse.go", Kind: snapshot.Modified}},
		},
		{
			name: "a renamed file", before: of("lcov", file("old/parse.go", "6-7")), now: of("lcov", file("new/parse.go", "12")),
			changed: []snapshot.Change{{Path: "old/parse.go", Kind: snapshot.Deleted}, {Path: "new/parse.go", Kind: snapshot.Added}},
			renamed: map[string]string{"old/parse.go": "new/parse.go"},
			want:    []detector.LostLines{{Path: "new/parse.go", Lines: "11", Units: 1}},
		},
		{
			name: "a deleted file", before: of("lcov", file("gone.go", "1-8"), file("b.go", "1")), now: of("lcov", file("b.go", "1")),
			changed: []snapshot.Change{{Path: "gone.go", Kind: snapshot.Deleted}},
		},
		{name: "no lines", before: of("lcov", metric.FileCoverage{Path: "a.go", Covered: 8, Total: 10}), now: of("lcov", file("a.go", "1")), unknown: true},
		{name: "another format", before: of("lcov", file("a.go", "1-8")), now: of("cobertura", file("a.go", "1")), unknown: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := evidence.CoverageChange{Before: tt.before, Now: tt.now, Changes: tt.changed, Renamed: tt.renamed, Passing: tt.passing}
			c.Read = func(path string, after bool) ([]byte, error) {
				if after {
					return []byte(texts[path][1]), nil
				}
				return []byte(texts[path][0]), nil
			}
			got, known, err := c.Losses()
			if err != nil || known == tt.unknown {
				t.Fatalf("known %v, error %v", known, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
