package coverage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/coverage"
	"supervise/metric"
)

// corpusEntry is one report with what its upstream project says it holds.
type corpusEntry struct {
	Format, Divergence string
	Files              []string
	Expected, Computed corpusNumbers
}

type corpusNumbers struct {
	ParseError                  bool `json:"parse_error"`
	Lines, Branches, Statements *[2]int64
	Files                       *int
}

// divergences are the entries where we count otherwise on purpose, with what
// we count and why.
var divergences = map[string]struct{ want, reason string }{
	parserFolder + "cobertura/cobertura.xml": {
		"63/82 lines, 2/4 branches",
		"upstream calls a line missed that was executed and has no condition covered; the report declares 63",
	},
	parserFolder + "lcov/report.lcov": {
		"3/6 lines, 1/2 branches",
		"upstream calls a line of count 0 covered since one of its branches is; lcov itself counts 3",
	},
	parserFolder + "clover/clover-empty-package.xml": {
		"69/69 lines, 6/6 branches",
		"istanbul writes the numbers of branches into truecount and falsecount; the expectation reads them as two outcomes each",
	},
}

const parserFolder = "jenkinsci+coverage-model/src/test/resources/edu/hm/hafner/coverage/parser/"

// TestCorpora compares the recount of real reports with what the projects they
// come from assert about them. SUPERVISE_CORPORA names a folder with
// expected-coverage.json and the unpacked reports.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-coverage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []corpusEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	good, diverging := 0, 0
	for _, e := range entries {
		got, err := readFile(filepath.Join(dir, e.Files[0]))
		if d, known := divergences[e.Files[0]]; known {
			diverging++
			if s := summary(got); err != nil || s != d.want {
				t.Errorf("%s: got %s, %v; want the listed divergence %s (%s)", e.Files[0], s, err, d.want, d.reason)
			}
			continue
		}
		if why := e.compare(got, err); why != "" {
			t.Errorf("%s: %s", e.Files[0], why)
			continue
		}
		good++
	}
	t.Logf("%d entries: %d as expected, %d listed divergences", len(entries), good, diverging)
	if len(entries) == 0 {
		t.Error("the corpus has no entry")
	}
}

func readFile(name string) (coverage.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return coverage.Report{}, err
	}
	defer func() { _ = f.Close() }()
	return coverage.Read(f, filepath.Base(name))
}

// summary is a report in one line.
func summary(r coverage.Report) string {
	if r.Coverage == nil {
		return "nothing"
	}
	c := r.Coverage
	s := fmt.Sprintf("%d/%d %s", c.Covered, c.Total, c.Unit)
	if c.Branches != nil {
		s += fmt.Sprintf(", %d/%d branches", c.Branches.Covered, c.Branches.Total)
	}
	return s
}

func (e corpusEntry) compare(r coverage.Report, err error) string {
	switch {
	case e.Expected.ParseError && err == nil:
		return "was read although it is damaged"
	case e.Expected.ParseError:
		return ""
	case err != nil:
		return err.Error()
	case r.Format != strings.Replace(e.Format, "gocover", "go", 1):
		return "read as " + r.Format
	}
	return e.numbers(r)
}

func (e corpusEntry) numbers(r coverage.Report) string {
	c, x := r.Coverage, e.Expected
	units := x.Lines
	if c.Unit == metric.Statements && x.Statements != nil {
		units = x.Statements
	}
	if e.Divergence != "" && e.Format == "gocover" { // upstream counts a repeated block twice
		units = e.Computed.Statements
	}
	branches := [2]int64{}
	if c.Branches != nil {
		branches = [2]int64{c.Branches.Covered, c.Branches.Total}
	}
	switch {
	case units != nil && *units != [2]int64{c.Covered, c.Total}:
		return fmt.Sprintf("%s, want %v", summary(r), *units)
	case x.Branches != nil && *x.Branches != branches:
		return fmt.Sprintf("%s, want branches %v", summary(r), *x.Branches)
	case x.Files != nil && *x.Files != len(c.Files):
		return fmt.Sprintf("%d files, want %d", len(c.Files), *x.Files)
	}
	return ""
}
