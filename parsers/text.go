package parsers

import (
	"math"
	"time"
)

// seconds turns a number of seconds into a duration; what is no sensible time
// is none.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > 1e9 {
		return 0
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
