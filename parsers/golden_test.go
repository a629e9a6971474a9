package parsers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/metric"
	"supervise/parsers"
	"supervise/test/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../testdata"

// TestGolden compares what is read from captured reports with golden files. To
// add a report, make an empty golden file in addition to it and update.
func TestGolden(t *testing.T) {
	for _, path := range reports.Captured(t, "tests", "lint") {
		name, err := filepath.Rel(fixtures, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			compareGolden(t, path, filepath.ToSlash(name))
		})
	}
}

func compareGolden(t *testing.T, path, name string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := struct {
		parsers.Report
		Error string `json:"error,omitempty"`
	}{}
	got.Report, err = parsers.Parse(bytes.NewReader(text), name)
	if err != nil {
		got.Error = err.Error()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	golden := path + ".golden.json"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTruncatedTestReportLosesNoTest reads every captured report without its last part: whatever is
// missing, a test report may not be read as a complete one with fewer tests.
func TestTruncatedTestReportLosesNoTest(t *testing.T) {
	for _, path := range reports.Captured(t, "tests") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.TrimSpace(text)
		intact, err := parsers.Parse(bytes.NewReader(text), path)
		if err != nil { // it was captured as a damaged one
			continue
		}
		for _, part := range []int{10, 30, 50, 70, 90, 99} {
			cut, err := parsers.Parse(bytes.NewReader(text[:len(text)*part/100]), path)
			var syntax *parsers.SyntaxError
			if errors.As(err, &syntax) || errors.Is(err, parsers.ErrUnknownFormat) || err == nil && cut.Tests == nil {
				continue
			}
			if err != nil || len(cut.Tests.Broken) == len(intact.Tests.Broken) && loses(cut.Tests, intact.Tests) {
				t.Errorf("%s cut to %d %%: error %v and broken %v", path, part, err, cut.Tests.Broken)
			}
		}
	}
}

// loses reports whether a test of intact is missing in cut although its suite is
// not said to be broken.
func loses(cut, intact *metric.Tests) bool {
	broken := map[string]bool{}
	for _, s := range cut.Broken {
		broken[s.Name] = true
	}
	for _, c := range intact.Cases {
		if _, ran := cut.Lookup(c.ID); !ran && !broken[c.Suite] {
			return true
		}
	}
	return false
}

// TestTruncatedLintReportIsRefused reads every captured report of a linter in JSON or XML
// without its last part: fewer findings are never read as a complete report.
func TestTruncatedLintReportIsRefused(t *testing.T) {
	for _, path := range reports.Captured(t, "lint") {
		if ext := filepath.Ext(path); ext != ".json" && ext != ".sarif" && ext != ".xml" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		intact, err := parsers.Parse(bytes.NewReader(text), path)
		if err != nil { // it was captured as a damaged one
			continue
		}
		end := bytes.LastIndexAny(text, "]}>")
		if len(bytes.TrimSpace(text)) > end+1 { // text without a known end follows
			continue
		}
		for _, part := range []int{20, 40, 60, 80, 99, 100} {
			cut := text[:end*part/100]
			if r, err := parsers.Parse(bytes.NewReader(cut), path); err == nil && len(r.Lint.Findings) <= len(intact.Lint.Findings) {
				t.Errorf("%s cut to %d %% was read as %s with %d findings, of %d", path, part, r.Format, len(r.Lint.Findings), len(intact.Lint.Findings))
			}
		}
	}
}
