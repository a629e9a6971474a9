package detector

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"supervise/metric"
)

// single returns a list of one finding.
func single(f finding) []finding { return []finding{f} }

// metricValues returns the values of an alert about one metric.
func (j *judge) metricValues(c comparison, f metric.Field, threshold float64) Values {
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

// maxListed is the number of losses that a message names.
const maxListed = 5

// gitStateLost compares only with the baseline: that state belongs to the user, while
// state that the loop itself created may be removed.
func gitStateLost(j *judge, c comparison, r appliedRule) []finding {
	if c.against != AgainstBaseline {
		return nil
	}
	return j.lossFinding(r, j.in.GitLost, nil)
}

// lossFinding makes one finding of everything that the iteration lost. files are the paths concerned.
func (j *judge) lossFinding(r appliedRule, lost, files []string) []finding {
	if float64(len(lost)) <= r.threshold() || j.in.Current.Iteration == 0 {
		return nil
	}
	return single(finding{values: Values{Why: joinFirst(lost), N: len(lost)}, files: files})
}

// joinFirst lists the first losses and counts the others.
func joinFirst(lost []string) string {
	why := strings.Join(lost[:min(maxListed, len(lost))], ", ")
	if more := len(lost) - maxListed; more > 0 {
		why += fmt.Sprintf(" and %d more", more)
	}
	return why
}

// LostWork is a file with the user's work that no commit had and that is gone.
type LostWork struct {
	Path          string `json:"path"`
	How           string `json:"how"` // deleted, emptied, overwritten, edits undone
	Ignored       bool   `json:"ignored,omitempty"`
	NotInSnapshot bool   `json:"unkept,omitempty"` // no snapshot holds it
}

// String returns the path and how the work was lost.
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

// userWorkLost makes one finding of everything that the iteration lost.
func userWorkLost(j *judge, _ comparison, r appliedRule) []finding {
	var names, files []string
	for _, l := range j.in.WorkLost {
		names, files = append(names, l.String()), append(files, l.Path)
	}
	return j.lossFinding(r, names, files)
}

// testsForged fires when reports contain tests that no source file defines, and did not before.
func testsForged(j *judge, c comparison, r appliedRule) []finding {
	if j.now.Tests == nil || c.before.Tests == nil {
		return nil
	}
	newlyForged := slices.DeleteFunc(slices.Clone(j.now.Tests.Forged), func(id metric.ID) bool { return slices.Contains(c.before.Tests.Forged, id) })
	return r.aboveThreshold(finding{tests: newlyForged})
}

// acknowledgementsChanged fires when the iteration changed a file of acknowledgements.
func acknowledgementsChanged(j *judge, _ comparison, _ appliedRule) []finding {
	files := j.in.AckFiles
	if len(files) == 0 || j.in.Current.Iteration == 0 {
		return nil
	}
	return single(finding{values: Values{Why: strings.Join(files, ", "), N: len(files)}, files: files})
}

// IsPercent reports whether the threshold is in per cent of the earlier value.
func (r Rule) IsPercent() bool { return r.Unit == "%" }

// WorsenedBy returns by how much a change of the metric that the rule watches is for the
// worse, in the unit of the threshold. It is negative for a change for the better.
func (r Rule) WorsenedBy(before, delta float64) float64 {
	worse := -delta * float64(r.Watch.Better)
	if r.IsPercent() && before != 0 {
		worse = 100 * worse / math.Abs(before)
	}
	return worse
}

// metricWorsened fires if the metric that the rule watches is worse by more than the
// threshold, and by more than it varies between runs.
func metricWorsened(j *judge, c comparison, r appliedRule) []finding {
	field := r.Watch.Field
	before, _, ok := c.values(field)
	if !ok || before < r.Watch.Min || r.IsPercent() && before <= 0 {
		return nil
	}
	if r.WorsenedBy(before, c.delta[field]) <= max(r.threshold(), j.variation(field))+epsilon {
		return nil
	}
	return single(finding{values: j.metricValues(c, field, r.threshold())})
}

// suiteDidNotRun fires if tests were planned or had been read before, and cannot be read
// now, or their report contradicts itself now and did not before.
func suiteDidNotRun(j *judge, c comparison, r appliedRule) []finding {
	gap, planned := j.now.Gap(metric.SectionTests)
	inPart := planned && gap.State == metric.Partial && c.before.Tests != nil && c.before.Tests.Failure == ""
	if j.now.Tests != nil && !inPart || float64(j.in.SuiteUnread+1) <= r.threshold() {
		return nil
	}
	if !planned && c.before.Tests == nil && j.baseline.before.Tests == nil {
		return nil
	}
	f := finding{values: Values{Why: cmp.Or(gap.Why, "there is no report")}}
	if j.in.SuiteUnread > 0 {
		f.severity = Critical
	}
	return single(f)
}

// buildBroken fires when the build succeeded before and fails now.
func buildBroken(_ *judge, c comparison, _ appliedRule) []finding {
	old, current := c.before.Build, c.now.Build
	if old == nil || current == nil || old.Status != metric.BuildSuccess || current.Status != metric.BuildFailure {
		return nil
	}
	return single(finding{values: Values{Why: cmp.Or(current.FirstError, "it gave no reason")}})
}

// fileDeletion fires when there are fewer files, and names the deleted ones.
func fileDeletion(j *judge, c comparison, r appliedRule) []finding {
	out := metricWorsened(j, c, r)
	for i := range out {
		out[i].files = j.in.Removed
	}
	return out
}

// coverageDenominator does not fire if a part of the tests did not run: then packages are
// missing in the report for another reason.
func coverageDenominator(j *judge, c comparison, r appliedRule) []finding {
	loc, counted := c.delta[metric.LOCTotal]
	if !counted || loc < 0 || c.now.Tests != nil && len(c.now.Tests.Broken) > 0 {
		return nil
	}
	out := metricWorsened(j, c, r)
	for i := range out {
		out[i].values.N = int(-c.delta[r.Watch.Field])
	}
	return out
}

// testTimeAnomaly fires when the same tests, with the same results, take much longer than before.
func testTimeAnomaly(j *judge, c comparison, r appliedRule) []finding {
	now, ok := c.now.Value(r.Watch.Field)
	if !ok || !sameOutcomes(c) {
		return nil
	}
	uncontended := float64((c.before.Tests.Duration - c.before.Tests.Contention).Milliseconds())
	if r.WorsenedBy(uncontended, now-uncontended) <= r.threshold()+epsilon {
		return nil // checks that ran in parallel may explain the difference
	}
	return metricWorsened(j, c, r)
}

// sameOutcomes reports whether both sides have the same tests and the same number of them
// completed.
func sameOutcomes(c comparison) bool {
	t := c.tests
	return t != nil && len(t.New) == 0 && len(t.Gone) == 0 && len(t.NotRun) == 0 && len(t.NewlySkipped) == 0 && len(t.NewlyFailing) == 0
}

// infiniteLoop fires for a cycle that lasted long enough to be endless.
func infiniteLoop(j *judge, _ comparison, _ appliedRule) []finding {
	if j.cycle == nil || !j.cycle.Endless {
		return nil
	}
	return single(finding{values: Values{Period: j.cycle.Period}})
}

// metricCycling fires for a cycle that is not yet endless.
func metricCycling(j *judge, _ comparison, _ appliedRule) []finding {
	if j.cycle == nil || j.cycle.Endless {
		return nil
	}
	return single(finding{values: Values{Period: j.cycle.Period, Why: j.cycle.Message()}})
}

// stuckLoop fires when the same error occurred in several consecutive iterations.
func stuckLoop(j *judge, _ comparison, _ appliedRule) []finding {
	if j.stuck == nil {
		return nil
	}
	return single(finding{values: Values{Why: j.stuck.Message(), N: j.stuck.Count}})
}
