//go:build !linux

package environment

import (
	"io/fs"
	"time"
)

// ChangeTime returns when a file was last changed, by the one time that no program can set. It
// is zero if unknown.
func ChangeTime(fs.FileInfo) time.Time { return time.Time{} }

// inode returns the number of a file on its file system; zero if unknown.
func inode(fs.FileInfo) uint64 { return 0 }
