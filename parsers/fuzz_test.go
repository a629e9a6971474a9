package parsers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"supervise/parsers"
)

// fuzz reads anything as the named format, from the captured reports on.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, path := range captured(f, seeds...) {
		if strings.HasSuffix(path, ".golden.json") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 4096)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parsers.ParseAs(bytes.NewReader(text), format)
		checkSane(t, r, err)
	})
}

// checkSane asserts what holds for every report, however damaged.
func checkSane(t *testing.T, r parsers.Report, err error) {
	t.Helper()
	c := r.Cases
	if c.Passed+c.Failed+c.Errors+c.Skipped != c.Tests {
		t.Errorf("the sums disagree: %+v", c)
	}
	if r.Tests != nil && len(r.Tests.Cases) > c.Tests {
		t.Errorf("%d tests from %d cases", len(r.Tests.Cases), c.Tests)
	}
	if err == nil && r.Tests == nil && r.Lint == nil {
		t.Error("nothing was read, and no error")
	}
	if r.Tests != nil {
		for _, x := range r.Tests.Cases {
			if !utf8.ValidString(x.Name+x.Suite+x.Class+x.Message) || strings.ContainsRune(x.Name, 0x1b) || x.Duration < 0 {
				t.Errorf("case %+v cannot be shown", x)
			}
		}
	}
	if r.Lint != nil {
		for _, x := range r.Lint.Findings {
			if x.Line < 0 || x.Column < 0 || x.Level == 0 || !utf8.ValidString(x.Message) {
				t.Errorf("finding %+v is none", x)
			}
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("the report cannot be written: %v", err)
	}
}

func FuzzGoTestJSON(f *testing.F) { fuzz(f, "go-test-json", "tests/gotest/*.jsonl") }
func FuzzJUnit(f *testing.F)      { fuzz(f, "junit", "tests/junit/*/*.xml") }
func FuzzGolangci(f *testing.F) {
	f.Add([]byte(`{"Issues":[{"FromLinter":"a","Text":"b","Severity":"info","Pos":{"Filename":"c.go","Line":-1}}],"Report":{"Error":"x"}}`))
	fuzz(f, "golangci-lint", "lint/golangci-lint/*.json")
}

func FuzzVet(f *testing.F) {
	for _, path := range captured(f, "lint/govet/vet.*", "lint/gobuild/*.txt", "lint/gcc/gcc.txt") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range []string{"go-vet-json", "go-vet", "go-build", "errorformat"} {
			r, err := parsers.ParseAs(bytes.NewReader(text), format)
			checkSane(t, r, err)
		}
		if r, err := parsers.Parse(bytes.NewReader(text), "fuzz"); err == nil {
			checkSane(t, r, err)
		}
	})
}
