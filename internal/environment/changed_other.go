//go:build !linux

package environment

import (
	"io/fs"
	"time"
)

// changedAt returns when a file was last written to, which no program can set back;
// zero where that is not known.
func changedAt(fs.FileInfo) time.Time { return time.Time{} }
