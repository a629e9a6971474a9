// Package tests finds tests that are not run any more: deleted, renamed out of discovery, commented
// out, skipped, or with fewer rows in their tables.
//
// lost.go says how each lost test was lost, and classes.go finds classes and groups that runners no
// longer collect. skips.go finds skips, for which reasons.go looks for a stated reason. guarded.go
// finds assertions under new conditions, and rows.go compares tables.
package tests

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(lostRules, classRules, skipRules, rowRules)

// lostRules are about tests that are no longer run because they are gone.
var lostRules = []facts.Rule{
	{ID: "TP-01", Name: "test_deleted", Severity: metric.High, Find: facts.ForEach(lostTests, findDeletedTests), Fires: "a test that no longer exists", Grades: "HIGH; MEDIUM with a [hint](#how-tests-are-matched)", Spares: "tests that were renamed, moved, merged or rewritten, or whose subject was removed"},
	{ID: "TP-02", Name: "test_file_deleted", Severity: metric.High, Find: facts.ForEach(facts.Files, findDeletedFiles), Fires: "a file of tests is gone, with tests that no other file has", Spares: "tests found in other files"},
	{ID: "TP-03", Name: "renamed_out_of_discovery", Severity: metric.Critical, Find: facts.ForEach(lostTests, lossRule(lostByRenaming)), Fires: "`_test_x`, `#[test]` or `@Test` removed, made `private` (PHP, Swift, Ruby), `x_test.go` → `x.go`, moved to `attic/` or `.old/`", Grades: "CRITICAL; HIGH if names do not decide (`XTests.cs` → `Checks.cs`; also Kotlin, Swift, C++)", Spares: "a helper that tests call; a folder to which product code moved as well"},
	{ID: "TP-04", Name: "commented_out", Severity: metric.Critical, Find: facts.ForEach(lostTests, lossRule(lostByComment)), Fires: "most lines of a test are comments now", Grades: "CRITICAL; HIGH [with a reason](#skips-that-state-a-reason) or with a [hint](#how-tests-are-matched)"},
}

// classRules are about classes and groups that the runner ignores although their tests
// are still there.
var classRules = []facts.Rule{
	{ID: "TP-03", Name: "class_out_of_discovery", Severity: metric.High, Find: facts.Combine(findHiddenClasses, facts.PerFile(findUnusedCases)), Fires: "a test class became `abstract`, lost its parent (`unittest.TestCase`, `Minitest::Test`, `XCTestCase`), its `use ExUnit.Case`, `[TestClass]` or `suite.Run`, is no longer `public` (C#), or lost its name (PHP)", Spares: "another class inherits the tests; a parent named test, spec or case"},
	{ID: "TP-07", Name: "group_never_run", Severity: metric.Critical, Find: facts.PerFile(findUncalledGroups), Fires: "the block of a `describe` is a `proc` or a function that is never called", Spares: "a name that is used in other places of the file"},
}

// skipRules are about existing tests that are not run, or not to their end.
var skipRules = []facts.Rule{
	{ID: "TP-04", Name: "dead_code", Severity: metric.Critical, Find: facts.ForEach(facts.Pairs, findDeadAssertions), Fires: "assertions after a `return` or in `if False:`", Grades: "CRITICAL; HIGH if some assertions are still reached or none is known", Spares: "a `return` under a condition"},
	{ID: "TP-04", Name: "assertion_guarded", Severity: metric.High, Find: facts.ForEach(facts.Pairs, findGuardedAssertions), Fires: "an assertion that was always reached is now under a condition on what it checks (`if result:`), after a conditional `continue` or `return`, or in a goroutine, thread, promise or callback that nothing waits for", Grades: "HIGH; MEDIUM if the test still has other assertions that are reached", Spares: "a condition with an alternative, or on a new parameter or field of a table; `.then(…)` that is returned or awaited"},
	{ID: "TP-05", Name: "unconditional_skip", Severity: metric.Critical, Find: facts.ForEach(newSkips, findSkippedTests), Fires: "`t.Skip()`, `@pytest.mark.skip`, `xfail`, `it.skip`, `xit`, `@Disabled`, `#[ignore]`, `markTestSkipped()`, `Skip = \"…\"`, `GTEST_SKIP()`, `DISABLED_`, `[.]`, `throw XCTSkip`, `@tag :skip` on a test that ran before", Grades: "CRITICAL; HIGH for a skip [with a reason](#skips-that-state-a-reason), `xfail` with `raises=`, `#[should_panic]`, `XCTExpectFailure`, `withKnownIssue`, and `test.failing`, which fails if the test passes", Spares: "new tests; tests that were already skipped; `#[should_panic(expected = …)]` in place of assertions that something fails"},
	{ID: "TP-06", Name: "disguised_skip", Severity: metric.High, Find: facts.Combine(facts.ForEach(newSkips, findConditionalSkips), facts.ForEach(lostTests, findChosenSkips)), Fires: "a condition that always holds (`1 < 2`, `PHP_VERSION_ID > 50000`, a name that the file sets once, to true), or on `CI`, the host or another variable, also `if (process.env.CI) return` and `(true ? it.skip : it)(…)`", Grades: "HIGH; platform, version, tool or service: LOW; other conditions: MEDIUM"},
	{ID: "TP-07", Name: "group_disabled", Severity: metric.Critical, Find: facts.ForEach(newSkips, findDisabledGroups), Fires: "a class, group or file: `pytestmark`, `describe.skip`, `@Disabled class`, `//go:build ignore`, `#![cfg(any())]`, `#if 0`, `@moduletag :skip`", Grades: "CRITICAL; HIGH [with a reason](#skips-that-state-a-reason), for a custom build tag, `#[cfg(name)]`, a feature in no manifest, or `#ifdef NAME` that nothing defines", Spares: "under a condition: as TP-06"},
	{ID: "TP-08", Name: "focus", Severity: metric.Critical, Find: facts.PerFile(findFocus), Fires: "`.only`, `fit`, `fdescribe`, `focus: true`, `->only()`", Grades: "CRITICAL; HIGH in a new file", Spares: "formatting changes; new files among fixtures; `fit` as the name of a function of the file or of an imported one"},
}

// rowRules are about the tables of test cases.
var rowRules = []facts.Rule{
	{ID: "TP-09", Name: "rows_removed", Severity: metric.High, Find: facts.ForEach(facts.Files, findRemovedRows), Fires: "the table of a test has fewer rows or none, or its loop covers nothing (`tests[:0]`); also its provider (`@dataProvider`, `@MethodSource`, a list that the test names)", Grades: "HIGH; MEDIUM outside a test if at most a third was removed and the source changed, or if new tests with similar names came with a source change", Spares: "rows that moved, were replaced, or lost their subject; other quotes; fields of a value, arguments of a call"},
}
