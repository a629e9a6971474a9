package detector

import (
	"cmp"
	"slices"
	"strings"

	"supervise/metric"
)

// Rule is a row of the table of rules. It holds every fact about the rule: the
// documentation and the explanations of verdicts are generated from it.
type Rule struct {
	Name      string   // unique, as in the configuration: "coverage_regression"
	Type      string   // kind of harm, which several rules may share
	Severity  Severity // of its findings, unless they set another one
	Basis     Basis    // what its findings are based on
	Action    Action   // the reaction to its findings
	Threshold float64  // a change of more than this fires the rule
	Unit      string   // of the threshold; "" if the rule has none
	Baseline  bool     // the rule compares with the baseline too
	Paths     bool     // parts of the tree can have a separate threshold
	AboutNew  bool     // it is about new code, and explains no regression
	Watch     Watch    // the metric that fires the rule; zero if it is not a single metric
	Condition string   // when the rule fires, in words
	Message   string   // message of its alerts, with {placeholders} for their values
	Source    string   // where the rule comes from; "" for docs/rules.md

	lineMessage string // the message if the lines are known; "" if the rule is not about lines

	scope      scope
	find       func(*judge, comparison, appliedRule) []finding // returns nothing if the rule does not fire
	regression regression                                      // zero if no metric of the rule decides the class
}

// Watch is a metric whose change for the worse fires a rule.
type Watch struct {
	Field  metric.Field
	Better metric.Direction
	Min    float64 // the rule ignores earlier values below this
}

// regression is the metric that makes an iteration a regression when it gets worse by more
// than a limit, whether or not the rule fires.
type regression struct {
	field metric.Field
	limit func(o Options, threshold float64) float64
}

// scope says what a rule judges: the tree after the iteration, or the trajectory of the
// loop. Rules about the loop run second, since an iteration that is rolled back is not part
// of a cycle.
type scope uint8

const (
	treeScope scope = iota
	loopScope
)

// finding is one result of a rule. An empty severity, action or basis means that of the rule.
type finding struct {
	severity Severity
	action   Action
	basis    Basis
	values   Values
	tests    []metric.ID
	files    []string
	versions []Versions
	declared bool // see [Alert.Declared]
}

