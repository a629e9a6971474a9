package parsers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"supervise/parsers"
)

// fuzz reads anything as the named format, from the captured reports of that
// format and the given texts on.
func fuzz(f *testing.F, format string, seeds ...string) {
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	for _, text := range beginnings()[format] {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parsers.ParseAs(bytes.NewReader(text), format)
		checkSane(t, r, err)
	})
}

// beginnings are the first bytes of the captured reports, by format.
var beginnings = sync.OnceValue(func() map[string][][]byte {
	out := map[string][][]byte{}
	paths, err := filepath.Glob(filepath.Join(fixtures, "*", "*", "*.golden.json"))
	deeper, err2 := filepath.Glob(filepath.Join(fixtures, "*", "*", "*", "*.golden.json"))
	if err != nil || err2 != nil {
		panic("the patterns are wrong")
	}
	for _, golden := range append(paths, deeper...) {
		path := strings.TrimSuffix(golden, ".golden.json")
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		r, _ := parsers.Parse(bytes.NewReader(text), path) // some are damaged
		out[r.Format] = append(out[r.Format], text[:min(len(text), 4096)])
	}
	return out
})

// checkSane asserts what holds for every report, however damaged.
func checkSane(t *testing.T, r parsers.Report, err error) {
	t.Helper()
	c := r.Cases
	if c.Passed+c.Failed+c.Errors+c.Skipped != c.Tests {
		t.Errorf("the sums disagree: %+v", c)
	}
	subtests := r.Format == "tap" // its cases are the outermost tests
	if r.Tests != nil && len(r.Tests.Cases) > c.Tests && !subtests {
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

// FuzzDetect reads anything as whatever it looks like.
func FuzzDetect(f *testing.F) {
	for _, path := range captured(f, "tests", "lint") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 1024)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := parsers.Parse(bytes.NewReader(text), "fuzz"); err == nil {
			checkSane(t, r, err)
		}
	})
}

func FuzzGoTestJSON(f *testing.F)  { fuzz(f, "go-test-json") }
func FuzzJUnit(f *testing.F)       { fuzz(f, "junit") }
func FuzzGoVetJSON(f *testing.F)   { fuzz(f, "go-vet-json") }
func FuzzGoVet(f *testing.F)       { fuzz(f, "go-vet") }
func FuzzGoBuild(f *testing.F)     { fuzz(f, "go-build") }
func FuzzErrorformat(f *testing.F) { fuzz(f, "errorformat") }
func FuzzGolangci(f *testing.F) {
	fuzz(f, "golangci-lint", `{"Issues":[{"FromLinter":"a","Text":"b","Severity":"info","Pos":{"Filename":"c.go","Line":-1}}],"Report":{"Error":"x"}}`)
}
