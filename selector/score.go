// Package selector grades iterations and chooses the best of them. It is pure:
// the same measurements always give the same score and the same choice.
package selector

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"supervise/metric"
)

// Weights say how much each dimension counts. They need not sum to 1; only
// their proportions matter.
type Weights struct {
	Validation   float64 `json:"validation"`
	Completeness float64 `json:"completeness"`
	Correctness  float64 `json:"correctness"`
	Readability  float64 `json:"readability"`
	Efficiency   float64 `json:"efficiency"`
}

// DefaultWeights returns the weights of the specification.
func DefaultWeights() Weights {
	return Weights{Validation: .30, Completeness: .25, Correctness: .25, Readability: .10, Efficiency: .10}
}

// ErrWeights is wrapped by the errors of [Weights.Validate].
var ErrWeights = errors.New("weights are not usable")

// Validate reports a weight that is negative or no number, and weights that sum
// to 0.
func (w Weights) Validate() error {
	sum := 0.0
	for _, d := range dimensions {
		v := *d.weight(&w)
		if v < 0 || math.IsNaN(v) || v > maxWeight {
			return fmt.Errorf("%w: %s is %v; give a number from 0 to %v", ErrWeights, d.name, v, maxWeight)
		}
		sum += v
	}
	if sum <= 0 {
		return fmt.Errorf("%w: they sum to 0; give at least one that is greater", ErrWeights)
	}
	return nil
}

// maxWeight keeps sums of weights finite.
const maxWeight = 1e9

// Replace returns the weights with those of the named dimensions replaced. An
// unknown name and weights that are not usable are an error.
func (w Weights) Replace(named map[string]float64) (Weights, error) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		i := slices.Index(DimensionNames(), name)
		if i < 0 {
			return w, fmt.Errorf("%w: there is no dimension %s; the dimensions are %s", ErrWeights, name, strings.Join(DimensionNames(), ", "))
		}
		*dimensions[i].weight(&w) = named[name]
	}
	return w, w.Validate()
}

// DimensionNames returns the names of the dimensions, in the order of the
// specification.
func DimensionNames() []string {
	out := make([]string, len(dimensions))
	for i, d := range dimensions {
		out[i] = d.name
	}
	return out
}

// Score is the quality of an iteration.
type Score struct {
	Value      float64     `json:"value"`    // in [0,1], not rounded; valid when Measured
	Measured   bool        `json:"measured"` // false when nothing was measured at all
	Dimensions []Dimension `json:"dimensions,omitempty"`
}

// roundPoints returns a score in [0,100], rounded for people.
func roundPoints(v float64) int { return int(math.Round(math.Round(v*1e11) / 1e9)) }

// Dimension is one aspect of quality: the mean of those of its components that
// were measured.
type Dimension struct {
	Name         string      `json:"name"`
	Score        float64     `json:"score"` // in [0,100]; valid when Measured
	Weight       float64     `json:"weight"`
	Contribution float64     `json:"contribution"` // to the value of the score; all contributions sum to it
	Components   []Component `json:"components,omitempty"`
	Measured     bool        `json:"measured"`
}

// Component is one measured part of a dimension, in [0,100].
type Component struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// gradedSets is what a component is computed from.
type gradedSets struct{ current, baseline metric.Set }

// component is a part of a dimension. value returns its points, which [Grade] limits to 0 to 100,
// and false if it was not measured.
type component struct {
	name  string
	value func(gradedSets) (float64, bool)
}

// dimensions is the table of section 5 of the specification. weight returns the field of the
// weights for the dimension.
var dimensions = []struct {
	name       string
	weight     func(*Weights) *float64
	components []component
}{
	{"validation", func(w *Weights) *float64 { return &w.Validation }, []component{
		{"tests_passed", func(g gradedSets) (float64, bool) { return g.current.Value(metric.PassRate) }},
		{"build_success", buildSuccess},
		{"lint_errors", penalty(metric.LintErrors, 5)},
	}},
	{"completeness", func(w *Weights) *float64 { return &w.Completeness }, []component{
		{"coverage_percentage", func(g gradedSets) (float64, bool) { return g.current.Coverage.CountedPercent() }},
		{"test_count", testCount},
	}},
	{"correctness", func(w *Weights) *float64 { return &w.Correctness }, []component{
		{"pass_rate", func(g gradedSets) (float64, bool) { return g.current.Value(metric.PassRate) }},
		{"error_count", penalty(metric.ErrorCount, 2)},
	}},
	{"readability", func(w *Weights) *float64 { return &w.Readability }, []component{
		{"lint_warnings", penalty(metric.LintWarnings, 3)},
		{"complexity_score", penalty(metric.Complexity, 5)},
	}},
	{"efficiency", func(w *Weights) *float64 { return &w.Efficiency }, []component{
		{"loc", locAppropriate},
		{"no_bloat", noBloat},
	}},
}

// penalty returns the value of a component: 100 points, minus cost points for each unit of f.
func penalty(f metric.Field, cost float64) func(gradedSets) (float64, bool) {
	return func(g gradedSets) (float64, bool) {
		v, ok := g.current.Value(f)
		return 100 - cost*v, ok
	}
}

