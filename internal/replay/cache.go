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

// cacheVersion is a part of every key. It must change with every change to what is measured or
// how reports are read, so that older results are not found.
const cacheVersion = 6

// measurement is the cached measurement of one tree.
type measurement struct {
	Tree    string     `json:"tree"`   // ID of the git tree
	Commit  string     `json:"commit"` // the commit that was measured
	Set     metric.Set `json:"measurements"`
	Failure string     `json:"why,omitempty"` // why nothing could be measured
	// Memory is what the meter learned about the reports. It needs that to run single tests.
	Memory measure.Memory `json:"learnt,omitzero"`
	// Suspects are the tests that failed and were rerun on the tree. Flaky are those of them that
	// passed in the rerun.
	Suspects []metric.ID `json:"suspects,omitempty"`
	Flaky    []metric.ID `json:"flaky,omitempty"`
}

// cache stores results in one folder, as compressed JSON. The name of a file is the hash of the
// key and a subject. A subject is the ID of a tree, or a word and one or two of them; see
// [coverageKey] and [historyReplay.proofKey].
type cache struct {
	dir string
	key string // JSON of everything but the subject that a result depends on
}

// placeholder replaces the folder of the checkout in the hash of a plan, because every site has
// another folder.
const placeholder = "{{root}}"

// newCache opens the cache in dir for a plan. Results are found again only with the same plan,
// setup command, and version of supervise.
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

// path returns the file of the result for a subject.
func (c cache) path(subject string) string {
	sum := sha256.Sum256([]byte(c.key + subject))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json.gz")
}

// load decodes the result for a subject into the value that result points to. It returns false if
// there is no result, or if it cannot be read.
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

// unmeasuredReason says why a set has no tests, "" if it has some.
func unmeasuredReason(s metric.Set) string {
	if s.Tests != nil {
		return ""
	}
	if gap, ok := s.Gap(metric.SectionTests); ok {
		return firstLine(gap.Why)
	}
	return "there is no report of tests"
}

// firstLine returns the first line of a text, without leading blank lines.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
