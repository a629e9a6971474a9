// Package tests finds tests that are not run any more: deleted, renamed out of
// discovery, commented out, skipped, or with fewer rows in their tables.
package tests

import (
	"slices"

	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(lostRules, classRules, skipRules, rowRules)

// lostRules are about tests that are not run any more because they are not there.
var lostRules = []facts.Rule{
	{ID: "TP-01", Name: "test_deleted", Severity: metric.High, Find: findDeleted},
	{ID: "TP-02", Name: "test_file_deleted", Severity: metric.High, Find: findFileDeleted},
	{ID: "TP-03", Name: "renamed_out_of_discovery", Severity: metric.Critical, Find: findRenamedOut},
	{ID: "TP-04", Name: "commented_out", Severity: metric.Critical, Find: findCommentedOut},
}

// classRules are about classes and groups that the runner passes by although
// their tests still stand there.
var classRules = []facts.Rule{
	{ID: "TP-03", Name: "class_out_of_discovery", Severity: metric.High, Find: findHiddenClasses},
	{ID: "TP-03", Name: "class_out_of_discovery", Severity: metric.High, Find: findUnusedCases},
	{ID: "TP-07", Name: "group_never_run", Severity: metric.Critical, Find: findBlankedGroups},
}

// skipRules are about tests that are there and are not run, or not to their end.
var skipRules = []facts.Rule{
	{ID: "TP-04", Name: "dead_code", Severity: metric.Critical, Find: findDead},
	{ID: "TP-05", Name: "unconditional_skip", Severity: metric.Critical, Find: findSkipped},
	{ID: "TP-06", Name: "disguised_skip", Severity: metric.High, Find: findDisguised},
	{ID: "TP-07", Name: "group_disabled", Severity: metric.Critical, Find: findGroupDisabled},
	{ID: "TP-08", Name: "focus", Severity: metric.Critical, Find: findFocus},
}

// rowRules are about the tables that tests go through.
var rowRules = []facts.Rule{
	{ID: "TP-09", Name: "rows_removed", Severity: metric.High, Find: findRemovedRows},
}
