// Package assertions finds tests that check less than they did: assertions removed, weakened,
// turned around or swallowed, expected values rewritten.
//
// asserts.go compares the assertions of each test before and after the change; the other files read
// its result, an assertionDiff. removed.go, weakened.go and rewritten.go each have a rule and what
// explains or excuses its findings. moved.go and helpers.go follow assertions into functions that
// tests call, and expectations.go compares the lines that say what a test expects. related.go
// decides whether the rest of the change has to do with an assertion, and revisions.go whether two
// assertions mean the same.
package assertions

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(assertRules, toleranceRules)

// weakeningRule finds the ways in which an assertion checks less than before.
var weakeningRule = facts.Combine(
	facts.ForEach(assertionDiffs, findWeakenedAssertions), facts.PerFile(findBroadAnnotations),
	facts.ForEach(facts.Pairs, findSelfMadeExpectations), facts.ForEach(facts.Pairs, findNormalizedValues),
	facts.ForEach(assertionDiffs, findWeakHelpers), facts.ForEach(assertionDiffs, findLossyHelpers),
)

// assertRules are about what the tests still check.
var assertRules = []facts.Rule{
	{ID: "TP-10", Name: "assertions_removed", Severity: metric.High, Find: facts.Combine(facts.ForEach(assertionDiffs, findRemovedAssertions), facts.ForEach(changedHelpers, findHollowHelpers), facts.ForEach(facts.Pairs, findUncalledHelpers)), Fires: "a test, or a helper that tests call, lost assertions; a function that asserts is no longer called; `gone:` lists them", Grades: "CRITICAL if none is left, HIGH from about half, otherwise MEDIUM. [Exceptions](#assertions-that-were-removed)", Spares: "assertions that moved to other tests or to a helper that the test calls; a rewritten test; subject removed; `assertTrue(true)`; the same condition that fails differently (`FailNow` → `Fatal`)"},
	{ID: "TP-11", Name: "assertion_weakened", Severity: metric.High, Find: weakeningRule, Fires: "one value (`== 13`) → near → a part → a type or length → a bound → not null → true; an error became any error or lost its message; a call is compared with itself; the expected value is made by the tested function; the tested value alone is trimmed, rounded, put in lower case or sorted; a new helper in its place checks less", Grades: "HIGH; MEDIUM if it is only sorted, or trimmed while the product changed too; MEDIUM also if it still checks a part, checks something else (`stack.top == 3` → `not current_app`), came with an equally strong new one, or the test now raises that error itself", Spares: "a helper of the project, because its strength is unknown; the same in other words (`x == True` → `x`, `Equal(1, Count)` → `Single`); an error whose message a new assertion checks; subject removed"},
	{ID: "TP-12", Name: "tautology", Severity: metric.High, Find: facts.Combine(facts.ForEach(assertionDiffs, findTautologies), findNewTautologies), Fires: "`assert True`, `expect(1).toBe(1)`, `assert x == x`, `x or True`, `assert (a == b, \"message\")`", Grades: "CRITICAL if a test has nothing else; HIGH if it replaces an assertion; MEDIUM next to others", Spares: "code outside tests"},
	{ID: "TP-13", Name: "expected_value_rewritten", Severity: metric.High, Find: facts.ForEach(assertionDiffs, findRewrittenValues), Fires: "only literals of an assertion changed", Grades: "HIGH if only tests and documentation changed, or [nothing else explains it](#values-that-nothing-explains), otherwise MEDIUM. MEDIUM also if the test was reworked otherwise, the same value changed in three tests, a text to look for became shorter, a file changed that the test reads by name, or a count rose by as many files as the tests got", Spares: "the same value in another notation; failure messages and wait times: LOW"},
	{ID: "TP-13", Name: "values_rewritten", Severity: metric.High, Find: facts.ForEach(facts.Pairs, findChangedLiterals), Fires: "only literals of a test changed that are in none of its assertions", Grades: "as `expected_value_rewritten`; MEDIUM also if the values are not expected ones (in no asserted name, in no table), and for arguments of an unchanged function whose expected result stays", Spares: "the same value in another notation"},
	{ID: "TP-14", Name: "polarity_flipped", Severity: metric.High, Find: facts.ForEach(assertionDiffs, findFlippedAssertions), Fires: "`==` → `!=`, `.not`, `assertFalse`, also with another literal or a renamed local; a failing assertion is expected", Grades: "HIGH; MEDIUM if the assertion names a changed function of the product", Spares: "`raises(Exception)` → `raises(AssertionError)`"},
	{ID: "TP-17", Name: "failure_swallowed", Severity: metric.High, Find: facts.Combine(facts.ForEach(facts.Pairs, findSwallowedFailures), facts.PerFile(findSwallowedErrors), facts.ForEach(changedHelpers, findSwallowingHelpers), facts.ForEach(facts.Files, findSwallowedTests)), Fires: "a decorator, context or helper that drops the failure of the test it runs; `except: pass`, `catch {}` around assertions, handlers that only log, `rescue nil`, `.catch(() => {})`, `runCatching {}`; empty ones in product code", Grades: "HIGH; product code MEDIUM", Spares: "handlers of one kind of error"},
}

// toleranceRules are about the precision of comparisons.
var toleranceRules = []facts.Rule{
	{ID: "TP-11", Name: "tolerance_widened", Severity: metric.High, Find: facts.ForEach(facts.Files, findWidenedTolerances), Fires: "a tolerance at least ten times as wide (`abs=`, `InDelta`, `toBeCloseTo`, `places`), in an otherwise unchanged line", Grades: "HIGH; MEDIUM below fifty times if product code changed", Spares: "times and timeouts"},
}
