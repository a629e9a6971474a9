package detector

import (
	"cmp"
	"maps"
	"slices"

	"supervise/detector/internal/definition"
	"supervise/detector/internal/loss"
	"supervise/detector/internal/testdiff"
	"supervise/metric"
)

// judge holds what the rules read when one iteration is judged. It is complete after newJudge,
// except for cycle, stuck and returned, which findPatterns sets before the rules about the loop.
type judge struct {
	in       Input
	opts     Options
	now      metric.Set
	previous comparison
	baseline comparison
	cycle    *Cycle
	stuck    *Stuck
	returned *int
	losses   *loss.Explainer // nil for the baseline

	removable  testPatterns
	changeable testPatterns
	goalIndex  map[metric.ID]int // by test: the index in Input.Goals
	clearances map[metric.ID]clearance

	acknowledgements []activeAcknowledgement
	accepted         map[string]bool   // rules of which every finding is acknowledged
	lines            map[string][]line // by the ID of an alert about the text: what it is about
}

// comparison is the current measurement compared with an earlier one.
type comparison struct {
	against         string
	since           int // number of the iteration of before
	before          metric.Set
	now             metric.Set
	delta           metric.Delta
	tests           *testdiff.Diff // nil when tests are missing on either side
	includeReported bool           // findings that were reported before are raised again
}

// newJudge returns the judge of an iteration, with both comparisons made and lost tests explained.
func newJudge(in Input, o Options) *judge {
	o.Acknowledged = slices.Concat(o.Acknowledged, in.Acknowledged)
	j := &judge{in: in, opts: o, now: in.Current.Set, acknowledgements: append(o.activeAcknowledgements(in.Now), in.grantAcknowledgements()...), accepted: map[string]bool{}, lines: map[string][]line{}, removable: newTestPatterns(o.AllowRemove), changeable: newTestPatterns(o.MayChange)}
	j.now.Tests = testdiff.CountFlakyAsPassed(j.now.Tests, in.Flaky)
	j.clearances = in.clearances()
	j.goalIndex = make(map[metric.ID]int, len(in.Goals))
	for i, g := range in.Goals {
		j.goalIndex[g.ID] = i
	}

	if in.Current.Iteration == 0 {
		j.previous = comparison{against: AgainstPrevious, now: j.now, delta: metric.Delta{}}
		j.baseline = comparison{against: AgainstBaseline, now: j.now, delta: metric.Delta{}}
		return j
	}

	before := fillGaps(in.Previous.Set, in.History)
	if len(in.Before)+len(in.After) > 0 {
		suites := definition.SuitesOf(before.Tests, j.now.Tests)
		j.in.Before, j.in.After = definition.WithSuites(in.Before, suites), definition.WithSuites(in.After, suites)
	}
	j.losses = j.newExplainer()
	j.previous = j.compare(AgainstPrevious, in.Previous.Iteration, before)
	j.baseline = j.compare(AgainstBaseline, in.Baseline.Iteration, in.Baseline.Set)
	known := knownFlaky(j.baseline.before.Tests, in.KnownFlaky)
	for _, d := range []*testdiff.Diff{j.previous.tests, j.baseline.tests} {
		if d != nil {
			d.ExcuseFlaky(known, j.isFileTouched)
		}
	}

	if start := j.previous.before.Tests; j.baseline.tests != nil && start != nil {
		if earlier := testdiff.Compare(j.baseline.before.Tests, start); len(earlier.Gone)+len(earlier.NotRun)+len(earlier.Broken)+len(earlier.NewlySkipped) > 0 {
			j.baseline.tests.DropEarlier(earlier, settledSuccessors(in.History))
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

// settledSuccessors maps the tests whose loss in an earlier iteration was explained or
// accepted to their successors.
func settledSuccessors(history []Observation) map[metric.ID]metric.ID {
	out := map[metric.ID]metric.ID{}
	for _, o := range history {
		for _, l := range o.Settled {
			out[l.ID] = l.Successor
		}
	}
	return out
}

// compare compares the current measurement with an earlier one, and explains lost tests. against
// is [AgainstPrevious] or [AgainstBaseline].
func (j *judge) compare(against string, since int, before metric.Set) comparison {
	if before.Tests != j.previous.before.Tests {
		before.Tests = before.Tests.Sorted()
	}
	c := comparison{against: against, since: since, before: before, now: j.now, delta: j.now.Sub(before)}
	if before.Tests != nil && j.now.Tests != nil {
		c.tests = testdiff.Compare(before.Tests, j.now.Tests)
		var losses []Loss
		if !j.opts.Strict {
			losses = j.losses.Explain(loss.Comparison{Before: before.Tests, Now: j.now.Tests, Gone: c.tests.Gone, New: c.tests.New})
		}
		c.tests.Explain(losses)
	}
	return c
}

// fillGaps returns the set in which sections that were not measured are those of the
// latest iteration that measured them.
func fillGaps(s metric.Set, history []Observation) metric.Set {
	for i := len(history) - 1; i >= 0; i-- {
		if s.Tests != nil && s.Coverage != nil && s.Lint != nil && isKnownBuild(s.Build) && s.Code != nil {
			break
		}
		h := history[i].Set
		s.Tests, s.Coverage = cmp.Or(s.Tests, h.Tests), cmp.Or(s.Coverage, h.Coverage)
		s.Lint, s.Code = cmp.Or(s.Lint, h.Lint), cmp.Or(s.Code, h.Code)
		if !isKnownBuild(s.Build) && isKnownBuild(h.Build) {
			s.Build = h.Build
		}
	}
	return s
}

// isKnownBuild reports whether a build succeeded or failed.
func isKnownBuild(b *metric.Build) bool { return b != nil && b.Status != metric.BuildUnknown }

// values returns a metric of both sides, and false unless both were measured.
func (c comparison) values(f metric.Field) (before, now float64, ok bool) {
	if _, ok = c.delta[f]; !ok {
		return 0, 0, false
	}
	before, _ = c.before.Value(f)
	now, _ = c.now.Value(f)
	return before, now, true
}

// variation returns how much a metric varied between the runs on the baseline. A change
// within the variation does not count.
func (j *judge) variation(f metric.Field) float64 { return j.in.Baseline.Set.Variation[f] }

// epsilon is the tolerance for rounding errors: 77.9 to 75.9 is a drop of exactly two
// points.
const epsilon = 1e-9
