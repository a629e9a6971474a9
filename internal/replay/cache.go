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
	"supervise/metric"
)

// cacheVersion changes when what is measured, or how it is read, does.
const cacheVersion = 2

// entry is what was measured of one tree.
type entry struct {
	Tree   string     `json:"tree"`
	Commit string     `json:"commit"` // of which it was measured
	Set    metric.Set `json:"measurements"`
	Why    string     `json:"why,omitempty"` // nothing could be measured
	// Suspects are the tests that were run again on the tree, Flaky those of them
	// that passed then.
	Suspects []metric.ID `json:"suspects,omitempty"`
	Flaky    []metric.ID `json:"flaky,omitempty"`
}

// cache stores measurements by tree, plan and version, below one folder.
type cache struct {
	dir string
	key string // of everything but the tree
}

// placeholder replaces the folder of the checkout in the hash of a plan.
const placeholder = "{{root}}"

// newCache opens the cache for a plan, which was made for the folder root.
func newCache(dir string, plan measure.Plan, root, setup, version string) (cache, error) {
	neutral, err := moved(plan, root, placeholder)
	if err != nil {
		return cache{}, err
	}
	b, err := json.Marshal([]any{cacheVersion, version, neutral.Hash(), setup})
	if err != nil {
		return cache{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cache{}, fmt.Errorf("make the cache: %w", err)
	}
	return cache{dir, string(b)}, nil
}

// moved returns the plan for another folder.
func moved(plan measure.Plan, from, to string) (measure.Plan, error) {
	b, err := json.Marshal(plan)
	if err != nil {
		return plan, err
	}
	old, err := json.Marshal(from)
	if err != nil {
		return plan, err
	}
	fresh, err := json.Marshal(to)
	if err != nil {
		return plan, err
	}
	var out measure.Plan
	err = json.Unmarshal(bytes.ReplaceAll(b, bytes.Trim(old, `"`), bytes.Trim(fresh, `"`)), &out)
	return out, err
}

func (c cache) path(tree string) string {
	sum := sha256.Sum256([]byte(c.key + tree))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json.gz")
}

// get returns what is known of a tree. A file that cannot be read is none.
func (c cache) get(tree string) (entry, bool) {
	var e entry
	b, err := os.ReadFile(c.path(tree))
	if err != nil {
		return e, false
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return e, false
	}
	err = errors.Join(json.NewDecoder(z).Decode(&e), z.Close())
	return e, err == nil && e.Tree == tree
}

func (c cache) put(e entry) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(e), z.Close()); err != nil {
		return fmt.Errorf("keep a measurement: %w", err)
	}
	return ledger.WriteFile(c.path(e.Tree), b.Bytes())
}

// unmeasured is the reason why a set has no tests, "" when it has.
func unmeasured(s metric.Set) string {
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
