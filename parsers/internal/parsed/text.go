package parsed

import (
	"cmp"
	"math"
	"net/url"
	"path"
	"strings"
	"time"

	"supervise/internal/regexp"
	"supervise/internal/textstream"
	"supervise/metric"
)

// JoinReason returns "event: reason", or the event alone if there is no reason.
func JoinReason(event, reason string) string {
	if reason == "" {
		return event
	}
	return event + ": " + reason
}

// LastOutputLine returns the last line of s that is not empty, "PASS", or one that starts with
// "FAIL". It is "" if there is none.
func LastOutputLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line != "" && line != "PASS" && !strings.HasPrefix(line, "FAIL") {
			last = line
		}
	}
	return last
}

// MaxLine is how many bytes of a line are read. No compiler writes longer lines.
const MaxLine = 16 << 10

// ToSlash returns the clean path with slashes instead of backslashes.
func ToSlash(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// MaxMessage limits the bytes of a message that is joined from several lines.
const MaxMessage = 2 << 10

// ToCount returns f without its fraction, or 0 if it is not a number, below 0, or above a
// billion.
func ToCount(f float64) int {
	if math.IsNaN(f) || f < 0 || f > 1e9 {
		return 0
	}
	return int(f)
}

// Interner stores one copy of every name that a report repeats.
type Interner map[string]string

// Intern returns the stored copy of s, and stores s if there is none.
func (i Interner) Intern(s string) string {
	if stored, ok := i[s]; ok {
		return stored
	}
	i[s] = s
	return s
}

// URISchemePattern matches the start of an absolute URI, as in "file:///a.c". A drive letter is
// not a scheme.
var URISchemePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// drivePattern matches the start of a Windows path in a URI: "/C:/a.c".
var drivePattern = regexp.MustCompile(`^/[A-Za-z]:`)

// URIPath returns the path of a file URI or of a relative reference. It does not
// change other URIs.
func URIPath(uri string) string {
	if URISchemePattern.MatchString(uri) && !strings.HasPrefix(uri, "file:") {
		return textstream.CleanName(uri)
	}
	path := strings.TrimPrefix(uri, "file:")
	if path != uri {
		path = strings.TrimPrefix(path, "//localhost")
		if strings.HasPrefix(path, "///") {
			path = path[2:]
		}
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	if drivePattern.MatchString(path) {
		path = path[1:]
	}
	return ToSlash(textstream.CleanName(path))
}

// Seconds returns s seconds as a duration. A number that is not a sensible time gives 0.
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > 1e9 {
		return 0
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}

// RobotStatus returns the status for a word of Robot Framework. Tests that did not run,
// in a dry run or because the run was stopped, are skipped.
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

// severities maps the words for the severity of a finding. golangci-lint writes ""
// unless it is configured otherwise.
var severities = map[string]metric.Level{
	"": metric.Error, "error": metric.Error,
	"warning": metric.Warning, "warn": metric.Warning, "medium": metric.Warning, "minor": metric.Warning,
	"info": metric.Note, "note": metric.Note, "notice": metric.Note, "low": metric.Note, "hint": metric.Note, "ignore": metric.Note,
	"information": metric.Note, "informational": metric.Note, "style": metric.Note, "suggestion": metric.Note,
}

// LevelOf returns the level of a severity. Unknown severities are errors.
func LevelOf(severity string) metric.Level {
	return cmp.Or(severities[strings.ToLower(severity)], metric.Error)
}
