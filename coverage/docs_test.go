package coverage_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"supervise/coverage"
	"supervise/test/docs"
)

func TestDocsListTheFormats(t *testing.T) {
	var b strings.Builder
	b.WriteString("| format | unit | recognised by | written by | notes |\n|---|---|---|---|---|\n")
	for _, f := range coverage.Formats() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Units, f.Marks, f.Tools, f.Note)
	}
	docs.Block(t, "formats.md", "coverage", "./coverage", b.String())
}

// TestFormatsAreComplete names what is missing from a row of the table of formats.
func TestFormatsAreComplete(t *testing.T) {
	tests, err := os.ReadFile("fuzz_test.go")
	if err != nil {
		t.Fatal(err)
	}
	goldens, page := map[string]bool{}, docs.Page(t, "formats.md")
	for _, path := range captured(t) {
		r, _ := readFile(path) // some are damaged
		goldens[r.Format] = true
	}
	for _, f := range coverage.Formats() {
		var missing []string
		if f.Units == "" || f.Marks == "" || f.Tools == "" {
			missing = append(missing, "Units, Marks and Tools in its row")
		}
		if !strings.Contains(page, "| `"+f.Name+"` |") {
			missing = append(missing, "a row in docs/formats.md (go test ./coverage -run Docs -update-docs)")
		}
		if !goldens[f.Name] {
			missing = append(missing, "a report in testdata/coverage with a golden file next to it (REPORT.golden.json, empty; make golden)")
		}
		if !strings.Contains(string(tests), `fuzz(f, "`+f.Name+`"`) {
			missing = append(missing, `a fuzz function: func Fuzz…(f *testing.F) { fuzz(f, "`+f.Name+`") }`)
		}
		if len(missing) > 0 {
			t.Errorf("format %s: missing\n\t%s", f.Name, strings.Join(missing, "\n\t"))
		}
	}
}