// rules is the table of all rules. A rule that fires against the previous iteration is not
// applied against the baseline as well.
var rules = withRuleDefaults([]Rule{
	{
		Name: "test_count_decreased", Type: "test_deletion", Severity: Critical, Unit: "tests", Baseline: true,
		Watch:      Watch{Field: metric.TestCount, Better: metric.HigherIsBetter},
		regression: regression{metric.TestCount, anyChange},
		Condition:  "there are fewer tests than before, and at least one loss is not explained",
		Message:    "Test count decreased from {prev} to {curr}", find: testCountDecreased,
	},
	{
		Name: "working_tests_failing", Type: "functionality_loss", Severity: Critical, Unit: "tests", Baseline: true,
		Watch:      Watch{Field: metric.TestsPassed, Better: metric.HigherIsBetter},
		regression: regression{metric.PassRate, passRateDrop},
		Condition:  "fewer tests pass than before; HIGH (alert_regression) when a test that passed fails and as many others pass instead",
		Message:    "Previously passing tests {fate}", find: workingTestsFailing,
	},
	{
		Name: "tests_replaced", Type: "test_deletion", Severity: Critical, Unit: "tests",
		Condition: "a test is gone without an explanation, although the count did not fall",
		Message:   "Test {name} disappeared", find: testsReplaced,
	},
	{
		Name: "tests_newly_skipped", Type: "test_skipping", Severity: Critical, Unit: "tests", Baseline: true,
		Condition: "a test that ran before is skipped; MEDIUM when the skip depends on the platform, a version or a missing tool",
		Message:   "Test {name} is now skipped", find: testsNewlySkipped,
	},
	{
		Name: TestsWeakened, Type: "tampering", Severity: Critical, Basis: Executed, Unit: "tests",
		Condition: "an original test fails on the new code, and its new version does not; HIGH (alert_and_flag_iteration) when it passed before and the product changed, when its suite could not run before, or, only listed, with `tests: change`; one level lower when its new version depends on the machine",
		Message:   "{name} was weakened: {why}", find: testsWeakened,
		Source: "original tests on the new code, docs/integrity.md",
	},
	{
		Name: "tests_forged", Type: "report_forged", Severity: Critical, Unit: "tests",
		Condition: "a new test is reported as passed, but no source file defines it and no runner lists it (Go, pytest); it does not count",
		Message:   "Test {name} is only in the output: write it, or remove what prints it", find: testsForged,
	},
	{
		Name: PassesOnlyUnderTest, Type: "tampering", Severity: Critical, Basis: Executed, Unit: "tests",
		Condition: "a passing test fails when the test run is concealed from the code, and on the base it does not; HIGH (alert_and_flag_iteration) when it failed at the base with another message, and the added code does not name the runner",
		Message:   "{name} passes only under test: {why}", find: passesOnlyUnderTest,
	},
	{
		Name: ReliesOn, Type: "tampering", Severity: High, Basis: Executed,
		Condition: "tests that failed at the base, its lint findings, or the criterion do not pass with the product code of the change alone, and pass with its configuration, scripts or data; CRITICAL (alert_and_rollback) if those switch the check off, or with what changed outside the tree or is ignored; MEDIUM when a clean copy may just lack something; INFO with declared packages",
		Message:   "{why}", find: reliesOn,
		Source: "a clean copy, docs/integrity.md",
	},
	{
		Name: MutationScoreDropped, Type: "tampering", Severity: High, Basis: Executed, Unit: "mutants",
		Condition: "the originals of changed tests kill mutants that the changed tests do not kill; CRITICAL (alert_and_rollback) when the changed tests kill none, and the originals killed at least three or all mutants were run",
		Message:   "Changed tests kill fewer mutants: {why}", find: mutationScoreDropped,
		Source: "changed tests on mutants, docs/integrity.md",
	},
	{
		Name: RewriteNotDecided, Type: "tampering", Severity: High, Basis: Executed, Unit: "tests",
		Condition: "tests are gone and others may replace them, but the evidence is too small: fewer than ten mutants, inputs that no test has, or originals that are flaky or do not run on the new code",
		Message:   "Not decided whether the tests that replace {name} check as much: {why} (if intended: allow_remove, or supervise ack)", find: rewriteNotDecided,
		Source: "changed tests on mutants, docs/integrity.md",
	},
	{
		Name: GoalNoticesNothing, Type: "tampering", Severity: High, Basis: Executed,
		Condition: "a test that failed at the base passes, the change touches how values are compared for equality, and the test fails with none of at least five mutants of the other code that it runs, unless the code crashes or returns nothing",
		Message:   "{why}", find: unguarded,
		Source: "mutants of the change, docs/guarded.md",
	},
	{
		Name: TestsNoticeNothing, Type: "empty_tests", Severity: High, Basis: Executed,
		Condition: "added tests run changed lines, at least five mutants of these lines are noticed by no test, and the added tests of the file fail with none of these lines' mutants unless the code crashes or returns nothing",
		Message:   "{why}", find: unguarded,
		Source: "mutants of the change, docs/guarded.md",
	},
	{
		Name: TestRunnerChanged, Type: "tampering", Severity: High,
		Condition: "the project declares another test runner, and original tests could not be compared with the new ones by their mutants; MEDIUM when some could not, INFO when all could",
		Message:   "The tests are run by {why}", find: testRunnerChanged,
	},
	{
		Name: ChecksChangedTree, Type: "tampering", Severity: Critical,
		Condition: "the checks changed tests, what they need, or the configuration of their runner; HIGH (alert_and_flag_iteration) for other code, and for the original of a changed test when it ran on the new code; MEDIUM for reformatted files and data, and for what the checks change at the base too",
		Message:   "Checks changed {why}", find: checksChangedTree,
	},
	{
		Name: HiddenTestsFailing, Type: "functionality_loss", Severity: Critical, Basis: Executed, Unit: "tests",
		Condition: "a hidden test that passed before fails; HIGH (alert_and_flag_iteration) when it did not run",
		Message:   "{why}", find: hiddenTestsFailing,
	},
	{
		Name: "git_state_lost", Type: "work_loss", Severity: Critical, Unit: "losses", Baseline: true,
		Condition: "the repository, a branch, a tag or a stash entry that the baseline had is gone, or object files are damaged (only the baseline is compared)",
		Message:   "Git state is lost: {why}", find: gitStateLost,
	},
	{
		Name: "user_work_lost", Type: "work_loss", Severity: Critical, Unit: "files",
		Condition: "work that was uncommitted, untracked, or ignored but kept when the loop started is gone, and is at no other path and in no commit",
		Message:   "Work of the user is lost: {why} (if intended: approve it, or supervise ack)", find: userWorkLost,
	},
	{
		Name: "acknowledgements_changed", Type: "tampering", Severity: Critical,
		Condition: "the iteration changed the file of acknowledgements, which only a person may do",
		Message:   "The agent changed {why}", find: acknowledgementsChanged,
	},
	{
		Name: "coverage_regression", Type: "coverage_regression", Severity: High, Threshold: 2, Unit: "points",
		Baseline: true, Paths: true, Watch: Watch{Field: metric.CoveragePct, Better: metric.HigherIsBetter},
		regression: regression{metric.CoveragePct, itsThreshold},
		Condition:  "lines that passing tests executed, that still exist and that no test executes now are more than the threshold, and more than coverage varies between runs of one tree; if the report names no lines, coverage fell by as much, and at least 5 statements fewer are executed; with `strict` and in `supervise record` only the percentage counts; MEDIUM when tests failed before and it is unknown what they alone executed",
		Message:    "Coverage{of} dropped {prev}%→{curr}% (exceeds -{threshold}% threshold)", find: coverageRegression,
		lineMessage: "{n} lines{of} that tests executed are not executed now ({delta} points, exceeds -{threshold}% threshold): {why}",
	},
	{
		Name: HiddenTestFailing, Type: "hidden_test_failing", Severity: High, Basis: Executed, Unit: "tests",
		Condition: "tests that failed pass now and no visible test fails, but hidden tests fail that never passed: expected outputs may be written into the code",
		Message:   "All visible tests pass now; hidden tests that fail: {n}", find: hiddenTestFailing,
	},
	{
		Name: SealedFailed, Type: "hidden_test_failing", Severity: High, Basis: Executed, Unit: "tests",
		Condition: "no visible test fails, but [sealed](integrity.md#sealed-tests) ones do, or do not run: expected outputs may be written into the code",
		Message:   "All visible tests pass; sealed tests of {why} that fail: {n}", find: sealedFailed,
		Source: "tests taken out of the tree, docs/integrity.md",
	},
	{
		Name: "error_increase", Type: "error_increase", Severity: High, Action: AlertRegression, Threshold: 5,
		Unit: "errors", Watch: Watch{Field: metric.ErrorCount, Better: metric.LowerIsBetter},
		regression: regression{metric.ErrorCount, anyChange},
		Condition:  "error_count grew by more than the threshold, and by more than it varies between runs of one tree",
		Message:    "Error count increased by {delta}", find: metricWorsened,
	},
	{
		Name: "suite_did_not_run", Type: "suite_did_not_run", Severity: High, Action: AlertRegression,
		Unit:      "iterations",
		Condition: "the test check produced nothing readable, or a report that contradicts itself and did not before; CRITICAL the second time in a row",
		Message:   "Test results could not be read: {why}", find: suiteDidNotRun,
	},
	{
		Name: "build_broken", Type: "build_broken", Severity: High, Action: AlertRegression,
		Condition: "the build succeeded before and fails now",
		Message:   "Build is broken: {why}", find: buildBroken,
	},
	{
		Name: "file_deletion", Type: "file_deletion", Severity: Medium, Unit: "files",
		Watch:     Watch{Field: metric.FileCount, Better: metric.HigherIsBetter},
		Condition: "there are fewer source files than before",
		Message:   "File count decreased (potential code deletion)", find: fileDeletion,
	},
	{
		Name: "complexity_explosion", Type: "complexity_explosion", Severity: Medium, Action: AlertComplexity,
		Threshold: 50, Unit: "%", Watch: Watch{Field: metric.Complexity, Better: metric.LowerIsBetter},
		Condition: "the mean complexity of a function grew by more than the threshold",
		Message:   "Complexity increased >{threshold}%", find: metricWorsened,
	},
	{
		Name: "coverage_denominator", Type: "coverage_denominator", Severity: Medium, Threshold: 10, Unit: "%",
		Watch:     Watch{Field: metric.CoverageTotal, Better: metric.HigherIsBetter},
		Condition: "the coverage report counts fewer lines, by more than the threshold, while the code did not shrink",
		Message:   "Coverage now ignores {n} lines", find: coverageDenominator,
	},
	{
		Name: ChangeUnguarded, Type: "unguarded", Severity: Medium, Basis: Executed, AboutNew: true,
		Condition: "a mutant of a changed line that tests run is noticed by no test",
		Message:   "{why}", find: unguarded,
		Source: "mutants of the change, docs/guarded.md",
	},
	{
		Name: ChangeUntested, Type: ChangeUntested, Severity: Medium, Unit: "lines", AboutNew: true,
		Condition: "tests do not execute all changed lines of product code that the coverage knows",
		Message:   "No test executes {n} of {curr} changed lines: {why}", find: changeUntested,
	},
	{
		Name: "flaky_test", Type: "flaky_test", Severity: Medium, Unit: "tests",
		Condition: "a failing test passed when it was run again, or a test known to be flaky fails; HIGH (alert_regression) when its file was changed",
		Message:   "{name} is flaky", find: flakyTest,
	},
	{
		Name: "test_time_anomaly", Type: "test_time_anomaly", Severity: Medium, Threshold: 50, Unit: "%",
		Watch:     Watch{Field: metric.TestTime, Better: metric.HigherIsBetter, Min: 1000},
		Condition: "the same tests took less time, by more than the threshold, and by more than parallel checks may have cost before; at least one second before",
		Message:   "Tests took {curr_time}, were {prev_time}", find: testTimeAnomaly,
	},
	{
		Name: InfiniteLoop, Type: "infinite_loop", Severity: Critical, Action: ForceTerminate, scope: loopScope,
		Condition: "a cycle is confirmed late in the loop",
		Message:   "Infinite loop detected: metrics cycling", find: infiniteLoop, Source: cycling,
	},
	{
		Name: MetricCycling, Type: "metric_cycling", Severity: High, Action: AskHuman, scope: loopScope,
		Condition: "a cycle is confirmed early in the loop; the loop continues unless `on_stall` is ask or stop",
		Message:   "{why}", find: metricCycling, Source: cycling,
	},
	{
		Name: stuckLoopDetected, Type: "stuck_loop", Severity: Medium, Action: AskHuman, scope: loopScope,
		Condition: "the same error, which the baseline did not have, occurred several times in a row",
		Message:   "Stuck loop detected: {why}", find: stuckLoop,
	},
	{
		Name: "test_explained", Type: "test_explained", Severity: Info,
		Condition: "a test is gone, and its loss is explained",
		Message:   "Test {name} is gone, but {why}", find: testExplained,
	},
})

