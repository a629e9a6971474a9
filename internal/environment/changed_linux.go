package environment

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt returns when a file was last written to, which no program can set back;
// zero where that is not known.
func changedAt(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return time.Time{}
}