// buildSuccess returns 100 points for a successful build, 0 for a failed one.
func buildSuccess(g gradedSets) (float64, bool) {
	if g.current.Build == nil || g.current.Build.Status == metric.BuildUnknown {
		return 0, false
	}
	if g.current.Build.Status == metric.BuildSuccess {
		return 100, true
	}
	return 0, true
}

// compare returns a value and that of the baseline. It is false if one of them is unknown, or if that
// of the baseline is 0.
func (g gradedSets) compare(f metric.Field) (now, base float64, ok bool) {
	now, known := g.current.Value(f)
	base, knownBefore := g.baseline.Value(f)
	return now, base, known && knownBefore && base != 0
}

// testCount returns the number of tests in percent of the baseline's.
func testCount(g gradedSets) (float64, bool) {
	now, base, ok := g.compare(metric.TestCount)
	return 100 * now / base, ok
}

// growth returns the change in lines of code as a share of the baseline: .5 if they grew by half.
func growth(g gradedSets) (float64, bool) {
	now, base, ok := g.compare(metric.LOCTotal)
	return (now - base) / base, ok
}

// locAppropriate returns 100 points, minus 1.25 points for each percent of change in lines of code
// beyond 20 percent.
func locAppropriate(g gradedSets) (float64, bool) {
	r, ok := growth(g)
	return 100 - 125*max(0, math.Abs(r)-.20), ok
}

// noBloat returns 50 points if the lines of code grew by more than half, otherwise 100.
func noBloat(g gradedSets) (float64, bool) {
	r, ok := growth(g)
	if r > .50 {
		return 50, ok
	}
	return 100, ok
}

// Grade scores a measurement. The baseline is what test count and lines of code
// are compared with. What was not measured does not count, neither for nor
// against.
func Grade(current, baseline metric.Set, w Weights) Score {
	g := gradedSets{current, baseline}
	out := make([]Dimension, len(dimensions))
	for i, d := range dimensions {
		out[i] = Dimension{Name: d.name, Weight: *d.weight(&w)}
		sum := 0.0
		for _, c := range d.components {
			v, ok := c.value(g)
			if !ok {
				continue
			}
			v = min(max(v, 0), 100)
			out[i].Components = append(out[i].Components, Component{c.name, v})
			sum += v
		}
		if n := len(out[i].Components); n > 0 {
			out[i].Score, out[i].Measured = sum/float64(n), true
		}
	}
	return weighDimensions(out)
}

// ErrDimension is wrapped by the errors of [FromDimensions].
var ErrDimension = errors.New("dimension score is not usable")

// FromDimensions scores dimension scores in [0,1] that were found by another tool, by
// the name of the dimension. A dimension that is missing does not count. An
// unknown name or a score out of range is an error.
func FromDimensions(scores map[string]float64, w Weights) (Score, error) {
	out := make([]Dimension, len(dimensions))
	known := map[string]bool{}
	for i, d := range dimensions {
		v, ok := scores[d.name]
		if ok && !(v >= 0 && v <= 1) {
			return Score{}, fmt.Errorf("%w: %s is %v; give a number from 0 to 1", ErrDimension, d.name, v)
		}
		out[i] = Dimension{Name: d.name, Weight: *d.weight(&w), Score: 100 * v, Measured: ok}
		known[d.name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		if !known[name] {
			return Score{}, fmt.Errorf("%w: there is no dimension %s; the dimensions are %s", ErrDimension, name, strings.Join(DimensionNames(), ", "))
		}
	}
	return weighDimensions(out), nil
}

// FromValue returns a score in [0,1] that was found by another tool, without dimensions. A
// number out of range is an error.
func FromValue(v float64) (Score, error) {
	if !(v >= 0 && v <= 1) {
		return Score{}, fmt.Errorf("%w: the score is %v; give a number from 0 to 1", ErrDimension, v)
	}
	return Score{Value: v, Measured: true}, nil
}

// Reweigh returns the score of the same dimensions by other weights. One without
// dimensions stays as it is.
func (s Score) Reweigh(w Weights) Score {
	if len(s.Dimensions) == 0 {
		return s
	}
	ds := slices.Clone(s.Dimensions)
	for i := range ds {
		ds[i].Contribution = 0
		if k := slices.Index(DimensionNames(), ds[i].Name); k >= 0 {
			ds[i].Weight = *dimensions[k].weight(&w)
		}
	}
	return weighDimensions(ds)
}

// weighDimensions sums the measured dimensions up by their weights.
func weighDimensions(ds []Dimension) Score {
	total := 0.0
	for _, d := range ds {
		if d.Measured {
			total += d.Weight
		}
	}
	s := Score{Dimensions: ds, Measured: total > 0}
	if !s.Measured {
		return s
	}
	for i := range ds {
		if ds[i].Measured {
			ds[i].Contribution = ds[i].Weight * ds[i].Score / total / 100
			s.Value += ds[i].Contribution
		}
	}
	s.Value = min(max(s.Value, 0), 1)
	return s
}
