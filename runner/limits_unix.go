//go:build linux || darwin

package runner

import "time"

// limits are the times after which a child is stopped. Time in which the job is suspended
// does not count.
type limits struct {
	timeout, firstOutput, idle time.Duration // 0: none
	startedAt                  time.Time     // the start, moved by the time that does not count
	resumedAt                  time.Time     // end of the last time that does not count
}

// newLimits returns the limits of a command that starts now.
func newLimits(c Command) limits {
	return limits{timeout: c.Timeout, firstOutput: c.FirstOutput, idle: c.Idle, startedAt: time.Now()}
}

// exclude makes the time between two moments not count.
func (l *limits) exclude(from, to time.Time) {
	l.startedAt, l.resumedAt = l.startedAt.Add(to.Sub(from)), to
}

// check returns why the child must be stopped now. NotStarted means that it need not; next is
// then the time until the next check, 0 if no limit is set. heard is the time of the last
// output, zero if there was none.
func (l *limits) check(now, heard time.Time) (cause Cause, next time.Duration) {
	quietSince := latest(l.startedAt, l.resumedAt, heard)
	for _, limit := range []struct {
		cause Cause
		after time.Duration
		from  time.Time
	}{
		{TimedOut, l.timeout, l.startedAt},
		{NoOutput, durationIf(heard.IsZero(), l.firstOutput), l.startedAt},
		{WentIdle, l.idle, quietSince},
	} {
		if limit.after <= 0 {
			continue
		}
		left := limit.after - now.Sub(limit.from)
		if left <= 0 {
			return limit.cause, 0
		}
		if next == 0 || left < next {
			next = left
		}
	}
	return NotStarted, next
}

// durationIf returns d if the condition holds, and 0 otherwise.
func durationIf(holds bool, d time.Duration) time.Duration {
	if !holds {
		return 0
	}
	return d
}

// latest returns the latest of the times.
func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
