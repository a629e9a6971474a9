package coverage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"supervise/coverage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../testdata/coverage"

// captured lists the captured reports: the files that have a golden file
// in addition to them.
func captured(t testing.TB) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if report, ok := strings.CutSuffix(path, ".golden.json"); ok {
			out = append(out, report)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("there are no captured reports: %v", err)
	}
	return out
}

// TestGolden compares what is read from captured reports with golden files. To
// add a report, make an empty golden file in addition to it and update.
func TestGolden(t *testing.T) {
	for _, path := range captured(t) {
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
		coverage.Report
		Error string `json:"error,omitempty"`
	}{}
	got.Report, err = coverage.Read(bytes.NewReader(text), name)
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

// TestTruncatedReportIsRefused reads every captured report without its last
// part: whatever is missing, it may not be read as a complete one. An LCOV file or Go profile that
// ends between two records looks complete.
func TestTruncatedReportIsRefused(t *testing.T) {
	for _, path := range captured(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.TrimSpace(text)
		complete, err := coverage.Read(bytes.NewReader(text), path)
		if err != nil || complete.Format == "go" { // it was captured as a damaged one
			continue
		}
		for _, part := range []int{10, 30, 50, 70, 90, 99} {
			cut := text[:len(text)*part/100]
			if complete.Format == "lcov" && bytes.HasSuffix(bytes.TrimSpace(cut), []byte("end_of_record")) {
				continue
			}
			_, err := coverage.Read(bytes.NewReader(cut), path)
			var syntax *coverage.SyntaxError
			if !errors.As(err, &syntax) && !errors.Is(err, coverage.ErrUnknownFormat) && !errors.Is(err, coverage.ErrEmpty) {
				t.Errorf("%s cut to %d %%: error %v", path, part, err)
			}
		}
	}
}
