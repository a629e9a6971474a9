package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"supervise/detector"
)

const evidenceName = "evidence.json.gz"

// Evidence is what the verdict on an iteration is based on in addition to the
// measurements. With it the iteration can be judged again after its trees were dropped.
// It is stored in a separate file, since it is large and rarely read.
type Evidence struct {
	JudgedAt time.Time `json:"judged_at"`
	detector.Evidence
	// RunnerFiles are the changed files that configure the test runner. MixedRunnerFiles
	// are those among them that also configure other things.
	RunnerFiles      []string `json:"runner_files,omitempty"`
	MixedRunnerFiles []string `json:"mixed_runner_files,omitempty"`
	InlineTestFiles  []string `json:"inline_test_files,omitempty"`  // product files whose inline test modules changed
	OnlyTestsChanged bool     `json:"only_tests_changed,omitempty"` // only tests, test support and documentation changed
}

// TouchesTests reports whether the change includes tests or files they depend on.
func (e *Evidence) TouchesTests() bool {
	return e != nil && len(e.TestFiles)+len(e.RunnerFiles)+len(e.InlineTestFiles) > 0
}

// NewPath returns the path after the change of a file from before it.
func (e Evidence) NewPath(file string) string { return cmp.Or(e.Renamed[file], file) }

// OldPath returns the path before the change of a file from after it.
func (e Evidence) OldPath(file string) string {
	for from, to := range e.Renamed {
		if to == file {
			return from
		}
	}
	return file
}

// Uncommitted is how the tests differed from HEAD before the loop started. Such changes are
// reported, and never undone.
type Uncommitted struct {
	Files    []string             `json:"files"`              // of HEAD's tests, or what they depend on
	Findings []detector.Tampering `json:"findings,omitempty"` // of severity MEDIUM or above
}

// Lines describes the findings, one in a line, or the files if nothing was found in them.
func (u *Uncommitted) Lines() (out []string) {
	switch {
	case u == nil:
	case len(u.Findings) == 0:
		out = append(out, "uncommitted before the loop: "+strings.Join(u.Files, ", ")+" (nothing found)")
	default:
		for _, f := range u.Findings {
			out = append(out, fmt.Sprintf("uncommitted before the loop: %s %s %s:%d %s", f.Severity, f.Type, f.File, f.Line, f.Evidence))
		}
	}
	return out
}

// writeEvidence writes the evidence of an iteration to its folder.
func writeEvidence(dir string, e *Evidence) error {
	if e == nil {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	return writeGzip(filepath.Join(dir, evidenceName), append(data, '\n'))
}

// ReadEvidence reads the evidence of iteration n of the loop in dir. The error wraps
// [os.ErrNotExist] if there is none, because the iteration was not judged.
func ReadEvidence(dir string, n int) (e Evidence, err error) {
	if err := readGzipJSON(filepath.Join(dir, "iterations", IterationName(n), evidenceName), &e); err != nil {
		return e, fmt.Errorf("read evidence: %w", err)
	}
	return e, nil
}
