package detector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"supervise/metric"
)

func one(f finding) []finding { return []finding{f} }

// numbers are the values of a rule about one field.
func (j *judge) numbers(c comparison, f metric.Field, threshold float64) Values {
	v := Values{Delta: ptr(c.delta[f])}
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

func ptr(v float64) *float64 { return &v }

// counts returns the counts that the test rules compare: raw when strict.
func (j *judge) counts(c comparison) (before, now metric.Counts) {
	if j.opts.Strict {
		return c.before.Tests.Counts(), c.now.Tests.Counts()
	}
	return c.tests.counts()
}

func testCountDecreased(j *judge, c comparison, tolerance float64) []finding {
	if c.tests == nil {
		return nil
	}
	before, now := j.counts(c)
	if float64(before.Count-now.Count) <= tolerance {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestCount, tolerance), tests: c.tests.unexplained})
}

func workingTestsFailing(j *judge, c comparison, tolerance float64) []finding {
	if c.tests == nil {
		return nil
	}
	before, now := j.counts(c)
	broken := c.tests.broken
	if j.opts.Strict {
		broken = slices.Concat(broken, c.tests.NewlySkipped)
	}
	if float64(before.Passed-now.Passed) <= tolerance {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestsPassed, tolerance), tests: broken})
}

func testsReplaced(j *judge, c comparison, _ float64) []finding {
	if c.tests == nil || len(c.tests.unexplained) == 0 {
		return nil
	}
	if before, now := j.counts(c); now.Count < before.Count {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestCount, 0), tests: c.tests.unexplained})
}

// testsNewlySkipped makes one finding of the skips that depend on the machine
// and one of the others.
func testsNewlySkipped(j *judge, c comparison, _ float64) []finding {
	if c.tests == nil {
		return nil
	}
	var hard, conditional finding
	conditional.severity = Medium
	for _, id := range c.tests.NewlySkipped {
		test, _ := c.now.Tests.Lookup(id)
		f := &hard
		if j.conditionalSkip(test) {
			f = &conditional
		}
		f.tests = append(f.tests, id)
		f.values.Why = test.Message
	}
	var out []finding
	for _, f := range []finding{hard, conditional} {
		if len(f.tests) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// machineReason matches the reasons of skips that depend on the machine and not
// on the code.
var machineReason = regexp.MustCompile(`(?i)\b(windows|darwin|macos|linux|freebsd|unix|platform|architecture|arm64|amd64|32-bit|` +
	`not supported (on|by)|unsupported|requires? [\w.+-]+ (version )?(>=?|[0-9])|version|kernel|` +
	`not (installed|available|found in)|no \S+ (executable|binary|in path)|executable file not found|short mode|root|privileges?|network|docker)\b`)

// conditionalSkip reports whether a skip depends on platform, version or a
// missing tool. The source of the test decides; its message does only where the
// definition did not change, since whoever writes a skip writes its message too.
func (j *judge) conditionalSkip(c metric.Test) bool {
	after := findDef(j.in.After, c)
	if after == nil {
		return machineReason.MatchString(c.Message)
	}
	if after.Def.Skipped || after.Def.SkipConditional {
		return !after.Def.Skipped
	}
	before := findDef(j.in.Before, c)
	return before != nil && sameDef(*before, *after) && machineReason.MatchString(c.Message)
}

// maxNamed is how many lost things a message names.
const maxNamed = 5

// gitStateLost speaks of the baseline alone: its state is the user's, while
// what the loop itself made may go.
func gitStateLost(j *judge, c comparison, _ float64) []finding {
	lost := j.in.GitLost
	if len(lost) == 0 || c.against != AgainstBaseline || j.in.Current.Iteration == 0 {
		return nil
	}
	why := strings.Join(lost[:min(maxNamed, len(lost))], ", ")
	if more := len(lost) - maxNamed; more > 0 {
		why += fmt.Sprintf(" and %d more", more)
	}
	return one(finding{values: Values{Why: why, N: len(lost)}})
}

func coverageRegression(j *judge, c comparison, points float64) []finding {
	step, ok := j.previous.delta[metric.CoveragePct]
	if !j.coverageFell(c, points) || ok && step >= 0 {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.CoveragePct, points), files: lessCovered(c)})
}

