//go:build !linux

package loop

import "time"

// threadTime is not known here.
func threadTime() time.Duration { return 0 }
