package detector

import (
	"slices"
	"strings"

	"supervise/metric"
)

// Rule is a row of the table of rules.
type Rule struct {
	Name      string
	Type      string
	Severity  Severity
	Action    Action
	Threshold float64
	Unit      string // of the threshold; "" where the rule has none
	Baseline  bool   // compared with the baseline too
	Paths     bool   // parts of the tree can have a threshold of their own
	Condition string // in words

	message string // with {placeholders} for the values
	scope   scope
	find    func(*judge, comparison, row) []finding
}

// scope says what a rule judges: the tree that the iteration left, or the way
// the loop goes. The latter needs the verdict on the former: what is undone is
// no part of a cycle.
type scope uint8

const (
	ofTree scope = iota
	ofLoop
)

// finding is what a rule has to say. Where severity and action are empty, they
// are those of the rule.
type finding struct {
	severity Severity
	action   Action
	values   Values
	tests    []metric.ID
	files    []string
}

// rules is the table of all rules. Where an alert is raised against the
// previous iteration, the same rule is not raised against the baseline as well.
var rules = []Rule{
	{
		Name: "test_count_decreased", Type: "test_deletion", Severity: Critical, Action: AlertAndRollback, Unit: "tests", Baseline: true,
		Condition: "there are fewer tests than before, and a lost one is not explained",
		message:   "Test count decreased from {prev} to {curr}", find: testCountDecreased,
	},
	{
		Name: "working_tests_failing", Type: "functionality_loss", Severity: Critical, Action: AlertAndRollback, Unit: "tests", Baseline: true,
		Condition: "fewer tests pass than before; HIGH when a test that passed fails while others make up for it in number",
		message:   "Previously passing tests now failing", find: workingTestsFailing,
	},
	{
		Name: "tests_replaced", Type: "test_deletion", Severity: Critical, Action: AlertAndRollback, Unit: "tests",
		Condition: "a test is gone without an explanation although the count held",
		message:   "Test {name} disappeared", find: testsReplaced,
	},
	{
		Name: "tests_newly_skipped", Type: "test_skipping", Severity: Critical, Action: AlertAndRollback, Unit: "tests", Baseline: true,
		Condition: "a test that ran before is skipped; MEDIUM when that depends on platform, version or a missing tool",
		message:   "Test {name} is now skipped", find: testsNewlySkipped,
	},
	{
		Name: HiddenTestsFailing, Type: "functionality_loss", Severity: Critical, Action: AlertAndRollback, Unit: "tests",
		Condition: "a hidden test that passed before fails; HIGH when it did not run",
		message:   "{why}", find: hiddenTestsFailing,
	},
	{
		Name: "git_state_lost", Type: "work_loss", Severity: Critical, Action: AlertAndRollback, Unit: "losses", Baseline: true,
		Condition: "the repository, a branch, a tag or a stash entry that the baseline had is gone",
		message:   "Git state is lost: {why}", find: gitStateLost,
	},
	{
		Name: "acknowledgements_changed", Type: "tampering", Severity: Critical, Action: AlertAndRollback,
		Condition: "the iteration changed the file of acknowledgements, which is a person's word",
		message:   "The agent changed {why}", find: acknowledgementsChanged,
	},
	{
		Name: "coverage_regression", Type: "coverage_regression", Severity: High, Action: AlertAndFlag, Threshold: 2, Unit: "points", Baseline: true, Paths: true,
		Condition: "coverage fell by more than the threshold in points, and by more than it varies by itself",
		message:   "Coverage{of} dropped {prev}%→{curr}% (exceeds -{threshold}% threshold)", find: coverageRegression,
	},
	{
		Name: HiddenTestFailing, Type: "hidden_test_failing", Severity: High, Action: AlertAndFlag, Unit: "tests",
		Condition: "tests that failed pass now, no visible test fails, and hidden tests do: the outputs may be written into the code",
		message:   "All visible tests pass now; hidden tests that fail: {n}", find: hiddenTestFailing,
	},
	{
		Name: "error_increase", Type: "error_increase", Severity: High, Action: AlertRegression, Threshold: 5, Unit: "errors",
		Condition: "the error count grew by more than the threshold",
		message:   "Error count increased by {delta}", find: errorIncrease,
	},
	{
		Name: "suite_did_not_run", Type: "suite_did_not_run", Severity: High, Action: AlertRegression, Unit: "iterations",
		Condition: "the test check gave nothing that can be read; CRITICAL the second time in a row",
		message:   "Test results could not be read: {why}", find: suiteDidNotRun,
	},
	{
		Name: "build_broken", Type: "build_broken", Severity: High, Action: AlertRegression,
		Condition: "the build succeeded before and fails now",
		message:   "Build is broken: {why}", find: buildBroken,
	},
	{
		Name: "file_deletion", Type: "file_deletion", Severity: Medium, Action: AlertAndReview, Unit: "files",
		Condition: "there are fewer source files than before",
		message:   "File count decreased (potential code deletion)", find: fileDeletion,
	},
	{
		Name: "complexity_explosion", Type: "complexity_explosion", Severity: Medium, Action: AlertComplexity, Threshold: 50, Unit: "%",
		Condition: "mean complexity grew by more than the threshold in per cent",
		message:   "Complexity increased >{threshold}%", find: complexityExplosion,
	},
	{
		Name: "coverage_denominator", Type: "coverage_denominator", Severity: Medium, Action: AlertAndReview, Threshold: 10, Unit: "%",
		Condition: "coverage counts fewer lines, by more than the threshold in per cent, while the code did not shrink",
		message:   "Coverage now ignores {n} lines", find: coverageDenominator,
	},
	{
		Name: "flaky_test", Type: "flaky_test", Severity: Medium, Action: AlertAndReview, Unit: "tests",
		Condition: "a failing test passed when it was run again; HIGH when its file was changed",
		message:   "{name} is flaky", find: flakyTest,
	},
	{
		Name: "test_time_anomaly", Type: "test_time_anomaly", Severity: Medium, Action: AlertAndReview, Threshold: 50, Unit: "%",
		Condition: "the same tests took less time, by more than the threshold in per cent, and a second or more before",
		message:   "Tests took {curr_time}, were {prev_time}", find: testTimeAnomaly,
	},
	{
		Name: "infinite_loop", Type: "infinite_loop", Severity: Critical, Action: ForceTerminate, scope: ofLoop,
		Condition: "a confirmed cycle, late in the loop or back at the very same tree",
		message:   "Infinite loop detected: metrics cycling", find: infiniteLoop,
	},
	{
		Name: "metric_cycling", Type: "metric_cycling", Severity: High, Action: AskHuman, scope: ofLoop,
		Condition: "a confirmed cycle early in the loop",
		message:   "Metrics repeat every {n} iterations", find: metricCycling,
	},
	{
		Name: "stuck_loop_detected", Type: "stuck_loop", Severity: Medium, Action: AskHuman, scope: ofLoop,
		Condition: "the same error several times in a row",
		message:   "Stuck loop detected: {why}", find: stuckLoop,
	},
	{
		Name: "test_explained", Type: "test_explained", Severity: Info, Action: Note,
		Condition: "a test is gone, and it is no deletion",
		message:   "Test {name} is gone, but {why}", find: testExplained,
	},
}

