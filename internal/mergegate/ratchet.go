package mergegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/internal/report"
	"supervise/metric"
)

// RatchetName is the file of the limits that only get stricter, next to the
// configuration. It is meant to be committed.
const RatchetName = ".supervise-ratchet.json"

// ErrRatchet is wrapped by every error that an edit of the file fixes.
var ErrRatchet = errors.New("invalid ratchet")

// Ratchet maps metrics to their limits.
type Ratchet map[metric.Field]float64

// limit is a metric that may have a limit, a minimum or a maximum.
type limit struct {
	field metric.Field
	least bool
}

var limits = []limit{
	{metric.TestCount, true},
	{metric.TestsPassed, true},
	{metric.CoveragePct, true},
	{metric.TestsFailed, false},
	{metric.TestsSkipped, false},
	{metric.ErrorCount, false},
}

// Violation is a violated limit.
type Violation struct {
	Field  metric.Field `json:"field"`
	Limit  float64      `json:"limit"`
	Actual *float64     `json:"actual"` // nil: not measured
}

func (s Violation) String() string {
	if s.Actual == nil {
		return fmt.Sprintf("%s is not measured, and has the limit %s", s.Field, report.FormatNumber(s.Limit))
	}
	return fmt.Sprintf("%s is %s, beyond the limit %s", s.Field, report.FormatNumber(*s.Actual), report.FormatNumber(s.Limit))
}

// ReadRatchet reads the limits in a file; one that is not there has none.
func ReadRatchet(path string) (Ratchet, error) {
	text, err := projectfile.ReadNamed(path, projectfile.Settings)
	if errors.Is(err, fs.ErrNotExist) {
		return Ratchet{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRatchet, err)
	}
	r := Ratchet{}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w; it maps metric names to numbers, as --tighten writes it", ErrRatchet, path, err)
	}
	for field := range r {
		if !slices.ContainsFunc(limits, func(l limit) bool { return l.field == field }) {
			return nil, fmt.Errorf("%w: %s: %s can have no limit", ErrRatchet, path, field)
		}
	}
	return r, nil
}

// MergeStricter returns the limits of both, the stricter one if both have one: the result of
// a merge of two branches.
func (r Ratchet) MergeStricter(other Ratchet) Ratchet {
	out := Ratchet{}
	for _, l := range limits {
		a, here := r[l.field]
		b, there := other[l.field]
		switch {
		case here && there && l.least:
			out[l.field] = max(a, b)
		case here && there:
			out[l.field] = min(a, b)
		case here:
			out[l.field] = a
		case there:
			out[l.field] = b
		}
	}
	return out
}

// tolerance is by how many points coverage may miss its limit: it is written with
// one decimal.
const tolerance = 0.05

// Violations returns the limits that a measurement violates.
func (r Ratchet) Violations(s metric.Set) []Violation {
	var out []Violation
	for _, l := range limits {
		bound, limited := r[l.field]
		if !limited {
			continue
		}
		is, ok := s.Value(l.field)
		slack := 1e-9
		if l.field == metric.CoveragePct {
			slack = tolerance
		}
		switch {
		case !ok:
			out = append(out, Violation{Field: l.field, Limit: bound})
		case l.least && is < bound-slack, !l.least && is > bound+slack:
			out = append(out, Violation{Field: l.field, Limit: bound, Actual: &is})
		}
	}
	return out
}

// Tighten returns the limits with those that a measurement betters moved to it, and
// new ones for what has none. It never loosens one.
func (r Ratchet) Tighten(s metric.Set) Ratchet {
	now := Ratchet{}
	for _, l := range limits {
		if v, ok := s.Value(l.field); ok {
			if l.field == metric.CoveragePct {
				v = float64(int(v*10)) / 10
			}
			now[l.field] = v
		}
	}
	return r.MergeStricter(now)
}

// Save writes the limits, each on a separate line.
func (r Ratchet) Save(path string) error {
	var b bytes.Buffer
	b.WriteString("{")
	for i, field := range r.fields() {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  %q: %s", field, report.FormatNumber(r[field]))
	}
	b.WriteString("\n}\n")
	return ledger.WriteFile(path, b.Bytes())
}

func (r Ratchet) fields() []metric.Field {
	var out []metric.Field
	for _, l := range limits {
		if _, ok := r[l.field]; ok {
			out = append(out, l.field)
		}
	}
	return out
}

// ratchet checks the limits of the base and of the tree, the stricter of both.
func (g *gate) ratchet(out *Report) error {
	r, err := ReadRatchet(filepath.Join(g.Project, RatchetName))
	if err != nil {
		return err
	}
	if g.texts != "" {
		base, err := ReadRatchet(filepath.Join(g.at(g.tree.Dir), RatchetName))
		if err != nil {
			return err
		}
		r = r.MergeStricter(base)
	}
	out.Ratchet = r.Violations(g.now)
	out.Passed = out.Passed && len(out.Ratchet) == 0
	out.Tightened = r.Tighten(g.now)
	return nil
}
