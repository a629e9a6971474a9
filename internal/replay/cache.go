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
const cacheVersion = 5

// entry is what was measured of one tree.
type entry struct {
	Tree   string     `json:"tree"`
	Commit string     `json:"commit"` // of which it was measured
	Set    metric.Set `json:"measurements"`
	Why    string     `json:"why,omitempty"` // nothing could be measured
	// Learnt is what the meter knows of the reports, for runs of single tests.
	Learnt measure.Memory `json:"learnt,omitzero"`
	// Suspects are the tests that were run again on the tree, Flaky those of them
	// that passed then.
	Suspects []metric.ID `json:"suspects,omitempty"`
	Flaky    []metric.ID `json:"flaky,omitempty"`
}

// cache stores what was found out about a subject, a tree or two, by plan and version,
// below one folder.
type cache struct {
	dir string
	key string // of everything but the subject
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

func (c cache) path(subject string) string {
	sum := sha256.Sum256([]byte(c.key + subject))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:16])+".json.gz")
}

// get reads what is known of a subject, if anything. A file that cannot be read is
// nothing.
func (c cache) get(subject string, into any) bool {
	b, err := os.ReadFile(c.path(subject))
	if err != nil {
		return false
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return false
	}
	return errors.Join(json.NewDecoder(z).Decode(into), z.Close()) == nil
}

func (c cache) put(subject string, known any) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(known), z.Close()); err != nil {
		return fmt.Errorf("keep a measurement: %w", err)
	}
	return ledger.WriteFile(c.path(subject), b.Bytes())
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