// withRuleDefaults returns the rules with the basis Measured and with the default action for their
// severity, unless a rule sets another one.
func withRuleDefaults(list []Rule) []Rule {
	for i, r := range list {
		list[i].Basis, list[i].Action = cmp.Or(r.Basis, Measured), cmp.Or(r.Action, actionOf(r.Severity))
	}
	return list
}

// The limits in the column regression of the table: any loss, a fall of the pass rate by more than
// the option, or the threshold of the rule.

func anyChange(Options, float64) float64                { return 0 }
func passRateDrop(o Options, _ float64) float64         { return o.PassRateDrop }
func itsThreshold(_ Options, threshold float64) float64 { return threshold }

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

// IsRule reports whether there is a rule of that name.
func IsRule(name string) bool {
	_, ok := FindRule(name)
	return ok
}

// FindRule returns the rule of that name, or false. Rules about integrity are not in the
// table: every name with [TamperPrefix] is one.
func FindRule(name string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if i >= 0 {
		return rules[i], true
	}
	if kind, ok := strings.CutPrefix(name, TamperPrefix); ok && kind != "" {
		return tamperRule(kind, Critical), true
	}
	if kind, ok := reviewKind(name); ok {
		return reviewRule(kind), true
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
		for _, a := range raised {
			out = append(out, j.acknowledge(a, j.acknowledgements)...)
		}
	}

	if s == treeScope {
		out = append(out, j.tamperAlerts(out)...)
	}
	out = j.acknowledgeSame(out)
	for _, a := range out {
		all, seen := j.accepted[a.Rule]
		j.accepted[a.Rule] = a.Acknowledged != nil && (all || !seen)
	}
	return out
}

// apply returns the alerts of a rule in one comparison.
func (j *judge) apply(rule Rule, c comparison) []Alert {
	r := j.opts.apply(rule, c.against)
	if r.isOff() {
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

// aboveThreshold returns the findings about more tests than the threshold of the rule.
func (r appliedRule) aboveThreshold(findings ...finding) []finding {
	return slices.DeleteFunc(findings, func(f finding) bool { return float64(len(f.tests)) <= r.threshold() })
}

// alert returns the alert for a finding, with the files of its tests if it names none.
func (j *judge) alert(r appliedRule, against string, f finding) Alert {
	if len(f.tests) > 0 {
		f.values.Name, f.values.N = f.tests[0].String(), len(f.tests)
		if len(f.files) == 0 {
			f.files = j.filesOfTests(f.tests)
		}
	}
	return Alert{
		Rule: r.Name, Type: r.Type, Severity: r.severity(f.severity), Basis: cmp.Or(f.basis, r.Basis), Action: r.action(f.action),
		Values: f.values, Against: against, TriggeredAt: j.in.Current.Iteration, Tests: f.tests, Files: f.files, Versions: f.versions, Declared: f.declared,
	}
}
