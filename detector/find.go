package detector

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"supervise/metric"
)

func one(f finding) []finding { return []finding{f} }

// numbers are the values of a rule about one field.
func (j *judge) numbers(c comparison, f metric.Field, threshold float64) Values {
	v := Values{Delta: new(c.delta[f])}
	if before, ok := c.before.Value(f); ok {
		v.Prev = &before
	}
	if now, ok := c.now.Value(f); ok {
		v.Curr = &now
	}
	if base, ok := j.baseline.before.Value(f); ok {
		v.Baseline = &base
	}
	if threshold > 0 {
		v.Threshold = &threshold
	}
	return v
}

// maxNamed is how many losses a message names.
const maxNamed = 5

// gitStateLost compares with the baseline alone: that state belongs to the user,
// while what the loop itself made may go.
func gitStateLost(j *judge, c comparison, r row) []finding {
	lost := j.in.GitLost
	if float64(len(lost)) <= r.threshold() || c.against != AgainstBaseline || j.in.Current.Iteration == 0 {
		return nil
	}
	return one(finding{values: Values{Why: someOf(lost), N: len(lost)}})
}

// someOf names the first losses, and counts the others.
func someOf(lost []string) string {
	why := strings.Join(lost[:min(maxNamed, len(lost))], ", ")
	if more := len(lost) - maxNamed; more > 0 {
		why += fmt.Sprintf(" and %d more", more)
	}
	return why
}

// LostWork is a file with work of the user's own that no commit had and that is gone.
type LostWork struct {
	Path          string `json:"path"`
	How           string `json:"how"` // deleted, emptied, overwritten, edits undone
	Ignored       bool   `json:"ignored,omitempty"`
	NotInSnapshot bool   `json:"unkept,omitempty"` // no snapshot holds it
}

// String returns the loss for people.
func (l LostWork) String() string {
	how := l.How
	if l.Ignored {
		how = "ignored, " + how
	}
	if l.NotInSnapshot {
		how += ", in no snapshot"
	}
	return l.Path + " (" + how + ")"
}

// userWorkLost fires once for what an iteration lost.
func userWorkLost(j *judge, c comparison, r row) []finding {
	lost := j.in.WorkLost
	if float64(len(lost)) <= r.threshold() || c.against != AgainstPrevious || j.in.Current.Iteration == 0 {
		return nil
	}
	var names, files []string
	for _, l := range lost {
		names, files = append(names, l.String()), append(files, l.Path)
	}
	return one(finding{values: Values{Why: someOf(names), N: len(lost)}, files: files})
}

func testsForged(j *judge, c comparison, r row) []finding {
	if c.against != AgainstPrevious || j.now.Tests == nil || c.before.Tests == nil {
		return nil
	}
	fresh := slices.DeleteFunc(slices.Clone(j.now.Tests.Forged), func(id metric.ID) bool { return slices.Contains(c.before.Tests.Forged, id) })
	if float64(len(fresh)) <= r.threshold() {
		return nil
	}
	return one(finding{values: Values{Name: fresh[0].String(), N: len(fresh)}, tests: fresh})
}

func acknowledgementsChanged(j *judge, c comparison, _ row) []finding {
	files := j.in.AckFiles
	if len(files) == 0 || c.against != AgainstPrevious || j.in.Current.Iteration == 0 {
		return nil
	}
	return one(finding{values: Values{Why: strings.Join(files, ", "), N: len(files)}, files: files})
}

// IsPercent reports whether the threshold is in per cent of the earlier value.
func (r Rule) IsPercent() bool { return r.Unit == "%" }

// WorsenedBy returns by how much a change of the number that the rule watches is
// for the worse, in the unit of the threshold; below zero it is for the better.
func (r Rule) WorsenedBy(before, delta float64) float64 {
	by := -delta * float64(r.Watch.Better)
	if r.IsPercent() && before != 0 {
		by = 100 * by / math.Abs(before)
	}
	return by
}

