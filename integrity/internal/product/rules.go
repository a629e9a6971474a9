// Package product finds what product code does to please the tests, and tests that
// replace the code they are about.
package product

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(productRules, hardRules)

// productRules are about code that knows that it is tested, or that keeps tests
// from saying what they find.
var productRules = []facts.Rule{
	{ID: "TP-18", Name: "subject_mocked", Severity: metric.Medium, Find: findMockedSubject},
	{ID: "TP-20", Name: "test_sniffing", Severity: metric.High, Find: findSniffing},
	{ID: "TP-22", Name: "early_exit", Severity: metric.Critical, Find: findExit},
	{ID: "TP-23", Name: "always_equal", Severity: metric.High, Find: findAlwaysEqual},
	{ID: "TP-33", Name: "unfinished_work", Severity: metric.Low, Find: findUnfinished},
}

// hardRules are about product code that knows what tests give and expect.
var hardRules = []facts.Rule{
	{ID: "TP-19", Name: "hard_coded_output", Severity: metric.Medium, Find: findHardCoded},
}
