package agent

import (
	"strconv"
	"strings"
	"time"

	"supervise/internal/regexp"
)

// Reset is when a service accepts requests again, as a time or as a duration. The zero value
// means that the time is unknown.
type Reset struct {
	At    time.Time     // zero for a duration
	After time.Duration // from the time of the message
}

// IsZero reports whether the time is unknown.
func (r Reset) IsZero() bool { return r.At.IsZero() && r.After == 0 }

// Wait returns how long to wait from now; 0 if the time is unknown or has passed.
func (r Reset) Wait(now time.Time) time.Duration {
	if r.At.IsZero() {
		return r.After
	}
	return max(0, r.At.Sub(now))
}

var (
	// resetEpochRE matches a time in seconds since 1970, as in
	// "Claude AI usage limit reached|1763804400".
	resetEpochRE = regexp.MustCompile(`limit reached\|(\d{10})\b`)
	// resetAfterRE matches a duration after a word for a wait, as in "retry-after": "12",
	// retryDelay":"34.5s", "try again in 2 days 3 hours 1.5 seconds" and "reset after 3h12m".
	// The group is the duration.
	resetAfterRE = regexp.MustCompile(`(?i)(?:retry.?after(?:.?ms)?|retry.?delay|(?:try again|retry) in|resets? (?:after|in))["':=\s]*((?:[\d.]+\s*(?:milliseconds?|ms|days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)?[\s,]*(?:and\s+)?)+)`)
	// amountRE matches one number of a duration and its unit, like the 3h of 3h12m.
	amountRE = regexp.MustCompile(`(?i)([\d.]+)\s*([a-z]*)`)
)

// units are units of time by a prefix of their name. The first row that matches counts, so
// milliseconds precede minutes; a number without a unit is in seconds.
var units = []struct {
	prefix string
	is     time.Duration
}{
	{"mil", time.Millisecond}, {"ms", time.Millisecond}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"", time.Second},
}

// ParseReset finds in an error message when the service accepts requests again. It returns the
// zero value if the message does not say so.
func ParseReset(text string) Reset { return parseReset(text, time.Now()) }

// parseReset is ParseReset at the time now. A time of day takes precedence over seconds since
// 1970, and those over a duration.
func parseReset(text string, now time.Time) Reset {
	if at := parseClockTime(text, now); !at.IsZero() {
		return Reset{At: at}
	}
	if m := resetEpochRE.FindStringSubmatch(text); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return Reset{At: time.Unix(n, 0)}
		}
	}

	m := resetAfterRE.FindStringSubmatch(text)
	if m == nil {
		return Reset{}
	}

	inMillis := strings.Contains(strings.ToLower(m[0][:len(m[0])-len(m[1])]), "ms")
	var sum time.Duration

	for _, part := range amountRE.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			continue
		}
		unit := parseUnit(part[2])
		if part[2] == "" && inMillis {
			unit = time.Millisecond
		}
		sum += time.Duration(n * float64(unit))
	}
	return Reset{After: sum}
}

// parseUnit returns the unit of time that a word names, a second for an unknown word.
func parseUnit(word string) time.Duration {
	for _, u := range units {
		if strings.HasPrefix(strings.ToLower(word), u.prefix) {
			return u.is
		}
	}
	return time.Second
}

// clockTimeRE matches a time of day with an optional day and time zone: "try again at Nov
// 25th, 2026 7:25 AM", "resets 3pm (Europe/Berlin)", "resets Oct 9 at 5:30pm", "resets at
// 2026-11-25T15:00:00Z".
//
// The groups are 1 a complete time in RFC 3339, or else 2 the month, 3 the day, 4 the year, 5
// the hour, 6 the minute, 7 am or pm, and 8 the zone.
var clockTimeRE = regexp.MustCompile(`(?i)(?:try again at|resets?(?: at| on)?|available(?: again)? at)[:\s]+(?:` +
	`(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))` +
	`|(?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,?(?: at)? )?(\d{1,2})(?::(\d\d))?\s*([ap]m)(?: \(([A-Za-z_]+(?:/[A-Za-z_]+)*)\))?)`)

// parseClockTime finds a time of day, and returns zero if there is none. A time without a day
// is the next such time after now, and a time without a zone is local. A day without a year
// that is more than half a year ago is in the next year.
func parseClockTime(text string, now time.Time) time.Time {
	m := clockTimeRE.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}

	if m[1] != "" {
		at, _ := time.Parse(time.RFC3339, m[1]) // zero if it is invalid
		return at
	}

	zone := now.Location()
	if m[8] != "" {
		named, err := time.LoadLocation(m[8])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}

	year, month, day := now.In(zone).Date()
	if m[2] != "" {
		parsed, err := time.Parse("Jan", strings.ToUpper(m[2][:1])+strings.ToLower(m[2][1:]))
		if err != nil {
			return time.Time{}
		}
		month = parsed.Month()
		day, _ = strconv.Atoi(m[3])
	}
	if m[4] != "" {
		year, _ = strconv.Atoi(m[4])
	}

	hour, _ := strconv.Atoi(m[5])
	minute, _ := strconv.Atoi(m[6]) // 0 if missing
	hour %= 12
	if strings.EqualFold(m[7], "pm") {
		hour += 12
	}

	at := time.Date(year, month, day, hour, minute, 0, 0, zone)
	switch {
	case at.After(now):
	case m[2] == "":
		at = at.AddDate(0, 0, 1)
	case m[4] == "" && now.Sub(at) > 180*24*time.Hour:
		at = at.AddDate(1, 0, 0)
	}
	return at
}
