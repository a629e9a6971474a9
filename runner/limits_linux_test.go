package runner

import (
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	all := limits{timeout: 100 * time.Second, firstOutput: 10 * time.Second, idle: 30 * time.Second, startedAt: began}
	suspended := all
	suspended.exclude(at(5), at(1005))
	for _, tc := range []struct {
		name       string
		limits     limits
		now, heard time.Time
		cause      Cause
		next       time.Duration
	}{
		{"none", limits{startedAt: began}, at(1e6), time.Time{}, NotStarted, 0},
		{"silent", all, at(4), time.Time{}, NotStarted, 6 * time.Second},
		{"silent for too long", all, at(10), time.Time{}, NoOutput, 0},
		{"heard", all, at(10), at(9), NotStarted, 29 * time.Second},
		{"idle", all, at(40), at(9), WentIdle, 0},
		{"chatty to the end", all, at(99), at(98), NotStarted, time.Second},
		{"too long", all, at(100), at(100), TimedOut, 0},
		{"suspended while silent", suspended, at(1009), time.Time{}, NotStarted, time.Second},
		{"suspended, then silent for too long", suspended, at(1010), time.Time{}, NoOutput, 0},
		{"suspended after a word", suspended, at(1034), at(4), NotStarted, time.Second},
		{"suspended, then idle", suspended, at(1035), at(4), WentIdle, 0},
		{"suspended, then too long", suspended, at(1100), at(1099), TimedOut, 0},
	} {
		if cause, next := tc.limits.check(tc.now, tc.heard); cause != tc.cause || next != tc.next {
			t.Errorf("%s: got %v and %v, want %v and %v", tc.name, cause, next, tc.cause, tc.next)
		}
	}
}
