package ledger

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"supervise/detector"
	"supervise/metric"
)

const evidenceName = "evidence.json.gz"

// Evidence is what the verdict on an iteration is based on in addition to the
// measurements. With it the iteration can be judged again after its trees were dropped.
// It is stored in a separate file, since it is large and rarely read.
type Evidence struct {
	JudgedAt time.Time `json:"judged_at"`
	// Before and After are the test definitions of the changed files.
	Before      []detector.TestSource `json:"before,omitempty"`
	After       []detector.TestSource `json:"after,omitempty"`
	Renamed     map[string]string     `json:"renamed,omitempty"` // files, old path to new
	Removed     []string              `json:"removed,omitempty"` // source files
	GoneSymbols []string              `json:"gone_symbols,omitempty"`
	GitLost     []string              `json:"git_lost,omitempty"`
	WorkLost    []detector.LostWork   `json:"work_lost,omitempty"`
	Tampering   []detector.Tampering  `json:"tampering,omitempty"`  // what the texts show
	TestFiles   []string              `json:"test_files,omitempty"` // changed test files and test support files
	// RunnerFiles are the changed files that configure the test runner. MixedRunnerFiles
	// are those among them that also configure other things.
	RunnerFiles      []string    `json:"runner_files,omitempty"`
	MixedRunnerFiles []string    `json:"mixed_runner_files,omitempty"`
	InlineTestFiles  []string    `json:"inline_test_files,omitempty"`  // product files whose inline test modules changed
	OnlyTestsChanged bool        `json:"only_tests_changed,omitempty"` // only tests, test support and documentation changed
	AckFiles         []string    `json:"ack_files,omitempty"`          // acknowledgement files that the agent changed
	Flaky            []metric.ID `json:"flaky,omitempty"`              // failed first and passed when rerun
}

// TouchesTests reports whether the change includes tests or files they depend on.
func (e *Evidence) TouchesTests() bool {
	return e != nil && len(e.TestFiles)+len(e.RunnerFiles)+len(e.InlineTestFiles) > 0
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
