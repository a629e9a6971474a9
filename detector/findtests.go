package detector

import (
	"slices"

	"supervise/internal/regexp"
	"supervise/metric"
)

// counts returns the counts that the test rules compare: raw when strict.
func (j *judge) counts(c comparison) (before, now metric.Counts) {
	if j.opts.Strict {
		return c.before.Tests.Counts(), c.now.Tests.Counts()
	}
	return c.tests.counts()
}

// eroded returns what earlier iterations did since the baseline without an alert,
// because it was within the tolerance of the rule. It counts in an iteration that
// does more of it.
func (j *judge) eroded(c comparison, r row, of func(*testDiff) (step, earlier []metric.ID)) []metric.ID {
	if r.threshold() == 0 || c.against != AgainstBaseline || j.opts.Strict || j.previous.tests == nil {
		return nil
	}
	if step, _ := of(j.previous.tests); len(step) == 0 {
		return nil
	}
	_, earlier := of(c.tests)
	return earlier
}

// idle reports whether a strict comparison with the baseline sees a loss that is
// none of this iteration.
func (j *judge) idle(c comparison, f metric.Field) bool {
	step, ok := j.previous.delta[f]
	return j.opts.Strict && c.against == AgainstBaseline && ok && step >= 0
}

func testCountDecreased(j *judge, c comparison, r row) []finding {
	if c.tests == nil || j.idle(c, metric.TestCount) {
		return nil
	}
	before, now := j.counts(c)
	earlier := j.eroded(c, r, func(d *testDiff) (step, earlier []metric.ID) { return d.unexplained, d.earlier.gone })
	if float64(before.Count+len(earlier)-now.Count) <= r.threshold() {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestCount, r.threshold()), tests: together(c.tests.unexplained, earlier)})
}

// workingTestsFailing fires when fewer tests pass. New tests that pass do not
// hide one that passed and fails now: where they make up for it in number, the
// finding is HIGH and undoes nothing.
func workingTestsFailing(j *judge, c comparison, r row) []finding {
	if c.tests == nil || j.idle(c, metric.TestsPassed) {
		return nil
	}
	before, now := j.counts(c)
	broken := c.tests.broken
	if j.opts.Strict {
		broken = slices.Concat(broken, c.tests.NewlySkipped)
	}
	earlier := j.eroded(c, r, func(d *testDiff) (step, earlier []metric.ID) { return d.broken, d.earlier.broken })
	f := finding{values: j.numbers(c, metric.TestsPassed, r.threshold())}
	if float64(before.Passed+len(earlier)-now.Passed) > r.threshold() {
		f.tests = together(broken, earlier)
		for _, id := range f.tests {
			if _, there := c.now.Tests.Lookup(id); !there {
				f.values.Gone++
			}
		}
		return one(f)
	}
	f.tests = c.tests.failing()
	if float64(len(f.tests)) <= r.threshold() {
		return nil
	}
	f.severity, f.action, f.values.Why = High, AlertRegression, "other tests make up for them in number"
	return one(f)
}

func testsReplaced(j *judge, c comparison, r row) []finding {
	if c.tests == nil || len(c.tests.unexplained) == 0 || float64(len(c.tests.unexplained)) <= r.threshold() {
		return nil
	}
	if before, now := j.counts(c); now.Count < before.Count {
		return nil
	}
	return one(finding{values: j.numbers(c, metric.TestCount, r.threshold()), tests: c.tests.unexplained})
}

// testsNewlySkipped makes one finding of the skips that depend on the machine
// and one of the others.
func testsNewlySkipped(j *judge, c comparison, r row) []finding {
	if c.tests == nil {
		return nil
	}
	earlier := j.eroded(c, r, func(d *testDiff) (step, earlier []metric.ID) { return d.NewlySkipped, d.earlier.skipped })
	var hard, conditional finding
	conditional.severity = Medium
	for _, id := range together(c.tests.NewlySkipped, earlier) {
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
		if float64(len(f.tests)) > r.threshold() {
			out = append(out, f)
		}
	}
	return out
}

// together returns both lists as one, sorted.
func together(a, b []metric.ID) []metric.ID {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.SortFunc(out, metric.ID.Compare)
	return slices.Compact(out)
}

// machineReason matches the reasons of skips that depend on the machine and not
// on the code.
var machineReason = regexp.MustCompile(`(?i)\b(windows|darwin|macos|linux|freebsd|unix|platform|architecture|arm64|amd64|32-bit|` +
	`not supported (on|by)|unsupported|requires? [\w.+-]+ (version )?(>=?|[0-9])|version|kernel|` +
	`not (installed|available|found in)|no \S+ (executable|binary|in path)|executable file not found|short mode|root|privileges?|network|docker)\b`)

// conditionalSkip reports whether a skip depends on platform, version or a
// missing tool. The source of the test decides; its message does only where the
// definition did not change, since the author of a skip also writes its message.
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

// flakyTest makes one finding of the tests whose file was changed, so that the
// change may be the reason, and one of the others.
func flakyTest(j *judge, c comparison, r row) []finding {
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
	touched := finding{severity: High, action: AlertRegression, values: Values{Why: "its file was changed"}}
	var others finding
	for _, id := range ids {
		f := &others
		if j.touched(id) {
			f = &touched
		}
		f.tests = append(f.tests, id)
	}
	var out []finding
	for _, f := range []finding{touched, others} {
		if float64(len(f.tests)) > r.threshold() {
			out = append(out, f)
		}
	}
	return out
}

// touched reports whether the file of a test was changed.
func (j *judge) touched(id metric.ID) bool {
	if j.sources == nil {
		return false
	}
	t, _ := j.now.Tests.Lookup(id)
	t.ID = id
	return j.sources.before.holds(t) || j.sources.after.holds(t)
}

// testExplained makes one finding of each kind of explanation.
func testExplained(_ *judge, c comparison, _ row) []finding {
	if c.tests == nil {
		return nil
	}
	var out []finding
	at := map[Explanation]int{}
	for _, l := range c.tests.Explained {
		i, ok := at[l.Explanation]
		if !ok {
			i = len(out)
			at[l.Explanation] = i
			out = append(out, finding{values: Values{Why: l.Explanation.String()}})
		}
		out[i].tests = append(out[i].tests, l.ID)
	}
	return out
}
