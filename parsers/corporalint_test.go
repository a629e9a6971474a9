package parsers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"supervise/parsers"
)

// lintEntry is one report with what its upstream project says it holds.
type lintEntry struct {
	Format   string
	Files    []string
	Expected struct {
		Total           *int
		Suppressed      int
		ExecutionFailed int            `json:"execution_failed"`
		BaselineState   map[string]int `json:"baselineState"`
	}
}

// lintClaimed are the formats of the corpus that are read, with the formats
// that they are read as.
var lintClaimed = map[string][]string{
	"sarif 2.1.0":          {"sarif"},
	"checkstyle xml":       {"checkstyle"},
	"cppcheck xml":         {"cppcheck"},
	"pmd xml":              {"pmd"},
	"ruff json":            {"ruff"},
	"golangci-lint json":   {"golangci-lint"},
	"hadolint json":        {"hadolint"},
	"staticcheck json":     {"staticcheck-list"},
	"stylelint json":       {"stylelint"},
	"brakeman json":        {"brakeman"},
	"markdownlint json":    {"markdownlint"},
	"revive json":          {"findings-by-file"},
	"sqlfluff json":        {"sqlfluff"},
	"sonarqube json":       {"sonarqube"},
	"trivy json":           {"trivy"},
	"snyk json":            {"snyk"},
	"LintParser":           {"jslint", "checkstyle"},
	"StyleCopParser":       {"stylecop"},
	"AndroidLintAdapter":   {"android-lint"},
	"IdeaInspectionParser": {"idea-inspection"},
	"RustAnalyzerParser":   {"cargo"},
}

// lintDivergences are the entries where we count otherwise on purpose: -1 for
// an error.
var lintDivergences = map[string]struct {
	want   int
	reason string
}{
	"microsoft+sarif-tutorials/samples/Suppressions.sarif": {6, "a suppression that was rejected beside an accepted one hides nothing here"},

	jenkins + "checkstyle/checkstyle.xml":       {7, "seven findings at seven places are in it; upstream counts six"},
	jenkins + "sonarqube-api.json":              {17, "15 of the 32 issues are closed, as fixed; upstream counts them"},
	jenkins + "rust-analyzer.json":              {-1, "the report has no build-finished event, so it may be cut off"},
	jenkins + "sqlfluff-no-violations-key.json": {-1, "the document has nothing of sqlfluff; nothing unknown is read as zero"},
}

const jenkins = "jenkinsci+analysis-model/src/test/resources/edu/hm/hafner/analysis/parser/"

// TestLintCorpora compares the findings of real reports with what the projects
// they come from assert about them. SUPERVISE_CORPORA names a folder with
// expected-lint.json and the unpacked reports.
func TestLintCorpora(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-lint.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []lintEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	count, good, diverging := 0, 0, 0
	for _, e := range entries {
		formats := lintClaimed[e.Format]
		if formats == nil {
			continue
		}
		count++
		name := e.Files[0]
		got, format, err := e.read(dir)
		if err == nil && !slices.Contains(formats, format) {
			t.Errorf("%s: read as %s, want one of %v", name, format, formats)
		}
		want := e.want()
		if d, known := lintDivergences[name]; known {
			diverging++
			want = d.want
		}
		switch {
		case want < 0 && err == nil:
			t.Errorf("%s: %d findings of %s, want an error", name, got, format)
		case want >= 0 && (err != nil || got != want):
			t.Errorf("%s: %d findings of %s, error %v; want %d", name, got, format, err, want)
		default:
			good++
		}
	}
	t.Logf("%d entries: %d as wanted, %d of them listed divergences", count, good, diverging)
	if count == 0 {
		t.Error("the corpus has no entry of our formats")
	}
}

// want is the number of findings: without what is suppressed, or gone since the
// baseline. A run that failed completely is an error.
func (e lintEntry) want() int {
	if e.Expected.ExecutionFailed > 0 {
		return -1
	}
	return *e.Expected.Total - e.Expected.Suppressed - e.Expected.BaselineState["absent"]
}

func (e lintEntry) read(dir string) (n int, format string, err error) {
	for _, name := range e.Files {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return 0, "", err
		}
		r, err := parsers.Parse(f, name)
		_ = f.Close()
		if err != nil {
			return 0, r.Format, err
		}
		format = r.Format
		if r.Lint != nil {
			n += len(r.Lint.Findings)
		}
	}
	return n, format, nil
}
