package parsers

import (
	"strings"

	"supervise/metric"
)

// severities are the words for how grave a finding is. golangci-lint leaves
// the word out unless it is configured.
var severities = map[string]metric.Level{
	"": metric.Error, "error": metric.Error,
	"warning": metric.Warning, "warn": metric.Warning, "medium": metric.Warning, "minor": metric.Warning,
	"info": metric.Note, "note": metric.Note, "notice": metric.Note, "low": metric.Note, "hint": metric.Note, "ignore": metric.Note,
	"information": metric.Note, "informational": metric.Note, "style": metric.Note, "suggestion": metric.Note,
}

func levelOf(severity string) metric.Level {
	if l, ok := severities[strings.ToLower(severity)]; ok {
		return l
	}
	return metric.Error
}