// lessCovered lists the files that lost most of their coverage.
func lessCovered(c comparison) []string {
	before := make(map[string]metric.FileCoverage, len(c.before.Coverage.Files))
	for _, f := range c.before.Coverage.Files {
		before[f.Path] = f
	}
	var out []string
	for _, f := range c.now.Coverage.Files {
		if b, ok := before[f.Path]; ok && f.Covered*b.Total < b.Covered*f.Total {
			out = append(out, f.Path)
		}
	}
	return out
}

func errorIncrease(j *judge, c comparison, limit float64) []finding {
	if c.delta[metric.ErrorCount] <= limit {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.ErrorCount, limit)})
}

// suiteDidNotRun fires where tests were to be expected: they were planned, or
// had been read before.
func suiteDidNotRun(j *judge, c comparison, _ float64) []finding {
	if j.now.Tests != nil {
		return nil
	}
	gap, planned := j.now.Gap(metric.SectionTests)
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

func buildBroken(_ *judge, c comparison, _ float64) []finding {
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

func fileDeletion(j *judge, c comparison, tolerance float64) []finding {
	if -c.delta[metric.FileCount] <= tolerance {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.FileCount, tolerance), files: j.in.Removed})
}

func complexityExplosion(j *judge, c comparison, percent float64) []finding {
	before, now, ok := c.values(metric.Complexity)
	if !ok || before <= 0 || 100*(now-before)/before <= percent+epsilon {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.Complexity, percent)})
}

// coverageDenominator is silent while a part of the tests did not run: then the
// report lacks packages for another reason.
func coverageDenominator(j *judge, c comparison, percent float64) []finding {
	before, now, ok := c.values(metric.CoverageTotal)
	loc, counted := c.delta[metric.LOCTotal]
	if !ok || !counted || loc < 0 || before <= 0 || 100*(before-now)/before <= percent+epsilon {
		return nil
	}
	if c.now.Tests != nil && len(c.now.Tests.Broken) > 0 {
		return nil
	}
	v := j.numbers(c, metric.CoverageTotal, percent)
	v.N = int(before - now)
	return one(finding{values: v})
}

func flakyTest(j *judge, c comparison, _ float64) []finding {
	var ids []metric.ID
	switch {
	case c.tests != nil:
		ids = c.tests.Flaky
	case j.now.Tests != nil:
		for _, t := range j.now.Tests.Cases {
			if t.Flaky {
				ids = append(ids, t.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return one(finding{tests: ids})
}

// minTestTime is the shortest time of tests, in milliseconds, whose halving
// says anything.
const minTestTime = 1000

func testTimeAnomaly(j *judge, c comparison, percent float64) []finding {
	before, now, ok := c.values(metric.TestTime)
	if !ok || before < minTestTime || 100*(before-now)/before <= percent+epsilon || !sameOutcomes(c) {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestTime, percent)})
}

// sameOutcomes reports whether both sides have the same tests and as many of
// them ran to their end.
func sameOutcomes(c comparison) bool {
	t := c.tests
	return t != nil && len(t.New) == 0 && len(t.Gone) == 0 && len(t.NotRun) == 0 && len(t.NewlySkipped) == 0 && len(t.NewlyFailing) == 0
}

func infiniteLoop(j *judge, _ comparison, _ float64) []finding {
	if j.cycle == nil || !j.cycle.Endless {
		return nil
	}
	return one(finding{values: Values{Period: j.cycle.Period}})
}

func metricCycling(j *judge, _ comparison, _ float64) []finding {
	if j.cycle == nil || j.cycle.Endless {
		return nil
	}
	return one(finding{values: Values{Period: j.cycle.Period, N: j.cycle.Period}})
}

func stuckLoop(j *judge, _ comparison, _ float64) []finding {
	if j.stuck == nil {
		return nil
	}
	return one(finding{values: Values{Why: j.stuck.Message(), N: j.stuck.Count}})
}

// testExplained makes one finding of each kind of explanation.
func testExplained(_ *judge, c comparison, _ float64) []finding {
	if c.tests == nil {
		return nil
	}
	var out []finding
	at := map[Explanation]int{}
	for _, l := range c.tests.Explained {
		i, ok := at[l.By]
		if !ok {
			i = len(out)
			at[l.By] = i
			out = append(out, finding{values: Values{Why: l.By.String()}})
		}
		out[i].tests = append(out[i].tests, l.ID)
	}
	return out
}
