package detector

import (
	"maps"

	"supervise/metric"
)

// judge holds what the rules read while one iteration is judged.
type judge struct {
	in       Input
	opts     Options
	now      metric.Set
	previous comparison
	baseline comparison
	cycle    *Cycle
	stuck    *Stuck
	returned *int
	sources  *explainer // nil for the baseline

	removable removable
	goalAt    map[metric.ID]int // the places of the goals
	cleared   map[metric.ID]MutationResult

	acknowledgements []acknowledged
	accepted         map[string]bool // rules all of whose findings are acknowledged
}

// comparison is the current measurement compared with an earlier one.
type comparison struct {
	against         string
	before          metric.Set
	now             metric.Set
	delta           metric.Delta
	tests           *testDiff // nil when tests are missing on either side
	includeReported bool      // what was reported of it before is a finding too
}

func newJudge(in Input, o Options) *judge {
	j := &judge{in: in, opts: o, now: in.Current.Set, acknowledgements: append(o.acknowledgements(in.Now), in.grants()...), accepted: map[string]bool{}, removable: newRemovable(o.AllowRemove)}
	j.now.Tests = settle(j.now.Tests, in.Flaky)
	j.cleared = in.cleared()
	j.goalAt = make(map[metric.ID]int, len(in.Goals))
	for i, g := range in.Goals {
		j.goalAt[g.ID] = i
	}
	if in.Current.Iteration == 0 {
		j.previous = comparison{against: AgainstPrevious, now: j.now, delta: metric.Delta{}}
		j.baseline = comparison{against: AgainstBaseline, now: j.now, delta: metric.Delta{}}
		return j
	}
	before := fill(in.Previous.Set, in.History)
	if len(in.Before)+len(in.After) > 0 {
		suites := suitesOf(before, j.now)
		j.in.Before, j.in.After = place(in.Before, suites), place(in.After, suites)
	}
	ex := newExplainer(j.in, o.Strict, j.removable)
	j.sources = ex
	j.previous = j.compare(AgainstPrevious, before, ex)
	j.baseline = j.compare(AgainstBaseline, in.Baseline.Set, ex)
	known := knownFlaky(j.baseline.before.Tests, in.KnownFlaky)
	for _, d := range []*testDiff{j.previous.tests, j.baseline.tests} {
		if d != nil {
			d.excuseFlaky(known, j.touched)
		}
	}
	if start := j.previous.before.Tests; j.baseline.tests != nil && start != nil {
		if earlier := diffTests(j.baseline.before.Tests, start); len(earlier.Gone)+len(earlier.NotRun)+len(earlier.broken)+len(earlier.NewlySkipped) > 0 {
			j.baseline.tests.forget(earlier, settled(in.History))
		}
	}
	return j
}

// knownFlaky joins the flaky tests of the baseline with those that were learned.
func knownFlaky(baseline *metric.Tests, learnt map[metric.ID]bool) map[metric.ID]bool {
	known := maps.Clone(learnt)
	if baseline == nil {
		return known
	}
	for _, c := range baseline.Cases {
		if _, seen := learnt[c.ID]; !c.Flaky || seen {
			continue
		}
		if known == nil {
			known = map[metric.ID]bool{}
		}
		known[c.ID] = true
	}
	return known
}

// settled gathers what became of the tests that earlier iterations lost with an
// explanation, or with a person's word.
func settled(history []Observation) map[metric.ID]metric.ID {
	out := map[metric.ID]metric.ID{}
	for _, o := range history {
		for _, l := range o.Settled {
			out[l.ID] = l.Successor
		}
	}
	return out
}

func (j *judge) compare(against string, before metric.Set, ex *explainer) comparison {
	if before.Tests != j.previous.before.Tests {
		before.Tests = before.Tests.Sorted()
	}
	c := comparison{against: against, before: before, now: j.now, delta: j.now.Sub(before)}
	if before.Tests != nil && j.now.Tests != nil {
		c.tests = diffTests(before.Tests, j.now.Tests)
		c.tests.explain(ex)
	}
	return c
}

// fill returns s with the sections that were not measured taken from the latest
// iteration that measured them.
func fill(s metric.Set, history []Observation) metric.Set {
	for i := len(history) - 1; i >= 0; i-- {
		if s.Tests != nil && s.Coverage != nil && s.Lint != nil && known(s.Build) && s.Code != nil {
			break
		}
		h := history[i].Set
		s.Tests, s.Coverage = or(s.Tests, h.Tests), or(s.Coverage, h.Coverage)
		s.Lint, s.Code = or(s.Lint, h.Lint), or(s.Code, h.Code)
		if !known(s.Build) && known(h.Build) {
			s.Build = h.Build
		}
	}
	return s
}

func or[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func known(b *metric.Build) bool { return b != nil && b.Status != metric.BuildUnknown }

// values returns a number of both sides, and false unless both were measured.
func (c comparison) values(f metric.Field) (before, now float64, ok bool) {
	if _, ok = c.delta[f]; !ok {
		return 0, 0, false
	}
	before, _ = c.before.Value(f)
	now, _ = c.now.Value(f)
	return before, now, true
}

// variation is by how much a number varies on one tree, as far as the baseline shows. A
// change within it does not count.
func (j *judge) variation(f metric.Field) float64 { return j.in.Baseline.Set.Variation[f] }

// coverageFell reports whether coverage is lower by more than limit points and
// by more than it varies by itself.
func (j *judge) coverageFell(c comparison, limit float64) bool {
	d, ok := c.delta[metric.CoveragePct]
	return ok && -d > limit+epsilon && -d > j.variation(metric.CoveragePct)+epsilon
}

// epsilon keeps sums of decimal fractions from deciding: 77.9 to 75.9 is a drop
// of exactly two points.
const epsilon = 1e-9
