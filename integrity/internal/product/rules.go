// Package product finds product code that is written to pass the tests rather than to work, and
// tests that replace the code they are about.
//
// hardcoded.go finds literals of tests in product code, product.go finds code that detects tests,
// comparisons that are always true, and stubs, and mocked.go finds tests that replace their
// subject.
package product

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(productRules, hardCodedRules)

// productRules are about code that detects that it is tested, or that hides failures
// from the tests.
var productRules = []facts.Rule{
	{ID: "TP-18", Name: "subject_mocked", Severity: metric.Medium, Find: facts.ForEach(facts.Files, findMockedSubject), Fires: "an existing test replaces what it calls itself, or assigns a mock to a name whose methods it called; the only project module that a file imports is mocked", Grades: "HIGH; the module that a file is named after: MEDIUM", Spares: "mocks of anything else, also as an argument of the real subject; tests that had one before; partial ones (`requireActual`, `wraps=`)"},
	{ID: "TP-20", Name: "test_sniffing", Severity: metric.High, Find: facts.PerFile(findSniffing), Fires: "product code checks `PYTEST_CURRENT_TEST`, `testing.Testing()`, `NODE_ENV === 'test'`, `cfg!(test)`, or a variable named `TESTING` or `GO_TEST`", Spares: "a file that already did so"},
	{ID: "TP-22", Name: "early_exit", Severity: metric.Critical, Find: facts.PerFile(findExit), Fires: "`os._exit`, `sys.exit(0)`, `process.exit(0)` in test files", Grades: "CRITICAL; MEDIUM under a condition", Spares: "`if __name__ == \"__main__\"`; helper processes: LOW"},
	{ID: "TP-23", Name: "always_equal", Severity: metric.High, Find: facts.PerFile(findAlwaysEqual), Fires: "`__eq__`, `Equal`, `equals`, `PartialEq` that always return true, or their opposites false"},
	{ID: "TP-33", Name: "unfinished_work", Severity: metric.Low, Find: facts.PerFile(findUnfinished), Fires: "stubs in place of code, five new TODOs, input checks removed", Grades: "LOW; stubs MEDIUM"},
}

// hardCodedRules are about product code with the inputs and outputs of tests.
var hardCodedRules = []facts.Rule{
	{ID: "TP-19", Name: "hard_coded_output", Severity: metric.Medium, Find: findHardCoded, Fires: "a branch or a row of a new table in an existing function gives the output of an existing test for its input: both literals are new in the product file, and in one original test", Grades: "HIGH with two such pairs, with several arguments at once, or if input and output have 8 bytes together; otherwise MEDIUM", Spares: "tests that came with the change; literals or words that the file had; 0, 1, 2, 10 …, `http`, 443, `GET` …; errors and messages; rows added to an existing table"},
}
