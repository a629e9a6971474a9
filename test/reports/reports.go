// Package reports is test equipment for the readers of test and lint reports:
// captured reports, and what holds for whatever is read. Only tests import it.
package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"supervise/metric"
	"supervise/parsers"
)

// Fixtures returns the folder testdata at the root of the module.
func Fixtures(t testing.TB) string {
	t.Helper()
	dir, err := fixtures()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func fixtures() (string, error) {
	for dir := "."; len(dir) < 100; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata"), nil
		}
	}
	return "", errors.New("no go.mod above the working directory")
}

// Captured lists the reports below the folders of [Fixtures] that have a golden
// file next to them.
func Captured(t testing.TB, folders ...string) []string {
	t.Helper()
	out, err := captured(folders...)
	if err != nil || len(out) == 0 {
		t.Fatalf("no captured report in %v: %v", folders, err)
	}
	return out
}

func captured(folders ...string) (out []string, err error) {
	root, err := fixtures()
	for _, folder := range folders {
		err = errors.Join(err, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if report, ok := strings.CutSuffix(path, ".golden.json"); ok {
				out = append(out, report)
			}
			return err
		}))
	}
	return out, err
}

// beginnings are the first bytes of the captured reports of a format. Their golden files
// know it: reading all reports would take longer than a short fuzz run.
func beginnings(format string) (out [][]byte, err error) {
	paths, err := captured("tests", "lint")
	for _, path := range paths {
		var golden struct{ Format string }
		text, unread := os.ReadFile(path + ".golden.json")
		if unread == nil {
			unread = json.Unmarshal(text, &golden)
		}
		if unread == nil && golden.Format == format {
			if text, unread = os.ReadFile(path); unread == nil {
				out = append(out, text[:min(len(text), 4096)])
			}
		}
		err = errors.Join(err, unread)
	}
	return out, err
}

// Fuzz reads anything as the named format, beginning with the captured reports
// of that format and the given texts.
func Fuzz(f *testing.F, format string, seeds ...string) {
	captured, err := beginnings(format)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range captured {
		f.Add(text)
	}
	for _, text := range seeds {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parsers.ParseAs(bytes.NewReader(text), format)
		Check(t, r, err)
	})
}

// Check asserts what holds for every report, however damaged.
func Check(t *testing.T, r parsers.Report, err error) {
	t.Helper()
	c := r.Cases
	if c.Passed+c.Failed+c.Errors+c.Skipped != c.Tests {
		t.Errorf("the sums disagree: %+v", c)
	}
	if err == nil && r.Tests == nil && r.Lint == nil {
		t.Error("nothing was read, and no error")
	}
	if r.Tests != nil {
		if len(r.Tests.Cases) > c.Tests && r.Format != "tap" { // whose totals are those of the outermost tests
			t.Errorf("%d tests from %d cases", len(r.Tests.Cases), c.Tests)
		}
		checkCases(t, r.Tests.Cases)
	}
	if r.Lint != nil {
		checkFindings(t, r.Lint.Findings)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Errorf("the report cannot be written: %v", err)
	}
}

func checkCases(t *testing.T, cases []metric.Test) {
	t.Helper()
	for _, c := range cases {
		if !utf8.ValidString(c.Name+c.Suite+c.Class+c.Message) || strings.ContainsRune(c.Name, 0x1b) || c.Duration < 0 {
			t.Errorf("case %+v cannot be shown", c)
		}
	}
}

func checkFindings(t *testing.T, findings []metric.Finding) {
	t.Helper()
	for _, f := range findings {
		if f.Line < 0 || f.Column < 0 || f.Level == 0 || !utf8.ValidString(f.Message) {
			t.Errorf("finding %+v is none", f)
		}
	}
}

// Statuses returns the outcomes of tests by name, and why suites are broken.
func Statuses(t *metric.Tests) map[string]string {
	out := map[string]string{}
	for _, c := range t.Cases {
		out[c.ID.String()] = c.Status.String()
	}
	for _, s := range t.Broken {
		out["broken "+s.Name] = s.Why
	}
	return out
}

// Findings returns findings as lines "tool rule level place: message", with a !
// behind the level of type errors.
func Findings(list []metric.Finding) string {
	var b strings.Builder
	for _, f := range list {
		kind := f.Level.String()
		if f.Type {
			kind += "!"
		}
		fmt.Fprintf(&b, "%s %s %s %s:%d:%d: %s\n", f.Tool, f.Rule, kind, f.File, f.Line, f.Column, f.Message)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
