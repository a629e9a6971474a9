package loop

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time that this thread has taken, which other work
// on the machine does not change.
func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
