// Package assertions finds tests that check less than they did: assertions removed,
// weakened, turned around or swallowed, expected values rewritten.
package assertions

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(assertRules, toleranceRules)

// assertRules are about what the tests still find.
var assertRules = []facts.Rule{
	{ID: "TP-10", Name: "assertions_removed", Severity: metric.High, Find: findRemovedAssertions},
	{ID: "TP-11", Name: "assertion_weakened", Severity: metric.High, Find: findWeakened},
	{ID: "TP-11", Name: "assertion_weakened", Severity: metric.High, Find: findBroadAnnotations},
	{ID: "TP-12", Name: "tautology", Severity: metric.High, Find: findTautology},
	{ID: "TP-13", Name: "expected_value_rewritten", Severity: metric.High, Find: findRewritten},
	{ID: "TP-13", Name: "values_rewritten", Severity: metric.High, Find: findOtherValues},
	{ID: "TP-14", Name: "polarity_flipped", Severity: metric.High, Find: findFlipped},
	{ID: "TP-17", Name: "failure_swallowed", Severity: metric.High, Find: findSwallowed},
}

// toleranceRules are about how near is near enough.
var toleranceRules = []facts.Rule{
	{ID: "TP-11", Name: "tolerance_widened", Severity: metric.High, Find: findWidened},
}
