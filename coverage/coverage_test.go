package coverage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"supervise/coverage"
	"supervise/metric"
)

var update = flag.Bool("update", false, "write the golden files anew")

func captured(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob("../testdata/coverage/go/*.out")
	if err != nil || len(found) == 0 {
		t.Fatalf("there are no captured profiles: %v", err)
	}
	return found
}

func TestGolden(t *testing.T) {
	for _, path := range captured(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			report, err := coverage.Read(bytes.NewReader(text), filepath.Base(path))
			got := struct {
				coverage.Report
				Error string `json:"error,omitempty"`
			}{Report: report}
			if err != nil {
				got.Error = err.Error()
			}
			b, err := json.MarshalIndent(got, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden := path + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), string(b)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const two = "mode: set\np/a.go:1.1,2.2 3 1\np/a.go:3.1,4.2 2 0\n"

func TestGoProfile(t *testing.T) {
	a := func(covered, total int64) *metric.Coverage {
		return &metric.Coverage{
			Covered: covered, Total: total, Unit: metric.Statements, Format: "go",
			Files: []metric.FileCoverage{{Path: "p/a.go", Covered: covered, Total: total}},
		}
	}
	for _, tt := range []struct {
		name, profile string
		want          *metric.Coverage
		problems      int
	}{
		{"plain", two, a(3, 5), 0},
		{"byte order mark and carriage returns", "\uFEFF" + strings.ReplaceAll(two, "\n", "\r\n"), a(3, 5), 0},
		{"no line feed at the end", strings.TrimSpace(two), a(3, 5), 0},
		{"concatenated", two + "mode: count\np/a.go:3.1,4.2 2 7\n", a(5, 5), 0},
		{"no mode line", strings.TrimPrefix(two, "mode: set\n"), a(3, 5), 0},
		{"noise", "warning: x\n" + two + "PASS\n", a(3, 5), 1},
		{"a count that fits no integer", "mode: count\np/a.go:1.1,2.2 3 99999999999999999999999\n", a(3, 3), 0},
		{"another version of a block", two + "p/a.go:1.1,2.2 9 1\n", a(3, 5), 1},
		{"an endless line", two + strings.Repeat("x", 1<<20) + "\n", a(3, 5), 1},
		{"a folder with spaces and colons", strings.ReplaceAll(two, "p/a.go", "C:/my code/a.go"), &metric.Coverage{
			Covered: 3, Total: 5, Unit: metric.Statements, Format: "go",
			Files: []metric.FileCoverage{{Path: "C:/my code/a.go", Covered: 3, Total: 5}},
		}, 0},
		{"no statements at all", "mode: set\n", &metric.Coverage{Unit: metric.Statements, Format: "go"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := coverage.Read(strings.NewReader(tt.profile), "cover.out")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Coverage); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Problems) != tt.problems {
				t.Errorf("problems %q, want %d", got.Problems, tt.problems)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, profile string
		is            error
	}{
		{"nothing", "", coverage.ErrEmpty},
		{"white space", "\uFEFF\r\n", coverage.ErrEmpty},
		{"something else", "hello\n", coverage.ErrUnknownFormat},
	} {
		c, err := coverage.Parse(strings.NewReader(tt.profile), "cover.out")
		if c != nil || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), "cover.out") {
			t.Errorf("%s: %v, %v; want nothing and %v", tt.name, c, err, tt.is)
		}
	}
	c, err := coverage.Parse(strings.NewReader(two+"p/a.go:5.1,"), "cover.out")
	var syntax *coverage.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 4 || syntax.File != "cover.out" || c == nil || c.Total != 5 {
		t.Errorf("cut off: %+v, %v; want 5 statements and an error for line 4", c, err)
	}
	broken := errors.New("disk on fire")
	if _, err := coverage.Parse(io.MultiReader(strings.NewReader(two), iotest.ErrReader(broken)), "cover.out"); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// TestCorpora reads profiles with a known result: SUPERVISE_CORPORA names a
// folder with expected-coverage.json and the unpacked reports.
func TestCorpora(t *testing.T) {
	dir := os.Getenv("SUPERVISE_CORPORA")
	if dir == "" {
		t.Skip("SUPERVISE_CORPORA does not name a folder of reports with known results")
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected-coverage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Format, Divergence string
		Files              []string
		Expected, Computed struct {
			ParseError bool `json:"parse_error"`
			Statements [2]int64
		}
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range entries {
		if e.Format != "gocover" {
			continue
		}
		count++
		f, err := os.Open(filepath.Join(dir, e.Files[0]))
		if err != nil {
			t.Fatal(err)
		}
		c, err := coverage.Parse(f, e.Files[0])
		_ = f.Close()
		want := e.Expected.Statements
		if e.Divergence != "" { // upstream counts a block twice that stands there twice
			want = e.Computed.Statements
		}
		switch {
		case e.Expected.ParseError:
			if err == nil {
				t.Errorf("%s was read although it is damaged", e.Files[0])
			}
		case err != nil:
			t.Errorf("%s: %v", e.Files[0], err)
		case want != [2]int64{c.Covered, c.Total}:
			t.Errorf("%s: %d of %d statements, want %v", e.Files[0], c.Covered, c.Total, want)
		}
	}
	if count == 0 {
		t.Error("the corpus has no Go profile")
	}
}

func FuzzGoProfile(f *testing.F) {
	for _, path := range captured(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 4096)])
	}
	f.Add([]byte(two + two + "p/a.go:1.1,2.2 9 1\nx:0.0,0.0 0 0\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := coverage.Parse(bytes.NewReader(text), "fuzz")
		if err == nil && c == nil {
			t.Fatal("nothing was read, and no error")
		}
		if c != nil && (c.Covered < 0 || c.Covered > c.Total) {
			t.Fatalf("%d of %d are covered", c.Covered, c.Total)
		}
		var syntax *coverage.SyntaxError
		if err != nil && !errors.As(err, &syntax) && !errors.Is(err, coverage.ErrEmpty) && !errors.Is(err, coverage.ErrUnknownFormat) {
			t.Fatalf("error %v has no type", err)
		}
	})
}