// numberMoved fires where the number that the rule watches is worse by more than
// the threshold.
func numberMoved(j *judge, c comparison, r row) []finding {
	before, _, ok := c.values(r.Watch.Field)
	if !ok || before < r.Watch.Min || r.IsPercent() && before <= 0 || r.WorsenedBy(before, c.delta[r.Watch.Field]) <= max(r.threshold(), j.variation(r.Watch.Field))+epsilon {
		return nil
	}
	return one(finding{values: j.numbers(c, r.Watch.Field, r.threshold())})
}

// suiteDidNotRun fires where tests were to be expected: they were planned, or had been
// read before; whole, where their report denies itself now.
func suiteDidNotRun(j *judge, c comparison, r row) []finding {
	gap, planned := j.now.Gap(metric.SectionTests)
	inPart := planned && gap.State == metric.Partial && c.before.Tests != nil && c.before.Tests.Failure == ""
	if j.now.Tests != nil && !inPart || float64(j.in.SuiteUnread+1) <= r.threshold() {
		return nil
	}
	if !planned && c.before.Tests == nil && j.baseline.before.Tests == nil {
		return nil
	}
	f := finding{values: Values{Why: gap.Why}}
	if gap.Why == "" {
		f.values.Why = "there is no report"
	}
	if j.in.SuiteUnread > 0 {
		f.severity = Critical
	}
	return one(f)
}

func buildBroken(_ *judge, c comparison, _ row) []finding {
	was, is := c.before.Build, c.now.Build
	if was == nil || is == nil || was.Status != metric.BuildSuccess || is.Status != metric.BuildFailure {
		return nil
	}
	f := finding{values: Values{Why: is.FirstError}}
	if is.FirstError == "" {
		f.values.Why = "it gave no reason"
	}
	return one(f)
}

func fileDeletion(j *judge, c comparison, r row) []finding {
	out := numberMoved(j, c, r)
	for i := range out {
		out[i].files = j.in.Removed
	}
	return out
}

// coverageDenominator does not fire while a part of the tests did not run: then
// packages are missing in the report for another reason.
func coverageDenominator(j *judge, c comparison, r row) []finding {
	loc, counted := c.delta[metric.LOCTotal]
	if !counted || loc < 0 || c.now.Tests != nil && len(c.now.Tests.Broken) > 0 {
		return nil
	}
	out := numberMoved(j, c, r)
	for i := range out {
		out[i].values.N = int(-c.delta[r.Watch.Field])
	}
	return out
}

func testTimeAnomaly(j *judge, c comparison, r row) []finding {
	now, ok := c.now.Value(r.Watch.Field)
	if !ok || !sameOutcomes(c) {
		return nil
	}
	alone := float64((c.before.Tests.Duration - c.before.Tests.Contention).Milliseconds())
	if r.WorsenedBy(alone, now-alone) <= r.threshold()+epsilon {
		return nil // what ran in parallel before may have cost the rest
	}
	return numberMoved(j, c, r)
}

// sameOutcomes reports whether both sides have the same tests and as many of
// them ran to their end.
func sameOutcomes(c comparison) bool {
	t := c.tests
	return t != nil && len(t.New) == 0 && len(t.Gone) == 0 && len(t.NotRun) == 0 && len(t.NewlySkipped) == 0 && len(t.NewlyFailing) == 0
}

func infiniteLoop(j *judge, _ comparison, _ row) []finding {
	if j.cycle == nil || !j.cycle.Endless {
		return nil
	}
	return one(finding{values: Values{Period: j.cycle.Period}})
}

func metricCycling(j *judge, _ comparison, _ row) []finding {
	if j.cycle == nil || j.cycle.Endless {
		return nil
	}
	return one(finding{values: Values{Period: j.cycle.Period, Why: j.cycle.Message()}})
}

func stuckLoop(j *judge, _ comparison, _ row) []finding {
	if j.stuck == nil {
		return nil
	}
	return one(finding{values: Values{Why: j.stuck.Message(), N: j.stuck.Count}})
}
