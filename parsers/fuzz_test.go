package parsers_test

import (
	"bytes"
	"os"
	"testing"

	"supervise/parsers"
	"supervise/test/reports"
)

// FuzzDetect reads anything as whatever it looks like.
func FuzzDetect(f *testing.F) {
	for _, path := range reports.Captured(f, "tests", "lint") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 1024)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := parsers.Parse(bytes.NewReader(text), "fuzz"); err == nil {
			reports.Check(t, r, err)
		}
	})
}
