//go:build !linux

package environment

import (
	"io/fs"
	"time"
)

// changedAt returns when a file was last written to, by a time that no program can set
// back; zero if unknown.
func changedAt(fs.FileInfo) time.Time { return time.Time{} }
