// Package configuration finds what changes in scripts and settings: commands that run
// fewer tests or hide failures, thresholds lowered, rules of linters turned off.
package configuration

import (
	"slices"

	"supervise/integrity/internal/configtext"
	"supervise/integrity/internal/facts"
	"supervise/metric"
)

// Rules are the rows of the table, in the order of the catalogue.
var Rules = slices.Concat(commandRules, settingRules, lineRules, needRules)

// commandRules are the rows about commands that run checks.
var commandRules = []facts.Rule{
	{ID: "TP-08", Name: "focus_in_configuration", Severity: metric.Critical, Find: traitRule(configtext.Focuses)},
	{ID: "TP-15", Name: "retries_in_command", Severity: metric.Medium, Find: traitRule(configtext.Loosens)},
	{ID: "TP-16", Name: "expectations_rewritten_by_command", Severity: metric.High, Find: traitRule(configtext.Updates)},
	{ID: "TP-24", Name: "test_command_rewritten", Severity: metric.Critical, Find: rewritten},
	{ID: "TP-24", Name: "test_command_runs_nothing", Severity: metric.Critical, Find: traitRule(configtext.RunsNone)},
	{ID: "TP-25", Name: "failure_ignored", Severity: metric.Critical, Find: traitRule(configtext.Masks)},
	{ID: "TP-26", Name: "discovery_narrowed_by_command", Severity: metric.Critical, Find: traitRule(configtext.Excludes)},
	{ID: "TP-26", Name: "command_runs_fewer_tests", Severity: metric.High, Find: fewerPaths},
	{ID: "TP-27", Name: "coverage_excluded_by_command", Severity: metric.Medium, Find: traitRule(configtext.HidesCode)},
	{ID: "TP-28", Name: "rule_off_by_command", Severity: metric.Medium, Find: traitRule(configtext.Allows)},
}

// settingRules are the rows about values of configuration files.
var settingRules = []facts.Rule{
	{ID: "TP-08", Name: "focus_by_setting", Severity: metric.Critical, Find: settingRule("TP-08")},
	{ID: "TP-15", Name: "limits_loosened", Severity: metric.Medium, Find: loosened},
	{ID: "TP-21", Name: "runner_replaced", Severity: metric.Medium, Find: settingRule("TP-21")},
	{ID: "TP-25", Name: "failure_ignored_by_setting", Severity: metric.Critical, Find: settingRule("TP-25")},
	{ID: "TP-26", Name: "discovery_narrowed", Severity: metric.Critical, Find: settingRule("TP-26")},
	{ID: "TP-26", Name: "discovery_narrowed", Severity: metric.High, Find: deeperGlobs},
	{ID: "TP-27", Name: "threshold_lowered", Severity: metric.Critical, Find: lowered},
	{ID: "TP-27", Name: "coverage_excluded", Severity: metric.Medium, Find: settingRule("TP-27")},
	{ID: "TP-28", Name: "rule_off", Severity: metric.Medium, Find: rulesOff},
	{ID: "TP-31", Name: "environment_of_runner", Severity: metric.Critical, Find: settingRule("TP-31")},
	{ID: "TP-32", Name: "dependency_shadowed_by_setting", Severity: metric.High, Find: settingRule("TP-32")},
}

// lineRules are the rows about single lines of files that configure by code: what
// they say is told by the line alone.
var lineRules = []facts.Rule{
	{ID: "TP-25", Name: "failure_ignored_by_line", Severity: metric.Critical, Find: lineRule("TP-25")},
	{ID: "TP-26", Name: "discovery_narrowed_by_line", Severity: metric.High, Find: lineRule("TP-26")},
	{ID: "TP-26", Name: "registered_test_removed", Severity: metric.High, Find: unregistered},
}

// needRules are the rows about what a target consists of.
var needRules = []facts.Rule{
	{ID: "TP-24", Name: "test_need_removed", Severity: metric.High, Find: needsGone},
	{ID: "TP-24", Name: "test_command_empty", Severity: metric.High, Find: bornQuiet},
	{ID: "TP-25", Name: "checks_not_triggered", Severity: metric.High, Find: untriggered},
}
