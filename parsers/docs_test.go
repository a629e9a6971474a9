package parsers_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"supervise/parsers"
	"supervise/test/docs"
)

// pages are the tables of docs/formats.md.
var pages = []struct {
	block     string
	kind      parsers.Kind
	notations string
}{
	{"tests in XML", parsers.TestReport, "XML"},
	{"tests in JSON", parsers.TestReport, "JSON"},
	{"tests in text", parsers.TestReport, "text"},
	{"linters in XML and JSON", parsers.LintReport, "XML JSON"},
	{"linters in text", parsers.LintReport, "text"},
}

func TestDocsListTheFormats(t *testing.T) {
	for _, page := range pages {
		var b strings.Builder
		b.WriteString("| format | recognised by | written by | notes |\n|---|---|---|---|\n")
		for _, f := range parsers.Formats() {
			if f.Kind == page.kind && strings.Contains(page.notations, string(f.Notation)) {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Marks, f.Tools, f.Note)
			}
		}
		docs.Block(t, "formats.md", page.block, "./parsers", b.String())
	}
}

// TestFormatsAreComplete names what is missing from a row of the table of formats.
func TestFormatsAreComplete(t *testing.T) {
	goldens, tests, page := filesBelow(t, fixtures, ".golden.json"), filesBelow(t, ".", "_test.go"), docs.Page(t, "formats.md")
	for _, f := range parsers.Formats() {
		var missing []string
		if f.Marks == "" || f.Tools == "" {
			missing = append(missing, "Marks and Tools in its row")
		}
		if !strings.Contains(page, "| `"+f.Name+"` |") {
			missing = append(missing, "a row in docs/formats.md (go test ./parsers -run Docs -update-docs)")
		}
		if !strings.Contains(goldens, `"format": "`+f.Name+`"`) {
			missing = append(missing, "a report in testdata/"+string(f.Kind)+" with a golden file next to it (REPORT.golden.json, empty; make golden)")
		}
		if !strings.Contains(tests, `reports.Fuzz(f, "`+f.Name+`"`) {
			missing = append(missing, `a fuzz function: func Fuzz…(f *testing.F) { reports.Fuzz(f, "`+f.Name+`") }`)
		}
		if len(missing) > 0 {
			t.Errorf("format %s: missing\n\t%s", f.Name, strings.Join(missing, "\n\t"))
		}
	}
}

// filesBelow returns the text of all files of the folder whose names end so.
func filesBelow(t *testing.T, folder, suffix string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, suffix) {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