// Rules returns the table of all rules, in the order of the specification.
func Rules() []Rule { return slices.Clone(rules) }

// RuleNames returns the names of all rules, in the same order.
func RuleNames() []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Name
	}
	return out
}

// Known reports whether there is a rule of that name.
func Known(name string) bool {
	_, ok := ruleNamed(name)
	return ok
}

func ruleNamed(name string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if i >= 0 {
		return rules[i], true
	}
	if kind, ok := strings.CutPrefix(name, TamperPrefix); ok && kind != "" {
		return tamperRule(kind, Critical), true
	}
	return Rule{}, false
}

// alerts applies all rules of a scope.
func (j *judge) alerts(s scope) []Alert {
	out := []Alert{}
	if j.opts.Mode == ModeOff {
		return out
	}
	for _, r := range rules {
		if r.scope != s {
			continue
		}
		raised := j.apply(r, j.previous)
		if len(raised) == 0 && r.Baseline {
			raised = j.apply(r, j.baseline)
		}
		var told []Alert
		for _, a := range raised {
			told = append(told, j.acknowledge(a)...)
		}
		j.accepted[r.Name] = len(told) > 0 && !slices.ContainsFunc(told, func(a Alert) bool { return a.Acknowledged == nil })
		out = append(out, told...)
	}
	if s == ofTree {
		out = append(out, j.tampering(out)...)
	}
	return out
}

// apply returns what a rule has to say in one comparison.
func (j *judge) apply(rule Rule, c comparison) []Alert {
	r := j.opts.row(rule, c.against)
	if r.off() {
		return nil
	}
	var out []Alert
	for _, f := range r.find(j, c, r) {
		if a := j.alert(r, c.against, f); j.opts.Mode.applies(a) {
			out = append(out, a)
		}
	}
	return out
}

func (j *judge) alert(r row, against string, f finding) Alert {
	if len(f.tests) > 0 {
		f.values.Name, f.values.N = f.tests[0].String(), len(f.tests)
		if len(f.files) == 0 {
			f.files = j.filesOfAll(f.tests)
		}
	}
	return Alert{
		Rule: r.Name, Type: r.Type, Severity: r.severity(f.severity), Action: r.action(f.action),
		Values: f.values, Against: against, TriggeredAt: j.in.Current.Iteration, Tests: f.tests, Files: f.files,
	}
}
