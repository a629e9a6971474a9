// Package free returns which resources of the machine are available.
package free

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// Memory returns how much memory is available, in bytes: that of the machine, or of the
// control group that limits this process. It is false if unknown.
func Memory() (bytes int64, known bool) {
	text, err := os.ReadFile("/proc/meminfo") //nolint:forbidigo // the kernel's
	if err != nil {
		return 0, false
	}
	bytes = math.MaxInt64
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				bytes, known = kib<<10, true
			}
		}
	}
	most, ok1 := readNumber("/sys/fs/cgroup/memory.max")
	used, ok2 := readNumber("/sys/fs/cgroup/memory.current")
	if ok1 && ok2 && most-used < bytes {
		bytes, known = most-used, true
	}
	return bytes, known
}

// readNumber reads a file that contains only a number.
func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path) //nolint:forbidigo // the kernel's
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil // "max" is no limit
}
