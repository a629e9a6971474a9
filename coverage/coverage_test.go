package coverage_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"supervise/coverage"
	"supervise/metric"
)

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
			if diff := cmp.Diff(tt.want, got.Coverage, cmpopts.IgnoreFields(metric.FileCoverage{}, "Hit", "Missed")); diff != "" {
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
		report, err := coverage.Read(strings.NewReader(tt.profile), "cover.out")
		if c := report.Coverage; c != nil || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), "cover.out") {
			t.Errorf("%s: %v, %v; want nothing and %v", tt.name, report.Coverage, err, tt.is)
		}
	}
	report, err := coverage.Read(strings.NewReader(two+"p/a.go:5.1,"), "cover.out")
	c := report.Coverage
	var syntax *coverage.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 4 || syntax.File != "cover.out" || c == nil || c.Total != 5 {
		t.Errorf("cut off: %+v, %v; want 5 statements and an error for line 4", c, err)
	}
	broken := errors.New("disk on fire")
	if _, err := coverage.Read(io.MultiReader(strings.NewReader(two), iotest.ErrReader(broken)), "cover.out"); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}
