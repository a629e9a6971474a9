package parsed

import (
	"strings"

	"supervise/metric"
)

// RobotStatus returns what the word means. What did not run was skipped by the
// run: it was a dry run, or the run was stopped.
func RobotStatus(word string) metric.Status {
	switch word {
	case "PASS":
		return metric.Passed
	case "FAIL":
		return metric.Failed
	case "SKIP", "NOT RUN", "NOT SET":
		return metric.Skipped
	}
	return metric.Errored
}

// severities are the words for the level of a finding. golangci-lint writes none
// unless it is configured.
var severities = map[string]metric.Level{
	"": metric.Error, "error": metric.Error,
	"warning": metric.Warning, "warn": metric.Warning, "medium": metric.Warning, "minor": metric.Warning,
	"info": metric.Note, "note": metric.Note, "notice": metric.Note, "low": metric.Note, "hint": metric.Note, "ignore": metric.Note,
	"information": metric.Note, "informational": metric.Note, "style": metric.Note, "suggestion": metric.Note,
}

// LevelOf returns the level of a severity; unknown ones are errors.
func LevelOf(severity string) metric.Level {
	if l, ok := severities[strings.ToLower(severity)]; ok {
		return l
	}
	return metric.Error
}
