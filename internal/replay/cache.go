package replay

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/internal/treecopy"
	"supervise/metric"
)

// cacheVersion must be changed with every change to what is measured or how it is read.
const cacheVersion = 6

// measurement is the cached measurement of one tree.
type measurement struct {
	Tree    string     `json:"tree"`
	Commit  string     `json:"commit"` // the commit that was measured
	Set     metric.Set `json:"measurements"`
	Failure string     `json:"why,omitempty"` // why nothing could be measured
	// Memory is what the meter knows about the reports. It needs that to run single tests.
	Memory measure.Memory `json:"learnt,omitzero"`
	// Suspects are the tests that were rerun on the tree, and Flaky are those that passed.
	Suspects []metric.ID `json:"suspects,omitempty"`
	Flaky    []metric.ID `json:"flaky,omitempty"`
}

// cache stores results in one folder. The key of a result includes the plan, the version of
// supervise, and a subject, which names one or two trees.
type cache struct {
	dir string
	key string // all of the key but the subject
}

// placeholder replaces the folder of the checkout in the hash of a plan.
const placeholder = "{{root}}"

// newCache opens the cache for a plan.
func newCache(dir string, plan measure.Plan, setup, version string) (cache, error) {
	b, err := json.Marshal([]any{cacheVersion, version, treecopy.MovePlan(plan, placeholder).Hash(), setup})
	if err != nil {
		return cache{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cache{}, fmt.Errorf("make the cache: %w", err)
	}
	return cache{dir, string(b)}, nil
}

func (c cache) path(subject string) string {
	sum := sha256.Sum256([]byte(c.key + subject))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json.gz")
}

// load decodes the result for a subject, and reports whether there is one that can be read.
func (c cache) load(subject string, result any) bool {
	b, err := os.ReadFile(c.path(subject))
	if err != nil {
		return false
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return false
	}
	return errors.Join(json.NewDecoder(unzipped).Decode(result), unzipped.Close()) == nil
}

// store writes the result for a subject.
func (c cache) store(subject string, result any) error {
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(zipped).Encode(result), zipped.Close()); err != nil {
		return fmt.Errorf("keep a measurement: %w", err)
	}
	return ledger.WriteFile(c.path(subject), b.Bytes())
}

// unmeasuredReason returns why a set has no tests, "" if it has some.
func unmeasuredReason(s metric.Set) string {
	if s.Tests != nil {
		return ""
	}
	if gap, ok := s.Gap(metric.SectionTests); ok {
		return firstLine(gap.Why)
	}
	return "there is no report of tests"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
