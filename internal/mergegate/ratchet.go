package mergegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"supervise/internal/ledger"
	"supervise/internal/projectfile"
	"supervise/internal/report"
	"supervise/metric"
)

// RatchetName is the file with limits of metrics that only become stricter, as in
// {"coverage_percentage": 81.5}. It is next to the configuration, and users commit it.
const RatchetName = ".supervise-ratchet.json"

// ErrRatchet is wrapped by every error about the content of that file.
var ErrRatchet = errors.New("invalid ratchet")

// Ratchet maps metrics to their limits.
type Ratchet map[metric.Field]float64

// limitedMetric is a metric that may have a limit, a minimum or a maximum.
type limitedMetric struct {
	field     metric.Field
	isMinimum bool
}

// limits lists the metrics that may have a limit, in the order of the file. A limit is a minimum
// or a maximum.
var limits = []limitedMetric{
	{metric.TestCount, true},
	{metric.TestsPassed, true},
	{metric.CoveragePct, true},
	{metric.TestsFailed, false},
	{metric.TestsSkipped, false},
	{metric.ErrorCount, false},
}

// Violation is a limit that a metric violates.
type Violation struct {
	Field  metric.Field `json:"field"`
	Limit  float64      `json:"limit"`
	Actual *float64     `json:"actual"` // nil if it is not measured
}

func (s Violation) String() string {
	if s.Actual == nil {
		return fmt.Sprintf("%s is not measured, and has the limit %s", s.Field, report.FormatNumber(s.Limit))
	}
	return fmt.Sprintf("%s is %s, beyond the limit %s", s.Field, report.FormatNumber(*s.Actual), report.FormatNumber(s.Limit))
}

// ReadRatchet reads the limits in a file. A missing file has no limits.
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
		if !slices.ContainsFunc(limits, func(l limitedMetric) bool { return l.field == field }) {
			return nil, fmt.Errorf("%w: %s: %s can have no limit", ErrRatchet, path, field)
		}
	}
	return r, nil
}

// MergeStricter returns the limits of both ratchets. If both have a limit for a metric, the
// stricter one counts.
func (r Ratchet) MergeStricter(other Ratchet) Ratchet {
	out := Ratchet{}
	maps.Copy(out, r)
	for _, l := range limits {
		a, hasA := r[l.field]
		b, hasB := other[l.field]
		switch {
		case hasA && hasB && l.isMinimum:
			out[l.field] = max(a, b)
		case hasA && hasB:
			out[l.field] = min(a, b)
		case hasB:
			out[l.field] = b
		}
	}
	return out
}

// coverageTolerance is the rounding error of the coverage in percentage points: limits are
// stored with one decimal.
const coverageTolerance = 0.05

// Violations returns the limits that the metrics violate, nil if there are none. A metric that is
// not measured violates its limit.
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
			slack = coverageTolerance
			is, ok = s.Coverage.CountedPercent()
		}
		switch {
		case !ok:
			out = append(out, Violation{Field: l.field, Limit: bound})
		case l.isMinimum && is < bound-slack, !l.isMinimum && is > bound+slack:
			out = append(out, Violation{Field: l.field, Limit: bound, Actual: &is})
		}
	}
	return out
}

// Tighten returns the limits with the values of the metrics where these are stricter, also for
// metrics that have no limit yet. No limit becomes less strict.
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

// fields returns the metrics with a limit, in the order of [limits].
func (r Ratchet) fields() []metric.Field {
	var out []metric.Field
	for _, l := range limits {
		if _, ok := r[l.field]; ok {
			out = append(out, l.field)
		}
	}
	return out
}

// keepsCoverage reports whether the coverage is below its limit only because that of the base is: an
// earlier change added code that no test executes, which did not count.
func (g *mergeGate) keepsCoverage(v Violation) bool {
	was, ok := g.baseSet.Coverage.Percent()
	return v.Field == metric.CoveragePct && ok && v.Actual != nil && was < v.Limit && *v.Actual >= was && g.headSet.Coverage.Comparable(g.baseSet.Coverage)
}

// checkRatchet compares the metrics with the limits of the base and of the tree, and adds the
// violations to the report. The stricter limit of both counts.
func (g *mergeGate) checkRatchet(out *Report) error {
	r, err := ReadRatchet(filepath.Join(g.Project, RatchetName))
	if err != nil {
		return err
	}
	base := r
	if g.baseTree != "" {
		if base, err = ReadRatchet(filepath.Join(g.projectIn(g.tree.Dir), RatchetName)); err != nil {
			return err
		}
		r = r.MergeStricter(base)
	}
	out.Ratchet = slices.DeleteFunc(r.Violations(g.headSet), func(v Violation) bool { return base[v.Field] == v.Limit && g.keepsCoverage(v) })
	out.Passed = out.Passed && len(out.Ratchet) == 0
	out.Tightened = r.Tighten(g.headSet)
	return nil
}
