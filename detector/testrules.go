package detector

import (
	"slices"

	"supervise/detector/internal/definition"
	"supervise/detector/internal/testdiff"
	"supervise/internal/regexp"
	"supervise/metric"
)

// comparedCounts returns the counts that the test rules compare. Strict rules compare all
// tests, the others without those that are accounted for.
func (j *judge) comparedCounts(c comparison) (before, now metric.Counts) {
	if j.opts.Strict {
		return c.before.Tests.Counts(), c.now.Tests.Counts()
	}
	return c.tests.Counts()
}

// erodedTests returns the tests that earlier iterations lost since the baseline within the
// tolerance of the rule. They count in an iteration that loses more. lists selects from a
// comparison the losses that concern the rule: those of this step, and those of earlier ones.
func (j *judge) erodedTests(c comparison, r appliedRule, lists func(*testdiff.Diff) (step, earlier []metric.ID)) []metric.ID {
	if r.threshold() == 0 || c.against != AgainstBaseline || j.opts.Strict || j.previous.tests == nil {
		return nil
	}
	if step, _ := lists(j.previous.tests); len(step) == 0 {
		return nil
	}
	_, earlier := lists(c.tests)
	return earlier
}

// isEarlierLoss reports whether a strict comparison with the baseline sees only losses of
// earlier iterations.
func (j *judge) isEarlierLoss(c comparison, f metric.Field) bool {
	step, ok := j.previous.delta[f]
	return j.opts.Strict && c.against == AgainstBaseline && ok && step >= 0
}

// testCountDecreased fires when there are fewer tests than before.
func testCountDecreased(j *judge, c comparison, r appliedRule) []finding {
	if c.tests == nil || j.isEarlierLoss(c, metric.TestCount) {
		return nil
	}
	before, now := j.comparedCounts(c)
	earlier := j.erodedTests(c, r, func(d *testdiff.Diff) (step, earlier []metric.ID) { return d.Unexplained, d.Earlier.Gone })
	if float64(before.Count+len(earlier)-now.Count) <= r.threshold() {
		return nil
	}
	return single(finding{values: j.metricValues(c, metric.TestCount, r.threshold()), tests: testdiff.MergeSorted(c.tests.Unexplained, earlier)})
}

// workingTestsFailing fires when fewer tests pass. New passing tests do not hide a test
// that fails now: if they make up for it in number, the finding is HIGH and rolls nothing
// back.
func workingTestsFailing(j *judge, c comparison, r appliedRule) []finding {
	if c.tests == nil || j.isEarlierLoss(c, metric.TestsPassed) {
		return nil
	}

	before, now := j.comparedCounts(c)
	broken := c.tests.Broken
	if j.opts.Strict {
		broken = slices.Concat(broken, c.tests.NewlySkipped)
	}
	earlier := j.erodedTests(c, r, func(d *testdiff.Diff) (step, earlier []metric.ID) { return d.Broken, d.Earlier.Broken })
	f := finding{values: j.metricValues(c, metric.TestsPassed, r.threshold())}
	if float64(before.Passed+len(earlier)-now.Passed) > r.threshold() {
		f.tests = testdiff.MergeSorted(broken, earlier)
		for _, id := range f.tests {
			if _, exists := c.now.Tests.Lookup(id); !exists {
				f.values.Gone++
			}
		}
		return single(f)
	}

	f.tests = c.tests.FailingTests()
	f.severity, f.action, f.values.Why = High, AlertRegression, "other tests make up for them in number"
	return r.aboveThreshold(f)
}

// testsReplaced fires when tests are gone without an explanation, but as many new ones exist.
func testsReplaced(j *judge, c comparison, r appliedRule) []finding {
	if c.tests == nil {
		return nil
	}
	if before, now := j.comparedCounts(c); now.Count < before.Count {
		return nil
	}
	return r.aboveThreshold(finding{values: j.metricValues(c, metric.TestCount, r.threshold()), tests: c.tests.Unexplained})
}

// testsNewlySkipped makes one finding of the skips that depend on the machine, and one of
// all others.
func testsNewlySkipped(j *judge, c comparison, r appliedRule) []finding {
	if c.tests == nil {
		return nil
	}
	earlier := j.erodedTests(c, r, func(d *testdiff.Diff) (step, earlier []metric.ID) { return d.NewlySkipped, d.Earlier.Skipped })
	var hard, conditional finding
	conditional.severity = Medium
	for _, id := range testdiff.MergeSorted(c.tests.NewlySkipped, earlier) {
		test, _ := c.now.Tests.Lookup(id)
		f := &hard
		if j.isConditionalSkip(test) {
			f = &conditional
		}
		f.tests = append(f.tests, id)
		f.values.Why = test.Message
	}
	return r.aboveThreshold(hard, conditional)
}

// machineReasonRE matches the reasons of skips that depend on the machine and not on the
// code, such as "requires docker".
var machineReasonRE = regexp.MustCompile(`(?i)\b(` +
	`windows|darwin|macos|linux|freebsd|unix|platform|kernel|` + // the system
	`architecture|arm64|amd64|32-bit|` +
	`not supported (on|by)|unsupported|requires? [\w.+-]+ (version )?(>=?|[0-9])|version|` +
	`not (installed|available|found in)|no \S+ (executable|binary|in path)|executable file not found|` + // missing tools
	`short mode|root|privileges?|network|docker` + // what the run may do
	`)\b`)

// isConditionalSkip reports whether a skip depends on platform, version or a missing tool.
// The source of the test decides. Its message counts only if the definition did not
// change, since the author of a skip also writes its message.
func (j *judge) isConditionalSkip(c metric.Test) bool {
	after := definition.FindExact(j.in.After, c)
	if after == nil {
		return machineReasonRE.MatchString(c.Message)
	}
	if after.Def.Skipped || after.Def.SkipConditional {
		return !after.Def.Skipped
	}
	before := definition.FindExact(j.in.Before, c)
	return before != nil && definition.SameTokens(*before, *after) && machineReasonRE.MatchString(c.Message)
}

// flakyTest makes one finding of the tests whose file was changed, since the change may be
// the reason, and one of all others.
func flakyTest(j *judge, c comparison, r appliedRule) []finding {
	ids := j.now.Tests.Select(func(t metric.Test) bool { return t.Flaky })
	if c.tests != nil {
		ids = c.tests.Flaky
	}

	touched := finding{severity: High, action: AlertRegression, values: Values{Why: "its file was changed"}}
	var others finding
	for _, id := range ids {
		f := &others
		if j.isFileTouched(id) {
			f = &touched
		}
		f.tests = append(f.tests, id)
	}
	return r.aboveThreshold(touched, others)
}

// isFileTouched reports whether the file of a test was changed.
func (j *judge) isFileTouched(id metric.ID) bool {
	if j.losses == nil {
		return false
	}
	t, _ := j.now.Tests.Lookup(id)
	t.ID = id
	return j.losses.TouchesFileOf(t)
}

// testExplained makes one finding for each kind of explanation.
func testExplained(_ *judge, c comparison, _ appliedRule) []finding {
	if c.tests == nil {
		return nil
	}
	var out []finding
	index := map[Explanation]int{}
	for _, l := range c.tests.Explained {
		if l.Explanation == NotDecided {
			continue // a finding of [RewriteNotDecided]
		}
		i, ok := index[l.Explanation]
		if !ok {
			i = len(out)
			index[l.Explanation] = i
			out = append(out, finding{values: Values{Why: l.Explanation.String()}})
		}
		out[i].tests = append(out[i].tests, l.ID)
	}
	return out
}
