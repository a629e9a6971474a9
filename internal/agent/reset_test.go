package agent

import (
	"testing"
	"time"
	_ "time/tzdata"
)

// Times of day are read as the programs print them, in their zone, and of the next day where
// they are over.
func TestResetAtAClockTime(t *testing.T) {
	zone := time.FixedZone("here", 3600)
	now := time.Date(2026, 11, 24, 14, 30, 0, 0, zone)
	for text, want := range map[string]string{
		"You've hit your usage limit. Upgrade to Pro or try again at Nov 25th, 2026 7:25 AM.": "2026-11-25T07:25:00+01:00",
		"5-hour limit reached ∙ resets 3pm":                                                   "2026-11-24T15:00:00+01:00",
		"limit reached, resets 2pm":                                                           "2026-11-25T14:00:00+01:00",
		"limit reached - resets 12am (Europe/London)":                                         "2026-11-25T00:00:00Z",
		"Weekly limit reached, resets Dec 1 at 5:30pm":                                        "2026-12-01T17:30:00+01:00",
		"usage limit: try again at 11:05 PM":                                                  "2026-11-24T23:05:00+01:00",
		"resets at 2026-11-25T15:00:00Z":                                                      "2026-11-25T15:00:00Z",
		"resets Jan 2 at 9am":                                                                 "2027-01-02T09:00:00+01:00",
	} {
		got := parseReset(text, now)
		if s := got.At.Format(time.RFC3339); s != want {
			t.Errorf("%q resets at %s (after %s), want %s", text, s, got.After, want)
		}
	}
	for text, want := range map[string]time.Duration{
		"Please retry in 34.07s.":    34070 * time.Millisecond,
		"try again in 2 hours":       2 * time.Hour,
		"the test resets 3 counters": 0,
		"resets all at once":         0,
	} {
		if got := parseReset(text, now); got.After != want || !got.At.IsZero() {
			t.Errorf("%q: after %s, at %s; want after %s", text, got.After, got.At, want)
		}
	}
}
